/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab
 *
 * The village's stories: what is marked can be recalled from the window, and from nothing else. */
#include "data_case.h"

#include "lab/stories.h"

/* ---------------------------------------------------------------- a reader of stories */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Reads what stands before text[q] and says what comes there, and where it was told last: the letter after the nearest
 * initial like the one before q. */
static int oracle(const char *text, int64_t q, int64_t *told)
{
    char initial = q > 0 ? text[q - 1] : '\0';
    if (!initial || !strchr(story_initial, initial))
        fail_msg("no initial before byte %d", (int)q);
    for (*told = q - 1; *told > 0; --*told)
        if (text[*told - 1] == initial)
            return text[*told];
    fail_msg("nobody with the initial %c before byte %d", initial, (int)q);
    return -1;
}

static void text_of(char *out, const lab_batch *b, int64_t row)
{
    for (int64_t t = 0; t < b->length; t++)
        out[t] = (char)b->token[row * b->length + t];
    out[b->length] = (char)b->target[(row + 1) * b->length - 1];
    out[b->length + 1] = '\0';
}

static int check_recall(const lab_batch *b, int64_t row)
{
    static char text[5002];
    int asked = 0;
    text_of(text, b, row);
    for (int64_t t = 0; t < b->length; t++) {
        int32_t distance = b->distance[row * b->length + t];
        if (!distance)
            continue;
        int64_t told = 0, q = t + 1;
        int said = oracle(text, q, &told);
        if (said != text[q] || distance != q - told)
            fail_msg("'%c' told %d before, not %d, to end: %.*s", said, (int)(q - told), distance,
                     (int)least(q + 1, 200), text + q + 1 - least(q + 1, 200));
        asked++;
    }
    return asked;
}

/* ---------------------------------------------------------------- claims */

TEST(an_oracle_recalls_all_that_is_marked_at_its_distance)
{
    lab_data *d = open_source("stories", false);
    int asked = 0;
    static const int64_t length[] = { 16, 64, 256, 1000, 5000 };
    for (int k = 0; k < COUNT(length); k++) {
        lab_batch b = batch_of(d, 16, length[k]);
        lab_data_test(d, &b, 100);
        for (int64_t row = 0; row < b.sequences; row++)
            asked += check_recall(&b, row);
        lab_batch_free(&b);
    }
    lab_data_free(d);
    print_message("%d recalled\n", asked);
    assert_true(asked > 400);
}

/* Who has not read the name can do no better than always say the same letter: over 30000 people, an even share is a
 * tenth, and a tenth of that is 6 deviations. */
TEST(a_guess_without_the_fact_is_no_better_than_chance)
{
    uint32_t said[32] = { 0 }, all = 0, n = story_middle.count;
    assert_in_range(n, 10, 32);
    for (uint64_t stream = 0; stream < 20000; stream++) {
        uint32_t met = 0;
        for (int64_t k = 0; k < 20; k++) {
            beat b = story_beat(stream, k);
            if (b.kind != BEAT_PERSON || met & 1u << b.who.initial)
                continue;
            met |= 1u << b.who.initial;
            said[b.who.middle]++;
            all++;
        }
    }
    assert_true(all > 30000);
    for (uint32_t i = 0; i < n; i++)
        assert_in_range(said[i] * n, all - all / 10, all + all / 10);
}

TEST(names_with_an_initial_differ_in_their_second_letter)
{
    for (uint32_t i = 0; i < story_middle.count; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_int_not_equal(story_middle.item[i][0], story_middle.item[j][0]);
}

/* A person's initial begins names and nothing else: else a reader is misled. */
TEST(no_other_word_begins_with_a_persons_initial)
{
    sentence s;
    for (int64_t n = 0; n < 20000; n++) {
        beat b = story_beat(7, n);
        story_write(&s, &b);
        int seen = 0;
        for (int i = 0; i < s.size; i++)
            seen += strchr(story_initial, s.text[i]) != NULL;
        assert_int_equal(seen, s.names);
        for (int i = 0; i < s.names; i++)
            assert_int_equal(s.text[s.name[i]], story_initial[b.who.initial]);
    }
}

/* Of every octave from 8 to 2047 at least a twentieth, and some beyond 8191. */
TEST(distances_are_spread_over_octaves)
{
    lab_data *d = open_source("stories", false);
    lab_batch b = batch_of(d, 8, 65536);
    lab_data_test(d, &b, 0);
    int count[32] = { 0 }, all = 0;
    for (int64_t t = 0; t < 8 * 65536; t++)
        for (int k = 0; k < 20; k++)
            if (b.distance[t] >> k == 1) {
                count[k]++;
                all++;
            }
    for (int k = 3; k < 11; k++)
        assert_true(count[k] * 20 > all);
    assert_true(count[13] > 10);
    lab_batch_free(&b);
    lab_data_free(d);
}

/* A short test window is the end of a longer one, and marks no more. */
TEST(windows_of_all_lengths_end_alike)
{
    lab_data *d = open_source("stories", false);
    lab_batch a = batch_of(d, 4, 100), b = batch_of(d, 4, 700);
    lab_data_test(d, &a, 9);
    lab_data_test(d, &b, 9);
    for (int64_t row = 0; row < 4; row++) {
        assert_memory_equal(a.token + row * 100, b.token + row * 700 + 600, 100 * sizeof(int32_t));
        assert_memory_equal(a.target + row * 100, b.target + row * 700 + 600, 100 * sizeof(int32_t));
        for (int64_t t = 0; t < 100; t++) {
            int32_t near = a.distance[row * 100 + t], far = b.distance[row * 700 + 600 + t];
            assert_true(near == far || near == 0);
        }
    }
    lab_batch_free(&a);
    lab_batch_free(&b);
    lab_data_free(d);
}

/* Sentences recur; 100 bytes in the middle of 64 test windows are in none of 512 training windows. */
TEST(test_stories_are_not_in_the_training_stories)
{
    static char train[258], test[258];
    lab_data *d = open_source("stories", false);
    lab_batch a = batch_of(d, 512, 256), b = batch_of(d, 64, 256);
    lab_data_train(d, &a, 0, 0);
    lab_data_test(d, &b, 0);
    for (int64_t j = 0; j < 512; j++) {
        text_of(train, &a, j);
        for (int64_t i = 0; i < 64; i++) {
            text_of(test, &b, i);
            test[130] = '\0';
            assert_null(strstr(train, test + 30));
        }
    }
    lab_batch_free(&a);
    lab_batch_free(&b);
    lab_data_free(d);
}

/* SPDX-License-Identifier: MIT
 * labels: core; needs: lab
 *
 * The village's stories: what is marked can be recalled from the window, and from nothing else. */
#include "data_case.h"

#include "lab/stories.h"

/* ---------------------------------------------------------------- a reader of stories */

typedef struct key_found {
    char text[80];
    int kind;
    int64_t at; /* -1: none */
} key_found;

static int64_t last_in(const char *text, int64_t from, int64_t to, const char *what)
{
    int64_t n = (int64_t)strlen(what);
    for (int64_t at = to - n; at >= from; at--)
        if (text[at] == what[0] && memcmp(text + at, what, (size_t)n) == 0)
            return at;
    return -1;
}

static void try_key(key_found *best, int kind, const char *key, const char *text, int64_t from, int64_t to)
{
    int64_t at = last_in(text, from, to, key);
    if (at < 0 || (best->at >= 0 && at + (int64_t)strlen(key) <= best->at + (int64_t)strlen(best->text)))
        return;
    snprintf(best->text, sizeof best->text, "%s", key);
    best->kind = kind;
    best->at = at;
}

/* The key, of all there are, that ends last in text[from .. to). */
static key_found last_key(const char *text, int64_t from, int64_t to)
{
    key_found best = { .at = -1 };
    for (int kind = 0; kind < STORY_KINDS; kind++) {
        const fact_kind *k = &story_kind[kind];
        uint32_t thirds = k->third.count ? k->third.count : 1;
        for (uint32_t a = 0; a < k->first.count; a++)
            for (uint32_t b = 0; b < k->second.count; b++)
                for (uint32_t c = 0; c < thirds; c++) {
                    char key[80];
                    snprintf(key, sizeof key, "%s%s%s%s%s", k->first.item[a], k->between, k->second.item[b],
                             k->third.count ? " " : "", k->third.count ? k->third.item[c] : "");
                    try_key(&best, kind, key, text, from, to);
                }
    }
    return best;
}

/* The answer of this kind that stands first in text[from .. to), or last; -1: none. *at: where. */
static int find_answer(const char *text, int64_t from, int64_t to, int kind, bool last, int64_t *at)
{
    const words *list = &story_kind[kind].answer;
    int found = -1;
    for (uint32_t i = 0; i < list->count; i++) {
        int64_t n = (int64_t)strlen(list->item[i]);
        for (int64_t p = from; p + n <= to; p++)
            if (memcmp(text + p, list->item[i], (size_t)n) == 0 && (text[p - 1] == ' ' || text[p - 1] == '"') &&
                (found < 0 || (last ? p > *at : p < *at))) {
                found = (int)i;
                *at = p;
            }
    }
    return found;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Reads what stands before text[q] and says what comes there: its first byte, and where it was told last. */
static int oracle(const char *text, int64_t q, int64_t *told)
{
    key_found key = last_key(text, q > 130 ? q - 130 : 0, q);
    assert_true(key.at >= 0);
    int64_t from = key.at + (int64_t)strlen(key.text), again;
    int answer = find_answer(text, from, q, key.kind, true, told);
    if (answer < 0) {
        int64_t before = last_in(text, 0, key.at, key.text);
        assert_true(before >= 0);
        from = before + (int64_t)strlen(key.text);
        answer = find_answer(text, from, least(from + 80, key.at), key.kind, false, told);
        assert_true(answer >= 0);
        /* said twice in one breath */
        if (find_answer(text, *told + 1, least(*told + 60, key.at), key.kind, true, &again) == answer &&
            last_key(text, *told, again).at < 0)
            *told = again;
    }
    return story_kind[key.kind].answer.item[answer][0];
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

static void an_oracle_recalls_all_that_is_marked_at_its_distance(void **state)
{
    (void)state;
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

/* Who has not read the fact can do no better than always say the commonest answer of the kind. About 3000 questions of
 * each kind, some of them for the same fact; an even share is 1/19 to 1/24. */
static void a_guess_without_the_fact_is_no_better_than_chance(void **state)
{
    (void)state;
    uint32_t said[STORY_KINDS][32] = { 0 }, all[STORY_KINDS] = { 0 };
    for (uint64_t stream = 0; stream < 400; stream++)
        for (int64_t n = 0; n < 100; n++) {
            beat b = story_beat(stream, n);
            if (b.kind != BEAT_ASK)
                continue;
            said[b.fact.kind][b.answer]++;
            all[b.fact.kind]++;
        }
    for (int kind = 0; kind < STORY_KINDS; kind++)
        for (uint32_t i = 0, n = story_kind[kind].answer.count; i < n; i++) {
            assert_true(said[kind][i] * n * 2 < all[kind] * 3);
            assert_true(said[kind][i] * n * 3 > all[kind] * 2);
        }
}

static void answers_of_a_kind_differ_in_their_first_byte(void **state)
{
    (void)state;
    for (int kind = 0; kind < STORY_KINDS; kind++) {
        const words *a = &story_kind[kind].answer;
        assert_true(a->count >= 19);
        for (uint32_t i = 0; i < a->count; i++)
            for (uint32_t j = 0; j < i; j++)
                assert_int_not_equal(a->item[i][0], a->item[j][0]);
    }
}

/* Every octave from 16 to 16384 has at least a third of an even share. */
static void distances_are_spread_over_octaves(void **state)
{
    (void)state;
    lab_data *d = open_source("stories", false);
    lab_batch b = batch_of(d, 8, 65536);
    lab_data_test(d, &b, 0);
    int count[32] = { 0 }, all = 0;
    for (int64_t t = 0; t < 8 * 65536; t++)
        for (int k = 4; k < 14; k++)
            if (b.distance[t] >> k == 1) {
                count[k]++;
                all++;
            }
    for (int k = 4; k < 14; k++)
        assert_true(count[k] * 30 > all);
    lab_batch_free(&b);
    lab_data_free(d);
}

/* A short test window is the end of a longer one, and marks no more. */
static void windows_of_all_lengths_end_alike(void **state)
{
    (void)state;
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
static void test_stories_are_not_in_the_training_stories(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oracle_recalls_all_that_is_marked_at_its_distance),
        cmocka_unit_test(a_guess_without_the_fact_is_no_better_than_chance),
        cmocka_unit_test(answers_of_a_kind_differ_in_their_first_byte),
        cmocka_unit_test(distances_are_spread_over_octaves),
        cmocka_unit_test(windows_of_all_lengths_end_alike),
        cmocka_unit_test(test_stories_are_not_in_the_training_stories),
    };
    return cmocka_run_group_tests(tests, write_sample, remove_sample);
}

/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab
 *
 * The llama2.c tokenizer: text to tokens and back, and files that are none.
 */
#include "corpus.h"

#include "model/tokens.h"

#include "test.h"

typedef struct word {
    const char *text;
    float score;
} word;

static void put_word(blob *b, const char *text, float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    put_number(b, bits, 4);
    put_number(b, strlen(text), 4);
    put(b, text, strlen(text));
}

static void put_start(blob *b, uint32_t longest)
{
    put_number(b, longest, 4);
    put_word(b, "<unk>", 0);
    put_word(b, "\n<s>\n", 0);
    put_word(b, "\n</s>\n", 0);
}

static void put_bytes(blob *b)
{
    char text[8];
    for (unsigned n = 0; n < 256; n++) {
        snprintf(text, sizeof text, "<0x%02X>", n);
        put_word(b, text, 0);
    }
}

static const word words[] = { { " ", -9 },  { "a", -9 },  { "b", -9 },   { "c", -9 },   { "ab", -1 },
                              { "bc", -2 }, { "ca", -1 }, { "abc", -5 }, { " ab", -6 }, { "\xc3\xa9", -9 } };
enum { BYTES_END = 259 };

static void put_words(blob *b)
{
    for (int n = 0; n < COUNT(words); n++)
        put_word(b, words[n].text, words[n].score);
}

static void whole(blob *b)
{
    put_start(b, 6);
    put_bytes(b);
    put_words(b);
}

/* The id of a word above. */
static int32_t id(const char *text)
{
    for (int n = 0; n < COUNT(words); n++)
        if (!strcmp(words[n].text, text))
            return BYTES_END + n;
    fail_msg("no word %s", text);
    return -1;
}

static pe_status parse(tokens **t, const blob *b, size_t size, pe_error *why)
{
    io_bytes file = { malloc(size ? size : 1), size, "tok.bin" }; /* of its size, so that a sanitizer sees more */
    assert_non_null(file.data);
    memcpy(file.data, b->data, size);
    pe_status s = tokens_parse(t, &file, why);
    assert_null(file.data);
    return s;
}

static tokens *made(void)
{
    blob b = { .size = 0 };
    tokens *t;
    whole(&b);
    assert_ok(parse(&t, &b, b.size, &err));
    assert_int_equal(tokens_count(t), BYTES_END + COUNT(words));
    return t;
}

/* ---------------------------------------------------------------- encoding */

static void expect(const tokens *t, const char *text, const int32_t *want, int64_t count)
{
    int32_t *got;
    int64_t n;
    assert_ok(tokens_encode(&got, &n, t, text, strlen(text), &err));
    assert_int_equal(got[0], TOKENS_BEGIN);
    assert_int_equal(n, count + 1);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(got[i + 1], want[i]);
    free(got);
}
#define EXPECT(t, text, ...)                                                                                           \
    expect(t, text, (const int32_t[]){ __VA_ARGS__ }, (int64_t)(sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)))

TEST(neighbours_are_joined_by_score_and_from_the_left)
{
    tokens *t = made();
    EXPECT(t, "abc", id(" "), id("abc"));         /* ab (-1) before bc (-2), then ab + c (-5) before " " + ab (-6) */
    EXPECT(t, "ab", id(" ab"));                   /* " " + ab */
    EXPECT(t, "bca", id(" "), id("b"), id("ca")); /* ca (-1) before bc (-2) */
    EXPECT(t, "cab", id(" "), id("ca"), id("b")); /* ca and ab are as good: the leftmost */
    EXPECT(t, "aabb", id(" "), id("a"), id("ab"), id("b"));
    expect(t, "", NULL, 0);
    tokens_free(t);
}

TEST(what_is_no_token_becomes_its_bytes)
{
    tokens *t = made();
    EXPECT(t, "\xc3\xa9", id(" "), id("\xc3\xa9"));
    EXPECT(t, "\xc3\xa8", id(" "), TOKENS_BYTE_0 + 0xc3, TOKENS_BYTE_0 + 0xa8);
    EXPECT(t, "\nab", id(" "), TOKENS_BYTE_0 + '\n', id("ab"));
    EXPECT(t, "\xff\x80\x80\x80\x80", id(" "), TOKENS_BYTE_0 + 0xff, TOKENS_BYTE_0 + 0x80, TOKENS_BYTE_0 + 0x80,
           TOKENS_BYTE_0 + 0x80, TOKENS_BYTE_0 + 0x80);
    tokens_free(t);
}

/* The definition, as llama2.c has it: of all pairs the best, again and again. */
static int64_t slow(int32_t *out, const char *text)
{
    int64_t n = 0;
    out[n++] = id(" ");
    for (char one[2] = { 0 }; *text; text++) {
        one[0] = *text;
        out[n++] = id(one);
    }
    for (;;) {
        int64_t best = -1;
        int32_t to = -1;
        for (int64_t i = 0; i + 1 < n; i++)
            for (int w = 0; w < COUNT(words); w++) {
                char both[20];
                snprintf(both, sizeof both, "%s%s", words[out[i] - BYTES_END].text, words[out[i + 1] - BYTES_END].text);
                if (!strcmp(both, words[w].text) && (best < 0 || words[w].score > words[to - BYTES_END].score)) {
                    best = i;
                    to = BYTES_END + w;
                }
            }
        if (best < 0)
            return n;
        out[best] = to;
        memmove(out + best + 1, out + best + 2, (size_t)(n - best - 2) * sizeof *out);
        n--;
    }
}

TEST(encoding_is_the_slow_definition)
{
    tokens *t = made();
    uint64_t seed = 5;
    int32_t want[70];
    for (int run = 0; run < 400; run++) {
        char text[64] = { 0 };
        int64_t length = test_range(&seed, 1, 60);
        for (int64_t n = 0; n < length; n++)
            text[n] = " abc"[test_range(&seed, 0, 3)];
        expect(t, text, want, slow(want, text));
    }
    tokens_free(t);
}

TEST(pieces_make_the_text_again)
{
    tokens *t = made();
    const char *const texts[] = { "abc ab", "a\n\tb", "\xc3\xa8\xc3\xa9!", "  a" };
    for (int i = 0; i < COUNT(texts); i++) {
        int32_t *token;
        int64_t n;
        char text[64];
        size_t used = 0, size;
        assert_ok(tokens_encode(&token, &n, t, texts[i], strlen(texts[i]), &err));
        for (int64_t k = 1; k < n; k++) {
            const uint8_t *bytes = tokens_piece(&size, t, token[k - 1], token[k]);
            memcpy(text + used, bytes, size);
            used += size;
        }
        assert_int_equal(used, strlen(texts[i]));
        assert_memory_equal(text, texts[i], used);
        free(token);
    }
    size_t size;
    tokens_piece(&size, t, TOKENS_BEGIN, 9999);
    assert_int_equal(size, 0);
    tokens_piece(&size, t, TOKENS_BEGIN, -1);
    assert_int_equal(size, 0);
    tokens_free(t);
}

/* ---------------------------------------------------------------- files */

/* A file's name in the corpus, whether it is read, and how it is made. */
#define FILES(X) \
    X(valid, "valid", true, put_start(b, 6), put_words(b)) \
    X(empty_pieces, "empty-pieces", true, put_start(b, 6), put_word(b, "", 0), put_word(b, "", 1), \
      put_word(b, "a", 1), put_word(b, "a", 2)) \
    X(longest_0, "longest-0", false, put_start(b, 0)) \
    X(longest_past_the_file, "longest-past-the-file", false, put_start(b, 1u << 31)) \
    X(two_tokens, "two-tokens", false, put_number(b, 6, 4), put_word(b, "<unk>", 0), put_word(b, "\n<s>\n", 0)) \
    X(score_nan, "score-nan", false, put_start(b, 6), put_word(b, "a", (float)NAN)) \
    X(size_past_the_end, "size-past-the-end", false, put_start(b, 6), put_number(b, 0, 4), put_number(b, 6, 4), \
      put(b, "abc", 3)) \
    X(size_negative, "size-negative", false, put_start(b, 6), put_number(b, 0, 4), put_number(b, 0xffffffffu, 4)) \
    X(longer, "longer-than-the-longest", false, put_start(b, 6), put_word(b, "abcdefg", 0)) \
    X(one_byte_more, "one-byte-more", false, put_start(b, 6), put_words(b), put_number(b, 0, 1))
#define FILE_FUNCTION(make, name, fine, ...) \
    static void make(blob *b) \
    { \
        __VA_ARGS__; \
    }
#define FILE_ROW(make, name, fine, ...) { name, make, fine },
FILES(FILE_FUNCTION)

static const struct {
    const char *name;
    void (*make)(blob *b);
    bool fine;
} files[] = { FILES(FILE_ROW) };

TEST(files_are_read_or_refused_with_a_sentence)
{
    for (int n = 0; n < COUNT(files); n++) {
        blob b = { .size = 0 };
        tokens *t;
        files[n].make(&b);
        corpus_check(&b, "tokens", files[n].name);
        pe_status s = parse(&t, &b, b.size, &err);
        if (files[n].fine != (s == PE_OK))
            fail_msg("%s: %s", files[n].name, err.text);
        assert_true(s == PE_OK || (!t && !strncmp(err.text, "tok.bin: ", 9)));
        tokens_free(t);
    }
}

/* Cut anywhere a file ends within a token, or between two: then it is a smaller tokenizer. */
TEST(cut_files_are_safe)
{
    blob b = { .size = 0 };
    tokens *t;
    int fine = 0;
    valid(&b);
    for (size_t size = 0; size < b.size; size++)
        if (parse(&t, &b, size, NULL) == PE_OK) {
            fine++;
            tokens_free(t);
        }
    assert_int_equal(fine, COUNT(words)); /* after 3, 4, ... tokens */
}

TEST(a_byte_without_a_token_is_said)
{
    blob b = { .size = 0 };
    tokens *t;
    int32_t *list;
    int64_t n;
    valid(&b);
    assert_ok(parse(&t, &b, b.size, &err));
    assert_int_equal(tokens_encode(&list, &n, t, "abz", 3, &err), PE_ERR_FORMAT);
    assert_null(list);
    assert_non_null(strstr(err.text, "0x7A"));
    tokens_free(t);
}

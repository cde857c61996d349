/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 15 s
 *
 * The spec: one text per encoding, whatever the order of its keys, the spelling of its numbers or the locale; wrong
 * texts get an answer that names the key, the value and the fix; and no text at all can do harm. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, setenv */
#include <locale.h>

#include "test.h"

#define TEXT_MAX 70000

static pe_status try_new(const char *spec, pe_encoding **e, pe_error *error)
{
    *e = NULL;
    *error = (pe_error){ 0 };
    pe_status s = pe_encoding_new(e, spec, test_shape, error);
    if ((s != PE_OK) != (*e == NULL) || (s != PE_OK) != (*error->text != 0) || error->status != s ||
        !memchr(error->text, 0, sizeof error->text))
        fail_msg("'%.100s': status %d, encoding %p, text '%s'", spec, s, (void *)*e, error->text);
    return s;
}

/* The canonical text, or "" and the reason in err. */
static void canonical(const char *spec, char *out, size_t cap, pe_error *error)
{
    pe_encoding *e;
    *out = 0;
    if (!try_new(spec, &e, error)) {
        if (strlen(pe_encoding_spec(e)) >= cap)
            fail_msg("'%.100s': the canonical text is too long for the test", spec);
        strcpy(out, pe_encoding_spec(e));
    }
    pe_encoding_free(e);
}

static void assert_canonical(const char *spec, const char *wanted)
{
    static char text[TEXT_MAX];
    canonical(spec, text, sizeof text, &err);
    if (strcmp(text, wanted))
        fail_msg("'%s' prints as '%s', not as '%s' %s", spec, text, wanted, err.text);
}

static const char *const combinations[] = {
    "sinusoidal+alibi", "rope+t5:scale=sqrt", "learned:rows=14/14+window:window=14/14", "sinusoidal+rope+alibi+shaw",
    "deberta:terms=c2p+alibi", "rope:theta=1e+15+alibi", "none+none",
};

/* ------------------------------------------------ the canonical text */

static void check_fixed_point(const char *spec)
{
    pe_encoding *again, *e = encoding_of(spec, test_shape);
    assert_ok(try_new(pe_encoding_spec(e), &again, &err));
    assert_string_equal(pe_encoding_spec(again), pe_encoding_spec(e));
    assert_true(pe_encoding_fingerprint(again) == pe_encoding_fingerprint(e));
    pe_encoding_free(again);
}

TEST(canonical_text_is_a_fixed_point)
{
    each_spec(check_fixed_point, combinations, COUNT(combinations));
}

TEST(equal_specs_print_alike)
{
    static const char *const equal[][2] = {
        { "rope:scaling=yarn,factor=4,trained=32k", "rope:scaling=yarn,factor=4,trained=32768" },
        { "normalised:length=1M", "normalised:length=1048576" },
        { "normalised:length=1G", "normalised:length=1073741824" }, { "learned:offset=-1K", "learned:offset=-1024" },
        { "learned:rows=1k", "learned:rows=1024" }, { "learned:rows=1k/16", "learned:rows=1024/16" },
        { "window:window=7/1k", "window:window=7/1024" }, { "rope:theta=1e6", "rope:theta=1000000" },
        { "rope:theta=1E+6", "rope:theta=1000000" }, { "rope:theta=1000000.000", "rope:theta=1000000" },
        { "rope:theta=0001000000", "rope:theta=1000000" }, { "rope:theta=+10e5", "rope:theta=1000000" },
        { "rope:theta=1e4", "rope" }, { "rope:fraction=0.5", "rope:dims=32" }, { "rope:fraction=.5", "rope:dims=32" },
        { "rope:fraction=5e-1", "rope:dims=32" }, { "rope:fraction=1", "rope" }, { "rope:dims=64", "rope" },
        { "rope:sections=8/12/12", "rope:axes=3,sections=8/12/12" },
        { "rope:sections=8.0/1.2e1/12", "rope:axes=3,sections=8/12/12" },
        { "rope:factor=4,scaling=linear", "rope:scaling=linear,factor=4" },
        { "rope:trained=2048,beta_slow=1,beta_fast=32.0,factor=4,scaling=yarn", "rope:scaling=yarn,factor=4,trained=2048" },
        { "alibi:total=8", "alibi" }, { "alibi:total=12,offset=4", "alibi:offset=4" },
        { "learned:rows=512", "learned" }, { "window:window=7/7.0", "window" }, { "xpos:centre=-0", "xpos" },
        { "t5:scale=sqrt,max=256,buckets=64", "t5:buckets=64,max=256,scale=sqrt" },
        { "sinusoidal:theta=10000.0+alibi:max=8e0", "sinusoidal+alibi" },
        { "rope:magnitude=0.1", "rope:magnitude=0.1" },
        { "rope:magnitude=0.10000000000000001", "rope:magnitude=0.1" },
        { "rope:magnitude=0.3333333333333333", "rope:magnitude=0.3333333333333333" },
        { "rope:theta=1e15", "rope:theta=1e+15" },
    };
    for (int i = 0; i < COUNT(equal); i++) {
        assert_canonical(equal[i][0], equal[i][1]);
        assert_canonical(equal[i][1], equal[i][1]);
    }
}

/* name:a,b,c becomes name:c,b,a. */
static void check_key_order(const pe_info *row, const char *spec)
{
    char reversed[2000], text[2000];
    const char *keys = strchr(spec, ':');
    if (!keys)
        return;
    int used = snprintf(reversed, sizeof reversed, "%s", row->name);
    for (const char *end = spec + strlen(spec); end > keys;) {
        const char *start = end;
        while (start[-1] != ',' && start[-1] != ':')
            start--;
        used += snprintf(reversed + used, sizeof reversed - (size_t)used, "%c%.*s", used == (int)strlen(row->name) ? ':' : ',',
                         (int)(end - start), start);
        end = start - 1;
    }
    canonical(spec, text, sizeof text, &err);
    assert_canonical(reversed, text);
}

TEST(the_order_of_keys_does_not_matter)
{
    test_each_example(check_key_order);
}

/* Fingerprints of everything there is, and its text and shape. */
static struct {
    uint64_t print;
    char text[500];
    int shape;
} seen[2000];
static int seen_count;

static void check_fingerprint(const char *spec)
{
    static const pe_shape shapes[] = { { 8, 4, 64, 512 }, { 8, 8, 64, 512 }, { 8, 0, 64, 512 }, { 4, 4, 64, 512 }, { 8, 4, 128, 512 },
                                       { 8, 4, 64, 1024 } };
    static const int same[] = { 0, 1, 1, 3, 4, 5 }; /* kv_heads 0 means heads */
    for (int i = 0; i < COUNT(shapes); i++) {
        pe_encoding *e;
        if (pe_encoding_new(&e, spec, shapes[i], NULL))
            continue; /* sections that add up for one width only */
        assert_true(seen_count < COUNT(seen));
        seen[seen_count].print = pe_encoding_fingerprint(e);
        seen[seen_count].shape = same[i];
        snprintf(seen[seen_count].text, sizeof seen[0].text, "%s", pe_encoding_spec(e));
        seen_count++;
        pe_encoding_free(e);
    }
}

TEST(fingerprints_tell_specs_and_shapes_apart)
{
    each_spec(check_fingerprint, combinations, COUNT(combinations));
    for (int i = 0; i < seen_count; i++)
        for (int j = 0; j < i; j++) {
            bool equal = seen[i].shape == seen[j].shape && !strcmp(seen[i].text, seen[j].text);
            if (equal != (seen[i].print == seen[j].print))
                fail_msg("%s (shape %d) and %s (shape %d): fingerprints %" PRIx64 " and %" PRIx64, seen[i].text, seen[i].shape,
                         seen[j].text, seen[j].shape, seen[i].print, seen[j].print);
        }
    printf("%d fingerprints compared\n", seen_count);
}

/* ------------------------------------------------ keys: defaults, ranges, choices */

/* spec without this key. */
static void without(const char *spec, const char *key, char *out, size_t cap)
{
    char word[60];
    snprintf(out, cap, "%s", spec);
    snprintf(word, sizeof word, "%s=", key);
    for (char *p = out; (p = strstr(p, word)); p++)
        if (p > out && (p[-1] == ':' || p[-1] == ',')) {
            size_t n = strcspn(p, ",");
            char *from = p[n] ? p : p - 1; /* with the comma behind it, or what leads it */
            memmove(from, p + n + (p[n] == ','), strlen(p + n + (p[n] == ',')) + 1);
            return;
        }
}

/* Puts key=value behind an example of the row that takes it (instead of what it says of the key); false: none does. */
static bool accepted_somewhere(const pe_info *row, const char *key, const char *value, char *base, char *text, size_t cap)
{
    for (int i = 0; i < row->example_count; i++) {
        char spec[4000], example[2000];
        without(row->examples[i], key, example, sizeof example);
        snprintf(spec, sizeof spec, "%s%c%s=%s", example, strchr(example, ':') ? ',' : ':', key, value);
        canonical(spec, text, cap, &err);
        if (*text) {
            canonical(example, base, cap, &err);
            return true;
        }
    }
    return false;
}

TEST(a_default_written_out_changes_nothing)
{
    char base[2000], text[2000];
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->key_count; k++) {
            const pe_info *row = pe_info_at(i);
            const pe_key *key = pe_info_key(row, k);
            if (!*key->fallback)
                continue;
            if (!accepted_somewhere(row, key->name, key->fallback, base, text, sizeof text))
                fail_msg("%s: no example takes %s=%s", row->name, key->name, key->fallback);
            if (strcmp(base, text))
                fail_msg("%s: with the default %s=%s the text becomes %s", base, key->name, key->fallback, text);
        }
}

static void spec_refused(const char *spec, pe_status wanted, const char *const *words)
{
    pe_encoding *e;
    pe_status s = try_new(spec, &e, &err);
    pe_encoding_free(e);
    if (s != wanted)
        fail_msg("'%s': %s ('%s'), not %s", spec, pe_status_name(s), err.text, pe_status_name(wanted));
    for (; *words; words++)
        if (!strstr(err.text, *words))
            fail_msg("'%s': the sentence '%s' does not say '%s'", spec, err.text, *words);
}

#define assert_spec_refused(spec, wanted, ...) spec_refused(spec, wanted, (const char *[]){ __VA_ARGS__, NULL })

TEST(a_number_out_of_range_is_answered_by_key_value_and_fix)
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->key_count; k++) {
            const pe_info *row = pe_info_at(i);
            const pe_key *key = pe_info_key(row, k);
            char spec[200], value[40];
            if (key->kind == PE_KEY_CHOICE)
                continue;
            const double wrong[] = { key->min - 1 - fabs(key->min), key->max * 2 + 1, -1e100, 1e100 };
            for (int n = 0; n < COUNT(wrong); n++) {
                snprintf(value, sizeof value, "%.15g", wrong[n]);
                snprintf(spec, sizeof spec, "%s:%s=%s", row->name, key->name, value);
                assert_spec_refused(spec, PE_ERR_RANGE, row->name, key->name, value, "needs");
                if (key->kind == PE_KEY_LIST) {
                    snprintf(spec, sizeof spec, "%s:%s=%.15g/%s", row->name, key->name, key->min, value);
                    assert_spec_refused(spec, PE_ERR_RANGE, row->name, key->name, value, "needs");
                }
            }
            static const char *const words[] = { "abc", "", "1e", "0x10", "nan", "inf", "1..2", "--1", "1e999999999", "1 ", " 1", "1/2x" };
            for (int n = 0; n < COUNT(words); n++) {
                snprintf(spec, sizeof spec, "%s:%s=%s", row->name, key->name, words[n]);
                assert_spec_refused(spec, PE_ERR_SPEC, row->name, key->name, "needs a number");
            }
            bool whole = key->kind == PE_KEY_INT || (key->kind == PE_KEY_LIST && key->min == floor(key->min));
            if (whole && key->min <= 1 && key->max > 1) {
                snprintf(spec, sizeof spec, "%s:%s=1.5", row->name, key->name);
                if (key->kind == PE_KEY_INT && key->min <= 1.5 && key->max >= 1.5)
                    assert_spec_refused(spec, PE_ERR_RANGE, row->name, key->name, "1.5", "whole");
                snprintf(spec, sizeof spec, "%s:%s=1.5k", row->name, key->name);
                assert_spec_refused(spec, PE_ERR_RANGE, row->name, key->name, "1.5k", "whole");
                snprintf(spec, sizeof spec, "%s:%s=9999999999G", row->name, key->name);
                assert_spec_refused(spec, PE_ERR_RANGE, row->name, key->name, "9999999999G", "to");
            }
            static const char *const units[] = { "k", "1kk", "1k0", "-k" };
            for (int n = 0; n < COUNT(units) && whole; n++) {
                snprintf(spec, sizeof spec, "%s:%s=%s", row->name, key->name, units[n]);
                assert_spec_refused(spec, PE_ERR_SPEC, row->name, key->name, "needs a number");
            }
            snprintf(spec, sizeof spec, "%s:%s=1k", row->name, key->name); /* a unit is for whole numbers */
            if (!whole)
                assert_spec_refused(spec, PE_ERR_SPEC, row->name, key->name, "needs a number");
        }
}

/* The ends of a range may be too much for the shape, but then the sentence says which key. */
TEST(the_ends_of_a_range_are_taken_or_explained)
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->key_count; k++) {
            const pe_info *row = pe_info_at(i);
            const pe_key *key = pe_info_key(row, k);
            for (int n = 0; n < 2 && key->kind != PE_KEY_CHOICE; n++)
                for (int j = 0; j < row->example_count; j++) {
                    pe_encoding *e;
                    char spec[2000];
                    snprintf(spec, sizeof spec, "%s%c%s=%.15g", row->examples[j], strchr(row->examples[j], ':') ? ',' : ':', key->name,
                             n ? key->max : key->min);
                    if (try_new(spec, &e, &err) && !strstr(err.text, row->name))
                        fail_msg("'%s': '%s' does not name the row", spec, err.text);
                    pe_encoding_free(e);
                }
        }
}

static const char *next_choice(const char *choices, char *word) /* NULL: that was the last */
{
    size_t n = strcspn(choices, "|");
    memcpy(word, choices, n);
    word[n] = 0;
    return choices[n] ? choices + n + 1 : NULL;
}

TEST(every_choice_is_taken_or_explained)
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->key_count; k++) {
            const pe_info *row = pe_info_at(i);
            const pe_key *key = pe_info_key(row, k);
            for (const char *c = key->kind == PE_KEY_CHOICE ? key->choices : NULL; c;) {
                pe_encoding *e;
                char word[60], spec[200];
                c = next_choice(c, word);
                snprintf(spec, sizeof spec, "%s:%s=%s", row->name, key->name, word);
                if (try_new(spec, &e, &err) && (!strstr(err.text, key->name) || !strstr(err.text, row->name)))
                    fail_msg("'%s': '%s' does not name the key", spec, err.text);
                pe_encoding_free(e);
            }
        }
}

/* ------------------------------------------------ typing errors */

static bool in_list(const char *word, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i], word))
            return true;
    return false;
}

/* Whether a and b differ by one letter changed, missing or added, or a is the beginning of b. */
static bool close_by(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), head = 0, tail = 0, least = n < m ? n : m;
    while (head < least && a[head] == b[head])
        head++;
    while (tail < least - head && a[n - 1 - tail] == b[m - 1 - tail])
        tail++;
    return (n > m ? n : m) - head - tail <= 1 || head == n;
}

static long typos;

/* Every word of the list, with one letter wrong, is answered by a word close by. */
static void try_typos(const char *before, const char *const *list, int count, const char *after)
{
    for (int i = 0; i < count; i++)
        for (size_t at = 0; at <= strlen(list[i]); at++)
            for (int kind = 0; kind < 4; kind++) { /* z for a letter, a letter twice, a letter missing, z added */
                char typo[64], spec[200], said[64] = "";
                const char *w = list[i];
                size_t n = strlen(w);
                if (at == n && kind != 3)
                    continue;
                const char twice[3] = { w[at], w[at], 0 }, *instead[] = { "z", twice, "", "z" };
                snprintf(typo, sizeof typo, "%.*s%s%s", (int)at, w, instead[kind], w + at + (kind != 3));
                if (strlen(typo) < 2 || strpbrk(typo, "+=,:") || in_list(typo, list, count))
                    continue;
                snprintf(spec, sizeof spec, "%s%s%s", before, typo, after);
                pe_encoding *e;
                pe_status s = try_new(spec, &e, &err);
                pe_encoding_free(e);
                const char *mean = strstr(err.text, "did you mean '");
                if (mean)
                    snprintf(said, sizeof said, "%.*s", (int)strcspn(mean + 14, "'"), mean + 14);
                if (s != PE_ERR_SPEC || !strstr(err.text, typo) || !in_list(said, list, count) || !close_by(typo, said))
                    fail_msg("'%s' for %s: '%s'", spec, w, err.text);
                typos++;
            }
}

/* Each of "a|b|c", as a name or key of this row, is answered by `ours`. */
static void check_foreign(const char *before, const char *also, const char *after, const char *ours)
{
    while (also && *also) {
        char spec[200], mean[80];
        pe_encoding *e;
        int n = (int)strcspn(also, "|");
        snprintf(spec, sizeof spec, "%s%.*s%s", before, n, also, after);
        snprintf(mean, sizeof mean, "did you mean '%s'?", ours);
        if (try_new(spec, &e, &err) != PE_ERR_SPEC || !strstr(err.text, mean))
            fail_msg("'%s': '%s' does not say %s", spec, err.text, mean);
        also += n + (also[n] == '|');
    }
}

static int required_dropped;

/* The example without each of its required keys. */
static void drop_required(const pe_info *r, const char *spec)
{
    for (int k = 0; k < r->key_count; k++) {
        char mark[40], text[1000], missing[60];
        snprintf(mark, sizeof mark, ",%s=", pe_info_key(r, k)->name);
        const char *at = strstr(spec, mark);
        if (!pe_info_key(r, k)->required || !at)
            continue;
        snprintf(text, sizeof text, "%.*s%s", (int)(at - spec), spec, at + 1 + strcspn(at + 1, ","));
        snprintf(missing, sizeof missing, "%s is missing", pe_info_key(r, k)->name);
        assert_spec_refused(text, PE_ERR_SPEC, missing);
        required_dropped++;
    }
}

TEST(a_required_key_is_asked_for_by_name)
{
    test_each_example(drop_required);
    assert_true(required_dropped >= 6);
}

/* What a spec says twice over is left out of its canonical text, and never so much that it cannot be read back. */
TEST(what_changes_nothing_is_not_canonical)
{
#define EIGHT(x) x "/" x "/" x "/" x "/" x "/" x "/" x "/" x
    static const char *const pairs[][2] = {
        { "rope:range=trailing", "rope" },
        { "rope:magnitude=1", "rope" },
        { "rope:scaling=yarn,factor=4,trained=64,mscale=1", "rope:scaling=yarn,factor=4,trained=64" },
        { "rope:scaling=dynamic,factor=2,trained=64,length=64", "rope:scaling=dynamic,factor=2,trained=64" },
        { "rope:axes=2,split=axial,sections=4/4", "rope:axes=2,split=axial" },
        { "rope:scaling=longrope,magnitude=1,trained=64,short=" EIGHT("1") ",long=" EIGHT("2"),
          "rope:scaling=longrope,trained=64,short=" EIGHT("1") ",long=" EIGHT("2") ",magnitude=1" },
        { "sinusoidal:join=concat,width=128", "sinusoidal:join=concat" },
    };
    for (int i = 0; i < COUNT(pairs); i++) {
        pe_shape shape = { 8, 4, 16, 128 };
        pe_encoding *e = encoding_of(pairs[i][0], shape);
        assert_string_equal(pe_encoding_spec(e), pairs[i][1]);
        pe_encoding *again = encoding_of(pe_encoding_spec(e), shape);
        assert_true(pe_encoding_fingerprint(e) == pe_encoding_fingerprint(again));
    }
}

TEST(other_peoples_names_are_answered_by_ours)
{
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *r = pe_info_at(i);
        char before[64];
        snprintf(before, sizeof before, "%s:", r->name);
        check_foreign("", r->also, "", r->name);
        for (int k = 0; k < r->key_count; k++)
            check_foreign(before, pe_info_key(r, k)->also, "=1", pe_info_key(r, k)->name);
    }
}

TEST(a_typing_error_is_answered_by_the_nearest_word)
{
    const char *names[64];
    for (int i = 0; i < pe_info_count(); i++)
        names[i] = pe_info_at(i)->name;
    try_typos("", names, pe_info_count(), "");
    try_typos("sinusoidal+", names, pe_info_count(), ":theta=5");
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *row = pe_info_at(i);
        const char *keys[64];
        char before[100];
        for (int k = 0; k < row->key_count; k++)
            keys[k] = pe_info_key(row, k)->name;
        snprintf(before, sizeof before, "%s:", row->name);
        try_typos(before, keys, row->key_count, "=1");
        for (int k = 0; k < row->key_count; k++) {
            char words[20][60];
            const char *list[20];
            int count = 0;
            for (const char *c = pe_info_key(row, k)->kind == PE_KEY_CHOICE ? pe_info_key(row, k)->choices : NULL; c; count++) {
                c = next_choice(c, words[count]);
                list[count] = words[count];
            }
            snprintf(before, sizeof before, "%s:%s=", row->name, keys[k]);
            try_typos(before, list, count, "");
        }
    }
    printf("%ld typing errors answered\n", typos);
}

TEST(a_method_that_is_no_row_is_answered_by_the_docs)
{
    static const char *const names[] = { "string", "grape", "dual-chunk", "stick-breaking", "drope" };
    for (int i = 0; i < COUNT(names); i++)
        assert_spec_refused(names[i], PE_ERR_SPEC, names[i], "docs/encodings.md");
}

TEST(what_is_no_typing_error_is_answered_by_the_list)
{
    assert_spec_refused("qwertyuiopasdf", PE_ERR_SPEC, "qwertyuiopasdf", "none, integer");
    assert_spec_refused("rope:qwertyuiopasdf=1", PE_ERR_SPEC, "rope", "qwertyuiopasdf", "theta, pairs");
    assert_spec_refused("rope:pairs=qwertyuiopasdf", PE_ERR_SPEC, "rope", "pairs", "half, adjacent");
    assert_spec_refused("none:theta=1", PE_ERR_SPEC, "none", "theta", "there is none");
    assert_spec_refused("rope:factor=2", PE_ERR_SPEC, "factor", "only with scaling=linear");
    assert_spec_refused("rope:scaling=linear", PE_ERR_SPEC, "factor is missing", "scaling=linear");
    assert_spec_refused("rope:theta=1,theta=2", PE_ERR_SPEC, "rope: theta is given twice");
    assert_spec_refused("rope+xpos", PE_ERR_SPEC, "rope and xpos both rotate");
    assert_spec_refused("rope+rope:dims=0", PE_ERR_SPEC, "both rotate");
    assert_spec_refused("cope+cope:positions=8", PE_ERR_SPEC, "both count keys");
    assert_spec_refused("xpos+shaw", PE_ERR_SPEC, "xpos", "combine it with a bias");
    assert_spec_refused("cope+xpos", PE_ERR_SPEC, "xpos");
    assert_spec_refused("rope+", PE_ERR_SPEC, "has no name");
    assert_spec_refused("t5+deberta", PE_ERR_SPEC, "t5 and deberta need different softmax scales");
    assert_spec_refused("none+none+none+none+none", PE_ERR_SPEC, "at most 4 parts");
    assert_spec_refused("rope:sections=4/4/4/4/4/4/4/2/2", PE_ERR_RANGE, "sections", "8 at most");
}

/* ------------------------------------------------ texts that mean harm */

TEST(a_hostile_text_is_refused)
{
    static const char *const hostile[] = {
        "", " ", "+", "++", ":", ",", "=", "/", "rope+", "+rope", "rope++t5", "rope:", "rope:,", "rope:=", "rope:=1",
        "rope:theta", "rope:theta=", "rope:theta==1", "rope::theta=1", "rope:theta=1,", "rope:theta=1,,pairs=half",
        "rope,theta=1", "rope=1", "rope theta=1", " rope", "rope ", "rope\t", "rope\n", "rope: theta=1",
        "rope:theta =1", "rope:theta= 1", "rope:theta=1 ", "rope:theta=1 ,pairs=half", "Rope", "ROPE", "rope:Theta=1",
        "rope:pairs=Half", "rope:theta=1e", "rope:theta=1e+", "rope:theta=e5", "rope:theta=.", "rope:theta=+",
        "rope:theta=-", "rope:theta=1.2.3", "rope:theta=0x10", "rope:theta=1_000", "rope:theta=1,000",
        "rope:theta=nan", "rope:theta=inf", "rope:theta=-inf", "rope:theta=1e400",
        "rope:theta=1e99999999999999999999", "rope:theta=(1)", "rope:theta=rope:theta=1", "rope:sections=",
        "rope:sections=/", "rope:sections=16/", "rope:sections=/16", "rope:sections=16//16", "rope:sections=[16,16]",
        "rope:sections=16/16/nan", "{\"rope\":{}}", "rope(theta=1)", "rope;theta=1", "%n%s%n%s%x", "rope:%n=%s",
        "rope:pairs=%s%s%s%n", "\x01\x02\x03", "\xff\xfe\xfd", "rope:\x80=\x81", "rope:theta=\xef\xbc\x91",
        "r\xc3\xb6pe", "../../etc/passwd", "rope\\theta=1",
    };
    for (int i = 0; i < COUNT(hostile); i++) {
        pe_encoding *e;
        if (!try_new(hostile[i], &e, &err))
            fail_msg("'%s' was accepted", hostile[i]);
    }
}

/* head, then body as often as fits into n letters, then tail. */
static char *repeated(const char *head, const char *body, size_t n, const char *tail)
{
    static char text[200000];
    size_t used = strlen(head), step = strlen(body);
    strcpy(text, head);
    for (; used + step + strlen(tail) <= n; used += step)
        memcpy(text + used, body, step);
    strcpy(text + used, tail);
    return text;
}

TEST(a_huge_text_is_refused_at_once)
{
    static const char *const huge[][3] = {
        { "", "a", "" }, { "", "+", "" }, { "none", "+none", "" }, { "rope", ":", "" }, { "rope:", ",", "" },
        { "rope:", "theta=1,", "theta=1" }, { "rope:", "a", "=1" }, { "rope:pairs=", "a", "" },
        { "rope:theta=", "9", "" }, { "rope:theta=1", "0", "1" }, { "rope:theta=.", "0", "1" },
        { "rope:theta=1e", "9", "" }, { "rope:theta=1e", "0", "400" }, { "rope:theta=", "-", "" },
        { "rope:sections=1", "/1", "" }, { "rope:sections=", "/", "" },
        { "rope:scaling=longrope,trained=1,long=1,short=1", "/1", "" }, { "learned:rows=1", "/1", "" },
        { "window:window=1", "/1", "" }, { "", "\xff", "" }, { "", "%n", "" }, { "rope:theta=", "(", "" },
    };
    static const size_t sizes[] = { 100, 1000, 8000, 16000, 65000, 65534, 65535, 65536, 65537, 150000 };
    for (int i = 0; i < COUNT(huge); i++)
        for (int n = 0; n < COUNT(sizes); n++) {
            pe_encoding *e;
            if (!try_new(repeated(huge[i][0], huge[i][1], sizes[n], huge[i][2]), &e, &err))
                fail_msg("%s%s... (%zu letters) was accepted", huge[i][0], huge[i][1], sizes[n]);
        }
}

/* As long as it is right, a long text is fine: leading zeros are no digits. */
TEST(a_long_number_of_zeros_is_read)
{
    assert_canonical(repeated("rope:theta=", "0", 60000, "500000"), "rope:theta=500000");
    assert_canonical(repeated("rope:theta=5e", "0", 60000, "5"), "rope:theta=500000");
}

TEST(no_byte_does_harm_anywhere)
{
    static const char spec[] = "rope:theta=500,sections=8/12/12+alibi:max=4";
    for (size_t at = 0; at < sizeof spec - 1; at++)
        for (int byte = 1; byte < 256; byte++) {
            char text[sizeof spec];
            pe_encoding *e;
            memcpy(text, spec, sizeof spec);
            text[at] = (char)byte;
            try_new(text, &e, &err);
            pe_encoding_free(e);
        }
}

/* Examples with letters changed, removed, repeated and swapped for pieces of others; the seed is printed. */
static void mutate(char *text, size_t cap, uint64_t *seed)
{
    static const char letters[] = ":,=+/.-e0123456789abcdefghijklmnopqrstuvwxyz_%\xff";
    for (int64_t n = test_range(seed, 1, 4); n > 0; n--) {
        size_t len = strlen(text), at = len ? (size_t)test_range(seed, 0, (int64_t)len - 1) : 0;
        int row = (int)test_range(seed, 0, pe_info_count() - 1);
        const pe_info *info = pe_info_at(row);
        const char *piece = info->examples[test_range(seed, 0, info->example_count - 1)];
        const pe_key *key = info->key_count ? pe_info_key(info, (int)test_range(seed, 0, info->key_count - 1)) : NULL;
        int64_t other = test_range(seed, 0, (int64_t)sizeof letters - 2);
        char joined[4000] = "";
        switch (test_range(seed, 0, 6)) {
        case 0: text[at] = letters[other]; break;
        case 1: memmove(text + at, text + at + 1, len - at + (len == 0)); break;
        case 2: text[at] = 0; break;
        case 3: snprintf(joined, sizeof joined, "%.*s%c%s", (int)at, text, letters[other], text + at); break;
        case 4: snprintf(joined, sizeof joined, "%s+%s", text, piece); break;
        case 5: snprintf(joined, sizeof joined, "%.*s%s", (int)at, text, piece + other % (int64_t)strlen(piece)); break;
        default:
            if (key)
                snprintf(joined, sizeof joined, "%s%c%s=%s", text, strchr(text, ':') ? ',' : ':', key->name,
                         *key->fallback ? key->fallback : "2");
        }
        if (*joined)
            strcpy(text, joined);
        text[cap / 2] = 0;
    }
}

TEST(random_texts_do_no_harm)
{
    uint64_t seed = 20261115;
    long accepted = 0;
    printf("seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 200000; i++) {
        static char text[4000], printed[4000];
        pe_encoding *e;
        const pe_info *info = pe_info_at((int)test_range(&seed, 0, pe_info_count() - 1));
        strcpy(text, info->examples[test_range(&seed, 0, info->example_count - 1)]);
        mutate(text, sizeof text, &seed);
        if (!try_new(text, &e, &err)) {
            accepted++;
            assert_true(strlen(pe_encoding_spec(e)) < sizeof printed);
            strcpy(printed, pe_encoding_spec(e));
            if (accepted % 16 == 0)
                assert_canonical(printed, printed);
        }
        pe_encoding_free(e);
    }
    printf("%ld of 200000 accepted\n", accepted);
    assert_true(accepted > 1000);
}

/* ------------------------------------------------ locales */

/* Sets a locale whose decimal point is no '.': one that localedef makes in this folder, or else the machine's own. */
static bool set_locale(const char *name, const char *folder)
{
    char make[400], half[16], full[40];
    snprintf(full, sizeof full, "%s.UTF-8", name);
    snprintf(make, sizeof make, "localedef -i %s -f UTF-8 %s/%s >/dev/null 2>&1", name, folder, full);
    int made = system(make);
    if (made == 0)
        setenv("LOCPATH", folder, 1);
    bool is_set = setlocale(LC_ALL, full) != NULL;
    unsetenv("LOCPATH");
    snprintf(half, sizeof half, "%.1f", 0.5);
    return is_set && strcmp(half, "0.5") != 0;
}

static char plain[3][400], with_comma[3][400];

/* Texts that hold numbers: a spec, and sentences about numbers. */
static void print_numbers(char out[3][400])
{
    float w[16] = { 0 }, score[1] = { 0 };
    int64_t at[1] = { 0 };
    pe_encoding *e = encoding_of("rope:theta=1234.5,magnitude=0.25,sections=8/12/12", test_shape);
    pe_encoding *kerple = encoding_of("kerple", (pe_shape){ 1, 1, 1, 1 });
    pe_tile tile = { .size = sizeof(pe_tile), .score = pe_view_of(score, PE_F32, 1, 1, 1, 1), .q_at = pe_positions_of(at, PE_I64, 1, 1, 1), .k_at = pe_positions_of(at, PE_I64, 1, 1, 1) };
    strcpy(out[0], pe_encoding_spec(e));
    w[0] = -0.5f;
    assert_int_equal(pe_encoding_bias(kerple, PE_AFTER_SCALE, (pe_params){ w, PE_F32, 2 }, &tile, &err), PE_ERR_RANGE);
    strcpy(out[1], err.text);
    assert_int_equal(pe_encoding_new(&e, "rope:theta=0.5", test_shape, &err), PE_ERR_RANGE);
    strcpy(out[2], err.text);
}

TEST(the_locale_changes_nothing)
{
    static const char *const names[] = { "de_DE", "ps_AF" }; /* comma; a point of two bytes */
    char folder[] = "/tmp/posenc-locale-XXXXXX", command[100];
    assert_non_null(mkdtemp(folder));
    print_numbers(plain);
    assert_string_equal(plain[0], "rope:theta=1234.5,axes=3,sections=8/12/12,magnitude=0.25");
    for (int i = 0; i < COUNT(names); i++) {
        if (!set_locale(names[i], folder)) {
            printf("note: no locale %s on this machine, and localedef cannot make one: not tested with it\n", names[i]);
            continue;
        }
        printf("with locale %s: %.1f\n", names[i], 0.5);
        print_numbers(with_comma);
        each_example(check_fixed_point);
        setlocale(LC_ALL, "C");
        for (int n = 0; n < 3; n++)
            assert_string_equal(with_comma[n], plain[n]);
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* ------------------------------------------------ the rows themselves */

static bool has_choice(const pe_key *k, const char *word, size_t n)
{
    for (const char *c = k->choices; c;) {
        char one[60];
        c = next_choice(c, one);
        if (strlen(one) == n && !memcmp(one, word, n))
            return true;
    }
    return false;
}

static void check_when(const pe_info *row, const pe_key *key)
{
    const char *equals = key->when ? strchr(key->when, '=') : NULL;
    if (!key->when)
        return;
    assert_non_null(equals);
    for (int i = 0; i < row->key_count; i++) {
        const pe_key *on = pe_info_key(row, i);
        if (strlen(on->name) != (size_t)(equals - key->when) || strncmp(on->name, key->when, strlen(on->name)))
            continue;
        assert_true(on->kind == PE_KEY_CHOICE && on != key);
        for (const char *w = equals; *w; w += 1 + strcspn(w + 1, "|"))
            if (!has_choice(on, w + 1, strcspn(w + 1, "|")))
                fail_msg("%s: %s depends on %s, which has no such choice", row->name, key->name, key->when);
        return;
    }
    fail_msg("%s: %s depends on %s, and there is no such key", row->name, key->name, key->when);
}

static void check_key(const pe_info *row, const pe_key *key)
{
    assert_true(*key->name && *key->help && key->fallback);
    assert_true(strlen(key->name) <= 30 && strspn(key->name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(key->name));
    for (int k = 0; pe_info_key(row, k) != key; k++)
        assert_string_not_equal(pe_info_key(row, k)->name, key->name);
    if (key->kind == PE_KEY_CHOICE) {
        assert_true(key->choices && *key->fallback && has_choice(key, key->fallback, strlen(key->fallback)));
        for (const char *c = key->choices, *next; c; c = next) {
            char word[60];
            next = next_choice(c, word);
            assert_true(*word && !(next && has_choice(&(pe_key){ .choices = next }, word, strlen(word))));
        }
    } else
        assert_true(!key->choices && key->min < key->max);
    check_when(row, key);
}

TEST(every_row_is_well_formed)
{
    assert_true(pe_info_count() >= 21);
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *row = pe_info_at(i);
        assert_true(*row->name && *row->summary && *row->formula && *row->paper && row->models && row->arxiv);
        assert_true(strlen(row->name) <= 30 && strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(row->name));
        assert_true(row->summary[strlen(row->summary) - 1] == '.');
        assert_true(!*row->arxiv || (strlen(row->arxiv) == 10 && row->arxiv[4] == '.'));
        assert_true(row->hooks < 32 && row->claims < 1u << CLAIM_COUNT);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(row->name, pe_info_at(j)->name);
        for (int k = 0; k < row->key_count; k++)
            check_key(row, pe_info_key(row, k));
        assert_true(row->example_count >= 1);
        assert_string_equal(row->examples[0], row->name); /* defaults alone are an encoding */
        for (int k = 0; k < row->example_count; k++) {
            pe_encoding *e = encoding_of(row->examples[k], (pe_shape){ .heads = 8, .head_dim = 64 });
            assert_true(!strncmp(row->examples[k], row->name, strlen(row->name)));
            if (k == 0)
                assert_int_equal(pe_encoding_claims(e), row->claims);
            assert_true(!(pe_encoding_claims(e) & PE_CLAIM_LEARNED) == (pe_encoding_param_count(e) == 0));
        }
    }
}

/* ------------------------------------------------ hooks */

enum { H = 2, D = 64, C = 128, N = 3, PARAMS = 1 << 18 };
static double w[PARAMS], q[N * H * D], k[N * H * D], y[2 * N * C], score[N * H * N];

/* Which hooks do something for this encoding. */
static unsigned hooks_at_work(const pe_encoding *e)
{
    int64_t q_at[N * PE_AXES_MAX], k_at[N * PE_AXES_MAX], axes = pe_encoding_axes(e), n = pe_encoding_param_count(e);
    unsigned found = 0;
    for (int i = 0; i < N * PE_AXES_MAX; i++)
        q_at[i] = 1, k_at[i] = i / axes % 2;
    pe_params p = { n ? w : NULL, PE_F64, n };
    pe_positions qp = pe_positions_of(q_at, PE_I64, 1, N, axes), kp = pe_positions_of(k_at, PE_I64, 1, N, axes);
    pe_view vq = pe_view_of(q, PE_F64, 1, N, H, D), vk = pe_view_of(k, PE_F64, 1, N, H, D), out = pe_view_of(y, PE_F64, 1, N, H, D);
    pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(score, PE_F64, 1, N, H, N), .q = vq, .k = vk, .q_at = qp, .k_at = kp };
    double gates[2 * N * H]; /* that differ from token to token */
    for (int i = 0; i < COUNT(gates); i++)
        gates[i] = -0.25 * i;
    TEST_INPUTS(e, &t, N, N);
    if (t.q_gates.data) {
        t.q_gates = pe_view_of(gates, PE_F64, 1, N, H, 1);
        t.k_gates = pe_view_of(gates + N * H, PE_F64, 1, N, H, 1);
    }
    assert_true(n <= PARAMS);
    assert_ok(pe_encoding_init(e, p, 1, &err));
    int64_t width = pe_embed_width(e, C);
    assert_ok(pe_embed(e, pe_view_of(y, PE_F64, 1, N, 1, width), (pe_view){ 0 }, qp, &PE_MAKE(pe_run, .params = p), &err));
    for (int64_t i = 0; i < N * width; i++)
        found |= y[i] != 0 ? PE_HOOK_EMBED : 0;
    assert_ok(pe_rotate(e, PE_QUERY, out, vq, qp, test_run(e), &err));
    found |= memcmp(y, q, sizeof q) ? PE_HOOK_ROTATE : 0;
    for (unsigned hook = PE_HOOK_CONTENT; hook <= PE_HOOK_BIAS; hook *= 2)
        for (pe_stage stage = PE_BEFORE_SCALE; stage <= PE_AFTER_SCALE; stage++) {
            memset(score, 0, sizeof score);
            if (hook == PE_HOOK_CONTENT)
                assert_ok(pe_encoding_content(e, stage, p, &t, &err));
            else
                assert_ok(pe_encoding_bias(e, stage, p, &t, &err));
            for (int i = 0; i < COUNT(score); i++)
                found |= score[i] != 0 ? hook : 0;
        }
    memset(y, 0, sizeof y);
    assert_ok(pe_encoding_value(e, p, out, pe_view_of(q, PE_F64, 1, N, H, N), qp, kp, &err));
    for (int i = 0; i < N * H * D; i++)
        found |= y[i] != 0 ? PE_HOOK_VALUE : 0;
    return found;
}

TEST(hooks_are_what_the_row_says)
{
    uint64_t seed = 3;
    for (int i = 0; i < N * H * D; i++)
        q[i] = test_uniform(&seed), k[i] = test_uniform(&seed);
    for (int i = 0; i < pe_info_count(); i++)
        for (int n = 0; n < pe_info_at(i)->example_count; n++) {
            const pe_info *row = pe_info_at(i);
            pe_encoding *e;
            if (pe_encoding_new(&e, row->examples[n], (pe_shape){ H, 0, D, C }, &err)) /* alibi:total=12,offset=4 is for 8 heads */
                fail_msg("%s: %s", row->examples[n], err.text);
            unsigned found = hooks_at_work(e);
            if (found & ~pe_encoding_hooks(e) || (n == 0 && found != row->hooks))
                fail_msg("%s: hooks %x are at work, the row says %x", row->examples[n], found, row->hooks);
            pe_encoding_free(e);
        }
}

/* SPDX-License-Identifier: MIT
 *
 * Pictures in memory, and a small judge of what was written (needs: wrap). */
#ifndef TESTS_DRAW_CASE_H
#define TESTS_DRAW_CASE_H

#include "common.h"
#include "heap.h"
#include "draw/typeset.h"
#include "io/columns.h"

/* ------------------------------------------------ what a test makes is freed at its program's end, after all tests */

typedef struct kept {
    void *it;
    void (*release)(void *it);
    struct kept *next;
} kept;

static kept *all_kept;

static inline void *keep(void *it, void (*release)(void *it))
{
    kept *k = __real_malloc(sizeof *k);
    *k = (kept){ it, release, all_kept };
    all_kept = k;
    return it;
}

static inline void release_draw(void *d)
{
    draw_free(d);
}

static inline draw *picture(double width, double height)
{
    pe_error err = { 0 };
    draw *d;
    assert_ok(draw_new(&d, width, height, &err));
    return keep(d, release_draw);
}

/* Every allocation of make fails once (past the 40th one in so many): it says so, returns PE_ERR_NOMEM and leaves nothing
 * behind. */
static inline void each_allocation_fails(pe_status (*make)(const void *with, pe_error *err), const void *with, long stride)
{
    bool reached = true;
    for (long n = 1; reached; n += n < 40 || test_full() ? 1 : stride) {
        pe_error err = { 0 };
        size_t live = heap.live;
        heap.made = 0;
        heap.fail = n;
        pe_status s = make(with, &err);
        reached = heap.made >= n;
        heap.fail = 0;
        if (s != (reached ? PE_ERR_NOMEM : PE_OK) || (reached && !strstr(err.text, "memory")) || (!reached && n < 3))
            fail_msg("allocation %ld: %s: %s", n, pe_status_name(s), err.text);
        assert_int_equal(heap.live, live);
    }
}

/* ------------------------------------------------ writing into memory */

typedef struct memory {
    char *text;
    size_t size;
    FILE *to;
} memory;

static inline FILE *memory_open(memory *p)
{
    *p = (memory){ 0 };
    p->to = open_memstream(&p->text, &p->size);
    assert_non_null(p->to);
    return p->to;
}

/* The text, which is kept. */
static inline const char *memory_end(memory *p)
{
    assert_int_equal(fclose(p->to), 0);
    return keep(p->text, __real_free); /* libc's own malloc gave it */
}

static inline const char *svg_of(const draw *d, draw_where where)
{
    pe_error err = { 0 };
    memory p;
    assert_ok(draw_svg(memory_open(&p), d, where, &err));
    return memory_end(&p);
}

static inline const char *terminal_of(const draw *d, draw_screen screen)
{
    pe_error err = { 0 };
    memory p;
    assert_ok(draw_terminal(memory_open(&p), d, &screen, &err));
    return memory_end(&p);
}

static inline int count_of(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* Of words up to NULL: each stands in the text, or none of them does. */
static inline void assert_words(const char *text, bool wanted, va_list list)
{
    for (const char *word; (word = va_arg(list, const char *));)
        if ((strstr(text, word) != NULL) != wanted)
            fail_msg("'%s' is %sin:\n%.4000s", word, wanted ? "not " : "", text);
}

static inline void assert_has(const char *text, ...)
{
    va_list list;
    va_start(list, text);
    assert_words(text, true, list);
    va_end(list);
}

static inline void assert_lacks(const char *text, ...)
{
    va_list list;
    va_start(list, text);
    assert_words(text, false, list);
    va_end(list);
}

/* ------------------------------------------------ a small judge of XML */

/* A name, and where it ends. */
static inline const char *xml_name(const char *s, char out[32])
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    assert_true(n > 0 && n < 32);
    memcpy(out, s, n);
    out[n] = 0;
    return s + n;
}

/* name="value" as often as there is one; each name once. */
static inline const char *xml_attributes(const char *s)
{
    char seen[20][32];
    int count = 0;
    while (*s == ' ') {
        assert_true(count < 20);
        s = xml_name(s + 1, seen[count]);
        for (int i = 0; i < count; i++)
            assert_string_not_equal(seen[i], seen[count]);
        count++;
        assert_int_equal(*s++, '=');
        assert_int_equal(*s++, '"');
        while (*s && *s != '"')
            assert_int_not_equal(*s++, '<');
        assert_int_equal(*s++, '"');
    }
    return s;
}

static inline void xml_text(const char *s, const char *end)
{
    for (; s < end; s++) {
        assert_true((unsigned char)*s >= 0x20 || *s == '\n');
        assert_int_not_equal(*s, '>');
        if (*s == '&') {
            const char *semi = strchr(s, ';');
            assert_true(semi && semi < end && s[1] == '#' && semi - s < 10);
        }
    }
}

/* One element after the other, each closed in turn; what stands in <style> is text. */
static inline void assert_well_formed(const char *s)
{
    char open[20][32], name[32];
    int depth = 0, roots = 0;
    if (!strncmp(s, "<?xml ", 6))
        s = strstr(s, "?>\n") + 3;
    while (*s) {
        const char *tag = strchr(s, '<');
        xml_text(s, tag ? tag : s + strlen(s));
        if (!tag)
            break;
        bool closes = tag[1] == '/';
        s = xml_name(tag + 1 + closes, name);
        if (closes) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else {
            s = xml_attributes(s);
            roots += depth == 0;
            assert_true(depth < 20);
            strcpy(open[depth++], name);
            depth -= *s == '/';
            s += *s == '/';
        }
        assert_int_equal(*s++, '>');
    }
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

static inline void assert_no_request(const char *svg)
{
    const char *space = strstr(svg, "http://www.w3.org/2000/svg");
    assert_int_equal(count_of(svg, "http"), space ? 1 : 0);
    assert_lacks(svg, "url(", "href", "@import", "<script", NULL);
}

/* ------------------------------------------------ a small judge of screens */

/* Columns of a line without its escape codes. */
static inline int line_columns(const char *line, const char *end)
{
    int columns = 0;
    while (line < end) {
        unsigned code;
        if (*line == 0x1b) {
            line = strchr(line, 'm') + 1;
            continue;
        }
        line += draw_next_code(line, &code);
        columns += columns_of_code(code);
    }
    return columns;
}

/* No line leaves a colour on. */
static inline bool ends_plain(const char *line, const char *end)
{
    const char *last = NULL;
    for (; line < end; line++)
        last = *line == 0x1b ? line : last;
    return !last || !strncmp(last, "\033[0m", 4);
}

static inline void assert_size(const char *text, draw_screen s)
{
    int rows = 0;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1, rows++) {
        assert_int_equal(line_columns(text, end), s.columns);
        assert_true(ends_plain(text, end));
    }
    assert_int_equal(*text, 0);
    assert_int_equal(rows, s.rows);
}

#include "test.h"

AROUND(after_all)
{
    for (kept *k; (k = all_kept); __real_free(k)) {
        all_kept = k->next;
        k->release(k->it);
    }
}

#endif

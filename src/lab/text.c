/* SPDX-License-Identifier: MIT */
#include "lab/text.h"

#include "base/random.h"
#include "io/checked.h"
#include "lab/window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- what a file says */

/* "*** START OF ..." or "***START OF ...", at the start of a line. */
static bool marks(const uint8_t *line, size_t size, const char *word)
{
    if (size < 3 || memcmp(line, "***", 3) != 0)
        return false;
    size_t at = size > 3 && line[3] == ' ' ? 4 : 3, n = strlen(word);
    return size - at >= n && memcmp(line + at, word, n) == 0;
}

/* Where the first line with this mark begins, from `at` on; size where there is none. *next: the line after it. */
static size_t find_mark(const uint8_t *text, size_t at, size_t size, const char *word, size_t *next)
{
    while (at < size) {
        const uint8_t *end = memchr(text + at, '\n', size - at);
        size_t stop = end ? (size_t)(end - text) + 1 : size;
        *next = stop;
        if (marks(text + at, size - at, word))
            return at;
        at = stop;
    }
    return size;
}

static void clean(io_bytes *b)
{
    size_t from = 0, to, after = 0, n = 0;
    if (find_mark(b->data, 0, b->size, "START OF", &after) < b->size)
        from = after;
    else if (b->size >= 3 && memcmp(b->data, "\xef\xbb\xbf", 3) == 0)
        from = 3;
    to = find_mark(b->data, from, b->size, "END OF", &after);
    while (from < to && (b->data[from] == '\n' || b->data[from] == '\r'))
        from++;
    while (to > from && (b->data[to - 1] == '\n' || b->data[to - 1] == '\r'))
        to--;
    for (size_t i = from; i < to; i++)
        if (b->data[i] != '\r' || i + 1 == to || b->data[i + 1] != '\n')
            b->data[n++] = b->data[i];
    b->size = n;
}

pe_status text_clean(io_bytes *b, pe_error *err)
{
    clean(b);
    if (b->size > 0)
        return PE_OK;
    pe_status s = io_fail(err, PE_ERR_FORMAT,
                          "%s: has no text; needs some bytes, between its START and END marks if it has them", b->name);
    io_bytes_free(b);
    return s;
}

/* ---------------------------------------------------------------- both splits */

/* Texts one after the other, an empty line between them. */
static bool append_text(uint8_t **to, size_t *size, const uint8_t *from, size_t n)
{
    size_t gap = *size ? 2 : 0, room;
    if (!io_add(&room, *size, gap) || !io_add(&room, room, n))
        return false;
    uint8_t *grown = realloc(*to, room ? room : 1);
    if (!grown)
        return false;
    memcpy(grown + *size, "\n\n", gap);
    if (n)
        memcpy(grown + *size + gap, from, n);
    *to = grown;
    *size = room;
    return true;
}

static pe_status add_file(text_split *out, const char *path, bool train, bool test, pe_error *err)
{
    io_bytes b = { 0 };
    pe_status s = io_read_file(&b, path, IO_CAP_DATA, err);
    if (s == PE_OK)
        s = text_clean(&b, err);
    if (s != PE_OK)
        return s;
    size_t kept = train && test ? b.size - b.size / 10 : train ? b.size : 0;
    bool done = (!train || append_text(&out->train, &out->train_size, b.data, kept)) &&
                (!test || append_text(&out->test, &out->test_size, b.data + kept, b.size - kept));
    io_bytes_free(&b);
    return done ? PE_OK : io_fail(err, PE_ERR_NOMEM, "%s: out of memory", path);
}

/* By whatever name or link. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return !stat(a, &one) && !stat(b, &other) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static pe_status apart(const lab_source *s, const char *test, pe_error *err)
{
    for (int i = 0; i < s->files; i++)
        if (is_same_file(s->file[i], test))
            return io_fail(err, PE_ERR_SPEC, "%s: is both trained and tested on; needs to be one of the two", test);
    return PE_OK;
}

pe_status text_open(text_split *out, const lab_source *s, pe_error *err)
{
    pe_status status = PE_OK;
    *out = (text_split){ 0 };
    if (s->files < 1)
        return io_fail(err, PE_ERR_SPEC, "text: no file to train on; needs 1 or more");
    for (int i = 0; i < s->files && status == PE_OK; i++)
        status = add_file(out, s->file[i], true, s->tests == 0, err);
    for (int i = 0; i < s->tests && status == PE_OK; i++)
        status = apart(s, s->test[i], err);
    for (int i = 0; i < s->tests && status == PE_OK; i++)
        status = add_file(out, s->test[i], false, true, err);
    if (status != PE_OK)
        text_close(out);
    return status;
}

void text_close(text_split *t)
{
    free(t->train);
    free(t->test);
    *t = (text_split){ 0 };
}

/* ---------------------------------------------------------------- windows */

/* Test windows tile the text from its end, so those of other lengths end where these do. Past the last one they begin
 * again. */
void fill_text(window_text *out, const lab_data *d, const window *w)
{
    const text_split *t = lab_data_text(d);
    bool test = w->test >= 0;
    const uint8_t *from = test ? t->test : t->train;
    int64_t size = (int64_t)(test ? t->test_size : t->train_size), at;
    if (test)
        at = size - out->size - w->test % ((size - out->size + out->length) / out->length) * out->length;
    else
        at = (int64_t)(random_at(w->key, 0) % (uint64_t)(size - out->size + 1));
    for (int64_t i = 0; i < out->size; i++) {
        out->text[i] = from[at + i];
        out->told[i] = 0;
    }
}

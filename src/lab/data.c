/* SPDX-License-Identifier: MIT
 *
 * Sources of data and the batches made of them. */
#include "base/random.h"
#include "io/checked.h"
#include "io/io.h"
#include "lab/data.h"
#include "lab/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BYTES = 256, MASK = 256, SHORTEST = 16, LONGEST = INT32_MAX - 1, MASKED_PERCENT = 15 };

typedef struct source_row {
    lab_source_info info;
    window_filler *make;
    bool files; /* made of files */
    bool dense; /* every byte is asked for; where tokens are masked, some of them */
} source_row;

typedef struct text_split {
    uint8_t *train, *test;
    size_t train_size, test_size;
} text_split;

struct lab_data {
    const source_row *row;
    bool masked;
    text_split text;
    uint64_t fingerprint;
};

/* ---------------------------------------------------------------- text files: what a file says */

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

/* ---------------------------------------------------------------- text files: both splits */

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

static void text_close(text_split *t)
{
    free(t->train);
    free(t->test);
    *t = (text_split){ 0 };
}

static pe_status text_open(text_split *out, const lab_source *s, pe_error *err)
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

/* ---------------------------------------------------------------- text files: windows */

/* Test windows tile the text from its end, so those of other lengths end where these do. Past the last one they begin
 * again. */
static void fill_text(window_text *out, const lab_data *d, const window *w)
{
    const text_split *t = &d->text;
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

/* ---------------------------------------------------------------- the table */

static const source_row source[] = {
    { { "stories", "generated stories of a village; names from the beginning are needed later", true, 1 },
      fill_stories,
      false,
      true },
    { { "copy", "repeat a string of letters", true, 1 }, fill_copy, false, false },
    { { "reverse", "repeat a string of letters from its end", true, 1 }, fill_reverse, false, false },
    { { "recall", "give the value of a key that was set at some distance", true, 1 }, fill_recall, false, false },
    { { "passkey", "find one number in noise and give it at the end", true, 1 }, fill_passkey, false, false },
    { { "count", "count a letter in a string", true, 1 }, fill_count, false, false },
    { { "sort", "repeat letters in the order of the alphabet", true, 1 }, fill_sort, false, false },
    { { "grid", "fill in missing cells of diagonal stripes on a square grid", false, 2 }, fill_grid, false, false },
    { { "text", "text files, cut into windows", true, 1 }, fill_text, true, true },
};

bool lab_source_asks_answers(const char *data)
{
    size_t size = strcspn(data, ":,");
    for (size_t i = 0; i < sizeof source / sizeof *source; i++)
        if (strlen(source[i].info.name) == size && !strncmp(source[i].info.name, data, size))
            return !source[i].dense;
    return false;
}

int lab_source_count(void)
{
    return (int)(sizeof source / sizeof source[0]);
}

const lab_source_info *lab_source_at(int index)
{
    return index >= 0 && index < lab_source_count() ? &source[index].info : NULL;
}

static const source_row *find_source(const char *name)
{
    for (int i = 0; name && i < lab_source_count(); i++)
        if (strcmp(name, source[i].info.name) == 0)
            return &source[i];
    return NULL;
}

static pe_status no_such_source(const char *name, pe_error *err)
{
    char known[200] = "";
    for (int i = 0; i < lab_source_count(); i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", source[i].info.name);
    }
    return io_fail(err, PE_ERR_SPEC, "data is '%s'; needs one of: %s", name ? name : "", known);
}

/* ---------------------------------------------------------------- open */

static uint64_t fold(uint64_t h, const void *data, size_t size)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ at[i]) * 0x100000001b3u; /* FNV-1a */
    return random_at(h, size);
}

static uint64_t fingerprint(const lab_data *d)
{
    uint64_t h = fold(0xcbf29ce484222325u, d->row->info.name, strlen(d->row->info.name));
    h = random_at(h, d->masked);
    h = fold(h, d->text.train, d->text.train_size);
    return fold(h, d->text.test, d->text.test_size);
}

pe_status lab_data_open(lab_data **out, const lab_source *s, pe_error *err)
{
    *out = NULL;
    const source_row *row = find_source(s->name);
    if (!row)
        return no_such_source(s->name, err);
    if (!row->files && (s->files || s->tests))
        return io_fail(err, PE_ERR_SPEC, "%s: takes no files; %d given", s->name, s->files + s->tests);
    lab_data *d = calloc(1, sizeof *d);
    if (!d)
        return io_fail(err, PE_ERR_NOMEM, "%s: out of memory", s->name);
    d->row = row;
    d->masked = s->masked || !row->info.causal;
    pe_status status = row->files ? text_open(&d->text, s, err) : PE_OK;
    if (status != PE_OK) {
        lab_data_free(d);
        return status;
    }
    d->fingerprint = fingerprint(d);
    *out = d;
    return PE_OK;
}

void lab_data_free(lab_data *d)
{
    if (!d)
        return;
    text_close(&d->text);
    free(d);
}

/* ---------------------------------------------------------------- what it is */

int64_t lab_data_vocab(const lab_data *d)
{
    return d->masked ? BYTES + 1 : BYTES;
}

int64_t lab_data_axes(const lab_data *d)
{
    return d->row->info.axes;
}

bool lab_data_causal(const lab_data *d)
{
    return !d->masked;
}

int64_t lab_data_length(const lab_data *d, int64_t wanted)
{
    int64_t side = 4;
    wanted = wanted < SHORTEST ? SHORTEST : wanted > LONGEST ? LONGEST : wanted;
    if (d->row->info.axes == 1)
        return wanted;
    while ((side + 1) * (side + 1) <= wanted)
        side++;
    return side * side;
}

static int64_t window_bytes(const lab_data *d, int64_t length)
{
    return d->masked ? length : length + 1;
}

int64_t lab_data_windows(const lab_data *d, int64_t length)
{
    int64_t size = (int64_t)d->text.test_size, needs = window_bytes(d, length);
    if (!d->row->files)
        return INT64_MAX;
    return size < needs ? 0 : (size - needs) / length + 1;
}

uint64_t lab_data_fingerprint(const lab_data *d)
{
    return d->fingerprint;
}

int64_t lab_data_size(const lab_data *d)
{
    return (int64_t)d->text.train_size;
}

/* ---------------------------------------------------------------- fill */

static void put_row(const lab_data *d, lab_batch *b, int64_t row, const window_text *p, uint64_t masks)
{
    int64_t T = b->length, ahead = d->masked ? 0 : 1;
    int32_t *token = b->token + row * T, *target = b->target + row * T, *distance = b->distance + row * T;
    bool any = false;
    for (int64_t t = 0; t < T; t++) {
        int32_t told = p->told[t + ahead];
        bool asked = told != WINDOW_OWN;
        if (d->masked && d->row->dense) { /* the letters beside a masked one reveal it: nothing is recalled */
            asked = random_below(masks, (uint64_t)t, 100) < MASKED_PERCENT;
            told = 0;
        }
        any = any || asked;
        token[t] = d->masked && asked ? MASK : p->text[t];
        target[t] = asked ? p->text[t + ahead] : -1;
        distance[t] = asked && told > 0 ? told : 0;
    }
    if (!any && d->masked && d->row->dense) { /* or a batch of one short window would have no gradient */
        int64_t t = (int64_t)random_below(masks, (uint64_t)T, (uint32_t)T);
        token[t] = MASK;
        target[t] = p->text[t];
    }
}

/* The lowest bit of a window's key separates training windows from test windows. */
static void fill(const lab_data *d, lab_batch *b, int64_t row, uint64_t key, int64_t test)
{
    int64_t size = window_bytes(d, b->length);
    window_text p = { b->work, b->work + size, b->work + 2 * size, size, b->length };
    window w = { .key = (key & ~(uint64_t)1) | (test >= 0), .test = test };
    d->row->make(&p, d, &w);
    put_row(d, b, row, &p, random_at(w.key, UINT64_C(1) << 32));
}

void lab_data_train(const lab_data *d, lab_batch *b, uint64_t seed, int64_t step)
{
    uint64_t of_step = random_at(random_at(seed, 0), (uint64_t)step);
    for (int64_t i = 0; i < b->sequences; i++)
        fill(d, b, i, random_at(of_step, (uint64_t)i), -1);
}

void lab_data_test(const lab_data *d, lab_batch *b, int64_t first)
{
    for (int64_t i = 0; i < b->sequences; i++)
        fill(d, b, i, random_at(0, (uint64_t)first + (uint64_t)i), first + i);
}

/* ---------------------------------------------------------------- batches */

static void *room(int64_t a, int64_t b, size_t size)
{
    int64_t count;
    size_t bytes;
    return io_mul_i64(&count, a, b) && io_byte_count(&bytes, count, size) ? malloc(bytes) : NULL;
}

/* row-major, from 0 */
static void number_positions(lab_batch *b)
{
    int64_t side = 1;
    while (b->axes == 2 && side * side < b->length)
        side++;
    for (int64_t t = 0; t < b->length; t++)
        if (b->axes == 2) {
            b->at[2 * t] = t / side;
            b->at[2 * t + 1] = t % side;
        } else {
            b->at[t] = t;
        }
}

static pe_status long_enough(const lab_data *d, lab_split split, int64_t length, pe_error *err)
{
    const text_split *t = &d->text;
    bool train_is_short = split == LAB_TRAIN || (split == LAB_BOTH && t->train_size < t->test_size);
    size_t shorter = train_is_short ? t->train_size : t->test_size;
    if (lab_data_windows(d, length) == INT64_MAX || (uint64_t)shorter > (uint64_t)length)
        return PE_OK;
    return io_fail(err, PE_ERR_RANGE, "text: %zu bytes to %s; a window of %" PRId64 " needs %" PRId64 " or more",
                   shorter, train_is_short ? "train on" : "test on", length, length + 1);
}

pe_status lab_batch_new(lab_batch *out, const lab_data *d, lab_split split, int64_t sequences, int64_t length,
                        pe_error *err)
{
    *out = (lab_batch){ 0 };
    if (sequences < 1)
        return io_fail(err, PE_ERR_RANGE, "batch: sequences is %" PRId64 "; needs 1 or more", sequences);
    if (lab_data_length(d, length) != length)
        return io_fail(err, PE_ERR_RANGE, "batch: length is %" PRId64 "; the nearest there is: %" PRId64, length,
                       lab_data_length(d, length));
    pe_status status = long_enough(d, split, length, err);
    if (status != PE_OK)
        return status;
    lab_batch b = { .sequences = sequences, .length = length, .axes = lab_data_axes(d), .causal = lab_data_causal(d) };
    b.token = room(sequences, length, sizeof *b.token);
    b.target = room(sequences, length, sizeof *b.target);
    b.distance = room(sequences, length, sizeof *b.distance);
    b.at = room(length, b.axes, sizeof *b.at);
    b.work = room(length + 1, 3, sizeof *b.work);
    if (!b.token || !b.target || !b.distance || !b.at || !b.work) {
        lab_batch_free(&b);
        return io_fail(err, PE_ERR_NOMEM, "batch: out of memory for %" PRId64 " windows of %" PRId64, sequences,
                       length);
    }
    number_positions(&b);
    *out = b;
    return PE_OK;
}

void lab_batch_free(lab_batch *b)
{
    free(b->token);
    free(b->target);
    free(b->distance);
    free(b->at);
    free(b->work);
    *b = (lab_batch){ 0 };
}

/* ---------------------------------------------------------------- as people read it */

typedef struct printer {
    char *out;
    size_t used, cap; /* with room for a 0 */
    bool open;        /* a [ without its ] */
    bool cut;
} printer;

/* Control characters become ?: a text must not control the terminal that shows it. */
static void printer_put(printer *p, int byte)
{
    bool c1 = byte >= 0x80 && byte < 0xa0 && p->used && (unsigned char)p->out[p->used - 1] == 0xc2;
    bool plain = byte == '\n' || (byte >= 32 && byte != 127 && !c1);
    if (p->used + 1 < p->cap)
        p->out[p->used++] = (char)(plain ? byte : '?');
    else
        p->cut = true;
}

static void printer_put_marked(printer *p, int byte, bool marked)
{
    if (marked != p->open)
        printer_put(p, marked ? '[' : ']');
    p->open = marked;
    printer_put(p, byte);
}

static void printer_end(printer *p)
{
    if (p->open)
        printer_put(p, ']');
    if (p->cap)
        p->out[p->used] = '\0';
    if (p->cut && p->cap >= 8)
        io_end_with_dots(p->out, p->cap);
}

void lab_batch_print(const lab_batch *b, int64_t sequence, char *out, size_t cap)
{
    int64_t T = b->length;
    const int32_t *token = b->token + sequence * T, *target = b->target + sequence * T;
    const int32_t *distance = b->distance + sequence * T;
    printer p = { .out = out, .cap = cap };
    for (int64_t t = 0; t < T; t++) {
        bool masked = token[t] == MASK;
        printer_put_marked(&p, masked ? target[t] : token[t], masked || (b->causal && t > 0 && distance[t - 1] > 0));
        if (b->axes == 2 && t + 1 < T && b->at[2 * t + 2] != b->at[2 * t])
            printer_put_marked(&p, '\n', false);
    }
    if (b->causal && target[T - 1] >= 0)
        printer_put_marked(&p, target[T - 1], distance[T - 1] > 0);
    printer_end(&p);
}

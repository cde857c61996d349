/* SPDX-License-Identifier: MIT */
#include "lab/data.h"

#include "io/checked.h"
#include "io/io.h"
#include "lab/page.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MASK = 256 };

/* ---------------------------------------------------------------- memory */

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
    const text_split *t = lab_data_text(d);
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

/* A text must not steer the terminal it is shown on. */
static void put(printer *p, int byte)
{
    bool c1 = byte >= 0x80 && byte < 0xa0 && p->used && (unsigned char)p->out[p->used - 1] == 0xc2;
    bool plain = byte == '\n' || (byte >= 32 && byte != 127 && !c1);
    if (p->used + 1 < p->cap)
        p->out[p->used++] = (char)(plain ? byte : '?');
    else
        p->cut = true;
}

static void put_marked(printer *p, int byte, bool marked)
{
    if (marked != p->open)
        put(p, marked ? '[' : ']');
    p->open = marked;
    put(p, byte);
}

static void end(printer *p)
{
    if (p->open)
        put(p, ']');
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
        put_marked(&p, masked ? target[t] : token[t], masked || (b->causal && t > 0 && distance[t - 1] > 0));
        if (b->axes == 2 && t + 1 < T && b->at[2 * t + 2] != b->at[2 * t])
            put_marked(&p, '\n', false);
    }
    if (b->causal && target[T - 1] >= 0)
        put_marked(&p, target[T - 1], distance[T - 1] > 0);
    end(&p);
}

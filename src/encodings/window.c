/* SPDX-License-Identifier: MIT
 *
 * window: a trained bias per head and offset inside a window of two (or more) dimensions.
 *   score += T[(dy + h-1)(2w-1) + dx + w-1][head],  (dy, dx) = query minus key                     (Liu et al. 2021) */
#include "encodings/shared.h"

#include <inttypes.h>

enum { WINDOW };
static const pe_key keys[] = {
    { "window", PE_KEY_LIST, "7/7", 1, 0x1p20, NULL, NULL, "number of cells along each axis", "window_size", false },
};
static const char *const examples[] = { "window", "window:window=4/6", "window:window=2/7/7" };

ON_DEVICE(/* The middle row is that of the query's own place; pairs out of reach may have any distance. */
          static double measure(const part *p, pe_params w, double distance) {
              (void)w;
              int64_t last = p->tensor[0].shape[0] - 1;
              return fmin(fmax(distance + (double)(last / 2), 0.0), (double)last);
          }

          static double bias(const part *p, pe_params w, int64_t h, double x) {
              return param(p, w, 0, (int64_t)x * p->shape.heads + h);
          }

          static double bias_back(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db) {
              (void)w;
              grad(p, dw, 0, (int64_t)x * p->shape.heads + h, db);
              return 0;
          })

static pe_status init(part *p, pe_error *err)
{
    const value *v = &p->value[WINDOW];
    int64_t rows = 1;
    p->axes = v->count;
    if (p->axes > PE_AXES_MAX)
        return part_fail(p, err, WINDOW, "has too many axes; needs 8 at most");
    for (int64_t a = 0; a < p->axes; a++)
        if (v->list[a] != floor(v->list[a]) || !checked_mul(&rows, rows, 2 * (int64_t)v->list[a] - 1))
            return part_fail(p, err, WINDOW, "needs whole numbers whose offsets can be counted in 64 bits");
    p->weighs = true; /* offsets along all axes as one number, (2w-1) dy + dx: the row, counted from the middle */
    p->reach = rows / 2;
    p->weight[p->axes - 1] = 1;
    for (int64_t a = p->axes - 2; a >= 0; a--)
        p->weight[a] = p->weight[a + 1] * (2 * (int64_t)v->list[a + 1] - 1);
    return part_tensor(p,
                       (tensor){ .name = "table",
                                 .about = "row (dy + h-1)(2w-1) + dx + w-1, query minus key",
                                 .rank = 2,
                                 .shape = { rows, p->shape.heads },
                                 .fill = FILL_NORMAL,
                                 .a = 0.02,
                                 .rate = 10 },
                       err);
}

static bool reaches(const part *p, const int64_t *q, const int64_t *k)
{
    for (int64_t a = 0; a < p->axes; a++)
        if (fabs((double)(q[a] - k[a])) >= p->value[WINDOW].list[a])
            return false;
    return true;
}

static void tell_term(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out)
{
    int64_t distance = 0, last = p->axes - 1;
    for (int64_t a = 0; a <= last; a++)
        distance += p->weight[a] * (q[a] - k[a]);
    int64_t row_at = (int64_t)measure(p, w, (double)distance);
    for (int64_t a = 0; a < last; a++)
        tell_say(out, "(");
    for (int64_t a = 0; a <= last; a++) {
        int64_t side = (int64_t)p->value[WINDOW].list[a];
        if (a)
            tell_say(out, ") · %" PRId64 " + ", 2 * side - 1);
        tell_say(out, "(%" PRId64 " - %" PRId64 ") + %" PRId64, q[a], k[a], side - 1);
    }
    tell_say(out, " = %" PRId64 "\ntable[%" PRId64 "][%" PRId64 "]", row_at, row_at, h);
}

const row pe_row_window = {
    .keys = keys,
    .info = { .name = "window",
              .summary = "Adds a trained bias per head and relative offset inside a two-dimensional window.",
              .formula = "score += T[(dy + h-1)(2w-1) + dx + w-1][head]",
              .paper = "Liu et al. 2021",
              .arxiv = "2103.14030",
              .models = "Swin|BEiT (between patches)",
              .idea = PE_IDEA_BIAS,
              .hooks = PE_HOOK_BIAS,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_RELATIVE | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .key_trained = "window",
              .also = "swin|relative_position_bias_table" },
    .init = init,
    .reaches = reaches,
    .measure = measure,
    .bias = bias,
    .bias_back = bias_back,
    .device = device,
    .tell_bias = tell_term,
};

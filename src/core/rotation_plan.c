/* SPDX-License-Identifier: MIT
 *
 * From a row's pairs and lanes to what loops want: runs of pairs that lie regularly, spans of pairs that rotate by the
 * same coordinate, ranges of elements that do not rotate. */
#include "core/rotation.h"

#include <string.h>

#define ALIGN 64

/* Whether b follows a in steps of 1, or of 2 where each pair is adjacent. */
static bool follows(lane a, lane b, int64_t by)
{
    return b.x == a.x + by && b.y == a.y + by && (by == 1 || a.y == a.x + 1);
}

static int64_t step_of(const lane *l, int64_t left)
{
    return left > 1 && follows(l[0], l[1], 2) ? 2 : 1;
}

/* Longest runs first to last; out NULL: only their number. */
static int find_runs(pair_run *out, const lane *from, const lane *to, int64_t pairs)
{
    int runs = 0;
    for (int64_t n = 0; n < pairs; runs++) {
        pair_run r = { n, 1, from[n], to[n], step_of(from + n, pairs - n), step_of(to + n, pairs - n) };
        while (n + r.count < pairs && follows(from[n + r.count - 1], from[n + r.count], r.from_step) &&
               follows(to[n + r.count - 1], to[n + r.count], r.to_step))
            r.count++;
        if (r.count == 1)
            r.from_step = r.to_step = 1;
        if (out)
            out[runs] = r;
        n += r.count;
    }
    return runs;
}

static int find_rest(rest_range *out, const int64_t *rest, int64_t rests)
{
    int ranges = 0;
    for (int64_t n = 0; n < rests; ranges++) {
        rest_range r = { rest[n], 1 };
        while (n + r.count < rests && rest[n + r.count] == r.first + r.count)
            r.count++;
        if (out)
            out[ranges] = r;
        n += r.count;
    }
    return ranges;
}

static bool same_steps(const pair *a, const pair *b)
{
    return a->axis == b->axis && a->multiplier == b->multiplier && a->shift == b->shift &&
           (a->frequency.part[0] == 0) == (b->frequency.part[0] == 0);
}

static int find_spans(rotation_span *out, const pair *pairs, int64_t count)
{
    int spans = 0;
    for (int64_t n = 0; n < count; spans++) {
        const pair *a = &pairs[n];
        rotation_span s = { n, 1, a->axis, a->multiplier, a->shift, a->frequency.part[0] == 0 };
        while (n + s.count < count && same_steps(a, &pairs[n + s.count]))
            s.count++;
        if (out)
            out[spans] = s;
        n += s.count;
    }
    return spans;
}

/* One block: the struct, then its arrays, the numbers last, on a boundary of vectors. */
static rotation_plan *allocate(const part *p, int runs, int back, int rests, int spans, bool exact)
{
    size_t P = (size_t)p->pairs, steps = STEPS_MAX;
    while (steps > 1 && steps * P * 2 * sizeof(double) > STEP_BYTES)
        steps /= 2;
    size_t doubles = exact ? P * (3 + (spans ? 2 * steps : 0)) : 0;
    size_t bytes = sizeof(rotation_plan) + (size_t)(runs + back) * sizeof(pair_run) +
                   (size_t)rests * sizeof(rest_range) + (size_t)spans * sizeof(rotation_span);
    rotation_plan *q = calloc(1, bytes + ALIGN + doubles * sizeof(double));
    if (!q)
        return NULL;
    pair_run *r = (pair_run *)(q + 1);
    double *number = (double *)(((uintptr_t)q + bytes + ALIGN - 1) / ALIGN * ALIGN);
    *q = (rotation_plan){ .run = { r, r + runs },
                          .runs = { runs, back },
                          .rest = (rest_range *)(r + runs + back),
                          .rests = rests,
                          .span = (rotation_span *)((rest_range *)(r + runs + back) + rests),
                          .spans = spans,
                          .steps = (int64_t)steps,
                          .step = number,
                          .frequency = exact ? number + doubles - 3 * P : NULL };
    return q;
}

/* Frequencies part by part, and cos and sin of the first steps. */
static void fill_rotation(const part *p, rotation_plan *q, const kernels *k)
{
    double n[PE_HEAD_DIM_MAX / 2], *first = q->step;
    for (int64_t i = 0; i < p->pairs; i++)
        for (int j = 0; j < 3; j++)
            q->frequency[j * p->pairs + i] = p->pair[i].frequency.part[j];
    for (int64_t r = 0; q->spans && r < q->steps; r++, first += 2 * p->pairs) {
        for (int64_t i = 0; i < p->pairs; i++)
            n[i] = (double)r;
        k->turns(first, first + p->pairs, n, q->frequency, p->pairs, p->pairs);
    }
}

pe_status part_plan(part *p, const kernels *k, pe_error *err)
{
    int runs = find_runs(NULL, p->from, p->to, p->pairs), back = find_runs(NULL, p->to, p->from, p->pairs);
    int rests = find_rest(NULL, p->rest, p->rests),
        spans = p->exact && !p->decay ? find_spans(NULL, p->pair, p->pairs) : 0;
    if (spans > SPANS_MAX || spans * 4 > p->pairs || !(p->magnitude >= 0x1p-40)) /* less leaves the range of floats */
        spans = 0;
    rotation_plan *q = allocate(p, runs, back, rests, spans, p->exact);
    p->plan = q;
    if (!q)
        return pe_fail(err, PE_ERR_NOMEM, "%s: no memory to prepare its rotation", p->row->info.name);
    find_runs(q->run[0], p->from, p->to, p->pairs);
    find_runs(q->run[1], p->to, p->from, p->pairs);
    find_rest(q->rest, p->rest, p->rests);
    if (spans)
        find_spans(q->span, p->pair, p->pairs);
    if (p->exact)
        fill_rotation(p, q, k);
    for (int i = 0; i < runs; i++)
        q->moves = q->moves || memcmp(&q->run[0][i].from, &q->run[0][i].to, sizeof(lane)) != 0 ||
                   q->run[0][i].from_step != q->run[0][i].to_step;
    return PE_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * Codes of waves, the same elements of one token after another.
 *
 * A position is split into n = STEPS STEPS b + STEPS j + r. The waves at STEPS STEPS b are made by turn_cos_sin, those
 * of STEPS j steps and of r steps are in the plan, and two complex products in double give those of n. The sum of x and
 * their code is that of x and the row's code, bit for bit: turn_cos_sin is within 2^-51 of the truth. The first product
 * is within 2^-50 + 2^-52 of it (two errors on terms whose sizes add up to 1 at most, three roundings); the second
 * within sqrt(2) times that, and 2^-51 + 2^-52 more; so the code is within 3.1 2^-50 of the row's. Where every number
 * within 2^-48 of it gives the same sum, as rounded, it is the one: rounding keeps the order of numbers. Elsewhere the
 * row is made by turn_cos_sin itself. */
#include "core/waves.h"

#include <string.h>

#define STEPS 8
#define SLACK 0x1p-48
#define PLAN_BYTES (4 << 20) /* more would leave the cache: each code is then made by itself */
#define ALIGN 64
#define CHUNK 64 /* pairs at a time */

/* Waves of one axis; all lines in the order of the elements. */
typedef struct wave_plan {
    int64_t width;     /* elements of an axis, twice the pairs */
    double *frequency; /* (3, pairs) */
    double *step[2]; /* (STEPS, 2, width) cos and sin of 0 .. STEPS - 1 steps, and of so many times STEPS; NULL: none */
} wave_plan;

static int64_t pair_of(const waves *v, int64_t c)
{
    return v->halves ? c % v->count : c / 2;
}

/* cos and sin of a whole number of steps, for every element. */
static void fill_step(const kernels *k, const waves *v, double *to, int64_t steps)
{
    const wave_plan *q = v->plan;
    double n[CHUNK], c[CHUNK], s[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        n[i] = (double)steps;
    for (int64_t first = 0; first < v->count; first += CHUNK) {
        int64_t count = v->count - first < CHUNK ? v->count - first : CHUNK;
        k->turns(c, s, n, q->frequency + first, v->count, count);
        for (int64_t i = 0; i < count; i++) {
            int64_t one = v->halves ? first + i : 2 * (first + i), two = v->halves ? one + v->count : one + 1;
            to[one] = to[two] = c[i];
            to[q->width + one] = to[q->width + two] = s[i];
        }
    }
}

pe_status part_waves(part *p, const kernels *k, pe_error *err)
{
    waves *v = &p->waves;
    uint64_t P = (uint64_t)v->count, all_steps = 8 * P * STEPS; /* 2^30 at most, whose bytes no 32-bit size_t holds */
    bool steps = all_steps * sizeof(double) <= PLAN_BYTES;
    size_t line = steps ? (size_t)all_steps / 2 : 0;
    wave_plan *q = calloc(1, sizeof *q + ALIGN + ((size_t)(3 * P) + 2 * line) * sizeof(double));
    if (!q)
        return pe_fail(err, PE_ERR_NOMEM, "%s: no memory to prepare its waves", p->row->info.name);
    double *number = (double *)(((uintptr_t)(q + 1) + ALIGN - 1) / ALIGN * ALIGN);
    *q = (wave_plan){ 2 * v->count, number + 2 * line, { NULL, NULL } };
    v->plan = q;
    for (int64_t i = 0; i < v->count; i++)
        for (int j = 0; j < 3; j++)
            q->frequency[j * v->count + i] = v->frequency[i].part[j];
    for (int i = 0; steps && i < 2; i++) {
        q->step[i] = number + (size_t)i * line;
        for (int64_t r = 0; r < STEPS; r++)
            fill_step(k, v, q->step[i] + 2 * r * q->width, i ? r * STEPS : r);
    }
    return PE_OK;
}

/* ------------------------------------------------ by themselves */

/* Where a range of elements of one axis that begins at c ends: pairs are whole, and of one half. */
static int64_t range_end(const waves *v, int64_t c)
{
    return v->halves && c < v->count ? v->count : 2 * v->count;
}

/* Elements in their order from the cosines and sines of their pairs; a and b are those of sin cos sin cos. */
static void place_waves(const waves *v, int64_t first, int64_t count, double *y, const double *a, const double *b)
{
    const double *x = v->cosine_first ? b : a, *next = v->cosine_first ? a : b;
    if (v->halves)
        memcpy(y, first < v->count ? x : next, (size_t)count * sizeof *y);
    for (int64_t i = 0; !v->halves && i < count / 2; i++) {
        y[2 * i] = x[i];
        y[2 * i + 1] = next[i];
    }
}

/* A range of one axis' waves, and where it is wanted the same a quarter turn on. Pairs are not cut in two. */
static void make_range(const kernels *k, const waves *v, double n, int64_t first, int64_t count, double *code,
                       double *on)
{
    double at[CHUNK], c[CHUNK], s[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        at[i] = n;
    for (int64_t left, i = 0; i < count; i += left) {
        int64_t most = v->halves ? CHUNK : 2 * CHUNK, start = pair_of(v, first + i);
        left = count - i < most ? count - i : most;
        int64_t pairs = v->halves ? left : left / 2;
        k->turns(c, s, at, v->plan->frequency + start, v->count, pairs);
        place_waves(v, first + i, left, code + i, s, c);
        for (int64_t j = 0; on && j < pairs; j++)
            s[j] = -s[j];
        if (on)
            place_waves(v, first + i, left, on + i, c, s);
    }
}

void waves_code(const kernels *k, const part *p, const double *at, int64_t first, int64_t count, double *code)
{
    const waves *v = &p->waves;
    int64_t width = v->plan->width;
    for (int64_t left, i = 0; i < count; i += left) {
        int64_t axis = (first + i) / width, c = (first + i) % width, most = range_end(v, c) - c;
        left = count - i < most ? count - i : most;
        make_range(k, v, at[axis] + v->offset, c, left, code + i, NULL);
    }
}

/* ------------------------------------------------ one token after another */

int64_t waves_start(wave_maker *m, const kernels *k, const part *p, int64_t first, int64_t most)
{
    const waves *v = &p->waves;
    int64_t width = v->plan->width, c = first % width, end = range_end(v, c);
    m->k = k;
    m->p = p;
    m->axis = first / width;
    m->first = c;
    m->count = end - c < most ? end - c : most;
    m->count = m->count < WAVES ? m->count : WAVES;
    m->made[0] = m->made[1] = false;
    return m->count;
}

/* Which block of STEPS STEPS positions n is in; false: n is between two positions. */
static bool block_of(double n, int64_t *block)
{
    int64_t whole = (int64_t)n;
    *block = (whole - (whole & (STEPS * STEPS - 1))) / (STEPS * STEPS);
    return (double)whole == n;
}

/* Whether the waves of this level are there; else they are to be made, and those of the levels below with them. */
static bool is_made(wave_maker *m, int level, int64_t at)
{
    if (m->made[level] && m->at[level] == at)
        return true;
    for (int i = level; i < COUNT_OF(m->made); i++)
        m->made[i] = i == level;
    m->at[level] = at;
    return false;
}

/* A step of the plan: so many steps, or so many times STEPS. */
static const double *step_of(const wave_maker *m, int which, int64_t steps)
{
    const wave_plan *q = m->p->waves.plan;
    return q->step[which] + 2 * steps * q->width + m->first;
}

bool waves_add(wave_maker *m, float *y, const float *x, bool odd, const double *at, const double *next)
{
    const waves *v = &m->p->waves;
    int64_t block, after, width = v->plan->width;
    double n = at[m->axis] + v->offset;
    if (!v->plan->step[0] || !block_of(n, &block))
        return false;
    bool again = next && block_of(next[m->axis] + v->offset, &after) && after == block;
    if (!again && !(m->made[0] && m->at[0] == block))
        return false;
    int64_t r = (int64_t)n - block * STEPS * STEPS;
    if (!is_made(m, 0, block))
        make_range(m->k, v, (double)(block * STEPS * STEPS), m->first, m->count, m->base[0], m->base[0] + WAVES);
    if (!is_made(m, 1, r / STEPS))
        m->k->rotate_waves(m->base[1], m->base[0], WAVES, step_of(m, 1, r / STEPS), width, m->count);
    return m->k->add_waves(y, x, m->base[1], WAVES, step_of(m, 0, r % STEPS), width, SLACK, odd, m->count);
}

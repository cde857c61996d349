/* SPDX-License-Identifier: MIT
 *
 * Rotation of one or two views, with the bits of the CPU: contraction of products must be off (-fmad=false).
 *
 * A block has a few tokens. It finds where they are (phase 0), makes their cos and sin once for all heads (phase 1, in
 * double, as kernels/turn.c does), and rotates their heads (phase 2). A thread keeps the same unit of WIDTH pairs for
 * all its heads, so cos and sin stay in its registers.
 *
 * Given by #define:
 *   X_TYPE, Y_TYPE    of what is read and written: 0 float32, 1 float16, 2 bfloat16
 *   WIDTH             pairs of a unit, 1, 2, 4 or 8: a unit is read as two vectors of WIDTH elements and so written
 *   X_NEXT, Y_NEXT    1: the elements of a pair are neighbours where it is read, written (x y x y); 0: xx.. yy..
 *   WORK              0 angles, 1 tables, 2 shift, 3 rebase, 4 rebase by the difference of two rotations, 5 copy
 *   DECAYS, GAINS     0 where no pair decays, where no gain is
 *   FRACTIONS         1: positions may be between whole ones and pairs have shifts
 *   MOVES             1: in place, and elements are not written where they are read: all are read before
 *   THREADS           of a block */
#include "rotate_args.h"

#define WORK_ANGLES 0
#define WORK_TABLES 1
#define WORK_SHIFT 2
#define WORK_REBASE 3
#define WORK_DIFFERENCE 4
#define WORK_COPY 5

#define IN_CACHE (WORK >= WORK_SHIFT && WORK <= WORK_DIFFERENCE)

#define AT_ONCE 2 /* heads that a thread reads before it writes the first */

/* ------------------------------------------------ 16-bit floats */

#ifndef EMULATE_CUDA
static __device__ float float_of_f16(uint32_t bits)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)bits));
    return x;
}

/* Rounded once: y in the upper half, x in the lower. */
static __device__ uint32_t f16_pair(float x, float y)
{
    uint32_t bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
    return bits;
}

static __device__ uint32_t bf16_pair(float x, float y)
{
    uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
    return bits;
}
#endif

/* ------------------------------------------------ numbers of two and three doubles (kernels/wide.h) */

typedef struct dd {
    double hi, lo;
} dd;

typedef struct wide {
    double part[3];
} wide;

static __device__ dd dd_sum(double a, double b)
{
    double hi = a + b, t = hi - a;
    dd sum = { hi, (a - (hi - t)) + (b - t) };
    return sum;
}

static __device__ dd dd_product(double a, double b)
{
    double hi = a * b;
    dd product = { hi, fma(a, b, -hi) };
    return product;
}

static __device__ wide wide_distil(double *term, int n)
{
    for (int pass = 0; pass < 4; pass++)
#pragma unroll
        for (int i = n - 1; i > 0; i--) {
            dd s = dd_sum(term[i - 1], term[i]);
            term[i - 1] = s.hi;
            term[i] = s.lo;
        }
    wide sum = { { term[0], term[1], term[2] } };
    return sum;
}

static __device__ wide wide_add(wide a, wide b)
{
    double term[6] = { a.part[0], b.part[0], a.part[1], b.part[1], a.part[2], b.part[2] };
    return wide_distil(term, 6);
}

/* a * b, b of one double: the terms that b's other parts would make are 0, and stand where they do on the CPU. */
static __device__ wide wide_times(wide a, double b)
{
    dd p00 = dd_product(a.part[0], b), p01 = dd_product(a.part[0], 0), p10 = dd_product(a.part[1], b);
    double term[9] = { p00.hi, p00.lo, p01.hi, p10.hi, p01.lo, p10.lo, a.part[1] * 0, a.part[0] * 0, a.part[2] * b };
    return wide_distil(term, 9);
}

/* ------------------------------------------------ cos and sin (kernels/turn.c, operation by operation) */

static __device__ double turn_series_sine(double z)
{
    double sum = z * (1.0 / 355687428096000.0 + 0);
    sum = z * (-1.0 / 1307674368000.0 + sum);
    sum = z * (1.0 / 6227020800.0 + sum);
    sum = z * (-1.0 / 39916800. + sum);
    sum = z * (1.0 / 362880 + sum);
    sum = z * (-1.0 / 5040 + sum);
    sum = z * (1.0 / 120 + sum);
    return z * (-1.0 / 6 + sum);
}

static __device__ double turn_series_cosine(double z)
{
    double sum = z * (-1.0 / 6402373705728000.0 + 0);
    sum = z * (1.0 / 20922789888000.0 + sum);
    sum = z * (-1.0 / 87178291200.0 + sum);
    sum = z * (1.0 / 479001600 + sum);
    sum = z * (-1.0 / 3628800 + sum);
    sum = z * (1.0 / 40320 + sum);
    sum = z * (-1.0 / 720 + sum);
    sum = z * (1.0 / 24 + sum);
    return z * (-1.0 / 2 + sum);
}

static __device__ dd turn_fraction(double n, wide f, int *quarter)
{
    dd p = dd_product(n, f.part[0]), tail = dd_product(n, f.part[1]);
    dd r = dd_sum(p.hi - rint(p.hi), p.lo);
    dd low = dd_sum(r.lo, tail.hi);
    low.lo += tail.lo + n * f.part[2];
    r = dd_sum(r.hi, low.hi);
    r.lo += low.lo;
    double q = rint(4 * r.hi);
    r = dd_sum(r.hi - q / 4, r.lo);
    *quarter = (int)q & 3;
    return r;
}

static __device__ void turn_cos_sin(double n, wide f, double *c, double *s)
{
    int quarter;
    dd r = turn_fraction(n, f, &quarter);
    const double two_pi = 0x1.921fb54442d18p+2, two_pi_low = 0x1.1a62633145c07p-52;
    dd y = dd_product(r.hi, two_pi);
    y.lo += fma(r.lo, two_pi, r.hi * two_pi_low);
    double z = y.hi * y.hi;
    double sine = y.hi + (y.hi * turn_series_sine(z) + y.lo * (1 - z / 2));
    double cosine = 1 + (turn_series_cosine(z) - y.lo * y.hi);
    double across = quarter & 1 ? sine : cosine, up = quarter & 1 ? cosine : sine;
    *c = (quarter + 1) & 2 ? -across : across;
    *s = quarter & 2 ? -up : up;
}

/* ------------------------------------------------ phase 0: where tokens are */

/* A coordinate as a double, which holds every whole position. whole: a fraction is rounded down. */
static __device__ double position_of(const rotate_positions *p, int64_t b, int64_t t, int64_t axis, int whole)
{
    int64_t at = p->start + t * p->step, i = b * p->batch + t * p->token + axis * p->axis;
    if (!p->data)
        return (double)at;
    if (p->type == ROTATE_I64)
        return (double)(at + ((const int64_t *)p->data)[i]);
    if (p->type == ROTATE_I32)
        return (double)(at + ((const int32_t *)p->data)[i]);
    double x = ((const double *)p->data)[i];
    return (double)at + (whole ? floor(x) : x);
}

static __device__ double gain_of(const rotate_gain *g, double at)
{
    const double *value = (const double *)g->value;
    double past = floor(at) - (double)g->first;
    if (!(past >= 0))
        return value[0];
    int64_t block = 1 + (int64_t)past / g->step;
    return block < g->count ? value[block] : 1 + g->slope * log1p((double)block);
}

static __device__ void find_table(const rotate_args *a, rotate_token *o, int v, int64_t b, int64_t t)
{
    const rotate_table *table = &a->table[v];
    int64_t row = t;
    if (table->row) {
        row = ((const int64_t *)table->row)[b * a->tokens + t];
        row = row < 0 ? 0 : row < table->rows ? row : table->rows - 1;
    }
    o->cosine[v] = b * table->cosine_batch + row * table->cosine_token;
    o->sine[v] = b * table->sine_batch + row * table->sine_token;
}

static __device__ void find_token(const rotate_args *a, rotate_token *o, int64_t n)
{
    o->moves = 0;
    o->there = n < a->batch * a->tokens;
    if (!o->there)
        return;
    int64_t b = (uint32_t)n / (uint32_t)a->tokens, t = n - b * a->tokens, home = b, place = t;
    if (WORK != WORK_TABLES && WORK != WORK_COPY)
        for (int64_t axis = 0; axis < a->axes; axis++) {
            o->at[axis] = position_of(&a->at, b, t, axis, WORK != WORK_ANGLES || GAINS);
            if (WORK == WORK_SHIFT)
                o->at[axis] -= position_of(&a->from, b, t, axis, 1);
        }
    o->gain = GAINS ? gain_of(&a->gain, position_of(&a->at, b, t, 0, 1)) : 1;
    if (a->pages.table) {
        int64_t page = (uint32_t)t / (uint32_t)a->pages.size;
        home = ((const int32_t *)a->pages.table)[b * a->pages.columns + page];
        place = t - page * a->pages.size;
        o->there = home >= 0 && home < a->pages.count;
    }
    for (int v = 0; v < a->views; v++) {
        o->x[v] = home * a->view[v].x_batch + place * a->view[v].x_token;
        o->y[v] = home * a->view[v].y_batch + place * a->view[v].y_token;
        if (WORK == WORK_TABLES)
            find_table(a, o, v, b, t);
    }
}

/* ------------------------------------------------ phase 1: cos and sin of a pair */

typedef struct rotate_factors {
    double c, s;
} rotate_factors;

static __device__ rotate_factors pair_turn(const rotate_pair *p, double at)
{
    wide f = { { p->frequency[0], p->frequency[1], p->frequency[2] } };
    dd steps = dd_sum(at * p->multiplier, p->shift);
    rotate_factors turn;
    if (FRACTIONS && steps.lo != 0) /* more than one double holds */
        turn_cos_sin(1, wide_add(wide_times(f, steps.hi), wide_times(f, steps.lo)), &turn.c, &turn.s);
    else
        turn_cos_sin(steps.hi, f, &turn.c, &turn.s);
    return turn;
}

/* core/table.c: signed and sized as the mode says. */
static __device__ rotate_factors angle_factors(const rotate_args *a, const rotate_token *o, int v, int n)
{
    const rotate_pair *p = (const rotate_pair *)a->pair + n;
    rotate_factors turn = pair_turn(p, o->at[p->axis]);
    double size = GAINS && v == 0 ? a->magnitude * o->gain : a->magnitude;
    if (DECAYS) {
        double e = (o->at[0] - a->centre) * p->decay;
        size = exp(a->keys >> v & 1 ? -e : e) * size;
    }
    turn.c = a->reciprocal ? turn.c / size : turn.c * size;
    turn.s = a->reciprocal ? turn.s / size : turn.s * size;
    if (a->negate)
        turn.s = -turn.s;
    return turn;
}

static __device__ rotate_factors rebase_turn(const rotate_pair *to, const rotate_pair *from, const rotate_token *o)
{
    rotate_factors turn;
    if (WORK == WORK_REBASE) {
        wide f = { { to->frequency[0], to->frequency[1], to->frequency[2] } };
        wide less = { { -from->frequency[0], -from->frequency[1], -from->frequency[2] } };
        turn_cos_sin(o->at[to->axis] * to->multiplier + to->shift, wide_add(f, less), &turn.c, &turn.s);
        return turn;
    }
    rotate_factors p = pair_turn(to, o->at[to->axis]), q = pair_turn(from, o->at[from->axis]);
    int same = p.c == q.c && p.s == q.s;
    turn.c = same ? 1 : p.c * q.c + p.s * q.s;
    turn.s = same ? 0 : p.s * q.c - p.c * q.s;
    return turn;
}

/* core/cache.c: the difference of two rotations. */
static __device__ rotate_factors move_factors(const rotate_args *a, const rotate_token *o, int n)
{
    const rotate_pair *to = (const rotate_pair *)a->pair + n;
    rotate_factors turn;
    double size = a->magnitude, decay = 0;
    if (WORK == WORK_SHIFT) {
        wide f = { { to->frequency[0], to->frequency[1], to->frequency[2] } };
        turn_cos_sin(o->at[to->axis] * to->multiplier, f, &turn.c, &turn.s);
        decay = DECAYS ? -o->at[0] * to->decay : 0;
    } else {
        const rotate_pair *from = (const rotate_pair *)a->pair_from + n;
        turn = rebase_turn(to, from, o);
        decay = DECAYS ? (o->at[0] - a->centre_from) * from->decay - (o->at[0] - a->centre) * to->decay : 0;
    }
    if (DECAYS && decay != 0)
        size *= exp(decay);
    turn.c *= size;
    turn.s *= size;
    return turn;
}

static __device__ float2 pair_factors(const rotate_args *a, rotate_token *o, int v, int n)
{
    rotate_factors turn = { 1, 0 };
    if (WORK == WORK_TABLES) {
        float c = ((const float *)a->table[v].cosine)[o->cosine[v] + n];
        float s = ((const float *)a->table[v].sine)[o->sine[v] + n];
        return make_float2(c, a->negate ? -s : s);
    }
    if (WORK == WORK_ANGLES)
        turn = angle_factors(a, o, v, n);
    else {
        turn = move_factors(a, o, n);
        if (turn.c != 1 || turn.s != 0)
            atomicOr(&o->moves, 1);
    }
    return make_float2((float)turn.c, (float)turn.s);
}

/* ------------------------------------------------ phase 2: vectors */

/* WIDTH elements as they lie. */
typedef struct raw {
    uint32_t word[4];
} raw;

#define X_BYTES (X_TYPE == 0 ? 4 : 2)
#define Y_BYTES (Y_TYPE == 0 ? 4 : 2)

static __device__ raw raw_load(const char *p, int bytes)
{
    raw r = { { 0, 0, 0, 0 } };
    if (bytes == 16) {
        uint4 v = *(const uint4 *)p;
        r.word[0] = v.x;
        r.word[1] = v.y;
        r.word[2] = v.z;
        r.word[3] = v.w;
    } else if (bytes == 8) {
        uint2 v = *(const uint2 *)p;
        r.word[0] = v.x;
        r.word[1] = v.y;
    } else if (bytes == 4)
        r.word[0] = *(const uint32_t *)p;
    else
        r.word[0] = *(const uint16_t *)p;
    return r;
}

static __device__ void raw_store(char *p, int bytes, raw r)
{
    if (bytes == 16)
        *(uint4 *)p = make_uint4(r.word[0], r.word[1], r.word[2], r.word[3]);
    else if (bytes == 8)
        *(uint2 *)p = make_uint2(r.word[0], r.word[1]);
    else if (bytes == 4)
        *(uint32_t *)p = r.word[0];
    else
        *(uint16_t *)p = (uint16_t)r.word[0];
}

static __device__ float raw_get(const raw *r, int i)
{
    uint32_t half = X_TYPE == 0 ? 0 : i & 1 ? r->word[i / 2] >> 16 : r->word[i / 2] & 0xffff;
    return X_TYPE == 0   ? __uint_as_float(r->word[i & 3])
           : X_TYPE == 1 ? float_of_f16(half)
                         : __uint_as_float(half << 16);
}

/* A unit, WIDTH pairs of a head: bytes from the head's begin to its two vectors as read and as written. */
typedef struct rotate_unit {
    int x[2], y[2];
    const float *factors; /* its cosines; its sines are a row further */
} rotate_unit;

static __device__ void unit_place(const rotate_args *a, rotate_unit *u, int n)
{
    rotate_lane at = ((const rotate_lane *)a->lanes)[n * WIDTH];
    int out = a->back || IN_CACHE, in = a->back && !IN_CACHE; /* keys of a cache lie where they were written */
    int x = out ? at.x_out : at.x, y = out ? at.y_out : at.y;
    int x_out = in ? at.x : at.x_out, y_out = in ? at.y : at.y_out;
    u->x[0] = x * X_BYTES;
    u->x[1] = (X_NEXT ? x + WIDTH : y) * X_BYTES;
    u->y[0] = x_out * Y_BYTES;
    u->y[1] = (Y_NEXT ? x_out + WIDTH : y_out) * Y_BYTES;
}

typedef struct unit_raw {
    raw half[2];
} unit_raw;

static __device__ unit_raw unit_load(const rotate_unit *u, const char *head)
{
    unit_raw r;
    r.half[0] = raw_load(head + u->x[0], WIDTH * X_BYTES);
    r.half[1] = raw_load(head + u->x[1], WIDTH * X_BYTES);
    return r;
}

static __device__ float unit_get(const unit_raw *r, int n)
{
    return raw_get(&r->half[n / WIDTH], n % WIDTH);
}

/* Elements n and n + 1 of the unit as it is written; y is 0 where there is one only. */
static __device__ void unit_put(unit_raw *r, int n, float x, float y)
{
    raw *half = &r->half[n / WIDTH];
    int i = n % WIDTH;
    if (Y_TYPE == 0) {
        half->word[i & 3] = __float_as_uint(x);
        if (WIDTH > 1)
            half->word[(i + 1) & 3] = __float_as_uint(y);
    } else
        half->word[i / 2] = Y_TYPE == 1 ? f16_pair(x, y) : bf16_pair(x, y);
}

/* Up to four; those of a unit are aligned to its width. */
static __device__ float4 factors_load(const float *p)
{
    if (WIDTH >= 4)
        return *(const float4 *)p;
    return make_float4(p[0], WIDTH == 2 ? p[1] : 0, 0, 0);
}

/* Pairs i and i + 1, as x*c - y*s and x*s + y*c with each product rounded. */
static __device__ void unit_rotate(const float *cosine, const float *sine, const unit_raw *r, unit_raw *out, int i)
{
    float x[2] = { 0, 0 }, y[2] = { 0, 0 };
#pragma unroll
    for (int j = 0; j < 2; j++)
        if (i + j < WIDTH) {
            int n = i + j;
            float c = cosine[n & 3], s = sine[n & 3];
            float p = unit_get(r, X_NEXT ? 2 * n : n), q = unit_get(r, X_NEXT ? 2 * n + 1 : n + WIDTH);
            x[j] = p * c - q * s;
            y[j] = p * s + q * c;
        }
    if (WIDTH == 1) {
        unit_put(out, 0, x[0], 0);
        unit_put(out, 1, y[0], 0);
    } else if (Y_NEXT) {
        unit_put(out, 2 * i, x[0], y[0]);
        unit_put(out, 2 * i + 2, x[1], y[1]);
    } else {
        unit_put(out, i, x[0], x[1]);
        unit_put(out, i + WIDTH, y[0], y[1]);
    }
}

static __device__ void unit_store(const rotate_args *a, const rotate_unit *u, char *head, const unit_raw *r)
{
    unit_raw out = { { { { 0, 0, 0, 0 } }, { { 0, 0, 0, 0 } } } };
#pragma unroll
    for (int i = 0; i < WIDTH; i += 4) {
        float4 c = factors_load(u->factors + i), s = factors_load(u->factors + a->pairs + i);
        float cosine[4] = { c.x, c.y, c.z, c.w }, sine[4] = { s.x, s.y, s.z, s.w };
        unit_rotate(cosine, sine, r, &out, i);
        if (WIDTH > 2)
            unit_rotate(cosine, sine, r, &out, i + 2);
    }
    raw_store(head + u->y[0], WIDTH * Y_BYTES, out.half[0]);
    raw_store(head + u->y[1], WIDTH * Y_BYTES, out.half[1]);
}

/* One unit of every head that this thread has of a token. */
static __device__ void rotate_heads(const rotate_args *a, const rotate_token *o, const rotate_unit *u, int v, int head)
{
    const rotate_view *view = &a->view[v];
    const char *x = (const char *)view->x + (o->x[v] + head * view->x_head) * X_BYTES;
    char *y = (char *)view->y + (o->y[v] + head * view->y_head) * Y_BYTES;
    int64_t x_step = a->block_heads * view->x_head * X_BYTES, y_step = a->block_heads * view->y_head * Y_BYTES;
    int left = (int)view->heads - head;
#pragma unroll 1
    for (; left > 0; left -= AT_ONCE * a->block_heads) {
        unit_raw r[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (i * a->block_heads < left) {
                r[i] = unit_load(u, x);
                x += x_step;
            }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (i * a->block_heads < left) {
                unit_store(a, u, y, &r[i]);
                y += y_step;
            }
    }
}

/* The same where another thread's elements are written: all threads of the block read before one writes. */
static __device__ void rotate_heads_moving(const rotate_args *a, const rotate_token *o, const rotate_unit *u, int v,
                                           int head, int works)
{
    const rotate_view *view = &a->view[v];
#pragma unroll 1
    for (int64_t first = 0; first < view->heads; first += a->block_heads) {
        int64_t h = first + head;
        int mine = works && h < view->heads;
        unit_raw r;
        if (mine)
            r = unit_load(u, (const char *)view->x + (o->x[v] + h * view->x_head) * X_BYTES);
        __syncthreads();
        if (mine)
            unit_store(a, u, (char *)view->y + (o->y[v] + h * view->y_head) * Y_BYTES, &r);
    }
}

/* WIDTH numbers, rounded to the type that is written. */
static __device__ raw raw_of(const float *e)
{
    raw r = { { 0, 0, 0, 0 } };
    if (Y_TYPE == 0) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            r.word[i & 3] = __float_as_uint(e[i]);
        return r;
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i += 2) {
        float next = i + 1 < WIDTH ? e[i + 1] : 0;
        r.word[i / 2] = Y_TYPE == 1 ? f16_pair(e[i], next) : bf16_pair(e[i], next);
    }
    return r;
}

/* Elements that do not rotate, WIDTH of them. */
static __device__ void rest_heads(const rotate_args *a, const rotate_token *o, int n, int v, int head)
{
    const rotate_view *view = &a->view[v];
    int at = a->rest ? ((const uint16_t *)a->rest)[n * WIDTH] : n * WIDTH;
    double gain = GAINS && v == 0 ? (a->reciprocal ? 1 / o->gain : o->gain) : 1;
    float factor = (float)gain;
    int keeps = X_TYPE == Y_TYPE && factor == 1;
    if (keeps && view->x == view->y)
        return;
#pragma unroll 1
    for (int64_t h = head; h < view->heads; h += a->block_heads) {
        const char *x = (const char *)view->x + (o->x[v] + h * view->x_head + at) * X_BYTES;
        raw r = raw_load(x, WIDTH * X_BYTES);
        float e[8];
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            e[i] = raw_get(&r, i) * factor;
        if (!keeps)
            r = raw_of(e);
        raw_store((char *)view->y + (o->y[v] + h * view->y_head + at) * Y_BYTES, WIDTH * Y_BYTES, r);
    }
}

/* ------------------------------------------------ the kernel */

static __device__ void rotate_units(const rotate_args *a, const rotate_token *o, const float *factors, int lane,
                                    int head, int works)
{
    int units = a->pairs / WIDTH, all = units + a->rests / WIDTH, n = lane;
    rotate_unit u;
#pragma unroll 1
    for (; WORK != WORK_COPY && (MOVES ? n == lane : works && n < units); n += a->lane_count) {
        int rotates = works && n < units;
        if (rotates)
            unit_place(a, &u, n);
        u.factors = factors + n * WIDTH;
#pragma unroll 1
        for (int v = 0; v < a->views; v++) {
            if (v && a->sides == 2)
                u.factors += 2 * a->block_tokens * a->pairs;
            if (MOVES)
                rotate_heads_moving(a, o, &u, v, head, rotates);
            else
                rotate_heads(a, o, &u, v, head);
        }
    }
    if (MOVES && lane >= units)
        n = lane;
#pragma unroll 1
    for (; works && n < all; n += a->lane_count)
#pragma unroll 1
        for (int v = 0; v < a->views; v++)
            rest_heads(a, o, n - units, v, head);
}

/* Shared memory: the tokens; cos and sin, (sides, tokens, 2, pairs). */
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS) rotate(const __grid_constant__ rotate_args a)
{
    extern __shared__ float4 rotate_memory[];
    rotate_token *token = (rotate_token *)rotate_memory;
    float *factors = (float *)(token + a.block_tokens);
    int tid = threadIdx.x, count = a.block_tokens * a.pairs;
    if (tid < a.block_tokens)
        find_token(&a, &token[tid], (int64_t)blockIdx.x * a.block_tokens + tid);
    __syncthreads();
    for (int i = tid; i < count * a.sides; i += THREADS) {
        int row = i / a.pairs, v = row >= a.block_tokens, n = i - row * a.pairs;
        rotate_token *o = &token[row - v * a.block_tokens];
        if (o->there) {
            float2 f = pair_factors(&a, o, v, n);
            factors[2 * row * a.pairs + n] = f.x;
            factors[(2 * row + 1) * a.pairs + n] = f.y;
        }
    }
    __syncthreads();
    int row = tid / a.lane_count, t = row / a.block_heads;
    int works = t < a.block_tokens;
    rotate_token *o = &token[works ? t : 0];
    works = works && o->there && (!IN_CACHE || o->moves);
    rotate_units(&a, o, factors + 2 * t * a.pairs, tid - row * a.lane_count, row - t * a.block_heads, works);
}

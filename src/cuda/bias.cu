/* SPDX-License-Identifier: MIT
 *
 * Biases by distance: tables from parameters, and gradients of parameters from those of tables. The formulas are the
 * rows' own, as text (pe_lowered_bias.device): PARTS of them, PART_0 to PART_3, each in one line; with KNOTS one. Here
 * is what that text expects: part, pe_params, num, whole, param, grad. A double is rounded once, when a table is
 * written. Same bits every run: no thread adds to what another adds to, and sums have a fixed order. */

#ifdef __CUDACC_RTC__
#define INFINITY __longlong_as_double(0x7ff0000000000000)
#endif

/* ------------------------------------------------ what rows expect */

typedef bias_part part;

/* What one call of bias_back adds to parameters. */
#define GRADS 4
typedef struct grads {
    int count;
    int64_t at[GRADS];
    double add[GRADS];
} grads;

/* Gradients go to a list, or to a ledger of parameters from `first` on: there each thread of a block makes the same
 * calls and owns the parameters that are its number modulo the threads. */
typedef struct pe_params {
    const void *data;
    bool f64;
    grads *to;
    double *ledger;
    int64_t first;
} pe_params;

static __device__ __forceinline__ double num(const part *p, int key)
{
    return p->value[key];
}

static __device__ __forceinline__ int64_t whole(const part *p, int key)
{
    return (int64_t)p->value[key];
}

static __device__ __forceinline__ double param(const part *p, pe_params w, int t, int64_t i)
{
    i += p->tensor[t].offset;
    return w.f64 ? ((const double *)w.data)[i] : (double)((const float *)w.data)[i];
}

static __device__ __forceinline__ void grad(const part *p, pe_params dw, int t, int64_t i, double x)
{
    grads *g = dw.to;
    if (dw.ledger) {
        i += p->tensor[t].offset;
        if (i % BIAS_THREADS == threadIdx.x)
            dw.ledger[i - dw.first] += x;
        return;
    }
#pragma unroll
    for (int n = 0; n < GRADS; n++) /* not at[count]: registers have no index */
        if (n == g->count) {
            g->at[n] = p->tensor[t].offset + i;
            g->add[n] = x;
        }
    g->count++;
}

#define static static __device__
namespace part_0
{
PART_0
}
#if PARTS > 1
namespace part_1
{
PART_1
}
#endif
#if PARTS > 2
namespace part_2
{
PART_2
}
#endif
#if PARTS > 3
namespace part_3
{
PART_3
}
#endif
#undef static

static __device__ pe_params block_of(bias_block b)
{
    pe_params w = { (const void *)b.data, b.f64 != 0, 0, 0, 0 };
    return w;
}

static __device__ int64_t within(int64_t d, int64_t low, int64_t high)
{
    return d < low ? low : d > high ? high : d;
}

/* A row of a table, and of its copy, whose entry e is entry e + 1 of the table. */
static __device__ void put(float *table, float *copy, int64_t row, int64_t e, float x)
{
    table[e] = x;
    if (e > 0)
        copy[e - 1] = x;
    if (e == row - 1)
        copy[e] = x;
}

/* ------------------------------------------------ gradients: sums in a fixed order */

static __device__ double sum_slots(const float *from, int64_t slots, int64_t apart)
{
    double sum = 0;
#pragma unroll 8
    for (int64_t s = 0; s < slots; s++)
        sum += from[s * apart];
    return sum;
}

/* Threads of a block that add to the same parameter: the first of them adds up all, in order. */
static __device__ void add_tile(const int64_t *at, const double *add, double *ledger)
{
    int64_t own = at[threadIdx.x];
    int before = (int)threadIdx.x - 1;
    while (own >= 0 && before >= 0 && at[before] != own)
        before--;
    if (own < 0 || before >= 0)
        return;
    double sum = 0;
#pragma unroll 8
    for (int t = threadIdx.x; t < BIAS_THREADS; t++)
        sum += at[t] == own ? add[t] : 0;
    ledger[own] += sum;
}

/* What each thread has in its list, to a line of the ledger. All threads of the block. */
static __device__ void add_lists(const grads &g, int64_t first, double *ledger)
{
    __shared__ double add[GRADS][BIAS_THREADS];
    __shared__ int64_t at[GRADS][BIAS_THREADS];
#pragma unroll
    for (int i = 0; i < GRADS; i++) {
        at[i][threadIdx.x] = i < g.count ? g.at[i] - first : -1;
        add[i][threadIdx.x] = g.add[i];
    }
    for (int i = 0; i < GRADS; i++) {
        __syncthreads();
        add_tile(at[i], add[i], ledger);
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BIAS_THREADS) bias_sum(const bias_sum_args a)
{
    int64_t i = (int64_t)blockIdx.x * BIAS_THREADS + threadIdx.x;
    if (i >= a.count)
        return;
    const double *from = (const double *)a.ledger + i;
    double sum = 0;
#pragma unroll 8
    for (int64_t n = 0; n < a.workers; n++)
        sum += from[n * a.count];
    if (a.dparams.f64)
        ((double *)a.dparams.data)[a.first + i] += sum;
    else {
        float *to = (float *)a.dparams.data + a.first + i;
        *to = (float)(*to + sum);
    }
}

#ifdef KNOTS
/* ------------------------------------------------ measures, shares and knots */

/* Share number i is of a query at position i. */
static __device__ void put_share(const bias_knots_args *a, int64_t i, double *least, double *most)
{
    double at[8] = { (double)i, 0, 0, 0, 0, 0, 0, 0 };
    float s = (float)part_0::share(&a->part, block_of(a->params), at);
    ((float *)a->share)[i] = s;
    *least = fmin(*least, (double)s);
    *most = fmax(*most, (double)s);
}

/* The least and the largest of all threads; each is exact, so their order is of no matter. */
static __device__ void put_extremes(double *out, double least, double most)
{
    __shared__ double low[BIAS_THREADS], high[BIAS_THREADS];
    low[threadIdx.x] = least;
    high[threadIdx.x] = most;
    __syncthreads();
    for (int half = BIAS_THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            low[threadIdx.x] = fmin(low[threadIdx.x], low[threadIdx.x + half]);
            high[threadIdx.x] = fmax(high[threadIdx.x], high[threadIdx.x + half]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[0] = low[0];
        out[1] = high[0];
    }
}

extern "C" __global__ void __launch_bounds__(BIAS_THREADS) knots_measure(const __grid_constant__ bias_knots_args a)
{
    int64_t e = (int64_t)blockIdx.x * BIAS_THREADS + threadIdx.x;
    double least = INFINITY, most = -INFINITY;
    if (e < a.row) {
        float m = (float)part_0::measure(&a.part, block_of(a.params), within(a.zero - e, a.low, a.high));
        put((float *)a.table, (float *)a.table + a.row, a.row, e, m);
    }
    if (blockIdx.x >= a.extremes)
        return;
    for (int64_t i = e; i < a.shares; i += a.extremes * BIAS_THREADS)
        put_share(&a, i, &least, &most);
    put_extremes((double *)a.extreme + 2 * blockIdx.x, least, most);
}

typedef struct reach {
    double least, most;
} reach;

/* What measure times share lies between. Measures rise or fall all the way on each side of 0. */
static __device__ reach reach_of(const bias_knots_args *a)
{
    const double *extreme = (const double *)a->extreme;
    const float *table = (const float *)a->table;
    double s0 = extreme[0], s1 = extreme[1];
    for (int64_t n = 1; n < a->extremes; n++) {
        s0 = fmin(s0, extreme[2 * n]);
        s1 = fmax(s1, extreme[2 * n + 1]);
    }
    double far = table[a->zero - a->high], ahead = table[a->zero - a->low], near = table[a->zero];
    double m0 = fmin(near, fmin(far, ahead)), m1 = fmax(near, fmax(far, ahead));
    reach r = { fmin(fmin(m0 * s0, m0 * s1), fmin(m1 * s0, m1 * s1)),
                fmax(fmax(m0 * s0, m0 * s1), fmax(m1 * s0, m1 * s1)) };
    return r;
}

/* One that is never reached is infinitely far: nothing is computed out there. */
static __device__ double knot_at(const bias_knots_args *a, reach r, int64_t i)
{
    double at = part_0::knot(&a->part, block_of(a->params), i);
    return at < r.least ? -INFINITY : at <= r.most ? at : INFINITY;
}

/* The place of each is the number of those before it. */
extern "C" __global__ void __launch_bounds__(BIAS_THREADS) knots_sort(const __grid_constant__ bias_knots_args a)
{
    int64_t i = (int64_t)blockIdx.x * BIAS_THREADS + threadIdx.x, place = 0;
    if (i >= a.knots)
        return;
    reach r = reach_of(&a);
    double own = knot_at(&a, r, i);
    for (int64_t j = 0; j < a.knots; j++) {
        double other = knot_at(&a, r, j);
        place += other < own || (other == own && j < i);
    }
    ((double *)a.sorted)[place] = own;
    ((float *)a.knot)[place] = (float)own;
}

static __device__ double reached(double x, reach r)
{
    return fmin(fmax(x, r.least), r.most);
}

/* Two points between knots s - 1 and s (points_of in attention/distance_bias.c); one where these have no width. */
typedef struct points {
    double a, b;
} points;

static __device__ points points_of(const bias_knots_args *a, reach r, int64_t s)
{
    const double *knot = (const double *)a->sorted;
    double low = s ? reached(knot[s - 1], r) : r.least, high = s < a->knots ? reached(knot[s], r) : r.most;
    double near = low > 0 ? low : high < 0 ? high : 0, width = near - low > high - near ? low - near : high - near;
    double inside = near != 0 ? fmin(fabs(near), fabs(width) / 3) : fabs(width) * 0x1p-30;
    points p = { low < near && near < high ? near : near + copysign(inside, width), near + width / 3 * 2 };
    return p;
}

/* The line of head h there. */
extern "C" __global__ void __launch_bounds__(BIAS_THREADS) knots_fill(const __grid_constant__ bias_knots_args a)
{
    int64_t n = (int64_t)blockIdx.x * BIAS_THREADS + threadIdx.x, h = n / (a.knots + 1), s = n % (a.knots + 1);
    if (h >= a.heads)
        return;
    pe_params w = block_of(a.params);
    points p = points_of(&a, reach_of(&a), s);
    double y0 = part_0::bias(&a.part, w, h, p.a), y1 = p.b != p.a ? part_0::bias(&a.part, w, h, p.b) : y0;
    double slope = p.b != p.a ? (y1 - y0) / (p.b - p.a) : 0;
    ((float *)a.slope)[n] = (float)(a.factor * slope);
    ((float *)a.level)[n] = (float)(a.factor * (y0 - slope * p.a));
}

/* ------------------------------------------------ gradients of measures, shares and lines */

/* Between knots every gradient is linear in x: two points, weighted, stand for all that were there. */
static __device__ void line_back(const knots_back_args *a, int64_t n, double *ledger)
{
    const bias_knots_args *f = &a->form;
    int64_t lines = f->knots + 1, h = n / lines, s = n % lines, apart = f->heads * a->gradient / 2;
    const double *from = (const double *)((const float *)a->dtable + (h + 1) * a->gradient) - 2 * (lines - s);
    double level = 0, slope = 0;
    for (int64_t slot = 0; slot < a->slots; slot++) {
        level += from[slot * apart];
        slope += from[slot * apart + 1];
    }
    if (level == 0 && slope == 0)
        return;
    pe_params w = block_of(f->params), dw = { 0, false, 0, ledger, a->first };
    points p = points_of(f, reach_of(f), s);
    double at_b = p.b != p.a ? (slope - level * p.a) / (p.b - p.a) : 0;
    part_0::bias_back(&f->part, w, dw, h, p.a, level - at_b);
    part_0::bias_back(&f->part, w, dw, h, p.b, at_b);
}

/* Entry n of the gradients of all heads, in units of x. */
static __device__ double sum_heads(const knots_back_args *a, int64_t n)
{
    return sum_slots((const float *)a->dtable + n, a->slots * a->form.heads, a->gradient) / a->form.factor;
}

static __device__ void distance_back(const knots_back_args *a, int64_t n, grads *g)
{
    const bias_knots_args *f = &a->form;
    pe_params w = block_of(f->params), dw = { 0, false, g, 0, 0 };
    part_0::measure_back(&f->part, w, dw, f->high - n, sum_heads(a, f->zero - f->high + n));
}

static __device__ void share_back(const knots_back_args *a, int64_t n, grads *g)
{
    const bias_knots_args *f = &a->form;
    pe_params w = block_of(f->params), dw = { 0, false, g, 0, 0 };
    double at[8] = { (double)n, 0, 0, 0, 0, 0, 0, 0 };
    part_0::share_back(&f->part, w, dw, at, sum_heads(a, f->row + n));
}

/* The first workers have lines, the next distances, the last shares. */
extern "C" __global__ void __launch_bounds__(BIAS_THREADS) knots_back(const __grid_constant__ knots_back_args a)
{
    int64_t worker = blockIdx.x, far = worker - a.line.workers, last = far - a.distance.workers;
    double *ledger = (double *)a.ledger + worker * a.count;
    if (far < 0) {
        for (int64_t n = worker * a.line.chunk; n < min(worker * a.line.chunk + a.line.chunk, a.line.count); n++)
            line_back(&a, n, ledger);
        return;
    }
    int64_t chunk = last < 0 ? a.distance.chunk : a.share.chunk, all = last < 0 ? a.distance.count : a.share.count;
    int64_t from = (last < 0 ? far : last) * chunk, to = min(from + chunk, all);
    for (int64_t first = from; first < to; first += BIAS_THREADS) {
        int64_t n = first + threadIdx.x;
        grads g = { 0, { 0 }, { 0 } };
        if (n < to && last < 0)
            distance_back(&a, n, &g);
        else if (n < to)
            share_back(&a, n, &g);
        add_lists(g, a.first, ledger);
    }
}
#else
/* ------------------------------------------------ tables by distance */

#define ADD(n) x += part_##n::bias(&a.part[n], w, h, part_##n::measure(&a.part[n], w, d))

/* Entries before the first and after the last distance repeat it. */
extern "C" __global__ void __launch_bounds__(BIAS_THREADS) bias_fill(const __grid_constant__ bias_fill_args a)
{
    int64_t blocks = (a.row + BIAS_THREADS - 1) / BIAS_THREADS, h = blockIdx.x / blocks;
    int64_t e = blockIdx.x % blocks * BIAS_THREADS + threadIdx.x, d = within(a.zero - e, a.low, a.high);
    pe_params w = block_of(a.params);
    if (e >= a.row)
        return;
    double x = a.base ? ((const float *)a.base)[h * a.row + e] : 0;
    ADD(0);
#if PARTS > 1
    ADD(1);
#endif
#if PARTS > 2
    ADD(2);
#endif
#if PARTS > 3
    ADD(3);
#endif
    float *table = (float *)a.table + h * a.row;
    put(table, table + a.heads * a.row, a.row, e, (float)(a.factor * x));
}

/* A worker's distances, one head: gradients of PART_0's parameters. Heads have parameters of their own, so workers
 * have a line of the ledger each, for all heads. */
extern "C" __global__ void __launch_bounds__(BIAS_THREADS) bias_back(const __grid_constant__ bias_back_args a)
{
    int64_t worker = blockIdx.x / a.heads, h = blockIdx.x % a.heads, last = a.high - a.low + 1;
    int64_t from = worker * a.chunk, to = from + a.chunk < last ? from + a.chunk : last;
    const float *dtable = (const float *)a.dtable + h * a.row + a.zero - a.high;
    double *ledger = (double *)a.ledger + worker * a.count;
    for (int64_t first = from; first < to; first += BIAS_THREADS) {
        int64_t n = first + threadIdx.x;
        grads g = { 0, { 0 }, { 0 } };
        double db = n < to ? sum_slots(dtable + n, a.slots, a.heads * a.row) : 0;
        if (db != 0) {
            pe_params w = block_of(a.params), dw = { 0, false, &g, 0, 0 };
            part_0::bias_back(&a.part, w, dw, h, part_0::measure(&a.part, w, a.high - n), db);
        }
        add_lists(g, a.first, ledger);
    }
}
#endif

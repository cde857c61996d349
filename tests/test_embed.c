/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: mpfr threads
 *
 * Codes added to rows are what the rows' formula says, element by element and bit for bit: whatever the types, the batch,
 * the rung and the number of workers, next to every rounding too; and between two positions they are right. */

#include "core/encoding.h"
#include "core/place.h"
#include "real.h"
#include "test.h"

enum { T_MAX = 300, WIDTH_MAX = 1400 };
static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };

/* Beside the examples of every row: ranges that end anywhere, many axes, codes that meet. */
static const struct subject {
    const char *spec;
    int64_t width; /* of the model */
} subjects[] = {
    { "sinusoidal", 1046 },
    { "sinusoidal:layout=halves,order=cos-sin", 1046 },
    { "sinusoidal:axes=4,layout=halves,offset=2", 1064 },
    { "sinusoidal:axes=2,order=cos-sin", 12 },
    { "sinusoidal:theta=1e15,denominator=d-2", 514 },
    { "sinusoidal:join=concat,width=530", 6 },
    { "sinusoidal", 2 },
    { "sinusoidal", 1 },
    { "sinusoidal:order=cos-sin", 1045 },
    { "sinusoidal:layout=halves,offset=2", 515 },
    { "sinusoidal:layout=halves,axes=3", 15 },
    { "sinusoidal:steps=0.5,layout=halves", 514 },
    { "sinusoidal:scale=0.3,axes=2,steps=1/3", 516 },
    { "sinusoidal+learned:rows=400", 640 },
    { "learned:rows=400+binary:join=concat,width=40+sinusoidal:join=concat,width=30", 70 },
    { "integer+normalised+binary+sinusoidal:join=concat,width=514", 34 },
    { "rope", 32 },
};

/* ------------------------------------------------ the definition */

typedef struct embedding {
    pe_encoding *e;
    pe_params w;
    pe_view y, x; /* x.data NULL: of nothing */
    pe_positions where;
} embedding;

static double code_of(const part *p, pe_params w, const double *at, int64_t c)
{
    double code;
    p->row->embed(p, w, at, c, 1, &code);
    return code;
}

static void define_token(const embedding *g, void *y, const void *x, const double *at)
{
    int64_t joined = g->x.dim;
    for (int64_t c = 0; c < g->x.dim; c++) {
        double sum = x ? num_load(x, g->x.dtype, c) : 0;
        for (int i = 0; i < g->e->parts; i++)
            if (g->e->part[i].row->embed && !g->e->part[i].concat)
                sum += code_of(&g->e->part[i], g->w, at, c);
        num_store(y, g->y.dtype, c, sum);
    }
    for (int i = 0; i < g->e->parts; i++)
        for (int64_t c = 0; g->e->part[i].row->embed && g->e->part[i].concat && c < g->e->part[i].width; c++)
            num_store(y, g->y.dtype, joined++, code_of(&g->e->part[i], g->w, at, c));
}

static const char *row_of(pe_view v, int64_t b, int64_t t)
{
    return v.data ? (const char *)v.data + (b * v.batch_stride + t * v.token_stride) * (int64_t)pe_dtype_size(v.dtype)
                  : NULL;
}

/* NaN is NaN, whatever its other bits. */
static bool same_element(const void *a, const void *b, pe_dtype type, int64_t i)
{
    size_t size = pe_dtype_size(type);
    double x = num_load(a, type, i), y = num_load(b, type, i);
    return !memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size) ||
           (isnan(x) && isnan(y));
}

/* Every element of g->y; x may be a copy of what it was, where the call was in place. */
static void compare(const embedding *g, const char *what)
{
    static double want[WIDTH_MAX];
    for (int64_t b = 0; b < g->y.batch; b++)
        for (int64_t t = 0; t < g->y.tokens; t++) {
            double at[PE_AXES_MAX];
            position_real(positions_at(g->where, b), t, at);
            define_token(g, want, row_of(g->x, b, t), at);
            for (int64_t c = 0; c < g->y.dim; c++)
                if (!same_element(row_of(g->y, b, t), want, g->y.dtype, c))
                    fail_msg("%s, %s: element %d of token %d of sequence %d is %a; the row says %a",
                             pe_encoding_spec(g->e), what, (int)c, (int)t, (int)b,
                             num_load(row_of(g->y, b, t), g->y.dtype, c), num_load(want, g->y.dtype, c));
        }
}

/* ------------------------------------------------ cases */

static void fill_view(pe_view v, uint64_t *seed)
{
    for (int64_t i = 0; i < v.batch * v.tokens * v.dim; i++) {
        uint64_t kind = test_random(seed) % 64;
        double x = test_uniform(seed);
        num_store(v.data, v.dtype, i,
                  kind == 0   ? -0.0
                  : kind == 1 ? x * 0x1p-130
                  : kind == 2 ? x * 60000
                  : kind == 3 ? NAN
                              : x);
    }
}

static embedding open_case(const struct subject *s, uint64_t *seed)
{
    embedding g = { .e = encoding_of(s->spec, (pe_shape){ 1, 0, 2, s->width }) };
    int64_t count = pe_encoding_param_count(g.e);
    g.w = (pe_params){ take(count, 8), PE_F32, count };
    for (int64_t i = 0; i < count; i++)
        num_store(g.w.data, g.w.dtype, i, test_random(seed) % 32 ? test_uniform(seed) : -0.0);
    return g;
}

/* The last position that every table has, whatever its offset; 0: there are none. */
static int64_t last_row(const pe_encoding *e)
{
    int64_t rows = 0;
    for (int i = 0; i < e->parts; i++)
        for (int t = 0; t < e->part[i].tensors; t++)
            rows = !rows || e->part[i].tensor[t].shape[0] < rows ? e->part[i].tensor[t].shape[0] : rows;
    return rows * 3 / 4;
}

/* Positions of (batch, tokens): scattered, all the same, or up from a place; each sequence's own, or one for all. */
static pe_positions draw_positions(int64_t *at, const embedding *g, int64_t batch, int64_t tokens, uint64_t *seed)
{
    int64_t axes = pe_encoding_axes(g->e), last = last_row(g->e), base = 0;
    int64_t low = last ? 0 : -PE_POSITION_MAX, high = last ? last : PE_POSITION_MAX;
    uint64_t kind = test_random(seed) % 4;
    for (int64_t n = 0; n < batch * tokens; n++) {
        base = n % tokens ? base : test_range(seed, low, high - (last ? 0 : T_MAX));
        for (int64_t a = 0; a < axes; a++) {
            int64_t up = last ? (base + n % tokens) % (last + 1) : base + n % tokens;
            at[n * axes + a] = kind == 0 ? test_range(seed, low, high) : kind == 1 ? base : up;
        }
    }
    pe_positions p = pe_positions_of(at, PE_I64, batch, tokens, axes);
    if (test_random(seed) % 2)
        p.batch_stride = 0;
    if (kind == 3 && !last)
        p = pe_positions_run(batch, tokens, base);
    return p;
}

/* One call with everything drawn; in place where the types are the same. */
static void one_call(const struct subject *s, pe_dtype to, pe_dtype from, int64_t batch, int64_t tokens, uint64_t *seed)
{
    int mark = taken();
    embedding g = open_case(s, seed);
    int64_t C = s->width, width = pe_embed_width(g.e, C);
    assert_true(width <= WIDTH_MAX);
    int64_t *at = take(batch * tokens * PE_AXES_MAX, 8);
    void *x = take(batch * tokens * C, 8), *y = take(batch * tokens * width, 8);
    g.where = draw_positions(at, &g, batch, tokens, seed);
    g.x = pe_view_of(x, from, batch, tokens, 1, C);
    g.y = pe_view_of(y, to, batch, tokens, 1, width);
    fill_view(g.x, seed);
    uint64_t how = test_random(seed) % 4;
    if (how == 0)
        g.x.data = NULL;
    pe_view given = g.x;
    if (how == 1 && to == from && width == C) {
        memcpy(y, x, (size_t)(batch * tokens * C) * pe_dtype_size(to));
        given = g.y;
    }
    pe_positions axes = g.where;
    axes.axes = pe_encoding_axes(g.e);
    assert_ok(pe_embed(g.e, g.y, given, g.where, &PE_MAKE(pe_run, .params = g.w), &err));
    g.where = axes;
    char what[80];
    snprintf(what, sizeof what, "%d to %d, batch %d, %s", (int)from, (int)to, (int)batch,
             how == 0   ? "bare"
             : how == 1 ? "in place"
                        : "added");
    compare(&g, what);
    give_back_to(mark);
}

/* ------------------------------------------------ tests */

TEST(every_element_is_what_its_row_says_in_every_type)
{
    uint64_t seed = 11;
    for (int s = 0; s < COUNT(subjects); s++)
        for (int to = 0; to < COUNT(types); to++)
            for (int from = 0; from < COUNT(types); from++)
                if (test_due(s + to + from, 1))
                    one_call(&subjects[s], types[to], types[from], 1, test_range(&seed, 1, 150), &seed);
}

static void try_example(const pe_info *info, const char *spec)
{
    static uint64_t seed = 12;
    if (info->hooks & PE_HOOK_EMBED)
        for (int to = 0; to < COUNT(types); to++)
            one_call(&(struct subject){ spec, 64 }, types[to], types[test_random(&seed) % 4], 1, 40, &seed);
}

TEST(every_example_of_every_row_too)
{
    test_each_example(try_example);
}

TEST(sequences_of_a_batch_are_independent)
{
    static const int64_t batches[] = { 2, 3, 17, 40 };
    uint64_t seed = 13;
    for (int s = 0; s < COUNT(subjects); s++)
        for (int b = 0; b < COUNT(batches); b++)
            one_call(&subjects[s], types[(s + b) % 4], types[(s + b) / 2 % 4], batches[b], test_range(&seed, 1, 9),
                     &seed);
}

/* x takes each sum to within 2^-50 of where its rounding changes: half way between two floats, or, for 16 bits, at one. */
TEST(next_to_roundings_the_bits_are_those_of_the_row)
{
    enum { T = 130, C = 96 };
    static float x[T * C], y[T * C];
    uint64_t seed = 14;
    for (int s = 0; s < 60; s++) {
        embedding g = open_case(&(struct subject){ s % 2 ? "sinusoidal" : "sinusoidal:layout=halves,theta=500", C }, &seed);
        g.x = pe_view_of(x, PE_F32, 1, T, 1, C);
        g.y = pe_view_of(y, s % 3 == 0 ? PE_F32 : s % 3 == 1 ? PE_F16 : PE_BF16, 1, T, 1, C);
        g.where = pe_positions_run(1, T, test_range(&seed, -5000, 5000));
        for (int t = 0; t < T; t++)
            for (int c = 0; c < C; c++) {
                double at[1] = { (double)coordinate(g.where, t, 0) }, code = code_of(&g.e->part[0], g.w, at, c);
                float near = (float)code, next = nextafterf(near, test_random(&seed) % 2 ? 2 : -2);
                double edge = s % 3 ? near : ((double)near + (double)next) / 2;
                x[t * C + c] = (float)(edge - code);
            }
        assert_ok(pe_embed(g.e, g.y, g.x, g.where, NULL, &err));
        g.where.axes = 1;
        compare(&g, "next to roundings");
    }
}

/* ------------------------------------------------ workers and rungs */

typedef struct outcome {
    pe_view y, dx;
    pe_params dw;
} outcome;

enum { BATCH = 3, TOKENS = 210, MODEL = 600 };

/* Random numbers, or zeros where there is no seed. */
static pe_view batch_of(int64_t width, uint64_t *seed)
{
    float *x = take(BATCH * TOKENS * width, sizeof *x);
    for (int64_t i = 0; seed && i < BATCH * TOKENS * width; i++)
        x[i] = (float)test_uniform(seed);
    return pe_view_of(x, PE_F32, BATCH, TOKENS, 1, width);
}

/* Forward and backward of one encoding, on a rung, with a pool. */
static outcome run_both(const char *spec, const char *rung, const pe_pool *pool)
{
    uint64_t seed = 15;
    embedding g = open_case(&(struct subject){ spec, MODEL }, &seed);
    assert_ok(pe_encoding_set_kernels(g.e, rung, &err));
    int64_t width = pe_embed_width(g.e, MODEL);
    pe_view x = batch_of(MODEL, &seed), dy = batch_of(width, &seed);
    outcome to = { batch_of(width, NULL), batch_of(MODEL, NULL), { take(g.w.count, 4), PE_F32, g.w.count } };
    pe_positions at = pe_positions_run(BATCH, TOKENS, 7);
    pe_run run = PE_MAKE(pe_run, .params = g.w, .pool = pool);
    assert_ok(pe_embed(g.e, to.y, x, at, &run, &err));
    assert_ok(pe_embed_back(g.e, to.dw, to.dx, dy, at, &run, &err));
    return to;
}

static const char *const spread[] = { "sinusoidal", "learned:rows=300", "hierarchical:rows=20,alpha=0.3",
                                      "sinusoidal+learned:rows=300+binary:join=concat,width=70" };

TEST(any_number_of_workers_and_any_rung_give_the_same_bits)
{
    static const int workers[] = { 1, 2, 5 };
    const char *rung;
    pe_encoding *e = encoding_of("rope", test_shape);
    for (int s = 0; s < COUNT(spread); s++) {
        outcome want = run_both(spread[s], "scalar", NULL);
        for (int n = 0; n < COUNT(workers); n++)
            for (int r = 0; (rung = pe_kernels_name(r)); r++) {
                int mark = taken();
                if (pe_encoding_set_kernels(e, rung, NULL))
                    continue;
                outcome got = run_both(spread[s], rung, pool_of(workers[n]));
                assert_memory_equal(got.y.data, want.y.data, (size_t)(BATCH * TOKENS * want.y.dim) * 4);
                assert_memory_equal(got.dx.data, want.dx.data, BATCH * TOKENS * MODEL * 4);
                assert_memory_equal(got.dw.data, want.dw.data, (size_t)want.dw.count * 4);
                give_back_to(mark);
            }
    }
}

/* Each parameter's gradient is added up in the order of tokens, in the gradient's own type. */
TEST(gradients_are_added_token_by_token)
{
    enum { T = 90, C = 130, ROWS = 12 };
    static float dy[T * C], dw[ROWS * C], want[ROWS * C];
    uint64_t seed = 16;
    embedding g = open_case(&(struct subject){ "hierarchical:rows=12", C }, &seed);
    int64_t at[T];
    for (int t = 0; t < T; t++)
        at[t] = test_range(&seed, 0, ROWS * ROWS - 1);
    for (int i = 0; i < T * C; i++)
        dy[i] = (float)test_uniform(&seed);
    const part *p = &g.e->part[0];
    for (int t = 0; t < T; t++)
        for (int64_t c = 0; c < C; c++) {
            double place = (double)at[t], one = dy[t * C + c];
            p->row->embed_back(p, (pe_params){ want, PE_F32, ROWS * C }, &place, c, 1, &one);
        }
    assert_ok(pe_embed_back(g.e, (pe_params){ dw, PE_F32, ROWS * C }, (pe_view){ 0 }, pe_view_of(dy, PE_F32, 1, T, 1, C), pe_positions_of(at, PE_I64, 1, T, 1), &PE_MAKE(pe_run, .params = g.w), &err));
    assert_memory_equal(dw, want, sizeof dw);
}

/* ------------------------------------------------ between two positions */

/* Of all sizes up to 2^36, with as many bits as a double has. */
static double draw_fraction(uint64_t *seed)
{
    return ldexp(test_uniform(seed), (int)test_range(seed, -3, 36));
}

/* turn.h: within 2^-51 of itself; float32 is that, rounded once. */
TEST(sinusoids_between_positions_are_as_exact_as_at_them)
{
    enum { T = 400, C = 16 };
    static double at[T], y[T * C];
    static float single[T * C];
    static const double theta[] = { 10000, 500000, 100.5 };
    uint64_t seed = 17;
    double worst = 0;
    for (int n = 0; n < COUNT(theta); n++) {
        char spec[60];
        snprintf(spec, sizeof spec, "sinusoidal:theta=%.17g", theta[n]);
        pe_encoding *e = encoding_of(spec, (pe_shape){ 1, 0, 2, C });
        for (int t = 0; t < T; t++)
            at[t] = draw_fraction(&seed);
        pe_positions where = pe_positions_of(at, PE_F64, 1, T, 1);
        assert_ok(pe_embed(e, pe_view_of(y, PE_F64, 1, T, 1, C), (pe_view){ 0 }, where, NULL, &err));
        assert_ok(pe_embed(e, pe_view_of(single, PE_F32, 1, T, 1, C), (pe_view){ 0 }, where, NULL, &err));
        for (int t = 0; t < T; t++)
            for (int c = 0; c < C; c++) {
                real angle = mul(power(number(theta[n]), quo(number(-(c / 2 * 2)), number(C))), number(at[t]));
                real truth = c % 2 ? cosine_of(angle) : sine_of(angle);
                double share = fabs(as_double(quo(sub(truth, number(y[t * C + c])), truth)));
                worst = share > worst ? share : worst;
                if (!(share <= 0x1p-51))
                    fail_msg("%s at %.17g, element %d: %.17g is off by %g of itself", spec, at[t], c, y[t * C + c],
                             share);
                assert_true(single[t * C + c] == (float)y[t * C + c]);
            }
    }
    print_message("worst: %.2f 2^-52 of itself\n", worst * 0x1p52);
}

/* An odd width: (d + 1)/2 waves of which the last has no partner; or d - 1 elements as ever, and a 0. */
TEST(an_odd_width_ends_with_half_a_pair_or_a_zero)
{
    enum { T = 60, C = 7 };
    static double at[T], y[T * C];
    static const char *const specs[] = { "sinusoidal", "sinusoidal:order=cos-sin", "sinusoidal:layout=halves",
                                         "sinusoidal:layout=halves,denominator=d-2", "sinusoidal:denominator=d-2" };
    uint64_t seed = 19;
    for (int n = 0; n < COUNT(specs); n++) {
        bool halves = strstr(specs[n], "halves"), cosine_first = strstr(specs[n], "cos-sin");
        int over = (halves ? C - 1 : C) - (strstr(specs[n], "d-2") ? 2 : 0), count = halves ? C / 2 : (C + 1) / 2;
        pe_encoding *e = encoding_of(specs[n], (pe_shape){ 1, 0, 2, C });
        for (int t = 0; t < T; t++)
            at[t] = draw_fraction(&seed);
        assert_ok(pe_embed(e, pe_view_of(y, PE_F64, 1, T, 1, C), (pe_view){ 0 },
                           pe_positions_of(at, PE_F64, 1, T, 1), NULL, &err));
        for (int t = 0; t < T; t++)
            for (int c = 0; c < C; c++) {
                int i = halves ? c % count : c / 2;
                bool second = halves ? c >= count : c % 2;
                if (halves && c == C - 1) {
                    assert_true(y[t * C + c] == 0);
                    continue;
                }
                real angle = mul(power(number(10000), quo(number(-2 * i), number(over))), number(at[t]));
                real truth = second != cosine_first ? cosine_of(angle) : sine_of(angle);
                double share = fabs(as_double(quo(sub(truth, number(y[t * C + c])), truth)));
                if (!(share <= 0x1p-51))
                    fail_msg("%s at %.17g, element %d: %.17g is off by %g", specs[n], at[t], c, y[t * C + c], share);
            }
    }
}

TEST(a_fraction_is_added_to_the_run_it_stands_in)
{
    double quarter[2] = { 0.25, -1.5 }, y[6];
    pe_encoding *e = encoding_of("integer:join=concat,width=1", (pe_shape){ 1, 0, 2, 8 });
    pe_positions where = { quarter, PE_F64, 2, 3, 1, 1, 0, 1, 10, 2 };
    assert_ok(pe_embed(e, pe_view_of(y, PE_F64, 2, 3, 1, 1), (pe_view){ NULL, PE_F64, 2, 3, 1, 0, 0, 0, 0 }, where, NULL, &err));
    for (int t = 0; t < 3; t++) {
        assert_true(y[t] == 10 + 2 * t + 0.25);
        assert_true(y[3 + t] == 10 + 2 * t - 1.5);
    }
}

TEST(fractions_are_taken_where_the_formula_is_continuous)
{
    static const struct {
        const char *spec;
        bool taken;
    } cases[] = { { "sinusoidal", true },     { "integer", true },           { "normalised:length=10", true },
                  { "binary", false },        { "learned", false },          { "hierarchical", false },
                  { "sinusoidal+alibi", true }, { "sinusoidal+learned", false }, { "rope", true } };
    double at[2] = { 3, 4.5 }, far[2] = { 0, 0x1p36 + 0.5 }, y[2 * 8];
    for (int i = 0; i < COUNT(cases); i++) {
        uint64_t seed = 18;
        embedding g = open_case(&(struct subject){ cases[i].spec, 8 }, &seed);
        pe_view to = pe_view_of(y, PE_F64, 1, 2, 1, 8);
        pe_run run = PE_MAKE(pe_run, .params = g.w);
        pe_positions where = pe_positions_of(at, PE_F64, 1, 2, 1), beyond = pe_positions_of(far, PE_F64, 1, 2, 1);
        pe_status wanted = cases[i].taken ? PE_OK : PE_ERR_POSITION;
        assert_says(pe_embed(g.e, to, (pe_view){ 0 }, where, &run, &err), wanted,
                    wanted ? "positions: position of token 1 is 4.5; needs a whole number, -2^36 to 2^36" : "");
        assert_int_equal(pe_embed_back(g.e, (pe_params){ 0 }, (pe_view){ 0 }, to, where, &run, &err), wanted);
        assert_refused(pe_embed(g.e, to, (pe_view){ 0 }, beyond, &run, &err), PE_ERR_POSITION, "-2^36 to 2^36");
    }
    pe_encoding *e = encoding_of("normalised:length=10", (pe_shape){ 1, 0, 2, 8 });
    assert_ok(pe_embed(e, pe_view_of(y, PE_F64, 1, 2, 1, 8), (pe_view){ 0 }, pe_positions_of(at, PE_F64, 1, 2, 1), NULL, &err));
    assert_true(y[0] == 3 / 10.0 && y[8 + 7] == 4.5 / 10.0);
}

/* Far apart in width: more than the plan keeps steps for. */
TEST(a_code_wider_than_the_plan_is_the_row_too)
{
    enum { C = 1 << 17, T = 3 };
    float *y = take(T * C, sizeof *y);
    pe_encoding *e = encoding_of("sinusoidal", (pe_shape){ 1, 0, 2, C });
    assert_ok(pe_embed(e, pe_view_of(y, PE_F32, 1, T, 1, C), (pe_view){ 0 }, pe_positions_run(1, T, 1000), NULL, &err));
    for (int t = 0; t < T; t++)
        for (int64_t c = 0; c < C; c += 1 + c / 100) {
            double at = 1000 + t;
            assert_true(y[t * C + c] == (float)code_of(&e->part[0], (pe_params){ 0 }, &at, c));
        }
}

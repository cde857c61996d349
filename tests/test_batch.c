/* labels: core; needs: threads; timeout: 600
 * SPDX-License-Identifier: MIT
 *
 * A batch is its sequences one by one, to the bit: turned, embedded, shifted, attended and differentiated; however its
 * views lie in memory, in whatever type its positions are, padded, packed or in pages, and whoever does the work. And
 * masks, which are a matter of a batch too: shapes that spread, where a query stands, what it sees beyond its window.
 */
#include "common.h"
#include "base/num.h"

enum { B = 3, H = 4, G = 2 };

static char what[240]; /* the case at hand, for messages */
#define CASE(...) snprintf(what, sizeof what, __VA_ARGS__)

/* ------------------------------------------------ memory of a test, given back at its end */

static void *taken[1 << 16];
static int taken_count;
static pe_encoding *made[64];
static int made_count;

static void *take(int64_t count, size_t size)
{
    void *p = calloc(count > 0 ? (size_t)count : 1, size);
    if (!p || taken_count == COUNT(taken))
        fail_msg("no memory");
    return taken[taken_count++] = p;
}

/* Of a test, made once for each spec. */
static pe_encoding *encoding(const char *spec, int64_t dim)
{
    static const char *spec_of[COUNT(made)];
    for (int i = 0; i < made_count; i++)
        if (spec_of[i] == spec && pe_encoding_shape(made[i]).head_dim == dim)
            return made[i];
    assert_true(made_count < COUNT(made));
    spec_of[made_count] = spec;
    return made[made_count++] = test_encoding(spec, (pe_shape){ H, G, dim, 16 });
}

static int give_back(void **state)
{
    (void)state;
    while (taken_count)
        free(taken[--taken_count]);
    while (made_count)
        pe_encoding_free(made[--made_count]);
    return 0;
}

/* What a case took beyond this mark. */
static void give_back_to(int mark)
{
    while (taken_count > mark)
        free(taken[--taken_count]);
}

/* ------------------------------------------------ views */

static int64_t bytes(pe_dtype type, int64_t elements)
{
    return type == PE_Q8_0   ? elements / 32 * 34
           : type == PE_Q4_0 ? elements / 32 * 18
                             : elements * (int64_t)pe_dtype_size(type);
}

static char *row(pe_view v, int64_t b, int64_t t, int64_t h)
{
    return (char *)v.data + bytes(v.dtype, b * v.batch_stride + t * v.token_stride + h * v.head_stride);
}

static double get(pe_view v, int64_t b, int64_t t, int64_t h, int64_t d)
{
    return num_load(row(v, b, t, h), v.dtype, d);
}

static pe_view fresh(pe_dtype type, int64_t batch, int64_t tokens, int64_t heads, int64_t dim)
{
    return pe_view_of(take(bytes(type, batch * tokens * heads * dim), 1), type, batch, tokens, heads, dim);
}

typedef void each_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with);

static void each(pe_view v, each_row *f, void *with)
{
    for (int64_t b = 0; b < v.batch; b++)
        for (int64_t t = 0; t < v.tokens; t++)
            for (int64_t h = 0; h < v.heads; h++)
                f(v, b, t, h, with);
}

/* Numbers from -1 to 1; of blocks any codes, and scales that keep them below 1/2. */
static void draw_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    uint64_t *seed = with;
    unsigned char *at = (unsigned char *)row(v, b, t, h);
    int64_t block = bytes(v.dtype, 32), size = bytes(v.dtype, v.dim);
    if (v.dtype != PE_Q8_0 && v.dtype != PE_Q4_0) {
        for (int64_t d = 0; d < v.dim; d++)
            num_store(at, v.dtype, d, test_uniform(seed));
        return;
    }
    for (int64_t n = 0; n < size; n++)
        at[n] = n % block == 0   ? 0
                : n % block == 1 ? (v.dtype == PE_Q8_0 ? 0x1c : 0x2c)
                                 : (unsigned char)test_random(seed);
}

static pe_view drawn(pe_dtype type, int64_t batch, int64_t tokens, int64_t heads, int64_t dim, uint64_t *seed)
{
    pe_view v = fresh(type, batch, tokens, heads, dim);
    each(v, draw_row, seed);
    return v;
}

static void set_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    memset(row(v, b, t, h), *(int *)with, (size_t)bytes(v.dtype, v.dim));
}

/* Every byte 0xff: NaN, in every type of numbers. */
static void spoil(pe_view v)
{
    each(v, set_row, &(int){ 0xff });
}

static void copy_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    memcpy(row(v, b, t, h), row(*(pe_view *)with, b, t, h), (size_t)bytes(v.dtype, v.dim));
}

static void copy(pe_view to, pe_view from)
{
    each(to, copy_row, &from);
}

static pe_view copied(pe_view v)
{
    pe_view to = fresh(v.dtype, v.batch, v.tokens, v.heads, v.dim);
    copy(to, v);
    return to;
}

/* Tokens first .. first + count - 1 of one sequence. */
static pe_view cut(pe_view v, int64_t b, int64_t first, int64_t count)
{
    if (!v.data)
        return v;
    v.data = row(v, b, first, 0);
    v.batch = 1;
    v.tokens = count;
    return v;
}

static pe_view sequence(pe_view v, int64_t b)
{
    return cut(v, b, 0, v.tokens);
}

static const char *name_of_pair; /* what is compared */

static void same_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    const pe_view *other = with;
    if (memcmp(row(v, b, t, h), row(*other, b, t, h), (size_t)bytes(v.dtype, v.dim)))
        fail_msg("%s: %s of sequence %d, token %d, head %d has other bits", what, name_of_pair, (int)b, (int)t, (int)h);
}

static void same(const char *name, pe_view x, pe_view y)
{
    name_of_pair = name;
    assert_true(x.batch == y.batch && x.tokens == y.tokens && x.heads == y.heads && x.dim == y.dim &&
                x.dtype == y.dtype);
    if (x.data || y.data)
        each(x, same_row, &y);
}

typedef struct nearness {
    pe_view other;
    double most;
} nearness;

static void near_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    const nearness *n = with;
    for (int64_t d = 0; d < v.dim; d++) {
        double x = get(v, b, t, h, d), y = get(n->other, b, t, h, d);
        if (x != y && !(fabs(x - y) <= n->most * fmax(1, fabs(y))))
            fail_msg("%s: %s of sequence %d, token %d, head %d, element %d is %.9g, should be %.9g", what, name_of_pair,
                     (int)b, (int)t, (int)h, (int)d, x, y);
    }
}

static void near(const char *name, pe_view x, pe_view y, double most)
{
    name_of_pair = name;
    assert_true(x.batch == y.batch && x.tokens == y.tokens && x.heads == y.heads && x.dim == y.dim);
    if (x.data || y.data)
        each(x, near_row, &(nearness){ y, most });
}

static void all_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    for (int64_t d = 0; d < v.dim; d++)
        if (get(v, b, t, h, d) != *(double *)with)
            fail_msg("%s: %s of token %d, head %d, element %d is %g, should be %g", what, name_of_pair, (int)t, (int)h,
                     (int)d, get(v, b, t, h, d), *(double *)with);
}

static void all_are(const char *name, pe_view v, double x)
{
    name_of_pair = name;
    if (v.data)
        each(v, all_row, &x);
}

/* ------------------------------------------------ other places in memory for the same numbers */

/* The innermost axis first: 0 sequences, 1 tokens, 2 heads. The first is how pe_view_of lays them out. */
static const int orders[][3] = { { 2, 1, 0 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 1, 0, 2 }, { 0, 1, 2 } };

static pe_view laid(pe_view from, const int order[3])
{
    const int64_t gap = from.dtype == PE_Q8_0 || from.dtype == PE_Q4_0 ? 32 : 3;
    const int64_t count[3] = { from.batch, from.tokens, from.heads };
    int64_t stride[3], line = from.dim + gap;
    if (!from.data)
        return from;
    for (int n = 0; n < 3; n++) {
        stride[order[n]] = line;
        line = line * count[order[n]] + gap;
    }
    pe_view v = from;
    v.data = take(bytes(v.dtype, line), 1);
    v.batch_stride = stride[0], v.token_stride = stride[1], v.head_stride = stride[2];
    copy(v, from);
    return v;
}

enum { SEQUENCES = 1, TOKENS = 2, HEADS = 4 };

/* These axes walked from their end. */
static pe_view backwards(pe_view from, unsigned axes)
{
    if (!from.data)
        return from;
    pe_view v = fresh(from.dtype, from.batch, from.tokens, from.heads, from.dim);
    v.data =
        row(v, axes & SEQUENCES ? v.batch - 1 : 0, axes & TOKENS ? v.tokens - 1 : 0, axes & HEADS ? v.heads - 1 : 0);
    v.batch_stride *= axes & SEQUENCES ? -1 : 1;
    v.token_stride *= axes & TOKENS ? -1 : 1;
    v.head_stride *= axes & HEADS ? -1 : 1;
    copy(v, from);
    return v;
}

/* One sequence, token or head stands for all along these axes; and the same written out. */
static pe_view repeating(pe_view v, unsigned axes)
{
    v.batch_stride *= axes & SEQUENCES ? 0 : 1;
    v.token_stride *= axes & TOKENS ? 0 : 1;
    v.head_stride *= axes & HEADS ? 0 : 1;
    return v;
}

/* ------------------------------------------------ positions */

static int64_t *whole_numbers(int64_t count, int64_t low, int64_t high, uint64_t *seed)
{
    int64_t *at = take(count, sizeof *at);
    for (int64_t n = 0; n < count; n++)
        at[n] = test_range(seed, low, high);
    return at;
}

static pe_positions cut_at(pe_positions p, int64_t b, int64_t first, int64_t count)
{
    int64_t size = p.dtype == PE_I32 ? 4 : 8;
    if (p.data)
        p.data = (const char *)p.data + (b * p.batch_stride + first * p.token_stride) * size;
    p.start += first * p.step;
    p.batch = 1;
    p.tokens = count;
    return p;
}

static pe_positions sequence_at(pe_positions p, int64_t b)
{
    return cut_at(p, b, 0, p.tokens);
}

/* ------------------------------------------------ a batch of turns, tables, codes */

typedef pe_status turn_call(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *, pe_error *);
static turn_call *const turns[] = { pe_rotate, pe_unrotate, pe_rotate_back };
static const pe_dtype floats[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
static const char *const rotations[] = {
    "rope",
    "rope:pairs=adjacent-half,dims=48,range=trailing,magnitude=1.25,turn=qkvo",
    "xpos",
    "rope:sections=8/12/12",
    "alibi",
    "rope:temperature=0.1,floor=16,precision=hf",
    "rope:learned=heads,pairs=adjacent",
};
enum { WIDE = 64, TURNED = 150 /* tokens: more than one job has */ };

/* A run with parameters, where there are some. */
static pe_run trained(const pe_encoding *e)
{
    pe_error err = { 0 };
    int64_t count = pe_encoding_param_count(e);
    pe_params w = { count ? take(count, 8) : NULL, PE_F64, count };
    assert_ok(pe_encoding_init(e, w, 1, &err));
    return PE_MAKE(pe_run, .params = w);
}

static void a_batch_turns_as_its_sequences(void **state)
{
    (void)state;
    uint64_t seed = 1;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(rotations) * COUNT(floats) * COUNT(turns); n++) {
        pe_dtype type = floats[n / COUNT(turns) % COUNT(floats)];
        turn_call *call = turns[n % COUNT(turns)];
        pe_side side = (pe_side)(n % 4);
        int mark = taken_count;
        pe_encoding *e = encoding(rotations[n / COUNT(turns) / COUNT(floats)], WIDE);
        pe_run run = trained(e);
        int64_t axes = pe_encoding_axes(e);
        pe_positions at = pe_positions_of(whole_numbers(B * TURNED * axes, -100, 300, &seed), PE_I64, B, TURNED, axes);
        pe_view x = drawn(type, B, TURNED, H, WIDE, &seed), y = fresh(type, B, TURNED, H, WIDE);
        CASE("%s, call %d, type %d, side %d", pe_encoding_spec(e), n % COUNT(turns), (int)type, (int)side);
        spoil(y);
        assert_ok(call(e, side, y, x, at, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view one = fresh(type, 1, TURNED, H, WIDE);
            assert_ok(call(e, side, one, sequence(x, b), sequence_at(at, b), &run, &err));
            same("y", sequence(y, b), one);
        }
        assert_ok(call(e, side, x, x, at, &run, &err)); /* in place */
        same("y in place", x, y);
        give_back_to(mark);
    }
}

/* Tables have a row of cosines for each of these: a key head, where it has frequencies of its own. */
static int64_t sets_of(const pe_encoding *e)
{
    return strstr(pe_encoding_spec(e), "learned=heads") ? G : 1;
}

static void a_batch_of_tables_is_a_table_for_each_sequence(void **state)
{
    (void)state;
    uint64_t seed = 2;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(rotations) * COUNT(floats); n++) {
        pe_dtype type = floats[n % COUNT(floats)];
        pe_encoding *e = encoding(rotations[n / COUNT(floats)], WIDE);
        int64_t axes = pe_encoding_axes(e), P = pe_encoding_pair_count(e);
        int64_t sets = sets_of(e);
        pe_run run = trained(e);
        if (!P)
            continue;
        CASE("%s, type %d", pe_encoding_spec(e), (int)type);
        pe_positions at = pe_positions_of(whole_numbers(B * TURNED * axes, -100, 300, &seed), PE_I64, B, TURNED, axes);
        pe_view c = fresh(type, B, TURNED, sets, P), s = fresh(type, B, TURNED, sets, P);
        assert_ok(pe_rotate_table(e, PE_QUERY, c, s, at, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view c1 = fresh(type, 1, TURNED, sets, P), s1 = fresh(type, 1, TURNED, sets, P);
            assert_ok(pe_rotate_table(e, PE_QUERY, c1, s1, sequence_at(at, b), &run, &err));
            same("cos", sequence(c, b), c1);
            same("sin", sequence(s, b), s1);
        }
    }
}

/* The tables of a call: none, one row per token, or rows of a cache by position that all sequences share. */
static pe_table table_of(const pe_encoding *e, pe_side side, int way, pe_positions at, const int64_t *row_of,
                         const pe_run *run)
{
    pe_error err = { 0 };
    enum { ROWS = 400 };
    int64_t P = pe_encoding_pair_count(e);
    if (!way)
        return (pe_table){ .row = NULL };
    pe_table t = { fresh(PE_F32, way == 1 ? B : 1, way == 1 ? TURNED : ROWS, sets_of(e), P),
                   fresh(PE_F32, way == 1 ? B : 1, way == 1 ? TURNED : ROWS, sets_of(e), P), way == 1 ? NULL : row_of };
    assert_ok(pe_rotate_table(e, side, t.cosine, t.sine, way == 1 ? at : pe_positions_run(1, ROWS, 0), run, &err));
    return t;
}

static pe_table table_for(pe_table t, int64_t b)
{
    bool shared = t.cosine.batch == 1;
    t.cosine = t.cosine.data && !shared ? sequence(t.cosine, b) : t.cosine;
    t.sine = t.sine.data && !shared ? sequence(t.sine, b) : t.sine;
    t.row = t.row ? t.row + b * TURNED : NULL;
    return t;
}

static void a_batch_of_queries_and_keys_turns_as_its_sequences(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "rope",
        "xpos:centre=150",
        "rope:pairs=adjacent,dims=32,temperature=0.1,floor=16",
        "rope:learned=heads",
    };
    uint64_t seed = 3;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs) * 3; n++) {
        pe_encoding *e = encoding(specs[n / 3], WIDE);
        pe_run run = trained(e);
        const int64_t *row_of = whole_numbers(B * TURNED, 0, 399, &seed);
        pe_positions at = pe_positions_of(row_of, PE_I64, B, TURNED, 1);
        pe_rotation r = PE_MAKE(pe_rotation, .q = drawn(PE_F32, B, TURNED, H, WIDE, &seed),
                                .k = drawn(PE_F32, B, TURNED, G, WIDE, &seed),
                                .q_out = fresh(PE_F32, B, TURNED, H, WIDE), .k_out = fresh(PE_F32, B, TURNED, G, WIDE),
                                .at = at, .q_table = table_of(e, PE_QUERY, n % 3, at, row_of, &run),
                                .k_table = table_of(e, PE_KEY, n % 3, at, row_of, &run));
        CASE("%s, tables %d", specs[n / 3], n % 3);
        assert_ok(pe_rotate_qk(e, &r, &run, &err));
        pe_view plain = fresh(PE_F32, B, TURNED, H, WIDE);
        assert_ok(pe_rotate(e, PE_QUERY, plain, r.q, at, &run, &err));
        same("q by a table", r.q_out, plain);
        for (int64_t b = 0; b < B; b++) {
            pe_rotation one = r;
            one.q = sequence(r.q, b), one.k = sequence(r.k, b), one.at = sequence_at(at, b);
            one.q_out = fresh(PE_F32, 1, TURNED, H, WIDE), one.k_out = fresh(PE_F32, 1, TURNED, G, WIDE);
            one.q_table = table_for(r.q_table, b), one.k_table = table_for(r.k_table, b);
            assert_ok(pe_rotate_qk(e, &one, &run, &err));
            same("q", sequence(r.q_out, b), one.q_out);
            same("k", sequence(r.k_out, b), one.k_out);
        }
    }
}

/* Gradients of frequencies that are trained are added up, sequence by sequence. */
static void gradients_of_frequencies_are_added_up(void **state)
{
    (void)state;
    static const char *const trains[] = { "rope:learned=heads", "rope:learned=shared,dims=32",
                                          "rope:axes=2,learned=heads" };
    uint64_t seed = 32;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(trains) * 2; n++) {
        pe_encoding *e = encoding(trains[n / 2], WIDE);
        pe_run run = trained(e);
        int64_t axes = pe_encoding_axes(e), count = run.params.count, heads = n % 2 ? G : H;
        pe_params dw = { take(count, 8), PE_F64, count }, dw1 = { take(count, 8), PE_F64, count };
        pe_positions at = pe_positions_of(whole_numbers(B * TURNED * axes, -100, 300, &seed), PE_I64, B, TURNED, axes);
        pe_view x = drawn(PE_F32, B, TURNED, heads, WIDE, &seed), dy = drawn(PE_F32, B, TURNED, heads, WIDE, &seed);
        pe_side side = n % 2 ? PE_KEY : PE_QUERY;
        assert_true(count > 0);
        assert_ok(pe_rotate_grad(e, dw, side, laid(dy, orders[1 + n % 5]), x, at, &run, &err));
        for (int64_t b = 0; b < B; b++)
            assert_ok(pe_rotate_grad(e, dw1, side, sequence(dy, b), sequence(x, b), sequence_at(at, b), &run, &err));
        assert_memory_equal(dw.data, dw1.data, (size_t)count * 8);
        assert_true(((double *)dw.data)[0] != 0);
    }
}

static const char *const codes[] = { "sinusoidal", "learned:rows=512", "sinusoidal:join=concat,width=8",
                                     "hierarchical:rows=64", "learned:rows=32/32,merge=split" };

static void a_batch_is_embedded_as_its_sequences(void **state)
{
    (void)state;
    uint64_t seed = 4;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(codes) * 2; n++) {
        pe_dtype type = n % 2 ? PE_BF16 : PE_F32;
        pe_encoding *e = encoding(codes[n / 2], WIDE);
        int64_t count = pe_encoding_param_count(e), width = pe_embed_width(e, 16), axes = pe_encoding_axes(e);
        pe_params w = { take(count, 4), PE_F32, count }, dw = { take(count, 4), PE_F32, count },
                  dw1 = { take(count, 4), PE_F32, count };
        pe_run run = PE_MAKE(pe_run, .params = w);
        CASE("%s, type %d", codes[n / 2], (int)type);
        assert_ok(pe_encoding_init(e, w, 1, &err));
        pe_positions at = pe_positions_of(whole_numbers(B * TURNED * axes, 0, 31, &seed), PE_I64, B, TURNED, axes);
        pe_view x = drawn(type, B, TURNED, 1, 16, &seed), dx = fresh(type, B, TURNED, 1, 16);
        pe_view y = fresh(type, B, TURNED, 1, width), dy = drawn(type, B, TURNED, 1, width, &seed);
        assert_ok(pe_embed(e, y, x, at, &run, &err));
        assert_ok(pe_embed_back(e, dw, dx, dy, at, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view y1 = fresh(type, 1, TURNED, 1, width), dx1 = fresh(type, 1, TURNED, 1, 16);
            assert_ok(pe_embed(e, y1, sequence(x, b), sequence_at(at, b), &run, &err));
            assert_ok(pe_embed_back(e, dw1, dx1, sequence(dy, b), sequence_at(at, b), &run, &err));
            same("y", sequence(y, b), y1);
            same("dx", sequence(dx, b), dx1);
        }
        assert_memory_equal(dw.data, dw1.data, (size_t)count * 4);
    }
}

/* ------------------------------------------------ pages */

typedef struct paged {
    pe_view pool; /* (pages, size, heads, dim) */
    pe_pages pages;
} paged;

/* A table that sends every sequence's pages anywhere into a pool with two pages to spare. */
static pe_pages shuffled(int64_t batch, int64_t columns, uint64_t *seed)
{
    int64_t all = batch * columns + 2;
    int32_t *page = take(all, sizeof *page);
    for (int64_t n = 0; n < all; n++)
        page[n] = (int32_t)n;
    for (int64_t n = all - 1; n > 0; n--) {
        int64_t other = test_range(seed, 0, n);
        int32_t kept = page[n];
        page[n] = page[other];
        page[other] = kept;
    }
    return (pe_pages){ page, columns };
}

static pe_view page_row(const paged *p, int64_t b, int64_t t)
{
    int64_t size = p->pool.tokens;
    return cut(p->pool, p->pages.table[b * p->pages.columns + t / size], t % size, 1);
}

/* The same tokens in pages; what no token has is NaN. */
static paged in_pages(pe_view v, int64_t size, pe_pages pages)
{
    paged p = { fresh(v.dtype, v.batch * pages.columns + 2, size, v.heads, v.dim), pages };
    spoil(p.pool);
    for (int64_t b = 0; b < v.batch; b++)
        for (int64_t t = 0; t < v.tokens; t++)
            copy(page_row(&p, b, t), cut(v, b, t, 1));
    return p;
}

static int64_t columns_for(int64_t tokens, int64_t size)
{
    return (tokens + size - 1) / size;
}

static void a_batch_of_caches_is_shifted_as_its_sequences(void **state)
{
    (void)state;
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0, PE_Q4_0 };
    uint64_t seed = 5;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(rotations) * COUNT(types); n++) {
        pe_dtype type = types[n % COUNT(types)];
        pe_encoding *e = encoding(rotations[n / COUNT(types)], WIDE);
        int mark = taken_count;
        int64_t axes = pe_encoding_axes(e);
        pe_run run = trained(e);
        CASE("%s, type %d", rotations[n / COUNT(types)], (int)type);
        pe_positions from = pe_positions_of(whole_numbers(B * TURNED * axes, 0, 200, &seed), PE_I64, B, TURNED, axes);
        pe_positions to = pe_positions_of(whole_numbers(B * TURNED * axes, 0, 200, &seed), PE_I64, B, TURNED, axes);
        pe_view before = drawn(type, B, TURNED, G, WIDE, &seed), k = copied(before);
        paged p = in_pages(before, 16, shuffled(B, columns_for(TURNED, 16), &seed));
        assert_ok(pe_cache_shift(e, k, NULL, from, to, &run, &err));
        assert_ok(pe_cache_shift(e, p.pool, &p.pages, from, to, &run, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view one = copied(sequence(before, b));
            assert_ok(pe_cache_shift(e, one, NULL, sequence_at(from, b), sequence_at(to, b), &run, &err));
            same("k", sequence(k, b), one);
            for (int64_t t = 0; t < TURNED; t++)
                same("k in pages", page_row(&p, b, t), cut(one, 0, t, 1));
        }
        pe_view again = laid(before, orders[1 + n % 5]);
        assert_ok(pe_cache_shift(e, again, NULL, from, to, &run, &err));
        same("k in another order", again, k);
        give_back_to(mark);
    }
}

static void a_batch_of_caches_is_rebased_as_its_sequences(void **state)
{
    (void)state;
    static const pe_dtype types[] = { PE_F32, PE_Q8_0 };
    uint64_t seed = 6;
    pe_error err = { 0 };
    pe_encoding *to = encoding("rope:scaling=linear,factor=4", WIDE), *from = encoding("rope", WIDE);
    for (int n = 0; n < COUNT(types); n++) {
        CASE("type %d", (int)types[n]);
        pe_positions at = pe_positions_of(whole_numbers(B * TURNED, 0, 200, &seed), PE_I64, B, TURNED, 1);
        pe_view before = drawn(types[n], B, TURNED, G, WIDE, &seed), k = copied(before);
        paged p = in_pages(before, 5, shuffled(B, columns_for(TURNED, 5), &seed));
        assert_ok(pe_cache_rebase(to, from, k, NULL, at, NULL, &err));
        assert_ok(pe_cache_rebase(to, from, p.pool, &p.pages, at, NULL, &err));
        for (int64_t b = 0; b < B; b++) {
            pe_view one = copied(sequence(before, b));
            assert_ok(pe_cache_rebase(to, from, one, NULL, sequence_at(at, b), NULL, &err));
            same("k", sequence(k, b), one);
            for (int64_t t = 0; t < TURNED; t++)
                same("k in pages", page_row(&p, b, t), cut(one, 0, t, 1));
        }
    }
}

/* ------------------------------------------------ a batch of attention */

enum { DIM = 32 };

/* Every way for position to enter. */
static const char *const specs[] = {
    "none",
    "rope",
    "rope:turn=qkvo",
    "alibi:slopes=learned",
    "t5",
    "kerple",
    "shaw",
    "fire:hidden=4",
    "deberta:buckets=8,max=32",
    "cope:positions=32",
    "rope+t5",
    "xpos",
    "transformer-xl:back=400,ahead=400",
    "rope:learned=heads",
};

typedef struct problem {
    pe_encoding *e;
    bool fused; /* else the definition */
    const pe_pool *pool;
    pe_params params;
    pe_attention a;
    pe_attention_grad g;
} problem;

/* Outputs and gradients of its own, spoiled where they are written, 0 where they are added to. */
static void give_outputs(problem *p)
{
    pe_view q = p->a.q, k = p->a.k, v = p->a.v, *written[] = { &p->a.out, &p->a.lse, &p->g.dq, &p->g.dk, &p->g.dv };
    p->a.out = fresh(PE_F32, q.batch, q.tokens, H, v.dim);
    p->a.lse = fresh(PE_F32, q.batch, q.tokens, H, 1);
    p->g.dq = fresh(PE_F32, q.batch, q.tokens, H, q.dim);
    p->g.dk = fresh(PE_F32, k.batch, k.tokens, G, k.dim);
    p->g.dv = fresh(PE_F32, v.batch, v.tokens, G, v.dim);
    for (int i = 0; i < COUNT(written); i++)
        spoil(*written[i]);
}

static void give_sums(problem *p)
{
    p->g.dparams = (pe_params){ take(p->params.count, 8), PE_F64, p->params.count };
    p->g.dsinks = (pe_params){ take(H, 8), PE_F64, H };
    if (!p->params.count)
        p->g.dparams = (pe_params){ 0 };
}

/* Keys that count up, each sequence from a place of its own; the last query stands at the last key. */
static void give_places(problem *p)
{
    int64_t Tq = p->a.q.tokens, Tk = p->a.k.tokens, batch = p->a.q.batch;
    int64_t *q = take(batch * Tq, 8), *k = take(batch * Tk, 8);
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t j = 0; j < Tk; j++)
            k[b * Tk + j] = 7 * b + j;
        for (int64_t i = 0; i < Tq; i++)
            q[b * Tq + i] = 7 * b + i + Tk - Tq;
    }
    p->a.q_at = pe_positions_of(q, PE_I64, batch, Tq, 1);
    p->a.k_at = pe_positions_of(k, PE_I64, batch, Tk, 1);
}

static problem problem_of(const char *spec, bool fused, pe_dtype type, int64_t batch, int64_t Tq, int64_t Tk,
                          uint64_t *seed)
{
    pe_error err = { 0 };
    problem p = { .e = encoding(spec, DIM), .fused = fused, .a.size = sizeof p.a, .g.size = sizeof p.g };
    int64_t count = pe_encoding_param_count(p.e);
    double *w = take(count, sizeof *w), *sinks = take(H, sizeof *sinks);
    p.params = (pe_params){ count ? w : NULL, PE_F64, count };
    assert_ok(pe_encoding_init(p.e, p.params, test_random(seed), &err));
    for (int64_t n = 0; n < H; n++)
        sinks[n] = (float)test_uniform(seed);
    p.a.q = drawn(type == PE_Q8_0 || type == PE_Q4_0 ? PE_F32 : type, batch, Tq, H, DIM, seed);
    p.a.k = drawn(type, batch, Tk, G, DIM, seed);
    p.a.v = drawn(type, batch, Tk, G, DIM, seed);
    p.a.sinks = (pe_params){ sinks, PE_F64, H };
    p.a.mask.causal = true;
    p.g.dout = drawn(PE_F32, batch, Tq, H, DIM, seed);
    give_places(&p);
    give_outputs(&p);
    give_sums(&p);
    CASE("%s, %s, type %d, %d queries, %d keys", spec, fused ? "fused" : "by definition", (int)type, (int)Tq, (int)Tk);
    return p;
}

/* The call, with work memory of NaN that ends where it says it does. */
static void attend(const problem *p, bool backward)
{
    pe_error err = { 0 };
    size_t size = 0;
    pe_run run = PE_MAKE(pe_run, .params = p->params, .pool = p->pool);
    if (!p->fused)
        assert_ok(pe_reference_work(p->e, &p->a, &size, &err));
    else if (backward)
        assert_ok(pe_attention_backward_work(p->e, &p->a, &run, &size, &err));
    else
        assert_ok(pe_attention_work(p->e, &p->a, &run, &size, &err));
    run.work = malloc(size ? size : 1);
    run.work_bytes = size;
    assert_non_null(run.work);
    memset(run.work, 0xff, size);
    pe_status status = !p->fused  ? (backward ? pe_reference_backward(p->e, &p->a, &p->g, &run, &err)
                                              : pe_reference_forward(p->e, &p->a, &run, &err))
                       : backward ? pe_attention_backward(p->e, &p->a, &p->g, &run, &err)
                                  : pe_attention_forward(p->e, &p->a, &run, &err);
    free(run.work);
    if (status)
        fail_msg("%s: %s: %s", what, backward ? "backward" : "forward", err.text);
}

static void attend_both(const problem *p)
{
    attend(p, false);
    attend(p, true);
}

/* Which tokens of a view are those of sequence s, as the header says. */
typedef struct stretch {
    int64_t b, first, count;
} stretch;

static stretch stretch_of(const pe_lengths *l, int64_t s, int64_t tokens)
{
    int64_t count = l->offset ? l->offset[s + 1] - l->offset[s] : l->length ? l->length[s] : tokens;
    return (stretch){ l->offset ? 0 : s, l->offset ? l->offset[s] : l->padded_left ? tokens - count : 0, count };
}

static pe_view cut_mask(pe_view v, stretch q, stretch k)
{
    if (!v.data)
        return v;
    v = cut(v, v.batch == 1 ? 0 : q.b, v.tokens == 1 ? 0 : q.first, v.tokens == 1 ? 1 : q.count);
    v.data = (char *)v.data + bytes(v.dtype, k.first);
    v.dim = k.count;
    return v;
}

/* Of scores, which have a row for each. */
static pe_view cut_scores(pe_view v, stretch q, stretch k)
{
    v = cut(v, q.b, q.first, q.count);
    v.data = (char *)v.data + bytes(v.dtype, k.first);
    v.dim = k.count;
    return v;
}

static stretch queries_of(const problem *p, int64_t s)
{
    return stretch_of(&p->a.q_lengths, s, p->a.q.tokens);
}

static stretch keys_of(const problem *p, int64_t s)
{
    return stretch_of(&p->a.k_lengths, s, p->a.k.tokens);
}

/* Sequence s by itself, with outputs of its own; the sums go where they are told to go. */
static problem alone(const problem *p, int64_t s)
{
    problem one = *p;
    stretch q = queries_of(p, s), k = keys_of(p, s);
    one.a.q_lengths = one.a.k_lengths = (pe_lengths){ 0 };
    one.a.q = cut(p->a.q, q.b, q.first, q.count);
    one.a.k = cut(p->a.k, k.b, k.first, k.count);
    one.a.v = cut(p->a.v, k.b, k.first, k.count);
    one.a.q_at = cut_at(p->a.q_at, q.b, q.first, q.count);
    one.a.k_at = cut_at(p->a.k_at, k.b, k.first, k.count);
    one.a.mask.keep = cut_mask(p->a.mask.keep, q, k);
    one.a.mask.additive = cut_mask(p->a.mask.additive, q, k);
    one.g.dadditive = (pe_view){ 0 };
    one.g.dout = cut(p->g.dout, q.b, q.first, q.count);
    one.a.scores = one.a.probabilities = (pe_view){ 0 };
    give_outputs(&one);
    return one;
}

static void same_outputs(const problem *p, const problem *other)
{
    same("out", p->a.out, other->a.out);
    same("lse", p->a.lse, other->a.lse);
}

static void same_gradients(const problem *p, const problem *other)
{
    same("dq", p->g.dq, other->g.dq);
    same("dk", p->g.dk, other->g.dk);
    same("dv", p->g.dv, other->g.dv);
    if (p->params.count && memcmp(p->g.dparams.data, other->g.dparams.data, (size_t)p->params.count * 8))
        fail_msg("%s: dparams has other bits", what);
    if (memcmp(p->g.dsinks.data, other->g.dsinks.data, H * 8))
        fail_msg("%s: dsinks has other bits", what);
}

/* The batch against its sequences, all bits; sums of all sequences are added up one after the other. */
static void as_sequences(const problem *p, int64_t sequences)
{
    problem sums = *p;
    give_sums(&sums);
    attend_both(p);
    for (int64_t s = 0; s < sequences; s++) {
        stretch q = queries_of(p, s), k = keys_of(p, s);
        problem one = alone(p, s);
        one.g.dparams = sums.g.dparams, one.g.dsinks = sums.g.dsinks;
        attend_both(&one);
        same("out", cut(p->a.out, q.b, q.first, q.count), one.a.out);
        same("lse", cut(p->a.lse, q.b, q.first, q.count), one.a.lse);
        same("dq", cut(p->g.dq, q.b, q.first, q.count), one.g.dq);
        same("dk", cut(p->g.dk, k.b, k.first, k.count), one.g.dk);
        same("dv", cut(p->g.dv, k.b, k.first, k.count), one.g.dv);
    }
    if (p->params.count && memcmp(p->g.dparams.data, sums.g.dparams.data, (size_t)p->params.count * 8))
        fail_msg("%s: dparams has other bits than the sequences' added up", what);
    if (memcmp(p->g.dsinks.data, sums.g.dsinks.data, H * 8))
        fail_msg("%s: dsinks has other bits than the sequences' added up", what);
}

static const struct {
    int64_t Tq, Tk;
} sizes[] = { { 5, 9 }, { 1, 150 }, { 70, 140 }, { 12, 12 } };

static void attention_of_a_batch_is_that_of_its_sequences(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int n = 0; n < COUNT(specs) * COUNT(sizes) * 2; n++) {
        int mark = taken_count, size = n / 2 % COUNT(sizes);
        if (!test_turn(n / 2 + n / 2 / COUNT(sizes), 2))
            continue;
        problem p = problem_of(specs[n / 2 / COUNT(sizes)], n % 2, PE_F32, B, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.soft_cap = size == 0 ? 2 : 0;
        p.a.mask.window = size == 3 ? 5 : 0;
        as_sequences(&p, B);
        give_back_to(mark);
    }
}

static void half_precision_in_a_batch_is_that_of_its_sequences(void **state)
{
    (void)state;
    static const pe_dtype types[] = { PE_F16, PE_BF16 };
    uint64_t seed = 8;
    for (int n = 0; n < 2 * COUNT(types) * COUNT(sizes); n++) {
        int size = n / 2 / COUNT(types);
        problem p = problem_of("rope+t5", n % 2, types[n / 2 % COUNT(types)], B, sizes[size].Tq, sizes[size].Tk, &seed);
        as_sequences(&p, B);
    }
}

/* ------------------------------------------------ any order, any direction */

static void axes_may_lie_in_any_order(void **state)
{
    (void)state;
    static const char *const some[] = { "rope", "cope:positions=32", "rope:turn=qkvo", "shaw" };
    uint64_t seed = 9;
    for (int n = 0; n < COUNT(some) * COUNT(orders) * 4; n++) {
        int mark = taken_count, size = n / 2 % 2;
        const int *order = orders[n / 4 % COUNT(orders)];
        problem p = problem_of(some[n / 4 / COUNT(orders)], n % 2, PE_F32, B, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.mask.additive = drawn(PE_F32, B, sizes[size].Tq, H, sizes[size].Tk, &seed);
        p.g.dadditive = fresh(PE_F32, B, sizes[size].Tq, H, sizes[size].Tk);
        problem other = p;
        give_outputs(&other);
        give_sums(&other);
        other.g.dadditive = fresh(PE_F32, B, sizes[size].Tq, H, sizes[size].Tk);
        pe_view *views[] = { &other.a.q,        &other.a.k,  &other.a.v,  &other.a.out, &other.a.lse,
                             &other.g.dout,     &other.g.dq, &other.g.dk, &other.g.dv,  &other.a.mask.additive,
                             &other.g.dadditive };
        for (int i = 0; i < COUNT(views); i++)
            *views[i] = laid(*views[i], i % 3 ? order : orders[(n + i) % COUNT(orders)]);
        attend_both(&p);
        attend_both(&other);
        same_outputs(&other, &p);
        same_gradients(&other, &p);
        same("dadditive", other.g.dadditive, p.g.dadditive);
        give_back_to(mark);
    }
}

static void turns_and_codes_take_axes_in_any_order(void **state)
{
    (void)state;
    uint64_t seed = 10;
    pe_error err = { 0 };
    pe_encoding *e = encoding("rope:pairs=adjacent,dims=48", WIDE), *code = encoding("sinusoidal", WIDE);
    for (int n = 0; n < COUNT(orders) * COUNT(orders) * COUNT(floats); n++) {
        int mark = taken_count;
        pe_dtype type = floats[n % COUNT(floats)];
        const int *from = orders[n / COUNT(floats) % COUNT(orders)], *to = orders[n / COUNT(floats) / COUNT(orders)];
        pe_positions at = pe_positions_of(whole_numbers(B * 20, 0, 300, &seed), PE_I64, B, 20, 1);
        pe_view x = drawn(type, B, 20, H, WIDE, &seed), y = fresh(type, B, 20, H, WIDE), other = laid(y, to);
        CASE("type %d, order %d to %d", (int)type, n / COUNT(floats) % COUNT(orders),
             n / COUNT(floats) / COUNT(orders));
        assert_ok(pe_rotate(e, PE_KEY, y, x, at, NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, other, laid(x, from), at, NULL, &err));
        same("turned", other, y);
        x = drawn(type, B, 20, 1, 16, &seed), y = fresh(type, B, 20, 1, 16), other = laid(y, to);
        assert_ok(pe_embed(code, y, x, at, NULL, &err));
        assert_ok(pe_embed(code, other, laid(x, from), at, NULL, &err));
        same("embedded", other, y);
        give_back_to(mark);
    }
}

static void inputs_may_be_walked_backwards(void **state)
{
    (void)state;
    static const char *const some[] = { "rope", "t5", "cope:positions=32" };
    uint64_t seed = 11;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(some) * 8 * 4; n++) {
        int mark = taken_count, size = n / 2 % 2;
        unsigned axes = (unsigned)(n / 4 % 8);
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk;
        problem p = problem_of(some[n / 4 / 8], n % 2, PE_F32, B, Tq, Tk, &seed);
        p.a.mask.additive = drawn(PE_F32, B, Tq, H, Tk, &seed);
        p.a.mask.keep = pe_view_of(take(B * Tq * H * Tk, 1), PE_BOOL, B, Tq, H, Tk);
        for (int64_t i = 0; i < B * Tq * H * Tk; i++)
            ((uint8_t *)p.a.mask.keep.data)[i] = test_range(&seed, 0, 4) != 0;
        problem other = p;
        give_outputs(&other);
        give_sums(&other);
        pe_view *views[] = { &other.a.q,         &other.a.k,   &other.a.v, &other.a.mask.additive,
                             &other.a.mask.keep, &other.g.dout };
        for (int i = 0; i < COUNT(views); i++)
            *views[i] = backwards(*views[i], axes);
        pe_positions *at = &other.a.k_at; /* from their last number back */
        int64_t *reversed = take(B * Tk, 8);
        for (int64_t i = 0; i < B * Tk; i++)
            reversed[B * Tk - 1 - i] = ((const int64_t *)at->data)[i];
        at->data = reversed + B * Tk - 1;
        at->batch_stride *= -1, at->token_stride *= -1, at->axis_stride *= -1;
        attend_both(&p);
        attend(&other, false);
        same_outputs(&other, &p);
        other.a.out = backwards(other.a.out, axes); /* what the gradient reads */
        other.a.lse = backwards(other.a.lse, axes);
        attend(&other, true);
        same_gradients(&other, &p);
        pe_view x = drawn(PE_F16, B, 9, H, DIM, &seed),
                y[2] = { fresh(PE_F16, B, 9, H, DIM), fresh(PE_F16, B, 9, H, DIM) };
        for (int i = 0; i < 2; i++)
            assert_ok(
                pe_rotate(p.e, PE_QUERY, y[i], i ? backwards(x, axes) : x, pe_positions_run(B, 9, 5), NULL, &err));
        same("turned", y[1], y[0]);
        give_back_to(mark);
    }
}

static void a_stride_of_0_repeats_an_input(void **state)
{
    (void)state;
    uint64_t seed = 12;
    pe_error err = { 0 };
    for (int n = 0; n < 8 * 4; n++) {
        int mark = taken_count, size = n / 2 % 2;
        unsigned axes = (unsigned)(n / 4 % 8);
        problem p = problem_of("rope+alibi:slopes=learned", n % 2, PE_F32, B, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.mask.additive = drawn(PE_F32, B, sizes[size].Tq, H, sizes[size].Tk, &seed);
        pe_view *views[] = { &p.a.q, &p.a.k, &p.a.v, &p.a.mask.additive, &p.g.dout };
        for (int i = 0; i < COUNT(views); i++)
            *views[i] = repeating(*views[i], axes);
        problem other = p; /* written out */
        give_outputs(&other);
        give_sums(&other);
        pe_view *same_views[] = { &other.a.q, &other.a.k, &other.a.v, &other.a.mask.additive, &other.g.dout };
        for (int i = 0; i < COUNT(same_views); i++)
            *same_views[i] = copied(*same_views[i]);
        attend_both(&p);
        attend_both(&other);
        same_outputs(&p, &other);
        same_gradients(&p, &other);
        pe_view x = repeating(drawn(PE_BF16, B, 9, H, DIM, &seed), axes),
                y[2] = { fresh(PE_BF16, B, 9, H, DIM), fresh(PE_BF16, B, 9, H, DIM) };
        for (int i = 0; i < 2; i++)
            assert_ok(pe_rotate(p.e, PE_KEY, y[i], i ? copied(x) : x, pe_positions_run(B, 9, 5), NULL, &err));
        same("turned", y[0], y[1]);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ outputs go forward, once over each element */

static pe_status wrong_output(int n, problem *p, pe_encoding *code, unsigned axes, bool repeat, pe_error *err)
{
    pe_positions at = pe_positions_run(B, 5, 0);
    pe_view x = fresh(PE_F32, B, 5, H, DIM), y = fresh(PE_F32, B, 5, H, DIM), c = fresh(PE_F32, B, 5, 1, DIM / 2),
            s = fresh(PE_F32, B, 5, 1, DIM / 2), e = fresh(PE_F32, B, 5, 1, 16), e_x = fresh(PE_F32, B, 5, 1, 16);
    pe_view *all[] = { &y,
                       &c,
                       &s,
                       &e,
                       &y,
                       &p->a.out,
                       &p->a.lse,
                       &p->a.scores,
                       &p->a.probabilities,
                       &p->g.dq,
                       &p->g.dk,
                       &p->g.dv,
                       &p->g.dadditive };
    *all[n] = repeat ? repeating(*all[n], axes) : backwards(*all[n], axes);
    pe_run run = PE_MAKE(pe_run, .params = p->params, .work = take(1 << 22, 1), .work_bytes = 1 << 22);
    return n == 0   ? pe_rotate(p->e, PE_QUERY, y, x, at, NULL, err)
           : n <= 2 ? pe_rotate_table(p->e, PE_QUERY, c, s, at, NULL, err)
           : n == 3 ? pe_embed(code, e, e_x, at, NULL, err)
           : n == 4 ? pe_cache_shift(p->e, y, NULL, at, pe_positions_run(B, 5, 3), NULL, err)
           : n <= 8 ? (p->fused ? pe_attention_forward : pe_reference_forward)(p->e, &p->a, &run, err)
                    : (p->fused ? pe_attention_backward : pe_reference_backward)(p->e, &p->a, &p->g, &run, err);
}

static void an_output_is_not_repeated_and_not_walked_backwards(void **state)
{
    (void)state;
    enum { OUTPUTS = 13 };
    uint64_t seed = 13;
    pe_encoding *code = encoding("sinusoidal", DIM);
    for (int fused = 0; fused < 2; fused++)
        for (int n = 0; n < OUTPUTS; n++)
            for (int how = 0; how < 7; how++) {
                int mark = taken_count;
                static const unsigned axes[] = { 0, SEQUENCES, TOKENS, HEADS, SEQUENCES, TOKENS, HEADS };
                bool narrow = n >= 1 && n <= 3 && axes[how] == HEADS; /* one head: its stride is not used */
                pe_error err = { 0 };
                problem p = problem_of("rope", fused, PE_F32, B, 5, 9, &seed);
                p.a.mask.additive = drawn(PE_F32, B, 5, H, 9, &seed);
                p.g.dadditive = fresh(PE_F32, B, 5, H, 9);
                p.a.scores = fresh(PE_F32, B, 5, H, 9);
                p.a.probabilities = fresh(PE_F32, B, 5, H, 9);
                attend(&p, false);
                pe_status s = wrong_output(n, &p, code, axes[how], how < 4, &err);
                pe_status wanted = how == 0 || narrow ? PE_OK : how < 4 ? PE_ERR_ALIAS : PE_ERR_RANGE;
                if (s != wanted)
                    fail_msg("output %d, way %d: %s: %s", n, how, pe_status_name(s), err.text);
                give_back_to(mark);
            }
}

/* ------------------------------------------------ positions */

/* The same positions: an array of each type, a run, a run from a place for each sequence. */
enum { WAYS = 8 };

static pe_positions in_way(int way, int64_t batch, int64_t tokens, const int64_t *first)
{
    int64_t n = batch * tokens, *whole = take(n, 8), *place = take(batch, 8);
    int32_t *narrow = take(2 * n, 4), *narrow_place = take(batch, 4);
    double *real = take(n, 8), *real_place = take(batch, 8);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = first[i / tokens] + 2 * (i % tokens);
        whole[i] = at;
        narrow[2 * i] = (int32_t)at;
        narrow[2 * i + 1] = INT32_MIN; /* between them */
        real[i] = (double)at;
    }
    for (int64_t b = 0; b < batch; b++) {
        place[b] = first[b];
        narrow_place[b] = (int32_t)(first[b] - 1000);
        real_place[b] = (double)first[b] + 1000;
    }
    pe_positions p = pe_positions_of(whole, PE_I64, batch, tokens, 1);
    switch (way) {
    case 1: p = pe_positions_of(narrow, PE_I32, batch, tokens, 1), p.token_stride = 2, p.batch_stride *= 2; break;
    case 2: p = pe_positions_of(real, PE_F64, batch, tokens, 1); break;
    case 3: p = (pe_positions){ place, PE_I64, batch, tokens, 1, 1, 0, 1, 0, 2 }; break;
    case 4: p = (pe_positions){ narrow_place, PE_I32, batch, tokens, 1, 1, 0, 1, 1000, 2 }; break;
    case 5: p = (pe_positions){ real_place, PE_F64, batch, tokens, 1, 1, 0, 0, -1000, 2 }; break;
    case 6: /* data and a run together */
        for (int64_t i = 0; i < n; i++)
            whole[i] += 5 * (i % tokens) - 77;
        p.start = 77, p.step = -5;
        break;
    case 7: /* all sequences at one place: those of the first */
        p = (pe_positions){ .batch = batch, .tokens = tokens, .axes = 1, .start = first[0], .step = 2 };
        break;
    default: break;
    }
    return p;
}

static void positions_of_any_type_give_the_same_bits(void **state)
{
    (void)state;
    uint64_t seed = 14;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs) * WAYS * 2; n++) {
        int mark = taken_count, way = n / 2 % WAYS, size = n / 2 / WAYS % 3;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, first[B] = { 3, 50, 11 }, q_first[B];
        problem p = problem_of(specs[n / 2 / WAYS], n % 2, PE_F32, B, Tq, Tk, &seed);
        for (int64_t b = 0; b < B; b++) {
            first[b] = way == 7 ? first[0] : first[b];
            q_first[b] = first[b] + 2 * (Tk - Tq);
        }
        p.a.q_at = in_way(0, B, Tq, q_first);
        p.a.k_at = in_way(0, B, Tk, first);
        problem other = p;
        give_outputs(&other);
        give_sums(&other);
        other.a.q_at = in_way(way, B, Tq, q_first);
        other.a.k_at = in_way(n % 3 ? way : 0, B, Tk, first);
        CASE("%s, positions in way %d", specs[n / 2 / WAYS], way);
        attend_both(&p);
        attend_both(&other);
        same_outputs(&other, &p);
        same_gradients(&other, &p);
        pe_view x = drawn(PE_F32, B, Tk, G, DIM, &seed), y[2] = { copied(x), copied(x) };
        pe_run run = PE_MAKE(pe_run, .params = p.params);
        for (int i = 0; i < 2; i++) {
            pe_positions at = i ? in_way(way, B, Tk, first) : p.a.k_at;
            assert_ok(pe_rotate(p.e, PE_KEY, y[i], x, at, &run, &err));
            assert_ok(pe_cache_shift(p.e, y[i], NULL, at, in_way(i ? 0 : way, B, Tk, q_first), &run, &err));
        }
        same("turned and shifted", y[1], y[0]);
        give_back_to(mark);
    }
}

static void codes_take_positions_of_any_type(void **state)
{
    (void)state;
    uint64_t seed = 15;
    pe_error err = { 0 };
    const int64_t first[B] = { 0, 9, 4 }, alike[B] = { 0, 0, 0 };
    for (int n = 0; n < 2 * WAYS; n++) {
        pe_encoding *e = encoding(n % 2 ? "learned:rows=64" : "sinusoidal", WIDE);
        int64_t count = pe_encoding_param_count(e);
        pe_run run = PE_MAKE(pe_run, .params = { take(count, 4), PE_F32, count });
        pe_view x = drawn(PE_F32, B, 20, 1, 16, &seed), y[2] = { copied(x), copied(x) };
        CASE("%s, positions in way %d", pe_encoding_spec(e), n / 2);
        assert_ok(pe_encoding_init(e, run.params, 1, &err));
        for (int i = 0; i < 2; i++)
            assert_ok(pe_embed(e, y[i], x, in_way(i ? n / 2 : 0, B, 20, n / 2 == 7 ? alike : first), &run, &err));
        same("y", y[1], y[0]);
    }
}

/* A run counts up on every axis. */
static void a_run_counts_on_every_axis(void **state)
{
    (void)state;
    uint64_t seed = 16;
    pe_error err = { 0 };
    pe_encoding *e = encoding("rope:sections=8/12/12", WIDE);
    int64_t at[20 * 3];
    for (int i = 0; i < 20 * 3; i++)
        at[i] = 11 + i / 3;
    pe_view x = drawn(PE_F32, B, 20, H, WIDE, &seed), y[2] = { copied(x), copied(x) };
    pe_positions all = pe_positions_of(at, PE_I64, B, 20, 3);
    all.batch_stride = 0; /* one for all sequences */
    assert_ok(pe_rotate(e, PE_KEY, y[0], x, all, NULL, &err));
    assert_ok(pe_rotate(e, PE_KEY, y[1], x, pe_positions_run(B, 20, 11), NULL, &err));
    CASE("three axes");
    same("turned", y[1], y[0]);
}

static void a_fraction_is_an_error_where_positions_are_whole(void **state)
{
    (void)state;
    static const double wrong[] = { 0.5, -1.25, NAN, INFINITY, 0x1p37, -0x1p-1074 };
    pe_error err = { 0 };
    pe_encoding *e = encoding("t5", DIM), *code = encoding("learned:rows=64", DIM);
    for (int n = 0; n < COUNT(wrong); n++) {
        double at[4] = { 0, 1, wrong[n], 3 };
        pe_positions where = pe_positions_of(at, PE_F64, 1, 4, 1);
        pe_view x = fresh(PE_F32, 1, 4, 1, 16), k = fresh(PE_F32, 1, 4, G, DIM), q = fresh(PE_F32, 1, 4, H, DIM);
        pe_attention a = PE_MAKE(pe_attention, .q = q, .k = k, .v = k, .q_at = where, .k_at = where);
        pe_run run = PE_MAKE(pe_run, .params = { take(64 * 16, 4), PE_F32, 64 * 16 });
        size_t size;
        assert_int_equal(pe_embed(code, x, x, where, &run, &err), PE_ERR_POSITION);
        assert_non_null(strstr(err.text, "token 2"));
        assert_int_equal(pe_reference_work(e, &a, &size, &err), PE_ERR_POSITION);
        assert_int_equal(pe_attention_work(e, &a, NULL, &size, &err), PE_ERR_POSITION);
    }
}

/* ------------------------------------------------ lengths */

enum { RIGHT, LEFT, PACKED, LAYOUTS };
static const char *const layout_names[] = { "padded right", "padded left", "packed" };

static int64_t *lengths_of(int64_t most, int64_t none, uint64_t *seed)
{
    int64_t *length = take(B, 8);
    for (int64_t b = 0; b < B; b++)
        length[b] = b == none ? 0 : b == (none + 1) % B ? most : test_range(seed, 1, most);
    return length;
}

static int64_t *offsets_of(const int64_t *length)
{
    int64_t *offset = take(B + 1, 8);
    for (int64_t b = 0; b < B; b++)
        offset[b + 1] = offset[b] + length[b];
    return offset;
}

static void spoil_padding(pe_view v, const pe_lengths *l)
{
    for (int64_t s = 0; s < v.batch; s++) {
        stretch t = stretch_of(l, s, v.tokens);
        spoil(cut(v, s, 0, t.first));
        spoil(cut(v, s, t.first + t.count, v.tokens - t.first - t.count));
    }
}

static void padding_is(const char *name, pe_view v, const pe_lengths *l, double x)
{
    for (int64_t s = 0; v.data && s < v.batch; s++) {
        stretch t = stretch_of(l, s, v.tokens);
        all_are(name, cut(v, s, 0, t.first), x);
        all_are(name, cut(v, s, t.first + t.count, v.tokens - t.first - t.count), x);
    }
}

/* A problem whose sequences are not all as long as its views. */
static problem uneven(const char *spec, bool fused, int layout, int64_t Tq, int64_t Tk, int64_t none, uint64_t *seed)
{
    int64_t *q = lengths_of(Tq, none, seed), *k = lengths_of(Tk, (none + 1) % B, seed);
    if (layout == PACKED) {
        const int64_t *q_offset = offsets_of(q), *k_offset = offsets_of(k);
        problem p = problem_of(spec, fused, PE_F32, 1, q_offset[B], k_offset[B], seed);
        int64_t *q_at = take(q_offset[B], 8), *k_at = take(k_offset[B], 8);
        for (int64_t b = 0; b < B; b++) {
            for (int64_t i = q_offset[b]; i < q_offset[b + 1]; i++)
                q_at[i] = i - q_offset[b] + Tk;
            for (int64_t j = k_offset[b]; j < k_offset[b + 1]; j++)
                k_at[j] = j - k_offset[b];
        }
        p.a.q_at.data = q_at, p.a.k_at.data = k_at;
        p.a.q_lengths = (pe_lengths){ .offset = q_offset, .sequences = B };
        p.a.k_lengths = (pe_lengths){ .offset = k_offset, .sequences = B };
        return p;
    }
    problem p = problem_of(spec, fused, PE_F32, B, Tq, Tk, seed);
    p.a.q_lengths = (pe_lengths){ .length = q, .padded_left = layout == LEFT };
    p.a.k_lengths = (pe_lengths){ .length = k, .padded_left = layout == LEFT };
    pe_view *by_query[] = { &p.a.q, &p.g.dout }, *by_key[] = { &p.a.k, &p.a.v };
    for (int i = 0; i < 2; i++) {
        spoil_padding(*by_query[i], &p.a.q_lengths);
        spoil_padding(*by_key[i], &p.a.k_lengths);
    }
    return p;
}

static void sequences_of_any_length_are_as_alone(void **state)
{
    (void)state;
    uint64_t seed = 17;
    for (int n = 0; n < COUNT(specs) * LAYOUTS * COUNT(sizes) * 2; n++) {
        int mark = taken_count, layout = n / 2 % LAYOUTS, size = n / 2 / LAYOUTS % COUNT(sizes);
        const char *spec = specs[n / 2 / LAYOUTS / COUNT(sizes)];
        if (!test_turn(n / 2 + n / 2 / LAYOUTS, 2))
            continue;
        problem p = uneven(spec, n % 2, layout, sizes[size].Tq, sizes[size].Tk, n % B, &seed);
        p.a.sinks = size % 2 ? p.a.sinks : (pe_params){ 0 };
        p.g.dsinks = size % 2 ? p.g.dsinks : (pe_params){ 0 };
        p.a.mask.window = size == 3 ? 4 : 0;
        CASE("%s, %s, %s, up to %d queries and %d keys", spec, n % 2 ? "fused" : "by definition", layout_names[layout],
             (int)sizes[size].Tq, (int)sizes[size].Tk);
        problem sums = p;
        give_sums(&sums);
        sums.g.dsinks = p.g.dsinks.data ? sums.g.dsinks : p.g.dsinks;
        attend_both(&p);
        for (int64_t s = 0; s < B; s++) {
            stretch q = queries_of(&p, s), k = keys_of(&p, s);
            problem one = alone(&p, s);
            one.g.dparams = sums.g.dparams, one.g.dsinks = sums.g.dsinks;
            attend_both(&one);
            same("out", cut(p.a.out, q.b, q.first, q.count), one.a.out);
            same("lse", cut(p.a.lse, q.b, q.first, q.count), one.a.lse);
            same("dq", cut(p.g.dq, q.b, q.first, q.count), one.g.dq);
            same("dk", cut(p.g.dk, k.b, k.first, k.count), one.g.dk);
            same("dv", cut(p.g.dv, k.b, k.first, k.count), one.g.dv);
        }
        if (layout != PACKED) {
            padding_is("out in the padding", p.a.out, &p.a.q_lengths, 0);
            padding_is("lse in the padding", p.a.lse, &p.a.q_lengths, -INFINITY);
            padding_is("dq in the padding", p.g.dq, &p.a.q_lengths, 0);
            padding_is("dk in the padding", p.g.dk, &p.a.k_lengths, 0);
            padding_is("dv in the padding", p.g.dv, &p.a.k_lengths, 0);
        }
        if (p.params.count && memcmp(p.g.dparams.data, sums.g.dparams.data, (size_t)p.params.count * 8))
            fail_msg("%s: dparams has other bits than the sequences' added up", what);
        if (p.g.dsinks.data && memcmp(p.g.dsinks.data, sums.g.dsinks.data, H * 8))
            fail_msg("%s: dsinks has other bits than the sequences' added up", what);
        give_back_to(mark);
    }
}

/* Masks lie over the padded view; scores and probabilities show nothing where no token is. */
static void masks_and_scores_know_the_padding(void **state)
{
    (void)state;
    uint64_t seed = 18;
    for (int n = 0; n < 2 * 2 * 4; n++) {
        int mark = taken_count, layout = n / 2 % 2, size = n / 4 % 2;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk;
        problem p = uneven("rope+t5", n % 2, layout, Tq, Tk, n / 8, &seed);
        p.a.mask.additive = drawn(PE_F32, B, Tq, H, Tk, &seed);
        p.a.mask.keep = pe_view_of(take(B * Tk, 1), PE_BOOL, B, 1, 1, Tk);
        for (int64_t i = 0; i < B * Tk; i++)
            ((uint8_t *)p.a.mask.keep.data)[i] = test_range(&seed, 0, 3) != 0;
        for (int64_t s = 0; s < B; s++) { /* NaN where no key is */
            stretch k = keys_of(&p, s);
            for (int64_t r = 0; r < Tq * H; r++)
                for (int64_t j = 0; j < Tk; j++)
                    if (j < k.first || j >= k.first + k.count)
                        ((float *)(void *)row(p.a.mask.additive, s, r / H, r % H))[j] = NAN;
        }
        p.a.scores = fresh(PE_F32, B, Tq, H, Tk);
        p.a.probabilities = fresh(PE_F32, B, Tq, H, Tk);
        spoil(p.a.scores), spoil(p.a.probabilities);
        CASE("%s, %s", n % 2 ? "fused" : "by definition", layout_names[layout]);
        attend(&p, false);
        for (int64_t s = 0; s < B; s++) {
            stretch q = queries_of(&p, s), k = keys_of(&p, s);
            problem one = alone(&p, s);
            one.a.scores = fresh(PE_F32, 1, q.count, H, k.count);
            one.a.probabilities = fresh(PE_F32, 1, q.count, H, k.count);
            attend(&one, false);
            same("out", cut(p.a.out, q.b, q.first, q.count), one.a.out);
            same("scores", cut_scores(p.a.scores, q, k), one.a.scores);
            same("probabilities", cut_scores(p.a.probabilities, q, k), one.a.probabilities);
            all_are("scores before the first key", cut_scores(p.a.scores, q, (stretch){ s, 0, k.first }), -INFINITY);
            all_are("probabilities past the last key",
                    cut_scores(p.a.probabilities, q, (stretch){ s, k.first + k.count, Tk - k.first - k.count }), 0);
        }
        padding_is("scores in the padding", p.a.scores, &p.a.q_lengths, -INFINITY);
        padding_is("probabilities in the padding", p.a.probabilities, &p.a.q_lengths, 0);
        give_back_to(mark);
    }
}

/* Queries may be packed and their keys padded, and the other way round. */
static void queries_and_keys_are_long_each_in_their_way(void **state)
{
    (void)state;
    uint64_t seed = 19;
    for (int n = 0; n < 2 * 2 * 2; n++) {
        int size = n / 4;
        problem padded = uneven("rope", n % 2, RIGHT, sizes[size].Tq, sizes[size].Tk, 0, &seed), mixed = padded;
        bool queries = n / 2 % 2; /* are packed */
        const int64_t *offset = offsets_of(queries ? padded.a.q_lengths.length : padded.a.k_lengths.length);
        int64_t *at = take(offset[B], 8);
        pe_view *views[] = { queries ? &mixed.a.q : &mixed.a.k, queries ? &mixed.g.dout : &mixed.a.v };
        pe_positions *where = queries ? &mixed.a.q_at : &mixed.a.k_at;
        for (int i = 0; i < 2; i++) {
            pe_view packed = fresh(PE_F32, 1, offset[B], views[i]->heads, DIM);
            for (int64_t b = 0; b < B; b++)
                copy(cut(packed, 0, offset[b], offset[b + 1] - offset[b]),
                     cut(*views[i], b, 0, offset[b + 1] - offset[b]));
            *views[i] = packed;
        }
        for (int64_t b = 0; b < B; b++)
            memcpy(at + offset[b], (const int64_t *)where->data + b * where->batch_stride,
                   (size_t)(offset[b + 1] - offset[b]) * 8);
        *where = pe_positions_of(at, PE_I64, 1, offset[B], 1);
        *(queries ? &mixed.a.q_lengths : &mixed.a.k_lengths) = (pe_lengths){ .offset = offset, .sequences = B };
        give_outputs(&mixed);
        give_sums(&mixed);
        CASE("%s packed, %s", queries ? "queries" : "keys", n % 2 ? "fused" : "by definition");
        attend_both(&padded);
        attend_both(&mixed);
        for (int64_t s = 0; s < B; s++) {
            stretch q[2] = { queries_of(&padded, s), queries_of(&mixed, s) },
                    k[2] = { keys_of(&padded, s), keys_of(&mixed, s) };
            same("out", cut(mixed.a.out, q[1].b, q[1].first, q[1].count),
                 cut(padded.a.out, q[0].b, q[0].first, q[0].count));
            same("dq", cut(mixed.g.dq, q[1].b, q[1].first, q[1].count),
                 cut(padded.g.dq, q[0].b, q[0].first, q[0].count));
            same("dk", cut(mixed.g.dk, k[1].b, k[1].first, k[1].count),
                 cut(padded.g.dk, k[0].b, k[0].first, k[0].count));
            same("dv", cut(mixed.g.dv, k[1].b, k[1].first, k[1].count),
                 cut(padded.g.dv, k[0].b, k[0].first, k[0].count));
        }
    }
}

/* ------------------------------------------------ keys and values in pages */

static void unpack_row(pe_view v, int64_t b, int64_t t, int64_t h, void *with)
{
    const unsigned char *from = (const unsigned char *)row(*(pe_view *)with, b, t, h);
    pe_dtype type = ((pe_view *)with)->dtype;
    for (int64_t d = 0; d < v.dim; d++) {
        const unsigned char *block = from + bytes(type, d / 32 * 32);
        int64_t n = d % 32;
        double code = type == PE_Q8_0 ? (double)(int8_t)block[2 + n]
                                      : (double)((n < 16 ? block[2 + n] & 15 : block[2 + n - 16] >> 4) - 8);
        num_store(row(v, b, t, h), PE_F32, d, num_load(block, PE_F16, 0) * code);
    }
}

/* Blocks as numbers. */
static pe_view unpacked(pe_view v)
{
    if (v.dtype != PE_Q8_0 && v.dtype != PE_Q4_0)
        return v;
    pe_view to = fresh(PE_F32, v.batch, v.tokens, v.heads, v.dim);
    each(to, unpack_row, &v);
    return to;
}

static const pe_dtype kept[] = { PE_F32, PE_F16, PE_BF16, PE_Q8_0, PE_Q4_0 };

static problem put_in_pages(const problem *p, int64_t size, uint64_t *seed)
{
    problem in = *p;
    pe_pages pages = shuffled(p->a.k.batch, columns_for(p->a.k.tokens, size), seed);
    in.a.k = in_pages(p->a.k, size, pages).pool;
    in.a.v = in_pages(p->a.v, size, pages).pool;
    in.a.pages = pages;
    in.a.out = fresh(PE_F32, B, p->a.q.tokens, H, DIM);
    in.a.lse = fresh(PE_F32, B, p->a.q.tokens, H, 1);
    spoil(in.a.out), spoil(in.a.lse);
    return in;
}

/* The same tokens in a row, of the same type: to the bit. Of blocks the same as numbers: within rounding. */
static void keys_in_pages_are_as_good_as_in_a_row(void **state)
{
    (void)state;
    static const int64_t page[] = { 16, 5 };
    static const char *const some[] = { "none",
                                        "rope",
                                        "rope:turn=qkvo",
                                        "alibi:slopes=learned",
                                        "t5",
                                        "shaw",
                                        "cope:positions=32",
                                        "xpos",
                                        "deberta:buckets=8,max=32" };
    uint64_t seed = 20;
    for (int n = 0; n < COUNT(some) * COUNT(kept) * COUNT(page) * 3 * 2; n++) {
        int mark = taken_count, size = n / 2 % 3, kind = n / 2 / 3 / COUNT(page) % COUNT(kept);
        const char *spec = some[n / 2 / 3 / COUNT(page) / COUNT(kept)];
        int64_t pages_of = page[n / 2 / 3 % COUNT(page)];
        if (!test_turn(n / 2 + n / 2 / 3 + n / 6 / COUNT(page), 2))
            continue;
        problem p = problem_of(spec, n % 2, kept[kind], B, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.turned = kind % 2;
        p.a.k_lengths.length = lengths_of(sizes[size].Tk, n % B, &seed);
        problem in = put_in_pages(&p, pages_of, &seed), numbers = p;
        CASE("%s, %s, type %d, pages of %d, %d queries", spec, n % 2 ? "fused" : "by definition", (int)kept[kind],
             (int)pages_of, (int)sizes[size].Tq);
        attend(&p, false);
        attend(&in, false);
        if (p.fused && size < 2 && pages_of == 5) { /* few queries take keys as they lie: fewer in a row at a time */
            near("out in pages", in.a.out, p.a.out, 1e-6);
            near("lse in pages", in.a.lse, p.a.lse, 1e-6);
        } else
            same_outputs(&in, &p);
        numbers.a.k = unpacked(p.a.k), numbers.a.v = unpacked(p.a.v);
        give_outputs(&numbers);
        attend(&numbers, false);
        near("out of blocks", in.a.out, numbers.a.out, 1e-5);
        near("lse of blocks", in.a.lse, numbers.a.lse, 1e-5);
        give_back_to(mark);
    }
}

/* A batch that decodes: one query each, sequences of their own length and place, keys that are turned already. */
static void a_batch_decodes_from_pages(void **state)
{
    (void)state;
    uint64_t seed = 21;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(kept) * 2; n++) {
        enum { MOST = 150 };
        problem p = problem_of("rope", n % 2, kept[n / 2], B, 1, MOST, &seed);
        int64_t *length = take(B, 8), *place = take(B, 8);
        for (int64_t b = 0; b < B; b++) {
            length[b] = b == 1 ? MOST : test_range(&seed, 1, MOST);
            place[b] = length[b] - 1;
        }
        p.a.turned = true;
        p.a.k_lengths.length = length;
        p.a.q_at = (pe_positions){ place, PE_I64, B, 1, 1, 1, 0, 1, 0, 1 };
        p.a.k_at = pe_positions_run(B, MOST, 0);
        problem in = put_in_pages(&p, 16, &seed);
        for (int64_t b = 0; b < B; b++) /* what is not in the cache yet */
            for (int64_t t = length[b]; t < MOST; t++) {
                spoil(page_row(&(paged){ in.a.k, in.a.pages }, b, t));
                spoil(page_row(&(paged){ in.a.v, in.a.pages }, b, t));
            }
        CASE("%s, type %d", n % 2 ? "fused" : "by definition", (int)kept[n / 2]);
        attend(&in, false);
        for (int64_t b = 0; b < B; b++) {
            problem one = alone(&p, b);
            attend(&one, false);
            same("out", sequence(in.a.out, b), one.a.out);
            same("lse", sequence(in.a.lse, b), one.a.lse);
        }
        if (n / 2 == 0) { /* and the same with keys as they were before the turn */
            problem before = p;
            before.a.k = copied(p.a.k);
            before.a.turned = false;
            give_outputs(&before);
            assert_ok(pe_unrotate(p.e, PE_KEY, before.a.k, p.a.k, p.a.k_at, NULL, &err));
            attend(&before, false);
            near("out of turned keys", in.a.out, before.a.out, 1e-5);
        }
    }
}

/* ------------------------------------------------ masks */

static const struct {
    bool batch, tokens, heads; /* have rows of their own; else one for all */
} spreads[] = { { false, false, false }, { true, false, false }, { false, true, true }, { true, true, true },
                { false, true, false },  { false, false, true }, { true, true, false } };

static void a_boolean_mask_is_minus_infinity_added(void **state)
{
    (void)state;
    static const char *const some[] = { "rope", "t5", "cope:positions=32", "shaw" };
    uint64_t seed = 22;
    for (int n = 0; n < COUNT(some) * COUNT(spreads) * 3 * 2; n++) {
        int mark = taken_count, size = n / 2 % 3, spread = n / 6 % COUNT(spreads);
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, batch = spreads[spread].batch ? B : 1,
                tokens = spreads[spread].tokens ? Tq : 1, heads = spreads[spread].heads ? H : 1;
        problem keep = problem_of(some[n / 6 / COUNT(spreads)], n % 2, PE_F32, B, Tq, Tk, &seed), add = keep,
                full = keep;
        keep.a.mask.keep = pe_view_of(take(batch * tokens * heads * Tk, 1), PE_BOOL, batch, tokens, heads, Tk);
        add.a.mask.additive = fresh(PE_F32, batch, tokens, heads, Tk);
        full.a.mask.keep = pe_view_of(take(B * Tq * H * Tk, 1), PE_BOOL, B, Tq, H, Tk);
        for (int64_t i = 0; i < batch * tokens * heads * Tk; i++) {
            bool hidden = test_range(&seed, 0, 2) == 0;
            ((uint8_t *)keep.a.mask.keep.data)[i] = hidden ? 0 : (uint8_t)test_range(&seed, 1, 255);
            ((float *)add.a.mask.additive.data)[i] = hidden ? -INFINITY : 0;
        }
        copy(full.a.mask.keep,
             repeating((pe_view){ keep.a.mask.keep.data, PE_BOOL, B, Tq, H, Tk, keep.a.mask.keep.batch_stride,
                                  keep.a.mask.keep.token_stride, keep.a.mask.keep.head_stride },
                       (batch == 1 ? SEQUENCES : 0u) | (tokens == 1 ? TOKENS : 0u) | (heads == 1 ? HEADS : 0u)));
        problem *others[] = { &add, &full };
        CASE("%s, %s, mask (%d, %d, %d, %d)", some[n / 6 / COUNT(spreads)], n % 2 ? "fused" : "by definition",
             (int)batch, (int)tokens, (int)heads, (int)Tk);
        attend_both(&keep);
        for (int i = 0; i < COUNT(others); i++) {
            give_outputs(others[i]);
            give_sums(others[i]);
            attend_both(others[i]);
            same_outputs(&keep, others[i]);
            same_gradients(&keep, others[i]);
        }
        give_back_to(mark);
    }
}

/* An additive mask spreads as it does written out, and its gradient is what the rows it stands for have together. */
static void an_additive_mask_spreads_and_gathers(void **state)
{
    (void)state;
    uint64_t seed = 23;
    for (int n = 0; n < COUNT(spreads) * 2 * 2; n++) {
        int mark = taken_count, spread = n / 4, size = n / 2 % 2;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, batch = spreads[spread].batch ? B : 1,
                tokens = spreads[spread].tokens ? Tq : 1, heads = spreads[spread].heads ? H : 1;
        problem p = problem_of("rope", n % 2, PE_F32, B, Tq, Tk, &seed), full = p;
        pe_view add = drawn(PE_F32, batch, tokens, heads, Tk, &seed), all = fresh(PE_F32, B, Tq, H, Tk);
        for (int64_t i = 0; i < B * Tq * H; i++)
            memcpy(row(all, i / H / Tq, i / H % Tq, i % H),
                   row(add, batch > 1 ? i / H / Tq : 0, tokens > 1 ? i / H % Tq : 0, heads > 1 ? i % H : 0),
                   (size_t)Tk * 4);
        p.a.mask.additive = add, full.a.mask.additive = all;
        p.g.dadditive = fresh(PE_F64, batch, tokens, heads, Tk), full.g.dadditive = fresh(PE_F64, B, Tq, H, Tk);
        give_outputs(&full);
        give_sums(&full);
        CASE("%s, mask (%d, %d, %d, %d)", n % 2 ? "fused" : "by definition", (int)batch, (int)tokens, (int)heads,
             (int)Tk);
        attend_both(&p);
        attend_both(&full);
        same_outputs(&p, &full);
        same_gradients(&p, &full);
        pe_view sum = fresh(PE_F64, batch, tokens, heads, Tk);
        for (int64_t i = 0; i < B * Tq * H * Tk; i++) {
            int64_t r = i / Tk, b = batch > 1 ? r / H / Tq : 0, t = tokens > 1 ? r / H % Tq : 0,
                    h = heads > 1 ? r % H : 0;
            ((double *)(void *)row(sum, b, t, h))[i % Tk] +=
                get(full.g.dadditive, r / H / Tq, r / H % Tq, r % H, i % Tk);
        }
        near("dadditive", p.g.dadditive, sum, n % 2 ? 1e-5 : 1e-12);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ where a query stands */

/* Written from the header: whether query i of a sequence sees its key j. */
static bool sees(const pe_mask *m, int64_t i, int64_t j, int64_t Tq, int64_t Tk, int64_t q_at, int64_t k_at)
{
    int64_t all = m->keys_before + Tk + m->keys_after, key = m->align == PE_ALIGN_POSITION ? k_at : m->keys_before + j;
    int64_t place = m->align == PE_ALIGN_POSITION ? q_at : m->align == PE_ALIGN_START ? i : i + all - Tq;
    if (m->causal && key > place)
        return false;
    return !m->window || llabs(key - place) < m->window || (key >= 0 && key < m->first_keys);
}

/* The same mask as bytes. */
static pe_view spelled(const problem *p)
{
    int64_t Tq = p->a.q.tokens, Tk = p->a.k.tokens, batch = p->a.q.batch;
    pe_view keep = pe_view_of(take(batch * Tq * Tk, 1), PE_BOOL, batch, Tq, 1, Tk);
    const int64_t *q = p->a.q_at.data, *k = p->a.k_at.data;
    for (int64_t n = 0; n < batch * Tq * Tk; n++) {
        int64_t b = n / Tk / Tq, i = n / Tk % Tq, j = n % Tk;
        ((uint8_t *)keep.data)[n] = sees(&p->a.mask, i, j, Tq, Tk, q[b * Tq + i], k[b * Tk + j]);
    }
    return keep;
}

static void same_as_spelled(problem *p)
{
    problem other = *p;
    other.a.mask.keep = spelled(p);
    other.a.mask.causal = false;
    other.a.mask.window = other.a.mask.first_keys = other.a.mask.keys_before = 0;
    problem *both[] = { p, &other };
    for (int i = 0; i < 2; i++) {
        give_outputs(both[i]);
        give_sums(both[i]);
        attend_both(both[i]);
    }
    if (p->fused) { /* sums of another number of keys at a time */
        near("out", p->a.out, other.a.out, 1e-6);
        near("lse", p->a.lse, other.a.lse, 1e-6);
        near("dq", p->g.dq, other.g.dq, 1e-6);
        near("dk", p->g.dk, other.g.dk, 1e-6);
        near("dv", p->g.dv, other.g.dv, 1e-6);
    } else {
        same_outputs(p, &other);
        same_gradients(p, &other);
    }
}

/* Top-left and bottom-right causal, windows, and the first keys beside them, against the mask spelled out. */
static void causal_and_windows_are_masks_spelled_out(void **state)
{
    (void)state;
    static const char *const some[] = { "rope", "t5", "cope:positions=32" };
    static const struct {
        int64_t window, first;
    } wide[] = { { 0, 0 }, { 1, 0 }, { 4, 0 }, { 4, 2 }, { 30, 7 }, { 3, 200 } };
    static const struct {
        int64_t Tq, Tk;
    } both[] = { { 5, 9 }, { 9, 5 }, { 70, 140 }, { 140, 70 }, { 1, 150 } };
    uint64_t seed = 24;
    for (int n = 0; n < COUNT(some) * COUNT(wide) * COUNT(both) * 3 * 2 * 2; n++) {
        int mark = taken_count, w = n / 4 % COUNT(wide), size = n / 4 / COUNT(wide) % COUNT(both);
        pe_align align = (pe_align)(n / 4 / COUNT(wide) / COUNT(both) % 3);
        if (!test_turn(n / 4 + w + size, 3))
            continue;
        problem p = problem_of(some[n / 4 / COUNT(wide) / COUNT(both) / 3], n % 2, PE_F32, 2, both[size].Tq,
                               both[size].Tk, &seed);
        p.a.mask =
            (pe_mask){ .causal = n / 2 % 2, .align = align, .window = wide[w].window, .first_keys = wide[w].first };
        CASE("%s, %s, %s, align %d, window %d, first %d, %d queries, %d keys", pe_encoding_spec(p.e),
             n % 2 ? "fused" : "by definition", n / 2 % 2 ? "causal" : "both ways", (int)align, (int)wide[w].window,
             (int)wide[w].first, (int)both[size].Tq, (int)both[size].Tk);
        same_as_spelled(&p);
        give_back_to(mark);
    }
}

/* Positions on both sides of 0, and keys that are a block of more: first keys are those of the sequence. */
static void first_keys_are_those_of_the_sequence(void **state)
{
    (void)state;
    static const int64_t before[] = { 0, 1, 3, 60 };
    uint64_t seed = 27;
    for (int n = 0; n < 3 * COUNT(before) * 2 * 2 * 2; n++) {
        int mark = taken_count;
        pe_align align = (pe_align)(n / 2 % 3);
        problem p = problem_of(n / 24 % 2 ? "t5" : "none", n % 2, PE_F32, 2, 40, 60, &seed);
        int64_t *q = take(2 * 40, 8), *k = take(2 * 60, 8);
        for (int i = 0; i < 2 * 40; i++)
            q[i] = i % 40 - 10;
        for (int j = 0; j < 2 * 60; j++)
            k[j] = n / 48 ? j % 60 * 7 % 60 - 30 : j % 60 - 30;
        p.a.q_at = pe_positions_of(q, PE_I64, 2, 40, 1);
        p.a.k_at = pe_positions_of(k, PE_I64, 2, 60, 1);
        p.a.mask = (pe_mask){ .causal = true, .align = align, .window = 4, .first_keys = 2 + n / 48,
                              .keys_before = before[n / 6 % 4] };
        CASE("%s, align %d, before %d", n % 2 ? "fused" : "by definition", (int)align, (int)p.a.mask.keys_before);
        same_as_spelled(&p);
        give_back_to(mark);
    }
}

/* Top-left: query 0 sees key 0 only. Bottom-right: the last query sees all. */
static void causal_stands_at_the_start_or_at_the_end(void **state)
{
    (void)state;
    enum { TQ = 3, TK = 5 };
    uint64_t seed = 25;
    for (int n = 0; n < 4; n++) {
        problem p = problem_of("none", n % 2, PE_F32, 1, TQ, TK, &seed);
        p.a.sinks = p.g.dsinks = (pe_params){ 0 };
        p.a.mask.align = n / 2 ? PE_ALIGN_START : PE_ALIGN_END;
        p.a.probabilities = fresh(PE_F32, 1, TQ, H, TK);
        attend(&p, false);
        for (int64_t i = 0; i < TQ; i++)
            for (int64_t j = 0; j < TK; j++)
                assert_true((get(p.a.probabilities, 0, i, 0, j) > 0) == (j <= (n / 2 ? i : i + TK - TQ)));
    }
}

/* Keys in any order, each at its position: what a query sees and sums up is the same. */
static void by_position_keys_may_lie_in_any_order(void **state)
{
    (void)state;
    static const char *const some[] = { "rope", "alibi:slopes=learned", "t5", "shaw" };
    uint64_t seed = 26;
    for (int n = 0; n < COUNT(some) * 3 * 2; n++) {
        int mark = taken_count, size = n / 2 % 3;
        int64_t Tk = sizes[size].Tk;
        problem p = problem_of(some[n / 6], n % 2, PE_F32, B, sizes[size].Tq, Tk, &seed), other = p;
        p.a.mask.align = other.a.mask.align = PE_ALIGN_POSITION;
        p.a.mask.window = other.a.mask.window = 20;
        p.a.mask.first_keys = other.a.mask.first_keys = 10;
        int64_t *to = take(Tk, 8), *at = take(B * Tk, 8);
        for (int64_t j = 0; j < Tk; j++)
            to[j] = (j * 11 + 4) % Tk; /* 11 divides none of the numbers of keys */
        other.a.k = fresh(PE_F32, B, Tk, G, DIM), other.a.v = fresh(PE_F32, B, Tk, G, DIM);
        for (int64_t i = 0; i < B * Tk; i++) {
            copy(cut(other.a.k, i / Tk, to[i % Tk], 1), cut(p.a.k, i / Tk, i % Tk, 1));
            copy(cut(other.a.v, i / Tk, to[i % Tk], 1), cut(p.a.v, i / Tk, i % Tk, 1));
            at[i / Tk * Tk + to[i % Tk]] = ((const int64_t *)p.a.k_at.data)[i];
        }
        other.a.k_at.data = at;
        give_outputs(&other);
        give_sums(&other);
        CASE("%s, %s, %d queries", some[n / 6], n % 2 ? "fused" : "by definition", (int)sizes[size].Tq);
        attend_both(&p);
        attend_both(&other);
        near("out", other.a.out, p.a.out, 1e-5);
        near("lse", other.a.lse, p.a.lse, 1e-5);
        near("dq", other.g.dq, p.g.dq, 2e-5);
        for (int64_t i = 0; i < B * Tk; i++) {
            near("dk", cut(other.g.dk, i / Tk, to[i % Tk], 1), cut(p.g.dk, i / Tk, i % Tk, 1), 2e-5);
            near("dv", cut(other.g.dv, i / Tk, to[i % Tk], 1), cut(p.g.dv, i / Tk, i % Tk, 1), 2e-5);
        }
        same_as_spelled(&other);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ scores and probabilities */

/* Scores are the logits that enter the softmax: q.k times the scale, capped, and what is added; -inf where hidden. */
static double plain_score(const problem *p, int64_t b, int64_t i, int64_t h, int64_t j)
{
    double sum = 0;
    if (!sees(&p->a.mask, i, j, p->a.q.tokens, p->a.k.tokens, 0, 0))
        return -INFINITY;
    for (int64_t d = 0; d < DIM; d++)
        sum += get(p->a.q, b, i, h, d) * get(p->a.k, b, j, h / (H / G), d);
    sum *= p->a.scale;
    if (p->a.soft_cap > 0)
        sum = p->a.soft_cap * tanh(sum / p->a.soft_cap);
    return sum + get(p->a.mask.additive, b, i, 0, j);
}

static void scores_and_probabilities_are_the_softmax_written_out(void **state)
{
    (void)state;
    uint64_t seed = 27;
    for (int n = 0; n < COUNT(sizes) * 2 * 2 * 2; n++) {
        int mark = taken_count, size = n / 8;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk;
        problem p = problem_of("none", n % 2, PE_F32, B, Tq, Tk, &seed);
        p.a.scale = 0.3;
        p.a.soft_cap = n / 4 % 2 ? 0.7 : 0;
        p.a.mask.window = 40;
        p.a.mask.additive = drawn(PE_F32, B, Tq, 1, Tk, &seed);
        if (n / 2 % 2)
            p.a.sinks = (pe_params){ 0 };
        p.a.scores = fresh(PE_F32, B, Tq, H, Tk);
        p.a.probabilities = fresh(PE_F64, B, Tq, H, Tk);
        spoil(p.a.scores), spoil(p.a.probabilities);
        pe_view scores = fresh(PE_F64, B, Tq, H, Tk), prob = fresh(PE_F64, B, Tq, H, Tk),
                out = fresh(PE_F64, B, Tq, H, DIM), lse = fresh(PE_F64, B, Tq, H, 1);
        for (int64_t r = 0; r < B * Tq * H; r++) {
            int64_t b = r / H / Tq, i = r / H % Tq, h = r % H;
            double *s = (double *)(void *)row(scores, b, i, h), *x = (double *)(void *)row(prob, b, i, h);
            double sum = p.a.sinks.data ? exp(((double *)p.a.sinks.data)[h]) : 0;
            for (int64_t j = 0; j < Tk; j++) {
                s[j] = plain_score(&p, b, i, h, j);
                sum += exp(s[j]);
            }
            *(double *)(void *)row(lse, b, i, h) = log(sum);
            for (int64_t j = 0; j < Tk; j++) {
                x[j] = sum > 0 ? exp(s[j]) / sum : 0;
                for (int64_t d = 0; d < DIM; d++)
                    ((double *)(void *)row(out, b, i, h))[d] += x[j] * get(p.a.v, b, j, h / (H / G), d);
            }
        }
        CASE("%s, %d queries, %d keys, cap %g", n % 2 ? "fused" : "by definition", (int)Tq, (int)Tk, p.a.soft_cap);
        attend(&p, false);
        near("scores", p.a.scores, scores, 2e-6);
        near("probabilities", p.a.probabilities, prob, 2e-6);
        near("out", p.a.out, out, 2e-6);
        near("lse", p.a.lse, lse, 2e-6);
        problem without = p; /* looking changes nothing */
        give_outputs(&without);
        without.a.scores = without.a.probabilities = (pe_view){ 0 };
        attend(&without, false);
        same_outputs(&without, &p);
        give_back_to(mark);
    }
}

/* Of every encoding: fused attention shows what the definition shows. */
static void scores_of_both_attentions_agree(void **state)
{
    (void)state;
    uint64_t seed = 28;
    for (int n = 0; n < COUNT(specs) * COUNT(sizes); n++) {
        int mark = taken_count, size = n % COUNT(sizes);
        problem p = problem_of(specs[n / COUNT(sizes)], true, PE_F32, 2, sizes[size].Tq, sizes[size].Tk, &seed);
        p.a.scores = fresh(PE_F32, 2, sizes[size].Tq, H, sizes[size].Tk);
        p.a.probabilities = fresh(PE_F32, 2, sizes[size].Tq, H, sizes[size].Tk);
        problem definition = p;
        definition.fused = false;
        definition.a.scores = fresh(PE_F64, 2, sizes[size].Tq, H, sizes[size].Tk);
        definition.a.probabilities = fresh(PE_F64, 2, sizes[size].Tq, H, sizes[size].Tk);
        give_outputs(&definition);
        attend(&p, false);
        attend(&definition, false);
        near("scores", p.a.scores, definition.a.scores, 1e-5);
        near("probabilities", p.a.probabilities, definition.a.probabilities, 1e-5);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ pieces */

typedef struct piece {
    pe_view out, max, sum, carry; /* (B, Tq, H, Dv), (B, Tq, H, 1) twice, (B, H, Tq, 1) */
} piece;

static piece piece_of(int64_t batch, int64_t Tq)
{
    piece x = { fresh(PE_F32, batch, Tq, H, DIM), fresh(PE_F32, batch, Tq, H, 1), fresh(PE_F32, batch, Tq, H, 1),
                fresh(PE_F64, batch, H, Tq, 1) };
    spoil(x.out), spoil(x.max), spoil(x.sum);
    return x;
}

static pe_partial partial_of(const piece *x)
{
    return (pe_partial){ x->out.data, x->max.data, x->sum.data, x->carry.data };
}

static void make_piece(const problem *p, const piece *x)
{
    pe_error err = { 0 };
    size_t size;
    pe_run run = PE_MAKE(pe_run, .params = p->params);
    assert_ok(pe_attention_work(p->e, &p->a, &run, &size, &err));
    run.work = take((int64_t)size, 1);
    run.work_bytes = size;
    if (pe_attention_partial(p->e, &p->a, partial_of(x), &run, &err))
        fail_msg("%s: %s", what, err.text);
}

/* Keys from .. from + count - 1 of every sequence, the rest following. */
static problem some_keys(const problem *p, int64_t from, int64_t count)
{
    problem some = *p;
    some.a.k.data = row(p->a.k, 0, from, 0), some.a.v.data = row(p->a.v, 0, from, 0);
    some.a.k.tokens = some.a.v.tokens = count;
    some.a.k_at.data = (const int64_t *)p->a.k_at.data + from;
    some.a.k_at.tokens = count;
    some.a.mask.keys_after = p->a.k.tokens - from - count;
    return some;
}

static void pieces_of_a_batch_are_those_of_its_sequences(void **state)
{
    (void)state;
    uint64_t seed = 31;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs) * 3; n++) {
        int mark = taken_count, size = n % 3;
        int64_t Tq = sizes[size].Tq, Tk = sizes[size].Tk, half = Tk / 2, *length = lengths_of(Tq, 1, &seed);
        problem p = problem_of(specs[n / 3], true, PE_F32, B, Tq, Tk, &seed);
        p.a.q_lengths = (pe_lengths){ .length = length, .padded_left = true };
        problem later = some_keys(&p, half, Tk - half), sooner = some_keys(&p, 0, half); /* from right to left */
        piece x = piece_of(B, Tq), y = piece_of(B, Tq);
        y.carry = x.carry;
        make_piece(&later, &x);
        make_piece(&sooner, &y);
        padding_is("sums in the padding", x.sum, &p.a.q_lengths, 0);
        padding_is("largest score in the padding", x.max, &p.a.q_lengths, -INFINITY);
        padding_is("values in the padding", y.out, &p.a.q_lengths, 0);
        piece xs[B], ys[B];
        problem ones[B];
        for (int64_t b = 0; b < B; b++) {
            stretch q = queries_of(&p, b);
            xs[b] = piece_of(1, q.count), ys[b] = piece_of(1, q.count);
            ys[b].carry = xs[b].carry;
            ones[b] = alone(&p, b);
            problem right = some_keys(&ones[b], half, Tk - half), left = some_keys(&ones[b], 0, half);
            make_piece(&right, &xs[b]);
            make_piece(&left, &ys[b]);
            same("values of a piece", cut(y.out, b, q.first, q.count), ys[b].out);
            same("sums of a piece", cut(y.sum, b, q.first, q.count), ys[b].sum);
            same("largest score of a piece", cut(y.max, b, q.first, q.count), ys[b].max);
            for (int64_t h = 0; pe_encoding_carries(p.e) && h < H; h++)
                for (int64_t i = 0; i < q.count; i++)
                    assert_true(get(x.carry, b, h, q.first + i, 0) == get(xs[b].carry, 0, h, i, 0));
        }
        assert_ok(pe_attention_merge(partial_of(&x), partial_of(&y), B * Tq * H, DIM, &err));
        assert_ok(pe_attention_finish(p.e, &p.a, partial_of(&x), NULL, &err));
        padding_is("out in the padding", p.a.out, &p.a.q_lengths, 0);
        padding_is("lse in the padding", p.a.lse, &p.a.q_lengths, -INFINITY);
        for (int64_t b = 0; b < B; b++) {
            stretch q = queries_of(&p, b);
            assert_ok(pe_attention_merge(partial_of(&xs[b]), partial_of(&ys[b]), q.count * H, DIM, &err));
            assert_ok(pe_attention_finish(p.e, &ones[b].a, partial_of(&xs[b]), NULL, &err));
            same("out", cut(p.a.out, b, q.first, q.count), ones[b].a.out);
            same("lse", cut(p.a.lse, b, q.first, q.count), ones[b].a.lse);
        }
        problem whole = p;
        give_outputs(&whole);
        attend(&whole, false);
        near("out of pieces", p.a.out, whole.a.out, 2e-6);
        near("lse of pieces", p.a.lse, whole.a.lse, 2e-6);
        give_back_to(mark);
    }
}

/* ------------------------------------------------ who does the work */

static void run_backwards(void *self, pe_job job, void *arg, int64_t count)
{
    (void)self;
    for (int64_t n = count - 1; n >= 0; n--)
        job(arg, n, (int)(n % 4));
}

static const pe_pool reversed = { NULL, 4, run_backwards };

static void any_pool_gives_the_same_bits(void **state)
{
    (void)state;
    static const int workers[] = { 1, 2, 5 };
    uint64_t seed = 29;
    pe_error err = { 0 };
    pe_pool *threads[COUNT(workers)];
    for (int i = 0; i < COUNT(workers); i++)
        assert_ok(pe_pool_new(&threads[i], workers[i], &err));
    for (int n = 0; n < COUNT(specs) * 6; n++) {
        int mark = taken_count, size = n % 3;
        bool ragged = n / 3 % 2;
        problem p = ragged ? uneven(specs[n / 6], true, n % LAYOUTS, sizes[size].Tq, sizes[size].Tk, n % B, &seed)
                           : problem_of(specs[n / 6], true, PE_F32, B, sizes[size].Tq, sizes[size].Tk, &seed);
        attend_both(&p);
        for (int i = 0; i <= COUNT(workers); i++) {
            problem other = p;
            other.pool = i < COUNT(workers) ? threads[i] : &reversed;
            give_outputs(&other);
            give_sums(&other);
            CASE("%s, %s, pool %d", specs[n / 6], ragged ? "uneven" : "even", i);
            attend_both(&other);
            same_outputs(&other, &p);
            same_gradients(&other, &p);
        }
        give_back_to(mark);
    }
    for (int i = 0; i < COUNT(workers); i++)
        pe_pool_free(threads[i]);
}

static void any_pool_turns_embeds_and_shifts_a_batch_alike(void **state)
{
    (void)state;
    static const int workers[] = { 1, 2, 5 };
    uint64_t seed = 30;
    pe_error err = { 0 };
    pe_pool *threads[COUNT(workers)];
    pe_encoding *e = encoding("rope", WIDE), *code = encoding("sinusoidal", WIDE);
    for (int i = 0; i < COUNT(workers); i++)
        assert_ok(pe_pool_new(&threads[i], workers[i], &err));
    pe_positions at = pe_positions_of(whole_numbers(B * TURNED, 0, 300, &seed), PE_I64, B, TURNED, 1);
    pe_view x = drawn(PE_F16, B, TURNED, H, WIDE, &seed), k = drawn(PE_Q8_0, B, TURNED, G, WIDE, &seed),
            tokens = drawn(PE_F32, B, TURNED, 1, 16, &seed);
    paged in = in_pages(k, 16, shuffled(B, columns_for(TURNED, 16), &seed));
    pe_view first[6];
    for (int i = 0; i <= COUNT(workers) + 1; i++) {
        pe_run run = PE_MAKE(pe_run, .pool = i == 0 ? NULL : i <= COUNT(workers) ? threads[i - 1] : &reversed);
        pe_view y[6] = { fresh(PE_F16, B, TURNED, H, WIDE),
                         fresh(PE_F32, B, TURNED, 1, WIDE / 2),
                         fresh(PE_F32, B, TURNED, 1, WIDE / 2),
                         copied(tokens),
                         copied(k),
                         copied(in.pool) };
        assert_ok(pe_rotate(e, PE_KEY, y[0], x, at, &run, &err));
        assert_ok(pe_rotate_table(e, PE_KEY, y[1], y[2], at, &run, &err));
        assert_ok(pe_embed(code, y[3], y[3], at, &run, &err));
        assert_ok(pe_cache_shift(e, y[4], NULL, at, pe_positions_run(B, TURNED, 0), &run, &err));
        assert_ok(pe_cache_shift(e, y[5], &in.pages, at, pe_positions_run(B, TURNED, 0), &run, &err));
        CASE("pool %d", i);
        for (int n = 0; n < COUNT(y); n++) {
            if (i == 0)
                first[n] = y[n];
            same("y", y[n], first[n]);
        }
    }
    for (int i = 0; i < COUNT(workers); i++)
        pe_pool_free(threads[i]);
}

#define TEST(f) cmocka_unit_test_teardown(f, give_back)

/* An argument runs only the tests it matches. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        TEST(a_batch_turns_as_its_sequences),
        TEST(a_batch_of_tables_is_a_table_for_each_sequence),
        TEST(a_batch_of_queries_and_keys_turns_as_its_sequences),
        TEST(gradients_of_frequencies_are_added_up),
        TEST(a_batch_is_embedded_as_its_sequences),
        TEST(a_batch_of_caches_is_shifted_as_its_sequences),
        TEST(a_batch_of_caches_is_rebased_as_its_sequences),
        TEST(attention_of_a_batch_is_that_of_its_sequences),
        TEST(half_precision_in_a_batch_is_that_of_its_sequences),
        TEST(axes_may_lie_in_any_order),
        TEST(turns_and_codes_take_axes_in_any_order),
        TEST(inputs_may_be_walked_backwards),
        TEST(a_stride_of_0_repeats_an_input),
        TEST(an_output_is_not_repeated_and_not_walked_backwards),
        TEST(positions_of_any_type_give_the_same_bits),
        TEST(codes_take_positions_of_any_type),
        TEST(a_run_counts_on_every_axis),
        TEST(a_fraction_is_an_error_where_positions_are_whole),
        TEST(sequences_of_any_length_are_as_alone),
        TEST(masks_and_scores_know_the_padding),
        TEST(queries_and_keys_are_long_each_in_their_way),
        TEST(keys_in_pages_are_as_good_as_in_a_row),
        TEST(a_batch_decodes_from_pages),
        TEST(a_boolean_mask_is_minus_infinity_added),
        TEST(an_additive_mask_spreads_and_gathers),
        TEST(causal_and_windows_are_masks_spelled_out),
        TEST(first_keys_are_those_of_the_sequence),
        TEST(causal_stands_at_the_start_or_at_the_end),
        TEST(by_position_keys_may_lie_in_any_order),
        TEST(scores_and_probabilities_are_the_softmax_written_out),
        TEST(scores_of_both_attentions_agree),
        TEST(pieces_of_a_batch_are_those_of_its_sequences),
        TEST(any_pool_gives_the_same_bits),
        TEST(any_pool_turns_embeds_and_shifts_a_batch_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

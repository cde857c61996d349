/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: rows
 *
 * What a score takes of the caller beside vectors: gates, a number per token and head (score += c_i - c_j), and a vector
 * per query and head that meets a table by distance. Two rows that take them are the whole registry here; they are held
 * to their formulas, fused attention to the definition, pieces to the whole, gradients to differences. */
#include "core/spec.h"
#include "fused_case.h"

/* ------------------------------------------------ the rows */

static pe_status forget_init(part *p, pe_error *error)
{
    (void)error;
    p->gates = true;
    return PE_OK;
}

static const char *const forget_examples[] = { "forget" };
static const row forget_row = {
    .info = { .name = "forget",
              .summary = "Gates of the caller.",
              .formula = "score += c_i - c_j",
              .paper = "",
              .arxiv = "",
              .models = "",
              .hooks = PE_HOOK_BIAS,
              .examples = forget_examples,
              .example_count = 1 },
    .init = forget_init,
};

enum { EXTENT, HEADS, STAGE };
enum { R = 5 };
static const pe_key relative_keys[] = {
    { "extent", PE_KEY_INT, "4", 1, 4096, NULL, NULL, "distances that have a row", NULL, false },
    { "heads", PE_KEY_CHOICE, "shared", 0, 0, "shared|own", NULL, "one table for all heads, or one each", NULL, false },
    { "stage", PE_KEY_CHOICE, "after", 0, 0, "after|before", NULL, "the scale", NULL, false },
};
static const char *const relative_examples[] = { "relative", "relative:extent=3,heads=own", "relative:stage=before" };

static int64_t distance_itself(const part *p, int64_t distance)
{
    (void)p;
    return distance;
}

static pe_status relative_init(part *p, pe_error *error)
{
    p->stage = num(p, STAGE) != 0 ? PE_BEFORE_SCALE : PE_AFTER_SCALE;
    p->term[p->terms++] = (term){ .side = PE_QUERY, .table = 0, .extra = -1, .index = distance_itself, .input = R };
    return part_tensor(p,
                       (tensor){ .name = "table",
                                 .about = "row: the distance",
                                 .rank = 3,
                                 .shape = { whole(p, EXTENT), num(p, HEADS) != 0 ? p->shape.heads : 1, R },
                                 .fill = FILL_NORMAL,
                                 .a = 1 },
                       error);
}

static const row relative_row = {
    .keys = relative_keys,
    .info = { .name = "relative",
              .summary = "A vector of the caller meets a table by distance.",
              .formula = "score += r_i . P[i-j], 0 <= i-j < extent",
              .paper = "",
              .arxiv = "",
              .models = "",
              .hooks = PE_HOOK_CONTENT,
              .key_count = COUNT_OF(relative_keys),
              .examples = relative_examples,
              .example_count = COUNT_OF(relative_examples) },
    .init = relative_init,
};

const row *const pe_rows[] = { &forget_row, &relative_row };
const int pe_row_count = COUNT_OF(pe_rows);

static const char *const specs[] = { "forget", "relative", "relative:extent=3,heads=own", "relative:stage=before",
                                     "forget+relative:extent=300" };

/* ------------------------------------------------ the formulas */

static double table_at(const attention_case *c, int64_t distance, int64_t h, int64_t d)
{
    const pe_tensor *t = pe_encoding_tensor(c->e, 0);
    if (distance < 0 || distance >= t->shape[0])
        return 0;
    return c->w[t->offset + (distance * t->shape[1] + (t->shape[1] == 1 ? 0 : h)) * R + d];
}

static double score_by_hand(const attention_case *c, int64_t h, int64_t i, int64_t j)
{
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim;
    double dot = case_dot(c->q + (i * H + h) * D, c->k + (j * G + h / (H / G)) * D, D), met = 0, gate = 0;
    for (int64_t d = 0; c->a.relative.data && d < R; d++)
        met += c->relative[(i * H + h) * R + d] * table_at(c, c->q_at[i] - c->k_at[j], h, d);
    if (c->a.q_gates.data)
        gate = c->q_gates[i * H + h] - c->k_gates[j * H + h];
    double scale = pe_encoding_scale(c->e);
    return strstr(c->spec, "before") ? scale * (dot + met) + gate : scale * dot + met + gate;
}

TEST(scores_are_the_formulas)
{
    for (int n = 0; n < COUNT(specs); n++) {
        attention_case c = case_new(specs[n], CAUSAL, 5);
        int64_t H = c.shape.heads, count = c.Tq * H * c.Tk;
        double *score = case_doubles(count);
        c.a.scores = pe_view_of(score, PE_F64, 1, c.Tq, H, c.Tk);
        case_forward(&c);
        for (int64_t m = 0; m < count; m++) {
            int64_t i = m / c.Tk / H, h = m / c.Tk % H, j = m % c.Tk;
            double right = j > i ? -INFINITY : score_by_hand(&c, h, i, j);
            if (!(score[m] == right || fabs(score[m] - right) < 1e-12))
                fail_msg("%s: score of head %d, %d, %d is %.17g, should be %.17g", c.spec, (int)h, (int)i, (int)j, score[m], right);
        }
    }
}

/* ------------------------------------------------ fused attention */

static double most_off;

static void compare(const char *spec, unsigned features, int64_t n, pe_dtype type, const pe_pool *pool, const char *how)
{
    attention_case c = case_sized(spec, features, 11, n);
    twin t = twin_of(&c, type, pool);
    case_forward(&c);
    twin_forward(&c, &t);
    most_off = fmax(most_off, twin_compare(&c, &t, how));
}

TEST(fused_attention_is_the_definition)
{
    static const int64_t sizes[] = { 6, 70, 300, -40, -2500 }; /* below 0: one query */
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16 };
    pe_pool *pool = pool_of(3);
    for (int s = 0; s < COUNT(specs); s++)
        for (int f = 0; f < COUNT(case_features); f++) {
            int64_t n = sizes[(s + f) % COUNT(sizes)];
            if (n < 0 && case_features[f] & (FEWER_QUERIES | MORE_QUERIES))
                n = 6;
            compare(specs[s], case_features[f], n, types[f % 3], f % 2 ? pool : NULL, "forward");
        }
    print_message("worst error: %.2f units\n", most_off);
}

TEST(gradients_are_those_of_the_definition)
{
    for (int s = 0; s < COUNT(specs); s++)
        for (int f = 0; f < COUNT(case_features); f++) {
            attention_case c = case_sized(specs[s], case_features[f], 3, f % 2 ? 6 : 150);
            twin t = twin_of(&c, PE_F32, NULL);
            ledger mine = ledger_of(&c, PE_F32, PE_F32), right = ledger_of(&c, PE_F64, PE_F64);
            case_forward(&c);
            twin_forward(&c, &t);
            assert_ok(twin_backward(&c, &t, &mine.g));
            case_backward(&c, &right.g);
            ledger_compare_all(&c, PE_F32, &mine, &right, "backward");
        }
    for (int n = 0; n < GRADS; n++)
        print_message("%s: %.2f units\n", grad_names[n], back_most[n]);
}

/* ------------------------------------------------ gradients of the definition */

/* A number that the output makes, whose gradient is dout. */
static double loss(attention_case *c)
{
    case_forward(c);
    return case_dot(c->out, c->dout, c->Tq * c->shape.heads * c->Dv);
}

static void differ(attention_case *c, const char *name, double *x, const double *dx, int64_t n)
{
    const double by = 1e-3;
    for (int64_t i = 0; i < n; i++) {
        double was = x[i], at[4];
        for (int k = 0; k < 4; k++) {
            x[i] = was + by * (k < 2 ? k - 2 : k - 1);
            at[k] = loss(c);
        }
        x[i] = was;
        double slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * by);
        if (!(fabs(slope - dx[i]) <= 1e-8 * (1 + fabs(slope))))
            fail_msg("%s: %s[%d] is %.12g, differences say %.12g", c->spec, name, (int)i, dx[i], slope);
    }
}

TEST(the_definition_has_the_gradients_of_differences)
{
    for (int s = 0; s < COUNT(specs); s++) {
        attention_case c = case_new(specs[s], ALL_AT_ONCE & ~OTHER_VALUES, 9);
        ledger l = ledger_of(&c, PE_F64, PE_F64);
        case_backward(&c, &l.g);
        differ(&c, "dq_gates", c.q_gates, l.at[DQ_GATES], l.count[DQ_GATES]);
        differ(&c, "dk_gates", c.k_gates, l.at[DK_GATES], l.count[DK_GATES]);
        differ(&c, "drelative", c.relative, l.at[DRELATIVE], l.count[DRELATIVE]);
        for (int64_t i = 0; i < l.count[DPARAMS]; i++)
            ((double *)l.at[DPARAMS])[i] -= ledger_start(DPARAMS, i);
        differ(&c, "dparams", c.w, l.at[DPARAMS], c.params.count < 40 ? c.params.count : 40);
    }
}

/* ------------------------------------------------ pieces, batches, pages */

static pe_view keys_from(pe_view v, int64_t first, int64_t n)
{
    v.data = (char *)v.data + first * v.token_stride * (int64_t)pe_dtype_size(v.dtype);
    v.tokens = n;
    return v;
}

static void cut_keys(const attention_case *c, pe_attention *a, int64_t first, int64_t n)
{
    a->k = keys_from(a->k, first, n);
    a->v = keys_from(a->v, first, n);
    if (a->k_gates.data)
        a->k_gates = keys_from(a->k_gates, first, n);
    a->k_at = pe_positions_of(c->k_at + first, PE_I64, 1, n, 1);
    a->mask.keys_after = c->Tk - first - n;
}

TEST(pieces_add_up_to_the_whole)
{
    enum { N = 150, PIECES = 3 };
    for (int s = 0; s < COUNT(specs); s++) {
        attention_case c = case_sized(specs[s], CAUSAL, 21, N);
        twin t = twin_of(&c, PE_F32, NULL);
        int64_t H = c.shape.heads, rows = c.Tq * H, Dv = c.Dv;
        float *out[2], *max[2], *sum[2];
        for (int i = 0; i < 2; i++)
            out[i] = take(rows * Dv, 4), max[i] = take(rows, 4), sum[i] = take(rows, 4);
        case_forward(&c);
        pe_run run = twin_run(&c, &t);
        for (int p = 0; p < PIECES; p++) {
            pe_attention a = t.a;
            cut_keys(&c, &a, p * N / PIECES, N / PIECES);
            pe_partial piece = { out[p > 0], max[p > 0], sum[p > 0], NULL }, whole = { out[0], max[0], sum[0], NULL };
            assert_ok(pe_attention_partial(c.e, &a, piece, &run, &err));
            if (p)
                assert_ok(pe_attention_merge(whole, piece, rows, Dv, &err));
            if (p == PIECES - 1)
                assert_ok(pe_attention_finish(c.e, &t.a, whole, &run, &err));
        }
        twin_compare(&c, &t, "pieces");
        ledger mine = ledger_of(&c, PE_F32, PE_F32), right = ledger_of(&c, PE_F64, PE_F64);
        for (int n = 0; n < DADDITIVE; n++)
            memset(mine.at[n], 0, (size_t)mine.count[n] * 4);
        mine.g.piece = mine.g.accumulate = true;
        for (int p = 0; p < PIECES; p++) {
            twin u = t;
            ledger l = mine;
            int64_t first = p * N / PIECES, n = N / PIECES;
            cut_keys(&c, &u.a, first, n);
            l.g.dk = keys_from(l.g.dk, first, n);
            l.g.dv = keys_from(l.g.dv, first, n);
            if (l.g.dk_gates.data)
                l.g.dk_gates = keys_from(l.g.dk_gates, first, n);
            assert_ok(twin_backward(&c, &u, &l.g));
        }
        case_backward(&c, &right.g);
        ledger_compare_all(&c, PE_F32, &mine, &right, "pieces backward");
    }
}

/* Two sequences in a batch of different lengths, their keys in pages: each as it is alone. */
TEST(sequences_of_a_batch_have_their_own)
{
    enum { B = 2, T = 20, PAGE = 4, PAGES = T / PAGE };
    for (int s = 0; s < COUNT(specs); s++) {
        pe_encoding *e = case_encoding(specs[s]);
        pe_shape shape = pe_encoding_shape(e);
        int64_t H = shape.heads, G = shape.kv_heads, D = shape.head_dim, n = pe_encoding_param_count(e);
        int64_t length[B] = { T, 13 }, q_length[B] = { T, 13 };
        uint64_t r = 77;
        pe_inputs in = pe_encoding_inputs(e);
        double *w = case_params(e, &r), *q = case_random(B * T * H * D, 1, &r), *k = case_random(B * T * G * D, 1, &r),
               *gates = case_random(B * T * H, 1, &r), *given = case_random(B * T * H * R, 1, &r);
        int32_t page[B * PAGES];
        double *out[2] = { case_doubles(B * T * H * D), case_doubles(B * T * H * D) };
        double *paged = case_doubles(B * T * G * D);
        for (int i = 0; i < B * PAGES; i++) { /* in any order */
            page[i] = i * 3 % (B * PAGES);
            memcpy(paged + (int64_t)page[i] * PAGE * G * D, k + (int64_t)i * PAGE * G * D, (size_t)(PAGE * G * D) * sizeof(double));
        }
        pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(q, PE_F64, B, T, H, D), .out = pe_view_of(out[0], PE_F64, B, T, H, D),
                                 .q_at = pe_positions_run(B, T, 0), .k_at = pe_positions_run(B, T, 0),
                                 .q_lengths = { .length = q_length }, .k_lengths = { .length = length }, .mask.causal = true,
                                 .pages = { page, PAGES });
        a.k = a.v = pe_view_of(paged, PE_F64, B * PAGES, PAGE, G, D);
        if (in.gates)
            a.q_gates = a.k_gates = pe_view_of(gates, PE_F64, B, T, H, 1);
        if (in.relative)
            a.relative = pe_view_of(given, PE_F64, B, T, H, R);
        for (int which = 0; which < 2; which++) {
            size_t bytes = 0;
            for (int b = 0; b < (which ? B : 1); b++) {
                pe_attention one = a;
                if (which) {
                    one.pages = (pe_pages){ 0 };
                    one.q_lengths = one.k_lengths = (pe_lengths){ 0 };
                    one.q = pe_view_of(q + b * T * H * D, PE_F64, 1, length[b], H, D);
                    one.out = pe_view_of(out[1] + b * T * H * D, PE_F64, 1, length[b], H, D);
                    one.k = one.v = pe_view_of(k + b * T * G * D, PE_F64, 1, length[b], G, D);
                    one.q_at = one.k_at = pe_positions_run(1, length[b], 0);
                    if (in.gates)
                        one.q_gates = one.k_gates = pe_view_of(gates + b * T * H, PE_F64, 1, length[b], H, 1);
                    if (in.relative)
                        one.relative = pe_view_of(given + b * T * H * R, PE_F64, 1, length[b], H, R);
                }
                assert_ok(pe_reference_work(e, &one, &bytes, &err));
                void *work = take((int64_t)bytes, 1);
                pe_run run = PE_MAKE(pe_run, .params = { w, PE_F64, n }, .work = work, .work_bytes = bytes);
                assert_ok(pe_reference_forward(e, &one, &run, &err));
            }
        }
        assert_memory_equal(out[0], out[1], (size_t)(B * T * H * D) * sizeof(double));
    }
}

/* A sequence without keys has gradients too: 0. */
TEST(no_keys_have_no_gradient)
{
    for (int s = 0; s < COUNT(specs); s++) {
        attention_case c = case_sized(specs[s], 0, 3, 6);
        twin t = twin_of(&c, PE_F32, NULL);
        ledger mine = ledger_of(&c, PE_F32, PE_F32);
        t.a.k.tokens = t.a.v.tokens = t.a.k_at.tokens = 0;
        t.a.k_gates.tokens = t.a.k_gates.data ? 0 : t.a.k_gates.tokens;
        mine.g.dk.tokens = mine.g.dv.tokens = 0;
        mine.g.dk_gates.tokens = mine.g.dk_gates.data ? 0 : mine.g.dk_gates.tokens;
        twin_work(&c, &t);
        twin_forward(&c, &t);
        assert_ok(twin_backward(&c, &t, &mine.g));
        for (int n = 0; n < DADDITIVE; n++)
            for (int64_t i = 0; n != DK && n != DV && n != DK_GATES && i < mine.count[n]; i++)
                assert_true(ledger_get(&mine, n, i) == 0);
    }
}

/* ------------------------------------------------ the door */

static pe_status ask(attention_case *c, const pe_attention *a)
{
    pe_run run = case_run(c, NULL, c->work, c->bytes);
    return pe_reference_forward(c->e, a, &run, &err);
}

TEST(inputs_are_checked_at_the_door)
{
    attention_case gated = case_new("forget", 0, 1), tabled = case_new("relative", 0, 1);
    pe_attention a = gated.a;
    a.k_gates.data = NULL;
    assert_refused(ask(&gated, &a), PE_ERR_NULL, "k_gates is NULL");
    a = gated.a;
    a.q_gates.heads = 1;
    assert_refused(ask(&gated, &a), PE_ERR_SHAPE, "q_gates");
    a = gated.a;
    a.relative = a.q;
    assert_refused(ask(&gated, &a), PE_ERR_UNSUITED, "relative is given");
    a = tabled.a;
    a.relative.dim = R - 1;
    assert_refused(ask(&tabled, &a), PE_ERR_SHAPE, "relative");
    a = tabled.a;
    a.q_gates = a.q;
    assert_refused(ask(&tabled, &a), PE_ERR_UNSUITED, "q_gates is given");
    a = tabled.a;
    a.out.data = a.relative.data;
    assert_refused(ask(&tabled, &a), PE_ERR_ALIAS, "relative");
    ledger l = ledger_of(&gated, PE_F64, PE_F64);
    pe_run run = case_run(&gated, NULL, gated.work, gated.bytes);
    l.g.drelative = l.g.dq;
    assert_refused(pe_reference_backward(gated.e, &gated.a, &l.g, &run, &err), PE_ERR_UNSUITED, "drelative is given");
    l.g.drelative = (pe_view){ 0 };
    l.g.dk_gates.token_stride = 0;
    assert_refused(pe_reference_backward(gated.e, &gated.a, &l.g, &run, &err), PE_ERR_ALIAS, "dk_gates");
    pe_encoding *e;
    assert_refused(pe_encoding_new(&e, "forget+forget", gated.shape, &err), PE_ERR_SPEC, "both take gates");
    assert_refused(pe_encoding_new(&e, "relative+relative", gated.shape, &err), PE_ERR_SPEC, "both take a vector");
}

TEST(an_encoding_says_what_it_takes)
{
    pe_encoding *e = case_encoding("forget+relative");
    assert_true(pe_encoding_inputs(e).gates && pe_encoding_inputs(e).relative == R);
    e = case_encoding("relative");
    assert_true(!pe_encoding_inputs(e).gates);
    assert_true(!pe_encoding_inputs(NULL).gates && !pe_encoding_inputs(NULL).relative);
}

/* labels: core; timeout: 600
 * SPDX-License-Identifier: MIT
 *
 * Fused attention equals the definition: every row, every feature of a mask, every rung, sizes around those of a tile. */
#include "attention_case.h"

#define SEED UINT64_C(0x66757365)

static const unsigned feature_sets[] = {
    0, CAUSAL, CAUSAL | WINDOW, WINDOW, PADDING, CAUSAL | SEGMENTS, ADDITIVE_HEADS, ADDITIVE_ONE, SOFT_CAP, CAUSAL | SINKS, SCALE,
    CAUSAL | FEWER_QUERIES, CAUSAL | MORE_QUERIES | SINKS, OTHER_VALUES, SOFT_CAP | SINKS | ADDITIVE_ONE, ALL_AT_ONCE,
};

static const char *const combinations[] = {
    "sinusoidal+alibi", "rope+t5", "shaw+alibi:slopes=learned", "cope+rope:magnitude=1.25", "xpos+kerple",
    "deberta:buckets=8,max=32+fire:hidden=8", "transformer-xl+rope:turn=qkvo+alibi", "rope:axes=2,split=axial+window", "cope+shaw",
};

static float *floats(const double *x, int64_t n)
{
    float *y = case_memory(n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

/* The same problem in float32. */
typedef struct twin {
    float *q, *k, *v, *out, *lse;
    pe_attention a;
    void *work;
    size_t bytes;
    pe_status status;
} twin;

static twin twin_of(attention_case *c, const pe_pool *pool)
{
    pe_error err = { 0 };
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim;
    twin t = { .q = floats(c->q, c->Tq * H * D), .k = floats(c->k, c->Tk * G * D), .v = floats(c->v, c->Tk * G * c->Dv), .a = c->a };
    t.out = case_memory(c->Tq * H * c->Dv, sizeof(float));
    t.lse = case_memory(c->Tq * H, sizeof(float));
    t.a.q = pe_view_packed(t.q, PE_F32, c->Tq, H, D);
    t.a.k = pe_view_packed(t.k, PE_F32, c->Tk, G, D);
    t.a.v = pe_view_packed(t.v, PE_F32, c->Tk, G, c->Dv);
    t.a.out = pe_view_packed(t.out, PE_F32, c->Tq, H, c->Dv);
    t.a.lse = pe_view_packed(t.lse, PE_F32, c->Tq, H, 1);
    t.a.pool = pool;
    t.status = pe_attention_work(c->e, &t.a, &t.bytes, &err);
    if (t.status && t.status != PE_ERR_POSITION)
        fail_msg("%s: %s", c->spec, err.text);
    t.work = case_memory((int64_t)t.bytes, 1);
    memset(t.work, 0xff, t.bytes); /* NaN: nothing may be read before it is written */
    return t;
}

static void twin_free(twin *t)
{
    free(t->q), free(t->k), free(t->v), free(t->out), free(t->lse), free(t->work);
}

static double worst(const char *spec, unsigned features, int64_t n, const char *what, const float *x, const double *y, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((double)x[i] == y[i])
            continue;
        double off = fabs((double)x[i] - y[i]) / fmax(1, fabs(y[i]));
        if (!(off < 1e-4))
            fail_msg("%s, features %u, n %" PRId64 ": %s[%" PRId64 "] is %.9g, should be %.9g", spec, features, n, what, i, (double)x[i], y[i]);
        most = fmax(most, off);
    }
    return most;
}

static double compare(const char *spec, unsigned features, int64_t n, const pe_pool *pool)
{
    pe_error err = { 0 };
    attention_case c = case_sized(spec, features, SEED + features, n);
    twin t = twin_of(&c, pool);
    double off = 0;
    pe_status status = pe_reference_forward(c.e, c.params, &c.a, c.work, c.bytes, NULL);
    assert_int_equal(status, t.status); /* both know how far a table reaches */
    if (status)
        goto done;
    if (pe_attention_forward(c.e, c.params, &t.a, t.work, t.bytes, &err))
        fail_msg("%s: %s", spec, err.text);
    off = worst(spec, features, n, "out", t.out, c.out, c.Tq * c.shape.heads * c.Dv);
    off = fmax(off, worst(spec, features, n, "lse", t.lse, c.lse, c.Tq * c.shape.heads));
done:
    twin_free(&t);
    case_free(&c);
    return off;
}

static void compare_all(const char *spec)
{
    double off = 0;
    for (int i = 0; i < COUNT(feature_sets); i++)
        off = fmax(off, compare(spec, feature_sets[i], i % 2 ? 40 : 6, NULL));
    off = fmax(off, compare(spec, CAUSAL, 150, NULL));
    off = fmax(off, compare(spec, CAUSAL | WINDOW | SEGMENTS, 90, NULL));
    off = fmax(off, compare(spec, PADDING, -300, NULL));
    printf("%-60s %.2g\n", spec, off);
}

static void fused_equals_the_definition(void **state)
{
    (void)state;
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++)
            compare_all(pe_info_at(i)->examples[k]);
    for (int i = 0; i < COUNT(combinations); i++)
        compare_all(combinations[i]);
}

/* ------------------------------------------------ gradients */

typedef struct gradients {
    double *dq, *dk, *dv, *dadditive, *dw, *dsinks;
    pe_attention_grad g;
} gradients;

static gradients gradients_of(const attention_case *c, bool additive)
{
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim, P = c->params.count;
    gradients g = { .dq = case_doubles(c->Tq * H * D), .dk = case_doubles(c->Tk * G * D), .dv = case_doubles(c->Tk * G * c->Dv), .dw = case_doubles(P), .dsinks = case_doubles(H) };
    g.g.dq = pe_view_packed(g.dq, PE_F64, c->Tq, H, D);
    g.g.dk = pe_view_packed(g.dk, PE_F64, c->Tk, G, D);
    g.g.dv = pe_view_packed(g.dv, PE_F64, c->Tk, G, c->Dv);
    g.g.dout = pe_view_packed(c->dout, PE_F64, c->Tq, H, c->Dv);
    g.g.dparams = (pe_params){ P ? g.dw : NULL, PE_F64, P };
    if (c->a.sinks.data)
        g.g.dsinks = (pe_params){ g.dsinks, PE_F64, H };
    g.dadditive = case_doubles(c->Tq * H * c->Tk);
    if (additive && c->a.mask.additive.data)
        g.g.dadditive = pe_view_packed(g.dadditive, PE_F64, c->Tq, c->a.mask.additive.heads, c->Tk);
    return g;
}

static void gradients_free(gradients *g)
{
    free(g->dq), free(g->dk), free(g->dv), free(g->dadditive), free(g->dw), free(g->dsinks);
}

static double apart(const char *spec, unsigned features, int64_t n, const char *what, const double *x, const double *y, int64_t count)
{
    double most = case_largest(y, count), off = 0;
    for (int64_t i = 0; i < count; i++) {
        double o = fabs(x[i] - y[i]) / fmax(most, 0.1);
        if (!(o < 2e-5))
            fail_msg("%s, features %u, n %" PRId64 ": %s[%" PRId64 "] is %.9g, should be %.9g (largest %.3g)", spec, features, n, what, i, x[i], y[i], most);
        off = fmax(off, o);
    }
    return off;
}

static double compare_back(const char *spec, unsigned features, int64_t n, const pe_pool *pool)
{
    pe_error err = { 0 };
    attention_case c = case_sized(spec, features, SEED + features, n);
    twin t = twin_of(&c, pool);
    gradients right = gradients_of(&c, true), mine = gradients_of(&c, true);
    double off = 0;
    size_t bytes;
    void *work = NULL;
    pe_status status = pe_reference_backward(c.e, c.params, &c.a, &right.g, c.work, c.bytes, &err);
    if (status == PE_ERR_POSITION)
        goto done;
    assert_ok(status);
    assert_ok(pe_attention_forward(c.e, c.params, &t.a, t.work, t.bytes, &err));
    assert_ok(pe_attention_backward_work(c.e, &t.a, &bytes, &err));
    work = case_memory((int64_t)bytes, 1);
    memset(work, 0xff, bytes);
    assert_ok(pe_attention_backward(c.e, c.params, &t.a, &mine.g, work, bytes, &err));
    int64_t H = c.shape.heads, G = c.shape.kv_heads, D = c.shape.head_dim;
    off = apart(spec, features, n, "dq", mine.dq, right.dq, c.Tq * H * D);
    off = fmax(off, apart(spec, features, n, "dk", mine.dk, right.dk, c.Tk * G * D));
    off = fmax(off, apart(spec, features, n, "dv", mine.dv, right.dv, c.Tk * G * c.Dv));
    off = fmax(off, apart(spec, features, n, "dadditive", mine.dadditive, right.dadditive, c.Tq * H * c.Tk));
    off = fmax(off, apart(spec, features, n, "dsinks", mine.dsinks, right.dsinks, H));
    for (int x = 0; x < pe_encoding_tensor_count(c.e); x++) {
        pe_tensor ten;
        assert_ok(pe_encoding_tensor(c.e, x, &ten, &err));
        off = fmax(off, apart(spec, features, n, ten.name, mine.dw + ten.offset, right.dw + ten.offset, ten.count));
    }
done:
    free(work);
    gradients_free(&right);
    gradients_free(&mine);
    twin_free(&t);
    case_free(&c);
    return off;
}

static void compare_all_back(const char *spec)
{
    double off = 0;
    for (int i = 0; i < COUNT(feature_sets); i++)
        off = fmax(off, compare_back(spec, feature_sets[i], i % 2 ? 40 : 6, NULL));
    off = fmax(off, compare_back(spec, CAUSAL, 150, NULL));
    off = fmax(off, compare_back(spec, CAUSAL | WINDOW | SEGMENTS, 90, NULL));
    printf("%-60s %.2g\n", spec, off);
}

static void fused_gradients_equal_the_definitions(void **state)
{
    (void)state;
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++)
            compare_all_back(pe_info_at(i)->examples[k]);
    for (int i = 0; i < COUNT(combinations); i++)
        compare_all_back(combinations[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(fused_equals_the_definition), cmocka_unit_test(fused_gradients_equal_the_definitions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

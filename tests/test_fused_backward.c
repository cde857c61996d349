/* labels: core; timeout: 600
 * SPDX-License-Identifier: MIT
 *
 * The gradients of fused attention equal those of the definition: every row, every feature of a mask. */
#include "fused_case.h"

#define SEED UINT64_C(0x66757365)

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
    twin t = twin_of(&c, PE_F32, pool);
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
    for (int i = 0; i < COUNT(case_features); i++)
        off = fmax(off, compare_back(spec, case_features[i], i % 2 ? 40 : 6, NULL));
    off = fmax(off, compare_back(spec, CAUSAL, 150, NULL));
    off = fmax(off, compare_back(spec, CAUSAL | WINDOW | SEGMENTS, 90, NULL));
    printf("%-60s %.2g\n", spec, off);
}

static void fused_gradients_equal_the_definitions(void **state)
{
    (void)state;
    case_each(compare_all_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(fused_gradients_equal_the_definitions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

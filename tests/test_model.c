/* SPDX-License-Identifier: MIT
 *
 * The model in float64, with the reference attention: gradients of the whole of it against differences.
 * labels: core; needs: double */
#include "common.h"

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, T = 7, V = 11 };

typedef struct bench {
    model *m;
    int32_t token[B * T], target[B * T];
    int64_t at[T * 2];
    model_batch batch;
} bench;

static const model_config small = { .vocab = V, .layers = 2, .width = 32, .heads = 4, .kv_heads = 2, .hidden = 24 };

static void start(bench *b, const char *spec, bool causal, const pe_pool *pool)
{
    pe_error err;
    model_config c = small;
    c.causal = causal;
    c.embed_scale = 4;
    if (model_new(&b->m, &c, spec, pool, &err))
        fail_msg("%s: %s", spec, err.text);
    model_init(b->m, 7);
    int64_t axes = pe_encoding_axes(model_encoding(b->m));
    for (int i = 0; i < B * T; i++) {
        b->token[i] = (i * i * 5 + i) % V;
        b->target[i] = i % 5 == 3 ? -1 : (i * 7 + 2) % V;
    }
    for (int i = 0; i < T; i++)
        for (int a = 0; a < axes; a++)
            b->at[i * axes + a] = axes == 1 ? i : a ? i % 3 : i / 3;
    b->batch = (model_batch){ b->token, b->target, { b->at, T, axes, 0, 0 }, B, T };
}

static double loss_of(bench *b)
{
    pe_error err;
    real losses[B * T];
    double sum = 0;
    int asked = 0;
    if (model_losses(b->m, &b->batch, losses, NULL, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < B * T; i++) {
        asked += b->target[i] >= 0;
        sum += (double)losses[i];
    }
    return sum / asked;
}

/* f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, error O(h^4). */
static double difference(bench *b, real *w, double h)
{
    double f[4], step[4] = { h, -h, 2 * h, -2 * h };
    real old = *w;
    for (int i = 0; i < 4; i++) {
        *w = old + (real)step[i];
        f[i] = loss_of(b);
    }
    *w = old;
    return (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
}

/* Each tensor: a handful of its numbers, within 1e-7 of the largest gradient of that tensor (and 1e-9 of nothing). */
static void check_gradients(const char *spec, bool causal)
{
    bench b;
    pe_error err;
    double loss;
    start(&b, spec, causal, NULL);
    if (model_gradients(b.m, &b.batch, &loss, &err))
        fail_msg("%s: %s", spec, err.text);
    assert_true(fabs(loss - loss_of(&b)) < 1e-12);
    for (int i = 0; i < model_tensor_count(b.m); i++) {
        const model_tensor *t = model_tensor_at(b.m, i);
        const real *g = model_grads(b.m) + t->offset;
        double most = 1e-2;
        for (int64_t n = 0; n < t->count; n++)
            most = fabs((double)g[n]) > most ? fabs((double)g[n]) : most;
        for (int64_t k = 0; k < 5; k++) {
            int64_t n = (k * 7919 + i) % t->count;
            double want = difference(&b, model_weights(b.m) + t->offset + n, 1e-3);
            if (!(fabs((double)g[n] - want) < 1e-7 * most))
                fail_msg("%s: %s[%lld]: gradient %.12g, difference %.12g", spec, t->name, (long long)n, (double)g[n],
                         want);
        }
    }
    model_free(b.m);
}

static void gradients_of_the_whole_model_equal_differences_for_every_row(void **state)
{
    (void)state;
    char spec[80];
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *row = pe_info_at(i);
        snprintf(spec, sizeof spec, "%s", row->name);
        pe_encoding *e = NULL;
        pe_encoding_new(&e, spec, (pe_shape){ 4, 2, 8, 32 }, NULL);
        bool flat = e && pe_encoding_axes(e) == 1;
        pe_encoding_free(e);
        check_gradients(spec, flat);
    }
}

static void gradients_equal_differences_in_both_directions_and_in_two_dimensions(void **state)
{
    (void)state;
    const char *spec[] = { "none", "shaw:left=3,right=2", "deberta:buckets=4,max=8", "xlnet:length=8", "t5:buckets=8",
                           "transformer-xl:back=8,ahead=8", "rope:axes=2,split=axial", "learned:rows=3/3",
                           "window:window=3/3", "sinusoidal:join=concat,width=4", "learned:rows=8,join=concat,width=4",
                           "learned:rows=8+t5:buckets=8+rope" };
    for (int i = 0; i < COUNT(spec); i++)
        check_gradients(spec[i], false);
}

static void an_untied_output_has_its_own_gradient(void **state)
{
    (void)state;
    bench b;
    pe_error err;
    double loss;
    start(&b, "rope", true, NULL);
    model_config c = *model_settings(b.m);
    model_free(b.m);
    c.untied = true;
    assert_ok(model_new(&b.m, &c, "rope", NULL, &err));
    model_init(b.m, 3);
    assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
    const model_tensor *t = model_tensor_find(b.m, "output"), *e = model_tensor_find(b.m, "embed");
    const int64_t at[] = { t->offset + 5, t->offset + 90, e->offset + 3, e->offset + 17 };
    for (int i = 0; i < COUNT(at); i++) {
        double want = difference(&b, model_weights(b.m) + at[i], 1e-3), got = (double)model_grads(b.m)[at[i]];
        assert_true(fabs(got - want) < 1e-9);
    }
    model_free(b.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_the_whole_model_equal_differences_for_every_row),
        cmocka_unit_test(gradients_equal_differences_in_both_directions_and_in_two_dimensions),
        cmocka_unit_test(an_untied_output_has_its_own_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

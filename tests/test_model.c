/* SPDX-License-Identifier: MIT
 *
 * The model in float64, with the reference attention: gradients of the whole of it against differences.
 * labels: core; tier: quick; cost: 3 s; needs: double */

#include "model/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

enum { B = 2, T = 7, V = 11, T_MAX = 200 };

typedef struct bench {
    model *m;
    int32_t token[B * T_MAX], target[B * T_MAX];
    int64_t at[T_MAX * 2];
    model_batch batch;
} bench;

static const model_config small = { .vocab = V, .layers = 2, .width = 32, .heads = 4, .kv_heads = 2, .hidden = 24 };

static void start_model(bench *b, const model_config *c, int length, const char *spec, const pe_pool *pool)
{
    if (model_new(&b->m, c, spec, pool, &err))
        fail_msg("%s: %s", spec, err.text);
    model_init(b->m, 7);
    int64_t axes = pe_encoding_axes(model_encoding(b->m));
    for (int i = 0; i < B * length; i++) {
        b->token[i] = (int32_t)((i * i * 5 + i) % c->vocab);
        b->target[i] = i % 5 == 3 ? -1 : (int32_t)((i * 7 + 2) % c->vocab);
    }
    for (int i = 0; i < length; i++)
        for (int a = 0; a < axes; a++)
            b->at[i * axes + a] = axes == 1 ? i : a ? i % 3 : i / 3;
    b->batch = (model_batch){ b->token, b->target, pe_positions_of(b->at, PE_I64, 1, length, axes), B, length };
}

static void start(bench *b, const char *spec, bool causal, const pe_pool *pool)
{
    model_config c = small;
    c.causal = causal;
    c.embed_scale = 4;
    start_model(b, &c, T, spec, pool);
}

static double loss_of(bench *b)
{
    real losses[B * T_MAX];
    double sum = 0;
    int asked = 0;
    if (model_losses(b->m, &b->batch, losses, NULL, &err))
        fail_msg("%s", err.text);
    for (int64_t i = 0; i < B * b->batch.length; i++) {
        asked += b->target[i] >= 0;
        sum += (double)losses[i];
    }
    return sum / asked;
}

/* f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, error O(h^4), where w moves to w + h along. */
static double slope(bench *b, real *w, const real *along, int64_t count, double h)
{
    double f[4], step[4] = { h, -h, 2 * h, -2 * h };
    real *old = malloc((size_t)count * sizeof *old);
    assert_non_null(old);
    memcpy(old, w, (size_t)count * sizeof *old);
    for (int i = 0; i < 4; i++) {
        for (int64_t n = 0; n < count; n++)
            w[n] = old[n] + (real)step[i] * along[n];
        f[i] = loss_of(b);
    }
    memcpy(w, old, (size_t)count * sizeof *old);
    free(old);
    return (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
}

static double difference(bench *b, real *w, double h)
{
    return slope(b, w, &(real){ 1 }, 1, h);
}

/* Each tensor: a handful of its numbers, within 1e-7 of the largest gradient of that tensor (and 1e-9 of nothing). */
static void check_gradients(const char *spec, bool causal)
{
    bench b;
    double loss;
    start(&b, spec, causal, NULL);
    if (model_gradients(b.m, &b.batch, &loss, &err))
        fail_msg("%s: %s", spec, err.text);
    assert_true(fabs(loss - loss_of(&b)) < 1e-12);
    for (int i = 0; i < model_tensor_count(b.m); i++) {
        const model_tensor *t = model_tensor_at(b.m, i);
        const real *g = b.m->grads + t->offset;
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

TEST(gradients_of_the_whole_model_equal_differences_for_every_row)
{
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

TEST(gradients_equal_differences_in_both_directions_and_in_two_dimensions)
{
    const char *spec[] = { "none", "shaw:left=3,right=2", "deberta:buckets=4,max=8", "xlnet:length=8", "t5:buckets=8",
                           "transformer-xl:back=8,ahead=8", "rope:axes=2,split=axial", "learned:rows=3/3",
                           "window:window=3/3", "sinusoidal:join=concat,width=4", "learned:rows=8,join=concat,width=4",
                           "learned:rows=8+t5:buckets=8+rope" };
    for (int i = 0; i < COUNT(spec); i++)
        check_gradients(spec[i], false);
}

TEST(an_untied_output_has_its_own_gradient)
{
    bench b;
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
        double want = difference(&b, model_weights(b.m) + at[i], 1e-3), got = (double)b.m->grads[at[i]];
        assert_true(fabs(got - want) < 1e-9);
    }
    model_free(b.m);
}

/* Rows first .. last of a tensor, all their numbers at once: along random signs the loss has the slope sum(g sign). A
 * number that is wrong by more than 1e-7 of the rows' gradient is seen, whichever it is. */
static void check_rows(bench *b, const char *name, int64_t first, int64_t last)
{
    const model_tensor *t = model_tensor_find(b->m, name);
    int64_t in = t->rank > 1 ? t->shape[1] : 1, at = t->offset + first * in, count = (last - first + 1) * in;
    assert_true(first >= 0 && last < t->shape[0]);
    real *sign = malloc((size_t)count * sizeof *sign);
    assert_non_null(sign);
    uint64_t seed = 5;
    double got = 0, length = 0;
    for (int64_t n = 0; n < count; n++) {
        double g = (double)b->m->grads[at + n];
        sign[n] = test_random(&seed) & 1 ? 1 : -1;
        got += g * (double)sign[n];
        length += g * g;
    }
    double want = slope(b, model_weights(b->m) + at, sign, count, 1e-4);
    free(sign);
    if (!(length > 0 && fabs(got - want) < 1e-7 * sqrt(length)))
        fail_msg("%s, rows %d to %d: gradient %.12g, difference %.12g", name, (int)first, (int)last, got, want);
}

/* Weights are cut into slices of 256 rows, tokens into chunks of 256: here are more of each than one. */
TEST(gradients_equal_differences_past_the_first_slice_and_chunk)
{
    bench b;
    double loss;
    const model_config c = { .vocab = 300, .layers = 1, .width = 96, .heads = 4, .hidden = 300, .causal = true };
    start_model(&b, &c, T_MAX, "rope", NULL);
    assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
    const struct {
        const char *name;
        int64_t first, last;
    } rows[] = { { "layer.0.up", 0, 255 }, { "layer.0.up", 256, 511 }, { "layer.0.up", 512, 599 },
                 { "layer.0.up", 599, 599 }, { "layer.0.qkv", 0, 255 }, { "layer.0.qkv", 256, 287 },
                 { "embed", 0, 255 }, { "embed", 256, 299 }, { "layer.0.down", 0, 95 }, { "layer.0.out", 0, 95 },
                 { "layer.0.norm1", 0, 95 }, { "layer.0.norm2", 0, 95 }, { "final", 0, 95 } };
    for (int i = 0; i < COUNT(rows); i++)
        check_rows(&b, rows[i].name, rows[i].first, rows[i].last);
    model_free(b.m);
}

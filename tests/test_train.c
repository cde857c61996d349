/* SPDX-License-Identifier: MIT
 *
 * The model as it is used, in float32 with fused attention: what training rests on.
 * labels: core; tier: quick; cost: 3 s; needs: lab wrap */
#include "heap.h"

#include "lab/specs.h"
#include "model/lanes.h"
#include "model/parts.h"

#include "test.h"

enum { B = 3, T = 200, V = 40 };

typedef struct bench {
    model *m;
    adam a;
    pe_pool *pool;
    int32_t token[B * T], target[B * T];
    int64_t at[2 * T];
    model_batch batch;
} bench;

static void fill(bench *b, int64_t axes)
{
    for (int i = 0; i < B * T; i++) {
        b->token[i] = (i * i * 5 + i / 3) % V;
        b->target[i] = i % 7 == 3 ? -1 : (i * 7 + i / 5) % V;
    }
    for (int i = 0; i < T; i++)
        for (int a = 0; a < axes; a++)
            b->at[i * axes + a] = axes == 1 ? i : a ? i % 14 : i / 14;
    b->batch = (model_batch){ b->token, b->target, pe_positions_of(b->at, PE_I64, 1, T, axes), B, T };
}

static void start_model(bench *b, const model_config *c, const char *spec, int workers)
{
    *b = (bench){ 0 };
    assert_ok(pe_pool_new(&b->pool, workers, &err));
    if (model_new(&b->m, c, spec, b->pool, &err))
        fail_msg("%s: %s", spec, err.text);
    model_init(b->m, 7);
    assert_ok(adam_new(&b->a, b->m, &err));
    fill(b, pe_encoding_axes(model_encoding(b->m)));
}

static void start(bench *b, const char *spec, int workers)
{
    model_config c = { .vocab = V, .layers = 2, .width = 32, .heads = 4, .kv_heads = 2, .causal = true };
    start_model(b, &c, spec, workers);
}

static void end(bench *b)
{
    model_free(b->m);
    adam_free(&b->a);
    pe_pool_free(b->pool);
}

static double step(bench *b)
{
    double loss;
    adam_rates r = ADAM_DEFAULTS;
    assert_ok(model_gradients(b->m, &b->batch, &loss, &err));
    assert_true(isfinite(adam_step(&b->a, b->m, &r)));
    return loss;
}

static double mean_loss(bench *b)
{
    static real losses[B * T];
    double sum = 0;
    int asked = 0;
    assert_ok(model_losses(b->m, &b->batch, losses, NULL, &err));
    for (int i = 0; i < B * T; i++) {
        asked += b->target[i] >= 0;
        sum += (double)losses[i];
    }
    return sum / asked;
}

/* Each row as it is trained at T; a window that holds the 14 columns of two-dimensional positions. */
static char *spec_of(const pe_info *row)
{
    return lab_spec_trained(strcmp(row->name, "window") ? row->name : "window:window=15/14", T, true);
}

TEST(the_same_bits_for_any_number_of_workers_and_every_row)
{
    for (int i = 0; i < pe_info_count(); i++) {
        bench one, more;
        char *text = spec_of(pe_info_at(i));
        start(&one, text, 1);
        start(&more, text, i % 2 ? 2 : 5);
        for (int n = 0; n < 2; n++)
            assert_true(step(&one) == step(&more));
        if (memcmp(model_weights(one.m), model_weights(more.m), (size_t)one.m->count * sizeof(real)))
            fail_msg("%s: weights differ between 1 worker and more", text);
        end(&one);
        end(&more);
        free(text);
    }
}

/* A BLAS may round a row otherwise where it stands among other numbers of rows: OpenBLAS's Haswell kernels do. */
static bool alike(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fabs(b);
}

/* One sequence with many workers is split inside attention, several go side by side. */
TEST(a_sequence_alone_loses_what_it_loses_among_others)
{
    bench b;
    static real all[B * T], alone[T];
    start(&b, "rope+t5", 4);
    assert_ok(model_losses(b.m, &b.batch, all, NULL, &err));
    model_batch one = b.batch;
    one.sequences = 1;
    assert_ok(model_losses(b.m, &one, alone, NULL, &err));
    for (int i = 0; i < T; i++)
        assert_true(alike((double)alone[i], (double)all[i]));
    end(&b);
}

/* Along its own gradient, each tensor: the loss has the slope |g|^2, within 1e-3 in float32 (four-point differences). */
TEST(each_tensor_s_gradient_is_the_slope_of_the_loss)
{
    const char *spec[] = { "rope", "learned", "t5", "shaw", "transformer-xl", "deberta", "kerple" };
    for (int s = 0; s < COUNT(spec); s++) {
        bench b;
        double loss;
        start(&b, spec[s], 2);
        assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
        for (int i = 0; i < model_tensor_count(b.m); i++) {
            const model_tensor *t = model_tensor_at(b.m, i);
            real *w = model_weights(b.m) + t->offset, *g = b.m->grads + t->offset;
            real *old = malloc((size_t)t->count * sizeof *old);
            double length = 0, f[4];
            for (int64_t n = 0; n < t->count; n++) {
                length += (double)g[n] * (double)g[n];
                old[n] = w[n];
            }
            double h = 0.01 / length; /* the loss moves by about 0.02 */
            if (h > 0.01 / sqrt(length)) /* and no weight by more than 0.01 */
                h = 0.01 / sqrt(length);
            const double at[4] = { h, -h, 2 * h, -2 * h };
            for (int k = 0; k < 4; k++) {
                for (int64_t n = 0; n < t->count; n++)
                    w[n] = old[n] + (real)(at[k] * (double)g[n]);
                f[k] = mean_loss(&b);
            }
            memcpy(w, old, (size_t)t->count * sizeof *old);
            free(old);
            double slope = (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h), room = 2e-7 * loss / h; /* what rounding of f allows */
            if (!(fabs(slope - length) < 1e-3 * length + room))
                fail_msg("%s: %s: slope %.6g, gradient's square %.6g", spec[s], t->name, slope, length);
        }
        end(&b);
    }
}

TEST(a_few_steps_lower_the_loss)
{
    bench b;
    start(&b, "alibi", 2);
    double first = step(&b), last = 0;
    for (int i = 0; i < 30; i++)
        last = step(&b);
    assert_true(last < first - 0.5);
    end(&b);
}

TEST(the_exponential_is_within_two_ulp)
{
    for (double x = -86.9; x < 87.9; x += 0.00137) {
        double want = exp((double)(float)x), got = (double)lanes_exp((float)x);
        assert_true(fabs(got - want) <= 2 * 0x1p-23 * want);
    }
    assert_true(lanes_exp(0) == 1 && isnan(lanes_exp(NAN)) && lanes_exp(-1000) < 2e-38f && lanes_exp(-INFINITY) < 2e-38f);
}

/* w' = w - rate (m / (1-b1) / (sqrt(v / (1-b2)) + eps) + decay w) after one step: g / |g| where eps is small. */
TEST(adam_s_first_step_is_the_sign_of_the_gradient_times_the_rate)
{
    bench b;
    double loss;
    adam_rates r = ADAM_DEFAULTS;
    r.decay = 0;
    start(&b, "none", 1);
    assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
    const model_tensor *t = model_tensor_find(b.m, "layer.1.up");
    int64_t at = t->offset + 11;
    real before = model_weights(b.m)[at], g = b.m->grads[at];
    assert_true(fabs((double)g) > 1e-6);
    adam_step(&b.a, b.m, &r);
    double moved = (double)model_weights(b.m)[at] - (double)before;
    assert_true(fabs(moved + (g > 0 ? r.rate : -r.rate)) < 0.02 * r.rate);
    end(&b);
}

/* More weights than one slab of 65536. Squares are summed in float32, 1024 at a time: hence 1e-6. */
TEST(a_step_returns_the_length_of_the_gradient_of_all_tensors)
{
    bench b;
    double loss, sum = 0, last = 0;
    adam_rates r = ADAM_DEFAULTS;
    start_model(&b, &(model_config){ .vocab = V, .layers = 2, .width = 96, .heads = 4, .causal = true }, "learned", 2);
    assert_true(model_count(b.m) > 3 * 65536);
    assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
    for (int i = 0; i < model_tensor_count(b.m); i++) {
        const model_tensor *t = model_tensor_at(b.m, i);
        last = 0;
        for (int64_t n = 0; n < t->count; n++)
            last += (double)b.m->grads[t->offset + n] * (double)b.m->grads[t->offset + n];
        sum += last;
    }
    assert_true(last > 1e-3 * sum); /* the last tensor is seen in the sum */
    double length = adam_step(&b.a, b.m, &r);
    if (!(fabs(length - sqrt(sum)) < 1e-6 * sqrt(sum)))
        fail_msg("the length is %.9g; the tensors' is %.9g", length, sqrt(sum));
    end(&b);
}

static void fill_known(bench *b, double w, double g)
{
    memset(b->m->grads, 0, (size_t)b->m->count * sizeof(real));
    for (int i = 0; i < model_tensor_count(b->m); i++) {
        const model_tensor *t = model_tensor_at(b->m, i);
        for (int64_t n = 0; n < t->count; n++) {
            model_weights(b->m)[t->offset + n] = (real)w;
            b->m->grads[t->offset + n] = (real)(n % 2 ? -g : g);
        }
    }
}

/* Gradients g and -g, weights 2: after a step w = 2 -+ rate s g / (s g + eps) - rate decay 2, with s = clip / |gradient|
 * where that is below 1. eps is of g's size, so that s is seen; matrices decay, norms do not. The encoding's tensors
 * have their own rate and decay, times the others'. */
static void check_known_step(double decay, double clip)
{
    bench b;
    double loss, g = 0.01;
    adam_rates r = { .rate = 0.125, .beta1 = 0.9, .beta2 = 0.95, .eps = 0.005, .decay = decay, .clip = clip };
    start(&b, "t5+learned", 1);
    assert_true(model_train(b.m, "t5.table", 8, 0) && model_train(b.m, "learned.table", 0.5, 4));
    assert_false(model_train(b.m, "table", 1, 1));
    assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
    fill_known(&b, 2, g);
    double length = g * sqrt((double)model_count(b.m)), s = clip > 0 && clip < length ? clip / length : 1;
    assert_true(fabs(adam_step(&b.a, b.m, &r) - length) < 1e-5 * length);
    for (int i = 0; i < model_tensor_count(b.m); i++) {
        const model_tensor *t = model_tensor_at(b.m, i);
        for (int64_t n = 0; n < t->count; n++) {
            double times = t->position ? (strstr(t->name, "t5") ? 0 : 4) : t->rank > 1;
            double down = (n % 2 ? -g : g) * s / (g * s + r.eps) + times * decay * 2;
            double rate = r.rate * (t->position ? (strstr(t->name, "t5") ? 8 : 0.5) : 1);
            double want = 2 - rate * down, got = (double)model_weights(b.m)[t->offset + n];
            if (!(fabs(got - want) < 1e-5))
                fail_msg("decay %g, clip %g: %s[%d] is %.9g; needs %.9g", decay, clip, t->name, (int)n, got, want);
        }
    }
    end(&b);
}

TEST(clipping_and_decay_act_on_a_step_as_their_formulas_say)
{
    const double decay[] = { 0, 0.25 }, clip[] = { 0, 0.125, 0.5, 1e6 }; /* the gradient's length is about 1.5 */
    for (int i = 0; i < COUNT(decay); i++)
        for (int k = 0; k < COUNT(clip); k++)
            check_known_step(decay[i], clip[k]);
}

/* What a row says of its tensors is what a model does with them. */
TEST(each_learned_tensor_is_trained_as_its_row_says)
{
    for (int i = 0; i < pe_info_count(); i++) {
        bench b;
        char *text = spec_of(pe_info_at(i));
        start(&b, text, 1);
        const pe_encoding *e = model_encoding(b.m);
        for (int t = 0; t < pe_encoding_tensor_count(e); t++) {
            const pe_tensor *own = pe_encoding_tensor(e, t);
            char name[MODEL_NAME_MAX];
            snprintf(name, sizeof name, "layer.1.position.%s%s", own->name, own->projected ? ".weight" : "");
            const model_tensor *there = model_tensor_find(b.m, name);
            there = there ? there : model_tensor_find(b.m, name + strlen("layer.1."));
            assert_non_null(there);
            assert_true(there->rate == own->rate && there->decay == own->decay);
            assert_true(own->rate > 0 && own->rate <= 100 && own->decay == own->projected); /* a matrix decays */
        }
        end(&b);
        free(text);
    }
}

TEST(queries_are_scaled_and_nothing_else)
{
    bench a, b;
    start(&a, "rope", 1);
    start(&b, "rope", 1);
    model_scale_queries(b.m, 2);
    const model_tensor *t = model_tensor_find(a.m, "layer.1.qkv");
    for (int64_t n = 0; n < a.m->count; n++) {
        bool query = false;
        for (int l = 0; l < 2; l++)
            query = query || (n >= a.m->layer[l].qkv.weight && n < a.m->layer[l].qkv.weight + 32 * 32);
        assert_true(model_weights(b.m)[n] == model_weights(a.m)[n] * (query ? 2 : 1));
    }
    assert_int_equal(t->shape[0], 64); /* 32 rows of queries, 16 of keys, 16 of values */
    end(&a);
    end(&b);
}

TEST(the_rate_warms_up_and_falls_to_a_tenth)
{
    assert_true(fabs(adam_rate_at(1, 0, 100, 10) - 0.1) < 1e-12 && fabs(adam_rate_at(1, 9, 100, 10) - 1) < 1e-12);
    assert_true(fabs(adam_rate_at(1, 10, 101, 10) - 1) < 1e-12 && fabs(adam_rate_at(1, 55, 101, 10) - 0.55) < 1e-12);
    assert_true(fabs(adam_rate_at(1, 100, 101, 10) - 0.1) < 1e-12 && fabs(adam_rate_at(1, 500, 101, 10) - 0.1) < 1e-12);
    assert_true(adam_rate_at(1, 0, 1, 0) <= 1);
}

TEST(training_keeps_a_tensor_within_its_bounds)
{
    bench b;
    start(&b, "kerple", 1);
    const model_tensor *t = model_tensor_find(b.m, "layer.0.position.r1");
    assert_non_null(t);
    model_weights(b.m)[t->offset] = 1e-6f;
    adam_rates r = ADAM_DEFAULTS;
    r.rate = 1;
    double loss;
    for (int i = 0; i < 3; i++) {
        assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
        adam_step(&b.a, b.m, &r);
        for (int64_t n = 0; n < t->count; n++)
            assert_true(model_weights(b.m)[t->offset + n] >= 0x1p-20f);
        for (int64_t n = 0; n < b.m->count; n++) /* the rest of the model must not drown the test */
            model_weights(b.m)[n] *= n < t->offset || n >= t->offset + t->count ? 0.01f : 1;
    }
    end(&b);
}

TEST(a_loss_that_is_not_finite_names_its_layer)
{
    const struct {
        const char *tensor, *says;
    } row[] = { { "embed", "the embedding" },
                { "layer.0.qkv", "layer 0's queries" },
                { "layer.1.out", "layer 1's output projection" },
                { "layer.1.up", "layer 1's hidden units" },
                { "layer.0.down", "layer 0's down projection" },
                { "final", "the logits" } };
    for (int i = 0; i < COUNT(row); i++) {
        bench b;
        double loss;
        start(&b, "rope", 1);
        const model_tensor *t = model_tensor_find(b.m, row[i].tensor);
        for (int64_t n = 0; n < t->count; n++)
            model_weights(b.m)[t->offset + n] = NAN;
        assert_int_equal(model_gradients(b.m, &b.batch, &loss, &err), PE_ERR_RANGE);
        if (!strstr(err.text, row[i].says))
            fail_msg("%s is NaN: the message is: %s", row[i].tensor, err.text);
        assert_string_equal(model_broken(b.m), row[i].tensor);
        end(&b);
    }
}

/* Position tensors come last in the memory; the layer is named by its depth all the same. */
TEST(a_gradient_that_is_not_finite_names_the_last_layer_on_the_way)
{
    static const char *const order[] = { "embed", "layer.0.qkv", "layer.0.position.table", "layer.0.down",
                                         "layer.1.qkv", "layer.1.position.table", "layer.1.out", "final" };
    bench b;
    double loss;
    start(&b, "t5", 1);
    assert_ok(model_gradients(b.m, &b.batch, &loss, &err));
    assert_null(model_broken(b.m));
    for (int i = 0; i < COUNT(order); i++) { /* and all before it are broken too */
        b.m->grads[model_tensor_find(b.m, order[i])->offset] = NAN;
        assert_string_equal(model_broken(b.m), order[i]);
    }
    end(&b);
}

TEST(another_encoding_uses_what_was_trained)
{
    bench b;
    start(&b, "learned:rows=200", 1);
    double table = mean_loss(&b);
    assert_ok(model_use(b.m, "hierarchical:rows=200", &err));
    assert_true(mean_loss(&b) == table); /* the first rows are the table itself */
    assert_int_equal(model_use(b.m, "learned:rows=300", &err), PE_ERR_SHAPE);
    assert_int_equal(model_use(b.m, "t5", &err), PE_ERR_UNSUITED);
    assert_true(mean_loss(&b) == table); /* the one in use stayed */
    end(&b);
    start(&b, "transformer-xl:back=200", 1);
    table = mean_loss(&b);
    assert_ok(model_use(b.m, "transformer-xl:back=900", &err));
    assert_true(alike(mean_loss(&b), table));
    end(&b);
    start(&b, "rope", 1);
    table = mean_loss(&b);
    assert_ok(model_use(b.m, "rope:scaling=linear,factor=2", &err));
    assert_true(mean_loss(&b) != table);
    end(&b);
}

TEST(models_that_differ_in_their_encoding_alone_start_alike)
{
    bench a, b;
    start(&a, "rope", 1);
    start(&b, "learned+t5:scale=sqrt", 1);
    for (int i = 0; i < model_tensor_count(a.m); i++) {
        const model_tensor *t = model_tensor_at(a.m, i), *u = model_tensor_find(b.m, t->name);
        assert_non_null(u);
        assert_memory_equal(model_weights(a.m) + t->offset, model_weights(b.m) + u->offset,
                            (size_t)t->count * sizeof(real));
    }
    assert_true(model_position_count(a.m) == 0 && model_position_count(b.m) == 512 * 32 + 2 * 32 * 4);
    end(&a);
    end(&b);
}

TEST(seeds_and_layers_share_no_numbers)
{
    bench b;
    real first[4];
    int n = 0;
    start(&b, "shaw", 1);
    for (uint64_t seed = 1; seed <= 2; seed++)
        for (int l = 0; l < 2; l++) {
            char name[MODEL_NAME_MAX];
            snprintf(name, sizeof name, "layer.%d.position.key_table", l);
            model_init(b.m, seed);
            first[n++] = model_weights(b.m)[model_tensor_find(b.m, name)->offset];
        }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_true(first[i] != first[k]);
    end(&b);
}

TEST(a_batch_that_makes_no_sense_is_refused)
{
    bench b;
    double loss;
    static real losses[B * T];
    start(&b, "rope", 1);
    b.token[3] = V;
    assert_int_equal(model_losses(b.m, &b.batch, losses, NULL, &err), PE_ERR_RANGE);
    assert_string_equal(err.text, "token 3 is 40; needs 0 to 39");
    fill(&b, 1);
    b.target[5] = -2;
    assert_int_equal(model_losses(b.m, &b.batch, losses, NULL, &err), PE_ERR_RANGE);
    for (int i = 0; i < B * T; i++)
        b.target[i] = -1;
    assert_int_equal(model_gradients(b.m, &b.batch, &loss, &err), PE_ERR_SHAPE);
    fill(&b, 1);
    b.batch.length = 0;
    assert_int_equal(model_losses(b.m, &b.batch, losses, NULL, &err), PE_ERR_SHAPE);
    end(&b);
    start(&b, "learned:rows=100", 1);
    assert_int_equal(model_losses(b.m, &b.batch, losses, NULL, &err), PE_ERR_POSITION);
    assert_non_null(strstr(err.text, "100"));
    end(&b);
    model *m;
    assert_int_equal(model_new(&m, &(model_config){ .vocab = 8, .layers = 1, .width = 16, .heads = 4, .kv_heads = 3 },
                               "rope", NULL, &err),
                     PE_ERR_SHAPE);
    assert_null(m);
    assert_int_equal(model_new(&m, &(model_config){ .vocab = 8, .layers = 1, .width = 16, .heads = 4 }, "rop", NULL,
                               &err),
                     PE_ERR_SPEC);
}

/* Every allocation fails once; afterwards all works, and nothing is lost. */
TEST(memory_that_runs_out_is_an_error_and_leaks_nothing)
{
    model_config c = { .vocab = V, .layers = 1, .width = 16, .heads = 2, .causal = true };
    bench b = { 0 };
    fill(&b, 1);
    b.batch.sequences = 1;
    long fails = 0;
    size_t before = heap.live;
    for (long k = 1;; k++, fails++) {
        double loss;
        heap.fail = k;
        pe_status s = model_new(&b.m, &c, "transformer-xl:back=200", NULL, &err);
        if (!s)
            s = adam_new(&b.a, b.m, &err);
        if (!s)
            s = model_gradients(b.m, &b.batch, &loss, &err);
        if (!s)
            s = model_use(b.m, "transformer-xl:back=300", &err);
        if (!s)
            s = model_losses(b.m, &b.batch, (real[T]){ 0 }, NULL, &err);
        bool done = heap.fail > 0;
        heap.fail = 0;
        model_free(b.m);
        adam_free(&b.a);
        b.m = NULL;
        assert_int_equal(heap.live, before);
        if (done) {
            assert_int_equal(s, PE_OK);
            break;
        }
        assert_int_equal(s, PE_ERR_NOMEM);
    }
    assert_true(fails > 15);
}

TEST(steps_take_no_more_memory_as_they_go)
{
    bench b;
    start(&b, "t5", 1);
    b.batch.length = 20;
    b.batch.sequences = 1;
    b.batch.at.tokens = 20;
    step(&b);
    size_t live = heap.live;
    for (int i = 0; i < 1000 / TEST_THIN; i++)
        step(&b);
    assert_int_equal(heap.live, live);
    end(&b);
}

/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: lab
 *
 * A race's numbers, made a second time from what it wrote down: the training from its seed and schedule, bit for bit;
 * each measure from the weights of the last checkpoint, one window at a time; the steps from the minutes. */
#include "lab_case.h"

#include "lab/race.h"
#include "model/gemm.h"
#include "model/parts.h"

#include "test.h"

typedef struct want {
    const char *source, *encodings;
    int64_t train_length, test[2];
} want;

/* 48 and 49 leave bins without a token, 130 and 200 have bins of 2 to 4; rope with a scaling uses rope's weights. A grid
 * has two axes and asks in both directions. */
static const want wants[] = {
    { "stories", "rope,rope:scaling=ntk,t5", 48, { 48, 200 } },
    { "recall", "alibi,learned", 64, { 64, 130 } },
    { "grid", "rope,rope:axes=2,split=axial", 49, { 49, 144 } },
};

enum { STEPS = 3, TEST_TOKENS = 9000 }; /* more than are tested at a time */

typedef struct scene {
    lab_case at;
    race *race;
    lab_data *data;
    race_asked asked;
} scene;

static void ask(race_asked *out, const want *w, const char *folder)
{
    lab_setup *s = &out->setup;
    memset(out, 0, sizeof *out);
    assert_ok(race_add_list(s, w->encodings, &err));
    s->layers = 1, s->width = 16, s->heads = 2, s->batch = 3;
    s->train_length = w->train_length;
    s->test[s->tests++] = w->test[0];
    s->test[s->tests++] = w->test[1];
    s->test_tokens = TEST_TOKENS;
    s->seed[s->seeds++] = 3;
    s->seed[s->seeds++] = 11;
    s->steps = STEPS, s->warmup = 1, s->rate = 0.03;
    s->decay = 0.5, s->clip = 0.125; /* both are seen in the weights */
    out->source = (lab_source){ .name = w->source };
    out->keep = 1, out->threads = 2;
    snprintf(out->folder, sizeof out->folder, "%s", folder);
}

static void start(scene *c, const want *w, double minutes)
{
    snprintf(c->at.folder, sizeof c->at.folder, "/tmp/posenc-measures-XXXXXX");
    assert_non_null(mkdtemp(c->at.folder));
    ask(&c->asked, w, c->at.folder);
    c->asked.setup.minutes = minutes;
    assert_ok(race_open(&c->race, &c->asked, &err));
    assert_ok(race_start(c->race, &err));
    assert_ok(lab_data_open(&c->data, &c->asked.source, &err));
}

static void end(scene *c)
{
    lab_data_free(c->data);
    race_free(c->race);
    case_free(&c->at);
}

/* ---------------------------------------------------------------- what the test makes itself */

static model *new_model(const scene *c, const race_training *t)
{
    model *m;
    const lab_setup *s = &c->asked.setup;
    model_config config = { .vocab = lab_data_vocab(c->data), .layers = s->layers, .width = s->width, .heads = s->heads };
    config.causal = lab_data_causal(c->data);
    config.embed_scale = 4; /* the root of the width */
    assert_ok(model_new(&m, &config, c->race->results.setup.entry[t->entry].trained, NULL, &err));
    model_init(m, t->seed);
    return m;
}

/* Positions of its own for an encoding that knows as many axes, else 0, 1, 2, ... */
static model_batch batch_for(const model *m, const lab_batch *b)
{
    static int64_t line[256];
    for (int64_t i = 0; i < COUNT(line); i++)
        line[i] = i;
    bool own = pe_encoding_axes(model_encoding(m)) == b->axes;
    return (model_batch){ b->token, b->target, pe_positions_of(own ? b->at : line, PE_I64, 1, b->length, own ? b->axes : 1), b->sequences,
                          b->length };
}

static void check_step(const lab_train_line *line, int64_t n, double loss, double norm, double rate)
{
    assert_int_equal(line->step, n + 1);
    assert_true(line->loss == loss && line->norm == norm && line->rate == rate);
    assert_true(norm > 0.125); /* so that clipping acts */
}

/* The training by hand; its losses, rates and gradients' lengths are those of the log. */
static model *train(const scene *c, int training)
{
    const lab_setup *s = &c->asked.setup;
    const race_training *t = &c->race->training[training];
    const lab_run *run = &c->race->results.run[training];
    model *m = new_model(c, t);
    adam a;
    lab_batch b;
    double loss;
    assert_ok(adam_new(&a, m, &err));
    assert_ok(lab_batch_new(&b, c->data, LAB_TRAIN, s->batch, s->train_length, &err));
    assert_int_equal(run->trains, STEPS);
    for (int64_t n = 0; n < STEPS; n++) {
        lab_data_train(c->data, &b, t->seed, n);
        model_batch batch = batch_for(m, &b);
        assert_ok(model_gradients(m, &batch, &loss, &err));
        adam_rates r = ADAM_DEFAULTS;
        r.rate = adam_rate_at(s->rate, n, STEPS, s->warmup);
        r.decay = s->decay;
        r.clip = s->clip;
        check_step(&run->train[n], n, loss, adam_step(&a, m, &r), r.rate);
    }
    assert_true(run->ended && run->end.final_loss == loss && run->end.tokens == STEPS * s->batch * s->train_length);
    adam_free(&a);
    lab_batch_free(&b);
    return m;
}

/* The weights of the last checkpoint. */
static model *trained(const scene *c, int training)
{
    bool found;
    char skipped[300];
    checkpoint_state state;
    const race_training *t = &c->race->training[training];
    model *m = new_model(c, t);
    checkpoint_wanted wanted = { .config = race_fingerprint(&c->race->results.setup, t) };
    assert_ok(checkpoint_newest(t->folder, m, NULL, &state, &wanted, &found, skipped, sizeof skipped, &err));
    assert_true(found && state.step == STEPS && !*skipped);
    return m;
}

TEST(a_training_is_its_seed_data_and_schedule_bit_for_bit)
{
    for (int i = 0; i < COUNT(wants); i++) {
        static scene c;
        start(&c, &wants[i], 0);
        assert_ok(race_run(c.race, &err));
        assert_int_equal(c.race->trainings, 4); /* two trained specs, two seeds */
        for (int k = 0; k < c.race->trainings; k++) {
            model *own = train(&c, k), *theirs = trained(&c, k);
            assert_int_equal(own->count, theirs->count);
            if (memcmp(model_weights(own), model_weights(theirs), (size_t)own->count * sizeof(real)))
                fail_msg("%s: training %d has other weights than its schedule gives", wants[i].source, k);
            model_free(own);
            model_free(theirs);
        }
        end(&c);
    }
}

/* ---------------------------------------------------------------- measures */

/* Bits of each target at one length, (windows, length); distance: -1 where nothing is asked. */
typedef struct sheet {
    double *bits;
    int32_t *distance;
    uint8_t *right;
    int64_t windows, length;
} sheet;

static void fill_window(const scene *c, const sheet *s, model *m, lab_batch *b, int64_t window)
{
    real loss[256];
    int64_t at = window * s->length;
    lab_data_test(c->data, b, window);
    model_batch batch = batch_for(m, b);
    assert_ok(model_losses(m, &batch, loss, s->right + at, &err));
    for (int64_t i = 0; i < s->length; i++) {
        s->bits[at + i] = (double)loss[i] * 1.4426950408889634; /* log2(e) */
        s->distance[at + i] = b->target[i] < 0 ? -1 : b->distance[i];
    }
}

static void fill_sheet(sheet *out, const scene *c, model *m, int64_t length)
{
    lab_batch b;
    *out = (sheet){ .windows = TEST_TOKENS / length, .length = length };
    size_t count = (size_t)(out->windows * length);
    out->bits = calloc(count, sizeof *out->bits);
    out->distance = calloc(count, sizeof *out->distance);
    out->right = calloc(count, 1);
    assert_true(out->bits && out->distance && out->right);
    assert_ok(lab_batch_new(&b, c->data, LAB_TEST, 1, length, &err));
    for (int64_t w = 0; w < out->windows; w++)
        fill_window(c, out, m, &b, w);
    lab_batch_free(&b);
}

static void free_sheet(sheet *s)
{
    free(s->bits);
    free(s->distance);
    free(s->right);
}

/* Mean bits of the targets at from <= i < to; NAN: none. */
static double mean_bits(const sheet *s, int64_t from, int64_t to)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t w = 0; w < s->windows; w++)
        for (int64_t i = from; i < to; i++)
            if (s->distance[w * s->length + i] >= 0) {
                sum += s->bits[w * s->length + i];
                count++;
            }
    return count ? sum / (double)count : NAN;
}

/* Asked and right of targets told least .. most tokens before. */
static int64_t count_told(const sheet *s, int64_t least, int64_t most, bool right)
{
    int64_t count = 0;
    for (int64_t n = 0; n < s->windows * s->length; n++)
        count += s->distance[n] >= least && s->distance[n] <= most && (!right || s->right[n]);
    return count;
}

/* room: the BLAS may round a row in another way beside other rows, the race's; of 9000 likeliest tokens it may turn one. */
static void must_be(const char *what, int64_t part, const lab_test_line *l, double got, double right, double room)
{
    if (!(isnan(right) ? isnan(got) : fabs(got - right) <= room))
        fail_msg("%s at %lld: %s %lld is %.17g; the weights give %.17g", l->spec, (long long)l->length, what,
                 (long long)part, got, right);
}

static int64_t up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void check_line(const sheet *s, const lab_test_line *l)
{
    int64_t L = s->length;
    assert_int_equal(l->windows, s->windows);
    assert_string_equal(l->cannot, "");
    must_be("bits", 0, l, l->bits, mean_bits(s, 0, L), 1e-5);
    must_be("last quarter", 0, l, l->last_quarter, mean_bits(s, L - up(L, 4), L), 1e-5);
    for (int64_t k = 0; k < LAB_BINS; k++)
        must_be("position", k, l, l->by_position[k], mean_bits(s, up(k * L, LAB_BINS), up((k + 1) * L, LAB_BINS)), 1e-5);
    for (int k = 0; k < LAB_DISTANCES; k++) {
        int64_t least = (int64_t)1 << k, most = 2 * least - 1;
        must_be("asked from 2 to the", k, l, (double)l->asked[k], (double)count_told(s, least, most, false), 0);
        must_be("right from 2 to the", k, l, (double)l->right[k], (double)count_told(s, least, most, true), 1);
    }
    must_be("asked", 0, l, (double)l->asked_all, (double)count_told(s, 0, INT32_MAX, false), 0);
    must_be("right", 0, l, (double)l->right_all, (double)count_told(s, 0, INT32_MAX, true), 1);
}

/* What must be there for the numbers above to say something. */
static void check_says_something(const scene *c, const char *source)
{
    int64_t right = 0, told = 0, kinds = 0, tests = 0;
    for (int i = 0; i < c->race->results.tests; i++) {
        const lab_test_line *l = &c->race->results.test[i];
        tests += !*l->cannot;
        right += l->right_all;
        for (int k = 0; k < LAB_DISTANCES; k++) {
            told += l->right[k];
            kinds += l->asked[k] > 0;
        }
    }
    assert_true(tests > 5 && right > 50 && kinds >= tests);
    assert_true(told > 50 || !strcmp(source, "stories")); /* whose answers take longer to learn */
}

static void check_tests(const scene *c, int training)
{
    const lab_setup *s = &c->race->results.setup;
    const race_training *t = &c->race->training[training];
    model *m = trained(c, training);
    for (int e = 0; e < s->entries; e++)
        for (int k = 0; k < s->tests && !strcmp(s->entry[e].trained, s->entry[t->entry].trained); k++) {
            const lab_test_line *l = lab_find_test(&c->race->results, e, t->seed, c->asked.setup.test[k]);
            assert_non_null(l);
            if (*l->cannot) {
                assert_true(!strcmp(s->entry[e].name, "learned") && k == 1);
                continue;
            }
            sheet own;
            assert_ok(model_use(m, l->spec, &err));
            fill_sheet(&own, c, m, l->length);
            check_line(&own, l);
            free_sheet(&own);
        }
    model_free(m);
}

TEST(measures_are_what_the_weights_of_the_checkpoint_give)
{
    for (int i = 0; i < COUNT(wants); i++) {
        static scene c;
        start(&c, &wants[i], 0);
        assert_ok(race_run(c.race, &err));
        for (int k = 0; k < c.race->trainings; k++)
            check_tests(&c, k);
        check_says_something(&c, wants[i].source);
        end(&c);
    }
}

/* ---------------------------------------------------------------- minutes */

/* An hour less the tests, in steps of all models: a tenth of that is spare, for the calibration and the report. */
TEST(minutes_become_the_steps_that_fit_into_them)
{
    static scene c;
    static lab_setup kept;
    start(&c, &wants[0], 60);
    const lab_setup *s = &c.race->results.setup;
    assert_true(s->step_seconds > 0 && s->test_seconds > 0);
    double most = (3600 - s->seeds * s->test_seconds) / (s->seeds * s->step_seconds);
    if (!((double)s->steps > 0.9 * most && (double)s->steps <= most))
        fail_msg("%lld steps; an hour has %.1f", (long long)s->steps, most);
    assert_ok(lab_read_setup(&kept, c.at.folder, &err));
    assert_true(kept.steps == s->steps && kept.minutes == 60);
    end(&c);
}

AROUND(before_all)
{
    gemm_start();
}

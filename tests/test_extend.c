/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: zoo
 *
 * Plans for longer contexts against arithmetic of this file's own, and JSON texts changed in place. */

#include "zoo/build.h"
#include "zoo/extend.h"
#include "zoo/extend_patch.h"
#include "zoo/json_edit.h"

#include <math.h>

#include "test.h"

static const double PI = 3.14159265358979323846;

/* ---------------------------------------------------------------- models without a reader */

typedef struct layers {
    const char *spec;
    int64_t window;
} layers;

static zoo_model *model(const char *type, const layers *of, int kinds, int64_t trained, int64_t served)
{
    static const zoo_options options = { 0 };
    zoo_model *m = NULL;
    zoo_part *p;
    zoo_builder *b = zoo_begin("config.json", "config.json", &options, &err);
    assert_non_null(b);
    assert_ok(zoo_add_part(b, &p, "", type, 4));
    for (int64_t n = 0; n < 4; n++) {
        const layers *l = &of[n % kinds];
        pe_shape shape = { .heads = 4, .head_dim = 128, .model_dim = 512 };
        const char *kind = l->window ? "sliding_attention" : "full_attention";
        assert_ok(zoo_set_layer(b, p, n, l->spec, shape, kinds > 1 ? kind : "", l->window));
    }
    p->trained = trained;
    p->served = served;
    assert_ok(zoo_finish(&m, b, PE_OK));
    return m;
}

/* A model and where it is to go. */
typedef struct aim {
    const char *type, *spec;
    int64_t trained, served, target;
} aim;

typedef struct plans {
    zoo_model *zoo;
    extend_model x;
    extend_plan *plan; /* NULL: there is nothing to plan */
} plans;

static plans open_plans(const aim *a)
{
    plans p = { .zoo = model(a->type, &(layers){ a->spec, 0 }, 1, a->trained, a->served) };
    assert_ok(extend_open(&p.x, p.zoo, a->target, 0, &err));
    if (p.x.verdict == EXTEND_PLAN)
        assert_ok(extend_plans_new(&p.plan, &p.x, &err));
    return p;
}

static void close_plans(plans *p)
{
    extend_plans_free(p->plan);
    extend_close(&p->x);
    zoo_free(p->zoo);
}

static const extend_plan *plan(const plans *p, const char *name)
{
    return &p->plan[extend_find(name) - extend_methods];
}

static void near(double a, double b, double relative)
{
    if (!(a == b || fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static double theta_frequency(double theta, int n, int d)
{
    return pow(theta, -2.0 * n / d);
}

static const aim llama2 = { "llama", "rope", 4096, 4096, 32768 };

/* ---------------------------------------------------------------- numbers of plans */

typedef struct numbers {
    const char *method;
    struct {
        const char *what;
        double truth;
    } of[9]; /* to 1e-9, whole numbers to 1e-11 */
} numbers;

static double number_of(const extend_plan *p, const char *what)
{
    const struct {
        const char *name;
        double value;
    } of[] = { { "serves", p->serves }, { "holds", extend_holds(p) }, { "value", p->value }, { "theta", p->theta },
               { "leaving", (double)p->leaving }, { "first", (double)p->first }, { "last", (double)p->last },
               { "worst", p->worst }, { "magnitude", p->magnitude }, { "logits", p->logits },
               { "short same", p->cost.same }, { "short changed", (double)p->cost.changed },
               { "short fastest", (double)p->cost.fastest }, { "short slower", p->cost.slower },
               { "short mean", p->cost.mean }, { "short angle", p->cost.angle },
               { "short magnitude", p->cost.magnitude }, { "short logits", p->cost.logits } };
    int i = 0;
    while (i < COUNT(of) && strcmp(of[i].name, what))
        i++;
    assert_true(i < COUNT(of));
    return of[i].value;
}

static void expect_numbers(const plans *p, const numbers *n, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < COUNT(n->of) && n[i].of[k].what; k++) {
            double x = number_of(plan(p, n[i].method), n[i].of[k].what), truth = n[i].of[k].truth;
            if (!(x == truth || fabs(x - truth) <= (truth == floor(truth) ? 1e-11 : 1e-9) * fabs(truth)))
                fail_msg("%s of %s is %.17g, not %.17g", n[i].of[k].what, n[i].method, x, truth);
        }
}

TEST(llama2_at_eight_times_its_length)
{
    /* NTK's theta s^(d/(d-2)), s = 8: the slowest pair is 8 times slower and stays in range, the other 17 that have
     * made no turn leave it, the first of them, pair 46, by about 8 / 8^(92/126) */
    double theta = ceil(10000 * pow(8, 128.0 / 126)), angle = 0;
    double worst = 8 * theta_frequency(theta, 46, 128) / theta_frequency(10000, 46, 128);
    for (int n = 0; n < 64; n++)
        angle = fmax(angle, 256 * (theta_frequency(10000, n, 128) - theta_frequency(theta, n, 128)));
    double longrope = sqrt(1 + log(8) / log(4096));
    int low = (int)floor(128 * log(4096 / (32 * 2 * PI)) / (2 * log(10000))); /* YaRN's ramp is 0 at this pair */
    const numbers truth[] = {
        /* unscaled, the pairs that have made no turn leave, eight times as far as they have been */
        { "none", { { "leaving", 18 }, { "first", 46 }, { "last", 63 }, { "worst", 8 } } },
        /* interpolations need target over trained */
        { "linear", { { "value", 8 }, { "serves", 1 }, { "magnitude", 1 }, { "short changed", 64 },
                      { "short slower", 8 }, { "short mean", 7.0 / 8 }, { "short angle", 256 * 7.0 / 8 } } },
        { "llama3", { { "value", 8 }, { "serves", 1 }, { "magnitude", 1 } } },
        { "longrope", { { "value", 8 }, { "serves", 1 }, { "magnitude", longrope }, { "short changed", 0 },
                        { "short same", 0 }, { "short magnitude", longrope } } }, /* short prompts have it too */
        { "yarn", { { "value", 8 }, { "serves", 1 }, { "magnitude", 0.1 * log(8) + 1 },
                    { "short changed", 64 - low - 1 }, { "short fastest", low + 1 } } },
        { "ntk", { { "value", 8 }, { "theta", theta }, { "holds", 1 }, { "serves", 0 }, { "leaving", 17 },
                   { "first", 46 }, { "last", 62 }, { "worst", worst }, { "short angle", angle } } },
        { "ntk", { { "short changed", 63 }, { "short same", 0 } } },
        { "dynamic", { { "value", 1 }, { "holds", 1 }, { "leaving", 17 }, { "short same", 1 }, /* s 8 - (s - 1) = 8 */
                       { "short changed", 0 } } },
        /* p-RoPE keeps the pairs that have made a turn */
        { "p-rope", { { "serves", 1 }, { "value", 46.0 / 64 }, { "short changed", 18 },
                      { "short slower", INFINITY } } },
    };
    plans p = open_plans(&llama2);
    expect_numbers(&p, truth, COUNT(truth));
    near(plan(&p, "dynamic")->worst, plan(&p, "ntk")->worst, 1e-4); /* NTK's theta is a whole number */
    assert_true(plan(&p, "yarn")->cost.angle < plan(&p, "linear")->cost.angle / 10);
    assert_string_equal(plan(&p, "yarn")->spec, "rope:scaling=yarn,trained=4096,factor=8");
    close_plans(&p);
}

TEST(turns_are_trained_length_over_wavelength)
{
    plans p = open_plans(&llama2);
    int64_t below = 0;
    assert_int_equal(p.x.verdict, EXTEND_PLAN);
    assert_int_equal(p.x.pairs, 64);
    for (int n = 0; n < 64; n++) {
        double wavelength = 2 * PI / theta_frequency(10000, n, 128);
        near(p.x.pair[n].wavelength, wavelength, 1e-12);
        near(p.x.pair[n].turns, 4096 / wavelength, 1e-12);
        below += 4096 / wavelength < 1;
    }
    assert_int_equal(below, 18);
    close_plans(&p);
}

/* 1 above 32 turns, 8 below one, and between them straight in log(turns). */
TEST(longrope_divides_by_the_turns_a_pair_made)
{
    plans p = open_plans(&llama2);
    const char *at = strstr(plan(&p, "longrope")->spec, "long=");
    assert_non_null(at);
    at += 5;
    for (int n = 0; n < 64; n++) {
        char *end;
        double turns = 4096 * theta_frequency(10000, n, 128) / (2 * PI);
        near(strtod(at, &end), turns < 1 ? 8 : turns >= 32 ? 1 : pow(8, 1 - log(turns) / log(32)), 1e-8);
        at = end + 1;
    }
    close_plans(&p);
}

/* A share of the pairs whose product with the width is rounded down must not lose one; it is one of the whole head. */
TEST(prope_keeps_its_count_at_any_length)
{
    for (int64_t trained = 16; trained <= 16384; trained += 2111) {
        plans p = open_plans(&(aim){ "llama", "rope", trained, trained, 65536 });
        int64_t below = 0; /* pairs that rotate, but by less than a whole turn in the trained length */
        for (int64_t n = 0; n < p.x.pairs; n++)
            below += p.x.pair[n].turns > 0 && p.x.pair[n].turns < 1;
        assert_int_equal(plan(&p, "p-rope")->cost.changed, below);
        close_plans(&p);
    }
    plans p = open_plans(&(aim){ "gpt_neox", "rope:dims=32", 2048, 2048, 8192 });
    assert_false(plan(&p, "p-rope")->applies);
    assert_non_null(strstr(plan(&p, "p-rope")->why, "whole head"));
    assert_true(plan(&p, "yarn")->serves);
    close_plans(&p);
}

/* ---------------------------------------------------------------- models with a scaling of their own */

TEST(deepseek_softmax_follows_the_factor)
{
    char spec[200];
    double g = 0.1 * log(40) + 1, h = 0.1 * log(80) + 1;
    snprintf(spec, sizeof spec,
             "rope:dims=64,scaling=yarn,factor=40,trained=4096,mscale=1,mscale_all_dim=1,softmax=%.17g", g * g);
    aim a = { "deepseek_v3", spec, 4096, 163840, 327680 };
    const numbers truth[] = { /* mscale over mscale_all_dim is 1: all of it is on the softmax */
        { "yarn", { { "value", 80 }, { "logits", h * h }, { "short logits", h * h / (g * g) } } },
        { "none", { { "logits", g * g } } },
    };
    plans p = open_plans(&a);
    expect_numbers(&p, truth, COUNT(truth));
    const char *at = strstr(plan(&p, "yarn")->spec, "softmax=");
    assert_non_null(at);
    near(strtod(at + 8, NULL), h * h, 1e-12);
    assert_null(strstr(plan(&p, "linear")->spec, "softmax")); /* it came from mscale_all_dim, which is YaRN's */
    close_plans(&p);
}

TEST(a_long_list_is_multiplied)
{
    char list[1000] = "", spec[2200];
    for (int n = 0; n < 64; n++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", n ? "/" : "", n < 20 ? 1 : 32);
    snprintf(spec, sizeof spec, "rope:scaling=longrope,factor=32,trained=4096,short=%s,long=%s", list, list);
    aim a = { "phi3", spec, 4096, 131072, 262144 };
    static const numbers truth = { "longrope", { { "serves", 1 }, { "value", 2 }, { "short changed", 0 } } };
    plans p = open_plans(&a);
    expect_numbers(&p, &truth, 1);
    const char *last = strrchr(plan(&p, "longrope")->spec, '/');
    assert_non_null(last);
    near(strtod(last + 1, NULL), 64, 1e-8);
    close_plans(&p);
}

/* ---------------------------------------------------------------- what to take */

/* A scaling of the model's own is raised, and no other is put on top of it. */
TEST(recommendations_follow_the_rules)
{
    static const struct {
        aim aim;
        const char *pick;
        double value;       /* of it; 0: not asked */
        const char *spec, *why; /* words in them */
    } rows[] = {
        { { "llama", "rope", 4096, 4096, 32768 }, "yarn", 8, "", "" },
        { { "llama", "rope", 4096, 4096, 16384 }, "ntk", 4, "", "" },
        { { "llama", "rope", 4096, 4096, 16385 }, "yarn", 0, "", "" },
        { { "llama", "rope:dims=32", 4096, 4096, 32768 }, "yarn", 0, "", "" }, /* 16 pairs */
        { { "llama", "rope:dims=30", 4096, 4096, 32768 }, "ntk", 0, "", "" },  /* 15 */
        { { "llama", "rope:theta=500000", 8192, 8192, 65536 }, "llama3", 0, "", "" },
        { { "mistral", "rope:theta=500000", 8192, 8192, 65536 }, "yarn", 0, "", "" },
        /* wavelengths up to 471: all have made a turn */
        { { "llama", "rope:dims=32,theta=100", 8192, 8192, 65536 }, "none", 0, "", "" },
        { { "llama", "rope:scaling=linear,factor=2", 4096, 4096, 32768 }, "linear", 0, "", "" },
        { { "llama", "rope:scaling=ntk,alpha=3", 4096, 4096, 8192 }, "ntk", 6, "", "" },
        { { "llama", "rope:scaling=dynamic,factor=2,trained=4096", 4096, 4096, 32768 }, "dynamic", 0, "", "" },
        { { "llama", "rope:scaling=dynamic,factor=2,trained=4096", 4096, 8192, 32768 }, "dynamic", 2, "",
          "its factor stays" }, /* theta grows by itself */
        { { "qwen2", "rope:theta=1e6,scaling=yarn,factor=4,trained=32768,beta_fast=16", 32768, 131072, 262144 },
          "yarn", 8, "beta_fast=16", "never stacked" },
        { { "qwen2", "rope:theta=1e6,scaling=yarn,factor=4,trained=32768,beta_fast=16", 32768, 131072, 262144 },
          "yarn", 8, "trained=32768", "" },
        { { "llama", "rope:theta=500000,scaling=llama3,factor=8,trained=8192", 8192, 131072, 262144 }, "llama3", 16, "",
          "" },
        { { "qwen2", "rope:theta=1e6", 32768, 32768, 131072 }, "yarn", 4, "", "its makers prescribe YaRN" },
        { { "qwen3_moe", "rope:theta=1e6", 40960, 40960, 81920 }, "yarn", 2, "", "its makers" },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        char why[400];
        plans p = open_plans(&rows[i].aim);
        int pick = extend_recommend(&p.x, p.plan, why);
        assert_string_equal(extend_methods[pick].name, rows[i].pick);
        if (rows[i].value > 0)
            assert_true(p.plan[pick].value == rows[i].value);
        assert_non_null(strstr(p.plan[pick].spec, rows[i].spec));
        assert_non_null(strstr(why, rows[i].why));
        assert_true(extend_holds(&p.plan[pick]) && *why && why[strlen(why) - 1] != '.');
        assert_true(strlen(why) < 390); /* whole */
        if (*rows[i].spec)
            assert_int_equal(p.x.reach, rows[i].aim.served);
        close_plans(&p);
    }
}

TEST(every_plan_that_serves_stays_within_seen_angles)
{
    static const char *const specs[] = { "rope", "rope:theta=500000", "rope:theta=1e6,dims=64", "rope:pairs=adjacent",
                                         "rope:sections=16/24/24", "rope:denominator=d-2" };
    for (int i = 0; i < COUNT(specs); i++) {
        plans p = open_plans(&(aim){ "llama", specs[i], 4096, 4096, 100000 });
        for (int m = 0; m < extend_method_count; m++) {
            pe_encoding *e;
            pe_pair pair[64];
            if (!p.plan[m].applies || !p.plan[m].serves)
                continue;
            assert_int_equal(pe_encoding_new(&e, p.plan[m].spec, p.x.group->shape, NULL), PE_OK);
            assert_int_equal(pe_encoding_pairs(e, pair, p.x.pairs, NULL), PE_OK);
            for (int64_t n = 0; n < p.x.pairs; n++)
                if (p.x.pair[n].frequency * 4096 < 2 * PI)
                    assert_true(pair[n].frequency * 100000 <= p.x.pair[n].frequency * 4096 * (1 + 2e-9));
            pe_encoding_free(e);
        }
        assert_true(plan(&p, "linear")->serves && plan(&p, "yarn")->serves && plan(&p, "llama3")->serves);
        close_plans(&p);
    }
}

/* ---------------------------------------------------------------- nothing to do, nothing to be done */

TEST(models_that_need_nothing_are_told_so)
{
    static const struct {
        const char *spec;
        int64_t target;
        extend_verdict verdict;
        const char *words;
    } rows[] = {
        { "rope", 2048, EXTEND_NOTHING, "was trained at" },
        { "alibi", 8192, EXTEND_NOTHING, "nothing to set" },
        { "forget", 8192, EXTEND_NOTHING, "nothing to set" },
        { "inkling", 8192, EXTEND_NOTHING, "so any length is defined. There is nothing to set" },
        { "inkling:floor=4096", 8192, EXTEND_NOTHING, "log_scaling_n_floor makes" },
        { "t5", 8192, EXTEND_NOTHING, "nothing to set" },
        { "none", 8192, EXTEND_NOTHING, "nothing to set" },
        { "learned:rows=2048", 8192, EXTEND_NO, "hierarchical" },
        { "sinusoidal", 8192, EXTEND_NO, "Train it longer" },
        { "xpos", 8192, EXTEND_NO, "2212.10554" },
        { "fope:trained=2048", 8192, EXTEND_NOTHING, "no angle is new" },
        { "pope", 8192, EXTEND_NO, "2509.10534" },
        { "shaw", 8192, EXTEND_NO, "No layer has pairs that rotate (shaw)" },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        plans p = open_plans(&(aim){ "any", rows[i].spec, 2048, 2048, rows[i].target });
        assert_int_equal(p.x.verdict, rows[i].verdict);
        assert_non_null(strstr(p.x.why, rows[i].words));
        close_plans(&p);
    }
}

TEST(only_layers_that_see_everything_count)
{
    extend_model x;
    zoo_model *m = model("gemma3", (layers[]){ { "rope", 1024 }, { "rope:theta=1e6", 0 } }, 2, 32768, 32768);
    assert_int_equal(extend_open(&x, m, 131072, 0, &err), PE_OK);
    assert_int_equal(x.verdict, EXTEND_PLAN);
    assert_int_equal(x.windowed, 2);
    assert_string_equal(x.kind, "full_attention");
    assert_non_null(strstr(x.group->spec, "theta=1000000"));
    assert_false(x.mixed);
    extend_close(&x);
    zoo_free(m);
    m = model("cohere2", (layers[]){ { "rope", 4096 }, { "none", 0 } }, 2, 8192, 8192);
    assert_int_equal(extend_open(&x, m, 131072, 0, &err), PE_OK);
    assert_int_equal(x.verdict, EXTEND_NOTHING);
    assert_non_null(strstr(x.why, "window"));
    extend_close(&x);
    zoo_free(m);
}

TEST(a_model_without_a_length_asks_for_it)
{
    extend_model x;
    zoo_model *m = model("llama", &(layers){ "rope", 0 }, 1, 0, 0);
    assert_int_equal(extend_open(&x, m, 8192, 0, &err), PE_ERR_RANGE);
    assert_non_null(strstr(err.text, "--trained"));
    assert_int_equal(extend_open(&x, m, 8192, 2048, &err), PE_OK);
    assert_int_equal(x.trained, 2048);
    extend_close(&x);
    zoo_free(m);
}

/* ---------------------------------------------------------------- JSON texts */

TEST(a_text_changes_only_where_it_is_told)
{
    static const struct {
        const char *before;
        json_edit edit;
        const char *after;
    } rows[] = {
        { "{\"a\": 1}", { { "a" }, "2" }, "{\"a\": 2}" },
        { "{ \"x\" :[1, {\"a\":3}] ,\"a\":1e3}", { { "a" }, "2" }, "{ \"x\" :[1, {\"a\":3}] ,\"a\":2}" },
        { "{\"t\": {\"a\": 1}, \"a\": 5}", { { "t", "a" }, "2" }, "{\"t\": {\"a\": 2}, \"a\": 5}" },
        { "{\"s\": \"\\\"a\\\": 1, {\", \"a\": null}", { { "a" }, "2" }, "{\"s\": \"\\\"a\\\": 1, {\", \"a\": 2}" },
        { "{\"\xc3\xa9\": \"\xe2\x82\xac\", \"a\": 1}", { { "a" }, "2" },
          "{\"\xc3\xa9\": \"\xe2\x82\xac\", \"a\": 2}" },
        { "{\"aa\": 1, \"a\": 1}", { { "a" }, "2" }, "{\"aa\": 1, \"a\": 2}" },
        /* a new member is written as its neighbours */
        { "{}", { { "a" }, "2" }, "{\"a\": 2}" },
        { "{\"b\": 1}", { { "a" }, "2" }, "{\"b\": 1, \"a\": 2}" },
        { "{\n  \"b\": 1\n}\n", { { "a" }, "2" }, "{\n  \"b\": 1,\n  \"a\": 2\n}\n" },
        { "{\r\n\t\"b\": {}\r\n}", { { "a" }, "2" }, "{\r\n\t\"b\": {},\r\n\t\"a\": 2\r\n}" },
        { "{\n  \"b\": 1\n}", { { "s", "f" }, "2" }, "{\n  \"b\": 1,\n  \"s\": {\n    \"f\": 2\n  }\n}" },
        { "{\n  \"s\": null,\n  \"b\": 1\n}", { { "s", "f" }, "2" },
          "{\n  \"s\": {\n    \"f\": 2\n  },\n  \"b\": 1\n}" },
        { "{\"t\":{\"u\":{}}}", { { "t", "u", "v", "w" }, "[1]" }, "{\"t\":{\"u\":{\"v\": {\"w\": [1]}}}}" },
        /* a member goes with its comma */
        { "{\"a\": 1, \"b\": 2}", { { "a" }, NULL }, "{\"b\": 2}" },
        { "{\"a\": 1, \"b\": 2}", { { "b" }, NULL }, "{\"a\": 1}" },
        { "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", { { "b" }, NULL }, "{\n  \"a\": 1,\n  \"c\": 3\n}" },
        { "{\n  \"a\": 1\n}", { { "a" }, NULL }, "{\n}" },
        { "{\"a\": 1}", { { "z" }, NULL }, "{\"a\": 1}" },
        { "{\"a\": 1}", { { "a", "z" }, NULL }, "{\"a\": 1}" },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        char *out = NULL;
        assert_ok(json_edit_apply(&out, rows[i].before, &rows[i].edit, 1, &err));
        assert_string_equal(out, rows[i].after);
        free(out);
    }
}

TEST(broken_texts_are_refused_or_left)
{
    static const char *const texts[] = { "",      "[]",        "nul",        "{\"a\":1,\"a\":2}", "{\"a\"",
                                         "{\"a\":", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":[[{",      "{\"a\":1,," };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *out = NULL;
        json_edit e = { { "a", "b" }, "1" };
        if (!json_edit_apply(&out, texts[i], &e, 1, &err))
            free(out);
        else
            assert_null(out);
    }
    char *out;
    json_edit e = { { "a" }, "1" };
    assert_int_equal(json_edit_apply(&out, "{\"a\":1,\"a\":2}", &e, 1, &err), PE_ERR_FORMAT);
}

/* ---------------------------------------------------------------- patches */

#define LLAMA3_FILE(length, factor, more)                                                                              \
    "{\"max_position_embeddings\": " length ", \"rope_theta\": 5e5, \"rope_scaling\": {\"factor\": " factor       \
    ", " more "}}"
#define LLAMA3_KEYS                                                                                                    \
    "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192, "                \
    "\"rope_type\": \"llama3\""

/* The file with the plan in it, in its own spelling, or the keys that change, whole: what a person pastes over the old
 * ones lacks nothing of the object, and nothing in it is null. */
TEST(a_config_keeps_its_own_spelling)
{
    static const aim own = { "llama", "rope:theta=500000,scaling=llama3,factor=8,trained=8192", 8192, 131072, 262144 };
    static const aim vl = { "qwen2_vl", "rope:sections=16/24/24", 4096, 4096, 32768 };
    static const struct {
        const aim *aim;
        bool shown; /* the keys only */
        const char *method, *before, *after;
    } rows[] = {
        { &llama2, false, "yarn", "{\"max_position_embeddings\": 4096, \"rope_scaling\": null}",
          "{\"max_position_embeddings\": 32768, \"rope_scaling\": {\"type\": \"yarn\", \"rope_type\": \"yarn\", "
          "\"factor\": 8.0, \"original_max_position_embeddings\": 4096}}" },
        { &llama2, false, "yarn", "{\"max_position_embeddings\": 4096, \"rope_parameters\": {\"rope_theta\": 1e4}}",
          "{\"max_position_embeddings\": 32768, \"rope_parameters\": {\"rope_theta\": 1e4, \"rope_type\": \"yarn\", "
          "\"factor\": 8.0, \"original_max_position_embeddings\": 4096}}" },
        { &llama2, false, "linear", "{\"n_positions\": 4096}",
          "{\"n_positions\": 32768, \"rope_scaling\": {\"type\": \"linear\", \"rope_type\": \"linear\", "
          "\"factor\": 8.0}}" },
        { &llama2, false, "ntk", "{\"max_position_embeddings\": 4096, \"rotary_emb_base\": 10000}",
          "{\"max_position_embeddings\": 32768, \"rotary_emb_base\": 82685.0}" },
        { &llama2, false, "none", "{\"max_position_embeddings\": 4096}", "{\"max_position_embeddings\": 32768}" },
        { &llama2, true, "yarn",
          "{\"a\": 1, \"text_config\": {\"b\": 2, \"max_position_embeddings\": 4096, \"rope_parameters\":\n {\n"
          "\"rope_theta\":1e4,\t\"alpha\": 2.0, \"mine\": \"a , \\\" b\"}}}",
          "{\"text_config\": {\"max_position_embeddings\": 32768, \"rope_parameters\": {\"rope_theta\": 1e4, "
          "\"mine\": \"a , \\\" b\", \"rope_type\": \"yarn\", \"factor\": 8.0, "
          "\"original_max_position_embeddings\": 4096}}}" },
        /* the text model of a larger one */
        { &vl, false, "yarn",
          "{\"max_position_embeddings\": 1, \"text_config\": {\"max_position_embeddings\": 4096, \"rope_scaling\": "
          "{\"type\": \"mrope\", \"mrope_section\": [16, 24, 24]}}}",
          "{\"max_position_embeddings\": 1, \"text_config\": {\"max_position_embeddings\": 32768, \"rope_scaling\": "
          "{\"type\": \"yarn\", \"mrope_section\": [16, 24, 24], \"rope_type\": \"yarn\", \"factor\": 8.0, "
          "\"original_max_position_embeddings\": 4096}}}" },
        /* keys of the scaling before go */
        { &own, false, "llama3", LLAMA3_FILE("131072", "8.0", LLAMA3_KEYS),
          LLAMA3_FILE("262144", "16.0", LLAMA3_KEYS) },
        { &own, false, "linear", LLAMA3_FILE("131072", "8.0", LLAMA3_KEYS),
          LLAMA3_FILE("262144", "16.0", "\"rope_type\": \"linear\", \"type\": \"linear\"") },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        extend_patch patch;
        char *out = NULL;
        const char *before = rows[i].before;
        plans p = open_plans(rows[i].aim);
        assert_ok(extend_patch_make(&patch, &p.x, plan(&p, rows[i].method), before, EXTEND_AS_FILE, &err));
        assert_ok(rows[i].shown ? extend_patch_show(&out, &patch, before, &err)
                                : json_edit_apply(&out, before, patch.edit, patch.count, &err));
        assert_string_equal(out, rows[i].after);
        free(out);
        extend_patch_free(&patch);
        close_plans(&p);
    }
}

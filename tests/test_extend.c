/* SPDX-License-Identifier: MIT
 * labels: core; needs: zoo
 *
 * Plans for longer contexts against arithmetic of this file's own, and JSON texts changed in place. */
#include "zoo/build.h"
#include "zoo/extend.h"
#include "zoo/extend_patch.h"
#include "zoo/json_edit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const double PI = 3.14159265358979323846;

/* ---------------------------------------------------------------- models without a reader */

typedef struct layers {
    const char *spec;
    int64_t window;
} layers;

static zoo_model *model(const char *type, const layers *of, int kinds, int64_t trained, int64_t served)
{
    static const zoo_options options = { 0 };
    pe_error err;
    zoo_model *m = NULL;
    zoo_part *p;
    zoo_builder *b = zoo_begin("config.json", "config.json", &options, &err);
    assert_non_null(b);
    assert_int_equal(zoo_add_part(b, &p, "", type, 4), PE_OK);
    for (int64_t n = 0; n < 4; n++) {
        const layers *l = &of[n % kinds];
        pe_shape shape = { .heads = 4, .head_dim = 128, .model_dim = 512 };
        const char *kind = l->window ? "sliding_attention" : "full_attention";
        assert_int_equal(zoo_set_layer(b, p, n, l->spec, shape, kinds > 1 ? kind : "", l->window), PE_OK);
    }
    p->trained = trained;
    p->served = served;
    assert_int_equal(zoo_finish(&m, b, PE_OK), PE_OK);
    return m;
}

typedef struct plans {
    zoo_model *zoo;
    extend_model x;
    extend_plan plan[16];
} plans;

static plans open_plans(const char *type, const char *spec, int64_t trained, int64_t served, int64_t target)
{
    plans p = { .zoo = model(type, &(layers){ spec, 0 }, 1, trained, served) };
    pe_error err;
    assert_int_equal(extend_open(&p.x, p.zoo, target, 0, &err), PE_OK);
    for (int i = 0; i < extend_method_count; i++) {
        p.plan[i] = (extend_plan){ 0 };
        if (p.x.verdict == EXTEND_PLAN)
            assert_int_equal(extend_plan_make(&p.plan[i], &p.x, &extend_methods[i], &err), PE_OK);
    }
    return p;
}

static void close_plans(plans *p)
{
    for (int i = 0; i < extend_method_count; i++)
        extend_plan_free(&p->plan[i]);
    extend_close(&p->x);
    zoo_free(p->zoo);
}

static const extend_plan *plan(const plans *p, const char *name)
{
    return &p->plan[extend_find(name) - extend_methods];
}

static double theta_frequency(double theta, int n, int d)
{
    return pow(theta, -2.0 * n / d);
}

static void near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b))) {
        print_error("%.17g is not %.17g\n", a, b);
        fail();
    }
}

/* ---------------------------------------------------------------- Llama 2, 4k to 32k */

static void turns_are_trained_length_over_wavelength(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    int64_t below = 0;
    assert_int_equal(p.x.verdict, EXTEND_PLAN);
    assert_int_equal(p.x.pairs, 64);
    for (int n = 0; n < 64; n++) {
        double wavelength = 2 * PI / theta_frequency(10000, n, 128);
        near(p.x.pair[n].wavelength, wavelength, 1e-12);
        near(p.x.pair[n].turns, 4096 / wavelength, 1e-12);
        below += 4096 / wavelength < 1;
    }
    assert_int_equal(extend_unturned(&p.x), below);
    assert_int_equal(below, 18);
    /* unscaled, just these leave, eight times as far as they have been */
    assert_int_equal(plan(&p, "none")->leaving, below);
    assert_int_equal(plan(&p, "none")->first, 64 - below);
    assert_int_equal(plan(&p, "none")->last, 63);
    near(plan(&p, "none")->worst, 8, 1e-9);
    close_plans(&p);
}

static void interpolations_need_target_over_trained(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    static const char *const names[] = { "linear", "yarn", "llama3", "longrope" };
    for (int i = 0; i < 4; i++) {
        assert_true(plan(&p, names[i])->applies && plan(&p, names[i])->serves);
        assert_true(plan(&p, names[i])->value == 8);
    }
    near(plan(&p, "yarn")->magnitude, 0.1 * log(8) + 1, 1e-12);
    near(plan(&p, "longrope")->magnitude, sqrt(1 + log(8) / log(4096)), 1e-12);
    assert_true(plan(&p, "linear")->magnitude == 1 && plan(&p, "llama3")->magnitude == 1);
    assert_string_equal(plan(&p, "yarn")->spec, "rope:scaling=yarn,trained=4096,factor=8");
    close_plans(&p);
}

/* theta s^(d/(d-2)), s = 8: the slowest pair is 8 times slower and stays in range, the other 17 unturned ones leave it,
 * the first of them, pair 46, by 8 / 8^(92/126). */
static void ntk_takes_alpha_as_many_times_longer(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    const extend_plan *ntk = plan(&p, "ntk");
    assert_true(ntk->value == 8);
    assert_true(ntk->theta == ceil(10000 * pow(8, 128.0 / 126)));
    assert_true(extend_holds(ntk) && !ntk->serves);
    assert_int_equal(ntk->leaving, 17);
    assert_int_equal(ntk->first, 46);
    assert_int_equal(ntk->last, 62);
    near(ntk->worst, pow(8, 34.0 / 126), 1e-4); /* theta is a whole number */
    double angle = 0;
    for (int n = 0; n < 64; n++)
        angle = fmax(angle, 256 * (theta_frequency(10000, n, 128) - theta_frequency(ntk->theta, n, 128)));
    near(ntk->cost.angle, angle, 1e-9);
    assert_int_equal(ntk->cost.changed, 63);
    assert_false(ntk->cost.same);
    close_plans(&p);
}

static void dynamic_and_longrope_leave_short_angles_alone(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    const extend_plan *dynamic = plan(&p, "dynamic"), *longrope = plan(&p, "longrope"), *linear = plan(&p, "linear");
    assert_true(extend_holds(dynamic) && dynamic->cost.same && dynamic->cost.changed == 0);
    assert_true(dynamic->value == 1); /* s 8 - (s - 1) = 8 */
    near(dynamic->worst, plan(&p, "ntk")->worst, 1e-4);
    assert_int_equal(dynamic->leaving, plan(&p, "ntk")->leaving);
    assert_int_equal(longrope->cost.changed, 0);
    assert_false(longrope->cost.same); /* its magnitude is there for short prompts too */
    near(longrope->cost.magnitude, longrope->magnitude, 1e-12);
    assert_int_equal(linear->cost.changed, 64);
    near(linear->cost.slower, 8, 1e-12);
    near(linear->cost.mean, 7.0 / 8, 1e-12);
    near(linear->cost.angle, 256 * 7.0 / 8, 1e-12);
    close_plans(&p);
}

static void yarn_keeps_pairs_with_many_turns(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    const extend_plan *yarn = plan(&p, "yarn");
    int low = (int)floor(128 * log(4096 / (32 * 2 * PI)) / (2 * log(10000)));
    assert_int_equal(yarn->cost.changed, 64 - low - 1); /* the ramp is 0 at its first pair */
    assert_int_equal(yarn->cost.fastest, low + 1);
    assert_true(yarn->cost.angle < plan(&p, "linear")->cost.angle / 10);
    close_plans(&p);
}

static void prope_keeps_the_pairs_that_turned(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    const extend_plan *prope = plan(&p, "p-rope");
    assert_true(prope->serves);
    near(prope->value, 46.0 / 64, 1e-12);
    assert_int_equal(prope->cost.changed, 18);
    assert_true(isinf(prope->cost.slower));
    close_plans(&p);
    p = open_plans("gpt_neox", "rope:dims=32", 2048, 2048, 8192);
    assert_false(plan(&p, "p-rope")->applies);
    assert_non_null(strstr(plan(&p, "p-rope")->why, "whole head"));
    assert_true(plan(&p, "yarn")->serves);
    close_plans(&p);
}

/* 1 above 32 turns, 8 below one, and between them straight in log(turns). */
static void longrope_divides_by_the_turns_a_pair_made(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    const char *at = strstr(plan(&p, "longrope")->spec, "long=");
    assert_non_null(at);
    at += 5;
    for (int n = 0; n < 64; n++) {
        char *end;
        double turns = 4096 * theta_frequency(10000, n, 128) / (2 * PI);
        double wanted = turns < 1 ? 8 : turns >= 32 ? 1 : pow(8, 1 - log(turns) / log(32));
        near(strtod(at, &end), wanted, 1e-8);
        at = end + 1;
    }
    close_plans(&p);
}

/* A share of the pairs whose product with the width is rounded down must not lose one. */
static void prope_keeps_its_count_at_any_length(void **state)
{
    (void)state;
    for (int64_t trained = 16; trained <= 16384; trained += 2111) {
        plans p = open_plans("llama", "rope", trained, trained, 65536);
        int64_t turned = p.x.pairs - extend_unturned(&p.x);
        assert_int_equal(plan(&p, "p-rope")->cost.changed, p.x.pairs - turned);
        close_plans(&p);
    }
}

/* ---------------------------------------------------------------- models with a scaling of their own */

static void own_scaling_is_raised_not_stacked(void **state)
{
    (void)state;
    char why[400];
    plans p = open_plans("qwen2", "rope:theta=1e6,scaling=yarn,factor=4,trained=32768,beta_fast=16", 32768, 131072,
                         262144);
    int pick = extend_recommend(&p.x, p.plan, why);
    assert_int_equal(p.x.reach, 131072);
    assert_string_equal(extend_methods[pick].name, "yarn");
    assert_true(p.plan[pick].value == 8 && p.plan[pick].serves);
    assert_non_null(strstr(p.plan[pick].spec, "beta_fast=16"));
    assert_non_null(strstr(p.plan[pick].spec, "trained=32768"));
    assert_non_null(strstr(why, "never stacked"));
    close_plans(&p);
    p = open_plans("llama", "rope:theta=500000,scaling=llama3,factor=8,trained=8192", 8192, 131072, 262144);
    pick = extend_recommend(&p.x, p.plan, why);
    assert_string_equal(extend_methods[pick].name, "llama3");
    assert_true(p.plan[pick].value == 16);
    close_plans(&p);
    p = open_plans("llama", "rope:scaling=dynamic,factor=2,trained=4096", 4096, 8192, 32768);
    pick = extend_recommend(&p.x, p.plan, why);
    assert_string_equal(extend_methods[pick].name, "dynamic");
    assert_true(p.plan[pick].value == 2); /* theta grows by itself */
    assert_non_null(strstr(why, "its factor stays"));
    close_plans(&p);
    p = open_plans("llama", "rope:scaling=ntk,alpha=3", 4096, 4096, 8192);
    assert_true(plan(&p, "ntk")->value == 6);
    close_plans(&p);
}

static void deepseek_softmax_follows_the_factor(void **state)
{
    (void)state;
    char spec[200];
    double g = 0.1 * log(40) + 1, h = 0.1 * log(80) + 1;
    snprintf(spec, sizeof spec, "rope:dims=64,scaling=yarn,factor=40,trained=4096,mscale=1,mscale_all_dim=1,softmax=%.17g",
             g * g);
    plans p = open_plans("deepseek_v3", spec, 4096, 163840, 327680);
    const extend_plan *yarn = plan(&p, "yarn");
    const char *at = strstr(yarn->spec, "softmax=");
    assert_true(yarn->value == 80);
    assert_non_null(at);
    near(strtod(at + 8, NULL), h * h, 1e-12);
    near(yarn->logits, h * h, 1e-12); /* mscale over mscale_all_dim is 1: all of it is on the softmax */
    near(yarn->cost.logits, h * h / (g * g), 1e-12);
    near(plan(&p, "none")->logits, g * g, 1e-12);
    assert_null(strstr(plan(&p, "linear")->spec, "softmax")); /* it came from mscale_all_dim, which is YaRN's */
    close_plans(&p);
}

static void a_long_list_is_multiplied(void **state)
{
    (void)state;
    char list[1000] = "", spec[2200];
    for (int n = 0; n < 64; n++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", n ? "/" : "", n < 20 ? 1 : 32);
    snprintf(spec, sizeof spec, "rope:scaling=longrope,factor=32,trained=4096,short=%s,long=%s", list, list);
    plans p = open_plans("phi3", spec, 4096, 131072, 262144);
    const extend_plan *longrope = plan(&p, "longrope");
    assert_true(longrope->serves && longrope->value == 2);
    assert_int_equal(longrope->cost.changed, 0);
    const char *last = strrchr(longrope->spec, '/');
    assert_non_null(last);
    near(strtod(last + 1, NULL), 64, 1e-8);
    close_plans(&p);
}

/* ---------------------------------------------------------------- what to take */

static void recommendations_follow_the_rules(void **state)
{
    (void)state;
    static const struct {
        const char *type, *spec;
        int64_t trained, target;
        const char *pick;
    } rows[] = {
        { "llama", "rope", 4096, 32768, "yarn" },
        { "llama", "rope", 4096, 16384, "ntk" },
        { "llama", "rope", 4096, 16385, "yarn" },
        { "llama", "rope:dims=32", 4096, 32768, "yarn" }, /* 16 pairs */
        { "llama", "rope:dims=30", 4096, 32768, "ntk" },  /* 15 */
        { "llama", "rope:theta=500000", 8192, 65536, "llama3" },
        { "mistral", "rope:theta=500000", 8192, 65536, "yarn" },
        { "llama", "rope:dims=32,theta=100", 8192, 65536, "none" }, /* wavelengths up to 471: all have turned */
        { "llama", "rope:scaling=linear,factor=2", 4096, 32768, "linear" },
        { "llama", "rope:scaling=dynamic,factor=2,trained=4096", 4096, 32768, "dynamic" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[400];
        plans p = open_plans(rows[i].type, rows[i].spec, rows[i].trained, rows[i].trained, rows[i].target);
        int pick = extend_recommend(&p.x, p.plan, why);
        assert_string_equal(extend_methods[pick].name, rows[i].pick);
        assert_true(extend_holds(&p.plan[pick]) && *why && why[strlen(why) - 1] != '.');
        assert_true(strlen(why) < 390); /* whole */
        close_plans(&p);
    }
}

static void every_plan_that_serves_stays_within_seen_angles(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:theta=500000", "rope:theta=1e6,dims=64", "rope:pairs=adjacent",
                                         "rope:sections=16/24/24", "rope:denominator=d-2" };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        plans p = open_plans("llama", specs[i], 4096, 4096, 100000);
        for (int m = 0; m < extend_method_count; m++) {
            const extend_plan *plan = &p.plan[m];
            pe_encoding *e;
            pe_pair pair[64];
            if (!plan->applies || !plan->serves)
                continue;
            assert_int_equal(pe_encoding_new(&e, plan->spec, p.x.group->shape, NULL), PE_OK);
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

static void verdict_of(const char *spec, int64_t target, extend_verdict verdict, const char *words)
{
    plans p = open_plans("any", spec, 2048, 2048, target);
    assert_int_equal(p.x.verdict, verdict);
    assert_non_null(strstr(p.x.why, words));
    close_plans(&p);
}

static void models_that_need_nothing_are_told_so(void **state)
{
    (void)state;
    verdict_of("rope", 2048, EXTEND_NOTHING, "was trained at");
    verdict_of("alibi", 8192, EXTEND_NOTHING, "nothing to set");
    verdict_of("t5", 8192, EXTEND_NOTHING, "nothing to set");
    verdict_of("none", 8192, EXTEND_NOTHING, "nothing to set");
    verdict_of("learned:rows=2048", 8192, EXTEND_NO, "hierarchical");
    verdict_of("sinusoidal", 8192, EXTEND_NO, "Train it longer");
    verdict_of("xpos", 8192, EXTEND_NO, "xpos");
}

static void only_layers_that_see_everything_count(void **state)
{
    (void)state;
    pe_error err;
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

static void a_model_without_a_length_asks_for_it(void **state)
{
    (void)state;
    pe_error err;
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

static void edits(const char *before, json_edit e, const char *after)
{
    pe_error err;
    char *out = NULL;
    assert_int_equal(json_edit_apply(&out, before, &e, 1, &err), PE_OK);
    assert_string_equal(out, after);
    free(out);
}

static void a_text_changes_only_where_it_is_told(void **state)
{
    (void)state;
    edits("{\"a\": 1}", (json_edit){ { "a" }, "2" }, "{\"a\": 2}");
    edits("{ \"x\" :[1, {\"a\":3}] ,\"a\":1e3}", (json_edit){ { "a" }, "2" }, "{ \"x\" :[1, {\"a\":3}] ,\"a\":2}");
    edits("{\"t\": {\"a\": 1}, \"a\": 5}", (json_edit){ { "t", "a" }, "2" }, "{\"t\": {\"a\": 2}, \"a\": 5}");
    edits("{\"s\": \"\\\"a\\\": 1, {\", \"a\": null}", (json_edit){ { "a" }, "2" },
          "{\"s\": \"\\\"a\\\": 1, {\", \"a\": 2}");
    edits("{\"\xc3\xa9\": \"\xe2\x82\xac\", \"a\": 1}", (json_edit){ { "a" }, "2" },
          "{\"\xc3\xa9\": \"\xe2\x82\xac\", \"a\": 2}");
    edits("{\"aa\": 1, \"a\": 1}", (json_edit){ { "a" }, "2" }, "{\"aa\": 1, \"a\": 2}");
}

static void a_new_member_is_written_as_its_neighbours(void **state)
{
    (void)state;
    edits("{}", (json_edit){ { "a" }, "2" }, "{\"a\": 2}");
    edits("{\"b\": 1}", (json_edit){ { "a" }, "2" }, "{\"b\": 1, \"a\": 2}");
    edits("{\n  \"b\": 1\n}\n", (json_edit){ { "a" }, "2" }, "{\n  \"b\": 1,\n  \"a\": 2\n}\n");
    edits("{\r\n\t\"b\": {}\r\n}", (json_edit){ { "a" }, "2" }, "{\r\n\t\"b\": {},\r\n\t\"a\": 2\r\n}");
    edits("{\n  \"b\": 1\n}", (json_edit){ { "s", "f" }, "2" },
          "{\n  \"b\": 1,\n  \"s\": {\n    \"f\": 2\n  }\n}");
    edits("{\n  \"s\": null,\n  \"b\": 1\n}", (json_edit){ { "s", "f" }, "2" },
          "{\n  \"s\": {\n    \"f\": 2\n  },\n  \"b\": 1\n}");
    edits("{\"t\":{\"u\":{}}}", (json_edit){ { "t", "u", "v", "w" }, "[1]" },
          "{\"t\":{\"u\":{\"v\": {\"w\": [1]}}}}");
}

static void a_member_goes_with_its_comma(void **state)
{
    (void)state;
    edits("{\"a\": 1, \"b\": 2}", (json_edit){ { "a" }, NULL }, "{\"b\": 2}");
    edits("{\"a\": 1, \"b\": 2}", (json_edit){ { "b" }, NULL }, "{\"a\": 1}");
    edits("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", (json_edit){ { "b" }, NULL }, "{\n  \"a\": 1,\n  \"c\": 3\n}");
    edits("{\n  \"a\": 1\n}", (json_edit){ { "a" }, NULL }, "{\n}");
    edits("{\"a\": 1}", (json_edit){ { "z" }, NULL }, "{\"a\": 1}");
    edits("{\"a\": 1}", (json_edit){ { "a", "z" }, NULL }, "{\"a\": 1}");
}

static void broken_texts_are_refused_or_left(void **state)
{
    (void)state;
    static const char *const texts[] = { "",      "[]",        "nul",        "{\"a\":1,\"a\":2}", "{\"a\"",
                                         "{\"a\":", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":[[{",      "{\"a\":1,," };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pe_error err;
        char *out = NULL;
        json_edit e = { { "a", "b" }, "1" };
        if (!json_edit_apply(&out, texts[i], &e, 1, &err))
            free(out);
        else
            assert_null(out);
    }
    pe_error err;
    char *out;
    json_edit e = { { "a" }, "1" };
    assert_int_equal(json_edit_apply(&out, "{\"a\":1,\"a\":2}", &e, 1, &err), PE_ERR_FORMAT);
}

/* ---------------------------------------------------------------- patches */

static void patched(const plans *p, const char *method, const char *config, const char *after)
{
    pe_error err;
    extend_patch patch;
    char *out = NULL;
    assert_int_equal(extend_patch_make(&patch, &p->x, plan(p, method), config, EXTEND_AS_FILE, &err), PE_OK);
    assert_int_equal(json_edit_apply(&out, config, patch.edit, patch.count, &err), PE_OK);
    assert_string_equal(out, after);
    free(out);
    extend_patch_free(&patch);
}

static void a_config_keeps_its_own_spelling(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    patched(&p, "yarn", "{\"max_position_embeddings\": 4096, \"rope_scaling\": null}",
            "{\"max_position_embeddings\": 32768, \"rope_scaling\": {\"type\": \"yarn\", \"rope_type\": \"yarn\", "
            "\"factor\": 8.0, \"original_max_position_embeddings\": 4096}}");
    patched(&p, "yarn", "{\"max_position_embeddings\": 4096, \"rope_parameters\": {\"rope_theta\": 1e4}}",
            "{\"max_position_embeddings\": 32768, \"rope_parameters\": {\"rope_theta\": 1e4, \"rope_type\": \"yarn\", "
            "\"factor\": 8.0, \"original_max_position_embeddings\": 4096}}");
    patched(&p, "linear", "{\"n_positions\": 4096}",
            "{\"n_positions\": 32768, \"rope_scaling\": {\"type\": \"linear\", \"rope_type\": \"linear\", "
            "\"factor\": 8.0}}");
    patched(&p, "ntk", "{\"max_position_embeddings\": 4096, \"rotary_emb_base\": 10000}",
            "{\"max_position_embeddings\": 32768, \"rotary_emb_base\": 82685.0}");
    patched(&p, "none", "{\"max_position_embeddings\": 4096}", "{\"max_position_embeddings\": 32768}");
    close_plans(&p);
}

static void shown(const plans *p, const char *method, const char *config, const char *truth)
{
    pe_error err;
    extend_patch patch;
    char *out = NULL;
    assert_int_equal(extend_patch_make(&patch, &p->x, plan(p, method), config, EXTEND_AS_FILE, &err), PE_OK);
    assert_int_equal(extend_patch_show(&out, &patch, config, &err), PE_OK);
    assert_string_equal(out, truth);
    free(out);
    extend_patch_free(&patch);
}

/* What a person pastes over the old keys: nothing of the object is missing, and nothing is null. */
static void keys_are_shown_whole(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope", 4096, 4096, 32768);
    shown(&p, "yarn",
          "{\"a\": 1, \"text_config\": {\"b\": 2, \"max_position_embeddings\": 4096, \"rope_parameters\":\n {\n"
          "\"rope_theta\":1e4,\t\"alpha\": 2.0, \"mine\": \"a , \\\" b\"}}}",
          "{\"text_config\": {\"max_position_embeddings\": 32768, \"rope_parameters\": {\"rope_theta\": 1e4, "
          "\"mine\": \"a , \\\" b\", \"rope_type\": \"yarn\", \"factor\": 8.0, "
          "\"original_max_position_embeddings\": 4096}}}");
    close_plans(&p);
}

static void the_text_model_of_a_larger_one_is_changed(void **state)
{
    (void)state;
    plans p = open_plans("qwen2_vl", "rope:sections=16/24/24", 4096, 4096, 32768);
    patched(&p, "yarn",
            "{\"max_position_embeddings\": 1, \"text_config\": {\"max_position_embeddings\": 4096, \"rope_scaling\": "
            "{\"type\": \"mrope\", \"mrope_section\": [16, 24, 24]}}}",
            "{\"max_position_embeddings\": 1, \"text_config\": {\"max_position_embeddings\": 32768, \"rope_scaling\": "
            "{\"type\": \"yarn\", \"mrope_section\": [16, 24, 24], \"rope_type\": \"yarn\", \"factor\": 8.0, "
            "\"original_max_position_embeddings\": 4096}}}");
    close_plans(&p);
}

static void keys_of_the_scaling_before_go(void **state)
{
    (void)state;
    plans p = open_plans("llama", "rope:theta=500000,scaling=llama3,factor=8,trained=8192", 8192, 131072, 262144);
    const char *config = "{\"max_position_embeddings\": 131072, \"rope_theta\": 5e5, \"rope_scaling\": {\"factor\": 8.0, "
                         "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
                         "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}}";
    patched(&p, "llama3", config,
            "{\"max_position_embeddings\": 262144, \"rope_theta\": 5e5, \"rope_scaling\": {\"factor\": 16.0, "
            "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192, "
            "\"rope_type\": \"llama3\"}}");
    patched(&p, "linear", config,
            "{\"max_position_embeddings\": 262144, \"rope_theta\": 5e5, \"rope_scaling\": {\"factor\": 16.0, "
            "\"rope_type\": \"linear\", \"type\": \"linear\"}}");
    close_plans(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_trained_length_over_wavelength),
        cmocka_unit_test(interpolations_need_target_over_trained),
        cmocka_unit_test(ntk_takes_alpha_as_many_times_longer),
        cmocka_unit_test(dynamic_and_longrope_leave_short_angles_alone),
        cmocka_unit_test(yarn_keeps_pairs_with_many_turns),
        cmocka_unit_test(prope_keeps_the_pairs_that_turned),
        cmocka_unit_test(longrope_divides_by_the_turns_a_pair_made),
        cmocka_unit_test(prope_keeps_its_count_at_any_length),
        cmocka_unit_test(own_scaling_is_raised_not_stacked),
        cmocka_unit_test(deepseek_softmax_follows_the_factor),
        cmocka_unit_test(a_long_list_is_multiplied),
        cmocka_unit_test(recommendations_follow_the_rules),
        cmocka_unit_test(every_plan_that_serves_stays_within_seen_angles),
        cmocka_unit_test(models_that_need_nothing_are_told_so),
        cmocka_unit_test(only_layers_that_see_everything_count),
        cmocka_unit_test(a_model_without_a_length_asks_for_it),
        cmocka_unit_test(a_text_changes_only_where_it_is_told),
        cmocka_unit_test(a_new_member_is_written_as_its_neighbours),
        cmocka_unit_test(a_member_goes_with_its_comma),
        cmocka_unit_test(broken_texts_are_refused_or_left),
        cmocka_unit_test(a_config_keeps_its_own_spelling),
        cmocka_unit_test(keys_are_shown_whole),
        cmocka_unit_test(the_text_model_of_a_larger_one_is_changed),
        cmocka_unit_test(keys_of_the_scaling_before_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

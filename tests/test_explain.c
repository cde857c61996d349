/* labels: core; needs: cli zoo io */
/* SPDX-License-Identifier: MIT
 *
 * What posenc explain and posenc diff say, on models put together here: no file, no reader. */
#include "common.h"

#include "cli/diff_model.h"
#include "cli/explain.h"
#include "cli/page.h"
#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <math.h>
#include <string.h>

#define LLAMA "rope:theta=500000,scaling=llama3,factor=8,trained=8192"
#define OSS "rope:theta=150000,scaling=yarn,factor=32,trained=4096,truncate=no"

#define assert_near(x, truth, limit)                                                                                   \
    do {                                                                                                               \
        double near_x = (x), near_truth = (truth);                                                                     \
        if (!(fabs(near_x - near_truth) <= (limit)))                                                                   \
            fail_msg("%s is %.17g; needs %.17g", #x, near_x, near_truth);                                              \
    } while (0)

/* ------------------------------------------------ models */

typedef struct stack {
    int64_t layers;
    const char *spec, *kind;
    int64_t window;
} stack;

/* Layers of 8 heads of 128, stack after stack, until one has no spec. */
static zoo_model *model(const char *format, int64_t trained, int64_t served, const stack *s)
{
    pe_error err;
    zoo_builder *b = zoo_begin("model", format, NULL, &err);
    zoo_model *m;
    zoo_part *p;
    int64_t layers = 0, n = 0;
    for (const stack *t = s; t->spec; t++)
        layers += t->layers;
    assert_non_null(b);
    assert_int_equal(zoo_add_part(b, &p, "", "llama", layers), PE_OK);
    p->trained = trained;
    p->served = served;
    for (; s->spec; s++)
        for (int64_t k = 0; k < s->layers; k++)
            assert_int_equal(zoo_set_layer(b, p, n++, s->spec, (pe_shape){ 8, 8, 128, 0 }, s->kind, s->window), PE_OK);
    assert_int_equal(zoo_finish(&m, b, PE_OK), PE_OK);
    return m;
}

static zoo_model *plain(const char *spec, int64_t trained, int64_t served)
{
    return model("config.json", trained, served, (stack[]){ { 4, spec, NULL, 0 }, { 0 } });
}

static explain_facts facts_of(const zoo_model *m, int group)
{
    pe_error err;
    explain_facts f;
    assert_int_equal(explain_group(&f, &m->part[0], &m->part[0].group[group], 0, &err), PE_OK);
    return f;
}

static const zoo_engine *engine(const char *name)
{
    int i = 0;
    while (strcmp(zoo_engine_at(i)->name, name))
        i++;
    return zoo_engine_at(i);
}

static void expect_settings(const zoo_model *m, const char *name, bool command, const char *truth)
{
    char text[4000] = "";
    FILE *to = fmemopen(text, sizeof text, "w");
    pe_error err;
    const zoo_engine *e = engine(name);
    assert_non_null(to);
    assert_int_equal(command ? zoo_engine_command(to, e, m, &m->part[0], &err)
                             : zoo_engine_config(to, e, &m->part[0], &err),
                     PE_OK);
    fclose(to);
    assert_string_equal(text, truth);
}

/* ------------------------------------------------ facts */

static void llama3_leaves_its_trained_range_at_eight_times_the_length(void **state)
{
    char text[1000];
    (void)state;
    zoo_model *m = plain(LLAMA, 8192, 131072);
    explain_facts f = facts_of(m, 0);
    assert_int_equal(f.pairs, 64);
    assert_int_equal(f.unturned_count, 29); /* wavelengths 2 pi 500000^(i/64) above 8192: i of 35 and more */
    assert_true(f.unturned[35] && !f.unturned[34]);
    assert_near(f.pair[0].divisor, 1, 0);
    assert_near(f.pair[63].divisor, 8, 1e-12);
    assert_near(f.pair[35].leaves, 65536, 0);
    assert_true(isinf(f.pair[34].leaves));
    explain_limit_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "At position 65536, not at 8192: the 29 pairs"));
    assert_non_null(strstr(text, "131072, goes past it"));
    explain_turns_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "pairs 35-63 (29 of 64)"));
    explain_clear(&f);
    zoo_free(m);
}

static void an_unscaled_model_extrapolates_at_its_trained_length(void **state)
{
    char text[1000];
    (void)state;
    zoo_model *m = plain("rope", 4096, 4096);
    explain_facts f = facts_of(m, 0);
    assert_false(f.scaled);
    assert_near(f.pair[f.first].leaves, 4096, 0);
    assert_near(f.pair[f.last].leaves, 4096, 0);
    explain_limit_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "At position 4096, the trained length"));
    assert_non_null(strstr(text, "stays within"));
    explain_clear(&f);
    zoo_free(m);
    m = plain("rope:theta=10", 4096, 4096); /* the slowest pair: 2 pi 10^(63/64) positions a turn */
    f = facts_of(m, 0);
    assert_int_equal(f.unturned_count, 0);
    explain_limit_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "only combinations"));
    explain_clear(&f);
    zoo_free(m);
}

static void linear_ntk_and_dynamic_leave_where_their_divisors_say(void **state)
{
    (void)state;
    zoo_model *m = plain("rope:scaling=linear,factor=4", 2048, 8192);
    explain_facts f = facts_of(m, 0);
    assert_near(f.pair[f.first].leaves, 8192, 0);
    assert_near(f.pair[0].divisor, 4, 1e-12);
    explain_clear(&f);
    zoo_free(m);

    m = plain("rope:scaling=ntk,alpha=8", 2048, 8192);
    f = facts_of(m, 0);
    assert_near(f.pair[0].divisor, 1, 0);
    assert_near(f.pair[63].divisor, 8, 1e-9); /* the slowest pair is divided by alpha */
    assert_near(f.pair[63].leaves, 16384, 0);
    assert_true(f.pair[f.first].leaves < 16384 && f.first < 63);
    explain_clear(&f);
    zoo_free(m);

    m = plain("rope:scaling=dynamic,factor=2,trained=2048", 2048, 4096);
    f = facts_of(m, 0);
    assert_int_equal(f.length, 4096); /* looked at where it is served: s n/L - (s - 1) = 3 */
    assert_near(f.pair[63].divisor, 3, 1e-9);
    explain_clear(&f);
    zoo_free(m);
}

static void a_window_bounds_what_a_pair_can_meet(void **state)
{
    char text[1000];
    (void)state;
    zoo_model *m = model("config.json", 8192, 131072,
                         (stack[]){ { 5, "rope", "sliding_attention", 512 }, { 1, LLAMA, "full_attention", 0 }, { 0 } });
    explain_facts f = facts_of(m, 0);
    assert_int_equal(f.window, 512);
    assert_int_equal(f.first, -1);
    assert_near(f.pair[0].turns, 512 / f.pair[0].wavelength, 1e-9);
    explain_limit_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "Nowhere: the window"));
    explain_clear(&f);
    f = facts_of(m, 1);
    assert_int_equal(f.window, 0);
    explain_clear(&f);
    zoo_free(m);
}

static void pairs_that_stand_still_never_leave(void **state)
{
    (void)state;
    zoo_model *m = plain("rope:scaling=proportional,turning=0.25", 8192, 8192);
    explain_facts f = facts_of(m, 0);
    assert_true(isinf(f.pair[16].wavelength) && isinf(f.pair[16].leaves) && !f.unturned[16]);
    assert_int_equal(f.longest, 15);
    explain_clear(&f);
    zoo_free(m);
}

static void nothing_is_said_of_training_without_a_trained_length(void **state)
{
    char text[1000];
    (void)state;
    zoo_model *m = plain("rope", 0, 0);
    explain_facts f = facts_of(m, 0);
    assert_true(isnan(f.pair[0].turns) && f.first == -1);
    explain_turns_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "--trained"));
    explain_limit_words(text, sizeof text, &f);
    assert_string_equal(text, "");
    explain_clear(&f);
    zoo_free(m);
}

static void layouts_and_widths_are_named_from_the_pairs_themselves(void **state)
{
    static const struct {
        const char *spec, *words;
    } truth[] = {
        { "rope", "half [ccss]" },
        { "rope:pairs=adjacent", "adjacent [cscs]:" },
        { "rope:pairs=adjacent-half", "adjacent-half [cscs -> ccss]" },
        { "rope:dims=32", "16 pairs, the first 32 of the head's 128" },
        { "rope:dims=32,range=trailing", "the last 32 of" },
        { "rope:dims=64,pairs=adjacent", "adjacent [cscs]: elements 2i and 2i + 1 turn together; 32 pairs" },
    };
    char text[400];
    (void)state;
    for (size_t i = 0; i < sizeof truth / sizeof *truth; i++) {
        zoo_model *m = plain(truth[i].spec, 2048, 2048);
        explain_facts f = facts_of(m, 0);
        explain_pairs_words(text, sizeof text, &f);
        if (!strstr(text, truth[i].words))
            fail_msg("%s: %s", truth[i].spec, text);
        explain_clear(&f);
        zoo_free(m);
    }
}

static void tables_end_and_slopes_fall(void **state)
{
    double score[8];
    (void)state;
    zoo_model *m = plain("learned:rows=2050,offset=2", 2048, 2048);
    explain_facts f = facts_of(m, 0);
    assert_int_equal(explain_end(m->part[0].group[0].spec, f.e), 2048);
    assert_false(explain_bias(f.e, 1, score));
    explain_clear(&f);
    zoo_free(m);
    m = plain("alibi", 2048, 2048);
    f = facts_of(m, 0);
    assert_true(explain_bias(f.e, 3, score));
    assert_near(score[0], -1.5, 1e-12); /* 8 heads: 2^-1 ... 2^-8 */
    assert_near(score[7], -3.0 / 256, 1e-12);
    assert_int_equal(explain_end("alibi", f.e), 0);
    explain_clear(&f);
    zoo_free(m);
}

/* ------------------------------------------------ engines */

static void engines_stand_in_the_order_of_their_names(void **state)
{
    char name[40];
    int i = 0;
    (void)state;
    for (; cli_item(ZOO_ENGINE_NAMES, i, name, sizeof name); i++)
        assert_string_equal(zoo_engine_at(i)->name, name);
    assert_null(zoo_engine_at(i));
    const zoo_quirk *q;
    for (i = 0; (q = zoo_quirk_at(i)); i++) {
        assert_true(*q->text && *q->source);
        engine(q->engine); /* fails on a name that is in no row */
    }
}

static void llama3_has_its_settings(void **state)
{
    (void)state;
    zoo_model *m = plain(LLAMA, 8192, 131072);
#define ROPE                                                                                                           \
    "{\"rope_parameters\": {\"rope_type\": \"llama3\", \"rope_theta\": 500000, \"factor\": 8, "                        \
    "\"original_max_position_embeddings\": 8192, \"low_freq_factor\": 1, \"high_freq_factor\": 4}, "                   \
    "\"max_position_embeddings\": 131072}"
    expect_settings(m, "transformers", false, ROPE);
    expect_settings(m, "transformers", true, "");
    expect_settings(m, "vllm", true, "vllm serve MODEL --hf-overrides '" ROPE "' --max-model-len 131072");
    expect_settings(m, "llama.cpp", false, "{}");
    expect_settings(m, "llama.cpp", true, "llama-server -m MODEL.gguf --rope-freq-base 500000 -c 131072");
    zoo_free(m);
}

static void yarn_has_its_settings(void **state)
{
    (void)state;
    zoo_model *m = plain("rope:theta=1000000,scaling=yarn,factor=4,trained=32768,beta_fast=16,magnitude=1", 32768, 131072);
    expect_settings(m, "llama.cpp", true,
                    "llama-server -m MODEL.gguf --rope-scaling yarn --rope-freq-base 1000000 --rope-scale 4 "
                    "--yarn-orig-ctx 32768 --yarn-beta-fast 16 --override-kv "
                    "ARCH.rope.scaling.attn_factor=float:0.8782488562869419 -c 131072"); /* 1 / (0.1 ln 4 + 1) */
#define YARN                                                                                                           \
    "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 1000000, \"factor\": 4, "                         \
    "\"original_max_position_embeddings\": 32768, \"beta_fast\": 16, "
    expect_settings(m, "transformers", false, YARN "\"attention_factor\": 1}, \"max_position_embeddings\": 131072}");
    expect_settings(m, "vllm", false,
                    YARN "\"attn_factor\": 1, \"apply_yarn_scaling\": false}, \"max_position_embeddings\": 131072}");
    expect_settings(m, "sglang", false,
                    YARN "\"attn_factor\": 0.8782488562869419}, \"max_position_embeddings\": 131072}");
    zoo_free(m);
    m = plain("rope:scaling=yarn,factor=2,trained=1024", 1024, 4096); /* more than 2 x 1024 */
    expect_settings(m, "vllm", true,
                    "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 vllm serve MODEL --hf-overrides '{\"rope_parameters\": "
                    "{\"rope_type\": \"yarn\", \"rope_theta\": 10000, \"factor\": 2, "
                    "\"original_max_position_embeddings\": 1024}, \"max_position_embeddings\": 4096}' "
                    "--max-model-len 4096");
    zoo_free(m);
}

/* transformers' head_dim of DeepSeek is what turns (qk_rope_head_dim): a share of it leaves too few frequencies. */
static void mla_has_no_share_of_the_head(void **state)
{
    (void)state;
    zoo_model *m = plain("rope:pairs=adjacent-half,dims=64,range=trailing", 4096, 4096);
    for (int i = 0; i < 4; i++)
        if (zoo_engine_at(i)->takes_config)
            expect_settings(m, zoo_engine_at(i)->name, false,
                            "{\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000}, "
                            "\"max_position_embeddings\": 4096}");
    zoo_free(m);
}

/* vLLM's mrope.py multiplies by YaRN's own factor, whatever is said: attn_factor is over that. */
static void sections_take_the_ratio_in_vllm(void **state)
{
    (void)state;
    zoo_model *m = plain("rope:scaling=yarn,factor=4,trained=32768,sections=16/24/24,magnitude=1", 32768, 131072);
    expect_settings(m, "vllm", false,
                    "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 10000, \"factor\": 4, "
                    "\"original_max_position_embeddings\": 32768, \"attn_factor\": 0.8782488562869419, "
                    "\"mrope_section\": [16, 24, 24]}, \"max_position_embeddings\": 131072}");
    zoo_free(m);
}

static void classes_that_read_no_settings_get_none(void **state)
{
    (void)state;
    zoo_model *m = plain("rope:dims=64", 4096, 4096);
    assert_null(zoo_engine_closed(engine("transformers"), &m->part[0]));
    assert_non_null(strstr(zoo_engine_remark(engine("transformers"), &m->part[0]), "partial_rotary_factor beside it"));
    m->part[0].type = "gpt_neox"; /* rotary_pct, rotary_emb_base */
    assert_null(zoo_engine_remark(engine("transformers"), &m->part[0]));
    m->part[0].type = "gptj";
    assert_non_null(strstr(zoo_engine_closed(engine("transformers"), &m->part[0]), "rotary_dim"));
    expect_settings(m, "transformers", false, "{}");
    zoo_free(m);
    m = plain("rope:scaling=yarn,factor=2,trained=4096", 4096, 8192);
    m->part[0].type = "phi3";
    assert_non_null(strstr(zoo_engine_closed(engine("transformers"), &m->part[0]), "longrope only"));
    m->part[0].type = "baichuan";
    assert_non_null(strstr(zoo_engine_closed(engine("transformers"), &m->part[0]), "trust_remote_code"));
    assert_null(zoo_engine_closed(engine("vllm"), &m->part[0]));
    m->part[0].type = "chatglm";
    expect_settings(m, "vllm", true, "vllm serve MODEL --max-model-len 8192");
    zoo_free(m);
}

static void the_length_asked_for_is_shown_however_short(void **state)
{
    pe_error err;
    explain_facts f;
    char text[1000];
    (void)state;
    zoo_model *m = plain("rope:scaling=dynamic,factor=4,trained=2048", 2048, 8192);
    assert_int_equal(explain_group(&f, &m->part[0], &m->part[0].group[0], 1024, &err), PE_OK);
    assert_true(f.length == 1024 && !f.as_served && !f.scaled);
    explain_limit_words(text, sizeof text, &f);
    assert_non_null(strstr(text, "The length asked for, 1024, stays within."));
    explain_clear(&f);
    f = facts_of(m, 0);
    assert_true(f.length == 8192 && f.as_served && f.scaled);
    explain_clear(&f);
    zoo_free(m);
}

/* A model may have a scale of its own; what is said is the encoding's part in it. */
static void the_softmax_factor_is_that_of_the_encoding(void **state)
{
    static const struct {
        const char *spec;
        double factor;
    } row[] = { { "rope", 1 }, { "rope:softmax=1.5", 1.5 }, { "alibi", 1 }, { "t5:scale=sqrt", 1 } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        zoo_model *m = plain(row[i].spec, 4096, 4096);
        explain_facts f = facts_of(m, 0);
        assert_near(explain_softmax(f.e), row[i].factor, 1e-12);
        explain_clear(&f);
        zoo_free(m);
    }
}

static void long_lists_are_cut(void **state)
{
    char text[100];
    (void)state;
    explain_shorten(text, sizeof text, "rope:scaling=longrope,short=1/2/3/4/5,long=1/2/3/4,sections=16/24/24");
    assert_string_equal(text, "rope:scaling=longrope,short=1/2/3...,long=1/2/3/4,sections=16/24/24");
}

static void layer_types_have_settings_of_their_own(void **state)
{
    (void)state;
    zoo_model *m = model("GGUF", 8192, 32768,
                         (stack[]){ { 5, "rope", "sliding_attention", 512 },
                                    { 1, "rope:theta=1000000,scaling=linear,factor=8,dims=64", "full_attention", 0 },
                                    { 0 } });
    expect_settings(m, "transformers", false,
                    "{\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 10000}, "
                    "\"full_attention\": {\"rope_type\": \"linear\", \"rope_theta\": 1000000, "
                    "\"partial_rotary_factor\": 0.5, \"factor\": 8}}, \"max_position_embeddings\": 32768}");
    expect_settings(m, "llama.cpp", true,
                    "llama-server -m MODEL.gguf --rope-scaling linear --rope-freq-base 1000000 --rope-scale 8 "
                    "--override-kv llama.rope.dimension_count=int:64,"
                    "llama.rope.freq_base_swa=float:10000 -c 32768"); /* one --override-kv: a second would replace it */
    zoo_free(m);
}

/* A file names its kinds of layers, and the command is pasted into a shell. */
static void names_cannot_leave_their_quotes(void **state)
{
    (void)state;
    zoo_model *m = model("config.json", 8192, 0,
                         (stack[]){ { 1, "rope", "a'; b", 512 }, { 1, "rope:theta=9", "c\"\n$", 0 }, { 0 } });
    expect_settings(m, "vllm", true,
                    "vllm serve MODEL --hf-overrides '{\"rope_parameters\": {\"a???b\": {\"rope_type\": \"default\", "
                    "\"rope_theta\": 10000}, \"c???\": {\"rope_type\": \"default\", \"rope_theta\": 9}}}'");
    zoo_free(m);
}

static void a_fixed_ntk_base_becomes_a_base(void **state)
{
    char text[200];
    double base = 0;
    (void)state;
    zoo_model *m = plain("rope:scaling=ntk,alpha=1000,pairs=adjacent", 4096, 4096);
    FILE *to = fmemopen(text, sizeof text, "w");
    pe_error err;
    assert_int_equal(zoo_engine_config(to, engine("transformers"), &m->part[0], &err), PE_OK);
    fclose(to);
    const char *theta = strstr(text, "rope_theta\": ");
    assert_non_null(theta);
    assert_int_equal(sscanf(theta, "rope_theta\": %lf", &base), 1);
    assert_near(base / (10000 * pow(1000, 128.0 / 126)), 1, 1e-12);
    zoo_engine_fixed(text, sizeof text, engine("transformers"), &m->part[0]);
    assert_string_equal(text, "pairs=adjacent");
    zoo_free(m);
}

static void models_without_a_rotation_have_nothing_to_set_but_a_length(void **state)
{
    (void)state;
    zoo_model *m = plain("alibi", 2048, 2048);
    expect_settings(m, "vllm", true, "vllm serve MODEL --max-model-len 2048");
    expect_settings(m, "transformers", false, "{}");
    zoo_free(m);
}

/* Every engine, every example of every row: settings come out, whatever they say. */
static void every_spec_has_settings_or_none_but_no_error(void **state)
{
    char text[9000];
    pe_error err;
    (void)state;
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++) {
            zoo_builder *b = zoo_begin("m", "config.json", NULL, &err);
            zoo_part *p;
            zoo_model *m;
            assert_int_equal(zoo_add_part(b, &p, "text", "x", 1), PE_OK);
            assert_int_equal(
                zoo_set_layer(b, p, 0, pe_info_at(i)->examples[k], (pe_shape){ 8, 8, 64, 0 }, "full", 0), PE_OK);
            p->served = 100000;
            assert_int_equal(zoo_finish(&m, b, PE_OK), PE_OK);
            for (int e = 0; zoo_engine_at(e); e++) {
                FILE *to = fmemopen(text, sizeof text, "w");
                assert_int_equal(zoo_engine_config(to, zoo_engine_at(e), &m->part[0], &err), PE_OK);
                assert_int_equal(zoo_engine_command(to, zoo_engine_at(e), m, &m->part[0], &err), PE_OK);
                fclose(to);
                assert_null(strstr(text, "(null)"));
                zoo_engine_fixed(text, sizeof text, zoo_engine_at(e), &m->part[0]);
            }
            explain_facts f = facts_of(m, 0);
            explain_clear(&f);
            zoo_free(m);
        }
}

static bool warns(const zoo_model *m, const char *name, const char *words)
{
    const zoo_quirk *q;
    for (int i = 0; (q = zoo_quirk_at(i)); i++)
        if (!strcmp(q->engine, name) && strstr(q->text, words) && zoo_quirk_applies(q, &m->part[0]))
            return true;
    return false;
}

static void engines_are_warned_of_where_their_condition_is_met(void **state)
{
    (void)state;
    zoo_model *m = plain(OSS, 4096, 131072);
    assert_true(warns(m, "llama.cpp", "truncate"));
    assert_false(warns(m, "transformers", "truncate")); /* only where layers differ */
    assert_false(warns(m, "vllm", "attention_factor"));
    zoo_free(m);
    m = plain("rope:scaling=dynamic,factor=2,trained=2048", 2048, 2048);
    for (int i = 0; zoo_engine_at(i); i++)
        assert_true(warns(m, zoo_engine_at(i)->name, "base"));
    zoo_free(m);
    m = model("config.json", 4096, 131072,
              (stack[]){ { 1, OSS, "full_attention", 0 }, { 1, "rope", "sliding_attention", 128 }, { 0 } });
    assert_true(warns(m, "transformers", "truncate"));
    assert_true(warns(m, "llama.cpp", "--rope-freq-base"));
    zoo_free(m);
    m = model("config.json", 4096, 4096, (stack[]){ { 3, "rope", "", 0 }, { 1, "none", "", 0 }, { 0 } });
    for (int i = 0; zoo_engine_at(i); i++)
        assert_false(warns(m, zoo_engine_at(i)->name, ""));
    zoo_free(m);
}

/* ------------------------------------------------ diff */

static diff_model compare(const zoo_model *a, const zoo_model *b)
{
    pe_error err;
    diff_model d = { .a = a, .b = b };
    assert_int_equal(diff_models(&d, &err), PE_OK);
    return d;
}

/* Are two specs the same function, are their layouts alike, and how many keys differ? */
static void expect_diff(const char *a, const char *b, bool same, bool layout, int keys)
{
    zoo_model *x = plain(a, 4096, 131072), *y = plain(b, 4096, 131072);
    diff_model d = compare(x, y);
    if (diff_models_same(&d) != same || diff_models_layout(&d) != layout || d.class[0].result.keys != keys)
        fail_msg("%s and %s: same %d, layout %d, %d keys", a, b, diff_models_same(&d), diff_models_layout(&d),
                 d.class[0].result.keys);
    diff_clear(&d);
    zoo_free(x);
    zoo_free(y);
}

static void functions_are_compared_not_texts(void **state)
{
    (void)state;
    expect_diff("rope", "rope:theta=10000", true, false, 0);
    expect_diff("rope", "rope:pairs=adjacent", true, true, 1);
    expect_diff("rope:pairs=adjacent", "rope:pairs=adjacent-half", true, false, 1); /* in the K cache only */
    expect_diff("rope", "rope:pairs=adjacent-half", true, true, 1);
    expect_diff("rope", "rope:theta=10001", false, false, 1);
    expect_diff("rope", "rope:scaling=linear,factor=1", true, false, 2);
    expect_diff("rope", "rope:sign=negative", false, false, 1);
    expect_diff("rope", "rope:turn=qkv", false, false, 1);
    expect_diff("rope", "rope:softmax=1.1", false, false, 1);
    expect_diff("rope", "rope:magnitude=1.1", false, false, 1);
    expect_diff("rope", "rope:magnitude=1.0000001", true, false, 1);
    expect_diff("rope", "rope:temperature=0.1", false, false, 1);
    expect_diff("rope:dims=0", "rope:dims=0,temperature=0.1", false, false, 1);
    expect_diff("rope", "rope:dims=64", false, true, 1);
    expect_diff("rope", "alibi", false, false, 1);
    expect_diff("alibi", "alibi:max=9", false, false, 1);
    expect_diff("alibi", "alibi", true, false, 0);
    expect_diff("sinusoidal", "sinusoidal", true, false, 0);
    expect_diff("t5", "t5:buckets=64", false, false, 1);
    expect_diff("rope+alibi", "rope+alibi:max=9", false, false, 1);
    /* past the trained length a base that follows the sequence is another one */
    expect_diff("rope", "rope:scaling=dynamic,factor=2,trained=4096", false, false, 3);
    expect_diff("rope", "rope:scaling=dynamic,factor=2,trained=131072", true, false, 3);
}

/* As a GGUF holds llama3: a factor per pair, in float32. */
static void factors_rounded_to_float_are_the_same_function(void **state)
{
    static char spec[9000], list[4000];
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        zoo_model *x = plain(LLAMA, 8192, 131072), *y;
        explain_facts f = facts_of(x, 0);
        size_t used = 0;
        for (int64_t n = 0; n < f.pairs; n++) {
            double factor = (double)(float)f.pair[n].divisor * (wrong && n == 40 ? 1.00001 : 1);
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.17g", n ? "/" : "", factor);
        }
        snprintf(spec, sizeof spec, "rope:theta=500000,scaling=longrope,trained=8192,magnitude=1,short=%s,long=%s", list,
                 list);
        y = plain(spec, 8192, 131072);
        diff_model d = compare(x, y);
        assert_int_equal(diff_models_same(&d), !wrong);
        assert_true(d.class[0].result.keys > 3 && d.class[0].result.rounding > 0);
        diff_clear(&d);
        explain_clear(&f);
        zoo_free(x);
        zoo_free(y);
    }
}

static void the_worst_pair_and_position_are_found(void **state)
{
    (void)state;
    zoo_model *x = model("config.json", 4096, 131072, (stack[]){ { 2, OSS, "", 0 }, { 0 } });
    zoo_model *y = plain("rope:theta=150000,scaling=yarn,factor=32,trained=4096", 4096, 131072);
    diff_model d = compare(x, y);
    const diff_result *r = &d.class[0].result;
    assert_string_equal(r->key[0].key, "truncate");
    assert_string_equal(r->key[0].a, "no");
    assert_int_equal(r->at[2].position, 4096);
    int64_t n = r->at[2].pair;
    explain_facts f = facts_of(x, 0), g = facts_of(y, 0);
    for (int64_t i = 0; i < f.pairs; i++)
        assert_true(fabs(f.pair[i].at.frequency - g.pair[i].at.frequency) * 4096 <= r->at[2].angle * (1 + 1e-12));
    assert_near(fabs(f.pair[n].at.frequency - g.pair[n].at.frequency) * 4096, r->at[2].angle, 1e-9);
    assert_int_equal(r->at[r->ats - 1].position, 131071);
    assert_false(diff_models_same(&d)); /* and layers 2 of 4 */
    explain_clear(&f);
    explain_clear(&g);
    diff_clear(&d);
    zoo_free(x);
    zoo_free(y);
}

static void layers_and_windows_are_told_apart(void **state)
{
    (void)state;
    zoo_model *x = model("config.json", 4096, 4096, (stack[]){ { 2, "rope", "", 0 }, { 2, "none", "", 0 }, { 0 } });
    zoo_model *y = model("GGUF", 4096, 4096, (stack[]){ { 3, "rope", "", 0 }, { 1, "none", "", 0 }, { 0 } });
    diff_model d = compare(x, y);
    assert_int_equal(d.classes, 3);
    assert_true(diff_same(&d.class[0].result) && !diff_same(&d.class[1].result) && diff_same(&d.class[2].result));
    assert_true(d.class[1].in[2] && !d.class[1].in[1] && !d.class[1].in[3]);
    diff_clear(&d);
    zoo_free(y);
    y = model("config.json", 4096, 4096, (stack[]){ { 2, "rope", "", 512 }, { 2, "none", "", 0 }, { 0 } });
    d = compare(x, y);
    assert_true(diff_same(&d.class[0].result));
    assert_false(diff_models_same(&d));
    diff_clear(&d);
    zoo_free(y);
    y = model("config.json", 4096, 4096, (stack[]){ { 1, "rope", "", 512 }, { 1, "rope", "", 64 }, { 2, "none", "", 0 }, { 0 } });
    d = compare(x, y); /* the same two groups are compared once, whatever their windows */
    assert_int_equal(d.classes, 3);
    assert_true(!d.class[0].again && d.class[1].again && d.class[1].result.ats == d.class[0].result.ats);
    diff_clear(&d);
    zoo_free(x);
    zoo_free(y);
}

/* ------------------------------------------------ words */

static void ranges_and_numbers_read_well(void **state)
{
    static const bool in[] = { 1, 1, 1, 0, 1, 0, 0, 1, 1 };
    static bool many[4096];
    (void)state;
    assert_string_equal(page_ranges(in, 9).text, "0-2, 4, 7-8");
    assert_string_equal(page_ranges(in, 0).text, "");
    for (int i = 0; i < 4096; i += 2)
        many[i] = true;
    assert_non_null(strstr(page_ranges(many, 4096).text, " ..."));
    assert_string_equal(page_number(65536).text, "65536");
    assert_string_equal(page_number(1.0 / 3).text, "0.333333");
    assert_string_equal(page_number(0).text, "0");
    assert_string_equal(page_number(-1.25e-9).text, "-1.25e-09");
}

/* An option's choices are constants of the compiler; the row's are the truth. */
static void the_option_pairs_has_the_choices_of_the_row(void **state)
{
    (void)state;
    const pe_key *key = zoo_spec_key("rope", "pairs");
    assert_non_null(key);
    assert_string_equal(CLI_PAIRS, key->choices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_option_pairs_has_the_choices_of_the_row),
        cmocka_unit_test(llama3_leaves_its_trained_range_at_eight_times_the_length),
        cmocka_unit_test(an_unscaled_model_extrapolates_at_its_trained_length),
        cmocka_unit_test(linear_ntk_and_dynamic_leave_where_their_divisors_say),
        cmocka_unit_test(a_window_bounds_what_a_pair_can_meet),
        cmocka_unit_test(pairs_that_stand_still_never_leave),
        cmocka_unit_test(nothing_is_said_of_training_without_a_trained_length),
        cmocka_unit_test(layouts_and_widths_are_named_from_the_pairs_themselves),
        cmocka_unit_test(tables_end_and_slopes_fall),
        cmocka_unit_test(engines_stand_in_the_order_of_their_names),
        cmocka_unit_test(llama3_has_its_settings),
        cmocka_unit_test(yarn_has_its_settings),
        cmocka_unit_test(mla_has_no_share_of_the_head),
        cmocka_unit_test(sections_take_the_ratio_in_vllm),
        cmocka_unit_test(classes_that_read_no_settings_get_none),
        cmocka_unit_test(the_length_asked_for_is_shown_however_short),
        cmocka_unit_test(the_softmax_factor_is_that_of_the_encoding),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(layer_types_have_settings_of_their_own),
        cmocka_unit_test(names_cannot_leave_their_quotes),
        cmocka_unit_test(a_fixed_ntk_base_becomes_a_base),
        cmocka_unit_test(models_without_a_rotation_have_nothing_to_set_but_a_length),
        cmocka_unit_test(every_spec_has_settings_or_none_but_no_error),
        cmocka_unit_test(engines_are_warned_of_where_their_condition_is_met),
        cmocka_unit_test(functions_are_compared_not_texts),
        cmocka_unit_test(factors_rounded_to_float_are_the_same_function),
        cmocka_unit_test(the_worst_pair_and_position_are_found),
        cmocka_unit_test(layers_and_windows_are_told_apart),
        cmocka_unit_test(ranges_and_numbers_read_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

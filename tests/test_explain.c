/* labels: core; tier: quick; cost: 1 s; needs: cli zoo io */
/* SPDX-License-Identifier: MIT
 *
 * What posenc explain and posenc diff say, on models put together here: no file, no reader. */

#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/explain.h"
#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <math.h>
#include <string.h>

#include "test.h"

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
#define EVERY(spec) { { 4, spec, NULL, 0 } } /* layer does this */

static int64_t head_dim = 128;

/* Layers of 8 heads, stack after stack, until one has no spec. */
static zoo_model *model(const char *format, int64_t trained, int64_t served, const stack *s)
{
    zoo_builder *b = zoo_begin("model", format, NULL, &err);
    zoo_model *m;
    zoo_part *p;
    int64_t layers = 0, n = 0;
    for (const stack *t = s; t->spec; t++)
        layers += t->layers;
    assert_non_null(b);
    assert_ok(zoo_add_part(b, &p, "", "llama", layers));
    p->trained = trained;
    p->served = served;
    for (; s->spec; s++)
        for (int64_t k = 0; k < s->layers; k++)
            assert_ok(zoo_set_layer(b, p, n++, s->spec, (pe_shape){ 8, 8, head_dim, 0 }, s->kind, s->window));
    assert_ok(zoo_finish(&m, b, PE_OK));
    return m;
}

static zoo_model *plain(const char *spec, int64_t trained, int64_t served)
{
    return model("config.json", trained, served, (stack[]){ { 4, spec, NULL, 0 }, { 0 } });
}

static explain_facts facts_at(const zoo_model *m, int group, int64_t length)
{
    explain_facts f;
    assert_ok(explain_group(&f, &m->part[0], &m->part[0].group[group], length, &err));
    return f;
}

static explain_facts facts_of(const zoo_model *m, int group)
{
    return facts_at(m, group, 0);
}

/* What people read of it, on one line. */
static const char *expect_words(const zoo_model *m, int64_t length, const char *wording)
{
    static char text[60000];
    result *r = result_new();
    FILE *to = fmemopen(text, sizeof text, "w");
    size_t used = 0;
    assert_true(r && to);
    assert_ok(explain_model(r, &(explain_job){ .m = m, .layer = -1, .length = length }, &err));
    assert_ok(result_write(to, r, RESULT_AS_TEXT, &(result_screen){ 0 }, &err));
    fclose(to);
    result_free(r);
    for (const char *p = text; *p; p++)
        if (!strchr(" \n", *p) || (used && text[used - 1] != ' '))
            text[used++] = *p == '\n' ? ' ' : *p;
    text[used] = 0;
    if (wording && !strstr(text, wording))
        fail_msg("'%s' is not in: %s", wording, text);
    return text;
}

/* ------------------------------------------------ facts */

TEST(pairs_reach_new_angles_where_their_divisors_say)
{
    static const struct {
        const char *spec;
        int64_t trained, served, asked;
        int64_t length, unturned; /* of the frequencies; pairs without a turn */
        double leaves;            /* the first position with a new angle; 0: there is none */
        int64_t pair;
        double divisor, pair_leaves; /* of that pair */
        const char *wording;
    } row[] = {
        /* wavelengths 2 pi 500000^(i/64) above 8192: i of 35 and more */
        { LLAMA, 8192, 131072, 0, 0, 29, 65536, 63, 8, 65536, "At position 65536, not at 8192: the 29 pairs" },
        { LLAMA, 8192, 131072, 0, 0, 29, 65536, 0, 1, INFINITY, "131072, is beyond that" },
        { LLAMA, 8192, 131072, 0, 0, 29, 65536, 35, 8, 65536, "pairs 35-63 (29 of 64)" },
        { "rope", 4096, 4096, 0, 0, 18, 4096, 63, 1, 4096, "At position 4096, the trained length" },
        { "rope", 4096, 4096, 0, 0, 18, 4096, 46, 1, 4096, "4096, stays below that" },
        /* the slowest pair: 2 pi 10^(63/64) positions a turn */
        { "rope:theta=10", 4096, 4096, 0, 0, 0, 0, 63, 1, INFINITY, "only combinations of angles are new" },
        { "rope:scaling=linear,factor=4", 2048, 8192, 0, 0, 23, 8192, 0, 4, INFINITY, NULL },
        /* the first of them, pair 41, at 2048 * 8^(41/63), and the slowest is divided by alpha */
        { "rope:scaling=ntk,alpha=8", 2048, 8192, 0, 0, 23, 7927, 63, 8, 16384, "is the last, at 16384" },
        { "rope:scaling=ntk,alpha=8", 2048, 8192, 0, 0, 23, 7927, 0, 1, INFINITY, NULL },
        /* looked at where it is served: s n/L - (s - 1) = 3 */
        { "rope:scaling=dynamic,factor=2,trained=2048", 2048, 4096, 0, 4096, 23, 4187, 63, 3, 6144, "served length" },
        { "rope:scaling=dynamic,factor=4,trained=2048", 2048, 8192, 1024, 1024, 23, 2048, 63, 1, 2048,
          "The length asked for, 1024, stays below that." },
        { "rope:scaling=proportional,turning=0.25", 8192, 8192, 0, 0, 0, 0, 16, 1, INFINITY, "not rotated" },
    };
    for (int i = 0; i < COUNT(row); i++) {
        zoo_model *m = plain(row[i].spec, row[i].trained, row[i].served);
        explain_facts f = facts_at(m, 0, row[i].asked);
        const zoo_turns *p = &f.pair[row[i].pair];
        assert_int_equal(f.length, row[i].length);
        assert_int_equal(f.as_served, !row[i].asked);
        assert_int_equal(f.unturned_count, row[i].unturned);
        assert_int_equal(f.first >= 0, row[i].leaves > 0);
        if (f.first >= 0)
            assert_near(f.pair[f.first].leaves, row[i].leaves, 0);
        assert_near(p->divisor, row[i].divisor, 1e-9);
        assert_true(p->leaves == row[i].pair_leaves);
        expect_words(m, row[i].asked, row[i].wording);
        explain_clear(&f);
        zoo_free(m);
    }
}

TEST(pairs_that_are_not_rotated_have_no_wavelength)
{
    zoo_model *m = plain("rope:scaling=proportional,turning=0.25", 8192, 8192);
    explain_facts f = facts_of(m, 0);
    assert_true(isinf(f.pair[16].wavelength) && !f.unturned[16]);
    assert_int_equal(f.longest, 15);
    explain_clear(&f);
    zoo_free(m);
}

TEST(a_window_bounds_what_a_pair_can_meet)
{
    zoo_model *m = model("config.json", 8192, 131072,
                         (stack[]){ { 5, "rope", "sliding_attention", 512 },
                                    { 1, LLAMA, "full_attention", 0 },
                                    { 0 } });
    explain_facts f = facts_of(m, 0), g = facts_of(m, 1);
    assert_int_equal(f.window, 512);
    assert_int_equal(f.first, -1);
    assert_near(f.pair[0].turns, 512 / f.pair[0].wavelength, 1e-9);
    expect_words(m, 0, "Nowhere: the window");
    expect_words(m, 0, "layers 0-4: sliding_attention, window of 512");
    expect_words(m, 0, "layers 5: full_attention");
    assert_int_equal(g.window, 0);
    explain_clear(&f);
    explain_clear(&g);
    zoo_free(m);
}

TEST(nothing_is_said_of_training_without_a_trained_length)
{
    zoo_model *m = plain("rope", 0, 0);
    explain_facts f = facts_of(m, 0);
    assert_true(isnan(f.pair[0].turns) && f.first == -1);
    expect_words(m, 0, "--trained N");
    explain_clear(&f);
    zoo_free(m);
}

/* Layouts and widths are named from the pairs themselves; the softmax factor is the encoding's part in it, for a model
 * may have a scale of its own. */
TEST(encodings_are_told_as_they_are)
{
    static const struct {
        const char *spec;
        int64_t end; /* of its table; 0: none */
        double softmax;
        bool biased;
        const char *wording;
    } row[] = {
        { "rope", 0, 1, false, "half [ccss]" },
        { "rope:pairs=adjacent", 0, 1, false, "adjacent [cscs]:" },
        { "rope:pairs=adjacent-half", 0, 1, false, "adjacent-half [cscs -> ccss]" },
        { "rope:dims=32", 0, 1, false, "16 pairs, the first 32 of 128" },
        { "rope:dims=32,range=trailing", 0, 1, false, "the last 32 of" },
        { "rope:dims=64,pairs=adjacent", 0, 1, false, "adjacent [cscs]: elements 2i and 2i + 1; 32 pairs" },
        { "rope:dims=0,temperature=0.1", 0, 1, false, "these layers are not rotated query queries are multiplied" },
        { "rope:softmax=1.5", 0, 1.5, false, "multiplied by 1.5" },
        { "learned:rows=2050,offset=2", 2048, 1, false, "the table has 2048 positions" },
        { "alibi", 0, 1, true, "bias -0.5 to -0.00390625 over the heads, at distance 1 " }, /* 2^-1 ... 2^-8 */
        { "alibi", 0, 1, true, "bias -50 to -0.390625 over the heads, at distance 100 " },
        { "t5:scale=sqrt", 0, 1, false, "learned 256 numbers" },
    };
    double score[8];
    for (int i = 0; i < COUNT(row); i++) {
        zoo_model *m = plain(row[i].spec, 2048, 2048);
        explain_facts f = facts_of(m, 0);
        assert_int_equal(explain_end(row[i].spec, f.e), row[i].end);
        assert_near(explain_softmax(f.e), row[i].softmax, 1e-12);
        assert_int_equal(explain_bias(f.e, 1, score), row[i].biased);
        expect_words(m, 0, row[i].wording);
        explain_clear(&f);
        zoo_free(m);
    }
}

/* alpha's help is "see floor". */
TEST(a_key_that_leans_on_another_is_shown_with_it)
{
    zoo_model *m = plain("inkling", 1024, 1024);
    assert_null(strstr(expect_words(m, 0, "distances 1024 (N:"), "see floor"));
    zoo_free(m);
    m = plain("inkling:floor=64", 1024, 1024);
    expect_words(m, 0, "floor 64 (scores of queries from here on are multiplied");
    expect_words(m, 0, "alpha 0.1 (see floor)");
    zoo_free(m);
}

TEST(long_lists_are_cut)
{
    char text[100];
    explain_shorten(text, sizeof text, "rope:scaling=longrope,short=1/2/3/4/5,long=1/2/3/4,sections=16/24/24");
    assert_string_equal(text, "rope:scaling=longrope,short=1/2/3...,long=1/2/3/4,sections=16/24/24");
}

TEST(ranges_and_numbers_read_well)
{
    static const bool in[] = { 1, 1, 1, 0, 1, 0, 0, 1, 1 };
    static bool many[4096];
    assert_string_equal(result_ranges_text(in, 9).text, "0-2, 4, 7-8");
    assert_string_equal(result_ranges_text(in, 0).text, "");
    for (int i = 0; i < 4096; i += 2)
        many[i] = true;
    assert_non_null(strstr(result_ranges_text(many, 4096).text, " ..."));
    assert_string_equal(result_number(65536).text, "65536");
    assert_string_equal(result_number(1.0 / 3).text, "0.333333");
    assert_string_equal(result_number(0).text, "0");
    assert_string_equal(result_number(-1.25e-9).text, "-1.25e-09");
}

/* An option's choices are constants of the compiler; the row's are the truth. */
TEST(the_option_pairs_has_the_choices_of_the_row)
{
    const pe_key *key = zoo_spec_key("rope", "pairs");
    assert_non_null(key);
    assert_string_equal(CLI_PAIRS, key->choices);
}

/* ------------------------------------------------ engines */

static const zoo_engine *engine(const char *name)
{
    int i = 0;
    while (strcmp(zoo_engine_at(i)->name, name))
        i++;
    return zoo_engine_at(i);
}

TEST(engines_stand_in_the_order_of_their_names)
{
    char name[40];
    int i = 0;
    for (; cli_item(ZOO_ENGINE_NAMES, i, name, sizeof name); i++)
        assert_string_equal(zoo_engine_at(i)->name, name);
    assert_null(zoo_engine_at(i));
    const zoo_quirk *q;
    for (i = 0; (q = zoo_quirk_at(i)); i++) {
        assert_true(*q->text && *q->source);
        engine(q->engine); /* fails on a name that is in no row */
    }
}

/* The settings as config.json, or as a command where they begin with no brace. */
static void expect_settings(const zoo_model *m, const char *name, const char *truth)
{
    char *text;
    assert_ok(zoo_engine_text(&text, engine(name), m, &m->part[0], *truth != '{', &err));
    assert_string_equal(text, truth);
    free(text);
}

#define LLAMA_KEYS                                                                                                     \
    "{\"rope_parameters\": {\"rope_type\": \"llama3\", \"rope_theta\": 500000, \"factor\": 8, "                        \
    "\"original_max_position_embeddings\": 8192, \"low_freq_factor\": 1, \"high_freq_factor\": 4}, "                   \
    "\"max_position_embeddings\": 131072}"
#define YARN "rope:theta=1000000,scaling=yarn,factor=4,trained=32768,beta_fast=16,magnitude=1"
#define YARN_KEYS                                                                                                      \
    "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 1000000, \"factor\": 4, "                         \
    "\"original_max_position_embeddings\": 32768, \"beta_fast\": 16, "
/* transformers' head_dim of DeepSeek is what turns (qk_rope_head_dim): a share of it leaves too few frequencies. */
#define MLA "rope:pairs=adjacent-half,dims=64,range=trailing"
#define MLA_KEYS                                                                                                       \
    "{\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000}, \"max_position_embeddings\": 4096}"

TEST(every_engine_has_its_settings)
{
    static const struct {
        stack layers[3];
        int64_t trained, served;
        const char *engine, *truth;
    } row[] = {
        { EVERY(LLAMA), 8192, 131072, "transformers", LLAMA_KEYS },
        { EVERY(LLAMA), 8192, 131072, "transformers", "" },
        { EVERY(LLAMA), 8192, 131072, "vllm",
          "vllm serve MODEL --hf-overrides '" LLAMA_KEYS "' --max-model-len 131072" },
        { EVERY(LLAMA), 8192, 131072, "llama.cpp", "{}" },
        { EVERY(LLAMA), 8192, 131072, "llama.cpp", "llama-server -m MODEL.gguf --rope-freq-base 500000 -c 131072" },
        { EVERY(YARN), 32768, 131072, "llama.cpp",
          "llama-server -m MODEL.gguf --rope-scaling yarn --rope-freq-base 1000000 --rope-scale 4 "
          "--yarn-orig-ctx 32768 --yarn-beta-fast 16 --override-kv "
          "ARCH.rope.scaling.attn_factor=float:0.8782488562869419 -c 131072" }, /* 1 / (0.1 ln 4 + 1) */
        { EVERY(YARN), 32768, 131072, "transformers",
          YARN_KEYS "\"attention_factor\": 1}, \"max_position_embeddings\": 131072}" },
        { EVERY(YARN), 32768, 131072, "vllm",
          YARN_KEYS "\"attn_factor\": 1, \"apply_yarn_scaling\": false}, \"max_position_embeddings\": 131072}" },
        { EVERY(YARN), 32768, 131072, "sglang",
          YARN_KEYS "\"attn_factor\": 0.8782488562869419}, \"max_position_embeddings\": 131072}" },
        { EVERY("rope:scaling=yarn,factor=2,trained=1024"), 1024, 4096, "vllm", /* more than 2 x 1024 */
          "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 vllm serve MODEL --hf-overrides '{\"rope_parameters\": "
          "{\"rope_type\": \"yarn\", \"rope_theta\": 10000, \"factor\": 2, "
          "\"original_max_position_embeddings\": 1024}, \"max_position_embeddings\": 4096}' --max-model-len 4096" },
        /* Qwen's recipe leaves the length: vLLM multiplies it, SGLang does not */
        { EVERY("rope:scaling=yarn,factor=4,trained=1024"), 1024, 1024, "vllm",
          "vllm serve MODEL --hf-overrides '{\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 10000, "
          "\"factor\": 4, \"original_max_position_embeddings\": 1024}, \"max_position_embeddings\": 1024}' "
          "--max-model-len 4096" },
        { EVERY("rope:scaling=yarn,factor=4,trained=1024"), 1024, 1024, "sglang",
          "python -m sglang.launch_server --model-path MODEL --json-model-override-args '{\"rope_parameters\": "
          "{\"rope_type\": \"yarn\", \"rope_theta\": 10000, \"factor\": 4, \"original_max_position_embeddings\": 1024}, "
          "\"max_position_embeddings\": 1024}' --context-length 1024" },
        { EVERY(MLA), 4096, 4096, "transformers", MLA_KEYS },
        { EVERY(MLA), 4096, 4096, "vllm", MLA_KEYS },
        { EVERY(MLA), 4096, 4096, "sglang", MLA_KEYS },
        /* vLLM's mrope.py multiplies by YaRN's own factor, whatever is said: attn_factor is over that */
        { EVERY("rope:scaling=yarn,factor=4,trained=32768,sections=16/24/24,magnitude=1"), 32768, 131072, "vllm",
          "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 10000, \"factor\": 4, "
          "\"original_max_position_embeddings\": 32768, \"attn_factor\": 0.8782488562869419, "
          "\"mrope_section\": [16, 24, 24]}, \"max_position_embeddings\": 131072}" },
        { EVERY("alibi"), 2048, 2048, "vllm", "vllm serve MODEL --max-model-len 2048" },
        { EVERY("alibi"), 2048, 2048, "transformers", "{}" },
        { { { 5, "rope", "sliding_attention", 512 },
            { 1, "rope:theta=1000000,scaling=linear,factor=8,dims=64", "full_attention", 0 } },
          8192, 32768, "transformers",
          "{\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 10000}, "
          "\"full_attention\": {\"rope_type\": \"linear\", \"rope_theta\": 1000000, "
          "\"partial_rotary_factor\": 0.5, \"factor\": 8}}, \"max_position_embeddings\": 32768}" },
        { { { 5, "rope", "sliding_attention", 512 },
            { 1, "rope:theta=1000000,scaling=linear,factor=8,dims=64", "full_attention", 0 } },
          8192, 32768, "llama.cpp", /* one --override-kv: a second would replace it */
          "llama-server -m MODEL.gguf --rope-scaling linear --rope-freq-base 1000000 --rope-scale 8 --override-kv "
          "llama.rope.dimension_count=int:64,llama.rope.freq_base_swa=float:10000 -c 32768" },
        /* a file names its kinds of layers, and the command is pasted into a shell */
        { { { 1, "rope", "a'; b", 512 }, { 1, "rope:theta=9", "c\"\n$", 0 } }, 8192, 0, "vllm",
          "vllm serve MODEL --hf-overrides '{\"rope_parameters\": {\"a???b\": {\"rope_type\": \"default\", "
          "\"rope_theta\": 10000}, \"c???\": {\"rope_type\": \"default\", \"rope_theta\": 9}}}'" },
    };
    for (int i = 0; i < COUNT(row); i++) {
        bool gguf = !strcmp(row[i].engine, "llama.cpp") && row[i].layers[1].spec;
        zoo_model *m = model(gguf ? "GGUF" : "config.json", row[i].trained, row[i].served, row[i].layers);
        expect_settings(m, row[i].engine, row[i].truth);
        zoo_free(m);
    }
}

TEST(classes_that_read_no_settings_get_none)
{
    static const struct {
        const char *spec, *type, *engine;
        const char *closed, *remark; /* wording in them; NULL: there is none */
        const char *settings;        /* NULL: not asked for */
    } row[] = {
        { "rope:dims=64", "llama", "transformers", NULL, "partial_rotary_factor beside it", NULL },
        { "rope:dims=64", "gpt_neox", "transformers", NULL, NULL, NULL }, /* rotary_pct, rotary_emb_base */
        { "rope:dims=64", "gptj", "transformers", "rotary_dim", NULL, "{}" },
        { "rope:scaling=yarn,factor=2,trained=4096", "phi3", "transformers", "longrope only", NULL, NULL },
        { "rope:scaling=yarn,factor=2,trained=4096", "baichuan", "transformers", "trust_remote_code", NULL, NULL },
        { "rope:scaling=yarn,factor=2,trained=4096", "baichuan", "vllm", NULL, NULL, NULL },
        { "rope:scaling=yarn,factor=2,trained=4096", "chatglm", "vllm", "", NULL,
          "vllm serve MODEL --max-model-len 8192" },
        { "rope:scaling=yarn,factor=2,trained=4096", "chatglm", "sglang", "rope_ratio", NULL, "{}" },
        { "rope:scaling=linear,factor=8", "gemma3_text", "sglang", "no scaling", NULL, "{}" },
        { "rope", "gemma3_text", "sglang", NULL, NULL, NULL },
        { "rope:scaling=linear,factor=8", "gemma3_text", "vllm", NULL, NULL, NULL },
    };
    for (int i = 0; i < COUNT(row); i++) {
        zoo_model *m = plain(row[i].spec, 4096, 8192);
        m->part[0].type = row[i].type;
        const char *closed = zoo_engine_closed(engine(row[i].engine), &m->part[0]);
        const char *remark = zoo_engine_remark(engine(row[i].engine), &m->part[0]);
        if (!closed != !row[i].closed || (closed && !strstr(closed, row[i].closed)))
            fail_msg("%s: %s", row[i].type, closed ? closed : "open");
        if (row[i].remark || !strcmp(row[i].type, "gpt_neox"))
            assert_true(row[i].remark ? remark && strstr(remark, row[i].remark) : !remark);
        if (row[i].settings)
            expect_settings(m, row[i].engine, row[i].settings);
        zoo_free(m);
    }
}

TEST(a_fixed_ntk_base_becomes_a_base)
{
    char fixed[200], *text;
    double base = 0;
    zoo_model *m = plain("rope:scaling=ntk,alpha=1000,pairs=adjacent", 4096, 4096);
    assert_ok(zoo_engine_text(&text, engine("transformers"), m, &m->part[0], false, &err));
    const char *theta = strstr(text, "rope_theta\": ");
    assert_non_null(theta);
    assert_int_equal(sscanf(theta, "rope_theta\": %lf", &base), 1);
    assert_near(base / (10000 * pow(1000, 128.0 / 126)), 1, 1e-12);
    zoo_engine_fixed(fixed, sizeof fixed, engine("transformers"), &m->part[0]);
    assert_string_equal(fixed, "pairs=adjacent");
    free(text);
    zoo_free(m);
}

/* Every engine, every example of every row: all of it comes out, whatever it says. */
TEST(every_spec_has_settings_or_none_but_no_error)
{
    char *text;
    head_dim = 64;
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++) {
            zoo_model *m = plain(pe_info_at(i)->examples[k], 0, 100000);
            for (int e = 0; zoo_engine_at(e); e++)
                for (int command = 0; command < 2; command++) {
                    assert_ok(zoo_engine_text(&text, zoo_engine_at(e), m, &m->part[0], command, &err));
                    assert_null(strstr(text, "(null)"));
                    free(text);
                }
            expect_words(m, 0, "served 100000");
            zoo_free(m);
        }
    head_dim = 128;
}

static bool warns(const zoo_model *m, const char *name, const char *wording)
{
    const zoo_quirk *q;
    for (int i = 0; (q = zoo_quirk_at(i)); i++)
        if (!strcmp(q->engine, name) && strstr(q->text, wording) && zoo_quirk_applies(q, &m->part[0]))
            return true;
    return false;
}

TEST(engines_are_warned_of_where_their_condition_is_met)
{
    static const struct {
        stack layers[3];
        const char *engine, *wording; /* engine NULL: every one */
        bool warns;
    } row[] = {
        { EVERY(OSS), "llama.cpp", "truncate", true },
        { EVERY(OSS), "transformers", "truncate", false }, /* only where layers differ */
        { EVERY(OSS), "vllm", "attention_factor", false },
        { EVERY("rope:scaling=dynamic,factor=2,trained=2048"), NULL, "base", true },
        { { { 1, OSS, "full_attention", 0 }, { 1, "rope", "sliding_attention", 128 } }, "transformers",
          "truncate", true },
        { { { 1, OSS, "full_attention", 0 }, { 1, "rope", "sliding_attention", 128 } }, "llama.cpp",
          "--rope-freq-base", true },
        { { { 3, "rope", "", 0 }, { 1, "none", "", 0 } }, NULL, "", false },
    };
    for (int i = 0; i < COUNT(row); i++) {
        zoo_model *m = model("config.json", 4096, 131072, row[i].layers);
        for (int e = 0; zoo_engine_at(e); e++)
            if (!row[i].engine || !strcmp(row[i].engine, zoo_engine_at(e)->name))
                assert_int_equal(warns(m, zoo_engine_at(e)->name, row[i].wording), row[i].warns);
        zoo_free(m);
    }
}

/* ------------------------------------------------ diff */

static diff_model compare(const zoo_model *a, const zoo_model *b)
{
    diff_model d = { .a = a, .b = b };
    assert_ok(diff_models(&d, &err));
    return d;
}

TEST(functions_are_compared_not_texts)
{
    static const struct {
        const char *a, *b;
        bool same, layout; /* the same function; layouts differ */
        int keys;          /* that differ */
    } row[] = {
        { "rope", "rope:theta=10000", true, false, 0 },
        { "rope", "rope:pairs=adjacent", true, true, 1 },
        { "rope:pairs=adjacent", "rope:pairs=adjacent-half", true, false, 1 }, /* in the K cache only */
        { "rope", "rope:pairs=adjacent-half", true, true, 1 },
        { "rope", "rope:theta=10001", false, false, 1 },
        { "rope", "rope:scaling=linear,factor=1", true, false, 2 },
        { "rope", "rope:sign=negative", false, false, 1 },
        { "rope", "rope:turn=qkv", false, false, 1 },
        { "rope", "rope:softmax=1.1", false, false, 1 },
        { "rope", "rope:magnitude=1.1", false, false, 1 },
        { "rope", "rope:magnitude=1.0000001", true, false, 1 },
        { "rope", "rope:temperature=0.1", false, false, 1 },
        { "rope:dims=0", "rope:dims=0,temperature=0.1", false, false, 1 },
        { "rope", "rope:dims=64", false, true, 1 },
        { "rope", "alibi", false, false, 1 },
        { "alibi", "alibi:max=9", false, false, 1 },
        { "alibi", "alibi", true, false, 0 },
        { "sinusoidal", "sinusoidal", true, false, 0 },
        { "t5", "t5:buckets=64", false, false, 1 },
        { "rope+alibi", "rope+alibi:max=9", false, false, 1 },
        /* past the trained length a base that depends on the length is another one */
        { "rope", "rope:scaling=dynamic,factor=2,trained=4096", false, false, 3 },
        { "rope", "rope:scaling=dynamic,factor=2,trained=131072", true, false, 3 },
    };
    for (int i = 0; i < COUNT(row); i++) {
        zoo_model *x = plain(row[i].a, 4096, 131072), *y = plain(row[i].b, 4096, 131072);
        diff_model d = compare(x, y);
        if (d.same != row[i].same || d.layout != row[i].layout || d.class[0].result.keys != row[i].keys)
            fail_msg("%s and %s: same %d, layout %d, %d keys", row[i].a, row[i].b, d.same, d.layout,
                     d.class[0].result.keys);
        diff_clear(&d);
        zoo_free(x);
        zoo_free(y);
    }
}

/* As a GGUF holds llama3: a factor per pair, in float32. */
TEST(factors_rounded_to_float_are_the_same_function)
{
    static char spec[9000], list[4000];
    for (int wrong = 0; wrong < 2; wrong++) {
        zoo_model *x = plain(LLAMA, 8192, 131072), *y;
        explain_facts f = facts_of(x, 0);
        size_t used = 0;
        for (int64_t n = 0; n < f.pairs; n++) {
            double factor = (double)(float)f.pair[n].divisor * (wrong && n == 40 ? 1.00001 : 1);
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.17g", n ? "/" : "", factor);
        }
        snprintf(spec, sizeof spec, "rope:theta=500000,scaling=longrope,trained=8192,magnitude=1,short=%s,long=%s",
                 list, list);
        y = plain(spec, 8192, 131072);
        diff_model d = compare(x, y);
        assert_int_equal(d.same, !wrong);
        assert_true(d.class[0].result.keys > 3 && d.class[0].result.rounding > 0);
        diff_clear(&d);
        explain_clear(&f);
        zoo_free(x);
        zoo_free(y);
    }
}

/* Phi-3's config has 1.0800000429153442, the float32 nearest to 1.08, which its GGUF is read as. */
TEST(a_factor_of_phi3_is_the_same_written_out)
{
    static const struct {
        const char *factor;
        bool same;
    } row[] = { { "1.08", true }, { "1.0800001", true }, { "1.081", false } };
    head_dim = 4;
    for (int i = 0; i < COUNT(row); i++) {
        char spec[200];
        snprintf(spec, sizeof spec, "rope:scaling=longrope,factor=32,trained=4096,short=1/%s,long=1/%s", row[i].factor,
                 row[i].factor);
        zoo_model *x = plain("rope:scaling=longrope,factor=32,trained=4096,short=1/1.0800000429153442,"
                             "long=1/1.0800000429153442",
                             4096, 131072);
        zoo_model *y = plain(spec, 4096, 131072);
        diff_model d = compare(x, y);
        assert_int_equal(d.same, row[i].same);
        diff_clear(&d);
        zoo_free(x);
        zoo_free(y);
    }
    head_dim = 128;
}

TEST(the_worst_pair_and_position_are_found)
{
    zoo_model *x = model("config.json", 4096, 131072, (stack[]){ { 2, OSS, "", 0 }, { 0 } });
    zoo_model *y = plain("rope:theta=150000,scaling=yarn,factor=32,trained=4096", 4096, 131072);
    diff_model d = compare(x, y);
    const diff_result *r = &d.class[0].result;
    assert_string_equal(r->key[0].key, "truncate");
    assert_string_equal(r->key[0].a, "no");
    assert_int_equal(r->at[2].position, 4096);
    explain_facts f = facts_of(x, 0), g = facts_of(y, 0);
    double worst = 0;
    for (int64_t i = 0; i < f.pairs; i++)
        worst = fmax(worst, fabs(f.pair[i].at.frequency - g.pair[i].at.frequency) * 4096);
    int64_t n = r->at[2].pair;
    assert_near(r->at[2].angle, worst, 1e-9);
    assert_near(fabs(f.pair[n].at.frequency - g.pair[n].at.frequency) * 4096, worst, 1e-9);
    assert_int_equal(r->at[r->ats - 1].position, 131071);
    assert_false(d.same); /* and layers 2 of 4 */
    explain_clear(&f);
    explain_clear(&g);
    diff_clear(&d);
    zoo_free(x);
    zoo_free(y);
}

TEST(layers_and_windows_are_told_apart)
{
    static const struct {
        stack layers[4];
        int classes, layer; /* of them, the one that layer is in, counted from its first */
        const char *same;   /* "yn": by class, without windows */
        bool all;
    } row[] = {
        { { { 3, "rope", "", 0 }, { 1, "none", "", 0 } }, 3, 2, "yny", false },
        { { { 2, "rope", "", 512 }, { 2, "none", "", 0 } }, 2, 0, "yy", false },
        { { { 1, "rope", "", 512 }, { 1, "rope", "", 64 }, { 2, "none", "", 0 } }, 3, 1, "yyy", false },
        { { { 2, "rope", "", 0 }, { 2, "none", "", 0 } }, 2, 0, "yy", true },
        { { { 2, "rope", "", 4096 }, { 2, "none", "", 0 } }, 2, 0, "yy", true }, /* Phi-3: it is never reached */
        { { { 2, "rope", "", 4095 }, { 2, "none", "", 0 } }, 2, 0, "yy", false },
    };
    zoo_model *x = model("config.json", 4096, 4096, (stack[]){ { 2, "rope", "", 0 }, { 2, "none", "", 0 }, { 0 } });
    for (int i = 0; i < COUNT(row); i++) {
        zoo_model *y = model("GGUF", 4096, 4096, row[i].layers);
        diff_model d = compare(x, y);
        assert_int_equal(d.classes, row[i].classes);
        assert_int_equal(d.same, row[i].all);
        for (int c = 0; c < d.classes; c++)
            assert_int_equal(d.class[c].result.same, row[i].same[c] == 'y');
        int of = row[i].layer ? 1 : 0;
        assert_true(d.class[of].in[row[i].layer] && !d.class[of].in[3]);
        /* the same two groups are compared once, whatever their windows */
        assert_int_equal(d.class[1].again, i == 2);
        assert_int_equal(d.class[1].result.ats, d.class[0].result.ats);
        diff_clear(&d);
        zoo_free(y);
    }
    zoo_free(x);
}

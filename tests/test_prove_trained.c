/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 6 s; needs: prove wrap; sanitize: all
 *
 * Claims on trained models: each verdict turns where the weights say so, both languages are whole, and what is missing
 * is said. The models are small ones with weights that are put there, not trained. */
#include "heap.h"
#include "prove_case.h"
#include "prove/trained.h"

#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH = 32, WIDTH = 16, HEADS = 2, LAYERS = 2, TEXT = 3000 };
#define LEARNED "learned:rows=32"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static model *made(const char *spec, uint64_t seed)
{
    model *m;
    pe_error why = { 0 };
    model_config c = { .vocab = 256, .layers = LAYERS, .width = WIDTH, .heads = HEADS, .hidden = 16, .causal = true };
    if (model_new(&m, &c, spec, NULL, &why))
        fail_msg("%s: %s", spec, why.text);
    model_init(m, seed);
    return m;
}

static void put(model *m, const char *name, int seed, int64_t trained)
{
    pe_error why = { 0 };
    char file[100];
    const io_model about = { .trained = trained, .steps = 1, .seed = seed, .data = "text" };
    snprintf(file, sizeof file, "%s-%d.safetensors", name, seed);
    if (model_save(in_folder(file), m, &about, 32, &why))
        fail_msg("%s: %s", file, why.text);
    model_free(m);
}

static void put_text(const char *name, int size)
{
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    for (int n = 0; n < size; n++)
        fputc(32 + (int)random_below(1, (uint64_t)n, 90), f);
    fclose(f);
}

static void fill(model *m, const char *tensor, double value)
{
    const model_tensor *t = model_tensor_find(m, tensor);
    assert_non_null(t);
    for (int64_t n = 0; n < t->count; n++)
        model_weights(m)[t->offset + n] = (real)value;
}

static real *row(model *m, const char *tensor, int64_t n)
{
    const model_tensor *t = model_tensor_find(m, tensor);
    assert_non_null(t);
    return model_weights(m) + t->offset + n * t->shape[1];
}

/* Layers that add nothing to the stream. */
static model *silent(model *m)
{
    char name[40];
    for (int l = 0; l < LAYERS; l++)
        for (int part = 0; part < 2; part++) {
            snprintf(name, sizeof name, "layer.%d.%s", l, part ? "down" : "out");
            fill(m, name, 0);
        }
    return m;
}

/* Queries that score each key alike. */
static model *even(model *m)
{
    fill(m, "layer.0.qkv", 0);
    fill(m, "layer.1.qkv", 0);
    return m;
}

/* Words in the second half of the elements, codes in the first: rows of a half circle. */
static model *apart(model *m)
{
    for (int64_t w = 0; w < 256; w++)
        for (int c = 0; c < WIDTH / 2; c++)
            row(m, "embed", w)[c] = 0;
    for (int64_t t = 0; t < LENGTH; t++)
        for (int c = 0; c < WIDTH; c++)
            row(m, "position.table", t)[c] = (real)(c == 0   ? cos(3 * (double)t / LENGTH)
                                                    : c == 1 ? sin(3 * (double)t / LENGTH)
                                                             : 0);
    return m;
}

/* Every code is the same, and so is every word. */
static model *alike(model *m)
{
    fill(m, "position.table", 1);
    fill(m, "embed", 1);
    return m;
}

/* Words and codes on one line, at different places of it. */
static model *along(model *m)
{
    fill(m, "embed", 0);
    fill(m, "position.table", 0);
    for (int64_t w = 0; w < 256; w++)
        row(m, "embed", w)[0] = (real)(1 + w);
    for (int64_t t = 0; t < LENGTH; t++)
        row(m, "position.table", t)[0] = (real)(1 + t);
    return m;
}

/* Apart, but for one element that all words and all codes share. */
static model *apart_from_a_mean(model *m)
{
    apart(m);
    for (int64_t w = 0; w < 256; w++)
        row(m, "embed", w)[2] = 100;
    for (int64_t t = 0; t < LENGTH; t++)
        row(m, "position.table", t)[2] = 100;
    return m;
}

/* Layers that add nothing to the stream, and words that know the byte 'a' alone: after any byte it has a logit of
 * `sure` for each element of the stream that is on its side. */
static model *knows_a(model *m, double sure)
{
    silent(m);
    fill(m, "embed", 0);
    for (int c = 0; c < WIDTH; c++)
        row(m, "embed", 'a')[c] = (real)(c % 2 ? -sure : sure);
    return m;
}

static prove_models *open_models(void)
{
    prove_models *p;
    pe_error why = { 0 };
    if (prove_models_open(&p, folder, &why))
        fail_msg("%s", why.text);
    return p;
}

static void empty(void)
{
    static const char *const names[] = { "none",  "sinusoidal", "scaled", "doubled", "concat", "learned",
                                         "rope", "alibi",      "t5",     "integer" };
    char file[100];
    for (int n = 0; n < COUNT(names); n++)
        for (int seed = 1; seed <= 3; seed++) {
            snprintf(file, sizeof file, "%s-%d.safetensors", names[n], seed);
            unlink(in_folder(file));
        }
    unlink(in_folder("text.txt"));
}

AROUND(before_all)
{
    snprintf(folder, sizeof folder, "/tmp/posenc-trained-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

AROUND(after_all)
{
    rmdir(folder);
}

AROUND(before_each)
{
    empty();
    put_text("text.txt", TEXT);
}

AROUND(after_each)
{
    empty();
}

/* All that the claims ask for, two seeds each, as models start. */
static void put_all(void)
{
    static const char *const specs[][2] = { { "none", "none" },   { "sinusoidal", "sinusoidal" }, { "learned", LEARNED },
                                            { "rope", "rope" },   { "alibi", "alibi" },
                                            { "t5", "t5:direction=causal" },
                                            { "scaled", "sinusoidal:scale=0.5" },
                                            { "doubled", "sinusoidal:scale=2" },
                                            { "concat", "sinusoidal:join=concat,width=4" } };
    for (int n = 0; n < COUNT(specs); n++)
        for (int seed = 1; seed <= 2; seed++)
            put(made(specs[n][1], (uint64_t)seed), specs[n][0], seed, LENGTH);
}

static prove_finding found(const char *name, const prove_models *models, const char *spec, const char *second)
{
    prove_given g = claim_of(name)->given;
    g.models = models;
    if (spec) {
        memset(g.spec, 0, sizeof g.spec);
        g.spec[0] = spec;
        g.spec[1] = second;
    }
    return measured(name, &g);
}

static void must_be(const char *name, const char *spec, const char *second, prove_verdict is)
{
    prove_models *p = open_models();
    prove_finding f = found(name, p, spec, second);
    if (f.verdict != is)
        fail_msg("%s of %s: %s; expected %s", name, spec, prove_verdict_words(f.verdict).en, prove_verdict_words(is).en);
    prove_models_free(p);
}

static void must_say(const char *name, const char *spec, const char *says)
{
    prove_models *p = open_models();
    prove_finding f = found(name, p, spec, NULL);
    if (!strstr(f.because.en, says))
        fail_msg("%s of %s: '%s' is not in: %s", name, spec, says, f.because.en);
    prove_models_free(p);
}

/* ---------------------------------------------------------------- verdicts */

TEST(words_and_codes_are_orthogonal_where_they_share_no_element)
{
    put(apart(made(LEARNED, 1)), "learned", 1, LENGTH);
    must_be("trained-orthogonal", "learned", NULL, PROVE_HOLDS);
    put(along(made(LEARNED, 1)), "learned", 1, LENGTH);
    must_be("trained-orthogonal", "learned", NULL, PROVE_REFUTED);
    put(apart(made(LEARNED, 1)), "learned", 2, LENGTH);
    must_be("trained-orthogonal", "learned", NULL, PROVE_DEPENDS);
    must_say("trained-orthogonal", "learned", "the encoding and the seed");
}

TEST(a_mean_that_words_and_codes_share_is_what_the_answer_depends_on)
{
    put(apart_from_a_mean(made(LEARNED, 1)), "learned", 1, LENGTH);
    must_be("trained-orthogonal", "learned", NULL, PROVE_DEPENDS);
    must_say("trained-orthogonal", "learned", "the common mean");
}

/* Controls come out on either side of chance, whatever the model has learned. */
TEST(controls_of_right_angles_lie_on_both_sides)
{
    put(made(LEARNED, 1), "learned", 1, LENGTH);
    prove_models *p = open_models();
    prove_finding f = found("trained-orthogonal", p, "learned", NULL);
    double law = number(&f, "mean |cos| of random directions, sqrt(2 / (pi d))", NULL);
    assert_true(number(&f, "control: codes less what lies along words", "learned") < law);
    assert_true(fabs(number(&f, "control: codes turned at random", "learned") / law - 1) < 0.2);
    assert_true(fabs(number(&f, "control: the same words and codes before training", "learned") / law - 1) < 0.2);
    prove_models_free(p);
}

TEST(a_sum_is_read_where_words_and_codes_share_no_element)
{
    put(apart(made(LEARNED, 1)), "learned", 1, LENGTH);
    must_be("trained-adding", "learned", NULL, PROVE_HOLDS);
    put(made(LEARNED, 1), "learned", 1, LENGTH); /* 64 words and 32 places in 16 elements */
    must_be("trained-adding", "learned", NULL, PROVE_REFUTED);
    put(apart(made(LEARNED, 1)), "learned", 2, LENGTH);
    must_be("trained-adding", "learned", NULL, PROVE_DEPENDS);
    must_say("trained-adding", "learned", "It depends on the model, whatever");
}

/* A text of one byte, and models that are more or less sure of it. */
static void put_text_of_one_byte(void)
{
    FILE *f = fopen(in_folder("text.txt"), "w");
    assert_non_null(f);
    for (int n = 0; n < TEXT; n++)
        fputc('a', f);
    fclose(f);
}

static prove_finding compared(const char *first, const char *second)
{
    prove_models *p = open_models();
    prove_given g = claim_of("trained-concatenating")->given;
    const char *const specs[] = { first, second, "none" };
    memset(g.spec, 0, sizeof g.spec);
    memcpy(g.spec, specs, sizeof specs);
    g.models = p;
    prove_finding f = measured("trained-concatenating", &g);
    prove_models_free(p);
    return f;
}

/* Three of an encoding, as sure of the byte. */
static void put_seeds(const char *spec, double first, double second, double third)
{
    const double sure[] = { first, second, third };
    for (int n = 0; n < 3; n++)
        put(knows_a(made(!strcmp(spec, "learned") ? LEARNED : spec, (uint64_t)n + 1), sure[n]), spec, n + 1, LENGTH);
}

/* After the norm every element is 1 or -1. */
static double bits_of_sure(double sure)
{
    return log2(1 + 255 * exp(-sure * WIDTH));
}

TEST(kinds_of_models_are_as_good_as_their_losses)
{
    static const char *const bits = "bits per byte, windows of n";
    put_text_of_one_byte();
    put_seeds("none", 0.03, 0.04, 0.05);
    put_seeds("rope", 0.2, 0.21, 0.22);
    put_seeds("alibi", 0.2, 0.21, 0.22);
    prove_finding f = compared("rope", "alibi");
    assert_int_equal(f.verdict, PROVE_HOLDS);
    assert_string_equal(f.number[0].of, "/ 3");
    assert_true(number(&f, "bytes of the text that each model is asked about", NULL) == TEXT / 32 / 4 * 4 * 32);
    assert_true(fabs(number(&f, "control: bits per byte, windows of n", "none, n = 32") - bits_of_sure(0.04)) < 1e-2);
    assert_true(fabs(number(&f, bits, "rope, n = 64") - bits_of_sure(0.21)) < 1e-3);
    put_seeds("alibi", 0.3, 0.31, 0.32);
    f = compared("rope", "alibi");
    assert_int_equal(f.verdict, PROVE_REFUTED);
    assert_non_null(strstr(f.because.en, "models that concatenate are better"));
    for (int part = 1; part <= 4; part++) { /* the text is the same everywhere, and so is the difference */
        char of[40];
        double all = number(&f, "bits per byte less those of the second kind", "rope, n = 32");
        snprintf(of, sizeof of, "rope, n = 32, %d/4", part);
        assert_true(all > 0.3 && fabs(number(&f, "the same, of a quarter of the text", of) - all) < 1e-4);
    }
    f = compared("alibi", "rope");
    assert_int_equal(f.verdict, PROVE_REFUTED);
    assert_non_null(strstr(f.because.en, "models that add are better"));
    put_seeds("alibi", 0.18, 0.21, 0.3); /* seeds that are farther apart than the kinds are no kind's */
    assert_int_equal(compared("rope", "alibi").verdict, PROVE_HOLDS);
    put_seeds("alibi", 0.225, 0.25, 0.35); /* better all, by less than that */
    f = compared("rope", "alibi");
    assert_int_equal(f.verdict, PROVE_DEPENDS);
    assert_non_null(strstr(f.because.en, "so few do not decide it"));
}

TEST(one_model_of_a_kind_decides_nothing)
{
    put_text_of_one_byte();
    put_seeds("none", 0.03, 0.04, 0.05);
    put_seeds("rope", 0.2, 0.21, 0.22);
    put(knows_a(made("alibi", 1), 0.5), "alibi", 1, LENGTH);
    assert_int_equal(compared("rope", "alibi").verdict, PROVE_DEPENDS);
}

/* Three kinds of codes that are added, of which one is better than the concatenated, one worse. */
TEST(which_kind_is_better_may_depend_on_the_amplitude)
{
    put_text_of_one_byte();
    put_seeds("none", 0.03, 0.04, 0.05);
    put_seeds("rope", 0.2, 0.21, 0.22);
    put_seeds("t5", 0.3, 0.31, 0.32);
    put_seeds("alibi", 0.4, 0.41, 0.42);
    prove_models *p = open_models();
    prove_given g = claim_of("trained-concatenating")->given;
    static const char *const specs[] = { "rope", "alibi", "t5", "none" };
    memset(g.spec, 0, sizeof g.spec);
    memcpy(g.spec, specs, sizeof specs);
    g.models = p;
    prove_finding f = measured("trained-concatenating", &g);
    prove_models_free(p);
    assert_int_equal(f.verdict, PROVE_DEPENDS);
    assert_non_null(strstr(f.because.en, "depends on the spec of the first kind"));
    assert_string_equal(f.number[0].of, "/ 6");
}

/* A code that grows with the position hides the word: better nearby, worse far away. */
TEST(which_kind_is_better_may_depend_on_the_length)
{
    put_text_of_one_byte();
    put_seeds("none", 0.03, 0.04, 0.05);
    put_seeds("integer", 5, 5.1, 5.2);   /* logits of 12 at position 32, 3 at 128 */
    put_seeds("alibi", 0.4, 0.41, 0.42); /* 6.4 everywhere */
    prove_finding f = compared("integer", "alibi");
    assert_int_equal(f.verdict, PROVE_DEPENDS);
    assert_non_null(strstr(f.because.en, "depends on the length"));
}

TEST(models_that_have_learned_no_code_are_not_compared)
{
    put_text_of_one_byte();
    put_seeds("none", 0.3, 0.31, 0.32);
    put_seeds("rope", 0.2, 0.21, 0.22);
    put_seeds("alibi", 0.4, 0.41, 0.42);
    prove_finding f = compared("rope", "alibi");
    assert_int_equal(f.verdict, PROVE_DEPENDS);
    assert_non_null(strstr(f.because.en, "nothing to compare"));
}

/* A table has no rows past the trained length: there is one length. */
TEST(a_table_is_compared_where_it_has_rows)
{
    put_text_of_one_byte();
    put_seeds("none", 0.03, 0.04, 0.05);
    put_seeds("learned", 0.2, 0.21, 0.22);
    put_seeds("sinusoidal", 40, 41, 42);
    prove_models *p = open_models();
    prove_finding f = found("trained-learned", p, NULL, NULL);
    prove_models_free(p);
    assert_string_equal(f.number[0].of, "/ 1");
    assert_int_equal(f.verdict, PROVE_REFUTED);
    assert_non_null(strstr(f.because.en, "Models with sinusoids are better"));
}

TEST(a_stream_that_nothing_is_added_to_keeps_the_place)
{
    put(silent(apart(made(LEARNED, 1))), "learned", 1, LENGTH);
    must_be("trained-residuals", "learned", NULL, PROVE_HOLDS);
    put(alike(made(LEARNED, 1)), "learned", 1, LENGTH);
    must_be("trained-residuals", "learned", NULL, PROVE_REFUTED);
    put(silent(apart(made(LEARNED, 1))), "learned", 2, LENGTH);
    must_be("trained-residuals", "learned", NULL, PROVE_DEPENDS);
    must_say("trained-residuals", "learned", "none of them decides alone"); /* the seed does */
    put(apart(made(LEARNED, 1)), "learned", 1, LENGTH);
    put(apart(made(LEARNED, 2)), "learned", 2, LENGTH); /* layers that write what they read */
    must_be("trained-residuals", "learned", NULL, PROVE_DEPENDS);
    must_say("trained-residuals", "learned", "what the layers have written");
}

TEST(even_attention_looks_halfway_back)
{
    put(even(made("none", 1)), "none", 1, LENGTH);
    must_be("trained-reach", "none", NULL, PROVE_REFUTED);
    prove_models *p = open_models();
    prove_finding f = found("trained-reach", p, "none", NULL);
    double mean = number(&f, "mean distance of even attention, tokens", NULL);
    assert_true(fabs(mean - (16 + 31) / 4.0) < 1e-12); /* query i sees i + 1 keys, i / 2 away on average; i = 16 .. 31 */
    assert_true(fabs(number(&f, "mean distance of attention, tokens; layer", "none, 1") - mean) < 1e-5);
    double bits = number(&f, "entropy of even attention, bits", NULL);
    assert_true(fabs(number(&f, "entropy of attention, bits; layer", "none, 1") - bits) < 1e-5);
    prove_models_free(p);
    model *m = even(made("t5:direction=causal", 1));
    for (int l = 0; l < LAYERS; l++) { /* only the key itself */
        char name[60];
        snprintf(name, sizeof name, "layer.%d.position.table", l);
        fill(m, name, -100);
        const model_tensor *t = model_tensor_find(m, name);
        for (int64_t h = 0; h < HEADS; h++)
            model_weights(m)[t->offset + (t->shape[0] == HEADS ? h * t->shape[1] : h)] = 0;
    }
    put(m, "t5", 1, LENGTH);
    must_be("trained-reach", "t5", NULL, PROVE_HOLDS);
}

TEST(a_bias_by_distance_falls_and_equal_scores_do_not)
{
    put(even(made("alibi", 1)), "alibi", 1, LENGTH);
    put(even(made("rope", 1)), "rope", 1, LENGTH);
    must_be("trained-rope-decays", "alibi", "alibi", PROVE_HOLDS);
    must_be("trained-rope-decays", "rope", "alibi", PROVE_REFUTED);
}

TEST(a_half_circle_of_rows_is_smooth_and_random_rows_are_not)
{
    put(made("sinusoidal", 1), "sinusoidal", 1, LENGTH);
    put(apart(made(LEARNED, 1)), "learned", 1, LENGTH);
    must_be("trained-table", "learned", "sinusoidal", PROVE_HOLDS);
    put(made(LEARNED, 1), "learned", 1, LENGTH);
    must_be("trained-table", "learned", "sinusoidal", PROVE_REFUTED);
    prove_models *p = open_models();
    prove_finding f = found("trained-table", p, "sinusoidal", "sinusoidal"); /* it is the fixed code itself */
    assert_true(fabs(number(&f, "likeness to the fixed code (linear CKA)", NULL) - 1) < 1e-6);
    prove_models_free(p);
}

/* ---------------------------------------------------------------- words, bits, and what is missing */

static bool is_chinese(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0xe4)
            return true;
    return false;
}

TEST(every_claim_on_trained_models_is_told_in_both_languages_and_twice_with_the_same_bits)
{
    put_all();
    prove_models *p = open_models();
    for (int c = 0; c < prove_group_named("trained")->count; c++) {
        const prove_claim *claim = &prove_group_named("trained")->claims[c];
        prove_finding a = found(claim->name, p, NULL, NULL), b = found(claim->name, p, NULL, NULL);
        assert_true(claim->trained && claim->rule.en && is_chinese(claim->rule.zh));
        assert_true(is_chinese(claim->claim.zh) && is_chinese(a.because.zh));
        assert_in_range(a.count, 2, PROVE_NUMBERS_MAX - 1);
        assert_int_equal(a.count, b.count);
        for (int n = 0; n < a.count; n++) {
            if (!is_chinese(a.number[n].what.zh))
                fail_msg("%s: '%s' is not Chinese", claim->name, a.number[n].what.zh);
            assert_true(isfinite(a.number[n].value));
            assert_memory_equal(&a.number[n].value, &b.number[n].value, sizeof(double));
        }
    }
    prove_models_free(p);
}

TEST(models_that_are_missing_are_said)
{
    prove_finding f = { 0 };
    pe_error why = { 0 };
    const prove_claim *c = claim_of("trained-table");
    assert_int_equal(prove_measure(&f, c, NULL, (pe_shape){ 0 }, (prove_means){ 0 }, &why), PE_ERR_UNSUITED);
    assert_non_null(strstr(why.text, "--models FOLDER"));
    put(made("rope", 1), "rope", 1, LENGTH);
    prove_models *p = open_models();
    assert_int_equal(prove_measure(&f, c, NULL, (pe_shape){ 0 }, (prove_means){ .models = p }, &why), PE_ERR_UNSUITED);
    assert_non_null(strstr(why.text, "no trained model of learned"));
    prove_models_free(p);
}

static void must_refuse(const char *says)
{
    prove_models *p;
    pe_error why = { 0 };
    assert_true(prove_models_open(&p, folder, &why) != PE_OK);
    assert_null(p);
    if (!strstr(why.text, says))
        fail_msg("\"%s\" does not say %s", why.text, says);
}

TEST(folders_of_other_things_are_refused)
{
    must_refuse("holds no .safetensors file");
    put(made("rope", 1), "rope", 1, LENGTH);
    put(made("alibi", 1), "alibi", 1, LENGTH / 2);
    must_refuse("differs from");
    empty();
    put(made("rope", 1), "rope", 1, LENGTH);
    must_refuse("text.txt");
    put_text("text.txt", LENGTH);
    must_refuse("needs more than 32");
    put_text("rope-1.safetensors", 100);
    must_refuse("rope-1.safetensors");
}

TEST(memory_that_runs_out_is_told_and_nothing_is_kept)
{
    static const char *const names[] = { "trained-orthogonal",    "trained-adding",   "trained-residuals",
                                         "trained-reach",         "trained-rope-decays", "trained-bfloat16",
                                         "trained-table",         "trained-concatenating" };
    put_all();
    prove_models_free(open_models()); /* the BLAS, once loaded, stays */
    size_t live = heap.live;
    prove_models *p = open_models();
    for (int c = 0; c < COUNT(names); c++) {
        prove_given g = claim_of(names[c])->given;
        g.models = p;
        measured(names[c], &g); /* models keep the memory of their first pass */
        for (long n = 1, done = 0; !done; n += 1 + n / 8) {
            prove_finding f = { 0 };
            pe_error why = { 0 };
            heap.fail = n;
            pe_status s = claim_of(names[c])->measure(&f, &g, &why);
            done = heap.fail > 0;
            heap.fail = 0;
            if (s && (s != PE_ERR_NOMEM || !*why.text))
                fail_msg("%s, allocation %ld: %s: %s", names[c], n, pe_status_name(s), why.text);
            assert_true(done ? s == PE_OK : true);
        }
    }
    prove_models_free(p);
    assert_int_equal(heap.live, live);
}

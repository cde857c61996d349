/* SPDX-License-Identifier: MIT
 *
 * An eval: a trained model at several lengths with each method, what posenc extend recommends beside it, and the folder
 * that posenc report reads. */
#include "lab/eval.h"

#include "lab/report.h"
#include "lab/run.h"
#include "model/gemm.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const lab_test_line *measured(const eval *e, int method, int length)
{
    const lab_test_line *l = eval_line(e, method, length);
    return l && !*l->cannot ? l : NULL;
}

typedef double line_bits(const lab_test_line *l);

static double whole_bits(const lab_test_line *l)
{
    return l->bits;
}

static double last_bits(const lab_test_line *l)
{
    return l->last_quarter;
}

static eval_place place_of(const eval *e, int length, line_bits *bits)
{
    eval_place p = { 0 };
    const lab_test_line *chosen = NULL, *best = NULL;
    for (int m = 0; m < e->ask.methods; m++) {
        const lab_test_line *l = measured(e, m, length);
        p.of += l != NULL;
        if (l && (!best || bits(l) < bits(best))) {
            best = l;
            p.best = e->ask.method[m];
        }
        if (l && e->ask.method[m] == e->choice[length].method)
            chosen = l;
    }
    if (!chosen)
        return p;
    p.place = 1;
    for (int m = 0; m < e->ask.methods; m++) {
        const lab_test_line *l = measured(e, m, length);
        p.place += l && bits(l) < bits(chosen);
    }
    p.ratio = exp2(bits(chosen) - bits(best));
    return p;
}

void eval_judge(eval *e)
{
    for (int n = 0; n < e->ask.lengths; n++) {
        e->choice[n].whole = place_of(e, n, whole_bits);
        e->choice[n].last = place_of(e, n, last_bits);
    }
}

/* ---------------------------------------------------------------- in words */

static const char *ending(int n)
{
    static const char *const endings[] = { "th", "st", "nd", "rd" };
    return n % 10 < 4 && (n / 10) % 10 != 1 ? endings[n % 10] : "th";
}

#define LEVEL 1.005 /* times the best: smaller differences count as equal */

/* "2nd of 7, 1.03x the best (ntk)" */
static void place_name(char out[120], const eval_place *p)
{
    if (p->place == 1)
        snprintf(out, 120, "the best of %d", p->of);
    else if (p->ratio < LEVEL)
        snprintf(out, 120, "level with the best of %d (%s)", p->of, p->best->name);
    else
        snprintf(out, 120, "%d%s of %d, %.2fx the best (%s)", p->place, ending(p->place), p->of, p->ratio,
                 p->best->name);
}

void eval_choice_sentence(char out[EVAL_SENTENCE], const eval *e, int length)
{
    const eval_choice *c = &e->choice[length];
    int64_t n = e->ask.length[length];
    char whole[120], last[120];
    *out = 0;
    if (!c->whole.of)
        return;
    if (!c->method) {
        snprintf(out, EVAL_SENTENCE, "extend has nothing to recommend at %" PRId64 ": %s", n, c->why);
        return;
    }
    if (!c->whole.place) {
        snprintf(out, EVAL_SENTENCE,
                 "extend recommends %s at %" PRId64 ", which was not measured; the best of %d is %s", c->method->name,
                 n, c->whole.of, c->whole.best->name);
        return;
    }
    place_name(whole, &c->whole);
    place_name(last, &c->last);
    snprintf(out, EVAL_SENTENCE, "extend recommends %s at %" PRId64 ": measured %s; over the last quarter %s%s",
             c->method->name, n, whole, last,
             c->whole.ratio > EVAL_NEAR || c->last.ratio > EVAL_NEAR ? ": not near the best on this text" : "");
}

/* ---------------------------------------------------------------- folder */

/* An eval as a folder that posenc report reads: race.json, log.jsonl, and the report itself. */

/* What is recommended and what was measured, for the page. */
static void note_choices(eval *e)
{
    lab_setup *s = &e->results.setup;
    char sentence[EVAL_SENTENCE];
    size_t used = 0;
    *s->note = 0;
    for (int n = 0; n < e->ask.lengths && used < sizeof s->note; n++) {
        eval_choice_sentence(sentence, e, n);
        if (*sentence && e->choice[n].method)
            used += (size_t)snprintf(s->note + used, sizeof s->note - used, "%s%s.", used ? " " : "", sentence);
    }
    if (used >= sizeof s->note)
        io_end_with_dots(s->note, sizeof s->note);
}

/* FNV-1a: a fingerprint of the tokens. */
static uint64_t fingerprint(const eval_ask *a)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int64_t n = 0; n < a->tokens; n++)
        hash = (hash ^ (uint64_t)a->token[n]) * UINT64_C(1099511628211);
    return hash;
}

void eval_describe(eval *e, const model *m, const char *command, const char *data, int threads)
{
    lab_setup *s = &e->results.setup;
    const model_config *c = model_settings(m);
    snprintf(s->command, sizeof s->command, "%s", command);
    snprintf(s->data, sizeof s->data, "%s", data);
    lab_set_machine(s);
    snprintf(s->kernels, sizeof s->kernels, "%s", pe_encoding_kernels(model_encoding(m)));
    s->threads = threads;
    s->data_fingerprint = fingerprint(&e->ask);
    s->layers = c->layers;
    s->width = c->width;
    s->heads = c->heads;
    s->kv_heads = c->kv_heads;
    s->hidden = c->hidden;
    s->vocab = c->vocab;
    note_choices(e);
}

/* ---------------------------------------------------------------- files */

static pe_status write_lines(FILE *to, const void *with, pe_error *err)
{
    const lab_results *r = with;
    (void)err;
    for (int n = 0; n < r->tests; n++)
        lab_write_test(to, &r->setup, &r->test[n]);
    return PE_OK;
}

pe_status eval_check_folder(const char *folder, pe_error *err)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/race.json", folder);
    if (access(path, F_OK)) {
        pe_status free_name = lab_folder_lacks(folder, "log.jsonl", err);
        return free_name ? free_name : lab_report_lacks(folder, err);
    }
    lab_setup *there = malloc(sizeof *there);
    pe_status s = there ? lab_read_setup(there, folder, err)
                        : io_fail(err, PE_ERR_NOMEM, "%s: no memory for what is there", folder);
    if (s == PE_OK && !lab_is_eval(there))
        s = io_fail(err, PE_ERR_SPEC, "%s has a race, which would be lost; take another folder", folder);
    free(there);
    return s;
}

pe_status eval_write(const eval *e, const char *folder, pe_error *err)
{
    pe_status s = eval_check_folder(folder, err);
    if (s == PE_OK)
        s = lab_folder_new(folder, err);
    if (s == PE_OK)
        s = lab_save_setup(folder, &e->results.setup, err);
    if (s == PE_OK)
        s = io_make_file(folder, "log.jsonl", write_lines, &e->results, err);
    return s == PE_OK ? lab_report_write(folder, &e->results, err) : s;
}

/* ---------------------------------------------------------------- eval */

/* What is evaluated: the lengths that fit, and the spec of each method at each of them. */

static pe_status no_memory(pe_error *err)
{
    return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
}

static char *copy_of(const char *text)
{
    char *out = malloc(strlen(text) + 1);
    return out ? strcpy(out, text) : NULL;
}

/* ---------------------------------------------------------------- lengths */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of each length: one window of the longest at least. */
static int64_t wanted_tokens(const eval *e, int64_t room)
{
    const eval_ask *a = &e->ask;
    int64_t wanted = a->most && a->most < room ? a->most : room;
    if (a->windows)
        wanted = a->windows < room / e->longest ? a->windows * e->longest : room;
    return wanted > e->longest ? wanted : e->longest;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of the lengths that fit; the longest of them where it would be above most. */
static int64_t common_multiple(const eval *e, int64_t most)
{
    int64_t m = 1;
    for (int n = 0; n < e->ask.lengths && e->ask.length[n] <= e->longest; n++) {
        int64_t length = e->ask.length[n], factor = length / common_divisor(m, length);
        if (m > most / factor)
            return e->longest;
        m *= factor;
    }
    return m;
}

static pe_status plan_windows(eval *e, pe_error *err)
{
    int64_t room = e->ask.tokens - 1; /* the last token is only a target */
    qsort(e->ask.length, (size_t)e->ask.lengths, sizeof *e->ask.length, by_size);
    for (int n = 0; n < e->ask.lengths; n++)
        if (e->ask.length[n] <= room)
            e->longest = e->ask.length[n];
    if (!e->longest)
        return io_fail(err, PE_ERR_RANGE,
                       "the text has %" PRId64 " tokens; the shortest length, %" PRId64 ", needs %" PRId64,
                       e->ask.tokens, e->ask.length[0], e->ask.length[0] + 1);
    int64_t wanted = wanted_tokens(e, room);
    e->block = common_multiple(e, wanted);
    e->blocks = wanted / e->block;
    return PE_OK;
}

int64_t eval_windows(const eval *e, int64_t length)
{
    return length > e->longest ? 0 : e->blocks * (e->block / length);
}

bool eval_same_tokens(const eval *e)
{
    for (int n = 0; n < e->ask.lengths && e->ask.length[n] <= e->longest; n++)
        if (e->block % e->ask.length[n])
            return false;
    return true;
}

/* ---------------------------------------------------------------- the specs of a length */

/* The model as it is, for a sequence of this length. */
static pe_status own_spec(char **out, const eval *e, int64_t length, pe_error *err)
{
    zoo_options options = e->ask.options;
    zoo_model *zoo;
    options.length = length;
    *out = NULL;
    pe_status s = zoo_open(&zoo, e->ask.path, &options, err);
    if (s != PE_OK)
        return s;
    *out = copy_of(zoo->part[0].group[0].spec);
    zoo_free(zoo);
    return *out ? PE_OK : no_memory(err);
}

static bool is_none(const extend_method *m)
{
    return !m->key;
}

static pe_status set_spec(eval_cell *c, const char *spec, const char *own, pe_error *err)
{
    c->idle = !strcmp(spec, own);
    c->spec = copy_of(spec);
    return c->spec ? PE_OK : no_memory(err);
}

/* Nothing to plan: a method leaves the model as it is, or there is none that could. */
static pe_status plan_without(eval *e, int length, const char *own, bool idle, const char *why, pe_error *err)
{
    pe_status s = PE_OK;
    for (int m = 0; s == PE_OK && m < e->ask.methods; m++) {
        eval_cell *c = &e->cell[m][length];
        if (idle || is_none(e->ask.method[m]))
            s = set_spec(c, own, own, err);
        else
            snprintf(c->cannot, sizeof c->cannot, "%s", why);
    }
    snprintf(e->choice[length].why, sizeof e->choice[length].why, "%s", why);
    return s;
}

static pe_status take_plans(eval *e, int length, const extend_model *x, const extend_plan *plan, const char *own,
                            pe_error *err)
{
    eval_choice *choice = &e->choice[length];
    pe_status s = PE_OK;
    for (int m = 0; s == PE_OK && m < e->ask.methods; m++) {
        const extend_plan *p = &plan[e->ask.method[m] - extend_methods];
        eval_cell *c = &e->cell[m][length];
        if (is_none(p->method))
            s = set_spec(c, own, own, err);
        else if (p->applies)
            s = set_spec(c, p->spec, own, err);
        else
            snprintf(c->cannot, sizeof c->cannot, "%s", p->why);
    }
    choice->method = &extend_methods[extend_recommend(x, plan, choice->why)];
    return s;
}

static pe_status plan_methods(eval *e, int length, const extend_model *x, const char *own, pe_error *err)
{
    extend_plan *plan;
    pe_status s = extend_plans_new(&plan, x, err);
    if (s == PE_OK)
        s = take_plans(e, length, x, plan, own, err);
    extend_plans_free(plan);
    return s;
}

static pe_status plan_length(eval *e, int length, pe_error *err)
{
    extend_model x = { 0 };
    pe_error why = { 0 };
    char *own;
    int64_t n = e->ask.length[length];
    pe_status s = own_spec(&own, e, n, err);
    if (s != PE_OK)
        return s;
    pe_status opened = extend_open(&x, e->zoo, n, e->ask.options.trained, &why);
    if (opened == PE_ERR_NOMEM)
        s = io_fail(err, opened, "%s", why.text);
    else if (opened)
        s = plan_without(e, length, own, false, why.text, err);
    else if (x.verdict != EXTEND_PLAN)
        s = plan_without(e, length, own, x.verdict == EXTEND_NOTHING, x.why, err);
    else
        s = plan_methods(e, length, &x, own, err);
    extend_close(&x);
    free(own);
    return s;
}

/* ---------------------------------------------------------------- the whole */

static void name_entries(eval *e)
{
    lab_setup *s = &e->results.setup;
    snprintf(s->kind, sizeof s->kind, "eval");
    snprintf(s->model, sizeof s->model, "%s", e->ask.path);
    s->entries = e->ask.methods;
    for (int m = 0; m < e->ask.methods; m++) {
        const char *name = e->ask.method[m]->name;
        snprintf(s->entry[m].name, sizeof s->entry[m].name, "%s", name);
        snprintf(s->entry[m].spec, sizeof s->entry[m].spec, "%s", name);
        snprintf(s->entry[m].slug, sizeof s->entry[m].slug, "%s", name);
        snprintf(s->entry[m].trained, sizeof s->entry[m].trained, "%s", e->zoo->part[0].group[0].spec);
    }
    memcpy(s->test, e->ask.length, sizeof s->test);
    s->tests = e->ask.lengths;
    s->train_length = e->trained;
    s->test_tokens = e->blocks * e->block;
    s->seeds = 1;
    s->causal = true;
}

pe_status eval_plan(eval *out, const eval_ask *ask, const zoo_model *zoo, pe_error *err)
{
    *out = (eval){ .ask = *ask, .zoo = zoo };
    out->trained = ask->options.trained ? ask->options.trained : zoo->part[0].trained;
    pe_status s = plan_windows(out, err);
    for (int n = 0; s == PE_OK && n < ask->lengths; n++)
        s = plan_length(out, n, err);
    if (s == PE_OK)
        name_entries(out);
    else
        eval_free(out);
    return s;
}

void eval_free(eval *e)
{
    for (int m = 0; m < EVAL_METHODS_MAX; m++)
        for (int n = 0; n < LAB_TESTS_MAX; n++)
            free(e->cell[m][n].spec);
    lab_results_free(&e->results);
    *e = (eval){ 0 };
}

/* SPDX-License-Identifier: MIT
 *
 * What is evaluated: the lengths that fit, and the spec of each method at each of them. */
#include "lab/eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    int64_t room = e->ask.tokens - 1; /* the last token is only asked for */
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

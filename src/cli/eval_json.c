/* SPDX-License-Identifier: MIT */
#include "cli/eval.h"

#include "lab/summary.h"

/* What was computed for a method at a length: its numbers are among the entries. */
static void write_plan(json_out *j, const eval *e, int method, int length)
{
    const lab_test_line *l = eval_line(e, method, length);
    const eval_cell *c = &e->cell[method][length];
    out_open(j, NULL, '{');
    out_text(j, "method", e->ask.method[method]->name);
    out_int(j, "length", e->ask.length[length]);
    out_text(j, "spec", c->spec);
    out_bool(j, "changes_nothing", c->idle);
    if (l && !*l->cannot) {
        out_int(j, "windows", l->windows);
        out_int(j, "asked", l->asked_all);
        out_int(j, "right", l->right_all);
        out_real(j, "seconds", l->seconds);
    }
    out_close(j, '}');
}

static void write_place(json_out *j, const char *key, const eval_place *p)
{
    out_open(j, key, '{');
    out_text(j, "best", p->best ? p->best->name : NULL);
    if (p->place) {
        out_int(j, "place", p->place);
        out_real(j, "times_the_best", p->ratio);
        out_bool(j, "near_the_best", p->ratio <= EVAL_NEAR);
    }
    out_int(j, "of", p->of);
    out_close(j, '}');
}

static void write_choice(json_out *j, const eval *e, int length)
{
    const eval_choice *c = &e->choice[length];
    char words[EVAL_WORDS];
    eval_choice_words(words, e, length);
    out_open(j, NULL, '{');
    out_int(j, "length", e->ask.length[length]);
    out_text(j, "method", c->method ? c->method->name : NULL);
    out_text(j, "why", c->why);
    write_place(j, "whole_window", &c->whole);
    write_place(j, "last_quarter", &c->last);
    out_text(j, "words", words);
    out_close(j, '}');
}

void eval_json(const eval_job *job)
{
    json_out j = out_start(stdout);
    const eval *e = &job->e;
    out_open(&j, NULL, '{');
    out_text(&j, "model", e->ask.path);
    out_int(&j, "text_tokens", e->ask.tokens);
    out_bool(&j, "same_tokens", eval_same_tokens(e));
    out_bool(&j, "stopped", job->stopped);
    lab_write_summary(&j, &e->results);
    out_open(&j, "plans", '[');
    for (int n = 0; n < e->ask.lengths; n++)
        for (int m = 0; m < e->ask.methods; m++)
            write_plan(&j, e, m, n);
    out_close(&j, ']');
    out_open(&j, "recommendations", '[');
    for (int n = 0; n < e->ask.lengths; n++)
        write_choice(&j, e, n);
    out_close(&j, ']');
    out_close(&j, '}');
}

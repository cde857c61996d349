/* SPDX-License-Identifier: MIT */
#include "cli/eval.h"
#include "lab/report.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS 100
#define CHART_ROWS 20

/* Lengths at which no method changes anything are said once, for all of them. */
static void print_idle(const eval *e)
{
    for (int n = 0; n < e->ask.lengths; n++) {
        int idle = 0, others = 0;
        for (int m = 0; m < e->ask.methods; m++) {
            others += e->ask.method[m]->key != NULL;
            idle += e->ask.method[m]->key && e->cell[m][n].idle;
        }
        if (others && idle == others)
            printf("At %" PRId64 " no method changes anything: %s\n", e->ask.length[n], e->choice[n].why);
        for (int m = 0; idle != others && m < e->ask.methods; m++)
            if (e->ask.method[m]->key && e->cell[m][n].idle)
                printf("At %" PRId64 " %s changes nothing.\n", e->ask.length[n], e->ask.method[m]->name);
    }
}

/* Why there is no number, each reason once. */
static void print_cannot(const eval *e)
{
    const char *before = "";
    for (int n = 0; n < e->results.tests; n++) {
        const lab_test_line *l = &e->results.test[n];
        if (*l->cannot && strcmp(l->cannot, before)) {
            printf("%s at %" PRId64 " cannot: %s.\n", e->ask.method[l->entry]->name, l->length, l->cannot);
            before = l->cannot;
        }
    }
}

static void print_choices(const eval *e, int columns)
{
    char words[EVAL_WORDS + 2];
    for (int n = 0; n < e->ask.lengths; n++) {
        eval_choice_words(words, e, n);
        if (!*words || !e->choice[n].method)
            continue;
        strcat(words, ".");
        lab_print_words(stdout, words, columns);
    }
}

/* What was measured on; where lengths are not asked for the same tokens, for how many each. */
static void print_head(const eval *e)
{
    printf("%s: trained at %" PRId64 "; ", e->ask.path, e->trained);
    if (eval_same_tokens(e))
        printf("the same %" PRId64 " of %" PRId64 " tokens at each length\n\n", e->blocks * e->block, e->ask.tokens);
    else {
        printf("of %" PRId64 " tokens", e->ask.tokens);
        for (int n = 0; n < e->ask.lengths && e->ask.length[n] <= e->longest; n++)
            printf("%s %" PRId64 " at %" PRId64, n ? "," : "", eval_windows(e, e->ask.length[n]) * e->ask.length[n],
                   e->ask.length[n]);
        fputs("\n\n", stdout);
    }
}

void eval_page(const eval_job *j)
{
    const eval *e = &j->e;
    draw_screen screen = draw_screen_of(stdout);
    int columns = screen.columns < COLUMNS ? screen.columns : COLUMNS;
    print_head(e);
    puts("Perplexity, whole window");
    lab_print_table(stdout, &e->results, columns);
    puts("\nPerplexity, last quarter of the window: other tokens at each length");
    lab_print_last_quarter(stdout, &e->results, columns);
    putchar('\n');
    screen.columns = columns;
    screen.rows = CHART_ROWS;
    lab_report_chart(stdout, &e->results, &screen, NULL);
    print_cannot(e);
    print_idle(e);
    print_choices(e, columns);
}

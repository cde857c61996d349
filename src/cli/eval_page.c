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

void eval_page(const eval_job *j)
{
    const eval *e = &j->e;
    draw_screen screen = draw_screen_of(stdout);
    int columns = screen.columns < COLUMNS ? screen.columns : COLUMNS;
    printf("%s: trained at %" PRId64 "; %" PRId64 " of %" PRId64 " tokens at each length\n\n", e->ask.path, e->trained,
           e->blocks * e->longest, e->ask.tokens);
    puts("Perplexity, whole window");
    lab_print_table(stdout, &e->results, columns);
    puts("\nPerplexity, last quarter of the window");
    lab_print_last_quarter(stdout, &e->results, columns);
    putchar('\n');
    screen.columns = columns;
    screen.rows = CHART_ROWS;
    lab_report_chart(stdout, &e->results, &screen, NULL);
    print_cannot(e);
    print_idle(e);
    print_choices(e, columns);
}

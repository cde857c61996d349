/* SPDX-License-Identifier: MIT
 *
 * Tables as text and as Markdown. */
#include "grid.h"

#include <inttypes.h>
#include <string.h>

/* Column -2: the line's name; -1: its size. */
static void text_at(const grid *g, int line, int column, char out[BENCH_LINE_MAX])
{
    if (column == -2)
        snprintf(out, BENCH_LINE_MAX, "%s", line < 0 ? g->t->first : g->line[line]->line);
    else if (column == -1 && line < 0)
        snprintf(out, BENCH_LINE_MAX, "%s", g->t->size);
    else if (column == -1)
        snprintf(out, BENCH_LINE_MAX, "%" PRId64, g->line[line]->n);
    else if (line >= 0)
        grid_field(g, line, column, out);
    else if (strcmp(g->column[column]->unit, g->unit) && *g->column[column]->unit &&
             strcmp(g->column[column]->unit, g->column[column]->who))
        snprintf(out, BENCH_LINE_MAX, "%s, %s", g->column[column]->who, g->column[column]->unit);
    else
        snprintf(out, BENCH_LINE_MAX, "%s", g->column[column]->who);
}

static bool shown(const grid *g, int column)
{
    return column != -1 || g->t->size;
}

static int width(const grid *g, int column)
{
    char text[BENCH_LINE_MAX];
    int widest = 0;
    for (int l = -1; l < g->lines; l++) {
        text_at(g, l, column, text);
        int w = (int)strlen(text);
        widest = w > widest ? w : widest;
    }
    return widest;
}

static void print_grid(const grid *g, FILE *to, bool markdown)
{
    char text[BENCH_LINE_MAX];
    int wide[COLUMNS_MAX + 2];
    for (int c = -2; c < g->columns; c++)
        wide[c + 2] = shown(g, c) ? width(g, c) : 0;
    for (int l = -1; l < g->lines; l++) {
        for (int c = -2; c < g->columns; c++) {
            if (!shown(g, c))
                continue;
            text_at(g, l, c, text);
            fprintf(to, c == -2 ? "%s%-*s" : "%s%*s", markdown ? (c == -2 ? "| " : " | ") : "  ", wide[c + 2], text);
        }
        fputs(markdown ? " |\n" : "\n", to);
        for (int c = -2; l < 0 && markdown && c < g->columns; c++)
            if (shown(g, c))
                fputs(c == -2 ? "|---|" : "---:|", to);
        if (l < 0 && markdown)
            fputs("\n", to);
    }
}

/* Words, broken before the margin. */
static void print_wrapped(FILE *to, const char *text)
{
    enum { MARGIN = 110 };
    int at = 0;
    for (const char *word = text; *word; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        if (at && at + 1 + length > MARGIN)
            at = fputs("\n", to) < 0;
        at += fprintf(to, "%s%.*s", at ? " " : "  ", length, word);
        word += length;
    }
    fputs("\n", to);
}

static void print_table(const bench *b, const table *t, FILE *to, bool markdown)
{
    char note[900], unit[100] = "", best[40] = "";
    grid g = grid_of(b, t);
    if (*g.unit)
        snprintf(unit, sizeof unit, " Unless a column says otherwise: %.40s.", g.unit);
    if (grid_best_of(&g))
        snprintf(best, sizeof best, " Best of %d or more.", grid_best_of(&g));
    snprintf(note, sizeof note, "%s%s%s", t->counted, unit, best);
    fprintf(to, markdown ? "\n### %s\n\n%s\n\n" : "\n%s\n", t->title, note);
    if (!markdown)
        print_wrapped(to, note);
    print_grid(&g, to, markdown);
}

void tables_done(bench *b)
{
    for (int i = 0; !b->json && i < bench_table_count; i++)
        if (!b->printed[i] && table_used(b, &bench_tables[i])) {
            print_table(b, &bench_tables[i], stdout, b->markdown);
            b->printed[i] = true;
        }
    fflush(stdout);
}

static void print_list(FILE *to, const char *title, const names *n)
{
    for (int i = 0; i < n->count; i++)
        fprintf(to, "%s%s", i ? "; " : title, n->name[i]);
    fputs(n->count ? ".\n" : "", to);
}

void print_machine(const bench *b, FILE *to, const char *command)
{
    const machine *m = &b->machine;
    fprintf(to, "%s, posenc %s. %s, %d CPUs, %.0f GiB, %s; %s; rungs: %s; load of others at the start: %.1f.\n",
            m->date, pe_version(), m->cpu, m->cpus, (double)m->memory * 0x1p-30, m->system, m->compiler, m->rungs,
            m->load);
    if (b->pool)
        fprintf(to, "Two values in a field are 1 and %d threads.", b->threads);
    else
        fprintf(to, "One thread.");
    fprintf(to, " (3x): posenc is 3 times as fast.");
    if (command)
        fprintf(to, " Made by `%s`.", command);
    fputs("\n", to);
    print_list(to, "Peers: ", &b->present);
    print_list(to, "Not measured: ", &b->absent);
}

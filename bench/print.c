/* SPDX-License-Identifier: MIT
 *
 * Tables: lines in the order they came, columns ours first, then limits and shares, then peers, then goals. A field has
 * the values for 1 and N threads, and after a peer's how many times faster posenc is. */
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_MAX 64
#define LINES_MAX 256
#define COLUMNS_MAX 24

typedef struct grid {
    const bench *b;
    const table *t;
    const cell *line[LINES_MAX]; /* the first cell of each */
    const cell *column[COLUMNS_MAX];
    int lines, columns;
    const char *unit; /* that most columns have */
} grid;

static int rank(cell_kind k)
{
    return k == CELL_MAIN ? CELL_OURS : (int)k;
}

static bool same_line(const cell *a, const cell *c)
{
    return a->n == c->n && !strcmp(a->line, c->line);
}

static bool same_column(const cell *a, const cell *c)
{
    return !strcmp(a->who, c->who) && !strcmp(a->unit, c->unit);
}

static void add_line(grid *g, const cell *c)
{
    for (int i = 0; i < g->lines; i++)
        if (same_line(g->line[i], c))
            return;
    if (g->lines < LINES_MAX)
        g->line[g->lines++] = c;
}

static void add_column(grid *g, const cell *c)
{
    int at = 0;
    for (int i = 0; i < g->columns; i++)
        if (same_column(g->column[i], c))
            return;
    if (g->columns == COLUMNS_MAX)
        return;
    while (at < g->columns && rank(g->column[at]->kind) <= rank(c->kind))
        at++;
    memmove(&g->column[at + 1], &g->column[at], (size_t)(g->columns - at) * sizeof *g->column);
    g->column[at] = c;
    g->columns++;
}

/* Peers add columns; a line that only a peer has would have nothing to compare with, and is left out. */
static grid grid_of(const bench *b, const table *t)
{
    grid g = { .b = b, .t = t, .unit = "" };
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < b->count; i++) {
            const cell *c = &b->cells[i];
            bool peer = c->kind == CELL_PEER;
            if (strcmp(c->table, t->name) || peer != (pass == 1))
                continue;
            if (!peer)
                add_line(&g, c);
            for (int l = 0; l < g.lines; l++)
                if (same_line(g.line[l], c)) {
                    add_column(&g, c);
                    break;
                }
        }
    g.unit = g.columns ? g.column[0]->unit : "";
    return g;
}

/* Three digits, more or less. */
static const char *format(double size, const char *unit)
{
    if (!strcmp(unit, "%") || size >= 100 || size <= 0)
        return "%.0f";
    return size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : size >= 0.01 ? "%.3f" : "%.1e";
}

static void number(char out[FIELD_MAX], const cell *c)
{
    char plain[FIELD_MAX];
    if (c->text)
        snprintf(plain, sizeof plain, "%.60s", c->text);
    else
        snprintf(plain, sizeof plain, format(fabs(c->value), c->unit), c->value);
    strcpy(out, strcmp(plain, "-0") ? plain : "0");
}

static void field(const grid *g, int line, int column, char out[FIELD_MAX])
{
    char ratio[FIELD_MAX] = "";
    size_t used = 0, ratio_used = 0;
    out[0] = 0;
    for (int i = 0; i < g->b->count; i++) {
        const cell *c = &g->b->cells[i];
        char value[FIELD_MAX];
        if (strcmp(c->table, g->t->name) || !same_line(c, g->line[line]) || !same_column(c, g->column[column]))
            continue;
        number(value, c);
        used += (size_t)snprintf(out + used, FIELD_MAX - used, "%s%.*s", used ? " / " : "", (int)(FIELD_MAX - used - 8),
                                 value);
        double x = c->kind == CELL_PEER ? cell_ratio(g->b, c) : 0;
        if (x > 0)
            ratio_used += (size_t)snprintf(ratio + ratio_used, FIELD_MAX - ratio_used, x < 9.95 ? "%s%.1fx" : "%s%.0fx",
                                           ratio_used ? " / " : "", x);
        if (used > 40 || ratio_used > 20)
            break;
    }
    if (ratio_used)
        snprintf(out + used, FIELD_MAX - used, " (%s)", ratio);
}

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
        field(g, line, column, out);
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

static int best_of_least(const grid *g)
{
    int least = 0;
    for (int i = 0; i < g->b->count; i++) {
        const cell *c = &g->b->cells[i];
        if (!strcmp(c->table, g->t->name) && c->best_of && (!least || c->best_of < least))
            least = c->best_of;
    }
    return least;
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

static void print_tables(const bench *b, FILE *to, bool markdown)
{
    for (int i = 0; i < bench_table_count; i++) {
        const table *t = &bench_tables[i];
        char note[900], unit[100] = "", best[40] = "";
        if (!table_used(b, t))
            continue;
        grid g = grid_of(b, t);
        if (*g.unit)
            snprintf(unit, sizeof unit, " Unless a column says otherwise: %.40s.", g.unit);
        if (best_of_least(&g))
            snprintf(best, sizeof best, " Best of %d or more.", best_of_least(&g));
        snprintf(note, sizeof note, "%s%s%s", t->counted, unit, best);
        fprintf(to, markdown ? "\n### %s\n\n%s\n\n" : "\n%s\n", t->title, note);
        if (!markdown)
            print_wrapped(to, note);
        print_grid(&g, to, markdown);
    }
}

static void print_list(FILE *to, const char *title, const names *n)
{
    for (int i = 0; i < n->count; i++)
        fprintf(to, "%s%s", i ? "; " : title, n->name[i]);
    fputs(n->count ? ".\n" : "", to);
}

static void print_machine(const bench *b, FILE *to, const char *command)
{
    machine m = machine_now();
    fprintf(to, "%s, posenc %s. %s, %d CPUs, %.0f GiB, %s; %s; rungs: %s.\n", m.date, pe_version(), m.cpu, m.cpus,
            (double)m.memory * 0x1p-30, m.system, m.compiler, m.rungs);
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

void print_text(const bench *b, FILE *to)
{
    print_machine(b, to, NULL);
    print_tables(b, to, false);
}

void print_markdown(const bench *b, FILE *to, const char *command)
{
    print_machine(b, to, command);
    print_tables(b, to, true);
}

/* SPDX-License-Identifier: MIT
 *
 * Lines in the order they came, columns ours first, then limits and shares, then peers, then goals. A field has the
 * values for 1 and N threads, and after a peer's how many times faster posenc is. */
#include "grid.h"

#include <math.h>
#include <string.h>

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
grid grid_of(const bench *b, const table *t)
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

void grid_field(const grid *g, int line, int column, char out[FIELD_MAX])
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

int grid_best_of(const grid *g)
{
    int least = 0;
    for (int i = 0; i < g->b->count; i++) {
        const cell *c = &g->b->cells[i];
        if (!strcmp(c->table, g->t->name) && c->best_of && (!least || c->best_of < least))
            least = c->best_of;
    }
    return least;
}

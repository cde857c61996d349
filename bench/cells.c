/* SPDX-License-Identifier: MIT
 *
 * Cells as they come, and how a peer compares. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
    if (!p) {
        fprintf(stderr, "posenc-bench: out of memory\n");
        exit(4);
    }
    return p;
}

static const char *copy(const char *text)
{
    return text ? checked(strdup(text)) : NULL;
}

/* Shares of a smoke run mean nothing, and are left out. */
void cell_add(bench *b, cell c)
{
    if (b->quick && c.kind == CELL_SHARE && c.unit && !strcmp(c.unit, "%"))
        return;
    if (b->count == b->room) {
        b->room = b->room ? 2 * b->room : 256;
        b->cells = checked(realloc(b->cells, (size_t)b->room * sizeof *b->cells));
    }
    c.table = copy(c.table);
    c.line = copy(c.line);
    c.who = copy(c.who);
    c.unit = copy(c.unit ? c.unit : "");
    c.text = copy(c.text);
    b->cells[b->count++] = c;
}

void names_add(names *n, const char *text)
{
    if (n->count < BENCH_COUNT(n->name))
        n->name[n->count++] = checked(strdup(text));
}

static void names_free(names *n)
{
    for (int i = 0; i < n->count; i++)
        free(n->name[i]);
}

void bench_free(bench *b)
{
    for (int i = 0; i < b->count; i++) {
        const char *text[] = { b->cells[i].table, b->cells[i].line, b->cells[i].who, b->cells[i].unit,
                               b->cells[i].text };
        for (int k = 0; k < BENCH_COUNT(text); k++)
            free((void *)(uintptr_t)text[k]);
    }
    names_free(&b->present);
    names_free(&b->absent);
    free(b->cells);
    pe_pool_free(b->pool);
}

bool table_used(const bench *b, const table *t)
{
    for (int i = 0; i < b->count; i++)
        if (!strcmp(b->cells[i].table, t->name) && b->cells[i].kind != CELL_PEER)
            return true;
    return false;
}

double cell_ratio(const bench *b, const cell *peer)
{
    bool time = strchr("num", peer->unit[0]) && peer->unit[0];
    for (int i = 0; i < b->count; i++) {
        const cell *c = &b->cells[i];
        if (c->kind == CELL_MAIN && c->threads == peer->threads && c->n == peer->n && !strcmp(c->table, peer->table) &&
            !strcmp(c->line, peer->line) && !strcmp(c->unit, peer->unit) && c->value > 0 && peer->value > 0)
            return time ? peer->value / c->value : c->value / peer->value;
    }
    return 0;
}

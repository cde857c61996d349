/* SPDX-License-Identifier: MIT
 *
 * Cells as JSON, and those of peers from JSON lines:
 *     {"table": "rotate", "line": "f32 half, in place", "n": 512, "who": "ggml", "threads": 1, "value": 0.6,
 *      "unit": "ns/element", "best_of": 9}
 *     {"present": "ggml 0.21"}
 *     {"absent": "PyTorch needs pip install torch"} */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "io/json_out.h"
#include "io/io.h"

static const char *const kinds[] = { "posenc", "posenc", "limit", "share", "peer", "goal" };

static void print_cell(const bench *b, json_out *j, const cell *c)
{
    out_open(j, NULL, '{');
    out_text(j, "line", c->line);
    if (c->n)
        out_int(j, "n", c->n);
    out_text(j, "who", c->who);
    out_text(j, "kind", kinds[c->kind]);
    if (c->threads)
        out_int(j, "threads", c->threads);
    if (c->text)
        out_text(j, "text", c->text);
    else
        out_real(j, "value", c->value);
    if (*c->unit)
        out_text(j, "unit", c->unit);
    if (c->seconds > 0)
        out_real(j, "seconds", c->seconds);
    if (c->best_of)
        out_int(j, "best_of", c->best_of);
    if (c->kind == CELL_PEER && cell_ratio(b, c) > 0)
        out_real(j, "posenc_times_faster", cell_ratio(b, c));
    out_close(j, '}');
}

static void print_table(const bench *b, json_out *j, const table *t)
{
    out_open(j, NULL, '{');
    out_text(j, "name", t->name);
    out_text(j, "title", t->title);
    out_text(j, "counted", t->counted);
    out_open(j, "cells", '[');
    for (int i = 0; i < b->count; i++)
        if (!strcmp(b->cells[i].table, t->name))
            print_cell(b, j, &b->cells[i]);
    out_close(j, ']');
    out_close(j, '}');
}

static void write_machine(json_out *j, machine m)
{
    out_open(j, "machine", '{');
    out_text(j, "cpu", m.cpu);
    out_int(j, "cpus", m.cpus);
    out_int(j, "memory", m.memory);
    out_text(j, "system", m.system);
    out_text(j, "compiler", m.compiler);
    out_text(j, "rungs", m.rungs);
    out_real(j, "load", m.load);
    out_close(j, '}');
}

static void print_names(json_out *j, const char *key, const names *n)
{
    out_open(j, key, '[');
    for (int i = 0; i < n->count; i++)
        out_text(j, NULL, n->name[i]);
    out_close(j, ']');
}

void print_json(const bench *b, FILE *to)
{
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_text(&j, "posenc", pe_version());
    out_text(&j, "date", b->machine.date);
    write_machine(&j, b->machine);
    out_int(&j, "threads", b->threads);
    out_bool(&j, "quick", b->quick);
    print_names(&j, "peers", &b->present);
    print_names(&j, "absent", &b->absent);
    out_open(&j, "tables", '[');
    for (int i = 0; i < bench_table_count; i++)
        if (table_used(b, &bench_tables[i]))
            print_table(b, &j, &bench_tables[i]);
    out_close(&j, ']');
    out_close(&j, '}');
}

/* ---------------------------------------------------------------- peers */

/* Whether the line names a peer, and no cell. */
static bool read_name(names *n, const io_node *at, const char *key)
{
    const char *text = NULL;
    pe_error err;
    if (io_json_string(&text, at, key, IO_OPTIONAL, &err) || !text)
        return false;
    names_add(n, text);
    return true;
}

static pe_status read_cell(bench *b, const io_node *at, pe_error *err)
{
    cell c = { .kind = CELL_PEER };
    int64_t threads = 0, best_of = 0;
    const io_int_range any = { 0, INT64_C(1) << 40 };
    pe_status s;
    if ((s = io_json_string(&c.table, at, "table", IO_REQUIRED, err)) ||
        (s = io_json_string(&c.line, at, "line", IO_REQUIRED, err)) ||
        (s = io_json_string(&c.who, at, "who", IO_REQUIRED, err)) ||
        (s = io_json_string(&c.unit, at, "unit", IO_REQUIRED, err)) ||
        (s = io_json_real(&c.value, at, "value", IO_REQUIRED, err)) ||
        (s = io_json_int(&c.n, at, "n", IO_OPTIONAL, any, err)) ||
        (s = io_json_int(&threads, at, "threads", IO_OPTIONAL, (io_int_range){ 0, 4096 }, err)) ||
        (s = io_json_int(&best_of, at, "best_of", IO_OPTIONAL, (io_int_range){ 0, 1000000 }, err)))
        return s;
    c.threads = (int)threads;
    c.best_of = (int)best_of;
    cell_add(b, c);
    return PE_OK;
}

bool peers_read(bench *b, const char *path)
{
    char line[4096];
    pe_error err = { 0 };
    FILE *f = fopen(path, "r");
    if (!f)
        perror(path);
    while (f && !err.status && fgets(line, sizeof line, f)) {
        io_node root = { 0 };
        if (line[strspn(line, " \t\r\n")] == 0 || io_json_parse(&root, path, line, strlen(line), &err))
            continue;
        if (!read_name(&b->present, &root, "present") && !read_name(&b->absent, &root, "absent"))
            read_cell(b, &root, &err);
        io_json_free(&root);
    }
    if (err.status)
        fprintf(stderr, "%s\n", err.text);
    if (f)
        fclose(f);
    return f && !err.status;
}

/* SPDX-License-Identifier: MIT
 *
 * JSON and CSV: what has a name. */
#include "result/tree.h"

#include "base/num.h"
#include "draw/draw.h"
#include "io/io.h"
#include "io/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_item(const node *n)
{
    return n->parent && n->parent->kind != RESULT_RECORD;
}

/* A record without a name in a record, or a table without a name in a list: its values stand in the group around it. */
static bool is_only_section(const node *n)
{
    return n->parent && !n->name && n->kind == (is_item(n) ? RESULT_TABLE : RESULT_RECORD);
}

static bool holds_groups(const node *n)
{
    for (const node *c = n->first; c; c = c->next)
        if (node_is_group(c))
            return true;
    return false;
}

static void write_value(json_out *j, const node *n);

static void write_values(json_out *j, const node *n)
{
    for (const node *c = n->first; c; c = c->next)
        if (is_only_section(c))
            write_values(j, c);
        else if (c->name || is_item(c))
            write_value(j, c);
}

static void write_array(json_out *j, const node *n, int axis, int64_t *at)
{
    bool last = axis >= n->rank - 1;
    out_open(j, axis ? NULL : n->name, last ? '-' : '[');
    for (int64_t i = 0; i < n->shape[axis]; i++)
        if (!last)
            write_array(j, n, axis + 1, at);
        else if (n->type == PE_F64)
            out_real(j, NULL, num_load(n->with, n->type, (*at)++));
        else
            out_float(j, NULL, num_load(n->with, n->type, (*at)++));
    out_close(j, last ? '-' : ']');
}

static void write_value(json_out *j, const node *n)
{
    bool record = n->kind == RESULT_RECORD, flat = !record && node_is_group(n) && !holds_groups(n);
    switch (n->kind) {
    case RESULT_RECORD:
    case RESULT_LIST:
    case RESULT_TABLE:
        out_open(j, n->name, record ? '{' : flat ? '-' : '[');
        write_values(j, n);
        out_close(j, record ? '}' : flat ? '-' : ']');
        break;
    case RESULT_INT: out_int(j, n->name, n->integer); break;
    case RESULT_REAL: out_real(j, n->name, n->real); break;
    case RESULT_FLAG: out_bool(j, n->name, n->integer); break;
    case RESULT_JSON: out_raw(j, n->name, n->text); break;
    case RESULT_ARRAY: write_array(j, n, 0, &(int64_t){ 0 }); break;
    default: out_text(j, n->name, n->text);
    }
}

void write_json(FILE *to, const node *root)
{
    json_out j = out_start(to);
    write_value(&j, root);
}

/* ---------------------------------------------------------------- CSV
 *
 * A result that is one table of single values, or whose table is said to stand for it (result_rows), is that table;
 * any other is a line per value. */

#define NAMES_MAX 128

/* The rows of a table, or list, are records; those of its sections count as its own. */
static const node *first_row(const node *table)
{
    const node *row = table->first;
    while (row && is_only_section(row))
        row = row->first ? row->first : row->next;
    return row && row->kind == RESULT_RECORD ? row : NULL;
}

static const node *next_row(const node *row)
{
    if (row->next || !is_only_section(row->parent))
        return row->next;
    return row->parent->next ? row->parent->next->first : NULL;
}

/* The first table, or list of records, that has a name. */
static const node *find_table(const node *n)
{
    for (const node *c = n->first; c; c = c->next) {
        if (c->name && node_is_group(c) && c->kind != RESULT_RECORD && first_row(c))
            return c;
        const node *inner = node_is_group(c) ? find_table(c) : NULL;
        if (inner)
            return inner;
    }
    return NULL;
}

/* A cell of a table; others need lines of their own. */
static bool is_cell(const node *n)
{
    return n->name && !node_is_group(n) && n->kind != RESULT_ARRAY;
}

static int names_of(const char **name, const node *table)
{
    int count = 0;
    for (const node *row = first_row(table); row; row = next_row(row))
        for (const node *c = row->first; c; c = c->next) {
            int i = 0;
            while (c->name && i < count && strcmp(name[i], c->name))
                i++;
            if (is_cell(c) && i == count && count < NAMES_MAX)
                name[count++] = c->name;
        }
    return count;
}

static const node *named(const node *row, const char *name)
{
    for (const node *c = row->first; c; c = c->next)
        if (is_cell(c) && !strcmp(c->name, name))
            return c;
    return NULL;
}

static void write_number(FILE *to, double value, bool is_float)
{
    char text[40] = "";
    if (isfinite(value))
        (is_float ? io_print_float : io_print_real)(text, sizeof text, value);
    fputs(text, to);
}

static void write_cell(FILE *to, const node *n)
{
    if (!n)
        return;
    if (n->kind == RESULT_INT || n->kind == RESULT_FLAG)
        fprintf(to, "%" PRId64, n->integer);
    else if (n->text)
        draw_csv_text(to, n->text);
    else if (n->kind == RESULT_REAL)
        write_number(to, n->real, false);
}

static void write_rows(FILE *to, const node *table, const char *const *name, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(to, "%s%s", i ? "," : "", name[i]);
    fputs("\r\n", to);
    for (const node *row = first_row(table); row; row = next_row(row)) {
        for (int i = 0; i < count; i++) {
            fputs(i ? "," : "", to);
            write_cell(to, named(row, name[i]));
        }
        fputs("\r\n", to);
    }
}

/* The long form: a line for each value of JSON, with the way to it: "pairs.0.wavelength",6.28,"positions". A list
 * without items is a line without a value. */
typedef struct csv_lines {
    FILE *to; /* NULL: only count */
    int64_t count;
    bool cut; /* a path is too long */
    char path[4096];
} csv_lines;

static void start_line(csv_lines *l)
{
    l->count++;
    if (l->to) {
        draw_csv_text(l->to, l->path);
        putc(',', l->to);
    }
}

static void end_line(csv_lines *l, const char *unit)
{
    if (l->to) {
        putc(',', l->to);
        if (unit && *unit)
            draw_csv_text(l->to, unit);
        fputs("\r\n", l->to);
    }
}

/* The path's first `used` bytes and one part more, a name or, without one, an index. Returns its length. */
static size_t extend_path(csv_lines *l, size_t used, const char *name, int64_t index)
{
    size_t room = sizeof l->path - used;
    const char *dot = used ? "." : "";
    int n = name ? snprintf(l->path + used, room, "%s%s", dot, name)
                 : snprintf(l->path + used, room, "%s%" PRId64, dot, index);
    l->cut = l->cut || n < 0 || (size_t)n >= room;
    return l->cut ? used : used + (size_t)n;
}

static void write_array_lines(csv_lines *l, const node *n, size_t used, int axis, int64_t *at)
{
    if (axis == n->rank) {
        start_line(l);
        if (l->to)
            write_number(l->to, num_load(n->with, n->type, *at), n->type != PE_F64);
        end_line(l, n->unit);
        ++*at;
        return;
    }
    for (int64_t i = 0; i < n->shape[axis]; i++)
        write_array_lines(l, n, extend_path(l, used, NULL, i), axis + 1, at);
}

static void write_group_lines(csv_lines *l, const node *group, size_t used, int64_t *index);

static void write_lines(csv_lines *l, const node *n, size_t used)
{
    int64_t before = l->count;
    if (node_is_group(n))
        write_group_lines(l, n, used, &(int64_t){ 0 });
    else if (n->kind == RESULT_ARRAY)
        write_array_lines(l, n, used, 0, &(int64_t){ 0 });
    if (l->count > before)
        return;
    start_line(l);
    if (l->to)
        write_cell(l->to, n);
    end_line(l, n->unit);
}

static void write_group_lines(csv_lines *l, const node *group, size_t used, int64_t *index)
{
    for (const node *c = group->first; c; c = c->next)
        if (is_only_section(c))
            write_group_lines(l, c, used, index);
        else if (is_item(c))
            write_lines(l, c, extend_path(l, used, NULL, (*index)++));
        else if (c->name)
            write_lines(l, c, extend_path(l, used, c->name, 0));
}

/* Does the table have every value of the result? */
static bool has_all(const node *table, const char *const *name, int count, int64_t values)
{
    for (const node *row = first_row(table); row; row = next_row(row))
        for (int i = 0; i < count; i++)
            values -= named(row, name[i]) != NULL;
    return !values;
}

pe_status write_csv(FILE *to, const node *root, pe_error *err)
{
    const char *name[NAMES_MAX];
    const node *table = find_table(root);
    csv_lines lines = { 0 };
    int count = table ? names_of(name, table) : 0;
    write_group_lines(&lines, root, 0, &(int64_t){ 0 });
    if (count && (table->rows || has_all(table, name, count, lines.count))) {
        write_rows(to, table, name, count);
        return PE_OK;
    }
    if (lines.cut)
        return io_fail(err, PE_ERR_SPEC, "a name in this result is too long for CSV; --json has all of it");
    lines.to = to;
    fputs("path,value,unit\r\n", to);
    write_group_lines(&lines, root, 0, &(int64_t){ 0 });
    return PE_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * The tree: nodes and texts in blocks of memory that are freed together. */
#include "result/tree.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 16384

typedef struct block {
    struct block *next;
    size_t used, size;
    max_align_t bytes[];
} block;

typedef struct owned {
    struct owned *next;
    void *memory;
    void (*release)(void *);
} owned;

struct result {
    node root;
    node *open; /* values are added to this one */
    node *last; /* what result_shown and its like speak of */
    block *blocks;
    owned *owned;
    bool failed; /* memory ran out */
    node lost;   /* takes what is said after that, and is never read */
};

/* ---------------------------------------------------------------- memory */

result *result_new(void)
{
    result *r = calloc(1, sizeof *r);
    if (r) {
        r->root.kind = RESULT_RECORD;
        r->open = r->last = &r->root;
    }
    return r;
}

void result_free(result *r)
{
    if (!r)
        return;
    for (owned *o = r->owned; o; o = o->next)
        o->release(o->memory);
    for (block *b = r->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(r);
}

node *result_root(result *r)
{
    return &r->root;
}

bool result_is_empty(const result *r)
{
    return !r->root.first && !r->failed;
}

void result_clear(result *r)
{
    r->root.first = r->root.last = NULL;
    r->open = r->last = &r->root;
}

static void *take_bytes(result *r, size_t bytes)
{
    bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!r->blocks || r->blocks->size - r->blocks->used < bytes) {
        size_t size = bytes > BLOCK ? bytes : BLOCK;
        block *b = malloc(sizeof *b + size);
        if (!b) {
            r->failed = true;
            return NULL;
        }
        *b = (block){ .next = r->blocks, .size = size };
        r->blocks = b;
    }
    char *at = (char *)r->blocks->bytes + r->blocks->used;
    r->blocks->used += bytes;
    return memset(at, 0, bytes);
}

void *result_room(result *r, size_t bytes)
{
    return take_bytes(r, bytes);
}

static const char *copy(result *r, const char *text)
{
    char *at = text ? take_bytes(r, strlen(text) + 1) : NULL;
    return at ? strcpy(at, text) : NULL;
}

void result_own(result *r, void *memory, void (*release)(void *))
{
    owned *o = take_bytes(r, sizeof *o);
    if (!o) {
        release(memory);
        return;
    }
    *o = (owned){ r->owned, memory, release };
    r->owned = o;
}

/* ---------------------------------------------------------------- filling */

/* A text by a format, in the tree's memory. */
static const char *form(result *r, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : take_bytes(r, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, list);
    return text;
}

static node *add_node(result *r, result_kind kind, const char *name, const char *label)
{
    node *n = r->failed ? NULL : take_bytes(r, sizeof *n);
    if (!n)
        return r->last = &r->lost;
    n->kind = kind;
    n->name = copy(r, name);
    n->label = copy(r, label);
    n->parent = r->open;
    *(r->open->last ? &r->open->last->next : &r->open->first) = n;
    r->open->last = n;
    return r->last = n;
}

void result_title(result *r, int language, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    r->root.label = form(r, format, list);
    r->root.integer = language;
    va_end(list);
}

void result_open(result *r, result_kind kind, const char *name, const char *label)
{
    node *n = add_node(r, kind, name, label);
    if (!r->failed)
        r->open = n;
}

void result_close(result *r)
{
    if (r->failed)
        return;
    r->last = r->open;
    r->open = r->open->parent;
}

void result_text(result *r, const char *name, const char *label, const char *text)
{
    node *n = add_node(r, text ? RESULT_TEXT : RESULT_NONE, name, text ? label : NULL);
    n->text = copy(r, text);
}

void result_say(result *r, const char *name, const char *label, const char *format, ...)
{
    va_list list;
    node *n = add_node(r, RESULT_TEXT, name, label);
    va_start(list, format);
    n->text = form(r, format, list);
    va_end(list);
}

void result_int(result *r, const char *name, const char *label, int64_t value)
{
    node *n = add_node(r, RESULT_INT, name, label);
    n->integer = value;
}

static void add_real(result *r, result_kind kind, const char *name, const char *label, double value)
{
    node *n = add_node(r, kind, name, label);
    n->real = value;
}

void result_real(result *r, const char *name, const char *label, double value)
{
    add_real(r, RESULT_REAL, name, label, value);
}

void result_flag(result *r, const char *name, const char *label, bool value)
{
    node *n = add_node(r, RESULT_FLAG, name, label);
    n->integer = value;
}

void result_none(result *r, const char *name)
{
    add_node(r, RESULT_NONE, name, NULL);
}

void result_json(result *r, const char *name, const char *json)
{
    node *n = add_node(r, json ? RESULT_JSON : RESULT_NONE, name, NULL);
    n->text = copy(r, json);
}

void result_code(result *r, const char *name, const char *text)
{
    node *n = add_node(r, RESULT_CODE, name, "");
    n->text = copy(r, text);
}

void result_ints(result *r, const char *name, const int64_t *value, int count)
{
    result_open(r, RESULT_LIST, name, NULL);
    for (int i = 0; i < count; i++)
        result_int(r, NULL, NULL, value[i]);
    result_close(r);
}

void result_words(result *r, const char *name, const char *label, const char *list)
{
    result_open(r, RESULT_LIST, name, label);
    while (list && *list) {
        size_t n = strcspn(list, "|");
        result_say(r, NULL, "", "%.*s", (int)n, list);
        list += n + (list[n] == '|');
    }
    result_close(r);
}

void result_bits(result *r, const char *name, const char *label, unsigned bits, const char *(*bit_name)(unsigned))
{
    result_open(r, RESULT_LIST, name, label);
    for (unsigned bit = 1; bit; bit <<= 1)
        if (bits & bit && bit_name(bit))
            result_text(r, NULL, "", bit_name(bit));
    result_close(r);
}

void result_array(result *r, const char *name, const void *data, pe_dtype type, int rank, const int64_t *shape)
{
    node *n = add_node(r, RESULT_ARRAY, name, NULL);
    int64_t *sizes = take_bytes(r, (size_t)rank * sizeof *sizes);
    for (int i = 0; sizes && i < rank; i++)
        sizes[i] = shape[i];
    n->with = data;
    n->type = type;
    n->rank = rank;
    n->shape = sizes;
}

void result_ranges(result *r, const char *name, const char *label, const bool *in, int64_t count)
{
    result_open(r, RESULT_LIST, name, label);
    result_shown(r, "%s", result_ranges_text(in, count).text);
    for (int64_t n = 0; n < count; n++)
        if (in[n])
            result_int(r, NULL, NULL, n);
    result_close(r);
}

number_text result_number(double x)
{
    number_text out;
    bool whole = fabs(x) < 1e15 && x == floor(x);
    double unit = pow(10, 5 - floor(log10(fabs(x))));
    if (!isfinite(x))
        snprintf(out.text, sizeof out.text, "%s", isnan(x) ? "-" : x > 0 ? "infinite" : "-infinite");
    else
        io_print_real(out.text, sizeof out.text, whole || !isfinite(unit) ? x : round(x * unit) / unit);
    return out;
}

ranges_text result_ranges_text(const bool *in, int64_t count)
{
    ranges_text out = { "" };
    size_t used = 0, cap = sizeof out.text;
    for (int64_t n = 0, last; n < count; n = last + 1) {
        last = n;
        if (!in[n])
            continue;
        while (last + 1 < count && in[last + 1])
            last++;
        if (used < cap)
            used += (size_t)snprintf(out.text + used, cap - used, "%s%" PRId64, used ? ", " : "", n);
        if (last > n && used < cap)
            used += (size_t)snprintf(out.text + used, cap - used, "-%" PRId64, last);
    }
    if (used >= cap)
        memcpy(out.text + cap - 5, " ...", 5);
    return out;
}

void result_drawing(result *r, result_make *make, const void *with)
{
    node *n = add_node(r, RESULT_DRAWING, NULL, "");
    n->make = make;
    n->with = with;
}

void result_shown(result *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    r->last->shown = form(r, format, list);
    va_end(list);
}

void result_unit(result *r, const char *unit)
{
    r->last->unit = copy(r, unit);
}

void result_is_code(result *r)
{
    r->last->kind = RESULT_CODE;
}

void result_link(result *r, const char *address)
{
    r->last->link = copy(r, address);
}

void result_ink(result *r, int ink)
{
    r->last->ink = ink;
}

void result_tone_is(result *r, result_tone tone)
{
    r->last->tone = tone;
}

void result_below(result *r)
{
    r->last->below = true;
}

void result_folded(result *r)
{
    r->last->folded = true;
}

void result_wide(result *r)
{
    r->last->wide = true;
}

void result_named(result *r)
{
    r->last->named = true;
}

void result_rows(result *r)
{
    r->last->rows = true;
}

void result_hide(result *r)
{
    r->last->hidden = true;
}

/* ---------------------------------------------------------------- reading */

bool node_is_group(const node *n)
{
    return n->kind == RESULT_RECORD || n->kind == RESULT_LIST || n->kind == RESULT_TABLE;
}

static bool node_is_number(const node *n)
{
    return n->kind == RESULT_INT || n->kind == RESULT_REAL;
}

/* A list of single values is shown as one text; a list of groups is a section. */
static bool is_list_of_values(const node *n)
{
    if (n->kind != RESULT_LIST)
        return false;
    for (const node *c = n->first; c; c = c->next)
        if (node_is_group(c) || c->kind == RESULT_CODE)
            return false;
    return true;
}

bool node_is_section(const node *n)
{
    return node_is_group(n) && !n->shown && !is_list_of_values(n);
}

bool node_is_visible(const node *n)
{
    if (n->hidden)
        return false;
    if (n->shown)
        return n->label != NULL;
    if (!node_is_group(n))
        return n->label && n->kind != RESULT_NONE;
    if (is_list_of_values(n))
        return n->label != NULL;
    for (const node *c = n->first; c; c = c->next)
        if (node_is_visible(c))
            return true;
    return false;
}

const node *node_visible(const node *n)
{
    while (n && !node_is_visible(n))
        n = n->next;
    return n;
}

static const char *list_text(const node *n, char *out, size_t cap)
{
    size_t used = 0;
    char one[400];
    snprintf(out, cap, "-");
    for (const node *c = node_visible(n->first); c && used < cap; c = node_visible(c->next))
        used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? ", " : "", node_text(c, one, sizeof one));
    if (used >= cap)
        io_end_with_dots(out, cap);
    return out;
}

const char *node_text(const node *n, char *out, size_t cap)
{
    if (n->shown)
        return n->shown;
    if (n->text)
        return n->text;
    if (node_is_group(n))
        return list_text(n, out, cap);
    if (n->kind == RESULT_FLAG)
        return n->integer ? "yes" : "no";
    if (n->kind == RESULT_INT)
        snprintf(out, cap, "%" PRId64, n->integer);
    else if (node_is_number(n))
        snprintf(out, cap, "%s", result_number(n->real).text);
    else
        return "";
    size_t used = strlen(out);
    if (n->unit && *n->unit)
        snprintf(out + used, cap - used, " %s", n->unit);
    return out;
}

/* ---------------------------------------------------------------- tables */

const node *table_cell(const node *row, const char *label)
{
    for (const node *c = node_visible(row->first); c; c = node_visible(c->next))
        if (c->label && !strcmp(c->label, label))
            return c;
    return NULL;
}

static void add_column(table_columns *t, const node *cell, bool below)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->label[i], cell->label)) {
            t->number[i] = t->number[i] && node_is_number(cell);
            return;
        }
    if (t->count == RESULT_COLUMNS_MAX)
        return;
    t->label[t->count] = cell->label;
    t->number[t->count] = node_is_number(cell);
    t->below[t->count++] = below;
}

void table_columns_of(table_columns *out, const node *table, bool wide)
{
    out->count = out->cells = 0;
    for (int below = 0; below < 2; below++) {
        for (const node *row = table->first; row; row = row->next)
            for (const node *c = node_visible(row->first); c; c = node_visible(c->next))
                if (c->below == below && c->label && !node_is_section(c) && (wide || !c->wide))
                    add_column(out, c, below);
        out->cells = below ? out->cells : out->count;
    }
}

/* ---------------------------------------------------------------- writing */

result_form result_form_of(const char *file)
{
    static const char *const ending[RESULT_FORMS] = {
        [RESULT_AS_TEXT] = ".txt",    [RESULT_AS_JSON] = ".json", [RESULT_AS_CSV] = ".csv",
        [RESULT_AS_MARKDOWN] = ".md", [RESULT_AS_HTML] = ".html", [RESULT_AS_MAN] = ".1",
    };
    size_t n = strlen(file);
    int form = 0;
    for (; form < RESULT_FORMS; form++) {
        size_t m = strlen(ending[form]);
        if (n > m && !strcmp(file + n - m, ending[form]))
            break;
    }
    return (result_form)form;
}

pe_status result_write(FILE *to, const result *r, result_form as, const result_screen *page, pe_error *err)
{
    const node *root = &r->root;
    if (r->failed)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the result");
    switch (as) {
    case RESULT_AS_JSON: write_json(to, root); return PE_OK;
    case RESULT_AS_CSV: return write_csv(to, root, err);
    case RESULT_AS_MARKDOWN: write_markdown(to, root); return PE_OK;
    case RESULT_AS_HTML: return write_html(to, root, err);
    case RESULT_AS_MAN: write_man(to, root); return PE_OK;
    default: return write_text(to, root, page, err);
    }
}

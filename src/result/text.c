/* SPDX-License-Identifier: MIT
 *
 * The terminal's text: sections with headings, labels in a column, tables in columns. */
#include "result/tree.h"

#include "draw/draw.h"
#include "io/columns.h"

#include <string.h>

enum {
    LABEL_MAX = 30,
    GAP = 2,
    FIRST_MIN = 20,
    LAST_MIN = 24,
    DRAWING_ROWS = RESULT_TERMINAL_HEIGHT / 16,
    ROOM = 4000
};

typedef enum last_block { BLOCK_NONE, BLOCK_HEADING, BLOCK_LINES, BLOCK_TABLE } last_block;

typedef struct text_writer {
    columns_out c;
    int wide; /* where lines of tables end: on a wide terminal they are longer than sentences */
    bool colour;
    last_block before; /* what was printed last */
} text_writer;

/* ---------------------------------------------------------------- lines */

/* A heading, a table or a drawing stands apart from what is before it. */
static void begin_block(text_writer *w, last_block block, bool apart)
{
    if (w->before != BLOCK_NONE && w->before != BLOCK_HEADING && (apart || w->before == BLOCK_TABLE))
        putc('\n', w->c.to);
    w->before = block;
}

static void begin_tone(const text_writer *w, result_tone tone)
{
    static const char *const code[] = { "", "\033[1;32m", "\033[1;31m", "\033[1;33m", "\033[90m", "\033[1m" };
    if (w->colour)
        fputs(code[tone], w->c.to);
}

static void end_tone(const text_writer *w, result_tone tone)
{
    if (w->colour && tone)
        fputs("\033[0m", w->c.to);
}

static void print_toned(const text_writer *w, const node *n, const char *text)
{
    begin_tone(w, n->tone);
    columns_print(&w->c, text);
    end_tone(w, n->tone);
}

static void print_wrapped(const text_writer *w, const node *n, const char *text, int indent)
{
    begin_tone(w, n->tone);
    columns_wrap(&w->c, text, indent);
    end_tone(w, n->tone);
}

static void print_heading(text_writer *w, const node *n)
{
    if (!n->label || !*n->label)
        return;
    begin_block(w, BLOCK_HEADING, true);
    columns_wrap(&w->c, n->label, 0);
}

/* Line by line as it is, but for control characters. */
static void print_code(text_writer *w, const char *text, int indent)
{
    char line[ROOM];
    begin_block(w, BLOCK_LINES, false);
    while (*text) {
        size_t n = strcspn(text, "\n"), room = n < sizeof line - 1 ? n : sizeof line - 1;
        memcpy(line, text, room);
        line[room] = 0;
        columns_pad(&w->c, indent);
        columns_print(&w->c, line);
        if (room == n)
            putc('\n', w->c.to);
        text += room == n ? n + (text[n] == '\n') : room;
    }
}

/* A label too wide for its column, and one whose text stands below it, are lines of their own. */
static void print_field(text_writer *w, const node *n, int indent, int width)
{
    char room[ROOM];
    int label = columns_of(n->label), at = n->below ? indent + 2 * GAP : indent + width + GAP;
    begin_block(w, BLOCK_LINES, false);
    columns_pad(&w->c, indent);
    columns_print(&w->c, n->label);
    if (label > width || n->below) {
        putc('\n', w->c.to);
        columns_pad(&w->c, at);
    } else
        columns_pad(&w->c, width - label + GAP);
    print_wrapped(w, n, node_text(n, room, sizeof room), at);
}

static void print_paragraph(text_writer *w, const node *n, int indent)
{
    char room[ROOM];
    begin_block(w, BLOCK_LINES, false);
    columns_pad(&w->c, indent);
    print_wrapped(w, n, node_text(n, room, sizeof room), indent);
}

static pe_status print_drawing(text_writer *w, const node *n, pe_error *err)
{
    draw *d = NULL;
    draw_screen screen = draw_screen_of(w->c.to);
    screen.columns = screen.columns < w->c.margin ? screen.columns : w->c.margin;
    screen.rows = DRAWING_ROWS;
    pe_status s = n->make(&d, n->with, 8 * screen.columns, RESULT_TERMINAL_HEIGHT, err);
    if (!s && d) {
        begin_block(w, BLOCK_TABLE, true);
        s = draw_terminal(w->c.to, d, &screen, err);
    }
    draw_free(d);
    return s;
}

/* ---------------------------------------------------------------- tables */

typedef struct layout {
    table_columns columns;
    int width[RESULT_COLUMNS_MAX];
    int keys;   /* columns that are printed before every block of others */
    bool wraps; /* the last column may be wider than its room */
} layout;

static const char *cell_text(const node *row, const char *label, char *room, size_t cap)
{
    const node *cell = table_cell(row, label);
    return cell ? node_text(cell, room, cap) : "";
}

static int total_width(const layout *l, int first, int last)
{
    int sum = 0;
    for (int i = 0; first && i < l->keys; i++)
        sum += l->width[i] + GAP;
    for (int i = first; i <= last; i++)
        sum += l->width[i] + (i < last ? GAP : 0);
    return sum;
}

/* How many columns are printed before every block of others: the first, and the second where it is text and two rows
 * below each other have the same first cell. */
static int key_columns(const layout *l, const node *table)
{
    char text[ROOM], before[ROOM] = "";
    for (const node *row = table->first; row && l->columns.cells > 2 && !l->columns.number[1]; row = row->next) {
        const char *first = cell_text(row, l->columns.label[0], text, sizeof text);
        if (*first && !strcmp(first, before))
            return 2;
        snprintf(before, sizeof before, "%s", first);
    }
    return 1;
}

/* The first column gives way and is wrapped, then the last; what is still too wide is printed in blocks of columns. */
static void lay_out(layout *l, const node *table, int room)
{
    char text[ROOM];
    table_columns_of(&l->columns, table, false);
    int count = l->columns.cells;
    for (int i = 0; i < count; i++) {
        l->width[i] = columns_of(l->columns.label[i]);
        for (const node *row = table->first; row; row = row->next) {
            int n = columns_of(cell_text(row, l->columns.label[i], text, sizeof text));
            l->width[i] = n > l->width[i] ? n : l->width[i];
        }
    }
    l->keys = key_columns(l, table);
    if (!count)
        return;
    int last = count - 1, before = total_width(l, 0, last) - l->width[last];
    l->wraps = !l->columns.number[last] && count > 1 && before + LAST_MIN <= room;
    int excess = (l->wraps ? before + LAST_MIN : before + l->width[last]) - room;
    if (excess > 0 && l->width[0] > FIRST_MIN) {
        l->width[0] = l->width[0] - excess > FIRST_MIN ? l->width[0] - excess : FIRST_MIN;
        l->wraps = !l->columns.number[last] && count > 1 && total_width(l, 0, last) - l->width[last] + LAST_MIN <= room;
    }
}

/* In its columns; what is wider ends in an ellipsis. */
static void print_cell(const text_writer *w, const node *cell, const char *text, int width, bool right, bool pad)
{
    char cut[ROOM];
    int wide = columns_of(text);
    if (wide > width) {
        int bytes = columns_fit(text, width - (w->c.ascii ? 3 : 1));
        snprintf(cut, sizeof cut, "%.*s…", bytes, text);
        text = cut;
        wide = columns_of_bytes(text, bytes) + (w->c.ascii ? 3 : 1);
    }
    columns_pad(&w->c, right ? width - wide : 0);
    if (cell)
        print_toned(w, cell, text);
    else
        columns_print(&w->c, text);
    columns_pad(&w->c, pad && !right ? width - wide : 0);
}

/* How many bytes of text go into a line: up to a space, where there is one. */
static int line_bytes(const char *text, int width)
{
    int fit = columns_fit(text, width), end = fit;
    if (!text[fit])
        return fit;
    while (end > 0 && text[end] != ' ')
        end--;
    return end > 0 ? end : fit;
}

/* The first cell, in lines as wide as its column: the row is printed beside the first of them. */
static const char *print_first(const text_writer *w, const node *cell, const char *text, int width, bool pad)
{
    char line[ROOM];
    int bytes = line_bytes(text, width);
    snprintf(line, sizeof line, "%.*s", bytes, text);
    print_cell(w, cell, line, width, false, pad);
    text += bytes;
    return text + strspn(text, " ");
}

static void print_rest(const text_writer *w, const node *cell, const char *text, int width, int indent)
{
    while (*text) {
        columns_pad(&w->c, indent);
        text = print_first(w, cell, text, width, false);
        putc('\n', w->c.to);
    }
}

static void print_row(const text_writer *w, const layout *l, const node *row, int from, int to, int indent)
{
    char room[ROOM], first[ROOM] = "";
    const char *rest = "";
    const node *head = row ? table_cell(row, l->columns.label[0]) : NULL;
    int at = indent;
    columns_pad(&w->c, indent);
    for (int i = 0; i <= to; i = from && i + 1 == l->keys && i < from ? from : i + 1) {
        const char *label = l->columns.label[i];
        const node *cell = row ? table_cell(row, label) : NULL;
        const char *text = row ? cell_text(row, label, room, sizeof room) : label;
        if (i == to && l->wraps && i == l->columns.cells - 1) {
            if (cell)
                begin_tone(w, cell->tone);
            columns_wrap(&w->c, text, at);
            if (cell)
                end_tone(w, cell->tone);
            print_rest(w, head, rest, l->width[0], indent);
            return;
        }
        if (i == 0 && !l->columns.number[0]) {
            snprintf(first, sizeof first, "%s", text);
            rest = print_first(w, cell, first, l->width[0], i < to);
        } else
            print_cell(w, cell, text, l->width[i], l->columns.number[i], i < to);
        if (i < to)
            columns_pad(&w->c, GAP);
        at += l->width[i] + GAP;
    }
    putc('\n', w->c.to);
    print_rest(w, head, rest, l->width[0], indent);
}

static pe_status print_section(text_writer *w, const node *n, int indent, pe_error *err);

/* What stands below a row: paragraphs, and sections of its own. */
static pe_status print_below(text_writer *w, const node *row, int indent, pe_error *err)
{
    char room[ROOM];
    pe_status s = PE_OK;
    for (const node *c = node_visible(row->first); c && !s; c = node_visible(c->next))
        if (node_is_section(c) && !c->folded)
            s = print_section(w, c, indent, err);
        else if (c->below && !c->wide) {
            columns_pad(&w->c, indent);
            print_wrapped(w, c, node_text(c, room, sizeof room), indent);
        }
    w->before = BLOCK_TABLE;
    return s;
}

static int last_that_fits(const layout *l, int first, int room)
{
    int last = l->columns.cells - 1;
    if (first == 0 && l->wraps)
        return last;
    int to = first;
    while (to < last && total_width(l, first, to + 1) <= room)
        to++;
    return to;
}

static pe_status print_table(text_writer *w, const node *table, int indent, pe_error *err)
{
    layout l = { .wraps = false };
    pe_status s = PE_OK;
    int margin = w->c.margin, room = w->wide - indent;
    bool named = false;
    lay_out(&l, table, room);
    for (int i = 0; i < l.columns.cells; i++)
        named = named || *l.columns.label[i];
    begin_block(w, BLOCK_TABLE, true);
    for (int from = 0, to; from < l.columns.cells; from = to + 1) {
        to = last_that_fits(&l, from, room);
        l.keys = to + 1 < l.keys ? 1 : l.keys; /* no room for two */
        w->c.margin = w->wide;
        if (from)
            putc('\n', w->c.to);
        if (named)
            print_row(w, &l, NULL, from, to, indent);
        for (const node *row = table->first; row && !s; row = row->next) {
            if (!node_is_visible(row))
                continue;
            w->c.margin = w->wide;
            print_row(w, &l, row, from, to, indent);
            w->c.margin = margin;
            if (to == l.columns.cells - 1)
                s = print_below(w, row, indent + 2 * GAP, err);
        }
    }
    w->c.margin = margin;
    return s;
}

/* ---------------------------------------------------------------- sections */

/* A section without a heading goes on in the columns of the one around it. */
static bool is_untitled(const node *n)
{
    return node_is_section(n) && n->kind != RESULT_TABLE && !(n->label && *n->label) && !n->folded;
}

/* The widest label, of those that are not too wide to stand before their texts. */
static int label_width(const node *n)
{
    int width = GAP;
    for (const node *c = node_visible(n->first); c; c = node_visible(c->next)) {
        int wide = is_untitled(c)                               ? label_width(c)
                   : node_is_section(c) || !c->label || c->wide ? 0
                                                                : columns_of(c->label);
        width = wide > width && wide <= LABEL_MAX && !c->below ? wide : width;
    }
    return width;
}

static pe_status print_values(text_writer *w, const node *n, int indent, int width, pe_error *err)
{
    pe_status s = PE_OK;
    for (const node *c = node_visible(n->first); c && !s; c = node_visible(c->next)) {
        if (c->wide)
            continue;
        if (is_untitled(c))
            s = print_values(w, c, indent, width, err);
        else if (node_is_section(c))
            s = c->folded ? PE_OK : print_section(w, c, indent, err);
        else if (c->kind == RESULT_DRAWING)
            s = print_drawing(w, c, err);
        else if (c->kind == RESULT_CODE && !*c->label)
            print_code(w, c->text ? c->text : "", indent);
        else if (*c->label)
            print_field(w, c, indent ? indent : GAP, width);
        else
            print_paragraph(w, c, indent);
    }
    return s;
}

static pe_status print_section(text_writer *w, const node *n, int indent, pe_error *err)
{
    bool titled = n->label && *n->label;
    print_heading(w, n);
    indent = titled && indent < GAP ? GAP : indent;
    return n->kind == RESULT_TABLE ? print_table(w, n, indent, err) : print_values(w, n, indent, label_width(n), err);
}

pe_status write_text(FILE *to, const node *root, const result_screen *page, pe_error *err)
{
    int margin = page->columns > 0 ? page->columns : COLUMNS_MARGIN;
    text_writer w = { .c = { to, margin, page->ascii },
                      .wide = page->wide > margin ? page->wide : margin,
                      .colour = page->colour };
    return print_values(&w, root, 0, label_width(root), err);
}

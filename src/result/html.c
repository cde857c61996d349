/* SPDX-License-Identifier: MIT
 *
 * A page of its own: no script, and nothing that is fetched. */
#include "result/tree.h"

#include "draw/html_frame.h"

enum { ROOM = 4000 };

static const char css[] =
    ".good{color:var(--ink-6);font-weight:700}.bad{color:var(--ink-5);font-weight:700}"
    ".doubt{color:var(--ink-8);font-weight:700}\n"
    ".main{display:block;font-size:1.2rem;line-height:1.5;border-left:4px solid var(--ink-4);padding:.2rem 0 .2rem "
    "1rem}\n"
    ".swatch{position:absolute;left:.6rem}.result tbody th{position:relative}"
    ".result tbody th:has(.swatch){padding-left:1.7rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;max-width:60rem;margin:.4rem 0}\n"
    "dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}\n"
    ".result td,.result th{text-align:left;white-space:normal;vertical-align:top}\n"
    ".result td.number,.result th.number{text-align:right;white-space:nowrap}\n"
    ".result td.below{border-bottom:0;padding:.1rem .6rem .1rem 2rem;max-width:60rem}\n"
    "@media (max-width:40rem){.main{font-size:1.08rem}.result th,.result td{padding:.4rem .45rem}"
    ".result tbody th{position:sticky;left:0;background:var(--paper);min-width:7.5rem;overflow-wrap:anywhere}}\n"
    "@media print{.result{font-size:.6rem}.result th,.result td{padding:.15rem .2rem}}\n";

static const char *const tone_class[] = { "", "good", "bad", "doubt", "faint", "main" };

static void put_tagged(FILE *to, const char *open, const char *text, const char *close)
{
    fputs(open, to);
    draw_escape(to, text);
    fputs(close, to);
}

static void put_dot(FILE *to, int ink)
{
    draw *d;
    if (draw_new(&d, 10, 10, NULL))
        return;
    draw_circle(d, 5, 5, 4.5, (draw_style){ .stroke = INK_NONE, .fill = ink });
    fputs("<span class=\"swatch\" aria-hidden=\"true\">", to);
    draw_svg(to, d, DRAW_INSIDE, NULL);
    fputs("</span>", to);
    draw_free(d);
}

static void put_node(FILE *to, const node *n)
{
    char room[ROOM];
    const char *text = node_text(n, room, sizeof room);
    if (n->ink)
        put_dot(to, n->ink);
    if (n->tone)
        fprintf(to, "<span class=\"%s\">", tone_class[n->tone]);
    if (n->link)
        put_tagged(to, "<a href=\"", n->link, "\">");
    put_tagged(to, n->kind == RESULT_CODE ? "<code>" : "", text, n->kind == RESULT_CODE ? "</code>" : "");
    if (n->link)
        fputs("</a>", to);
    if (n->tone)
        fputs("</span>", to);
}

static pe_status put_values(FILE *to, const node *n, int level, pe_error *err);

static pe_status put_section(FILE *to, const node *n, int level, pe_error *err);

/* Cells below a row, and its sections, each across the whole table. */
static pe_status put_below(FILE *to, const node *row, int cells, int level, pe_error *err)
{
    pe_status s = PE_OK;
    for (const node *c = node_visible(row->first); c && !s; c = node_visible(c->next)) {
        if (!c->below && !node_is_section(c))
            continue;
        fprintf(to, "<tr><td class=\"below\" colspan=\"%d\">", cells);
        if (node_is_section(c))
            s = put_section(to, c, level + 1, err);
        else
            put_node(to, c);
        fputs("</td></tr>\n", to);
    }
    return s;
}

/* The first cell of a row is its heading. */
static void put_row(FILE *to, const table_columns *t, const node *row)
{
    fputs("<tr>", to);
    for (int i = 0; i < t->cells; i++) {
        const node *cell = row ? table_cell(row, t->label[i]) : NULL;
        const char *open = !row ? "th scope=\"col\"" : i ? "td" : "th scope=\"row\"";
        fprintf(to, "<%s%s>", open, t->number[i] ? " class=\"number\"" : "");
        if (cell)
            put_node(to, cell);
        else if (!row)
            draw_escape(to, t->label[i]);
        fprintf(to, "</%.2s>", open);
    }
    fputs("</tr>\n", to);
}

static pe_status put_table(FILE *to, const node *table, int level, pe_error *err)
{
    table_columns t;
    pe_status s = PE_OK;
    table_columns_of(&t, table, true);
    const node *named = table->label && *table->label ? table : table->parent;
    put_tagged(to, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
               named->label ? named->label : "", "\"><table class=\"result\">\n<thead>");
    put_row(to, &t, NULL);
    fputs("</thead><tbody>\n", to);
    for (const node *row = node_visible(table->first); row && !s; row = node_visible(row->next)) {
        put_row(to, &t, row);
        s = put_below(to, row, t.cells, level, err);
    }
    fputs("</tbody></table></div>\n", to);
    return s;
}

static pe_status put_section(FILE *to, const node *n, int level, pe_error *err)
{
    bool titled = n->label && *n->label;
    char tag[] = "h2";
    tag[1] = (char)('0' + (level < 6 ? level : 6));
    if (n->folded)
        put_tagged(to, "<details><summary>", titled ? n->label : "...", "</summary>\n");
    else if (titled) {
        fprintf(to, "<%s>", tag);
        draw_escape(to, n->label);
        fprintf(to, "</%s>\n", tag);
    }
    pe_status s = n->kind == RESULT_TABLE ? put_table(to, n, level, err) : put_values(to, n, level + titled, err);
    if (n->folded)
        fputs("</details>\n", to);
    return s;
}

static pe_status make_drawing(draw **out, const void *with, html_frame_size size, pe_error *err)
{
    const node *n = with;
    return n->make(out, n->with, size.width, size.height, err);
}

static const node *next_drawing(const node *n)
{
    n = node_visible(n->next);
    return n && n->kind == RESULT_DRAWING ? n : NULL;
}

/* One, or several side by side; *n is the last of them afterwards. */
static pe_status put_drawings(FILE *to, const node **n, pe_error *err)
{
    pe_status s = PE_OK;
    bool several = next_drawing(*n) != NULL;
    html_frame_size wide = several ? (html_frame_size){ 520, 380 } : (html_frame_size){ 920, 460 };
    fputs(several ? "<div class=\"pair\">\n" : "", to);
    for (const node *d = *n; d && !s; d = next_drawing(d)) {
        fputs("<figure>\n", to);
        s = html_frame_picture(to, make_drawing, d, wide, (html_frame_size){ 380, 400 }, err);
        fputs("</figure>\n", to);
        *n = d;
    }
    fputs(several ? "</div>\n" : "", to);
    return s;
}

/* Fields in a row are one list. */
static const node *put_fields(FILE *to, const node *n)
{
    fputs("<dl>\n", to);
    for (; n && !node_is_section(n) && n->kind != RESULT_DRAWING && *n->label; n = node_visible(n->next)) {
        put_tagged(to, "<dt>", n->label, "</dt><dd>");
        put_node(to, n);
        fputs("</dd>\n", to);
    }
    fputs("</dl>\n", to);
    return n;
}

static pe_status put_values(FILE *to, const node *n, int level, pe_error *err)
{
    pe_status s = PE_OK;
    for (const node *c = node_visible(n->first); c && !s;) {
        if (node_is_section(c))
            s = put_section(to, c, level, err);
        else if (c->kind == RESULT_DRAWING)
            s = put_drawings(to, &c, err);
        else if (c->kind == RESULT_CODE && !*c->label)
            put_tagged(to, "<pre>", c->text ? c->text : "", "</pre>\n");
        else if (*c->label) {
            c = put_fields(to, c);
            continue;
        } else {
            fputs("<p>", to);
            put_node(to, c);
            fputs("</p>\n", to);
        }
        c = node_visible(c->next);
    }
    return s;
}

pe_status write_html(FILE *to, const node *root, pe_error *err)
{
    const char *title = root->label ? root->label : "posenc";
    html_frame_begin(to, &(html_frame_head){ .title = title, .css = css, .language = (language)root->integer });
    pe_status s = put_values(to, root, 2, err);
    html_frame_end(to);
    return s;
}

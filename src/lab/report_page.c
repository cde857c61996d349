/* SPDX-License-Identifier: MIT
 *
 * report.html. No script, and nothing that is fetched: the page's own policy forbids it. */
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- pieces */

void html_text(const report *p, const char *text)
{
    draw_escape(p->to, text);
}

const char *report_noun(const report *p)
{
    return lab_is_eval(&p->r->setup) ? "method" : "encoding";
}

void html_swatch(const report *p, int entry)
{
    draw *d;
    if (draw_new(&d, 10, 10, NULL))
        return;
    draw_circle(d, 5, 5, 4.5, (draw_style){ .line = INK_NONE, .fill = report_ink(entry) });
    fputs("<span class=\"swatch\" aria-hidden=\"true\">", p->to);
    draw_svg(p->to, d, DRAW_INSIDE, NULL);
    fputs("</span>", p->to);
    draw_free(d);
}

void html_entry(const report *p, int entry)
{
    fputs("<th scope=\"row\" class=\"dot\">", p->to);
    html_swatch(p, entry);
    for (const char *s = p->r->setup.entry[entry].name; *s;) { /* may break after these, where it has to */
        char part[sizeof p->r->setup.entry[entry].name];
        size_t n = strcspn(s, ":,+");
        n += s[n] != 0;
        snprintf(part, sizeof part, "%.*s", (int)n, s); /* fits: the member's size */
        html_text(p, part);
        s += n;
        fputs(*s ? "<wbr>" : "", p->to);
    }
    fputs("</th>", p->to);
}

void html_table(const report *p, const char *caption)
{
    page_table(p->to, caption, "wide");
}

void html_time(const report *p, double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        fputs("-", p->to);
    else if (seconds < 90)
        fprintf(p->to, "%.*f s", seconds < 10 ? 1 : 0, seconds);
    else if (seconds < 5400)
        fprintf(p->to, "%.0f min", seconds / 60);
    else
        fprintf(p->to, "%.1f h", seconds / 3600);
}

/* ---------------------------------------------------------------- the page */

static void put_head(const report *p)
{
    const lab_setup *s = &p->r->setup;
    char title[sizeof s->model + 200];
    if (lab_is_eval(s))
        snprintf(title, sizeof title, "%s past its trained length of %" PRId64, s->model, s->train_length);
    else
        snprintf(title, sizeof title, "The race: %d encoding%s trained at %" PRId64 ", tested at up to %" PRId64,
                 s->entries, s->entries == 1 ? "" : "s", s->train_length, s->tests ? s->test[s->tests - 1] : 0);
    page_begin(p->to, &(page_head){ .title = title, .css = report_css });
}

/* The settings in a line, below the finding. */
static void put_settings(const report *p)
{
    const lab_setup *s = &p->r->setup;
    fputs("<p class=\"faint\">", p->to);
    if (!lab_is_eval(s))
        fprintf(p->to,
                "%" PRId64 " layer%s × %" PRId64 ", %" PRId64 " step%s of %" PRId64 " × %" PRId64
                " tokens, %d seed%s, on ",
                s->layers, s->layers == 1 ? "" : "s", s->width, s->steps, s->steps == 1 ? "" : "s", s->batch,
                s->train_length, s->seeds, s->seeds == 1 ? "" : "s");
    else
        fputs("On ", p->to);
    html_text(p, s->data);
    fputs(". Made by posenc ", p->to);
    html_text(p, s->version);
    fputs(", ", p->to);
    html_text(p, s->date);
    fputs(".</p>\n", p->to);
}

static void put_finding(const report *p)
{
    char text[2000];
    lab_finding(text, sizeof text, p->r);
    fputs("<p class=\"finding\">", p->to);
    html_text(p, text[0] ? text : "Nothing has been measured yet.");
    fputs("</p>\n", p->to);
    if (p->r->setup.note[0]) {
        fputs("<p>", p->to);
        html_text(p, p->r->setup.note);
        fputs("</p>\n", p->to);
    }
    put_settings(p);
}

typedef struct drawing {
    const report *p;
    const figure *f;
} drawing;

static pe_status draw_size(draw **out, const void *with, page_size size, pe_error *err)
{
    const drawing *d = with;
    return report_draw(out, d->f, d->p, size.width, size.height, err);
}

static pe_status put_figure(const report *p, const figure *f, pe_error *err)
{
    bool empty;
    pe_status s = report_is_empty(&empty, f, p, err);
    if (s || empty)
        return s;
    fprintf(p->to, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n<p>%s</p>\n<figure>\n", f->id, f->id,
            f->heading, f->words[lab_is_eval(&p->r->setup)]);
    s = page_picture(p->to, draw_size, &(drawing){ p, f }, (page_size){ 920, 460 }, (page_size){ 380, 400 }, err);
    fputs("</figure>\n</section>\n", p->to);
    return s;
}

pe_status report_page(const report *p, pe_error *err)
{
    put_head(p);
    put_finding(p);
    pe_status s = put_figure(p, &report_figures[0], err);
    if (s)
        return s;
    report_ranked(p);
    for (int i = 1; i < REPORT_FIGURES && !s; i++)
        s = put_figure(p, &report_figures[i], err);
    if (s)
        return s;
    report_fit(p);
    s = report_published(p, err);
    report_made(p);
    page_end(p->to);
    return s;
}

/* SPDX-License-Identifier: MIT
 *
 * report.html. No script, and nothing that is fetched: the page's own policy forbids it. */
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char css[] =
    "*{box-sizing:border-box}\n"
    "html{color-scheme:light dark;-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--paper);color:var(--text);"
    "font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",sans-serif}\n"
    "main{max-width:76rem;margin:0 auto;padding:2rem 1.25rem 4rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .75rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.2rem;line-height:1.3;margin:3rem 0 .4rem}\n"
    "p{max-width:44rem;margin:.4rem 0 .9rem}\n"
    ".finding{font-size:1.2rem;line-height:1.5;border-left:4px solid var(--ink-4);padding:.2rem 0 .2rem 1rem;"
    "margin:1rem 0 1.2rem;max-width:50rem}\n"
    ".faint,.faint td{color:var(--faint)}\n"
    ".caption{font-size:.9rem;margin:.8rem 0 0}\n"
    "figure{margin:.8rem 0 0;max-width:64rem}\n"
    "figure svg{display:block;width:100%;height:auto;overflow:visible}\n"
    ".pair{max-width:64rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem}\n"
    ".scroll{overflow-x:auto;margin:.8rem 0;-webkit-overflow-scrolling:touch}\n"
    ".scroll:focus-visible{outline:2px solid var(--ink-4);outline-offset:2px}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.4rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}\n"
    "thead th{font-weight:600;color:var(--faint);vertical-align:bottom}\n"
    "tbody th{text-align:left;font-weight:600}\n"
    ".dot{position:relative;padding-left:1.7rem}\n"
    ".swatch{position:absolute;left:.6rem}\n"
    "table.plain th,table.plain td{text-align:left;white-space:normal;vertical-align:top}\n"
    "table.plain tbody th{white-space:nowrap;font-weight:400;color:var(--faint);width:1%}\n"
    "td.best{font-weight:700}\n"
    "sup{line-height:0}\n"
    "tbody tr:hover{background:color-mix(in srgb,var(--ink-4) 7%,transparent)}\n"
    ".spread,.unit{color:var(--faint);font-size:.85em}\n"
    ".narrow{display:none}\n"
    "code,pre{font:.86em/1.5 ui-monospace,SFMono-Regular,Menlo,\"Liberation Mono\",monospace}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:color-mix(in srgb,var(--text) 5%,transparent);"
    "padding:.8rem 1rem;border-radius:6px;margin:.6rem 0}\n"
    "td code{overflow-wrap:anywhere}\n"
    "a{color:inherit}\n"
    "details>summary{cursor:pointer;margin:.8rem 0}\n"
    "ol.notes{padding-left:1.4rem;font-size:.9rem;color:var(--faint);max-width:50rem}\n"
    "@media (max-width:40rem){main{padding:1.2rem 1rem 3rem}h1{font-size:1.35rem}.finding{font-size:1.08rem}"
    ".narrow{display:block}.broad{display:none}.wide th,.wide td{padding:.4rem .45rem}"
    ".wide tbody th{position:sticky;left:0;background:var(--paper);min-width:7.5rem;padding-left:1.5rem;"
    "white-space:normal;overflow-wrap:anywhere}.wide .swatch{left:.3rem}}\n"
    "@media print{main{max-width:none;padding:0}.scroll,figure{overflow:visible;break-inside:avoid}"
    "table{font-size:.7rem}th,td{padding:.2rem .3rem}h2{break-after:avoid}}\n";

/* ---------------------------------------------------------------- pieces */

void html_text(const report *p, const char *text)
{
    draw_escape(p->to, text);
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
        size_t n = strcspn(s, ":,=+");
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
    fputs("<p class=\"faint caption\">", p->to);
    html_text(p, caption);
    fputs("</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", p->to);
    html_text(p, caption);
    fputs("\"><table class=\"wide\">\n", p->to);
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

static void put_title(const report *p)
{
    const lab_setup *s = &p->r->setup;
    if (lab_is_eval(s)) {
        html_text(p, s->model);
        fprintf(p->to, " past its trained length of %" PRId64, s->train_length);
    } else
        fprintf(p->to, "The race: %d encoding%s trained at %" PRId64 ", tested at up to %" PRId64, s->entries,
                s->entries == 1 ? "" : "s", s->train_length, s->tests ? s->test[s->tests - 1] : 0);
}

static void put_head(const report *p)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          p->to);
    put_title(p);
    fputs("</title>\n<style>\n", p->to);
    draw_css(p->to);
    fputs(css, p->to);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", p->to);
    put_title(p);
    fputs("</h1>\n", p->to);
}

/* The settings in a line, below the finding. */
static void put_settings(const report *p)
{
    const lab_setup *s = &p->r->setup;
    fputs("<p class=\"faint\">", p->to);
    if (!lab_is_eval(s))
        fprintf(p->to,
                "%" PRId64 " layers × %" PRId64 ", %" PRId64 " steps of %" PRId64 " × %" PRId64
                " tokens, %d seed%s, on ",
                s->layers, s->width, s->steps, s->batch, s->train_length, s->seeds, s->seeds == 1 ? "" : "s");
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

/* Drawn twice: letters of a picture that is made smaller for a phone could not be read. */
static pe_status put_picture(const report *p, const figure *f, const char *class, double width, double height,
                             pe_error *err)
{
    draw *d;
    pe_status s = report_draw(&d, f, p, width, height, err);
    if (s || !d)
        return s;
    fprintf(p->to, "<figure class=\"%s\">\n", class);
    s = draw_svg(p->to, d, DRAW_INSIDE, err);
    fputs("</figure>\n", p->to);
    draw_free(d);
    return s;
}

static pe_status put_figure(const report *p, const figure *f, pe_error *err)
{
    bool empty;
    pe_status s = report_is_empty(&empty, f, p, err);
    if (s || empty)
        return s;
    fprintf(p->to, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n<p>%s</p>\n", f->id, f->id, f->heading,
            f->words);
    s = put_picture(p, f, "broad", 920, 460, err);
    if (!s)
        s = put_picture(p, f, "narrow", 380, 400, err);
    fputs("</section>\n", p->to);
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
    fputs("</main>\n</body>\n</html>\n", p->to);
    return s;
}

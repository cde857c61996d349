/* SPDX-License-Identifier: MIT
 *
 * The ranked table, and one of what else there is of each. */
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>

/* Why not: the first reason of each entry; cells point to it by number. */
typedef struct notes {
    const char *why[LAB_ENTRIES_MAX];
    int entry[LAB_ENTRIES_MAX];
    int count;
} notes;

static int note_of(notes *n, int entry, const char *why)
{
    if (!n->count || n->entry[n->count - 1] != entry) { /* rows come one after the other */
        n->why[n->count] = why;
        n->entry[n->count++] = entry;
    }
    return n->count;
}

static void put_notes(const report *p, const notes *n)
{
    if (!n->count)
        return;
    fputs("<ol class=\"notes\">\n", p->to);
    for (int i = 0; i < n->count; i++) {
        fprintf(p->to, "<li id=\"why-%d\">", i + 1);
        html_text(p, n->why[i]);
        fputs("</li>\n", p->to);
    }
    fputs("</ol>\n", p->to);
}

/* ---------------------------------------------------------------- cells */

static void put_value(const report *p, int entry, lab_summary s, bool best, notes *n)
{
    char value[LAB_VALUE_ROOM], spread[LAB_VALUE_ROOM];
    if (s.seeds) {
        fprintf(p->to, "<td%s>%s", best ? " class=\"best\"" : "", lab_value(value, &p->r->setup, s.mean));
        if (s.seeds < s.of)
            fprintf(p->to, "<span title=\"%d of %d seeds\">*</span>", s.seeds, s.of);
        if (s.seeds > 1)
            fprintf(p->to, " <span class=\"spread\">± %s</span>", lab_value(spread, &p->r->setup, s.spread));
        fputs("</td>", p->to);
    } else if (s.cannot) {
        int note = note_of(n, entry, s.cannot);
        fputs("<td title=\"", p->to);
        html_text(p, s.cannot);
        fprintf(p->to, "\">cannot<sup><a href=\"#why-%d\">%d</a></sup></td>", note, note);
    } else
        fputs("<td class=\"faint\">-</td>", p->to);
}

static void put_percent(const report *p, int entry, lab_measure what)
{
    lab_summary s = lab_summarise(p->r, entry, p->last, what);
    if (!s.seeds)
        fputs("<td class=\"faint\">-</td>", p->to);
    else if (s.seeds == 1)
        fprintf(p->to, "<td>%.1f %%</td>", 100 * s.mean);
    else
        fprintf(p->to, "<td>%.1f <span class=\"spread\">± %.1f</span> %%</td>", 100 * s.mean, 100 * s.spread);
}

static const char *count_text(char out[24], double x)
{
    if (x >= 1e6)
        snprintf(out, 24, "%.2f M", fmin(x, 1e15) / 1e6);
    else if (x >= 1e4)
        snprintf(out, 24, "%.0f k", x / 1e3);
    else
        snprintf(out, 24, "%.0f", x);
    return out;
}

static void put_run(const report *p, int entry)
{
    char text[24];
    report_runs runs = report_runs_of(p, entry);
    if (!runs.runs) {
        fputs("<td class=\"faint\">-</td><td class=\"faint\">-</td><td class=\"faint\">-</td>", p->to);
        return;
    }
    fprintf(p->to, "<td>%s", count_text(text, runs.params));
    if (runs.position_params > 0)
        fprintf(p->to, " <span class=\"spread\">%s positions</span>", count_text(text, runs.position_params));
    fprintf(p->to, "</td><td>%s</td><td>", count_text(text, runs.speed));
    html_time(p, runs.seconds);
    fputs(runs.finished ? "</td>" : " <span class=\"spread\">stopped early</span></td>", p->to);
}

/* Whether it is told apart from the best. */
static void put_verdict(const report *p, int entry)
{
    char value[LAB_VALUE_ROOM];
    lab_difference d = lab_compare(p->r, entry, p->order[0], p->last, lab_shown(&p->r->setup));
    if (entry == p->order[0] && lab_has_rank(p->r, entry) && p->r->setup.entries > 1)
        fputs("<td>best</td>", p->to);
    else if (!isfinite(d.difference))
        fputs("<td class=\"faint\">-</td>", p->to);
    else if (isnan(d.p))
        fprintf(p->to, "<td>+%s%s</td>", lab_value(value, &p->r->setup, d.difference),
                lab_is_eval(&p->r->setup) ? "" : " <span class=\"spread\">one seed</span>");
    else
        fprintf(p->to, "<td%s>+%s <span class=\"spread\">%sp %s%.*f</span></td>", d.larger ? "" : " class=\"faint\"",
                lab_value(value, &p->r->setup, d.difference), d.larger ? "" : "≈ ", d.p < 0.001 ? "&lt; " : "",
                d.p < 0.001 ? 3 : 2, fmax(d.p, 0.001));
}

/* ---------------------------------------------------------------- rows */

static bool is_best(const report *p, int entry, int64_t length)
{
    double mine = report_value(p, entry, length).mean;
    for (int e = 0; e < p->r->setup.entries; e++)
        if (report_value(p, e, length).mean < mine)
            return false;
    return isfinite(mine);
}

static bool any_recall(const report *p)
{
    for (int e = 0; e < p->r->setup.entries; e++)
        if (lab_summarise(p->r, e, p->last, LAB_RECALL).seeds)
            return true;
    return false;
}

static void put_heads(const report *p)
{
    const lab_setup *s = &p->r->setup;
    fprintf(p->to, "<thead><tr><th scope=\"col\">#</th><th scope=\"col\" style=\"text-align:left\">%s</th>",
            report_noun(p));
    for (int i = 0; i < s->tests; i++)
        fprintf(p->to, "<th scope=\"col\">%" PRId64 "%s</th>", s->test[i],
                s->test[i] == s->train_length ? "<br><span class=\"unit\">trained</span>" : "");
    if (p->last)
        fprintf(p->to,
                "<th scope=\"col\">last quarter<br><span class=\"unit\">of %" PRId64
                "</span></th><th scope=\"col\">from the best<br><span class=\"unit\">at %" PRId64 "</span></th>",
                p->last, p->last);
    fputs("</tr></thead>\n<tbody>\n", p->to);
}

static void put_row(const report *p, int rank, notes *n)
{
    const lab_setup *s = &p->r->setup;
    int entry = p->order[rank];
    if (lab_has_rank(p->r, entry))
        fprintf(p->to, "<tr><td class=\"faint\">%d</td>", rank + 1);
    else
        fputs("<tr><td class=\"faint\">-</td>", p->to);
    html_entry(p, entry);
    for (int i = 0; i < s->tests; i++)
        put_value(p, entry, report_value(p, entry, s->test[i]), is_best(p, entry, s->test[i]), n);
    if (p->last) {
        put_value(p, entry, lab_summarise(p->r, entry, p->last, lab_shown_last(s)), false, n);
        put_verdict(p, entry);
    }
    fputs("</tr>\n", p->to);
}

/* ---------------------------------------------------------------- what else there is */

static void put_more_heads(const report *p, bool recall)
{
    fprintf(p->to, "<thead><tr><th scope=\"col\" style=\"text-align:left\">%s</th>", report_noun(p));
    if (recall)
        fprintf(p->to, "<th scope=\"col\">recall<br><span class=\"unit\">at %" PRId64 "</span></th>", p->last);
    fprintf(p->to, "<th scope=\"col\">accuracy<br><span class=\"unit\">at %" PRId64 "</span></th>", p->last);
    if (p->r->runs)
        fputs("<th scope=\"col\">parameters</th><th scope=\"col\">tokens/s</th><th scope=\"col\">training</th>", p->to);
    fputs("</tr></thead>\n<tbody>\n", p->to);
}

static void put_more_row(const report *p, int entry, bool recall)
{
    fputs("<tr>", p->to);
    html_entry(p, entry);
    if (recall)
        put_percent(p, entry, LAB_RECALL);
    put_percent(p, entry, LAB_ACCURACY);
    if (p->r->runs)
        put_run(p, entry);
    fputs("</tr>\n", p->to);
}

static void put_more(const report *p)
{
    bool recall = any_recall(p);
    html_table(p, recall ? "What was recalled and right, and what it cost" : "What was right, and what it cost");
    put_more_heads(p, recall);
    for (int i = 0; i < p->r->setup.entries; i++)
        put_more_row(p, p->order[i], recall);
    fputs("</tbody></table></div>\n", p->to);
}

static bool any_fewer(const report *p)
{
    for (int e = 0; e < p->r->setup.entries; e++)
        for (int i = 0; i < p->r->setup.tests; i++) {
            lab_summary s = report_value(p, e, p->r->setup.test[i]);
            if (s.seeds && s.seeds < s.of)
                return true;
        }
    return false;
}

/* "Bits per byte at each length, best at 4096 first; lower is better; ..." */
static void print_caption(char *out, size_t cap, const report *p)
{
    const lab_setup *s = &p->r->setup;
    char first[60] = "";
    if (p->last)
        snprintf(first, sizeof first, ", best at %" PRId64 " first", p->last);
    snprintf(out, cap, "%s at each length%s; lower is better%s%s", lab_unit(s), first,
             s->seeds > 1 ? "; ± is the deviation of the seeds" : "",
             any_fewer(p) ? "; * a mean of fewer seeds than were asked for" : "");
    out[0] = (char)(out[0] - 'a' + 'A');
}

void report_ranked(const report *p)
{
    notes n = { .count = 0 };
    char caption[240];
    print_caption(caption, sizeof caption, p);
    fputs("<section aria-labelledby=\"table\">\n<h2 id=\"table\">Ranked</h2>\n", p->to);
    html_table(p, caption);
    put_heads(p);
    for (int i = 0; i < p->r->setup.entries; i++)
        put_row(p, i, &n);
    fputs("</tbody></table></div>\n", p->to);
    put_notes(p, &n);
    if (p->r->setup.seeds > 1 && p->last)
        fputs("<p class=\"faint caption\">From the best: larger than the seeds&#39; differences unless marked ≈ "
              "(Welch&#39;s t, two-sided p of 0.05, one comparison at a time).</p>\n",
              p->to);
    if (p->last)
        put_more(p);
    fputs("</section>\n", p->to);
}

/* SPDX-License-Identifier: MIT
 *
 * Overfitting: what was trained on against what was not, at the trained length. */
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>

static void put_words(const report *p)
{
    const lab_setup *s = &p->r->setup;
    if (s->data_size > 0)
        fprintf(
            p->to,
            "<p>The text to train on has %.2f million bytes. A test loss far above the training loss at the trained "
            "length is text learned by heart.</p>\n",
            (double)s->data_size / 1e6);
    else
        fputs("<p>The data is endless: nothing is seen twice, and nothing can be learned by heart.</p>\n", p->to);
}

static void put_row(const report *p, int entry)
{
    const lab_setup *s = &p->r->setup;
    report_runs runs = report_runs_of(p, entry);
    double train = runs.final_loss / log(2), test = lab_summarise(p->r, entry, p->first, LAB_BITS).mean;
    if (!runs.runs || !isfinite(train) || !isfinite(test))
        return;
    fputs("<tr>", p->to);
    html_entry(p, entry);
    fprintf(p->to, "<td>%.2f</td><td>%.2f</td><td>%+.2f</td>", train, test, test - train);
    if (s->data_size > 0)
        fprintf(p->to, "<td>%.2f</td>", runs.tokens / (double)s->data_size);
    fputs("</tr>\n", p->to);
}

/* Entries that use others' weights have no training of their own. */
static bool was_trained(const report *p, int entry)
{
    for (int i = 0; i < p->r->runs; i++)
        if (p->r->run[i].entry == entry)
            return true;
    return false;
}

void report_fit(const report *p)
{
    const lab_setup *s = &p->r->setup;
    char caption[120];
    const char *unit = lab_unit(s);
    if (!p->r->runs || !p->first)
        return;
    fputs("<section aria-labelledby=\"fit\">\n<h2 id=\"fit\">Overfitting</h2>\n", p->to);
    put_words(p);
    snprintf(caption, sizeof caption, "%c%s at %" PRId64 ", mean of the seeds", unit[0] - 'a' + 'A', unit + 1,
             p->first);
    html_table(p, caption);
    fputs("<thead><tr><th scope=\"col\" style=\"text-align:left\">encoding</th><th scope=\"col\">training<br><span "
          "class=\"unit\">last twentieth</span></th><th scope=\"col\">test</th><th scope=\"col\">gap</th>",
          p->to);
    if (s->data_size > 0)
        fputs("<th scope=\"col\">times read</th>", p->to);
    fputs("</tr></thead>\n<tbody>\n", p->to);
    for (int i = 0; i < s->entries; i++)
        if (was_trained(p, p->order[i]))
            put_row(p, p->order[i]);
    fputs("</tbody></table></div>\n</section>\n", p->to);
}

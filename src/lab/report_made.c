/* SPDX-License-Identifier: MIT
 *
 * How it was made: enough to make it again. */
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void open_row(const report *p, const char *label)
{
    fprintf(p->to, "<tr><th scope=\"row\">%s</th><td>", label);
}

static void close_row(const report *p)
{
    fputs("</td></tr>\n", p->to);
}

static void put_text(const report *p, const char *label, const char *text)
{
    if (!text[0])
        return;
    open_row(p, label);
    html_text(p, text);
    close_row(p);
}

static void put_real(const report *p, const char *before, double x)
{
    char number[40] = "-";
    if (isfinite(x))
        io_print_real(number, sizeof number, x);
    fprintf(p->to, "%s%s", before, number);
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void put_model(const report *p)
{
    const lab_setup *s = &p->r->setup;
    put_text(p, "model file", s->model);
    open_row(p, "model");
    fprintf(p->to,
            "%" PRId64 " layer%s × %" PRId64 ", %" PRId64 " head%s, %" PRId64 " key head%s, hidden %" PRId64
            ", vocabulary %" PRId64 ", %s",
            s->layers, plural(s->layers), s->width, s->heads, plural(s->heads), s->kv_heads, plural(s->kv_heads),
            s->hidden, s->vocab, s->causal ? "causal" : "both directions, masked tokens");
    close_row(p);
}

static void put_schedule(const report *p)
{
    const lab_setup *s = &p->r->setup;
    if (lab_is_eval(s))
        return;
    open_row(p, "schedule");
    fprintf(p->to,
            "%" PRId64 " step%s of %" PRId64 " × %" PRId64 " tokens, %" PRId64 " of warm-up, cosine to a tenth; AdamW",
            s->steps, plural(s->steps), s->batch, s->train_length, s->warmup);
    put_real(p, ", rate ", s->rate);
    put_real(p, ", decay ", s->decay);
    put_real(p, ", clip ", s->clip);
    close_row(p);
    open_row(p, "calibration");
    if (s->minutes > 0)
        put_real(p, "asked for minutes: ", s->minutes);
    else
        fputs("steps were asked for", p->to);
    if (s->calibration[0])
        fputs("; ", p->to);
    html_text(p, s->calibration);
    close_row(p);
}

static void put_tests(const report *p)
{
    const lab_setup *s = &p->r->setup;
    open_row(p, "tests");
    fprintf(p->to, "%s%" PRId64 " tokens of each length:", lab_is_eval(s) ? "at most " : "", s->test_tokens);
    for (int i = 0; i < s->tests; i++)
        fprintf(p->to, "%s %" PRId64, i ? "," : "", s->test[i]);
    close_row(p);
    if (lab_is_eval(s))
        return;
    open_row(p, "seeds");
    for (int i = 0; i < s->seeds; i++)
        fprintf(p->to, "%s%" PRIu64, i ? ", " : "", s->seed[i]);
    close_row(p);
}

static void put_facts(const report *p)
{
    const lab_setup *s = &p->r->setup;
    fputs("<h3 class=\"faint\" style=\"font-size:1rem;margin:.8rem 0 0\">Command</h3>\n<pre>", p->to);
    for (const char *c = s->command, *end; *c; c = *end ? end + 1 : end) { /* several folders: a line each */
        char line[sizeof s->command];
        end = c + strcspn(c, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(end - c), c); /* fits: the member's size */
        html_text(p, line);
        putc('\n', p->to);
    }
    fputs("</pre>\n<table class=\"plain\"><tbody>\n", p->to);
    put_text(p, "posenc", s->version);
    put_text(p, "date", s->date);
    put_text(p, "CPU", s->cpu);
    put_text(p, "kernels", s->kernels);
    put_text(p, "BLAS", s->blas);
    open_row(p, "threads");
    fprintf(p->to, "%d", s->threads);
    close_row(p);
    put_text(p, "data", s->data);
    open_row(p, "fingerprint");
    fprintf(p->to, "<code>%016" PRIx64 "</code>", s->data_fingerprint);
    close_row(p);
    put_model(p);
    put_schedule(p);
    put_tests(p);
    fputs("</tbody></table>\n", p->to);
}

/* ---------------------------------------------------------------- specs */

/* The exact spec of an entry at a length, of any seed; NULL: not tested. */
static const char *spec_at(const report *p, int entry, int64_t length)
{
    for (int i = 0; i < p->r->tests; i++)
        if (p->r->test[i].entry == entry && p->r->test[i].length == length && p->r->test[i].spec[0])
            return p->r->test[i].spec;
    return NULL;
}

static void put_code(const report *p, const char *text)
{
    fputs("<code>", p->to);
    html_text(p, text);
    fputs("</code>", p->to);
}

/* A line for each spec, with the lengths that it was used at. */
static void put_entry(const report *p, int entry)
{
    const lab_setup *s = &p->r->setup;
    const char *before = NULL;
    fputs("<tr>", p->to);
    html_entry(p, entry);
    fputs("<td>", p->to);
    put_code(p, s->entry[entry].trained);
    fputs("</td><td>", p->to);
    for (int i = 0; i < s->tests; i++) {
        const char *spec = spec_at(p, entry, s->test[i]);
        if (!spec || (before && !strcmp(before, spec)))
            continue;
        fprintf(p->to, "%s%s %" PRId64 ": ", before ? "<br>" : "", before ? "from" : "at", s->test[i]);
        put_code(p, spec);
        before = spec;
    }
    fputs("</td></tr>\n", p->to);
}

void report_made(const report *p)
{
    const lab_setup *s = &p->r->setup;
    fputs("<section aria-labelledby=\"made\">\n<h2 id=\"made\">How it was made</h2>\n", p->to);
    put_facts(p);
    fputs("<details><summary>The exact specs</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"The exact specs\"><table class=\"plain\"><thead><tr><th scope=\"col\">entry</th><th "
          "scope=\"col\">trained as</th><th scope=\"col\">tested as</th></tr></thead>\n<tbody>\n",
          p->to);
    for (int i = 0; i < s->entries; i++)
        put_entry(p, p->order[i]);
    fputs("</tbody></table></div>\n</details>\n<p class=\"faint\">The numbers: results.csv, a line per test, and "
          "results.jsonl, all there is, beside this file.</p>\n</section>\n",
          p->to);
}

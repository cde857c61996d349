/* SPDX-License-Identifier: MIT
 *
 * What a report says: results as one tree, for the terminal, JSON and HTML. Its statistics are
 * computed in statistics.c and finding.c. */
#include "lab/report.h"

#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

lab_summary report_value(const report *p, int entry, int64_t length)
{
    return lab_summarise(p->r, entry, length, lab_shown(&p->r->setup));
}

report report_of(const lab_results *r)
{
    report p = { .r = r };
    lab_rank(p.order, r);
    lab_tested(r, &p.first, &p.last);
    return p;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* A table below a caption. */
static PRINTF(3, 4) void open_table(result *out, const char *name, const char *format, ...)
{
    char caption[300];
    va_list list;
    va_start(list, format);
    vsnprintf(caption, sizeof caption, format, list);
    va_end(list);
    result_text(out, NULL, "", caption);
    result_tone_is(out, RESULT_FAINT);
    result_open(out, RESULT_TABLE, name, "");
}

/* A cell with an entry's name, behind a dot in its colour. */
static void add_name(result *out, const report *p, int entry)
{
    result_text(out, "name", lab_is_eval(&p->r->setup) ? "method" : "encoding", p->r->setup.entry[entry].name);
    result_ink(out, report_ink(entry));
}

/* ---------------------------------------------------------------- one value */

/* "2.12* ± 0.01"; "cannot"; "-" */
static void add_value(result *out, const report *p, const char *label, lab_summary s)
{
    char mean[LAB_VALUE_ROOM], spread[LAB_VALUE_ROOM];
    const char *mark = s.seeds < s.of ? "*" : "";
    result_real(out, NULL, label, s.mean);
    if (s.seeds > 1)
        result_shown(out, "%s%s ± %s", lab_value(mean, &p->r->setup, s.mean), mark,
                     lab_value(spread, &p->r->setup, s.spread));
    else if (s.seeds)
        result_shown(out, "%s%s", lab_value(mean, &p->r->setup, s.mean), mark);
    else {
        result_shown(out, "%s", s.cannot ? "cannot" : "-");
        result_tone_is(out, RESULT_FAINT);
    }
}

static bool is_best(const report *p, int entry, int64_t length)
{
    double mine = report_value(p, entry, length).mean;
    for (int e = 0; e < p->r->setup.entries; e++)
        if (report_value(p, e, length).mean < mine)
            return false;
    return isfinite(mine) && p->r->setup.entries > 1;
}

/* A column for each length. */
static void add_values(result *out, const report *p, int entry, lab_measure what)
{
    const lab_setup *s = &p->r->setup;
    char label[24];
    for (int i = 0; i < s->tests; i++) {
        snprintf(label, sizeof label, "%" PRId64, s->test[i]);
        add_value(out, p, label, lab_summarise(p->r, entry, s->test[i], what));
        if (what == lab_shown(s) && is_best(p, entry, s->test[i]))
            result_tone_is(out, RESULT_GOOD);
    }
}

/* How far from the best it is at the longest length; "~" where that is no more than the seeds differ. */
static void add_difference(result *out, const report *p, int entry)
{
    char value[LAB_VALUE_ROOM];
    const lab_setup *s = &p->r->setup;
    lab_difference d = lab_compare(p->r, entry, p->order[0], p->last, lab_shown(s));
    bool alike = entry != p->order[0] && !isnan(d.p) && !d.larger;
    result_real(out, NULL, "from the best", d.difference);
    if (entry == p->order[0] && lab_has_rank(p->r, entry))
        result_shown(out, "best");
    else if (!isfinite(d.difference))
        result_shown(out, "-");
    else if (isnan(d.p))
        result_shown(out, "+%s%s", lab_value(value, s, d.difference), lab_is_eval(s) ? "" : " (one seed)");
    else
        result_shown(out, "%s+%s (p %s%.*f)", alike ? "~ " : "", lab_value(value, s, d.difference),
                     d.p < 0.001 ? "< " : "", d.p < 0.001 ? 3 : 2, fmax(d.p, 0.001));
    if (alike)
        result_tone_is(out, RESULT_FAINT);
}

/* ---------------------------------------------------------------- a row's data, for programs */

static const struct {
    const char *name;
    lab_measure what;
} measures[] = {
    { "bits", LAB_BITS },
    { "last_quarter", LAB_LAST_QUARTER },
    { "perplexity", LAB_PERPLEXITY },
    { "last_quarter_perplexity", LAB_LAST_PERPLEXITY },
    { "recall", LAB_RECALL },
    { "accuracy", LAB_ACCURACY },
};

static void add_measure(result *out, const char *name, lab_summary s)
{
    if (!s.seeds)
        return;
    result_open(out, RESULT_RECORD, name, NULL);
    result_real(out, "mean", NULL, s.mean);
    if (s.seeds > 1)
        result_real(out, "spread", NULL, s.spread);
    result_close(out);
}

static void add_data(result *out, const lab_results *r, int entry)
{
    const lab_entry *e = &r->setup.entry[entry];
    result_text(out, "spec", NULL, e->spec);
    result_text(out, "trained", NULL, e->trained);
    if (e->dropped)
        result_int(out, "dropped", NULL, e->dropped);
    result_flag(out, "learned", NULL, lab_learned(r, entry));
    result_open(out, RESULT_LIST, "tensors", NULL);
    for (int i = 0; i < e->tensors; i++) {
        result_open(out, RESULT_RECORD, NULL, NULL);
        result_text(out, "name", NULL, e->tensor[i].name);
        result_real(out, "rate", NULL, e->tensor[i].rate);
        result_real(out, "decay", NULL, e->tensor[i].decay);
        result_close(out);
    }
    result_close(out);
    result_open(out, RESULT_LIST, "tests", NULL);
    for (int i = 0; i < r->setup.tests; i++) {
        lab_summary s = lab_summarise(r, entry, r->setup.test[i], LAB_BITS);
        result_open(out, RESULT_RECORD, NULL, NULL);
        result_int(out, "length", NULL, r->setup.test[i]);
        result_int(out, "seeds", NULL, s.seeds);
        result_int(out, "seeds_asked", NULL, s.of);
        if (!s.seeds)
            result_text(out, "cannot", NULL, s.cannot); /* null: not tested yet */
        for (int m = 0; m < COUNT(measures); m++)
            add_measure(out, measures[m].name, lab_summarise(r, entry, r->setup.test[i], measures[m].what));
        result_close(out);
    }
    result_close(out);
}

static void add_trainings(result *out, const lab_results *r)
{
    result_open(out, RESULT_LIST, "trainings", NULL);
    for (int i = 0; i < r->runs; i++) {
        const lab_run *run = &r->run[i];
        result_open(out, RESULT_RECORD, NULL, NULL);
        result_text(out, "trained", NULL, r->setup.entry[run->entry].trained);
        result_int(out, "seed", NULL, (int64_t)run->seed);
        result_flag(out, "finished", NULL, run->ended && run->end.finished);
        if (run->ended) {
            result_int(out, "parameters", NULL, run->end.params);
            result_int(out, "steps", NULL, run->end.steps);
            result_real(out, "seconds", NULL, run->end.seconds);
            result_real(out, "tokens_per_second", NULL, run->end.tokens_per_second);
            result_real(out, "final_loss", NULL, run->end.final_loss);
        }
        if (run->failure.step) {
            result_int(out, "failed_step", NULL, run->failure.step);
            result_text(out, "failed", NULL, run->failure.why);
        }
        result_close(out);
    }
    result_close(out);
}

/* ---------------------------------------------------------------- the ranking */

/* A line for each entry whose means are of fewer seeds than were asked for. */
static void add_fewer_seeds(result *out, const report *p)
{
    for (int i = 0; i < p->r->setup.entries; i++) {
        lab_summary least = { .seeds = 0 };
        for (int n = 0; n < p->r->setup.tests; n++) {
            lab_summary s = report_value(p, p->order[i], p->r->setup.test[n]);
            if (s.seeds && s.seeds < s.of && (!least.seeds || s.seeds < least.seeds))
                least = s;
        }
        if (!least.seeds)
            continue;
        result_say(out, NULL, "", "* %s: mean of %d of %d seeds", p->r->setup.entry[p->order[i]].name, least.seeds,
                   least.of);
    }
}

static void add_not_learned(result *out, const report *p)
{
    for (int i = 0; i < p->r->setup.entries; i++)
        if (!lab_learned(p->r, p->order[i])) {
            result_say(out, NULL, "", "%s: not learned in this time; its lengths say nothing about the encoding",
                       p->r->setup.entry[p->order[i]].name);
            result_tone_is(out, RESULT_FAINT);
        }
}

/* Why there is no number: the first reason of each entry, each reason once. */
static void add_reasons(result *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    const char *said[LAB_ENTRIES_MAX];
    int count = 0;
    for (int i = 0; i < s->entries; i++) {
        const char *name = s->entry[p->order[i]].name, *why = NULL;
        for (int n = 0; n < s->tests && !why; n++)
            why = report_value(p, p->order[i], s->test[n]).cannot;
        for (int n = 0; n < count && why; n++)
            why = strcmp(why, said[n]) ? why : NULL;
        if (!why)
            continue;
        said[count++] = why;
        bool named = !strncmp(why, name, strlen(name));
        result_say(out, NULL, "", "%s%s%s", named ? "" : name, named ? "" : " cannot: ", why);
        result_tone_is(out, RESULT_FAINT);
    }
}

static void add_entry(result *out, const report *p, int rank, bool compared)
{
    const lab_setup *s = &p->r->setup;
    int entry = p->order[rank];
    result_open(out, RESULT_RECORD, NULL, "");
    add_name(out, p, entry);
    if (lab_has_rank(p->r, entry))
        result_int(out, NULL, "rank", rank + 1);
    add_values(out, p, entry, lab_shown(s));
    if (p->last && !lab_is_eval(s)) {
        char label[40];
        snprintf(label, sizeof label, "last quarter of %" PRId64, p->last);
        add_value(out, p, label, lab_summarise(p->r, entry, p->last, LAB_LAST_QUARTER));
        result_wide(out);
    }
    if (compared)
        add_difference(out, p, entry);
    add_data(out, p->r, entry);
    result_close(out);
}

/* compared: with how far each is from the best. */
static void add_ranking(result *out, const report *p, bool compared)
{
    const lab_setup *s = &p->r->setup;
    const char *unit = lab_unit(s);
    char first[60] = "";
    compared = compared && p->last && s->entries > 1;
    if (p->last)
        snprintf(first, sizeof first, ", best at %" PRId64 " first", p->last);
    open_table(out, "entries", "%c%s at each length (trained at %" PRId64 ")%s; lower is better%s.",
               unit[0] - 'a' + 'A', unit + 1, s->train_length, first,
               s->seeds > 1 ? "; ± is the standard deviation over seeds" : "");
    for (int i = 0; i < s->entries; i++)
        add_entry(out, p, i, compared);
    result_close(out);
    if (s->seeds > 1 && compared) {
        result_text(out, NULL, "",
                    "p is from Welch's t-test against the best (two-sided, one comparison at a time); ~ marks a "
                    "difference that is not significant (p of 0.05 or more).");
        result_tone_is(out, RESULT_FAINT);
    }
    add_fewer_seeds(out, p);
    add_not_learned(out, p);
    add_reasons(out, p);
}

void lab_print_table(FILE *to, const lab_results *r, int columns)
{
    report p = report_of(r);
    result *tree = result_new();
    if (!tree)
        return; /* the next frame may have memory */
    add_ranking(tree, &p, false);
    result_write(to, tree, RESULT_AS_TEXT, &(result_screen){ .columns = columns }, NULL);
    result_free(tree);
}

/* Perplexity over the last quarter, of an eval. */
static void add_last_quarter(result *out, const report *p)
{
    if (!lab_is_eval(&p->r->setup))
        return;
    result_open(out, RESULT_RECORD, NULL, "Last quarter of the window");
    open_table(out, NULL, "Compare methods, not lengths: each length's last quarter holds other tokens.");
    for (int i = 0; i < p->r->setup.entries; i++) {
        result_open(out, RESULT_RECORD, NULL, "");
        add_name(out, p, p->order[i]);
        add_values(out, p, p->order[i], LAB_LAST_PERPLEXITY);
        result_close(out);
    }
    result_close(out);
    result_close(out);
}

/* ---------------------------------------------------------------- accuracy and cost */

/* Over the runs of the weights an entry uses: their number and means. */
typedef struct run_means {
    int runs;
    double params, position_params, tokens, seconds, speed, final_loss; /* nats */
    bool finished;
} run_means;

static run_means means_of(const report *p, int entry)
{
    run_means out = { .finished = true };
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < p->r->runs; i++) {
        const lab_run *run = &p->r->run[i];
        if (!run->ended || !lab_trained_alike(&s->entry[run->entry], &s->entry[entry]))
            continue;
        out.finished = out.finished && run->end.finished;
        double n = ++out.runs; /* means, one run at a time */
        out.params += ((double)run->end.params - out.params) / n;
        out.position_params += ((double)run->end.position_params - out.position_params) / n;
        out.tokens += ((double)run->end.tokens - out.tokens) / n;
        out.seconds += (run->end.seconds - out.seconds) / n;
        out.speed += (run->end.tokens_per_second - out.speed) / n;
        out.final_loss += (run->end.final_loss - out.final_loss) / n;
    }
    return out;
}

static void add_percent(result *out, const report *p, int entry, const char *label, lab_measure what)
{
    lab_summary s = lab_summarise(p->r, entry, p->last, what);
    result_real(out, NULL, label, s.mean);
    if (s.seeds > 1)
        result_shown(out, "%.1f ± %.1f %%", 100 * s.mean, 100 * s.spread);
    else if (s.seeds)
        result_shown(out, "%.1f %%", 100 * s.mean);
    else
        result_shown(out, "-");
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

static const char *time_text(char out[24], double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        snprintf(out, 24, "-");
    else if (seconds < 90)
        snprintf(out, 24, "%.*f s", seconds < 10 ? 1 : 0, seconds);
    else if (seconds < 5400)
        snprintf(out, 24, "%.0f min", seconds / 60);
    else
        snprintf(out, 24, "%.1f h", seconds / 3600);
    return out;
}

static void add_cost(result *out, const report *p, int entry)
{
    char text[24], positions[24];
    run_means m = means_of(p, entry);
    if (!m.runs)
        return;
    result_real(out, NULL, "parameters", m.params);
    if (m.position_params > 0)
        result_shown(out, "%s (%s for positions)", count_text(text, m.params),
                     count_text(positions, m.position_params));
    else
        result_shown(out, "%s", count_text(text, m.params));
    result_real(out, NULL, "tokens/s", m.speed);
    result_shown(out, "%s", count_text(text, m.speed));
    result_real(out, NULL, "training", m.seconds);
    result_shown(out, "%s%s", time_text(text, m.seconds), m.finished ? "" : " (stopped early)");
}

static void add_costs(result *out, const report *p)
{
    bool recall = false;
    if (!p->last)
        return;
    for (int e = 0; e < p->r->setup.entries; e++)
        recall = recall || lab_summarise(p->r, e, p->last, LAB_RECALL).seeds;
    result_open(out, RESULT_RECORD, NULL, p->r->runs ? "Accuracy and cost" : "Accuracy");
    if (!p->r->runs)
        result_wide(out);
    open_table(out, NULL, "%s at %" PRId64 " tokens%s.", recall ? "Recall and accuracy" : "Accuracy", p->last,
               p->r->runs ? "; size, speed and time of training" : "");
    for (int i = 0; i < p->r->setup.entries; i++) {
        result_open(out, RESULT_RECORD, NULL, "");
        add_name(out, p, p->order[i]);
        if (recall)
            add_percent(out, p, p->order[i], "recall", LAB_RECALL);
        add_percent(out, p, p->order[i], "accuracy", LAB_ACCURACY);
        add_cost(out, p, p->order[i]);
        result_close(out);
    }
    result_close(out);
    result_close(out);
}

/* ---------------------------------------------------------------- charts */

typedef struct drawing {
    report p;
    const report_figure *figure;
} drawing;

static pe_status make_drawing(draw **out, const void *with, double width, double height, pe_error *err)
{
    const drawing *d = with;
    return report_draw(out, d->figure, &d->p, width, height, err);
}

static void add_drawing(result *out, const report *p, int figure)
{
    drawing *d = result_room(out, sizeof *d);
    if (!d)
        return;
    *d = (drawing){ *p, &report_figures[figure] };
    result_drawing(out, make_drawing, d);
}

/* A section where there is something to draw. The terminal has room for one. */
static void add_figure(result *out, const report *p, int figure)
{
    const report_figure *f = &report_figures[figure];
    draw *d;
    bool any = report_draw(&d, f, p, 760, 440, NULL) || d; /* a failure is said by the writer */
    draw_free(d);
    if (!any)
        return;
    result_open(out, RESULT_RECORD, NULL, f->heading);
    if (figure != FIGURE_LENGTH)
        result_wide(out);
    result_text(out, NULL, "", f->about[lab_is_eval(&p->r->setup)]);
    result_wide(out);
    add_drawing(out, p, figure);
    result_close(out);
}

/* ---------------------------------------------------------------- overfitting */

static void add_gap(result *out, const report *p, int entry)
{
    const lab_setup *s = &p->r->setup;
    run_means m = means_of(p, entry);
    double train = m.final_loss / log(2), test = lab_summarise(p->r, entry, p->first, LAB_BITS).mean;
    if (!m.runs || !isfinite(train) || !isfinite(test))
        return;
    result_open(out, RESULT_RECORD, NULL, "");
    add_name(out, p, entry);
    result_real(out, NULL, "training (last twentieth)", train);
    result_shown(out, "%.2f", train);
    result_real(out, NULL, "test", test);
    result_shown(out, "%.2f", test);
    result_real(out, NULL, "gap", test - train);
    result_shown(out, "%+.2f", test - train);
    if (s->data_size > 0) {
        result_real(out, NULL, "times read", m.tokens / (double)s->data_size);
        result_shown(out, "%.2f", m.tokens / (double)s->data_size);
    }
    result_close(out);
}

/* Entries that use others' weights have no training of their own. */
static bool was_trained(const report *p, int entry)
{
    for (int i = 0; i < p->r->runs; i++)
        if (p->r->run[i].entry == entry)
            return true;
    return false;
}

static void add_overfitting(result *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    if (!p->r->runs || !p->first)
        return;
    result_open(out, RESULT_RECORD, NULL, "Overfitting");
    result_wide(out);
    if (s->data_size > 0)
        result_say(out, NULL, "",
                   "The training text has %.2f million bytes. A test loss far above the training loss at the trained "
                   "length means that the model has memorised the text.",
                   (double)s->data_size / 1e6);
    else
        result_text(out, NULL, "",
                    "The data is generated without end: no window is seen twice, so nothing can be memorised.");
    open_table(out, NULL, "In %s at %" PRId64 ", mean over seeds.", lab_unit(s), p->first);
    for (int i = 0; i < s->entries; i++)
        if (was_trained(p, p->order[i]))
            add_gap(out, p, p->order[i]);
    result_close(out);
    result_close(out);
}

/* ---------------------------------------------------------------- published numbers */

static void add_published(result *out, const report *p)
{
    char label[24];
    int count = 0;
    for (int i = 0; i < PUBLISHED_ROWS; i++)
        count += report_published_entry(p, i) >= 0;
    if (!count || lab_is_eval(&p->r->setup))
        return;
    result_open(out, RESULT_RECORD, NULL, "Compared with published curves");
    result_wide(out);
    result_text(out, NULL, "",
                "Press, Smith and Lewis, Train Short, Test Long (arXiv 2108.12409) trained a large model on "
                "WikiText-103. They report perplexity per token; this race measures bits per byte of another text with "
                "a far smaller model. Compare the shapes (which curve rises, which stays flat, in which order), not "
                "the heights.");
    add_drawing(out, p, FIGURE_PUBLISHED);
    add_drawing(out, p, FIGURE_OURS);
    open_table(out, NULL, "Perplexity on WikiText-103, trained at 512.");
    for (int i = 0; i < PUBLISHED_ROWS; i++) {
        result_open(out, RESULT_RECORD, NULL, "");
        result_text(out, NULL, "encoding", published[i].name);
        for (int n = 0; n < PUBLISHED_LENGTHS; n++) {
            snprintf(label, sizeof label, "%.0f", published_length[n]);
            result_real(out, NULL, label, published[i].perplexity[n]);
            result_shown(out, "%.2f", published[i].perplexity[n]);
        }
        result_close(out);
    }
    result_close(out);
    result_close(out);
}

/* ---------------------------------------------------------------- how it was made */

static void add_fact(result *out, const char *label, const char *text)
{
    if (*text)
        result_text(out, NULL, label, text);
}

static void add_machine(result *out, const lab_setup *s)
{
    result_code(out, NULL, s->command);
    add_fact(out, "posenc", s->version);
    add_fact(out, "date", s->date);
    add_fact(out, "CPU", s->cpu);
    add_fact(out, "kernels", s->kernels);
    add_fact(out, "BLAS", s->blas);
    result_int(out, NULL, "threads", s->threads);
    add_fact(out, "data", s->data);
    result_say(out, NULL, "fingerprint", "%016" PRIx64, s->data_fingerprint);
    add_fact(out, "model file", s->model);
    result_say(out, NULL, "model",
               "%" PRId64 " layer%s × %" PRId64 ", %" PRId64 " head%s, %" PRId64 " key head%s, hidden %" PRId64
               ", vocabulary %" PRId64 ", %s",
               s->layers, plural(s->layers), s->width, s->heads, plural(s->heads), s->kv_heads, plural(s->kv_heads),
               s->hidden, s->vocab, s->causal ? "causal" : "bidirectional, predicts masked tokens");
}

static void add_schedule(result *out, const lab_setup *s)
{
    if (lab_is_eval(s))
        return;
    result_say(out, NULL, "schedule",
               "%" PRId64 " step%s of %" PRId64 " × %" PRId64 " tokens, %" PRId64
               " of warm-up, cosine decay to a tenth; AdamW, learning rate %s, weight decay %s, gradient clipping %s",
               s->steps, plural(s->steps), s->batch, s->train_length, s->warmup, text_show(s->rate).text,
               text_show(s->decay).text, text_show(s->clip).text);
    if (s->minutes > 0)
        result_say(out, NULL, "calibration", "%s minutes were asked for%s%s", text_show(s->minutes).text,
                   *s->calibration ? "; " : "", s->calibration);
    else
        result_say(out, NULL, "calibration", "the number of steps was given%s%s", *s->calibration ? "; " : "",
                   s->calibration);
    result_open(out, RESULT_LIST, NULL, "seeds");
    for (int i = 0; i < s->seeds; i++)
        result_int(out, NULL, "", (int64_t)s->seed[i]);
    result_close(out);
}

/* The exact spec of an entry at a length, of any seed; NULL: not tested. */
static const char *spec_at(const report *p, int entry, int64_t length)
{
    for (int i = 0; i < p->r->tests; i++)
        if (p->r->test[i].entry == entry && p->r->test[i].length == length && p->r->test[i].spec[0])
            return p->r->test[i].spec;
    return NULL;
}

/* A row for each spec that an entry was tested with, and the length from which it was. */
static void add_specs(result *out, const report *p, int entry)
{
    const lab_setup *s = &p->r->setup;
    const char *before = NULL;
    for (int i = 0; i < s->tests; i++) {
        const char *spec = spec_at(p, entry, s->test[i]);
        if (!spec || (before && !strcmp(before, spec)))
            continue;
        result_open(out, RESULT_RECORD, NULL, "");
        add_name(out, p, entry);
        result_text(out, NULL, "trained as", s->entry[entry].trained);
        if (s->entry[entry].dropped)
            result_shown(out, "%s, then %" PRId64 " steps without it", s->entry[entry].trained,
                         s->entry[entry].dropped);
        result_int(out, NULL, "from length", s->test[i]);
        result_text(out, NULL, "tested as", spec);
        result_close(out);
        before = spec;
    }
}

/* "0.02 (10 × that of the weights)" */
static void add_factor(result *out, const char *label, double of_weights, double factor)
{
    result_real(out, NULL, label, of_weights * factor);
    if (factor == 0)
        result_shown(out, "none");
    else if (factor != 1)
        result_shown(out, "%s (%s × the weights')", text_show(of_weights * factor).text, text_show(factor).text);
}

static bool has_rates(const report *p, int entry)
{
    return was_trained(p, entry) && !p->r->setup.entry[entry].dropped;
}

static void add_rates(result *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    int count = 0;
    for (int i = 0; i < s->entries; i++)
        count += has_rates(p, i) ? s->entry[i].tensors : 0;
    if (!count)
        return;
    result_open(out, RESULT_TABLE, NULL, "How learned positions were trained");
    for (int i = 0; i < s->entries; i++)
        for (int t = 0; t < s->entry[p->order[i]].tensors && has_rates(p, p->order[i]); t++) {
            const lab_tensor *x = &s->entry[p->order[i]].tensor[t];
            result_open(out, RESULT_RECORD, NULL, "");
            add_name(out, p, p->order[i]);
            result_text(out, NULL, "tensor", x->name);
            add_factor(out, "learning rate", s->rate, x->rate);
            add_factor(out, "weight decay", s->decay, x->decay);
            result_close(out);
        }
    result_close(out);
}

static void add_making(result *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    result_open(out, RESULT_RECORD, NULL, "How it was made");
    result_wide(out);
    add_machine(out, s);
    add_schedule(out, s);
    result_say(out, NULL, "test tokens", "%s%" PRId64 " of each length", lab_is_eval(s) ? "at most " : "",
               s->test_tokens);
    result_open(out, RESULT_LIST, NULL, "test lengths");
    for (int i = 0; i < s->tests; i++)
        result_int(out, NULL, "", s->test[i]);
    result_close(out);
    add_rates(out, p);
    result_open(out, RESULT_TABLE, NULL, "The exact specs");
    result_folded(out);
    for (int i = 0; i < s->entries; i++)
        add_specs(out, p, p->order[i]);
    result_close(out);
    result_text(out, NULL, "",
                "The numbers are in the same folder: results.csv has a line per test, results.jsonl has everything.");
    result_tone_is(out, RESULT_FAINT);
    result_close(out);
}

/* ---------------------------------------------------------------- all of it */

static void add_title(result *out, const lab_setup *s)
{
    if (lab_is_eval(s))
        result_title(out, 0, "%s past its trained length of %" PRId64, strrchr(s->model, '/') ? strrchr(s->model, '/') + 1 : s->model,
                     s->train_length);
    else
        result_title(out, 0, "The race: %d encoding%s trained at %" PRId64 ", tested at up to %" PRId64, s->entries,
                     plural(s->entries), s->train_length, s->tests ? s->test[s->tests - 1] : 0);
}

static void add_finding(result *out, const lab_results *r)
{
    const lab_setup *s = &r->setup;
    char finding[2000], model[200] = "";
    lab_finding(finding, sizeof finding, r);
    result_text(out, "finding", "", finding);
    result_tone_is(out, RESULT_MAIN);
    if (!*finding)
        result_shown(out, "Nothing has been measured yet.");
    if (*s->note)
        result_text(out, NULL, "", s->note);
    if (!lab_is_eval(s))
        snprintf(model, sizeof model,
                 "%" PRId64 " layer%s × %" PRId64 ", %" PRId64 " step%s of %" PRId64 " × %" PRId64
                 " tokens, %d seed%s. ",
                 s->layers, plural(s->layers), s->width, s->steps, plural(s->steps), s->batch, s->train_length,
                 s->seeds, plural(s->seeds));
    result_say(out, NULL, "", "%sData: %s. Made by posenc %s, %s.", model, s->data, s->version, s->date);
    result_tone_is(out, RESULT_FAINT);
    result_wide(out);
}

static const char *const run_state[LAB_RUN_DONE + 1] = { /* of one that is missing */
    [LAB_RUN_NOT_STARTED] = "not started",
    [LAB_RUN_RUNNING] = "running",
    [LAB_RUN_STOPPED] = "stopped",
    [LAB_RUN_FAILED] = "failed",
};

static void add_run(result *out, const report *p, const lab_run *run)
{
    const lab_setup *s = &p->r->setup;
    int tests = 0, of = 0;
    int64_t step = run->trains ? run->train[run->trains - 1].step : 0;
    int64_t steps = s->entry[run->entry].dropped ? s->entry[run->entry].dropped : s->steps;
    for (int i = 0; i < s->entries; i++)
        for (int k = 0; k < s->tests && lab_trained_alike(&s->entry[i], &s->entry[run->entry]); k++, of++)
            tests += lab_find_test(p->r, i, run->seed, s->test[k]) != NULL;
    result_open(out, RESULT_RECORD, NULL, "");
    add_name(out, p, run->entry);
    result_int(out, "seed", "seed", (int64_t)run->seed);
    result_text(out, "state", "state", run_state[run->state]);
    result_shown(out, "%s", run_state[run->state]);
    result_int(out, "step", "step", step);
    result_shown(out, "%" PRId64 " of %" PRId64, step, steps);
    result_int(out, "steps", NULL, steps);
    result_int(out, "tests", "tests", tests);
    result_shown(out, "%d of %d", tests, of);
    result_int(out, "tests_of", NULL, of);
    result_text(out, "owner", "by", run->state == LAB_RUN_RUNNING ? run->owner : NULL);
    result_close(out);
}

static void add_missing(result *out, const report *p)
{
    const lab_results *r = p->r;
    int missing = lab_missing(r);
    result_open(out, RESULT_RECORD, NULL, missing ? "Missing" : NULL);
    if (missing)
        result_say(out, NULL, "", "%d of %d trainings are missing", missing, r->runs);
    result_open(out, RESULT_TABLE, "missing", missing ? "" : NULL);
    for (int i = 0; i < r->runs; i++)
        if (run_state[r->run[i].state])
            add_run(out, p, &r->run[i]);
    result_close(out);
    result_close(out);
}

void lab_add_report(result *out, const lab_results *r)
{
    report p = report_of(r);
    add_title(out, &r->setup);
    result_text(out, "kind", NULL, r->setup.kind);
    result_int(out, "train_length", NULL, r->setup.train_length);
    result_int(out, "steps", NULL, r->setup.steps);
    result_text(out, "calibration", NULL, *r->setup.calibration ? r->setup.calibration : NULL);
    add_finding(out, r);
    add_figure(out, &p, FIGURE_LENGTH);
    result_open(out, RESULT_RECORD, NULL, "Ranking");
    add_ranking(out, &p, true);
    result_close(out);
    if (!lab_is_eval(&r->setup))
        add_missing(out, &p);
    add_last_quarter(out, &p);
    add_costs(out, &p);
    for (int i = FIGURE_LENGTH + 1; i < REPORT_FILES; i++)
        add_figure(out, &p, i);
    add_overfitting(out, &p);
    add_published(out, &p);
    add_making(out, &p);
    add_trainings(out, r);
}

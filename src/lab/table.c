/* SPDX-License-Identifier: MIT
 *
 * The ranked table on a screen. */
#include "lab/results.h"

#include "io/json_out.h"
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 8 /* of a value, with the space before it */
#define NAME_MIN 10
#define SHORT 20 /* a name that is not cut for the extra columns */

typedef struct page {
    FILE *to;
    const lab_results *r;
    int columns, name; /* characters */
    int order[LAB_ENTRIES_MAX], entries;
    int64_t length[LAB_TESTS_MAX]; /* that are shown */
    int lengths;
    int64_t last; /* the longest with a number */
    bool spread, recall, speed;
} page;

static int characters(const char *text)
{
    int count = 0;
    for (unsigned code; *text; count++) {
        int n = out_character(text, &code);
        text += n ? n : 1;
    }
    return count;
}

/* ---------------------------------------------------------------- what there is room for */

static int width(const page *p, int lengths)
{
    return 3 + p->name + CELL * (lengths + p->spread + p->recall + p->speed);
}

static void drop_length(page *p, int at)
{
    memmove(p->length + at, p->length + at + 1, (size_t)(p->lengths - at - 1) * sizeof *p->length);
    p->lengths--;
}

static bool any(const page *p, lab_measure what, bool spread)
{
    for (int i = 0; i < p->entries; i++) {
        lab_summary s = lab_summarise(p->r, i, p->last, what);
        if (s.seeds > spread)
            return true;
    }
    return false;
}

static void find_last(page *p)
{
    for (int i = 0; i < p->r->setup.tests; i++)
        for (int e = 0; e < p->entries; e++)
            if (lab_summarise(p->r, e, p->r->setup.test[i], lab_shown(&p->r->setup)).seeds &&
                p->r->setup.test[i] > p->last)
                p->last = p->r->setup.test[i];
}

/* Names first give way, then the extra columns, then lengths of the middle. */
static void lay_out(page *p)
{
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < s->tests; i++)
        p->length[p->lengths++] = s->test[i];
    int least = (int)strlen(lab_unit(s)); /* which stands above the names */
    least = least < NAME_MIN ? NAME_MIN : least;
    p->name = least;
    for (int i = 0; i < p->entries; i++)
        p->name = characters(s->entry[i].name) > p->name ? characters(s->entry[i].name) : p->name;
    p->spread = any(p, lab_shown(s), true);
    p->recall = any(p, LAB_RECALL, false);
    p->speed = p->r->runs > 0;
    for (bool *extra[] = { &p->speed, &p->spread, &p->recall }, **e = extra; e < extra + 3; e++)
        if (width(p, p->lengths) - p->name + (p->name < SHORT ? p->name : SHORT) > p->columns)
            **e = false;
    while (p->lengths > 2 && width(p, p->lengths) - p->name + least > p->columns)
        drop_length(p, p->lengths / 2);
    int room = p->columns - (width(p, p->lengths) - p->name);
    p->name = p->name > room ? room : p->name;
    p->name = p->name < least ? least : p->name;
}

/* ---------------------------------------------------------------- lines */

static void print_name(const page *p, const char *name)
{
    int count = 0, bytes = 0, whole = characters(name);
    for (unsigned code; name[bytes] && count < p->name - (whole > p->name ? 2 : 0); count++) {
        int n = out_character(name + bytes, &code);
        bytes += n ? n : 1;
    }
    out_plain(p->to, name, bytes);
    if (whole > p->name)
        count += fprintf(p->to, "..");
    fprintf(p->to, "%*s", p->name - count, "");
}

static void print_cell(const page *p, int entry, int64_t length)
{
    char text[LAB_VALUE_ROOM], cell[LAB_VALUE_ROOM + 1];
    lab_summary s = lab_summarise(p->r, entry, length, lab_shown(&p->r->setup));
    snprintf(cell, sizeof cell, "%s%s",
             s.seeds    ? lab_value(text, &p->r->setup, s.mean)
             : s.cannot ? "cannot"
                        : "-",
             s.seeds && s.seeds < s.of ? "*" : "");
    fprintf(p->to, "%*s", CELL, cell);
}

/* The mean of its runs. */
static double speed_of(const lab_results *r, int entry)
{
    report_runs runs = report_runs_of(&(report){ .r = r }, entry);
    return runs.runs ? runs.speed : (double)NAN;
}

static void print_extra(const page *p, int entry)
{
    char text[LAB_VALUE_ROOM];
    lab_summary s = lab_summarise(p->r, entry, p->last, lab_shown(&p->r->setup));
    if (p->spread)
        fprintf(p->to, "%*s", CELL, s.seeds > 1 ? lab_value(text, &p->r->setup, s.spread) : "-");
    s = lab_summarise(p->r, entry, p->last, LAB_RECALL);
    if (p->recall && s.seeds)
        fprintf(p->to, "%*.0f %%", CELL - 2, 100 * s.mean);
    else if (p->recall)
        fprintf(p->to, "%*s", CELL, "-");
    if (p->speed && isfinite(speed_of(p->r, entry)))
        fprintf(p->to, "%*.0f", CELL, fmin(speed_of(p->r, entry), 9999999));
    else if (p->speed)
        fprintf(p->to, "%*s", CELL, "-");
}

/* Told apart from the best by less than the seeds: "~". */
static bool same_as_best(const page *p, int entry)
{
    lab_difference d = lab_compare(p->r, entry, p->order[0], p->last, lab_shown(&p->r->setup));
    return entry != p->order[0] && !isnan(d.p) && !d.larger;
}

static void print_head(const page *p)
{
    const lab_setup *s = &p->r->setup;
    fprintf(p->to, "   %-*.*s", p->name, p->name, lab_unit(s));
    for (int i = 0; i < p->lengths; i++)
        fprintf(p->to, "%*" PRId64, CELL, p->length[i]);
    fprintf(p->to, "%s%s%s\n", p->spread ? "  spread" : "", p->recall ? "  recall" : "", p->speed ? "   tok/s" : "");
}

static bool print_rows(const page *p)
{
    bool marked = false;
    for (int i = 0; i < p->entries; i++) {
        int e = p->order[i];
        bool same = p->last && same_as_best(p, e);
        marked = marked || same;
        if (lab_has_rank(p->r, e))
            fprintf(p->to, "%2d%c", i + 1, same ? '~' : ' ');
        else
            fputs(" - ", p->to);
        print_name(p, p->r->setup.entry[e].name);
        for (int n = 0; n < p->lengths; n++)
            print_cell(p, e, p->length[n]);
        print_extra(p, e);
        putc('\n', p->to);
    }
    return marked;
}

/* A line for each entry whose means are of fewer seeds than were asked for. */
static void print_fewer(const page *p)
{
    char text[200];
    for (int i = 0; i < p->entries; i++) {
        lab_summary least = { .seeds = 0 };
        for (int n = 0; n < p->r->setup.tests; n++) {
            lab_summary s = lab_summarise(p->r, p->order[i], p->r->setup.test[n], lab_shown(&p->r->setup));
            if (s.seeds && s.seeds < s.of && (!least.seeds || s.seeds < least.seeds))
                least = s;
        }
        if (!least.seeds)
            continue;
        snprintf(text, sizeof text, "* %s: %d of %d seeds", p->r->setup.entry[p->order[i]].name, least.seeds, least.of);
        lab_print_words(p->to, text, p->columns);
    }
}

/* Why, once for each entry that cannot at some length: the first. */
static void print_reasons(const page *p)
{
    char text[500];
    for (int i = 0; i < p->entries; i++)
        for (int n = 0; n < p->r->setup.tests; n++) {
            int e = p->order[i];
            lab_summary s = lab_summarise(p->r, e, p->r->setup.test[n], lab_shown(&p->r->setup));
            if (!s.cannot)
                continue;
            bool named = !strncmp(s.cannot, p->r->setup.entry[e].name, strlen(p->r->setup.entry[e].name));
            snprintf(text, sizeof text, "%s%s%s", named ? "" : p->r->setup.entry[e].name,
                     named ? "" : " cannot: ", s.cannot);
            lab_print_words(p->to, text, p->columns);
            break;
        }
}

void lab_print_table(FILE *to, const lab_results *r, int columns)
{
    page p = { .to = to, .r = r, .columns = columns < 40 ? 40 : columns };
    char text[120];
    p.entries = lab_rank(p.order, r);
    find_last(&p);
    lay_out(&p);
    print_head(&p);
    if (print_rows(&p)) {
        snprintf(text, sizeof text, "~ not told apart from the best at %" PRId64 " by %d seeds (Welch's t, p 0.05)",
                 p.last, r->setup.seeds);
        lab_print_words(to, text, p.columns);
    }
    print_fewer(&p);
    print_reasons(&p);
}

void lab_print_last_quarter(FILE *to, const lab_results *r, int columns)
{
    lab_results last = *r; /* the same lines with its numbers */
    last.test = calloc((size_t)r->tests + 1, sizeof *last.test);
    if (!last.test)
        return;
    for (int n = 0; n < r->tests; n++) {
        last.test[n] = r->test[n];
        last.test[n].bits = r->test[n].last_quarter;
    }
    lab_print_table(to, &last, columns);
    free(last.test);
}

void lab_print_words(FILE *to, const char *text, int columns)
{
    int column = 0;
    while (*text) {
        int bytes = (int)strcspn(text, " \n"); /* fits: a sentence */
        char word[200];
        snprintf(word, sizeof word, "%.*s", bytes, text);
        int wide = characters(word);
        if (column && column + 1 + wide > columns) {
            putc('\n', to);
            column = 0;
        }
        if (column)
            column += fprintf(to, " ");
        column += out_plain(to, text, bytes);
        text += bytes;
        text += strspn(text, " \n");
    }
    putc('\n', to);
}

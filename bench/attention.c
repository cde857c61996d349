/* SPDX-License-Identifier: MIT
 *
 * Attention with every row of the registry beside attention with none: forward and backward, causal, 8 heads of 64.
 * Operations are counted as those of plain attention, whatever the row adds: 4 n^2 D H / 2, backward 2.5 times that. */
#include "attend.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN "none"

/* ---------------------------------------------------------------- specs that reach far enough */

/* Whether a query at the last of n tokens may look at the first. */
static bool reaches(const char *spec, int64_t n, pe_error *err)
{
    pe_encoding *e = NULL;
    if (pe_encoding_new(&e, spec, attend_shape, err))
        return false;
    int64_t axes = pe_encoding_axes(e), ends[2 * PE_AXES_MAX] = { 0 };
    pe_encoding_free(e);
    attend_setting s = { .spec = spec, .shape = attend_shape, .queries = 2, .keys = 2 };
    attending *c = attend_new(&s);
    pe_positions q = c->a.q_at, k = c->a.k_at;
    for (int64_t a = 0; a < axes; a++)
        ends[axes + a] = grid_side(n, axes) - 1;
    c->a.q_at = c->a.k_at = pe_positions_of(ends, PE_I64, 1, 2, axes);
    bool fits = !attend_size(c, false, err) && !pe_attention_forward(c->e, &c->a, &c->run, err);
    c->a.q_at = q;
    c->a.k_at = k;
    attend_free(c);
    return fits;
}

/* The row's first example; where its table is too short, with the one key that makes it longer. */
static bool far_spec(const pe_info *row, int64_t n, char out[120], pe_error *err)
{
    const char *first = row->examples[0];
    pe_error why;
    pe_encoding *e = encoding(first, attend_shape, NULL);
    int64_t axes = pe_encoding_axes(e);
    pe_encoding_free(e);
    snprintf(out, 120, "%s", first);
    if (reaches(out, n, err))
        return true;
    for (int k = 0; k < row->key_count; k++) {
        int used = snprintf(out, 120, "%s%c%s=", first, strchr(first, ':') ? ',' : ':', pe_info_key(row, k)->name);
        for (int a = 0; a < (pe_info_key(row, k)->kind == PE_KEY_LIST ? axes : 1) && used < 100; a++)
            used += snprintf(out + used, (size_t)(120 - used), "%s%lld", a ? "/" : "", (long long)grid_side(n, axes));
        if (pe_info_key(row, k)->kind != PE_KEY_CHOICE && reaches(out, n, &why))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- every row */

static const char *goal(const pe_info *row)
{
    if (row->hooks & PE_HOOK_CONTENT)
        return "60 %";
    return row->hooks & (PE_HOOK_BIAS | PE_HOOK_ROTATE) ? "10 %" : "0 %";
}

static void add_cells(bench *b, const char *spec, const contender *c, bool backward, int64_t n, int thread_index)
{
    double flops = attend_operations(n, backward) / c[1].best;
    cell x = { .kind = CELL_MAIN,
               .table = backward ? "backward" : "forward",
               .line = spec,
               .n = n,
               .who = "posenc",
               .unit = "GFLOP/s",
               .threads = threads_at(b, thread_index),
               .value = flops * 1e-9,
               .seconds = c[1].best,
               .best_of = c[1].turns };
    cell_add(b, x);
    x.kind = CELL_SHARE;
    x.unit = "%";
    x.who = "of peak";
    x.value = 100 * flops / peak_flops(b, thread_index);
    cell_add(b, x);
    x.who = "on top of plain";
    x.value = 100 * (c[1].best / c[0].best - 1);
    cell_add(b, x);
}

/* The row and plain attention by turns, so that what one costs on top of the other is measured, not remembered. */
static void measure_row(bench *b, const char *spec, const pe_info *row, int64_t n, bool backward, int thread_index)
{
    attend_setting s = { .spec = spec,
                         .shape = attend_shape,
                         .queries = n,
                         .keys = n,
                         .backward = backward,
                         .pool = pool_at(b, thread_index) };
    attending *mine = attend_new(&s);
    s.spec = PLAIN;
    attending *plain = attend_new(&s);
    contender c[] = { { .run = attend_forward, .arg = plain }, { .run = attend_forward, .arg = mine } };
    for (int i = 0; backward && i < 2; i++) { /* which reads what forward leaves */
        attend_forward(c[i].arg);
        c[i].run = attend_backward;
    }
    race(b, c, 2);
    add_cells(b, row->name, c, backward, n, thread_index);
    attend_free(mine);
    attend_free(plain);
}

/* All memory that a call uses beside its arguments, with as many threads as are measured: each has its own. */
static void add_work(bench *b, const pe_info *row, int64_t n, int64_t line_n, bool backward)
{
    char spec[120], who[32];
    pe_error err;
    if (!far_spec(row, n, spec, &err))
        return;
    attend_setting s = { .spec = spec, .shape = attend_shape, .queries = n, .keys = n, .pool = b->pool };
    attending *c = attend_new(&s);
    must(attend_size(c, backward, &err), &err, spec);
    snprintf(who, sizeof who, "work at %lld", (long long)n);
    cell x = { .kind = CELL_SHARE, .line = row->name, .n = line_n, .who = who, .unit = "KiB" };
    x.table = backward ? "backward" : "forward";
    x.value = (double)(backward ? c->backward_bytes : c->forward_bytes) / 1024;
    cell_add(b, x);
    attend_free(c);
}

static void add_text(bench *b, const pe_info *row, int64_t n, const char *where, const char *who, const char *text)
{
    if (text)
        cell_add(b, (cell){ .kind = CELL_GOAL, .table = where, .line = row->name, .n = n, .who = who, .text = text });
}

static void every_row(bench *b, int64_t n, bool backward)
{
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *row = pe_info_at(i);
        char spec[120];
        pe_error err;
        say(b, "attention, %s: %s", backward ? "backward" : "forward", row->name);
        bool fits = far_spec(row, n, spec, &err);
        for (int t = 0; fits && t < thread_counts(b); t++)
            measure_row(b, spec, row, n, backward, t);
        add_work(b, row, n, n, backward);
        add_work(b, row, 2 * n, n, backward);
        if (backward) {
            bool adds = row->hooks & (PE_HOOK_BIAS | PE_HOOK_CONTENT);
            add_text(b, row, n, "backward", "goal", adds ? "3x PyTorch" : NULL);
            continue;
        }
        add_text(b, row, n, "forward", "goal, on top", goal(row));
        add_text(b, row, n, "forward", "spec", fits ? spec : err.text);
    }
}

void bench_attention(bench *b)
{
    int64_t n = b->quick ? 64 : 2048;
    every_row(b, n, false);
    tables_done(b);
    every_row(b, n, true);
}

/* SPDX-License-Identifier: MIT
 *
 * hierarchical: a learned table of n rows serves n^2 positions. With i, j from 1 and u_i = (p_i - a p_1) / (1 - a),
 * position (i-1) n + j gets a u_i + (1-a) u_j; on the first n positions that is the table itself.
 * Su 2020 (kexue.fm/archives/7947). */
#include "encodings/shared.h"

#include <inttypes.h>

#define ROOM 64 /* elements on the way */

enum { TABLE_ROWS, ALPHA, JOIN, WIDTH };
static const pe_key keys[] = {
    { "rows", PE_KEY_INT, "512", 2, 262144, NULL, NULL, "n: rows of the table, which cover n^2 positions", NULL,
      false },
    { "alpha", PE_KEY_REAL, "0.4", -100, 100, NULL, NULL, "a: weight of the coarse position; not 0, 0.5 or 1", NULL,
      false },
    EMBED_KEYS,
};
static const char *const examples[] = { "hierarchical", "hierarchical:rows=64,alpha=0.3" };

static pe_status init(part *p, pe_error *err)
{
    double a = num(p, ALPHA);
    embed_init(p, JOIN);
    if (a == 0 || a == 0.5 || a == 1)
        return part_fail(p, err, ALPHA, "0 and 1 lose half the position, 0.5 confuses (i,j) with (j,i); use 0.4");
    return part_tensor(
        p,
        (tensor){ .name = "table",
                  .about = "row t is the code of position t; the codes of all rows^2 positions are computed from it",
                  .rank = 2,
                  .shape = { whole(p, TABLE_ROWS), p->width },
                  .fill = FILL_NORMAL,
                  .a = 0.02,
                  .rate = 10 },
        err);
}

static pe_status check(const part *p, pe_side side, pe_dtype type, const int64_t *at, pe_error *err)
{
    (void)side, (void)type;
    int64_t n = whole(p, TABLE_ROWS);
    if (at[0] < 0 || at[0] >= n * n)
        return pe_fail(err, PE_ERR_POSITION,
                       "hierarchical: position is %" PRId64 "; rows=%" PRId64 " serves 0 to %" PRId64, at[0], n,
                       n * n - 1);
    return PE_OK;
}

/* a u_i + (1-a) u_j = a/(1-a) p_i + p_j - (a/(1-a)) p_1: the weights of the three rows that make a code. */
static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    int64_t t = (int64_t)at[0], n = whole(p, TABLE_ROWS), i = t / n, j = t % n;
    double ratio = num(p, ALPHA) / (1 - num(p, ALPHA));
    params_row(p, w, 0, j * p->width + first, code, count);
    for (int64_t done = 0; i && done < count; done += ROOM) {
        double coarse[ROOM], start[ROOM];
        int64_t left = count - done < ROOM ? count - done : ROOM;
        params_row(p, w, 0, i * p->width + first + done, coarse, left);
        params_row(p, w, 0, first + done, start, left);
        for (int64_t c = 0; c < left; c++)
            code[done + c] = ratio * (coarse[c] - start[c]) + code[done + c];
    }
}

static void embed_back(const part *p, pe_params dw, const double *at, int64_t first, int64_t count, const double *dcode)
{
    int64_t t = (int64_t)at[0], n = whole(p, TABLE_ROWS), i = t / n, j = t % n;
    double ratio = num(p, ALPHA) / (1 - num(p, ALPHA));
    for (int64_t c = 0; c < count; c++) { /* one after the other: they may be the same row */
        grad(p, dw, 0, j * p->width + first + c, dcode[c]);
        grad(p, dw, 0, i * p->width + first + c, ratio * dcode[c]);
        grad(p, dw, 0, first + c, -ratio * dcode[c]);
    }
}

static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    int64_t n = whole(p, TABLE_ROWS), i = at[0] / n, j = at[0] % n;
    double ratio = num(p, ALPHA) / (1 - num(p, ALPHA));
    if (i == 0) {
        tell_say(out, "table[%" PRId64 "][%" PRId64 "]", j, c);
        return;
    }
    tell_say(out, "%s · (table[%" PRId64 "][%" PRId64 "] - table[0][%" PRId64 "]) + table[%" PRId64 "][%" PRId64 "] = ",
             tell_factor(ratio).text, i, c, c, j, c);
    tell_say(out, "%s · (%s - %s) + %s", tell_factor(ratio).text, tell_factor(param(p, w, 0, i * p->width + c)).text,
             tell_factor(param(p, w, 0, c)).text, tell_factor(param(p, w, 0, j * p->width + c)).text);
}

const row pe_row_hierarchical = {
    .keys = keys,
    .info = { .name = "hierarchical",
              .summary =
                  "Extends a learned table of n rows to n^2 positions: each code combines a coarse row and a fine row.",
              .formula = "p_((i-1)n+j) = a u_i + (1-a) u_j, u_i = (p_i - a p_1)/(1-a), i, j = 1..n",
              .paper = "Su 2020 (kexue.fm/archives/7947)",
              .arxiv = "",
              .models = "BERT (stretched from 512 to 262144 positions)",
              .idea = PE_IDEA_ABSOLUTE,
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .key_trained = "rows",
              .trained_as = "learned",
              .example_count = COUNT_OF(examples) },
    .init = init,
    .check = check,
    .embed = embed,
    .embed_back = embed_back,
    .tell_embed = tell_code,
};

/* SPDX-License-Identifier: MIT
 *
 * What has to be learned, and how far a learned table reaches. */
#include "prove/measures.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------ parameters of the relative ones */

static pe_status count_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    measure_tally *t = with;
    pe_encoding *e;
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    PROVE_TRY(pe_encoding_new(&e, spec, shape, err));
    int64_t count = pe_encoding_param_count(e);
    bool relative = pe_encoding_claims(e) & PE_CLAIM_RELATIVE && pe_encoding_hooks(e);
    pe_encoding_free(e);
    if (!relative)
        return PE_OK;
    prove_add(t->out, (words){ "parameters", "参数量" }, spec, (double)count, "");
    measure_count(t, !count);
    return PE_OK;
}

/* given: spec (none: every row), heads, head_dim. HOLDS: no relative one has parameters, REFUTED: each has. */
pe_status measure_no_learning(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    PROVE_TRY(measure_each_row(count_row, &t, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "None of these relative encodings has parameters.", "这些相对编码都没有参数。" },
        { "Each of these relative encodings has parameters.", "这些相对编码都有参数。" },
        { "On the row: some follow from a formula, some are tables or functions that are trained.",
          "取决于编码：有的由公式给出，有的是要训练的表或函数。" },
    };
    measure_conclude(&t, (words){ "relative rows with parameters", "带参数的相对编码数" }, because);
    return PE_OK;
}

/* ------------------------------------------------ the end of a table */

static bool serves(const measure_encoding *m, int64_t position, double *code)
{
    return !measure_codes(code, m, position, 1, NULL);
}

/* Positions served from 0 on: what is served is an interval. */
static int64_t served(const measure_encoding *m, double *code)
{
    int64_t low = -1, high = PE_POSITION_MAX;
    if (serves(m, high, code))
        return high + 1;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        if (serves(m, middle, code))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Rows of the first tensor; 0 where nothing is learned. */
static int64_t table_rows(const measure_encoding *m)
{
    const pe_tensor *t = pe_encoding_tensor(m->e, 0);
    return t ? t->shape[0] : 0;
}

/* given: spec (one that adds codes), head_dim. REFUTED where positions past every table are served. */
pe_status measure_table_ends(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    pe_error past = { 0 };
    PROVE_TRY(measure_open_head(&m, g->spec[0], g, err));
    double *code = measure_memory(1, measure_width(&m), err);
    pe_status status = code ? measure_codes(code, &m, 0, 1, err) : PE_ERR_NOMEM;
    if (!status) {
        int64_t count = served(&m, code), rows = table_rows(&m);
        bool ends = rows > 0 && count <= rows && measure_codes(code, &m, count, 1, &past) == PE_ERR_POSITION;
        prove_add(out, (words){ "positions that have a code", "有编码的位置数" }, g->spec[0], (double)count, "");
        prove_add(out, (words){ "rows of the table", "表的行数" }, g->spec[0], (double)rows, "");
        prove_say(out, ends ? PROVE_HOLDS : PROVE_REFUTED,
                  ends ? (words){ "Past its last row the table has nothing: the library refuses the position.",
                                  "表的最后一行之后没有内容：库会拒绝这样的位置。" }
                       : (words){ "Positions past any table have codes too.", "超出任何表的位置也有编码。" });
    }
    free(code);
    measure_close(&m);
    return status;
}

/* ------------------------------------------------ beyond the table */

/* The smallest distance between any two of n codes. */
static double nearest_two(const double *code, int64_t n, int64_t width)
{
    double least = INFINITY;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < a; b++) {
            double far = 0;
            for (int64_t c = 0; c < width && far < least; c++)
                far += (code[a * width + c] - code[b * width + c]) * (code[a * width + c] - code[b * width + c]);
            least = fmin(least, far);
        }
    return sqrt(least);
}

static pe_status look_beyond(prove_finding *out, const measure_encoding *m, const prove_given *g, pe_error *err)
{
    int64_t width = measure_width(m), rows = table_rows(m), first = rows < g->length ? rows : g->length;
    double *code = measure_memory(g->length, width, err);
    if (!code)
        return PE_ERR_NOMEM;
    int64_t count = served(m, code), n = count < g->length ? count : g->length;
    pe_status status = measure_codes(code, m, 0, n, err);
    if (!status) {
        double near = nearest_two(code, n, width), apart = measure_difference(code, m->w.data, first * width);
        bool beyond = count == rows * rows && near > MEASURE_ROUNDING && apart < MEASURE_ROUNDING;
        prove_add(out, (words){ "positions that have a code", "有编码的位置数" }, g->spec[0], (double)count, "");
        prove_add(out, (words){ "rows of the table", "表的行数" }, g->spec[0], (double)rows, "");
        prove_add(out, (words){ "nearest two codes", "最接近的两个编码之间的距离" }, g->spec[0], near, "");
        prove_add(out, (words){ "first codes less the table, largest", "前若干个编码与原表的最大差" }, g->spec[0],
                  apart, "");
        prove_say(out, beyond ? PROVE_HOLDS : PROVE_REFUTED,
                  beyond ? (words){ "n rows serve n^2 positions, no two of them alike, the first n as they were.",
                                    "n 行的表可用于 n² 个位置，两两不同，且前 n 个与原表相同。" }
                         : (words){ "It serves no more positions than it has rows, or some of them share a code.",
                                    "可用的位置不多于表的行数，或有位置共用编码。" });
    }
    free(code);
    return status;
}

/* given: spec (with a learned table), head_dim, length (codes compared). REFUTED where n rows do not serve n^2. */
pe_status measure_beyond_table(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    PROVE_TRY(measure_open_head(&m, g->spec[0], g, err));
    pe_status status = table_rows(&m)
                           ? look_beyond(out, &m, g, err)
                           : io_fail(err, PE_ERR_UNSUITED, "%s has no table; needs one that is learned", g->spec[0]);
    measure_close(&m);
    return status;
}

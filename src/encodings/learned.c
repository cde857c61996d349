/* SPDX-License-Identifier: MIT
 *
 * learned: a trained vector per position; on several axes one table per axis, summed or each on its share of the width.
 * Past its end there is no code. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { TABLE_ROWS, OFFSET, MERGE, JOIN, WIDTH };
static const pe_key keys[] = {
    { "rows", PE_KEY_LIST, "512", 1, 0x1p31, NULL, NULL,
      "number of positions in the table; one number per axis: rows=14/14", "max_position_embeddings|length|n", false },
    { "offset", PE_KEY_INT, "0", -1048576, 1048576, NULL, NULL, "added to every position (OPT, BART: 2)", NULL, false },
    { "merge", PE_KEY_CHOICE, "sum", 0, 0, "sum|split", NULL,
      "how the codes of the axes are combined: added, or concatenated", NULL, false },
    EMBED_KEYS,
};
static const char *const examples[] = { "learned", "learned:rows=1026,offset=2", "learned:rows=14/14",
                                        "learned:rows=16/32,merge=split" };
static const char *const names[PE_AXES_MAX] = { "table",   "table_1", "table_2", "table_3",
                                                "table_4", "table_5", "table_6", "table_7" };

static pe_status init(part *p, pe_error *err)
{
    embed_init(p, JOIN);
    p->axes = p->value[TABLE_ROWS].count;
    bool split = num(p, MERGE) != 0;
    if (p->axes > PE_AXES_MAX)
        return part_fail(p, err, TABLE_ROWS, "has too many axes; needs 8 at most");
    if (split && p->width % p->axes)
        return part_fail(p, err, MERGE, "split needs a width that the number of axes divides");
    for (int64_t a = 0; a < p->axes; a++) {
        double rows = p->value[TABLE_ROWS].list[a];
        if (rows != floor(rows))
            return part_fail(p, err, TABLE_ROWS, "needs whole numbers");
        TRY(part_tensor(p,
                        (tensor){ .name = names[a],
                                  .about = "row t + offset: the code of coordinate t",
                                  .rank = 2,
                                  .shape = { (int64_t)rows, split ? p->width / p->axes : p->width },
                                  .fill = FILL_NORMAL,
                                  .a = 0.02,
                                  .rate = 10 },
                        err));
    }
    if (p->axes > 1)
        p->claims |= PE_CLAIM_AXES;
    return PE_OK;
}

static pe_status check(const part *p, pe_side side, pe_dtype type, const int64_t *at, pe_error *err)
{
    (void)side, (void)type;
    for (int64_t a = 0; a < p->axes; a++) {
        int64_t row_at = at[a] + whole(p, OFFSET), rows = p->tensor[a].shape[0];
        if (row_at < 0)
            return pe_fail(err, PE_ERR_POSITION,
                           "learned: position %" PRId64 " is row %" PRId64 "; rows start at 0: make offset larger",
                           at[a], row_at);
        if (row_at >= rows)
            return pe_fail(err, PE_ERR_POSITION,
                           "learned: position %" PRId64 " is row %" PRId64 " of a table of %" PRId64
                           "; make rows larger, or use "
                           "hierarchical, which reaches rows^2",
                           at[a], row_at, rows);
    }
    return PE_OK;
}

/* Where element c of a table's row at this coordinate lies. */
static int64_t index_of(const part *p, int64_t at, int64_t axis, int64_t c)
{
    return (at + whole(p, OFFSET)) * p->tensor[axis].shape[1] + c;
}

/* Of elements first .. first + count - 1 those that an axis' table has: all of them when axes sum, its share of the
 * width when they split it. */
typedef struct share {
    int64_t first, count; /* of the table's row */
    int64_t skip;         /* elements before them */
} share;

static share share_of(const part *p, int64_t axis, int64_t first, int64_t count)
{
    int64_t width = p->tensor[axis].shape[1], start = num(p, MERGE) != 0 ? axis * width : 0;
    int64_t low = first > start ? first : start;
    int64_t end = first + count < start + width ? first + count : start + width;
    return (share){ low - start, end > low ? end - low : 0, low - first };
}

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    bool split = num(p, MERGE) != 0;
    if (!split)
        code_fill(code, 0, count);
    for (int64_t a = 0; a < p->axes; a++) {
        share s = share_of(p, a, first, count);
        int64_t from = index_of(p, (int64_t)at[a], a, s.first);
        if (split)
            params_row(p, w, (int)a, from, code + s.skip, s.count);
        else
            params_add(p, w, (int)a, from, code, s.count);
    }
}

static void embed_back(const part *p, pe_params dw, const double *at, int64_t first, int64_t count, const double *dcode)
{
    for (int64_t a = 0; a < p->axes; a++) {
        share s = share_of(p, a, first, count);
        int64_t to = index_of(p, (int64_t)at[a], a, s.first);
        for (int64_t c = 0; c < s.count; c++)
            grad(p, dw, (int)a, to + c, dcode[s.skip + c]);
    }
}

/* One row of one table, or the sum of a row of each. */
static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    bool split = num(p, MERGE) != 0;
    int64_t own = c / (p->width / p->axes), width = p->tensor[0].shape[1];
    for (int64_t a = split ? own : 0; a < (split ? own + 1 : p->axes); a++)
        tell_say(out, "%s%s[%" PRId64 "][%" PRId64 "]", !split && a ? " + " : "", names[a], at[a] + whole(p, OFFSET),
                 c % width);
    for (int64_t a = 0; !split && p->axes > 1 && a < p->axes; a++)
        tell_say(out, "%s%s", a ? " + " : " = ",
                 tell_factor(param(p, w, (int)a, index_of(p, at[a], a, c % width))).text);
}

const row pe_row_learned = {
    .keys = keys,
    .info = { .name = "learned",
              .summary = "Adds a trained vector per position; positions past the end of the table have none.",
              .formula = "p_t = T[t + offset]",
              .paper = "Gehring et al. 2017",
              .arxiv = "1705.03122",
              .models = "BERT|GPT-2|OPT|BART|RoBERTa|ViT",
              .idea = PE_IDEA_ABSOLUTE,
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .key_trained = "rows",
              .example_count = COUNT_OF(examples),
              .also = "embedding|table|trainable" },
    .init = init,
    .check = check,
    .embed = embed,
    .embed_back = embed_back,
    .tell_embed = tell_code,
};

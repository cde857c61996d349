/* SPDX-License-Identifier: MIT
 *
 * cope: a query counts the keys that matter to it, and the count is the position.
 *   g_ij = sigmoid(q_i.k_j / sqrt(d)),  p_ij = min(sum of g_it over t = j..i, P-1),  score += q_i . e[p_ij]
 * with e interpolated between whole positions, after the scale (Golovneva et al. 2024). Keys run from right to left. */
#include "encodings/shared.h"

enum { POSITIONS, HEADS };
static const pe_key keys[] = {
    { "positions", PE_KEY_INT, "64", 2, 0x1p24, NULL, NULL, "P: number of rows of the table; counts are capped at P-1",
      "npos_max", false },
    { "heads", PE_KEY_CHOICE, "shared", 0, 0, "shared|own", NULL, "one table shared by all heads, or one per head",
      NULL, false },
};
static const char *const examples[] = { "cope", "cope:positions=16,heads=own" };

static pe_status init(part *p, pe_error *err)
{
    p->count = (counting){ .on = true, .table = 0, .scale = 1 / sqrt((double)p->shape.head_dim) };
    return part_tensor(
        p,
        (tensor){ .name = "table",
                  .about = "row p: the vector of count p",
                  .rank = 3,
                  .shape = { whole(p, POSITIONS), num(p, HEADS) != 0 ? p->shape.heads : 1, p->shape.head_dim },
                  .fill = FILL_NORMAL,
                  .a = 0.02,
                  .rate = 10 },
        err);
}

const row pe_row_cope = {
    .keys = keys,
    .info = { .name = "cope",
              .summary = "Contextual positions: a key's position is the number of keys, counted from right to left, "
                         "that the query finds relevant.",
              .formula = "p_ij = min(sum_(t=j..i) sigmoid(q_i.k_t/sqrt(d)), P-1), score += q_i . e[p_ij]",
              .paper = "Golovneva et al. 2024",
              .arxiv = "2405.18719",
              .models = "",
              .idea = PE_IDEA_DATA,
              .hooks = PE_HOOK_CONTENT,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
};

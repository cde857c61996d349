/* SPDX-License-Identifier: MIT
 *
 * cope: a query counts the keys that matter to it, and the count is the position.
 *   g_ij = sigmoid(q_i.k_j / sqrt(d)),  p_ij = min(sum of g_it over t = j..i, P-1),  score += q_i . e[p_ij]
 * with e interpolated between whole positions, after the scale (Golovneva et al. 2024). Keys run from right to left. */
#include "encodings/shared.h"

enum { POSITIONS, HEADS };
static const pe_key keys[] = {
    { "positions", PE_KEY_INT, "64", 2, 0x1p24, NULL, NULL, "P: rows of the table; counts are capped at P-1",
      "npos_max", false },
    { "heads", PE_KEY_CHOICE, "shared", 0, 0, "shared|own", NULL, "one table for all heads, or one each", NULL, false },
};
static const char *const examples[] = { "cope", "cope:positions=16,heads=own" };

static pe_status init(part *p, pe_error *err)
{
    return part_tensor(
        p,
        (tensor){ .name = "table",
                  .about = "row p: the vector of count p",
                  .rank = 3,
                  .shape = { whole(p, POSITIONS), num(p, HEADS) != 0 ? p->shape.heads : 1, p->shape.head_dim },
                  .fill = FILL_NORMAL,
                  .a = 0.02 },
        err);
}

static double gate(const part *p, double dot)
{
    return 1 / (1 + exp(-dot / sqrt((double)p->shape.head_dim)));
}

static double gate_slope(const part *p, double dot)
{
    double g = gate(p, dot);
    return g * (1 - g) / sqrt((double)p->shape.head_dim);
}

/* Element (position, d) of the table for this head. */
static int64_t element(const step *s, int64_t at, int64_t d)
{
    const int64_t *shape = s->p->tensor[0].shape;
    return (at * shape[1] + (shape[1] == 1 ? 0 : s->head)) * shape[2] + d;
}

/* The whole positions around a count, and how far it is from the lower to the upper. */
static int64_t lower(const step *s, double *part_way)
{
    int64_t last = whole(s->p, POSITIONS) - 1;
    double count = s->sum < (double)last ? fmax(s->sum, 0) : (double)last; /* sums taken apart may end below 0 */
    int64_t at = (int64_t)floor(count);
    if (at == last)
        at--;
    *part_way = count - (double)at;
    return at;
}

static double step_value(const step *s)
{
    double t, sum = 0;
    int64_t at = lower(s, &t);
    for (int64_t d = 0; d < s->p->shape.head_dim; d++)
        sum += vec_get(s->q, d) *
               ((1 - t) * param(s->p, s->w, 0, element(s, at, d)) + t * param(s->p, s->w, 0, element(s, at + 1, d)));
    return sum;
}

static double step_back(const step *s, double ds)
{
    double t, slope = 0;
    int64_t at = lower(s, &t);
    for (int64_t d = 0; d < s->p->shape.head_dim; d++) {
        double below = param(s->p, s->w, 0, element(s, at, d)), above = param(s->p, s->w, 0, element(s, at + 1, d));
        double q = vec_get(s->q, d);
        slope += q * (above - below);
        vec_add(s->dq, d, ds * ((1 - t) * below + t * above));
        grad(s->p, s->dw, 0, element(s, at, d), ds * (1 - t) * q);
        grad(s->p, s->dw, 0, element(s, at + 1, d), ds * t * q);
    }
    return s->sum < num(s->p, POSITIONS) - 1 ? ds * slope : 0;
}

const row pe_row_cope = {
    .info = { .name = "cope",
              .summary = "The position is a count of the keys a query finds relevant, taken from right to left.",
              .formula = "p_ij = min(sum_(t=j..i) sigmoid(q_i.k_t/sqrt(d)), P-1), score += q_i . e[p_ij]",
              .paper = "Golovneva et al. 2024",
              .arxiv = "2405.18719",
              .models = "",
              .hooks = PE_HOOK_CONTENT,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .keys = keys,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .gate = gate,
    .gate_slope = gate_slope,
    .step = step_value,
    .step_back = step_back,
};

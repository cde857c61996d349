/* SPDX-License-Identifier: MIT
 *
 * inkling: a vector projected from the query's token mixes trained profiles of the distance into a bias.
 *   score = tau_i (q.k/d + r_i . P[i-j]) for 0 <= i-j < N, else tau_i q.k/d; q.k/sqrt(d) with scale=sqrt
 *   tau_i = 1 + alpha ln(max((i+1)/floor, 1)), 1 without a floor             (transformers' inkling, inkling2)
 * The caller gives r, a few numbers per query and head. P is shared by the heads; a checkpoint's proj is its transpose.
 * The scale is 1/d because Inkling's queries and keys have unit size; Inkling 2 has them as they are, up to a norm. tau
 * multiplies queries, so it is their gain. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { DISTANCES, WIDTH, FLOOR, ALPHA, SCALE };
static const pe_key keys[] = {
    { "distances", PE_KEY_INT, "1024", 1, 0x1p24, NULL, NULL,
      "N: distances 0 to N-1 have a trained profile; nothing is added past them",
      "extent|rel_extent|sliding_window_size", false },
    { "width", PE_KEY_INT, "16", 1, PE_HEAD_DIM_MAX, NULL, NULL,
      "numbers of the vector that the caller gives per query and head", "d_rel", false },
    { "floor", PE_KEY_INT, "", 1, 0x1p36, NULL, NULL,
      "scores of queries from here on are multiplied by 1 + alpha ln((i+1)/floor); default: nowhere",
      "log_scaling_n_floor", false },
    { "alpha", PE_KEY_REAL, "0.1", 0, 1000, NULL, NULL, "see floor", "log_scaling_alpha", false },
    { "scale", PE_KEY_CHOICE, "d", 0, 0, "d|sqrt", NULL, "softmax scale 1/d as in Inkling, or 1/sqrt(d) as in Inkling 2",
      NULL, false },
};
static const char *const examples[] = { "inkling", "inkling:distances=6,width=4",
                                        "inkling:distances=32,floor=4,alpha=0.5,scale=sqrt" };

static int64_t row_of_distance(const part *p, int64_t distance)
{
    (void)p;
    return distance;
}

/* Queries alone are multiplied: no element rotates. */
static pe_status init_gain(part *p, pe_error *err)
{
    int64_t D = p->shape.head_dim;
    int64_t *rest = part_alloc(p, D, sizeof *rest, err);
    if (!rest)
        return PE_ERR_NOMEM;
    for (int64_t d = 0; d < D; d++)
        rest[d] = d;
    p->rest = rest;
    p->rests = D;
    p->hooks |= PE_HOOK_ROTATE;
    p->exact = p->gains = true;
    p->magnitude = 1;
    p->claims = (p->claims & ~PE_CLAIM_RELATIVE) | PE_CLAIM_INVERTIBLE;
    return PE_OK;
}

static pe_status init(part *p, pe_error *err)
{
    if (p->value[ALPHA].given && !p->value[FLOOR].given)
        return part_fail(p, err, ALPHA, "has a meaning only with floor");
    if (num(p, SCALE) == 0)
        p->scale = 1 / (double)p->shape.head_dim;
    p->term[p->terms++] =
        (term){ .side = PE_QUERY, .table = 0, .extra = -1, .index = row_of_distance, .input = whole(p, WIDTH) };
    if (p->value[FLOOR].given)
        TRY(init_gain(p, err));
    return part_tensor(p,
                       (tensor){ .name = "profiles",
                                 .about = "row: the distance; what the caller's vector is multiplied with",
                                 .rank = 3,
                                 .shape = { whole(p, DISTANCES), 1, whole(p, WIDTH) },
                                 .fill = FILL_NORMAL,
                                 .a = 0.02,
                                 .rate = 10 },
                       err);
}

static double gain(const part *p, pe_side side, const int64_t *at)
{
    double past = ((double)at[0] + 1) / num(p, FLOOR);
    return side == PE_QUERY && past > 1 ? 1 + num(p, ALPHA) * log(past) : 1;
}

static void tell_gain(const part *p, const int64_t *at, tell *out)
{
    tell_say(out, "1 + %s · log(max((%" PRId64 " + 1) / %s, 1))", tell_number(num(p, ALPHA)).text, at[0],
             tell_number(num(p, FLOOR)).text);
}

static void tell_scale(const part *p, tell *out)
{
    tell_say(out, "1 / %.0f", (double)p->shape.head_dim);
}

const row pe_row_inkling = {
    .keys = keys,
    .info = { .name = "inkling",
              .summary =
                  "Adds a bias by distance that the query's token mixes from trained profiles; zero past the last one.",
              .formula = "score = tau_i (q.k/d + r_i . P[i-j]), 0 <= i-j < N",
              .paper = "Thinking Machines Lab 2026 (transformers' inkling)",
              .arxiv = "",
              .models = "Inkling|Inkling 2 (scale=sqrt)",
              .hooks = PE_HOOK_CONTENT,
              .idea = PE_IDEA_DATA,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "relative-logits|rel-logits" },
    .init = init,
    .gain = gain,
    .tell_gain = tell_gain,
    .tell_scale = tell_scale,
};

/* SPDX-License-Identifier: MIT
 *
 * pope: queries and keys as magnitudes, their angles from positions alone, so that what a vector says and where it
 * stands do not mix.
 *   score = sum over c of softplus(q_c) softplus(k_c) cos((j-i) theta^(-c/d) + phase_hc)  in place of q.k
 * with a trained phase per key head and element, within -2 pi and 0 (Gopalakrishnan et al. 2025). */
#include "encodings/shared.h"

#include <inttypes.h>

enum { THETA, PHASES };
static const pe_key keys[] = {
    { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths", "base", false },
    { "phases", PE_KEY_CHOICE, "zero", 0, 0, "zero|uniform", NULL,
      "where training starts: all phases 0, or anywhere from -2 pi to 0", "bias_uniform_init", false },
};
static const char *const examples[] = { "pope", "pope:theta=1000,phases=uniform" };

static pe_status init(part *p, pe_error *err)
{
    int64_t D = p->shape.head_dim;
    double turn = 2 * acos(-1);
    wide f[POLAR_MAX];
    if (D > POLAR_MAX)
        return pe_fail(err, PE_ERR_SHAPE, "pope: head_dim is %" PRId64 "; needs %d or less", D, POLAR_MAX);
    double *frequency = part_alloc(p, 3 * D, sizeof *frequency, err);
    if (!frequency)
        return PE_ERR_NOMEM;
    spectrum(f, D, num(p, THETA), 2 * D);
    for (int64_t d = 0; d < D; d++)
        for (int i = 0; i < 3; i++)
            frequency[i * D + d] = f[d].part[i];
    p->polar = (polar_product){ .on = true, .frequency = frequency, .phases = p->tensors };
    p->stage = PE_BEFORE_SCALE;
    return part_tensor(p,
                       (tensor){ .name = "phases",
                                 .about = "radians: key head, element",
                                 .rank = 2,
                                 .shape = { p->shape.kv_heads, D },
                                 .fill = whole(p, PHASES) ? FILL_UNIFORM : FILL_CONSTANT,
                                 .a = whole(p, PHASES) ? -turn : 0,
                                 .b = 0,
                                 .min = -turn,
                                 .max = 0 },
                       err);
}

const row pe_row_pope = {
    .keys = keys,
    .info = { .name = "pope",
              .summary = "Polar coordinates: a query's and a key's elements are magnitudes, and their angle comes from "
                         "the distance and a trained phase alone.",
              .formula = "score = sum_c softplus(q_c) softplus(k_c) cos((j-i) theta^(-c/d) + phase_hc)",
              .paper = "Gopalakrishnan et al. 2025",
              .arxiv = "2509.10534",
              .models = "",
              .hooks = PE_HOOK_CONTENT,
              .idea = PE_IDEA_ROTATION,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE |
                        PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "polar" },
    .excused = PE_CLAIM_SYMMETRIC,
    .excuse = "phases that start at 0 give both directions the same score until they are trained",
    .init = init,
};

/* SPDX-License-Identifier: MIT
 *
 * xpos: RoPE whose pairs also shrink with distance. With zeta_i = (2i/d + g)/(1 + g), a query at n is multiplied by
 * zeta^((n-c)/B) and a key by zeta^-((n-c)/B), so that their product decays as zeta^((n-m)/B) (Sun et al. 2022). Far
 * from the centre c one side overflows: an error here; attention moves the centre to the query. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { THETA, PAIRS, GAMMA, BASE, CENTRE };
static const pe_key keys[] = {
    { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths", NULL, false },
    { "pairs", PE_KEY_CHOICE, "adjacent", 0, 0, "half|adjacent", NULL, "which elements form a pair", NULL, false },
    { "gamma", PE_KEY_REAL, "0.4", 0x1p-20, 0x1p20, NULL, NULL, "g: how slowly the lowest-frequency pair decays", NULL,
      false },
    { "base", PE_KEY_REAL, "512", 0x1p-20, 0x1p36, NULL, NULL, "B: positions per power of zeta", "scale_base", false },
    { "centre", PE_KEY_INT, "0", -0x1p36, 0x1p36, NULL, NULL, "c: the position at which the magnitude is 1", NULL,
      false },
};
static const char *const examples[] = { "xpos", "xpos:pairs=half,base=128,centre=100" };

typedef struct xpos {
    pair *pair;
    lane *lane;
    double *decay;
} xpos;

static pe_status init(part *p, pe_error *err)
{
    int64_t D = p->shape.head_dim, P = D / 2;
    if (D % 2)
        return pe_fail(err, PE_ERR_SHAPE, "xpos: head_dim is %" PRId64 "; needs an even number", D);
    xpos *x = part_alloc(p, (int64_t)(sizeof *x + (size_t)P * (sizeof(pair) + sizeof(lane) + sizeof(double))), 1, err);
    if (!x)
        return PE_ERR_NOMEM;
    x->pair = (pair *)(x + 1);
    x->lane = (lane *)(x->pair + P);
    x->decay = (double *)(x->lane + P);
    for (int64_t i = 0; i < P; i++) {
        wide exponent = wide_div(wide_from((double)(2 * i)), wide_from((double)D));
        x->pair[i] = (pair){ .frequency = theta_power(num(p, THETA), exponent), .multiplier = 1 };
        x->lane[i] = num(p, PAIRS) != 0 ? (lane){ 2 * i, 2 * i + 1 } : (lane){ i, i + P };
        x->decay[i] = log((2 * (double)i / (double)D + num(p, GAMMA)) / (1 + num(p, GAMMA))) / num(p, BASE);
    }
    p->pair = x->pair;
    p->from = p->to = x->lane;
    p->pairs = P;
    p->exact = true;
    p->decay = x->decay;
    p->magnitude = 1;
    p->recentres = true;
    p->centre = whole(p, CENTRE);
    return PE_OK;
}

/* ln of the magnitude: queries shrink where keys grow. */
static double exponent_of(const part *p, pe_side side, int64_t at, int64_t n)
{
    double e = ((double)at - num(p, CENTRE)) * p->decay[n];
    return side == PE_KEY ? -e : e;
}

static pair_rotation xpos_rotate(const part *p, pe_side side, const int64_t *at, int64_t n)
{
    pair_rotation t = { .magnitude = exp(exponent_of(p, side, at[0], n)) };
    turn_cos_sin((double)at[0], p->pair[n].frequency, &t.cosine, &t.sine);
    return t;
}

/* How far the logarithm of a magnitude may go, with room for the vector it multiplies; the first pair moves fastest. */
static pe_status check(const part *p, pe_side side, pe_dtype type, const int64_t *at, pe_error *err)
{
    static const double most[PE_BOOL + 1] = { [PE_F32] = 80, [PE_F16] = 8, [PE_BF16] = 80, [PE_F64] = 600 };
    if (fabs(exponent_of(p, side, at[0], 0)) > most[type])
        return pe_fail(err, PE_ERR_POSITION,
                       "xpos: position %" PRId64 " is too far from centre %" PRId64
                       " for this type; move centre near it, "
                       "or let attention do so",
                       at[0], p->centre);
    return PE_OK;
}

/* "m_1 = ((2 · 1/8 + 0.4) / (1 + 0.4))^((5 - 0) / 512) = 0.9925", then its frequency. */
static void tell_xpos_pair(const part *p, const pe_question *of, tell *out)
{
    int64_t D = p->shape.head_dim, n = of->element;
    number_text g = tell_number(num(p, GAMMA));
    tell_say(out,
             "m_%" PRId64 " = ((2 · %" PRId64 "/%" PRId64 " + %s) / (1 + %s))^(%s(%" PRId64 " - %" PRId64
             ") / %s) = %s\n",
             n, n, D, g.text, g.text, of->side == PE_KEY ? "-" : "", of->q_at[0], p->centre,
             tell_number(num(p, BASE)).text, tell_number(exp(exponent_of(p, of->side, of->q_at[0], n))).text);
    tell_say(out, "%s^(-%" PRId64 "/%" PRId64 ")", tell_number(num(p, THETA)).text, 2 * n, D);
}

const row pe_row_xpos = {
    .keys = keys,
    .info = { .name = "xpos",
              .summary = "RoPE with decay: queries and keys are also scaled by inverse factors, so scores shrink with "
                         "distance.",
              .formula = "q zeta^((n-c)/B), k zeta^-((n-c)/B), zeta_i = (2i/d + g)/(1 + g), both rotated as in RoPE",
              .paper = "Sun et al. 2022",
              .arxiv = "2212.10554",
              .models = "LeX Transformer|RetNet (its rotation)",
              .idea = PE_IDEA_ROTATION,
              .hooks = PE_HOOK_ROTATE,
              .claims =
                  PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_LINEAR | PE_CLAIM_RELATIVE | PE_CLAIM_INVERTIBLE,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .rotate = xpos_rotate,
    .tell_pair = tell_xpos_pair,
    .check = check,
};

/* SPDX-License-Identifier: MIT
 *
 * The ideal properties of one spec: the list of predicates, in the order of the claim bits, and its words. */
#include "prove/property.h"

#include <math.h>

#define EXACT 1e-13
#define TRIES 100

/* ---------------------------------------------------------------- vectors that are touched */

static double length_change(const double *y, int64_t W, const double *x, int64_t C)
{
    return fabs(sqrt(measure_dot(y, y, W) / measure_dot(x, x, C)) - 1);
}

static double turn_change(property_subject *s, double *y, const int64_t *at)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    double worst = 0;
    for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
        if (property_turned(s, (pe_side)side, y, s->q, H, at))
            io_fail(&s->err, PE_ERR_POSITION, "%.100s: a position inside its range is refused", s->spec);
        for (int64_t h = 0; h < H; h++)
            worst = fmax(worst, length_change(y + h * D, D, s->q + h * D, D));
    }
    return worst;
}

property_verdict property_norm(property_subject *s)
{
    unsigned hooks = pe_encoding_hooks(s->e);
    int64_t HD = s->shape.heads * s->shape.head_dim, C = s->shape.model_dim, W = property_embed_size(s);
    if (!(hooks & (PE_HOOK_EMBED | PE_HOOK_ROTATE)))
        return PROPERTY_NOTHING; /* touches no vector */
    double *x = property_doubles(s, C), *y = property_doubles(s, W + HD), worst = 0;
    for (int n = 0; x && y && n < TRIES && !s->err.status; n++) {
        int64_t at[PE_AXES_MAX];
        property_random(s, PE_POSITION_MAX, at);
        for (int64_t c = 0; c < C; c++)
            x[c] = measure_uniform(&s->randomness);
        if (W && pe_embed(s->e, pe_view_of(y, PE_F64, 1, 1, 1, W), pe_view_of(x, PE_F64, 1, 1, 1, C),
                          property_positions(s, at, 1), &PE_MAKE(pe_run, .params = s->w), &s->err))
            break;
        worst = fmax(worst, W ? length_change(y, W, x, C) : 0);
        worst = fmax(worst, hooks & PE_HOOK_ROTATE ? turn_change(s, y, at) : 0);
    }
    return (property_verdict){ worst < EXACT ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

property_verdict property_invertible(property_subject *s)
{
    int64_t H = s->shape.heads, D = s->shape.head_dim;
    if (!(pe_encoding_hooks(s->e) & PE_HOOK_ROTATE))
        return PROPERTY_NOTHING;
    double *y = property_doubles(s, H * D), worst = 0;
    for (int n = 0; y && n < TRIES; n++) {
        int64_t at[PE_AXES_MAX];
        property_random(s, PE_POSITION_MAX, at);
        for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
            pe_view v = pe_view_of(y, PE_F64, 1, 1, H, D);
            bool bad = property_turned(s, (pe_side)side, y, s->q, H, at) ||
                       s->undo(s->e, (pe_side)side, v, v, property_positions(s, at, 1),
                               &PE_MAKE(pe_run, .params = s->w), NULL);
            worst = fmax(worst, bad ? (double)INFINITY : measure_difference(y, s->q, H * D));
        }
    }
    return (property_verdict){ worst < EXACT ? PROPERTY_HOLDS : PROPERTY_FAILS, worst };
}

property_verdict property_learned(property_subject *s)
{
    int64_t n = pe_encoding_param_count(s->e);
    return (property_verdict){ n > 0 ? PROPERTY_HOLDS : PROPERTY_FAILS, (double)n };
}

/* ---------------------------------------------------------------- all of them */

property_predicate *const property_predicates[CLAIM_COUNT] = {
    property_unique, property_any_length, property_bounded,    property_linear,  property_relative, property_norm,
    property_axes,   property_symmetric,  property_invertible, property_endless, property_learned,
};

/* Of each: the sentence, and what its number is. */
static const struct {
    words sentence, number;
} said[CLAIM_COUNT] = {
    { { "no two positions share a code", "任意两个位置的编码都不同（唯一）" },
      { "nearest two codes, relative", "最近两个编码的相对距离" } },
    { { "a position's code does not depend on the length of the sequence", "同一位置的编码与序列长度无关" },
      { "largest change with the length", "随长度的最大变化" } },
    { { "the code stays within a bound however far the position", "位置再远，编码也有界" },
      { "largest element far away / nearby", "远处最大值与近处最大值之比" } },
    { { "code(t + k) = M(k) code(t), one M for all t", "code(t + k) = M(k) code(t)，M 与 t 无关（平移是线性的）" },
      { "largest residual of M(k) code(t)", "M(k) code(t) 的最大残差" } },
    { { "the score depends on i - j only", "注意力分数只依赖相对位置 i - j" },
      { "largest change when both move", "两者同时平移时的最大变化" } },
    { { "the vectors it touches keep their length", "经过它的向量模长不变" },
      { "largest change of a length", "模长的最大变化" } },
    { { "axes do not mix", "各坐标轴互不混合" }, { "largest mixed difference", "最大混合差分" } },
    { { "i before j and j before i look alike, for equal contents",
        "内容相同时，i 在 j 前与 j 在 i 前没有区别（对称）" },
      { "largest difference, ahead and back", "向前与向后的最大差异" } },
    { { "unrotate undoes rotate", "反向旋转能还原（可逆）" },
      { "largest difference after turning back", "转回之后的最大差异" } },
    { { "every position up to 2^36 has a code", "直到 2^36 的每个位置都有编码（长度无上限）" },
      { "of 4 farthest pairs refused", "最远的 4 对中被拒绝的" } },
    { { "has parameters to train", "含可训练参数" }, { "parameters", "参数个数" } },
};

words prove_property_words(unsigned claim)
{
    for (int b = 0; b < CLAIM_COUNT; b++)
        if (claim == 1u << b)
            return said[b].sentence;
    return (words){ "", "" };
}

pe_status property_ask(property_verdict *out, property_subject *s, int bit, pe_error *err)
{
    *out = property_predicates[bit](s);
    property_release(s, NULL);
    return s->err.status ? io_fail(err, s->err.status, "%s", s->err.text) : PE_OK;
}

pe_status prove_properties(property_found out[CLAIM_COUNT], const char *spec, pe_shape shape, pe_error *err)
{
    property_subject s;
    PROVE_TRY(property_open(&s, spec, shape, PROPERTY_SEED, err));
    pe_status status = PE_OK;
    for (int b = 0; !status && b < CLAIM_COUNT; b++) {
        property_verdict v;
        status = property_ask(&v, &s, b, err);
        if (1u << b == PE_CLAIM_LEARNED) /* a fact, no merit */
            v.is = v.is == PROPERTY_HOLDS ? PROPERTY_YES : PROPERTY_NO;
        out[b] = (property_found){ .claim = 1u << b,
                                   .is = v.is,
                                   .number = v.number,
                                   .what = said[b].number,
                                   .claimed = pe_encoding_claims(s.e) & 1u << b };
    }
    property_close(&s);
    return status;
}

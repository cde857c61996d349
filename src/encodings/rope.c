/* SPDX-License-Identifier: MIT
 *
 * rope: pairs of elements of q and k rotated by an angle proportional to the position, so that q.k depends on the
 * difference of positions only.
 *   (x, y) -> m (x cos a - y sin a, x sin a + y cos a),  a = t f_i,  f_i = theta^(-2i/d)      (Su et al. 2021)
 * Variants are points on axes (keys), not classes: how pairs lie, which elements rotate, how frequencies are scaled
 * (rope_scaling.c), which coordinate drives a pair, what multiplies, how the angle is formed. */
#include "encodings/rope.h"

#include <inttypes.h>

static const pe_key keys[ROPE_KEYS] = {
    [THETA] = { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths",
                "rope_theta|base|rope_base|freq_base|rotary_emb_base", false },
    [PAIRS] = { "pairs", PE_KEY_CHOICE, "half", 0, 0, "half|adjacent|adjacent-half", NULL,
                "which elements form a pair: i and i+d/2 [ccss], 2i and 2i+1 [cscs], or read as cscs and written as "
                "ccss",
                "style|layout|mode|is_neox|interleaved|rope_interleave", false },
    [DIMS] = { "dims", PE_KEY_INT, "", 0, PE_HEAD_DIM_MAX, NULL, NULL,
               "number of elements of a head that are rotated; default: all", "rotary_dim|rope_dim|n_rot|n_dims|width",
               false },
    [FRACTION] = { "fraction", PE_KEY_REAL, "", 0, 1, NULL, NULL,
                   "the same as a fraction of the head dimension, rounded down",
                   "partial_rotary_factor|rotary_pct|rope_pct|rope_percent|partial", false },
    [RANGE] = { "range", PE_KEY_CHOICE, "leading", 0, 0, "leading|trailing", NULL, "which end of the head is rotated",
                NULL, false },
    [SIGN] = { "sign", PE_KEY_CHOICE, "positive", 0, 0, "positive|negative", NULL,
               "direction of the rotation (nanochat: negative)", NULL, false },
    [DENOMINATOR] = { "denominator", PE_KEY_CHOICE, "d", 0, 0, "d|d-2|d-1", NULL,
                      "exponent 2i/d, 2i/(d-2), or 2i/(d-1) (transformers, where an odd number of elements would be "
                      "rotated)",
                      NULL, false },
    [SCALING] = { "scaling", PE_KEY_CHOICE, "none", 0, 0, "none|linear|dynamic|ntk|yarn|longrope|llama3|proportional",
                  NULL, "how frequencies are changed for longer contexts", "rope_type|type|rope_scaling|scaling_type",
                  false },
    [FACTOR] = { "factor", PE_KEY_REAL, "", 0x1p-20, 0x1p20, NULL,
                 "scaling=linear|dynamic|yarn|longrope|llama3|proportional",
                 "how many times longer than the trained length", "scaling_factor|freq_scale", false },
    [ALPHA] = { "alpha", PE_KEY_REAL, "", 0x1p-20, 1e12, NULL, "scaling=ntk", "theta is multiplied by alpha^(d/(d-2))",
                NULL, true },
    [TRAINED] = { "trained", PE_KEY_INT, "", 1, 0x1p36, NULL, "scaling=dynamic|yarn|longrope|llama3",
                  "length the model was trained at",
                  "original_max_position_embeddings|original_context_length|n_ctx_orig|max_position_embeddings", true },
    [LENGTH] = { "length", PE_KEY_INT, "", 1, 0x1p36, NULL, "scaling=dynamic|longrope",
                 "current sequence length; default: trained", "seq_len|n|n_ctx", false },
    [BETA_FAST] = { "beta_fast", PE_KEY_REAL, "32", 0x1p-20, 0x1p36, NULL, "scaling=yarn",
                    "a pair that completes more turns than this in training keeps its frequency", NULL, false },
    [BETA_SLOW] = { "beta_slow", PE_KEY_REAL, "1", 0x1p-20, 0x1p36, NULL, "scaling=yarn",
                    "a pair that completes fewer turns than this is interpolated", NULL, false },
    [TRUNCATE] = { "truncate", PE_KEY_CHOICE, "yes", 0, 0, "no|yes", "scaling=yarn",
                   "round the ends of the ramp outwards to whole pairs", NULL, false },
    [MSCALE] = { "mscale", PE_KEY_REAL, "", 0, 1000, NULL, "scaling=yarn",
                 "magnitude g(factor, mscale) / g(factor, mscale_all_dim)", NULL, false },
    [MSCALE_ALL_DIM] = { "mscale_all_dim", PE_KEY_REAL, "", 0, 1000, NULL, "scaling=yarn",
                         "see mscale; g(s, m) = 0.1 m ln s + 1", NULL, false },
    [LOW] = { "low", PE_KEY_REAL, "1", 0x1p-20, 0x1p36, NULL, "scaling=llama3",
              "a pair that completes fewer turns than this in training is interpolated", "low_freq_factor", false },
    [HIGH] = { "high", PE_KEY_REAL, "4", 0x1p-20, 0x1p36, NULL, "scaling=llama3",
               "a pair that completes more turns than this keeps its frequency", "high_freq_factor", false },
    [TURNING] = { "turning", PE_KEY_REAL, "", 0, 1, NULL, "scaling=proportional",
                  "fraction of the pairs that are rotated at all (p-RoPE)", NULL, true },
    [SHORT] = { "short", PE_KEY_LIST, "", 0x1p-20, 0x1p20, NULL, "scaling=longrope",
                "a divisor per pair, used up to the trained length", "short_factor", true },
    [LONG] = { "long", PE_KEY_LIST, "", 0x1p-20, 0x1p20, NULL, "scaling=longrope",
               "a divisor per pair, used past the trained length", "long_factor", true },
    [SHORT_MAGNITUDE] = { "short_magnitude", PE_KEY_REAL, "", 0x1p-20, 0x1p20, NULL, "scaling=longrope",
                          "magnitude used with short (Phi-MoE)", "short_mscale", false },
    [LONG_MAGNITUDE] = { "long_magnitude", PE_KEY_REAL, "", 0x1p-20, 0x1p20, NULL, "scaling=longrope",
                         "magnitude used with long (Phi-MoE)", "long_mscale", false },
    [AXES] = { "axes", PE_KEY_INT, "1", 1, PE_AXES_MAX, NULL, NULL, "coordinates per token", NULL, false },
    [SPLIT] = { "split", PE_KEY_CHOICE, "chunked", 0, 0, "chunked|interleaved|axial|blocks|oddeven|alternate|tail",
                NULL,
                "how the axes share the pairs. One spectrum for all axes: chunked (Qwen2-VL), interleaved (Qwen3-VL; "
                "axes alternate until their section is used up, the first axis takes the rest), tail (ERNIE 4.5 VL; "
                "the other axes alternate, the first has the last pairs), oddeven (Pixtral). One spectrum per axis: "
                "axial (ViT), blocks with pairs inside each axis' block (Gemma 4), alternate",
                NULL, false },
    [SECTIONS] = { "sections", PE_KEY_LIST, "", 0, PE_HEAD_DIM_MAX, NULL, NULL,
                   "number of pairs of each axis: 16/24/24; default: equal",
                   "mrope_section|rope_sections|xdrope_section", false },
    [COORDS] = { "coords", PE_KEY_CHOICE, "index", 0, 0, "index|normalised", NULL,
                 "normalised: the angle is 2 pi c f, with c the centre of the cell scaled to -1..1 (DINOv3)", NULL,
                 false },
    [EXTENT] = { "extent", PE_KEY_LIST, "", 1, 0x1p31, NULL, "coords=normalised",
                 "number of cells along each axis: 14/14", NULL, true },
    [MAGNITUDE] = { "magnitude", PE_KEY_REAL, "", 0x1p-20, 0x1p20, NULL, NULL,
                    "factor on cos and sin; default: the scaling's own",
                    "attention_factor|attn_factor|attention_scaling", false },
    [SOFTMAX] = { "softmax", PE_KEY_REAL, "1", 0x1p-20, 0x1p20, NULL, NULL,
                  "factor on the softmax scale (DeepSeek: g(s, m)^2)", NULL, false },
    [TEMPERATURE] = { "temperature", PE_KEY_REAL, "0", 0, 1000, NULL, NULL,
                      "b: queries are multiplied by 1 + b ln(1 + floor((t + shift)/floor)) (Llama 4: 0.1 with dims=0, "
                      "its layers "
                      "without rotation)",
                      "attn_scale|attn_temperature|llama_4_scaling_beta", false },
    [FLOOR] = { "floor", PE_KEY_INT, "8192", 1, 0x1p36, NULL, NULL, "see temperature", "floor_scale", false },
    [SHIFT] = { "shift", PE_KEY_INT, "0", 0, 1, NULL, NULL, "see temperature (Llama 4: 1, Ministral 3: 0)", NULL,
                false },
    [TURN] = { "turn", PE_KEY_CHOICE, "qk", 0, 0, "qk|qkv|qko|qkvo", NULL,
               "which vectors are rotated; o: the output is rotated back and its magnitude undone (DeepSeek-V4, with "
               "magnitude=1)",
               NULL, false },
    [PRECISION] = { "precision", PE_KEY_CHOICE, "exact", 0, 0, "exact|hf|ggml", NULL,
                    "how angles are computed: exactly, or as transformers (hf) or ggml do in float32", NULL, false },
    [FREQUENCIES] = { "frequencies", PE_KEY_LIST, "", 0, FREQUENCY_MAX, NULL, "scaling=none",
                      "angle in radians per position, for each pair; replaces theta", "inv_freq|freqs", false },
    [STEPS] = { "steps", PE_KEY_LIST, "", 0x1p-20, 0x1p20, NULL, "precision=exact",
                "what coordinates are multiplied by: one number, or one per axis: 1/0.5/0.5", NULL, false },
    [LEARNED] = { "learned", PE_KEY_CHOICE, "no", 0, 0, "no|shared|heads", "precision=exact",
                  "train the frequencies, starting from these: one set, or one per key head (GRAPE-M, RoPE-Mixed)",
                  NULL, false },
    [START] = { "start", PE_KEY_CHOICE, "axis", 0, 0, "axis|mixed", "learned=shared|heads",
                "with two axes: a pair's frequency starts on its own axis, or in a direction of its head's own "
                "(RoPE-Mixed)",
                NULL, false },
};

static const char *const examples[] = {
    "rope",
    "rope:theta=500000,pairs=adjacent",
    "rope:pairs=adjacent-half",
    "rope:dims=32,range=trailing,sign=negative",
    "rope:scaling=linear,factor=4",
    "rope:scaling=dynamic,factor=2,trained=2048,length=6000",
    "rope:scaling=ntk,alpha=8",
    "rope:scaling=yarn,factor=4,trained=2048",
    "rope:scaling=longrope,factor=8,trained=1024,length=5000,magnitude=1.1,"
    "short=1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1,"
    "long=1/1/1/1/1/1/1/1/2/2/2/2/2/2/2/2/4/4/4/4/4/4/4/4/8/8/8/8/8/8/8/8",
    "rope:theta=500000,scaling=llama3,factor=8,trained=8192",
    "rope:scaling=proportional,turning=0.25",
    "rope:sections=8/12/12",
    "rope:sections=12/10/10,split=interleaved",
    "rope:sections=8/12/12,split=tail",
    "rope:axes=2,split=axial",
    "rope:theta=100,axes=2,split=blocks",
    "rope:axes=2,split=oddeven",
    "rope:axes=4,split=alternate,pairs=adjacent",
    "rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14",
    "rope:magnitude=1.25,temperature=0.1,floor=64,shift=1",
    "rope:turn=qkvo,magnitude=0.8",
    "rope:precision=hf",
    "rope:precision=ggml",
    "rope:scaling=yarn,factor=4,trained=2048,precision=hf",
    "rope:scaling=yarn,factor=4,trained=2048,precision=ggml",
    "rope:dims=8,frequencies=1/0.3/0.05/0.001",
    "rope:axes=2,split=axial,steps=1/0.25",
    "rope:learned=heads",
    "rope:learned=shared,axes=2",
    "rope:theta=10,pairs=adjacent,axes=2,split=axial,learned=heads,start=mixed",
};

/* ------------------------------------------------ which coordinate drives which pair */

static int64_t section(const part *p, int64_t axis)
{
    const value *v = &p->value[SECTIONS];
    return v->given ? (int64_t)v->list[axis] : p->pairs / p->axes;
}

slot rope_slot(const part *p, int64_t n)
{
    int64_t axis = 0, start = 0, W = 2 * p->pairs;
    split how = p->axes == 1 ? CHUNKED : (split)whole(p, SPLIT);
    if (how == INTERLEAVED) { /* axes alternate while they last; the first takes what is left */
        axis = n % p->axes;
        return (slot){ n < p->axes * section(p, axis) ? axis : 0, n, W, n };
    }
    if (how == TAIL) /* the other axes alternate; the first has the last pairs */
        return (slot){ n < p->pairs - section(p, 0) ? 1 + n % (p->axes - 1) : 0, n, W, n };
    if (how == ALTERNATE)
        return (slot){ n % p->axes, n / p->axes, W / p->axes, n };
    if (p->axes > 1)
        for (; axis < p->axes - 1 && n >= start + section(p, axis); axis++)
            start += section(p, axis);
    switch (how) {
    case CHUNKED: return (slot){ axis, n, W, start };
    case ODDEVEN: return (slot){ axis, p->axes * (n - start) + axis, W, start };
    default: return (slot){ axis, n - start, 2 * section(p, axis), start };
    }
}

static pe_status check_axes(part *p, pe_error *err)
{
    value *v = &p->value[SECTIONS];
    split how = (split)whole(p, SPLIT);
    if (v->given && v->count > PE_AXES_MAX)
        return part_fail(p, err, SECTIONS, "has too many axes; needs 8 at most");
    if (v->given && !p->value[AXES].given)
        p->value[AXES] = (value){ .num = (double)v->count, .given = true };
    p->axes = whole(p, AXES);
    if (v->given) {
        double sum = 0;
        for (int64_t a = 0; a < v->count; a++) {
            sum += v->list[a];
            if (v->list[a] != floor(v->list[a]))
                return part_fail(p, err, SECTIONS, "needs whole numbers of pairs");
        }
        if (v->count != p->axes || sum != (double)p->pairs)
            return pe_fail(err, PE_ERR_SPEC,
                           "rope: sections holds %" PRId64 " numbers that add up to %s; needs %" PRId64
                           " (axes) that add up to %" PRId64 " pairs",
                           v->count, text_show(sum).text, p->axes, p->pairs);
    }
    if (p->axes == 1 && p->value[SPLIT].given)
        return part_fail(p, err, SPLIT, "has a meaning only with axes of 2 or more");
    if (p->axes > 1 && !v->given && p->pairs % p->axes)
        return pe_fail(err, PE_ERR_SHAPE,
                       "rope: %" PRId64 " pairs do not split into %" PRId64 " axes; give sections or other dims",
                       p->pairs, p->axes);
    if (p->axes > 1 && v->given && (how == ODDEVEN || how == ALTERNATE))
        return part_fail(p, err, SECTIONS, "has no meaning with split=oddeven or alternate, which share equally");
    for (int64_t a = 2; how == TAIL && v->given && a < v->count; a++)
        if (v->list[a] != v->list[1])
            return part_fail(p, err, SECTIONS, "needs equal numbers for all axes but the first with split=tail");
    bool equal = v->given;
    for (int64_t a = 0; equal && a < v->count; a++)
        equal = v->list[a] == v->list[0];
    v->given = v->given && !equal; /* one canonical form */
    return PE_OK;
}

/* ------------------------------------------------ which elements form a pair */

static void lay_pairs(const part *p, rope *r, int64_t first)
{
    bool blocks = p->axes > 1 && whole(p, SPLIT) == BLOCKS;
    for (int64_t n = 0; n < p->pairs; n++) {
        slot s = rope_slot(p, n);
        int64_t base = first, m = n, half = p->pairs;
        if (blocks) {
            base = first + 2 * s.start;
            m = n - s.start;
            half = section(p, s.axis);
        }
        lane split_lane = { base + m, base + m + half }, adjacent = { base + 2 * m, base + 2 * m + 1 };
        r->from[n] = whole(p, PAIRS) == 0 ? split_lane : adjacent;
        r->to[n] = whole(p, PAIRS) == 1 ? adjacent : split_lane;
    }
}

static pe_status settle_dims(part *p, int64_t *first, pe_error *err)
{
    int64_t D = p->shape.head_dim, dims = D;
    if (p->value[DIMS].given && p->value[FRACTION].given)
        return part_fail(p, err, FRACTION, "give dims or fraction, not both");
    if (p->value[DIMS].given)
        dims = whole(p, DIMS);
    if (p->value[FRACTION].given)
        dims = (int64_t)((double)D * num(p, FRACTION));
    if (dims > D || dims % 2)
        return pe_fail(err, PE_ERR_SHAPE,
                       "rope: %" PRId64 " elements rotate; needs an even number up to head_dim, %" PRId64, dims, D);
    if (dims != D && whole(p, SCALING) == PROPORTIONAL)
        return part_fail(p, err, DIMS, "scaling=proportional spans the whole head; give turning instead");
    p->value[FRACTION] = (value){ 0 };
    p->value[DIMS] = (value){ .num = (double)dims, .given = dims != D }; /* one canonical form */
    if (dims == D)
        p->value[RANGE].num = 0; /* both ends are the whole head */
    *first = num(p, RANGE) != 0 ? D - dims : 0;
    p->pairs = dims / 2;
    return PE_OK;
}

/* ------------------------------------------------ angles */

static pair_rotation rope_rotate(const part *p, pe_side side, const int64_t *at, int64_t n)
{
    static float (*const in_float[])(const float_pair *, int64_t) = { [HF] = rope_angle_hf, [GGML] = rope_angle_ggml };
    (void)side;
    const rope *r = p->state;
    const pair *f = &p->pair[n];
    int64_t steps = at[f->axis] * f->multiplier + f->shift;
    pair_rotation t = { .magnitude = r->magnitude };
    if (r->precision != EXACT)
        turn_cos_sin(in_float[r->precision](&r->as_float[n], steps), turn_per_radian, &t.cosine, &t.sine);
    else
        turn_cos_sin((double)steps, f->frequency, &t.cosine, &t.sine);
    return t;
}

static double rope_gain(const part *p, pe_side side, const int64_t *at)
{
    double b = num(p, TEMPERATURE);
    if (side != PE_QUERY || b == 0)
        return 1;
    double blocks = floor(((double)at[0] + num(p, SHIFT)) / num(p, FLOOR));
    return 1 + b * log1p(blocks > 0 ? blocks : 0);
}

/* ------------------------------------------------ making it */

/* One block: the struct, then its arrays. */
static rope *allocate(part *p, pe_error *err)
{
    int64_t P = p->pairs, D = p->shape.head_dim;
    size_t each = 2 * sizeof(lane) + sizeof(pair) + sizeof(float_pair);
    rope *r = part_alloc(p, (int64_t)(sizeof *r + (size_t)P * each + (size_t)D * sizeof(int64_t)), 1, err);
    if (!r)
        return NULL;
    r->from = (lane *)(r + 1);
    r->to = r->from + P;
    r->pair = (pair *)(r->to + P);
    r->as_float = (float_pair *)(r->pair + P);
    r->rest = (int64_t *)(r->as_float + P);
    p->from = r->from;
    p->to = r->to;
    p->pair = r->pair;
    p->rest = r->rest;
    return r;
}

static pe_status normalise(const part *p, pair *f, pe_error *err)
{
    const value *v = &p->value[EXTENT];
    if (!v->given || v->count != p->axes)
        return part_fail(p, err, EXTENT, "needs a number of cells per axis with coords=normalised: extent=14/14");
    double cells = v->list[f->axis];
    if (cells != floor(cells))
        return part_fail(p, err, EXTENT, "needs whole numbers");
    f->multiplier = 2; /* c = 2 (t + 1/2)/N - 1 = (2t + 1 - N)/N; the frequency carries the 1/N */
    f->shift = 1 - (int64_t)cells;
    return PE_OK;
}

/* Whether every coordinate rotates some pair: one that rotates none leaves no trace. */
static bool every_axis_rotates(const part *p)
{
    for (int64_t a = 0; a < p->axes; a++) {
        bool rotates = false;
        for (int64_t n = 0; n < p->pairs; n++)
            rotates = rotates || (p->pair[n].axis == a && p->pair[n].frequency.part[0] != 0);
        if (!rotates)
            return false;
    }
    return true;
}

static void settle_claims(part *p, const rope *r)
{
    scaling how = (scaling)whole(p, SCALING);
    unsigned lost = 0;
    if (how == DYNAMIC || how == LONGROPE || num(p, COORDS) != 0)
        lost |= PE_CLAIM_ANY_LENGTH;
    if (num(p, TEMPERATURE) != 0)
        lost |= PE_CLAIM_RELATIVE | PE_CLAIM_NORM | PE_CLAIM_LINEAR | PE_CLAIM_SYMMETRIC | PE_CLAIM_BOUNDED;
    if (r->magnitude != 1)
        lost |= PE_CLAIM_NORM;
    if (r->precision != EXACT)
        lost |= PE_CLAIM_RELATIVE | PE_CLAIM_LINEAR | PE_CLAIM_SYMMETRIC | PE_CLAIM_UNIQUE;
    if (!every_axis_rotates(p))
        lost |= PE_CLAIM_UNIQUE;
    if (p->axes > 1 && num(p, TEMPERATURE) == 0) /* the temperature multiplies all pairs by the first coordinate */
        p->claims |= PE_CLAIM_AXES;
    p->claims &= ~lost;
}

/* A list of frequencies stands for theta and all that changes it. */
static pe_status check_list(const part *p, pe_error *err)
{
    const value *v = &p->value[FREQUENCIES];
    if (v->given && v->count != p->pairs)
        return pe_fail(err, PE_ERR_SPEC, "rope: frequencies holds %" PRId64 " numbers; needs one per pair, %" PRId64,
                       v->count, p->pairs);
    if (v->given && (p->value[THETA].given || whole(p, PRECISION) != EXACT || num(p, COORDS) != 0))
        return part_fail(p, err, FREQUENCIES, "goes without theta, precision and coords");
    return PE_OK;
}

static pe_status check_steps(part *p, pe_error *err)
{
    value *v = &p->value[STEPS];
    bool ones = true;
    if (v->given && v->count > 1 && v->count != p->axes)
        return part_fail(p, err, STEPS, "needs one number, or one per axis");
    if (v->given && num(p, COORDS) != 0)
        return part_fail(p, err, STEPS, "goes without coords");
    for (int64_t a = 0; v->given && a < p->axes; a++)
        ones = ones && rope_step(p, a) == 1;
    v->given = v->given && !ones; /* one canonical form */
    return PE_OK;
}

/* Angles are exact up to here (kernels/turn.h). */
static pe_status check_frequency(const pair *f, int64_t n, pe_error *err)
{
    if (fabs(f->frequency.part[0]) <= FREQUENCY_MAX / 6.28)
        return PE_OK;
    return pe_fail(err, PE_ERR_SPEC, "rope: pair %" PRId64 " rotates by more than 2^11 radians per position", n);
}

/* Every pair rotates by every axis, from the frequency that the spec gives it on its own. */
static pe_status learn(part *p, pe_error *err)
{
    if (num(p, LEARNED) == 0)
        return PE_OK;
    if (num(p, COORDS) != 0 || whole(p, TURN) != 0)
        return part_fail(p, err, LEARNED, "cannot be combined with coords or turn");
    if (whole(p, START) && p->axes != 2)
        return part_fail(p, err, START, "mixed needs axes=2");
    p->trained = true;
    p->frequencies = p->tensors;
    p->exact = false;
    p->claims &= ~PE_CLAIM_AXES; /* every pair may rotate by every axis */
    return part_tensor(p,
                       (tensor){ .name = "frequencies",
                                 .about = "radians per position: key head, axis, pair",
                                 .rank = 3,
                                 .shape = { whole(p, LEARNED) == 2 ? p->shape.kv_heads : 1, p->axes, p->pairs },
                                 .fill = FILL_ROW,
                                 .rate = 10 },
                       err);
}

/* Where it starts mixed, the two axes are rotated by an angle of each head (RoPE-Mixed, Heo et al. 2024). The authors
 * draw the angles at random; here they share the quarter turn equally, after which the directions of both axes together
 * come again. */
static double first_frequency(const part *p, int t, int64_t i)
{
    const pair *f = &p->pair[i % p->pairs];
    int64_t axis = i / p->pairs % p->axes, heads = p->tensor[t].shape[0];
    double size = wide_mul(f->frequency, wide_two_pi()).part[0];
    if (!whole(p, START))
        return axis == f->axis ? size : 0;
    double angle = acos(0) * ((double)(i / p->pairs / p->axes) + 0.5) / (double)heads;
    return size * (axis == f->axis ? cos(angle) : f->axis == 0 ? sin(angle) : -sin(angle));
}

static pe_status init(part *p, pe_error *err)
{
    int64_t first = 0, D = p->shape.head_dim;
    TRY(settle_dims(p, &first, err));
    TRY(check_axes(p, err));
    TRY(check_list(p, err));
    TRY(check_steps(p, err));
    TRY(rope_check_scaling(p, err));
    if (num(p, TEMPERATURE) == 0 && (p->value[FLOOR].given || p->value[SHIFT].given))
        return part_fail(p, err, p->value[FLOOR].given ? FLOOR : SHIFT, "has a meaning only with temperature above 0");
    if (num(p, COORDS) != 0 && whole(p, PRECISION) == GGML)
        return part_fail(p, err, PRECISION, "ggml has no normalised coordinates; use exact or hf");
    rope *r = allocate(p, err);
    if (!r)
        return PE_ERR_NOMEM;
    r->precision = (int)whole(p, PRECISION);
    r->magnitude = rope_magnitude(p);
    lay_pairs(p, r, first);
    for (int64_t d = 0; d < D; d++)
        if (d < first || d >= first + 2 * p->pairs)
            r->rest[p->rests++] = d;
    for (int64_t n = 0; n < p->pairs; n++) {
        slot s = rope_slot(p, n);
        r->pair[n] = (pair){ .axis = s.axis, .multiplier = 1 };
        if (num(p, COORDS) != 0)
            TRY(normalise(p, &r->pair[n], err));
        rope_frequency(p, r, n, s);
        TRY(check_frequency(&r->pair[n], n, err));
    }
    p->scale_factor = num(p, SOFTMAX);
    p->magnitude = r->magnitude;
    p->gains = num(p, TEMPERATURE) != 0;
    p->rotates_value = whole(p, TURN) & 1;
    p->rotates_output = whole(p, TURN) & 2;
    p->exact = r->precision == EXACT;
    settle_claims(p, r);
    rope_settle_formula(p);
    return learn(p, err);
}

const row pe_row_rope = {
    .keys = keys,
    .info = { .name = "rope",
              .summary = "Rotates pairs of query and key elements by an angle proportional to position, so attention "
                         "scores depend only on relative distance.",
              .formula = "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t theta^(-2i/d)",
              .paper = "Su et al. 2021",
              .arxiv = "2104.09864",
              .models = "Llama|Mistral|Qwen|Gemma|DeepSeek|Phi|GPT-NeoX|GPT-J|Falcon|GLM|Qwen-VL|DINOv3",
              .idea = PE_IDEA_ROTATION,
              .hooks = PE_HOOK_ROTATE,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_LINEAR | PE_CLAIM_RELATIVE |
                        PE_CLAIM_NORM | PE_CLAIM_SYMMETRIC | PE_CLAIM_INVERTIBLE | PE_CLAIM_ENDLESS,
              .key_count = ROPE_KEYS,
              .examples = examples,
              .key_trained = "trained",
              .key_length = "length",
              .key_factor = "factor|alpha",
              .example_count = COUNT_OF(examples),
              .also = "rotary|ropes|yarn|ntk|longrope|llama3|mrope|m-rope|p-rope|prope" },
    .init = init,
    .fill = first_frequency,
    .rotate = rope_rotate,
    .gain = rope_gain,
    .tell_pair = rope_tell_pair,
    .tell_gain = rope_tell_gain,
};

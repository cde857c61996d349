/* SPDX-License-Identifier: MIT
 *
 * wavelet: Ricker wavelets of the distance in Shaw's place; element d of the vector has its own scale and shift.
 *   score += q_i . w(i-j),  w_d(t) = psi((t - b_d)/a_d),  psi(x) = (1 - x^2) exp(-x^2/2)
 *   (a, b) over {2^first, ..} x {0, 1, .. d/scales - 1}, shifts fastest                          (Oka et al. 2025) */
#include "encodings/shared.h"

#include <inttypes.h>

enum { SCALES, FIRST };
static const pe_key keys[] = {
    { "scales", PE_KEY_INT, "8", 1, PE_HEAD_DIM_MAX, NULL, NULL, "number of scales; divides head_dim", NULL, false },
    { "first", PE_KEY_INT, "0", 0, 30, NULL, NULL, "the smallest scale is 2^first", NULL, false },
};
static const char *const examples[] = { "wavelet", "wavelet:scales=16,first=2" };

static int64_t own_row(const part *p, int64_t distance)
{
    (void)p;
    return distance;
}

static double ricker(const part *p, int64_t t, int64_t d)
{
    int64_t shifts = p->shape.head_dim / whole(p, SCALES);
    double x = ldexp((double)(t - d % shifts), -(int)(d / shifts + whole(p, FIRST)));
    return (1 - x * x) * exp(-x * x / 2);
}

static void tell_wavelet(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out)
{
    (void)t, (void)h;
    int64_t shifts = p->shape.head_dim / whole(p, SCALES), scale = d / shifts + whole(p, FIRST);
    number_text x = tell_factor(ldexp((double)(r - d % shifts), -(int)scale));
    tell_say(out, "psi((%" PRId64 " - %" PRId64 ") / 2^%" PRId64 ") = psi(%s) = (1 - %s^2) · exp(-%s^2 / 2)", r,
             d % shifts, scale, x.text, x.text, x.text);
}

static pe_status init(part *p, pe_error *err)
{
    if (p->shape.head_dim % whole(p, SCALES))
        return pe_fail(err, PE_ERR_SHAPE, "wavelet: scales is %" PRId64 "; needs a divisor of head_dim, %" PRId64,
                       whole(p, SCALES), p->shape.head_dim);
    if (whole(p, SCALES) + whole(p, FIRST) > 1000)
        return part_fail(p, err, SCALES, "needs the largest scale to stay below 2^1000");
    if (p->shape.head_dim == whole(p, SCALES)) /* no shifts: psi is even */
        p->claims |= PE_CLAIM_SYMMETRIC;
    p->stage = PE_BEFORE_SCALE;
    p->term[p->terms++] = (term){ .side = PE_QUERY, .table = -1, .entry = ricker, .extra = -1, .index = own_row };
    return PE_OK;
}

const row pe_row_wavelet = {
    .keys = keys,
    .info = { .name = "wavelet",
              .summary = "Ricker wavelets of the distance at many scales and shifts replace Shaw's trained vectors.",
              .formula = "score += q_i . psi((i-j-b)/a), psi(x) = (1 - x^2) exp(-x^2/2), a in 2^s, b in 0..d/S-1",
              .paper = "Oka et al. 2025",
              .arxiv = "2502.02004",
              .models = "",
              .idea = PE_IDEA_CONTENT,
              .hooks = PE_HOOK_CONTENT,
              .claims = PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .tell_entry = tell_wavelet,
};

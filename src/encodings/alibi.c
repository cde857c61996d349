/* SPDX-License-Identifier: MIT
 *
 * alibi: a penalty that grows with the distance, with a slope per head.
 *   score += -m_h (i - j), or -m_h |i - j| when symmetric                                     (Press et al. 2021)
 * Slopes are 2^(-8h/n); for n that is no power of two the conventions differ. Falcon's slopes are bfloat16 and enter
 * before the scale. Where its mask is whole numbers, as in its own model, the products are bfloat16 too: f(j) - f(i)
 * with f(t) = bf16(bf16(m) bf16(t)), equal to its f(j) after the softmax. */
#include "encodings/shared.h"

#include <inttypes.h>

ON_DEVICE(
    enum { CONVENTION, FORM, MAX, OFFSET, TOTAL, SLOPES, PRODUCTS };

    static double measure(const part *p, pe_params w, double distance) {
        (void)w;
        return num(p, FORM) != 0 ? fabs(distance) : distance;
    }

    static double bias(const part *p, pe_params w, int64_t h, double x) {
        return -x * (p->tensors ? param(p, w, 0, h) : ((const double *)p->state)[h]);
    }

    static double bias_back(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db) {
        (void)w;
        if (p->tensors)
            grad(p, dw, 0, h, -db * x);
        return 0; /* nothing to train lies below x */
    })

enum { PRESS, MPT, FALCON };
static const pe_key keys[] = {
    { "convention", PE_KEY_CHOICE, "press", 0, 0, "press|mpt|falcon", NULL,
      "which slopes to use (press: Press et al., BLOOM)", NULL, false },
    { "form", PE_KEY_CHOICE, "one-sided", 0, 0, "one-sided|symmetric", NULL,
      "i-j for causal models, |i-j| for encoders", NULL, false },
    { "max", PE_KEY_REAL, "8", 0x1p-10, 1000, NULL, NULL, "the last slope is 2^-max (MPT: alibi_bias_max)",
      "alibi_bias_max", false },
    { "offset", PE_KEY_INT, "0", 0, 65535, NULL, NULL, "index of the first head here, when heads are sharded", NULL,
      false },
    { "total", PE_KEY_INT, "", 1, 65536, NULL, NULL, "number of heads in all shards; default: offset + heads", NULL,
      false },
    { "slopes", PE_KEY_CHOICE, "fixed", 0, 0, "fixed|learned", NULL,
      "fixed slopes, or trained parameters that start from them", NULL, false },
    { "products", PE_KEY_CHOICE, "exact", 0, 0, "exact|bf16", "convention=falcon",
      "slope times position exactly, or rounded to bfloat16", NULL, false },
};
static const char *const examples[] = { "alibi",
                                        "alibi:form=symmetric",
                                        "alibi:convention=mpt,total=12,offset=4",
                                        "alibi:convention=falcon",
                                        "alibi:convention=falcon,products=bf16",
                                        "alibi:slopes=learned" };

static int64_t power_of_two_below(int64_t n)
{
    int64_t p = 1;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

/* Press: n's power of two below first, then every other slope of the next power. MPT: every other slope of the power of
 * two above first, then the ones between. */
typedef struct share_of_max {
    int64_t at, of; /* the slope is 2^(-max at / of) */
} share_of_max;

static share_of_max share_of(const part *p, int64_t head, int64_t n)
{
    int64_t below = power_of_two_below(n), above = below == n ? n : 2 * below;
    if (whole(p, CONVENTION) == MPT)
        return (share_of_max){ above == n         ? head + 1
                               : head < above / 2 ? 2 * head + 2
                                                  : 2 * (head - above / 2) + 1,
                               above };
    return head < below ? (share_of_max){ head + 1, below } : (share_of_max){ 2 * (head - below) + 1, above };
}

static double slope(const part *p, int64_t head, int64_t n)
{
    share_of_max s = share_of(p, head, n);
    double m = exp2(-num(p, MAX) * (double)s.at / (double)s.of);
    return whole(p, CONVENTION) == FALCON ? num_from_bf16(num_to_bf16(m)) : m;
}

static int64_t total_heads(const part *p)
{
    return p->value[TOTAL].given ? whole(p, TOTAL) : whole(p, OFFSET) + p->shape.heads;
}

static pe_status init(part *p, pe_error *err)
{
    int64_t H = p->shape.heads, offset = whole(p, OFFSET), total = total_heads(p);
    if (total < offset + H)
        return part_fail(p, err, TOTAL, "needs at least offset + heads");
    if (total == offset + H)
        p->value[TOTAL].given = false;
    double *m = part_alloc(p, H, sizeof *m, err);
    if (!m)
        return PE_ERR_NOMEM;
    for (int64_t h = 0; h < H; h++)
        m[h] = slope(p, offset + h, total);
    if (num(p, SLOPES) != 0) {
        if (whole(p, CONVENTION) == FALCON)
            return part_fail(p, err, SLOPES, "learned has no meaning with bfloat16 slopes; use convention=press");
        TRY(part_tensor(p,
                        (tensor){ .name = "slopes",
                                  .about = "a slope per head",
                                  .rank = 1,
                                  .shape = { H },
                                  .fill = FILL_ROW,
                                  .rate = 10 },
                        err));
    }
    if (whole(p, CONVENTION) == FALCON) {
        if (num(p, FORM) != 0)
            return part_fail(p, err, FORM, "symmetric does not exist in Falcon; use convention=press");
        p->stage = PE_BEFORE_SCALE;
    }
    p->absolute = num(p, PRODUCTS) != 0;
    p->straight = !p->absolute;
    if (p->absolute)
        p->claims &= ~(PE_CLAIM_RELATIVE | PE_CLAIM_UNIQUE | PE_CLAIM_LINEAR);
    if (num(p, FORM) != 0)
        p->claims |= PE_CLAIM_SYMMETRIC;
    return PE_OK;
}

static double fill_slope(const part *p, int t, int64_t i)
{
    (void)t;
    return ((const double *)p->state)[i];
}

static double bf16(double x)
{
    return num_from_bf16(num_to_bf16(x));
}

static double product(const part *p, int64_t h, const int64_t *at)
{
    return bf16(((const double *)p->state)[h] * bf16((double)at[0]));
}

static void tell_term(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out)
{
    double m = p->tensors ? param(p, w, 0, h) : ((const double *)p->state)[h];
    const char *bar = num(p, FORM) != 0 ? "|" : "";
    number_text m_text = tell_factor(m);
    share_of_max s = share_of(p, whole(p, OFFSET) + h, total_heads(p));
    if (!p->tensors && whole(p, CONVENTION) == FALCON) /* rounded */
        tell_say(out, "m = bf16(2^(-%s · %" PRId64 "/%" PRId64 ")) = %s\n", tell_number(num(p, MAX)).text, s.at, s.of,
                 m_text.text);
    else if (!p->tensors)
        tell_say(out, "m = 2^(-%s · %" PRId64 "/%" PRId64 ") = 2^(%s) = %s\n", tell_number(num(p, MAX)).text, s.at,
                 s.of, tell_number(log2(m)).text, m_text.text);
    if (p->absolute)
        tell_say(out, "bf16(%s · %" PRId64 ") - bf16(%s · %" PRId64 ") = %s - %s", m_text.text, k[0], m_text.text, q[0],
                 tell_factor(product(p, h, k)).text, tell_factor(product(p, h, q)).text);
    else
        tell_say(out, "-%s · %s%" PRId64 " - %" PRId64 "%s = -%s · %s", m_text.text, *bar ? bar : "(", q[0], k[0],
                 *bar ? bar : ")", m_text.text, tell_factor(measure(p, w, (double)(q[0] - k[0]))).text);
}

const row pe_row_alibi = {
    .keys = keys,
    .info = { .name = "alibi",
              .summary = "Subtracts a penalty from attention scores that grows linearly with distance, with a fixed "
                         "slope per head.",
              .formula = "score += -m_h (i - j), m_h = 2^(-8h/n)",
              .paper = "Press et al. 2021",
              .arxiv = "2108.12409",
              .models = "BLOOM|MPT|Falcon-RW|Baichuan-13B|Jina embeddings (symmetric)",
              .idea = PE_IDEA_BIAS,
              .hooks = PE_HOOK_BIAS,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_LINEAR | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .fill = fill_slope,
    .fractional = true,
    .measure = measure,
    .bias = bias,
    .bias_back = bias_back,
    .device = device,
    .absolute = product,
    .tell_bias = tell_term,
};

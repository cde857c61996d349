/* SPDX-License-Identifier: MIT
 *
 * sandwich: the product of two sinusoidal codes as a bias, compressed per head.
 *   score += (sum_n cos((i-j) theta^(-2n/d))) / (8h/H),  h = 1..H                                  (Chi et al. 2022)
 * The paper's listing sums from n = 0, its equation from n = 1: the key `first` says which. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { WIDTH, THETA, FIRST };
static const pe_key keys[] = {
    { "width", PE_KEY_INT, "128", 2, 65536, NULL, NULL, "d: width of the sinusoids; even", NULL, false },
    { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths", NULL, false },
    { "first", PE_KEY_INT, "0", 0, 1, NULL, NULL, "index of the first frequency", NULL, false },
};
static const char *const examples[] = { "sandwich", "sandwich:width=64,first=1" };

static pe_status init(part *p, pe_error *err)
{
    int64_t d = whole(p, WIDTH);
    if (d % 2)
        return part_fail(p, err, WIDTH, "needs an even number");
    wide *f = part_alloc(p, d / 2, sizeof *f, err);
    if (!f)
        return PE_ERR_NOMEM;
    for (int64_t i = 0; i < d / 2; i++) {
        double n = (double)(2 * (i + whole(p, FIRST)));
        f[i] = theta_power(num(p, THETA), n > 0 ? wide_div(wide_from(n), wide_from((double)d)) : wide_from(0));
    }
    return PE_OK;
}

static double product(const part *p, pe_params w, double distance)
{
    (void)w;
    double sum = 0, c, s;
    for (int64_t i = 0; i < whole(p, WIDTH) / 2; i++) {
        turn_cos_sin(distance, ((const wide *)p->state)[i], &c, &s);
        sum += c;
    }
    return sum;
}

/* Many distances: cos of (near + far) by one product, near made once for each frequency, far for each block. */
static void products(const part *p, double *out, int64_t distance, int64_t count)
{
    enum { NEAR = 64 };
    double c[NEAR], s[NEAR];
    for (int64_t j = 0; j < count; j++)
        out[j] = 0;
    for (int64_t i = 0; i < whole(p, WIDTH) / 2; i++) {
        wide f = ((const wide *)p->state)[i];
        for (int64_t j = 0; j < NEAR && j < count; j++)
            turn_cos_sin((double)-j, f, &c[j], &s[j]);
        for (int64_t first = 0; first < count; first += NEAR) {
            double far_c, far_s;
            turn_cos_sin((double)(distance - first), f, &far_c, &far_s);
            for (int64_t j = first; j < count && j < first + NEAR; j++)
                out[j] += far_c * c[j - first] - far_s * s[j - first];
        }
    }
}

static double bias(const part *p, pe_params w, int64_t h, double x)
{
    (void)w;
    return x / (8 * (double)(h + 1) / (double)p->shape.heads);
}

/* Sums of very many cosines are shown by their ends. */
static void tell_term(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out)
{
    enum { SHOWN = 128 };
    int64_t n = whole(p, WIDTH) / 2;
    double over = 8 * (double)(h + 1) / (double)p->shape.heads;
    tell_say(out, "(");
    for (int64_t i = 0; i < n; i++) {
        double f = pow(num(p, THETA), -2 * (double)(i + whole(p, FIRST)) / (double)(2 * n));
        if (n <= SHOWN || i < SHOWN - 2 || i == n - 1)
            tell_say(out, "%scos(%" PRId64 " · %s)", i ? " + " : "", q[0] - k[0], tell_number(f).text);
        else if (i == SHOWN - 2)
            tell_say(out, " + …");
    }
    tell_say(out, ") / %s = %s / %s", tell_number(over).text, tell_factor(product(p, w, (double)(q[0] - k[0]))).text,
             tell_number(over).text);
}

const row pe_row_sandwich = {
    .keys = keys,
    .excused = PE_CLAIM_UNIQUE,
    .excuse = "one bounded number, a multiple of it per head: codes come as close as one likes, though samples differ",
    .info = { .name = "sandwich",
              .summary =
                  "Adds the inner product of sinusoidal codes as a bias, compressed by a different factor per head.",
              .formula = "score += sum_n cos((i-j) theta^(-2n/d)) / (8h/H)",
              .paper = "Chi et al. 2022",
              .arxiv = "2212.10356",
              .models = "",
              .idea = PE_IDEA_BIAS,
              .hooks = PE_HOOK_BIAS,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_SYMMETRIC | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .key_work = "width" },
    .init = init,
    .fractional = true,
    .measure = product,
    .measures = products,
    .bias = bias,
    .tell_bias = tell_term,
};

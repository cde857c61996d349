/* SPDX-License-Identifier: MIT
 *
 * kerple: a trained kernel of the distance, per head.
 *   log: -r1 log(1 + r2 |i-j|),  power: -r1 |i-j|^r2;  r1, r2 > 0, r2 <= 2 in the power form       (Chi et al. 2022) */
#include "encodings/shared.h"

#include <inttypes.h>

ON_DEVICE(
    enum { FORM }; enum { R1, R2 };

    static double measure(const part *p, pe_params w, double distance) {
        (void)p, (void)w;
        return fabs(distance);
    }

    static double bias(const part *p, pe_params w, int64_t h, double x) {
        double r1 = param(p, w, R1, h), r2 = param(p, w, R2, h);
        return num(p, FORM) != 0 ? -r1 * pow(x, r2) : -r1 * log1p(r2 * x);
    }

    static double bias_back(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db) {
        double r1 = param(p, w, R1, h), r2 = param(p, w, R2, h);
        if (num(p, FORM) != 0) {
            grad(p, dw, R1, h, -db * pow(x, r2));
            grad(p, dw, R2, h, x > 0 ? -db * r1 * pow(x, r2) * log(x) : 0);
        } else {
            grad(p, dw, R1, h, -db * log1p(r2 * x));
            grad(p, dw, R2, h, -db * r1 * x / (1 + r2 * x));
        }
        return 0;
    })

static const pe_key keys[] = {
    { "form", PE_KEY_CHOICE, "log", 0, 0, "log|power", NULL, "-r1 log(1 + r2 |i-j|), or -r1 |i-j|^r2", NULL, false },
};
static const char *const examples[] = { "kerple", "kerple:form=power" };

#define SMALLEST 0x1p-20 /* above 0, and a kernel all but flat */

/* Both start away from 0, where the kernel would be flat. */
static pe_status init(part *p, pe_error *err)
{
    bool power = num(p, FORM) != 0;
    double most1 = power ? 1 : 2, most2 = power ? 2 : 1;
    TRY(part_tensor(p,
                    (tensor){ .name = "r1",
                              .about = "strength per head; above 0",
                              .rank = 1,
                              .shape = { p->shape.heads },
                              .fill = FILL_UNIFORM,
                              .a = 0.01,
                              .b = most1,
                              .min = SMALLEST,
                              .max = INFINITY,
                              .rate = 10 },
                    err));
    return part_tensor(p,
                       (tensor){ .name = "r2",
                                 .about = "reach (log) or exponent (power, at most 2) per head; above 0",
                                 .rank = 1,
                                 .shape = { p->shape.heads },
                                 .fill = FILL_UNIFORM,
                                 .a = 0.01,
                                 .b = most2,
                                 .min = SMALLEST,
                                 .max = power ? 2 : INFINITY,
                                 .rate = 10 },
                       err);
}

static pe_status check_kernel(const part *p, pe_params w, pe_error *err)
{
    double most = num(p, FORM) != 0 ? 2 : INFINITY;
    for (int64_t h = 0; h < p->shape.heads; h++) {
        double r1 = param(p, w, R1, h), r2 = param(p, w, R2, h);
        if (!(r1 > 0) || !(r2 > 0) || !(r2 <= most) || isinf(r1) || isinf(r2))
            return pe_fail(err, PE_ERR_RANGE, "kerple: r1, r2 of head %" PRId64 " are %s, %s; need more than 0%s", h,
                           text_show(r1).text, text_show(r2).text, num(p, FORM) != 0 ? ", and r2 at most 2" : "");
    }
    return PE_OK;
}

static void tell_term(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out)
{
    number_text r1 = tell_number(param(p, w, R1, h)), r2 = tell_number(param(p, w, R2, h));
    int64_t far = q[0] > k[0] ? q[0] - k[0] : k[0] - q[0];
    if (num(p, FORM) != 0)
        tell_say(out, "-%s · |%" PRId64 " - %" PRId64 "|^%s = -%s · %" PRId64 "^%s", r1.text, q[0], k[0], r2.text,
                 r1.text, far, r2.text);
    else
        tell_say(out, "-%s · log(1 + %s · |%" PRId64 " - %" PRId64 "|) = -%s · log(1 + %s · %" PRId64 ")", r1.text,
                 r2.text, q[0], k[0], r1.text, r2.text, far);
}

const row pe_row_kerple = {
    .keys = keys,
    .info = { .name = "kerple",
              .summary = "Adds a trained logarithmic or power kernel of the distance, one per head.",
              .formula = "score += -r1 log(1 + r2 |i-j|), or -r1 |i-j|^r2",
              .paper = "Chi et al. 2022",
              .arxiv = "2205.09921",
              .models = "",
              .idea = PE_IDEA_BIAS,
              .hooks = PE_HOOK_BIAS,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_RELATIVE | PE_CLAIM_SYMMETRIC |
                        PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .check_params = check_kernel,
    .fractional = true,
    .measure = measure,
    .bias = bias,
    .bias_back = bias_back,
    .device = device,
    .tell_bias = tell_term,
};

/* SPDX-License-Identifier: MIT
 *
 * fire: a small trained network of the distance over the query's position, both on a logarithmic scale.
 *   score += MLP(psi(|i-j|) / psi(max(L, i))),  psi(x) = log(c x + 1)                              (Li et al. 2023)
 * Not shift-invariant: the further the query, the finer the far distances. Keys ahead use |i-j|, as published code
 * does. */
#include "encodings/shared.h"

#include <inttypes.h>

ON_DEVICE(
    enum { HIDDEN, LENGTH }; enum { C, L, W1, B1, W2, B2 };

    static double measure(const part *p, pe_params w, double distance) {
        return log1p(param(p, w, C, 0) * fabs(distance));
    }

    /* What a query divides by: psi of its position, or of L where that is further. */
    static double reach(const part *p, pe_params w, const double *q) { return fmax(q[0], param(p, w, L, 0)); }

    static double share(const part *p, pe_params w, const double *q) {
        return 1 / log1p(param(p, w, C, 0) * reach(p, w, q));
    }

    static double bias(const part *p, pe_params w, int64_t h, double x) {
        int64_t n = whole(p, HIDDEN);
        double sum = param(p, w, B2, h);
        for (int64_t i = 0; i < n; i++) {
            double a = param(p, w, W1, i) * x + param(p, w, B1, i);
            if (a > 0)
                sum += param(p, w, W2, h * n + i) * a;
        }
        return sum;
    }

    static double bias_back(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db) {
        int64_t n = whole(p, HIDDEN);
        double dx = 0;
        grad(p, dw, B2, h, db);
        for (int64_t i = 0; i < n; i++) {
            double w1 = param(p, w, W1, i), w2 = param(p, w, W2, h * n + i), a = w1 * x + param(p, w, B1, i);
            if (!(a > 0))
                continue;
            grad(p, dw, W2, h * n + i, db * a);
            grad(p, dw, W1, i, db * w2 * x);
            grad(p, dw, B1, i, db * w2);
            dx += db * w2 * w1;
        }
        return dx;
    }

    static void measure_back(const part *p, pe_params w, pe_params dw, double distance, double dm) {
        double size = fabs(distance);
        grad(p, dw, C, 0, dm * size / (param(p, w, C, 0) * size + 1));
    }

    static void share_back(const part *p, pe_params w, pe_params dw, const double *q, double ds) {
        double c = param(p, w, C, 0), limit = param(p, w, L, 0), far = reach(p, w, q), s = share(p, w, q);
        double at_limit = q[0] < limit ? 1 : q[0] > limit ? 0 : 0.5; /* max splits a tie */
        double dlog = -ds * s * s / (c * far + 1);
        grad(p, dw, C, 0, dlog * far);
        grad(p, dw, L, 0, at_limit * dlog * c);
    }

    /* Each hidden unit begins or ends where its argument is 0. */
    static double knot(const part *p, pe_params w, int64_t i) {
        double w1 = param(p, w, W1, i);
        return w1 != 0 ? -param(p, w, B1, i) / w1 : 0;
    })

static const pe_key keys[] = {
    { "hidden", PE_KEY_INT, "32", 1, 65536, NULL, NULL, "width of the network's hidden layer (ReLU)", NULL, false },
    { "length", PE_KEY_REAL, "512", 0x1p-20, 0x1p36, NULL, NULL, "initial value of L", NULL, false },
};
static const char *const examples[] = { "fire", "fire:hidden=8,length=16" };

static pe_status init(part *p, pe_error *err)
{
    int64_t n = whole(p, HIDDEN), H = p->shape.heads;
    double spread = 1 / sqrt((double)n), start = num(p, LENGTH);
    const tensor all[] = {
        [C] = { .name = "c", .about = "scale of the logarithm; above 0", .rank = 1, .shape = { 1 }, .a = 0.1 },
        [L] = { .name = "L",
                .about = "queries before this position share one normaliser",
                .rank = 1,
                .shape = { 1 },
                .a = start },
        [W1] = { .name = "w1", .about = "first layer", .rank = 1, .shape = { n }, .a = -1, .b = 1 },
        [B1] = { .name = "b1", .about = "first layer", .rank = 1, .shape = { n }, .a = -1, .b = 1 },
        [W2] = { .name = "w2", .about = "second layer", .rank = 2, .shape = { H, n }, .a = -spread, .b = spread },
        [B2] = { .name = "b2", .about = "second layer", .rank = 1, .shape = { H }, .a = -spread, .b = spread },
    };
    for (int t = C; t <= B2; t++) {
        tensor x = all[t];
        x.fill = t <= L ? FILL_CONSTANT : FILL_UNIFORM;
        x.min = t <= L ? 0x1p-20 : 0; /* both stay above 0 */
        x.max = t <= L ? INFINITY : 0;
        x.rate = 10;
        TRY(part_tensor(p, x, err));
    }
    return PE_OK;
}

static pe_status check_scales(const part *p, pe_params w, pe_error *err)
{
    double c = param(p, w, C, 0), limit = param(p, w, L, 0);
    if (!(c > 0) || !(limit > 0) || isinf(c) || isinf(limit))
        return pe_fail(err, PE_ERR_RANGE, "fire: c and L are %s and %s; need more than 0", text_show(c).text,
                       text_show(limit).text);
    return PE_OK;
}

static int64_t knots(const part *p)
{
    return whole(p, HIDDEN);
}

/* A line per hidden unit, then their weighted sum. A network of many units is shown by its first ones, and the rest by
 * what they add. */
static void tell_network(const part *p, pe_params w, int64_t h, double x, tell *out)
{
    enum { SHOWN = 64 };
    int64_t n = whole(p, HIDDEN), shown = n < SHOWN ? n : SHOWN;
    double rest = bias(p, w, h, x) - param(p, w, B2, h);
    for (int64_t i = 0; i < shown; i++) {
        double a = param(p, w, W1, i), b = param(p, w, B1, i);
        tell_say(out, "h[%" PRId64 "] = max(w1[%" PRId64 "] · %s + b1[%" PRId64 "], 0) = max(%s · %s + %s, 0) = %s\n",
                 i, i, tell_number(x).text, i, tell_factor(a).text, tell_number(x).text, tell_factor(b).text,
                 tell_number(fmax(a * x + b, 0)).text);
    }
    tell_say(out, "w2 · h + b2 = ");
    for (int64_t i = 0; i < shown; i++) {
        double unit = fmax(param(p, w, W1, i) * x + param(p, w, B1, i), 0), by = param(p, w, W2, h * n + i);
        tell_say(out, "%s · %s + ", tell_factor(by).text, tell_number(unit).text);
        rest -= by * unit;
    }
    if (shown < n)
        tell_say(out, "%s + ", tell_factor(rest).text);
    tell_say(out, "%s", tell_factor(param(p, w, B2, h)).text);
}

static void tell_term(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out)
{
    number_text c = tell_number(param(p, w, C, 0)), limit = tell_number(param(p, w, L, 0));
    double at = (double)q[0], x = measure(p, w, (double)(q[0] - k[0])) * share(p, w, &at);
    tell_say(out, "x(%" PRId64 ", %" PRId64 ") = ", q[0], k[0]);
    tell_say(out, "log(1 + %s · |%" PRId64 " - %" PRId64 "|) / log(1 + %s · max(%s, %" PRId64 ")) = %s\n", c.text, q[0],
             k[0], c.text, limit.text, q[0], tell_number(x).text);
    tell_network(p, w, h, x, out);
}

const row pe_row_fire = {
    .keys = keys,
    .info = { .name = "fire",
              .summary = "Adds a bias computed by a small trained network from the distance relative to the query's "
                         "position, on a logarithmic scale.",
              .formula = "score += MLP(psi(|i-j|)/psi(max(L, i))), psi(x) = log(c x + 1)",
              .paper = "Li et al. 2023",
              .arxiv = "2310.04418",
              .models = "",
              .idea = PE_IDEA_BIAS,
              .hooks = PE_HOOK_BIAS,
              .claims = PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .key_work = "hidden" },
    .init = init,
    .check_params = check_scales,
    .fractional = true,
    .measure = measure,
    .share = share,
    .bias = bias,
    .bias_back = bias_back,
    .measure_back = measure_back,
    .share_back = share_back,
    .knots = knots,
    .knot = knot,
    .device = device,
    .tell_bias = tell_term,
};

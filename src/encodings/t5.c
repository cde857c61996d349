/* SPDX-License-Identifier: MIT
 *
 * t5: a trained bias per head and bucket of the distance: exact near, logarithmic far, one for all beyond max. No
 * 1/sqrt(d): T5 folds it into its weights (Raffel et al. 2019). */
#include "encodings/shared.h"

#include <inttypes.h>

ON_DEVICE(
    enum { BUCKETS, MAX, DIRECTION, SCALE };

    /* The bucket. */
    static double measure(const part *p, pe_params w, double apart) {
        (void)w;
        int64_t distance = (int64_t)apart, n = whole(p, BUCKETS), first = 0;
        if (num(p, DIRECTION) == 0) {
            n /= 2;
            if (distance < 0) {
                first = n;
                distance = -distance;
            }
        } else if (distance < 0)
            distance = 0;
        int64_t exact = n / 2;
        if (distance < exact)
            return (double)(first + distance);
        if (distance >= whole(p, MAX))
            return (double)(first + n - 1);
        double steps = log((double)distance / (double)exact) / log(num(p, MAX) / (double)exact) * (double)(n - exact);
        int64_t far = exact + (int64_t)floor(steps + 1e-12); /* a distance that is exactly a step reaches it */
        return (double)(first + (far < n - 1 ? far : n - 1));
    }

    static double bias(const part *p, pe_params w, int64_t h, double x) {
        return param(p, w, 0, (int64_t)x * p->shape.heads + h);
    }

    static double bias_back(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db) {
        (void)w;
        grad(p, dw, 0, (int64_t)x * p->shape.heads + h, db);
        return 0;
    })

static const pe_key keys[] = {
    { "buckets", PE_KEY_INT, "32", 4, 0x1p24, NULL, NULL, "total number of buckets",
      "num_buckets|relative_attention_num_buckets", false },
    { "max", PE_KEY_INT, "128", 2, 0x1p36, NULL, NULL, "distance from which all keys share the last bucket",
      "max_distance|relative_attention_max_distance", false },
    { "direction", PE_KEY_CHOICE, "both", 0, 0, "both|causal", NULL,
      "both: half of the buckets are for later keys; causal: later keys share bucket 0", NULL, false },
    { "scale", PE_KEY_CHOICE, "one", 0, 0, "one|sqrt", NULL, "softmax scale 1 as in T5, or 1/sqrt(d)", NULL, false },
};
static const char *const examples[] = { "t5", "t5:direction=causal", "t5:buckets=64,max=256,scale=sqrt" };

static pe_status init(part *p, pe_error *err)
{
    int64_t buckets = whole(p, BUCKETS), side = num(p, DIRECTION) == 0 ? buckets / 2 : buckets;
    if (whole(p, MAX) <= side / 2)
        return pe_fail(err, PE_ERR_RANGE,
                       "t5: max is %lld; needs more than the %lld distances that have a bucket of their own",
                       (long long)whole(p, MAX), (long long)(side / 2));
    p->flat = whole(p, MAX);
    if (num(p, SCALE) == 0)
        p->scale = 1;
    return part_tensor(p,
                       (tensor){ .name = "table",
                                 .about = "row: bucket of the distance, keys at and before the query first",
                                 .rank = 2,
                                 .shape = { buckets, p->shape.heads },
                                 .fill = FILL_NORMAL,
                                 .a = 0.1,
                                 .rate = 30 },
                       err);
}

/* "bucket(37) = min(8 + floor(log(37 / 8) / log(128 / 8) · 8), 16 - 1) = 12" */
static void tell_bucket(const part *p, int64_t distance, tell *out)
{
    bool later = num(p, DIRECTION) == 0 && distance < 0;
    int64_t n = num(p, DIRECTION) == 0 ? whole(p, BUCKETS) / 2 : whole(p, BUCKETS), exact = n / 2, max = whole(p, MAX);
    int64_t size = later ? -distance : distance;
    tell_say(out, "bucket(%" PRId64 ") = ", distance);
    if (later)
        tell_say(out, "%" PRId64 " + ", n);
    if (size < exact)
        tell_say(out, "%" PRId64, size);
    else if (size >= max)
        tell_say(out, "%" PRId64 " - 1", n);
    else
        tell_say(out,
                 "min(%" PRId64 " + floor(log(%" PRId64 " / %" PRId64 ") / log(%" PRId64 " / %" PRId64 ") · %" PRId64
                 "), %" PRId64 " - 1)",
                 exact, size, exact, max, exact, n - exact, n);
}

/* A small distance is its own bucket: "bucket(5 - 3) = 5 - 3 = 2". */
static void tell_term(const part *p, pe_params w, int64_t h, const int64_t *q, const int64_t *k, tell *out)
{
    int64_t distance = q[0] - k[0], row_at = (int64_t)measure(p, w, (double)distance);
    tell_say(out, "bucket(%" PRId64 " - %" PRId64 ") = ", q[0], k[0]);
    if (row_at == distance)
        tell_say(out, "%" PRId64 " - %" PRId64, q[0], k[0]);
    else if (num(p, DIRECTION) != 0 && distance < 0)
        tell_say(out, "max(%" PRId64 " - %" PRId64 ", 0)", q[0], k[0]);
    else
        tell_bucket(p, distance, out);
    tell_say(out, " = %" PRId64 "\n", row_at);
    tell_say(out, "table[%" PRId64 "][%" PRId64 "]", row_at, h);
}

const row pe_row_t5 = {
    .keys = keys,
    .info = { .name = "t5",
              .summary =
                  "Adds a trained bias per head and distance bucket; buckets are logarithmic for large distances.",
              .formula = "score += T[bucket(i-j)][h], scale 1",
              .paper = "Raffel et al. 2019",
              .arxiv = "1910.10683",
              .models = "T5|mT5|UMT5|LongT5|UDOP|Pix2Struct|MPNet (scale=sqrt)",
              .idea = PE_IDEA_BIAS,
              .hooks = PE_HOOK_BIAS,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .measure = measure,
    .bias = bias,
    .bias_back = bias_back,
    .device = device,
    .tell_bias = tell_term,
};

/* SPDX-License-Identifier: MIT
 *
 * deberta: content looks at position and position at content, over logarithmic buckets of the distance.
 *   score = q_i . k_j + q_i . Kr[b(i-j)] + k_j . Qr[b(i-j)],  scale 1/sqrt(d (1 + c2p + p2c))      (He et al. 2020)
 * Kr and Qr are projected tables; shared or own projections are the caller's.
 * The paper's equation 4 has Qr at delta(j, i), the bucket of j-i. Microsoft's code and transformers take i-j, as here:
 * they gather k_j . Qr[-relative_pos + span] with relative_pos[a][b] = a - b, and by rows of keys, so a is j and b is i.
 * All released weights are trained so, and the golden values of transformers agree (docs/parameters.md). */
#include "encodings/shared.h"

#include <inttypes.h>

enum { BUCKETS, MAX, TERMS };
static const pe_key keys[] = {
    { "buckets", PE_KEY_INT, "256", 0, 0x1p24, NULL, NULL,
      "number of buckets on each side; 0: no buckets, distances are clipped at max", "position_buckets", false },
    { "max", PE_KEY_INT, "512", 2, 0x1p31, NULL, NULL, "distance at which the last bucket begins",
      "max_relative_positions|max_position", false },
    { "terms", PE_KEY_CHOICE, "c2p+p2c", 0, 0, "c2p|p2c|c2p+p2c", NULL,
      "which terms are added: content-to-position (c2p), position-to-content (p2c)", "pos_att_type", false },
};
static const char *const examples[] = { "deberta", "deberta:buckets=8,max=32", "deberta:buckets=8,max=32,terms=c2p",
                                        "deberta:buckets=0,max=16,terms=p2c" };

/* Exact up to half the buckets, logarithmic from there to max, rounded up. */
static int64_t bucket(int64_t buckets, int64_t max, int64_t distance)
{
    int64_t mid = buckets / 2, size = distance < 0 ? -distance : distance;
    if (!buckets || size <= mid)
        return distance;
    double steps = log((double)size / (double)mid) / log((double)(max - 1) / (double)mid) * (double)(mid - 1);
    int64_t b = (int64_t)ceil(steps - 1e-12) + mid; /* a distance that is exactly a step stays on it */
    return distance < 0 ? -b : b;
}

static int64_t row_of(const part *p, int64_t distance)
{
    int64_t buckets = whole(p, BUCKETS), span = buckets ? buckets : whole(p, MAX);
    int64_t b = bucket(buckets, whole(p, MAX), distance) + span;
    return b < 0 ? 0 : b > 2 * span - 1 ? 2 * span - 1 : b;
}

static pe_status init(part *p, pe_error *err)
{
    static const char *const names[] = { "key_table", "query_table" };
    int64_t buckets = whole(p, BUCKETS), span = buckets ? buckets : whole(p, MAX), on = whole(p, TERMS) + 1;
    if (buckets == 1 || (buckets && whole(p, MAX) - 1 <= buckets / 2))
        return part_fail(p, err, BUCKETS, "needs 0, or 2 or more with max - 1 above half of them");
    p->stage = PE_BEFORE_SCALE;
    for (int side = 0; side < 2; side++) {
        if (!(on & 1 << side))
            continue;
        p->term[p->terms++] =
            (term){ .side = side ? PE_KEY : PE_QUERY, .table = p->tensors, .extra = -1, .index = row_of };
        TRY(part_tensor(
            p,
            (tensor){ .name = names[side],
                      .about = "row b(i-j) + buckets: bucket of the distance, keys far ahead first; projected",
                      .rank = 3,
                      .shape = { 2 * span, p->shape.heads, p->shape.head_dim },
                      .fill = FILL_NORMAL,
                      .a = 0.02,
                      .rate = 30 },
            err));
    }
    p->scale = 1 / sqrt((double)p->shape.head_dim * (1 + p->terms));
    return PE_OK;
}

/* "b(5 - 3) + 256 = 2 + 256", with the logarithm where the bucket is one of several distances. */
static void tell_row(const part *p, const term *t, int64_t q, int64_t k, tell *out)
{
    (void)t;
    int64_t buckets = whole(p, BUCKETS), max = whole(p, MAX), mid = buckets / 2, span = buckets ? buckets : max;
    int64_t distance = q - k, size = distance < 0 ? -distance : distance, b = bucket(buckets, max, distance);
    tell_say(out, "b(%" PRId64 " - %" PRId64 ") + %" PRId64 " = ", q, k, span);
    if (b + span < 0 || b + span > 2 * span - 1)
        tell_say(out, "min(max(");
    if (buckets && size > mid)
        tell_say(out,
                 "%s(ceil(log(%" PRId64 " / %" PRId64 ") / log(%" PRId64 " / %" PRId64 ") · %" PRId64 ") + %" PRId64
                 ")",
                 distance < 0 ? "-" : "", size, mid, max - 1, mid, mid - 1, mid);
    else
        tell_say(out, "%s", tell_factor((double)distance).text);
    tell_say(out, " + %" PRId64, span);
    if (b + span < 0 || b + span > 2 * span - 1)
        tell_say(out, ", 0), %" PRId64 ")", 2 * span - 1);
}

static void tell_deberta_scale(const part *p, tell *out)
{
    tell_say(out, "1 / sqrt(%lld · (1 + %d))", (long long)p->shape.head_dim, p->terms);
}

const row pe_row_deberta = {
    .keys = keys,
    .info = { .name = "deberta",
              .summary =
                  "Adds content-to-position and position-to-content scores, with distances in logarithmic buckets.",
              .formula = "score = q_i.k_j + q_i.Kr[b(i-j)] + k_j.Qr[b(i-j)], scale 1/sqrt(d(1 + c2p + p2c))",
              .paper = "He et al. 2020",
              .arxiv = "2006.03654",
              .models = "DeBERTa|DeBERTa-v2|DeBERTa-v3",
              .idea = PE_IDEA_CONTENT,
              .hooks = PE_HOOK_CONTENT,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .tell_scale = tell_deberta_scale,
    .tell_index = tell_row,
};

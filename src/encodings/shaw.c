/* SPDX-License-Identifier: MIT
 *
 * shaw: a vector per clipped distance, added to keys and to values.
 *   score += q_i . K[clip(j-i, -left, right)],  out += p_ij V[clip(j-i, -left, right)]         (Shaw et al. 2018) */
#include "encodings/shared.h"

#include <inttypes.h>

enum { LEFT, RIGHT, ON, TABLE, HEADS };
static const pe_key keys[] = {
    { "left", PE_KEY_INT, "16", 0, 0x1p24, NULL, NULL, "largest distance to earlier keys that has its own vector", NULL,
      false },
    { "right", PE_KEY_INT, "16", 0, 0x1p24, NULL, NULL, "largest distance to later keys that has its own vector", NULL,
      false },
    { "on", PE_KEY_CHOICE, "keys+values", 0, 0, "keys|values|keys+values", NULL,
      "where the vectors are added: keys, values or both", NULL, false },
    { "table", PE_KEY_CHOICE, "learned", 0, 0, "learned|sinusoidal", NULL,
      "trained vectors, or sinusoids of the distance", NULL, false },
    { "heads", PE_KEY_CHOICE, "shared", 0, 0, "shared|own", "table=learned",
      "one table shared by all heads, or one per head", NULL, false },
};
static const char *const examples[] = { "shaw", "shaw:left=6,right=3,on=keys", "shaw:heads=own,left=8,right=0",
                                        "shaw:table=sinusoidal,left=100,right=100" };

/* Row of the table: leftmost key first. */
static int64_t clip(const part *p, int64_t distance)
{
    int64_t ahead = -distance, left = whole(p, LEFT), right = whole(p, RIGHT);
    return (ahead < -left ? -left : ahead > right ? right : ahead) + left;
}

static double sinusoid(const part *p, int64_t at_row, int64_t d)
{
    double c, s;
    turn_cos_sin((double)(at_row - whole(p, LEFT)), ((const wide *)p->state)[d / 2], &c, &s);
    return d % 2 ? c : s;
}

static void tell_row(const part *p, const term *t, int64_t q, int64_t k, tell *out)
{
    (void)t;
    tell_say(out, "min(max(%" PRId64 " - %" PRId64 ", -%" PRId64 "), %" PRId64 ") + %" PRId64, k, q, whole(p, LEFT),
             whole(p, RIGHT), whole(p, LEFT));
}

static void tell_sinusoid(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out)
{
    (void)t, (void)h;
    int64_t D = p->shape.head_dim, n = d / 2 * 2, away = r - whole(p, LEFT);
    const char *wave = d % 2 ? "cos" : "sin";
    tell_say(out, "%s(%" PRId64 " · 10000^(-%" PRId64 "/%" PRId64 ")) = %s(%" PRId64 " · %s)", wave, away, n, D, wave,
             away, tell_number(pow(10000, -(double)n / (double)D)).text);
}

static pe_status init(part *p, pe_error *err)
{
    static const char *const names[] = { "key_table", "value_table" };
    int64_t D = p->shape.head_dim, rows = whole(p, LEFT) + whole(p, RIGHT) + 1, on = whole(p, ON) + 1;
    bool learned = num(p, TABLE) == 0;
    p->stage = PE_BEFORE_SCALE;
    p->hooks = (on & 1 ? PE_HOOK_CONTENT : 0) | (on & 2 ? PE_HOOK_VALUE : 0);
    for (int side = 0; side < 2; side++) {
        if (!(on & 1 << side))
            continue;
        p->term[p->terms++] = (term){ .side = side ? PE_VALUE : PE_QUERY,
                                      .table = learned ? p->tensors : -1,
                                      .entry = sinusoid,
                                      .extra = -1,
                                      .index = clip };
        if (learned)
            TRY(part_tensor(p,
                            (tensor){ .name = names[side],
                                      .about = "row clip(j-i) + left: keys far back first",
                                      .rank = 3,
                                      .shape = { rows, num(p, HEADS) != 0 ? p->shape.heads : 1, D },
                                      .fill = FILL_NORMAL,
                                      .a = 0.02,
                                      .rate = 30 },
                            err));
    }
    if (learned)
        return PE_OK;
    p->claims &= ~PE_CLAIM_LEARNED;
    wide *f = part_alloc(p, (D + 1) / 2, sizeof *f, err);
    if (!f)
        return PE_ERR_NOMEM;
    spectrum(f, (D + 1) / 2, 10000, D);
    return PE_OK;
}

const row pe_row_shaw = {
    .keys = keys,
    .info = { .name = "shaw",
              .summary = "Adds a trained vector per clipped relative distance to keys and values.",
              .formula = "score += q_i . K[clip(j-i)], out_i += p_ij V[clip(j-i)]",
              .paper = "Shaw et al. 2018",
              .arxiv = "1803.02155",
              .models = "Music Transformer|SeamlessM4T|Wav2Vec2-BERT|BERT relative_key (its rows in reverse)",
              .idea = PE_IDEA_CONTENT,
              .hooks = PE_HOOK_CONTENT | PE_HOOK_VALUE,
              .claims =
                  PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "relative|relative_key" },
    .init = init,
    .tell_index = tell_row,
    .tell_entry = tell_sinusoid,
};

/* SPDX-License-Identifier: MIT
 *
 * transformer-xl: content and position in four terms, positions as projected sinusoids of the distance.
 *   score = (q_i + u) . k_j + (q_i + v) . r_(i-j)                                                (Dai et al. 2019)
 * q_i.k_j is attention's own; this row adds u.k_j and (q_i + v).r. The table r holds a projected row per distance, from
 * -ahead (a key that far ahead) up to back; before training it holds bare sinusoids. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { BACK, AHEAD };
static const pe_key keys[] = {
    { "back", PE_KEY_INT, "512", 0, 0x1p24, NULL, NULL, "largest distance to earlier keys in the table", NULL, false },
    { "ahead", PE_KEY_INT, "0", 0, 0x1p24, NULL, NULL, "largest distance to later keys in the table", NULL, false },
};
static const char *const examples[] = { "transformer-xl", "transformer-xl:back=40,ahead=40" };

enum { R, U, V };

typedef struct xl {
    int64_t back, ahead;
    wide frequency[]; /* (heads * head_dim / 2) */
} xl;

static int64_t row_of(const part *p, int64_t distance)
{
    return distance + ((const xl *)p->state)->ahead;
}

bool xl_reaches(const part *p, const int64_t *q, const int64_t *k)
{
    const xl *x = p->state;
    int64_t distance = q[0] - k[0];
    return distance >= -x->ahead && distance <= x->back;
}

static int64_t first_row(const part *p, int64_t distance)
{
    (void)p, (void)distance;
    return 0;
}

/* Sinusoids over heads * head_dim elements, all sines and then all cosines, as the original projects them. */
double xl_fill(const part *p, int t, int64_t i)
{
    (void)t;
    const xl *x = p->state;
    int64_t width = p->shape.heads * p->shape.head_dim, column = i % width, half = (width + 1) / 2;
    double c, s;
    turn_cos_sin((double)(i / width - x->ahead), x->frequency[column % half], &c, &s);
    return column < half ? s : c;
}

void xl_tell_index(const part *p, const term *t, int64_t q, int64_t k, tell *out)
{
    if (t->index == row_of)
        tell_say(out, "(%" PRId64 " - %" PRId64 ") + %" PRId64, q, k, ((const xl *)p->state)->ahead);
}

/* "R_2[32] = cos(2 · 10000^(-0/64)) = cos(2 · 1)": R has a row of sinusoids per distance, as wide as all heads. */
static void tell_wave(const part *p, int64_t distance, int64_t column, tell *out)
{
    int64_t width = p->shape.heads * p->shape.head_dim, half = (width + 1) / 2, n = 2 * (column % half);
    const char *wave = column < half ? "sin" : "cos";
    tell_say(out,
             "R_%" PRId64 "[%" PRId64 "] = %s(%" PRId64 " · 10000^(-%" PRId64 "/%" PRId64 ")) = %s(%" PRId64 " · %s)",
             distance, column, wave, distance, n, width, wave, distance,
             tell_number(pow(10000, -(double)n / (double)width)).text);
}

/* Before training: what is projected is the sinusoid itself. */
void xl_tell_entry(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out)
{
    (void)t;
    tell_wave(p, r - ((const xl *)p->state)->ahead, h * p->shape.head_dim + d, out);
}

/* The other wave of the same frequency, where it belongs to another head. */
void xl_tell_beside(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out)
{
    int64_t D = p->shape.head_dim, width = p->shape.heads * D, half = (width + 1) / 2, column = h * D + d;
    int64_t other = column < half ? column + half : column - half;
    if (other == width || other / D == h)
        return;
    tell_wave(p, r - ((const xl *)p->state)->ahead, other, out);
    tell_say(out, " = %s\n", tell_number(xl_fill(p, t->table, r * width + other)).text);
}

pe_status xl_init(part *p, int64_t back, int64_t ahead, pe_error *err)
{
    int64_t H = p->shape.heads, D = p->shape.head_dim, half = (H * D + 1) / 2;
    xl *x = part_alloc(p, (int64_t)(sizeof *x + (size_t)half * sizeof(wide)), 1, err);
    if (!x)
        return PE_ERR_NOMEM;
    x->back = back;
    x->ahead = ahead;
    spectrum(x->frequency, half, 10000, H * D);
    p->stage = PE_BEFORE_SCALE;
    TRY(part_tensor(
        p,
        (tensor){ .name = "r",
                  .about = "row (i-j) + ahead: distances -ahead .. back in rising order; sinusoids, projected",
                  .rank = 3,
                  .shape = { back + ahead + 1, H, D },
                  .fill = FILL_ROW,
                  .projected = true,
                  .decay = 1 }, /* what is trained is a matrix like others */
        err));
    static const char *const added[][2] = { { "u", "added to the query in the content term" },
                                            { "v", "added to the query in the position term" } };
    for (int i = 0; i < COUNT_OF(added); i++)
        TRY(part_tensor(p,
                        (tensor){ .name = added[i][0],
                                  .about = added[i][1],
                                  .rank = 3,
                                  .shape = { 1, H, D },
                                  .fill = FILL_NORMAL,
                                  .a = 0.02,
                                  .rate = 10 },
                        err));
    p->term[p->terms++] = (term){ .side = PE_QUERY, .table = R, .extra = V, .index = row_of };
    p->term[p->terms++] = (term){ .side = PE_KEY, .table = U, .extra = -1, .index = first_row };
    return PE_OK;
}

static pe_status init(part *p, pe_error *err)
{
    return xl_init(p, whole(p, BACK), whole(p, AHEAD), err);
}

const row pe_row_transformer_xl = {
    .keys = keys,
    .info = { .name = "transformer-xl",
              .summary = "Attention scores are the sum of a content term and a term from projected sinusoids of the "
                         "distance, with two trained bias vectors.",
              .formula = "score = (q_i + u) . k_j + (q_i + v) . r_(i-j)",
              .paper = "Dai et al. 2019",
              .arxiv = "1901.02860",
              .models = "Transformer-XL|Conformer encoders",
              .idea = PE_IDEA_CONTENT,
              .hooks = PE_HOOK_CONTENT,
              .claims = PE_CLAIM_ANY_LENGTH | PE_CLAIM_RELATIVE | PE_CLAIM_UNIQUE | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .key_length = "back",
              .key_ahead = "ahead",
              .also = "txl|transformerxl|transformer_xl|xl|conformer" },
    .init = init,
    .fill = xl_fill,
    .reaches = xl_reaches,
    .tell_index = xl_tell_index,
    .tell_entry = xl_tell_entry,
    .tell_beside = xl_tell_beside,
};

/* SPDX-License-Identifier: MIT
 *
 * fope: RoPE whose pairs each have a mixture of frequencies, and none of those that training cannot learn.
 *   (x, y) -> (x C_n - y S_n, x S_n + y C_n),  C_n = sum_f cos(t w_f) a_hfn,  S_n = sum_f sin(t w_f) b_hfn
 * over the frequencies w_f = theta^(-2f/d) that complete a turn within the trained length; the other pairs have the
 * frequency 0 (Hua et al. 2024). A pair starts with its own frequency and random shares of the others: the authors keep
 * these, Intern-S1-Pro trains them. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { THETA, TRAINED, PAIRS, MIXED, HEADS, SPREAD, STILL };
static const pe_key keys[] = {
    { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths", "rope_theta", false },
    { "trained", PE_KEY_INT, "512", 7, 0x1p36, NULL, NULL,
      "length the model was trained at; frequencies that do not complete a turn within it become 0",
      "max_position_embeddings|max_sequence_length", false },
    { "pairs", PE_KEY_CHOICE, "half", 0, 0, "half|adjacent", NULL, "which elements form a pair", NULL, false },
    { "mixed", PE_KEY_INT, "", 1, PE_HEAD_DIM_MAX / 2, NULL, NULL,
      "number of pairs that rotate, at most that of the frequencies; default: as many (the authors' code: at most d/4)",
      NULL, false },
    { "heads", PE_KEY_CHOICE, "own", 0, 0, "shared|own", NULL, "one mixture shared by all heads, or one per key head",
      "fope_sep_head", false },
    { "spread", PE_KEY_REAL, "0.3", 0, 1000, NULL, NULL,
      "how much of other frequencies a pair starts with: the gain of Xavier's deviation", "fope_init_factor", false },
    { "still", PE_KEY_INT, "0", 0, 1, NULL, NULL,
      "sine of the pairs with frequency 0: 0 as in the paper, or 1 as in the authors' code and Intern-S1-Pro", NULL,
      false },
};
static const char *const examples[] = { "fope", "fope:trained=64,mixed=8,still=1",
                                        "fope:theta=1000,pairs=adjacent,heads=shared" };

typedef struct fope {
    double *frequency; /* (3, waves) */
    pair *pair;
    lane *lane;
} fope;

static fope *allocate(part *p, int64_t P, pe_error *err)
{
    size_t each = 3 * sizeof(double) + sizeof(pair) + sizeof(lane);
    fope *x = part_alloc(p, (int64_t)(sizeof *x + (size_t)P * each), 1, err);
    if (!x)
        return NULL;
    x->pair = (pair *)(x + 1);
    x->lane = (lane *)(x->pair + P);
    x->frequency = (double *)(x->lane + P);
    return x;
}

/* Two tensors alike. As PyTorch's Xavier has it for three dimensions: fan_in = waves mixed, fan_out = heads mixed. */
static pe_status add_shares(part *p, pe_error *err)
{
    int64_t heads = whole(p, HEADS) ? p->shape.kv_heads : 1, F = p->mix.waves, M = p->mix.pairs;
    double fans = whole(p, HEADS) ? (double)(F + heads) * (double)M : (double)(F + M);
    tensor t = { .rank = 3, .shape = { heads, F, M }, .fill = FILL_ROW, .a = num(p, SPREAD) * sqrt(2 / fans) };
    t.name = "cosines";
    t.about = "share of a frequency's cosine: key head, frequency, pair";
    TRY(part_tensor(p, t, err));
    t.name = "sines";
    t.about = "share of a frequency's sine: key head, frequency, pair";
    return part_tensor(p, t, err);
}

/* Frequencies fall: those that complete a turn come first. */
static int64_t waves_of(const wide *f, int64_t count, double trained)
{
    int64_t turning = 0;
    while (turning < count && f[turning].part[0] * trained >= 1)
        turning++;
    return turning;
}

static pe_status init(part *p, pe_error *err)
{
    int64_t D = p->shape.head_dim, P = D / 2;
    wide f[PE_HEAD_DIM_MAX / 2];
    if (D % 2)
        return pe_fail(err, PE_ERR_SHAPE, "fope: head_dim is %" PRId64 "; needs an even number", D);
    spectrum(f, P, num(p, THETA), D);
    int64_t F = waves_of(f, P, num(p, TRAINED)), M = p->value[MIXED].given ? whole(p, MIXED) : F;
    if (M > F)
        return pe_fail(err, PE_ERR_RANGE,
                       "fope: mixed is %" PRId64 "; needs %" PRId64 " at most, the frequencies that complete a turn", M,
                       F);
    p->value[MIXED].given = M != F; /* one canonical form */
    fope *x = allocate(p, P, err);
    if (!x)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < P; n++) {
        x->pair[n] = (pair){ .frequency = n < M ? f[n * F / M] : wide_from(0), .multiplier = 1 };
        x->lane[n] = num(p, PAIRS) != 0 ? (lane){ 2 * n, 2 * n + 1 } : (lane){ n, n + P };
        for (int i = 0; i < 3 && n < F; i++)
            x->frequency[i * F + n] = f[n].part[i];
    }
    p->pair = x->pair;
    p->from = p->to = x->lane;
    p->pairs = P;
    p->magnitude = 1;
    p->trained = true;
    p->mix = (mixing){ F, x->frequency, M, p->tensors, p->tensors + 1, num(p, STILL) };
    return add_shares(p, err);
}

/* Pairs start with a frequency each, fewer pairs with some of them. (The authors' code leaves some pairs without one
 * where there are fewer.) */
static int64_t first_wave(const part *p, int64_t n)
{
    return n * p->mix.waves / p->mix.pairs;
}

static double first_share(const part *p, int t, int64_t i)
{
    int64_t n = i % p->mix.pairs, f = i / p->mix.pairs % p->mix.waves;
    (void)t;
    return f == first_wave(p, n);
}

/* That frequency alone; core rotates by the mixture. */
static pair_rotation first_rotate(const part *p, pe_side side, const int64_t *at, int64_t n)
{
    pair_rotation t = { .cosine = 1, .sine = p->mix.still, .magnitude = 1 };
    (void)side;
    if (n < p->mix.pairs)
        turn_cos_sin((double)at[0], p->pair[n].frequency, &t.cosine, &t.sine);
    return t;
}

/* A line: "C_0 = 1.03 · cos(5 · 1) + 0.02 · cos(5 · 0.1) = 0.2869", or S_0 of the sines. */
static void tell_mixture(const part *p, const pe_question *of, bool sine, tell *out)
{
    int64_t n = of->element, F = p->mix.waves, M = p->mix.pairs, heads = p->tensor[p->mix.cosines].shape[0];
    int64_t h = heads == 1 ? 0 : of->head / (p->shape.heads / heads);
    double sum = 0;
    tell_say(out, "%c_%" PRId64 " = ", sine ? 'S' : 'C', n);
    for (int64_t f = 0; f < F; f++) {
        wide w = { { p->mix.frequency[f], p->mix.frequency[F + f], p->mix.frequency[2 * F + f] } };
        double c, s, a = param(p, of->params, sine ? p->mix.sines : p->mix.cosines, (h * F + f) * M + n);
        turn_cos_sin((double)of->q_at[0], w, &c, &s);
        tell_say(out, "%s%s · %s(%" PRId64 " · %s)", f ? " + " : "", tell_factor(a).text, sine ? "sin" : "cos",
                 of->q_at[0], tell_number(w.part[0] * wide_two_pi().part[0]).text);
        sum += a * (sine ? s : c);
    }
    tell_say(out, " = %s\n", tell_number(sum).text);
}

static void tell_fope_pair(const part *p, const pe_question *of, tell *out)
{
    if (of->element >= p->mix.pairs) {
        if (p->mix.still != 0) /* no angle has a cosine and a sine of 1 */
            tell_say(out, "C_%" PRId64 " = 1\nS_%" PRId64 " = 1\n", of->element, of->element);
        tell_say(out, "0");
        return;
    }
    tell_mixture(p, of, false, out);
    tell_mixture(p, of, true, out);
    tell_say(out, "%s^(-%" PRId64 "/%" PRId64 ")", tell_number(num(p, THETA)).text, 2 * first_wave(p, of->element),
             p->shape.head_dim);
}

const row pe_row_fope = {
    .keys = keys,
    .info = { .name = "fope",
              .summary =
                  "RoPE whose pairs each mix several frequencies, without those that are too slow to be learned at "
                  "the trained length.",
              .formula =
                  "(x, y) -> (x C - y S, x S + y C), C = sum_f cos(t theta^(-2f/d)) a_hfn, S = sum_f sin(..) b_hfn",
              .paper = "Hua et al. 2024",
              .arxiv = "2412.17739",
              .models = "Intern-S1-Pro",
              .hooks = PE_HOOK_ROTATE,
              .idea = PE_IDEA_ROTATION,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_LINEAR |
                        PE_CLAIM_INVERTIBLE | PE_CLAIM_ENDLESS | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .key_trained = "trained",
              .example_count = COUNT_OF(examples),
              .also = "fourier" },
    .init = init,
    .fill = first_share,
    .rotate = first_rotate,
    .tell_pair = tell_fope_pair,
};

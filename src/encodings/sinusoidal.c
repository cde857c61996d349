/* SPDX-License-Identifier: MIT
 *
 * sinusoidal: sines and cosines of the position at geometrically falling frequencies; several axes share the width
 * equally, one block after the other.
 *   p_t[2i] = sin(t theta^(-2i/d)), p_t[2i+1] = cos(t theta^(-2i/d))                        (Vaswani et al. 2017) */
#include "encodings/shared.h"

#include <inttypes.h>

enum { THETA, LAYOUT, ORDER, DENOMINATOR, OFFSET, AXES, JOIN, WIDTH };
static const pe_key keys[] = {
    { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths", NULL, false },
    { "layout", PE_KEY_CHOICE, "interleaved", 0, 0, "interleaved|halves", NULL,
      "sin and cos interleaved, or all sines and then all cosines", NULL, false },
    { "order", PE_KEY_CHOICE, "sin-cos", 0, 0, "sin-cos|cos-sin", NULL, "whether sin or cos comes first", NULL, false },
    { "denominator", PE_KEY_CHOICE, "d", 0, 0, "d|d-2", NULL, "exponent 2i/d, or 2i/(d-2) = i/(d/2-1)", NULL, false },
    { "offset", PE_KEY_INT, "0", -1048576, 1048576, NULL, NULL, "added to every position (fairseq: 2)", NULL, false },
    { "axes", PE_KEY_INT, "1", 1, PE_AXES_MAX, NULL, NULL, "coordinates per token", NULL, false },
    EMBED_KEYS,
};
static const char *const examples[] = {
    "sinusoidal",
    "sinusoidal:layout=halves",
    "sinusoidal:layout=halves,denominator=d-2,offset=2",
    "sinusoidal:axes=2",
    "sinusoidal:order=cos-sin,axes=4,theta=100",
    "sinusoidal:join=concat,width=64",
};

static pe_status init(part *p, pe_error *err)
{
    embed_init(p, JOIN);
    p->axes = whole(p, AXES);
    if (p->width % (2 * p->axes))
        return pe_fail(err, PE_ERR_SHAPE, "sinusoidal: the width is %lld; needs a multiple of 2 * axes = %lld",
                       (long long)p->width, (long long)(2 * p->axes));
    int64_t d = p->width / p->axes;
    wide *f = part_alloc(p, d / 2, sizeof *f, err);
    if (!f)
        return PE_ERR_NOMEM;
    spectrum(f, d / 2, num(p, THETA), num(p, DENOMINATOR) != 0 && d > 2 ? d - 2 : d);
    p->waves = (waves){ f, d / 2, num(p, OFFSET), num(p, LAYOUT) != 0, num(p, ORDER) != 0, NULL };
    if (p->axes > 1)
        p->claims |= PE_CLAIM_AXES;
    return PE_OK;
}

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    (void)w;
    int64_t d = p->width / p->axes;
    bool halves = num(p, LAYOUT) != 0;
    for (int64_t c = first; c < first + count; c++) {
        int64_t r = c % d;
        bool second = halves ? r >= d / 2 : r % 2;
        double cosine, sine;
        turn_cos_sin(at[c / d] + num(p, OFFSET), ((const wide *)p->state)[halves ? r % (d / 2) : r / 2], &cosine,
                     &sine);
        code[c - first] = second == (num(p, ORDER) != 0) ? sine : cosine;
    }
}

static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    (void)w;
    int64_t d = p->width / p->axes, r = c % d, t = at[c / d] + whole(p, OFFSET);
    int64_t over = num(p, DENOMINATOR) != 0 && d > 2 ? d - 2 : d;
    bool halves = num(p, LAYOUT) != 0, second = halves ? r >= d / 2 : r % 2;
    int64_t i = halves ? r % (d / 2) : r / 2;
    const char *name = second == (num(p, ORDER) != 0) ? "sin" : "cos";
    double frequency = pow(num(p, THETA), -2 * (double)i / (double)over);
    tell_say(out, "%s(%" PRId64 " · %s^(-%" PRId64 "/%" PRId64 ")) = %s(%" PRId64 " · %s)", name, t,
             tell_number(num(p, THETA)).text, 2 * i, over, name, t, tell_number(frequency).text);
}

const row pe_row_sinusoidal = {
    .keys = keys,
    .info = { .name = "sinusoidal",
              .summary = "Adds sines and cosines of the position, at decreasing frequencies, to the embedding (or "
                         "concatenates them).",
              .formula = "p_t[2i] = sin(t theta^(-2i/d)), p_t[2i+1] = cos(t theta^(-2i/d))",
              .paper = "Vaswani et al. 2017",
              .arxiv = "1706.03762",
              .models = "Transformer|Marian|XLM|Whisper encoder|M2M-100|MAE (axes=2, layout=halves, (x, y))",
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_LINEAR |
                        PE_CLAIM_SYMMETRIC | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "sinusoid|sincos|sin|absolute|fixed" },
    .init = init,
    .embed = embed,
    .fractional = true,
    .tell_embed = tell_code,
};

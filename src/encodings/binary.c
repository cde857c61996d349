/* SPDX-License-Identifier: MIT
 *
 * binary: element c is bit c of the position, least significant first; negative positions in two's complement. Bounded
 * and unique, but neighbours may differ in every bit (255 and 256). */
#include "encodings/shared.h"

#include <inttypes.h>

enum { JOIN, WIDTH };
static const pe_key keys[] = { EMBED_KEYS };
static const char *const examples[] = { "binary", "binary:join=concat,width=40" };

static pe_status init(part *p, pe_error *err)
{
    (void)err;
    embed_init(p, JOIN);
    if (p->width < 38) /* 37 bits and the sign tell all positions apart */
        p->claims &= ~PE_CLAIM_UNIQUE;
    return PE_OK;
}

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    (void)p, (void)w;
    uint64_t bits = (uint64_t)(int64_t)at[0];
    int64_t left = 63 - first, own = left < 0 ? 0 : left < count ? left : count; /* from bit 63 on all are the sign */
    for (int64_t c = 0; c < own; c++)
        code[c] = (double)(int)(bits >> (first + c) & 1);
    code_fill(code + own, (double)(int)(bits >> 63), count - own);
}

static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    (void)p, (void)w;
    tell_say(out, "floor(%" PRId64 " / 2^%d) mod 2", at[0], (int)(c < 63 ? c : 63));
}

const row pe_row_binary = {
    .keys = keys,
    .info = { .name = "binary",
              .summary = "Adds the binary digits of the position to the embedding, the lowest bit first.",
              .formula = "p_t[c] = floor(t / 2^c) mod 2",
              .paper = "folklore; the step between integers and sinusoids",
              .arxiv = "",
              .models = "",
              .idea = PE_IDEA_ABSOLUTE,
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .embed = embed,
    .tell_embed = tell_code,
};

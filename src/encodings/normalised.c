/* SPDX-License-Identifier: MIT
 *
 * normalised: the position over the length. Bounded, but the same place has another code in another sequence. */
#include "encodings/shared.h"

#include <inttypes.h>

enum { LENGTH, JOIN, WIDTH };
static const pe_key keys[] = {
    { "length", PE_KEY_INT, "512", 1, 0x1p36, NULL, NULL, "N: the length of the sequence", NULL, false },
    EMBED_KEYS,
};
static const char *const examples[] = { "normalised", "normalised:length=100,join=concat,width=1" };

static pe_status init(part *p, pe_error *err)
{
    (void)err;
    embed_init(p, JOIN);
    return PE_OK;
}

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    (void)w, (void)first;
    code_fill(code, at[0] / num(p, LENGTH), count);
}

static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    (void)w, (void)c;
    tell_say(out, "%" PRId64 " / %" PRId64, at[0], whole(p, LENGTH));
}

const row pe_row_normalised = {
    .keys = keys,
    .info = { .name = "normalised",
              .summary = "Adds the position divided by the sequence length to the embedding.",
              .formula = "p_t = t / N",
              .paper = "folklore",
              .arxiv = "",
              .models = "",
              .idea = PE_IDEA_ABSOLUTE,
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_BOUNDED | PE_CLAIM_LINEAR | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .key_length = "length",
              .example_count = COUNT_OF(examples),
              .also = "normalized|fraction" },
    .init = init,
    .embed = embed,
    .fractional = true,
    .tell_embed = tell_code,
};

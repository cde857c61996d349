/* SPDX-License-Identifier: MIT
 *
 * integer: the position itself, added to every element. Unique, but it grows without bound and drowns the signal. */
#include "encodings/shared.h"

enum { JOIN, WIDTH };
static const pe_key keys[] = { EMBED_KEYS };
static const char *const examples[] = { "integer", "integer:join=concat,width=1" };

static pe_status init(part *p, pe_error *err)
{
    (void)err;
    embed_init(p, JOIN);
    return PE_OK;
}

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    (void)p, (void)w, (void)first;
    code_fill(code, at[0], count);
}

static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    (void)p, (void)w, (void)at, (void)c;
    tell_say(out, "t");
}

const row pe_row_integer = {
    .keys = keys,
    .info = { .name = "integer",
              .summary = "Adds the position itself, as a number, to the embedding (or concatenates it).",
              .formula = "p_t = t",
              .paper = "folklore",
              .arxiv = "",
              .models = "",
              .idea = PE_IDEA_ABSOLUTE,
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_LINEAR | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples) },
    .init = init,
    .embed = embed,
    .fractional = true,
    .tell_embed = tell_code,
};

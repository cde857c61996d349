/* SPDX-License-Identifier: MIT
 *
 * xlnet: Transformer-XL's terms in both directions over a segment and the memory before it.
 *   score = (q_i + u) . k_j + (q_i + v) . r_(i-j),  -length < i-j < length + memory             (Yang et al. 2019) */
#include "encodings/shared.h"

enum { LENGTH, MEMORY };
static const pe_key keys[] = {
    { "length", PE_KEY_INT, "512", 1, 0x1p24, NULL, NULL, "number of tokens in a segment", NULL, false },
    { "memory", PE_KEY_INT, "0", 0, 0x1p24, NULL, NULL,
      "number of remembered tokens before the segment, as keys with smaller positions", NULL, false },
};
static const char *const examples[] = { "xlnet", "xlnet:length=40,memory=20" };

static pe_status init(part *p, pe_error *err)
{
    return xl_init(p, whole(p, LENGTH) - 1 + whole(p, MEMORY), whole(p, LENGTH) - 1, err);
}

const row pe_row_xlnet = {
    .keys = keys,
    .info = { .name = "xlnet",
              .summary = "Transformer-XL's attention scores in both directions, with memory of earlier segments.",
              .formula = "score = (q_i + u) . k_j + (q_i + v) . r_(i-j)",
              .paper = "Yang et al. 2019",
              .arxiv = "1906.08237",
              .models = "XLNet",
              .idea = PE_IDEA_CONTENT,
              .hooks = PE_HOOK_CONTENT,
              .claims = PE_CLAIM_ANY_LENGTH | PE_CLAIM_RELATIVE | PE_CLAIM_UNIQUE | PE_CLAIM_LEARNED,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .key_length = "length",
              .example_count = COUNT_OF(examples) },
    .init = init,
    .fill = xl_fill,
    .reaches = xl_reaches,
    .tell_index = xl_tell_index,
    .tell_entry = xl_tell_entry,
    .tell_beside = xl_tell_beside,
};

/* SPDX-License-Identifier: MIT
 *
 * none: no encoding. Attention sees a set of tokens. */
#include "encodings/shared.h"

static const char *const examples[] = { "none" };

const row pe_row_none = {
    .info = { .name = "none",
              .summary = "No position information: attention without a mask cannot tell one word order from another.",
              .formula = "q.k",
              .paper = "Haviv et al. 2022 (causal models without an encoding)",
              .arxiv = "2203.16634",
              .models = "Llama 4 (some layers)|SmolLM3 (some layers)|Command R7B (some layers)",
              .claims = PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_LINEAR | PE_CLAIM_RELATIVE | PE_CLAIM_NORM |
                        PE_CLAIM_SYMMETRIC | PE_CLAIM_ENDLESS,
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "nope|no" },
    .excused = PE_CLAIM_NORM,
    .excuse = "touches no vector, so all keep their length",
};

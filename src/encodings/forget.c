/* SPDX-License-Identifier: MIT
 *
 * forget: each token and head has a forget gate f between 0 and 1, and a score loses what the gates after the key
 * forget. score += sum of log f_l over l = j+1..i = c_i - c_j,  c_t = sum of log f_l over l = 0..t,  f_l = sigmoid(w_h
 * . x_l + b_h) (Lin et al. 2025, the Forgetting Transformer; data-dependent ALiBi is the same term). The caller makes
 * the gates from what its tokens hold, and gives c; so the row has nothing to train, and positions do not enter. */
#include "encodings/shared.h"

static const char *const examples[] = { "forget" };

static pe_status init(part *p, pe_error *err)
{
    (void)err;
    p->gates = true;
    return PE_OK;
}

const row pe_row_forget = {
    .info = { .name = "forget",
              .summary =
                  "Subtracts what a forget gate per token and head, computed from the token, forgets between the "
                  "key and the query.",
              .formula = "score += c_i - c_j, c_t = sum_(l=0..t) log sigmoid(w_h . x_l + b_h)",
              .paper = "Lin et al. 2025",
              .arxiv = "2503.02130",
              .models = "Forgetting Transformer (FoX)",
              .hooks = PE_HOOK_BIAS,
              .idea = PE_IDEA_DATA,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_LINEAR | PE_CLAIM_RELATIVE | PE_CLAIM_ENDLESS,
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "fox|forgetting|forget-gate|data-dependent-alibi|dynamic-alibi" },
    .init = init,
};

/* SPDX-License-Identifier: MIT
 *
 * What is accepted although it was changed. */
#ifndef TESTS_MISUSE_LEGAL_H
#define TESTS_MISUSE_LEGAL_H

#include "misuse/calls.h"

/* A hook more, for the list below: frequencies are parameters. */
#define TRAINED_ROTATION 0x100u
static unsigned hooks_of_some(void)
{
    bool trained = test_rotates_by_params(some);
    return pe_encoding_hooks(some) | (trained ? TRAINED_ROTATION : 0);
}

/* What is accepted although it was changed: patterns for the function, for fields, separated by spaces, and for the
 * change. `unless`: only for encodings without these hooks. A pattern that nothing needs is an error. */
static const struct {
    const char *function, *fields, *change;
    unsigned unless;
} legal[] = {
    /* another view, as good as the first: strides (see is_legal), a broadcast, an element type */
    { "*", "*_stride", "*", 0 },
    { "*", "*[!pt].dtype *out.dtype", "*F*", 0 },
    { "*", "*at.dtype", "I32", 0 }, /* small numbers, read as twice as many */
    { "pe_embed*", "at.dtype", "F64", 0 }, /* the same bits are fractions, which some rows take */
    { "pe_*rotate*", "*at.dtype", "F64", 0 },
    { "pe_attention_*", "attention_value.*_at.dtype", "F64", 0 },
    { "pe_reference_*", "attention_value.*_at.dtype", "F64", 0 },
    { "pe_encoding_*", "*at.dtype", "F64", 0 },
    { "*", "*at.st*", "-1", 0 },
    { "*", "*at.st*", "one *", 0 },
    { "pe_*rotate", "side", "[0-3]", 0 },
    { "pe_rotate_back", "side", "[0-3]", 0 },
    { "pe_rotate_table", "side", "[01]", 0 },
    { "pe_rotate_grad", "side", "[01]", 0 },
    { "*", "stage", "[01]", 0 },
    { "*", "err", "*", 0 },
    /* inputs may share memory; a rotation and an embedding work in place */
    { "*", "*", "on input *", 0 },
    { "pe_*rotate", "[xy].data", "on [xy].data", 0 },
    { "pe_rotate_back", "[xy].data", "on [xy].data", 0 },
    { "pe_embed*", "[xy].data", "on [xy].data", 0 },
    { "pe_rotate_qk", "rotation_value.q.data", "on rotation_value.q_out.data", 0 },
    { "pe_rotate_qk", "rotation_value.q_out.data", "on rotation_value.q.data", 0 },
    { "pe_rotate_qk", "rotation_value.k.data", "on rotation_value.k_out.data", 0 },
    { "pe_rotate_qk", "rotation_value.k_out.data", "on rotation_value.k.data", 0 },
    /* NULL: not wanted, or not there */
    { "*", "*at.data", "NULL", 0 }, /* a run */
    { "*", "run run_value.pool", "NULL", 0 },
    { "*", "attention_value.mask.additive.data attention_value.mask.keep.data", "NULL", 0 },
    { "pe_rotate_qk", "rotation_value.[qk].data rotation_value.[qk]_out.data", "NULL", 0 },
    { "pe_embed", "x.data", "NULL", 0 },
    { "pe_embed_back", "y.data", "NULL", 0 },
    { "pe_encoding_value_back", "y.data", "NULL", 0 },
    { "*_back", "dw.data grad_value.d[qkp]*.data", "NULL", 0 },
    { "pe_rotate_grad", "dw.data", "NULL", 0 },
    { "pe_*_backward", "attention_grad_value.d[qkvaps]*.data attention_grad_value.*carry", "NULL", 0 },
    { "pe_*_f[io]*", "attention_value.lse.data", "NULL", 0 },
    { "*", "attention_value.[qk]_lengths.length", "NULL", 0 },
    { "*", "tile_value.seen tile_value.carry", "NULL", 0 },
    { "*", "attention_value.[sp]*.data", "NULL", 0 }, /* sinks, scores, probabilities */
    /* not looked at by this call, or by this encoding */
    { "pe_*_work", "attention_value.out.* attention_value.lse.*", "*", 0 },
    { "pe_*_work", "attention_value.[sp][cr]*.*", "*", 0 }, /* scores, probabilities */
    { "pe_*_work", "*", "on *", 0 },
    { "pe_attention_partial", "attention_value.out.* attention_value.lse.*", "*", 0 },
    { "pe_attention_[mf]*", "*", "on *.carry*", 0 },
    { "pe_attention_[mf]*", "*.carry", "*", 0 },
    { "pe_attention_partial", "piece.carry", "[Nc]*", 0 }, /* unless keys are counted: a test of its own */
    { "pe_attention_backward", "attention_grad_value.carry", "content *", 0 },
    { "pe_reference_backward", "attention_value.out.* attention_value.lse.*", "*", 0 },
    { "*_back", "tile_value.score.*", "*", 0 },
    { "pe_encoding_bias*", "tile_value.[qk].*", "*", 0 },
    { "pe_encoding_bias*", "*", "on tile_value.[qk].*", 0 },
    { "pe_encoding_content*", "tile_value.[qk].*", "*", PE_HOOK_CONTENT },
    { "pe_encoding_content*", "*", "on tile_value.[qk].*", PE_HOOK_CONTENT },
    { "pe_encoding_bias_back", "grad_value.d[qk].*", "*", 0 },
    { "pe_encoding_bias_back", "*", "on grad_value.d[qk].*", 0 },
    { "pe_rotate_qk", "rotation_value.[qk]_table.*", "*", PE_HOOK_ROTATE },
    { "pe_*rotate*", "run_value.params.*", "*", TRAINED_ROTATION },
    { "pe_*rotate*", "*", "on run_value.params.*", TRAINED_ROTATION },
    { "pe_cache_*", "run_value.params.*", "*", TRAINED_ROTATION },
    { "pe_cache_*", "*", "on run_value.params.*", TRAINED_ROTATION },
    { "pe_encoding_value", "y.dim", "*", PE_HOOK_VALUE },
    { "pe_encoding_value_back", "x2.dim", "*", PE_HOOK_VALUE },
    { "pe_encoding_tell", "question*", "*", ANY_HOOK }, /* the softmax scale has no question */
    { "pe_encoding_tell", "*", "on question_value.*", ANY_HOOK },
    { "pe_encoding_tell", "question_value.[ksh]*", "*", PAIR_HOOKS },
    { "pe_encoding_tell", "*", "on question_value.[ks]*", PAIR_HOOKS },
    { "pe_encoding_tell", "question_value.[qk]", "*", PE_HOOK_CONTENT },
    { "pe_encoding_tell", "*", "on question_value.[qk]", PE_HOOK_CONTENT },
    { "pe_encoding_tell", "*", "on question_value.[qk]+4", PE_HOOK_CONTENT },
    { "pe_encoding_tell", "question_value.q_at", "content *", 0 }, /* beyond its axes */
    { "pe_encoding_tell", "question_value.seen", "NULL", 0 },
    /* numbers as good as the first */
    { "pe_encoding_tell", "question_value.key*", "[0o]*", 0 },
    { "pe_encoding_tell", "question_value.head", "one more", 0 },
    { "pe_encoding_tell", "question_value.element", "one more", PAIR_HOOKS },
    { "pe_encoding_tell", "room", "[oh]*", 0 },
    { "*", "tile_value.carry", "content *", 0 },
    { "pe_pool_new", "index", "99", 0 },
    { "pe_encoding_new", "shape.heads", "one *", 0 },
    { "pe_encoding_new", "shape.kv_heads shape.model_dim", "[0o]*", 0 },
    { "*", "attention_value.mask.window attention_value.mask.first_keys", "[0-9oI]*[!N]", 0 },
    { "*", "attention_value.mask.window attention_value.mask.first_keys", "0", 0 },
    { "*", "attention_value.mask.keys_after", "one more", 0 },
    { "*", "*pages*.columns", "one more", 0 },
    { "*", "attention_value.mask.align", "[0-2]", 0 },
    { "*", "attention_value.mask.*.heads", "one less", 0 }, /* one for all */
    { "*", "attention_value.mask.*.batch", "one less", 0 },
    { "*", "attention_value.scale", "[-0]*[!f]", 0 },
    { "*", "attention_value.scale attention_value.soft_cap", "0", 0 },
    { "pe_reference_*", "attention_value.s*", "1e+308", 0 }, /* fused attention has these in float32 */
    { "pe_attention_finish", "attention_value.s*", "1e+308", 0 }, /* not looked at */
    { "pe_*_work", "attention_value.v.dim", "[0o]*", PE_HOOK_VALUE },
    { "pe_attention_partial", "attention_value.v.dim", "[0o]*", PE_HOOK_VALUE },
    { "pe_*ward", "run_value.work_bytes", "[oS]*[!s]", 0 },
    { "pe_attention_partial", "run_value.work_bytes", "[oS]*[!s]", 0 },
    { "pe_attention_merge", "rows count", "[0o]*", 0 },
    { "pe_plan_new", "behind ahead", "[0o]*", 0 },
    { "pe_cache_*", "k.heads", "[0o]*", 0 },
    { "pe_cache_*", "k.dim", "[0o]*", PE_HOOK_ROTATE },
    { "pe_cache_shift in pages", "k.batch", "one *", 0 }, /* pages that no table names */
    { "pe_positions_masked", "tokens", "[0o]*", 0 },
    { "pe_positions_*", "start", "[-0o]*[!1]", 0 },
    { "pe_positions_*", "start", "-1", 0 },
    { "pe_positions_*", "start", "0", 0 },
    { "pe_positions_packed", "sequences", "0", 0 },
    { "pe_positions_packed", "offsets", "on i_out*", 0 }, /* zeros: sequences of no tokens */
    { "pe_positions_packed", "sequences", "one less", 0 },
    { "pe_positions_grid", "[thw]*", "[0o]*", 0 },
};

#endif

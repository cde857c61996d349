/* SPDX-License-Identifier: MIT
 *
 * Which fast attentions an encoding allows, by trying: plain attention on turned queries and keys, plain attention with
 * a bias, a cache whose oldest tokens are dropped. */
#include "prove/numbers.h"
#include "prove/scores.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* bias (T, H, T): the scores of words that are not there, which is what the encoding adds to any. */
static pe_status bare_bias(trial *t, pe_error *err)
{
    int64_t T = t->tokens;
    double *none = measure_memory(t->size, 1, err);
    pe_attention a = PE_MAKE(pe_attention, .q = trial_view(t, none), .k = trial_view(t, none), .q_at = trial_places(t),
                             .k_at = trial_places(t), .mask.causal = true,
                             .scores = pe_view_of(t->bias, PE_F64, 1, T, t->m.shape.heads, T));
    pe_status status = none ? zoo_look(t->m.e, a, t->m.w, err) : PE_ERR_NOMEM;
    free(none);
    return status;
}

typedef enum kernel { ANY_KERNEL = 0, BIASED_KERNEL, OWN_KERNEL, KERNELS } kernel;

/* The plainest attention that gives what this encoding gives; *apart: how far that of any kernel is, or the next. */
static pe_status plainest(kernel *is, double *apart, trial *t, pe_error *err)
{
    pe_attention bare = { .size = sizeof bare }, a = bare;
    a.scale = pe_encoding_scale(t->m.e);
    PROVE_TRY(trial_attend(t, &t->m, bare, t->out, err));
    double *turned[] = { t->q, t->k, t->v };
    for (int side = PE_QUERY; side <= PE_VALUE; side++)
        PROVE_TRY(pe_rotate(t->m.e, (pe_side)side, trial_view(t, turned[side]), trial_view(t, turned[side]),
                            trial_places(t), &PE_MAKE(pe_run, .params = t->m.w), err));
    for (*is = ANY_KERNEL; *is < OWN_KERNEL; ++*is) {
        PROVE_TRY(trial_attend(t, &t->plain, a, t->other, err));
        PROVE_TRY(pe_rotate(t->m.e, PE_OUTPUT, trial_view(t, t->other), trial_view(t, t->other), trial_places(t),
                            &PE_MAKE(pe_run, .params = t->m.w), err));
        *apart = measure_difference(t->out, t->other, t->size);
        if (*apart < MEASURE_ROUNDING)
            break;
        PROVE_TRY(bare_bias(t, err));
        a.mask.additive = pe_view_of(t->bias, PE_F64, 1, t->tokens, t->m.shape.heads, t->tokens);
    }
    return PE_OK;
}

static pe_status find_kernel(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const words name[KERNELS] = {
        { "any kernel, linear attention too; difference", "任何内核均可，线性注意力也可；误差" },
        { "a kernel with a bias on scores; difference", "需要支持分数偏置的内核；误差" },
        { "code of its own in the kernel; difference without", "内核需专门实现；否则误差" },
    };
    trial t;
    kernel is = ANY_KERNEL;
    double apart = 0;
    pe_status status = trial_open(&t, spec, g, err);
    status = status ? status : plainest(&is, &apart, &t, err);
    trial_close(&t);
    PROVE_TRY(status);
    prove_add(((measure_tally *)with)->out, name[is], spec, apart, "");
    measure_count(with, is == ANY_KERNEL);
    return PE_OK;
}

/* given: spec (none: every row), heads, head_dim, length. HOLDS: turning q and k is all that any of them does. */
pe_status measure_any_kernel(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "All of it is done to q and k before attention, which need not know.",
          "全部作用都在注意力之前施加到 q 和 k 上，内核无须知道。" },
        { "None of these can be had by changing q and k alone.", "这些编码都不能只靠改变 q 和 k 得到。" },
        { "On where position enters: in words, q and k any kernel serves, and linear attention; a number per distance "
          "needs a bias on scores; terms of content and values need code of their own.",
          "取决于位置从何处进入：进入词向量或 q、k 的可用任何内核（包括线性注意力）；每个距离一个数的需要分数偏置；"
          "与内容相乘或进入值的需要专门实现。" },
    };
    measure_tally t = { .out = out };
    PROVE_TRY(measure_each_row(find_kernel, &t, g, err));
    measure_conclude(&t, (words){ "rows that plain attention does not serve", "普通注意力不够用的编码数" }, because);
    return PE_OK;
}

/* ------------------------------------------------ a cache that moves */

#define DROPPED 4

/* Scores of keys cached DROPPED places further on and shifted, against keys made afresh; in sizes of a score. */
static pe_status shift_cache(double *apart, scores *s, double *fresh, pe_error *err)
{
    int64_t T = s->tokens, H = s->m.shape.heads, D = s->m.shape.head_dim, n = T * H * D;
    double *cached = measure_memory(n, 1, err), *score = fresh + s->size;
    int64_t *from = calloc((size_t)(T * s->axes), sizeof *from);
    pe_status status = cached && from ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a cache");
    scores_move(s, DROPPED);
    status = status ? status : scores_sides(s, SCORES_BOTH, err);
    if (!status) {
        memcpy(cached, s->k, (size_t)n * sizeof *cached);
        memcpy(from, s->at, (size_t)(T * s->axes) * sizeof *from);
    }
    scores_move(s, 0);
    pe_view k = pe_view_of(cached, PE_F64, 1, T, H, D);
    pe_positions old = pe_positions_of(from, PE_I64, 1, T, s->axes),
                 now = pe_positions_of(s->at, PE_I64, 1, T, s->axes);
    pe_run run = PE_MAKE(pe_run, .params = s->m.w);
    status = status ? status : pe_rotate(s->m.e, PE_KEY, k, k, old, &run, err);
    status = status ? status : pe_cache_shift(s->m.e, k, NULL, old, now, &run, err);
    status = status ? status : scores_make(fresh, s, SCORES_BOTH, err);
    if (!status) {
        memcpy(s->k, cached, (size_t)n * sizeof *cached);
        status = scores_pairs(score, s, true, err);
        *apart = measure_difference(fresh, score, s->size) / scores_rms(fresh, s);
    }
    free(cached), free(from);
    return status;
}

static pe_status try_shift(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    scores s;
    double apart = 0;
    PROVE_TRY(scores_open(&s, spec, g, err));
    double *fresh = measure_memory(2, s.size, err);
    pe_status status = fresh ? shift_cache(&apart, &s, fresh, err) : PE_ERR_NOMEM;
    free(fresh);
    scores_close(&s);
    PROVE_TRY(status);
    prove_add(
        ((measure_tally *)with)->out,
        (words){ "shifted cache against keys made afresh, of the score", "平移后的缓存与重新计算的键，分数相对差" },
        spec, apart, "");
    measure_count(with, apart < MEASURE_ROUNDING);
    return PE_OK;
}

/* given: as above. HOLDS where a cache can be moved, REFUTED where it must be made afresh. */
pe_status measure_cache_shift(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Keys have nothing of a place in them, or can be turned on to another.",
          "键里没有位置，或者可以直接转到另一个位置。" },
        { "Keys keep the place that was added to their words: they must be made afresh.",
          "键里留有加到词向量上的位置，必须重新计算。" },
        { "On where position enters: turned keys can be turned on and keys without place moved as they are; codes that "
          "were added to words stay in the keys.",
          "取决于位置从何处进入：旋转过的键可以再转，不含位置的键可以直接移动；加到词向量上的编码则留在键里。" },
    };
    measure_tally t = { .out = out };
    PROVE_TRY(measure_each_row(try_shift, &t, g, err));
    measure_conclude(&t, (words){ "rows whose cache cannot be moved", "缓存不能平移的编码数" }, because);
    return PE_OK;
}

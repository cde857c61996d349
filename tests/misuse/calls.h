/* SPDX-License-Identifier: MIT
 *
 * A valid call of every public function that can fail, by its arguments (args.h), and the table of them. */
#ifndef TESTS_MISUSE_CALLS_H
#define TESTS_MISUSE_CALLS_H

#include "misuse/alone.h"

/* ------------------------------------------------ what makes a call valid */

#define BUILD_BOTH(name, first, second) static void name(args *a) { first(a); second(a); }

static void give_run(args *a)
{
    a->run_value = PE_MAKE(pe_run, .params = params(a->e, W), .pool = &reversed_pool);
    a->run = &a->run_value;
}

static void build_new(args *a)
{
    a->out = memory(Y);
    a->spec = "rope";
    a->shape = shape;
}

static void build_kernels(args *a)
{
    a->spec = "scalar";
}

static void build_pool(args *a)
{
    a->pool_out = memory(Y);
    a->index = 2; /* workers */
}

static void build_rotate(args *a)
{
    a->side = PE_QUERY;
    a->y = batch(Y, B, TQ, H, D);
    a->x = batch(X, B, TQ, H, D);
    a->x2 = batch(DOUT, B, TQ, H, D);
    a->dw = params(a->e, DW);
    a->at = batch_positions(a->e, AT, B, TQ);
    give_run(a);
}

static void build_pairs(args *a)
{
    a->pairs = memory(Y);
    a->count = pe_encoding_pair_count(a->e);
}

static void build_table(args *a)
{
    a->side = PE_KEY;
    a->y = batch(Y, B, TQ, 1, pe_encoding_pair_count(a->e));
    a->y2 = batch(Y2, B, TQ, 1, pe_encoding_pair_count(a->e));
    a->at = batch_positions(a->e, AT, B, TQ);
    give_run(a);
}

static void build_rotate_qk(args *a)
{
    int64_t P = pe_encoding_pair_count(a->e);
    a->rotation_value = PE_MAKE(pe_rotation, .q = batch(X, B, TQ, H, D), .k = batch(K, B, TQ, 1, D),
                                .q_out = batch(Y, B, TQ, H, D), .k_out = batch(Y2, B, TQ, 1, D),
                                .at = batch_positions(a->e, AT, B, TQ));
    if (P) {
        a->rotation_value.q_table = (pe_table){ view(W, 4, 1, P), view(ADD, 4, 1, P), memory(ROW_Q) };
        a->rotation_value.k_table = (pe_table){ view(SINKS, 4, 1, P), view(V, 4, 1, P), memory(ROW_K) };
    }
    a->rotation = &a->rotation_value;
    give_run(a);
}

static void build_embed(args *a)
{
    a->x = batch(X, B, TQ, 1, C);
    a->y = batch(Y, B, TQ, 1, pe_embed_width(a->e, C));
    a->at = batch_positions(a->e, AT, B, TQ);
    give_run(a);
}

static void build_embed_back(args *a)
{
    build_embed(a);
    a->dw = params(a->e, DW);
    a->x = batch(X, B, TQ, 1, pe_embed_width(a->e, C));
    a->y = batch(Y, B, TQ, 1, C);
}

static void build_bias(args *a)
{
    a->stage = PE_AFTER_SCALE;
    a->w = params(a->e, W);
    a->tile_value = PE_MAKE(pe_tile, .score = view(Y, TQ, H, TK), .q = view(X, TQ, H, D), .k = view(K, TK, 1, D),
                            .q_at = positions(a->e, AT, TQ), .k_at = positions(a->e, K_AT, TK), .seen = slot[SEEN],
                            .carry = memory(CARRY));
    a->tile = &a->tile_value;
}

static void build_content(args *a)
{
    build_bias(a);
    a->stage = pe_encoding_carries(a->e) ? PE_AFTER_SCALE : PE_BEFORE_SCALE;
}

static void give_tile_grad(args *a)
{
    a->tile_value.score = (pe_view){ 0 };
    a->tile_value.carry = NULL;
    a->grad_value = PE_MAKE(pe_tile_grad, .dscore = view(DOUT, TQ, H, TK), .dq = view(Y, TQ, H, D),
                            .dk = view(Y2, TK, 1, D), .dparams = params(a->e, DW));
    a->grad = &a->grad_value;
}

BUILD_BOTH(build_content_back, build_content, give_tile_grad)
BUILD_BOTH(build_bias_back, build_bias, give_tile_grad)

static void build_value(args *a)
{
    a->w = params(a->e, W);
    a->dw = params(a->e, DW);
    a->y = view(Y, TQ, H, D);
    a->x = view(X, TQ, H, TK);
    a->at = positions(a->e, AT, TQ);
    a->k_at = positions(a->e, K_AT, TK);
}

static void build_value_back(args *a)
{
    build_value(a);
    a->y = view(Y, TQ, H, TK);
    a->x2 = view(DOUT, TQ, H, D);
}

static void build_attention(args *a)
{
    a->attention_value = PE_MAKE(
        pe_attention, .out = batch(Y, B, TQ, H, D), .lse = batch(Y2, B, TQ, H, 1), .q = batch(X, B, TQ, H, D),
        .k = batch(K, B, TK, 1, D), .v = batch(V, B, TK, 1, D), .q_at = batch_positions(a->e, AT, B, TQ),
        .k_at = batch_positions(a->e, K_AT, B, TK), .q_lengths = { .length = memory(LENGTHS) },
        .k_lengths = { .length = memory(K_LENGTHS), .padded_left = true },
        .mask = { .causal = true, .window = 4, .first_keys = 1, .keep = pe_view_of(slot[USED], PE_BOOL, B, TQ, H, TK),
                  .additive = batch(ADD, B, TQ, H, TK) },
        .sinks = { slot[SINKS], PE_F32, H }, .soft_cap = 20, .scale = 0.5, .scores = batch(Y3, B, TQ, H, TK),
        .probabilities = batch(Y4, B, TQ, H, TK));
    a->attention = &a->attention_value;
    give_run(a);
    a->run_value.work = slot[WORK];
    a->bytes_out = memory(Y5);
    if (pe_reference_work(a->e, a->attention, &a->run_value.work_bytes, NULL) || a->run_value.work_bytes > SLOT)
        fail_msg("%s: work memory: %zu bytes", pe_encoding_spec(a->e), a->run_value.work_bytes);
}

/* The same with keys and values in pages, or with sequences packed end to end. */
static void build_paged(args *a)
{
    pe_attention *p = &a->attention_value;
    build_attention(a);
    p->k = batch(K, PAGE_COUNT, PAGE, 1, D);
    p->v = batch(V, PAGE_COUNT, PAGE, 1, D);
    p->pages = (pe_pages){ memory(PAGES), 3 };
    p->k_lengths.padded_left = false;
}

static void build_packed(args *a)
{
    pe_attention *p = &a->attention_value;
    build_attention(a);
    p->q = batch(X, 1, 6, H, D);
    p->out = batch(Y, 1, 6, H, D);
    p->lse = batch(Y2, 1, 6, H, 1);
    p->k = batch(K, 1, 9, 1, D);
    p->v = batch(V, 1, 9, 1, D);
    p->q_at = positions(a->e, AT, 6);
    p->k_at = positions(a->e, K_AT, 9);
    p->q_lengths = (pe_lengths){ .offset = memory(OFFSETS), .sequences = 2 };
    p->k_lengths = (pe_lengths){ .offset = memory(K_OFFSETS), .sequences = 2 };
    p->mask.keep = p->mask.additive = p->scores = p->probabilities = (pe_view){ 0 };
}

/* Without what it writes. */
static void drop_outputs(args *a)
{
    pe_attention *p = &a->attention_value;
    p->out = p->lse = p->scores = p->probabilities = (pe_view){ 0 };
}

static void build_backward(args *a)
{
    build_attention(a);
    drop_outputs(a);
    a->attention_grad_value = PE_MAKE(pe_attention_grad, .dout = batch(DOUT, B, TQ, H, D), .dq = batch(Y, B, TQ, H, D),
                                      .dk = batch(Y2, B, TK, 1, D), .dv = batch(Y3, B, TK, 1, D),
                                      .dadditive = batch(Y4, B, TQ, H, TK), .dparams = params(a->e, DW),
                                      .dsinks = { slot[DSINKS], PE_F32, H });
    a->attention_grad = &a->attention_grad_value;
}

static void build_cache(args *a)
{
    a->e2 = a->e;
    a->k = batch(Y, B, TK, 1, D);
    a->at = batch_positions(a->e, AT, B, TK);
    a->k_at = batch_positions(a->e, K_AT, B, TK);
    give_run(a);
}

static void build_cache_paged(args *a)
{
    build_cache(a);
    a->k = batch(Y, 2 * PAGE_COUNT, PAGE, 1, D);
    a->pages_value = (pe_pages){ memory(PAGES), 3 };
    a->pages = &a->pages_value;
}

static void size_fused(args *a, bool backward)
{
    size_t *bytes = &a->run_value.work_bytes;
    a->run_value.work = NULL;
    *bytes = 0;
    pe_status s = (backward ? pe_attention_backward_work : pe_attention_work)(a->e, a->attention, a->run, bytes, NULL);
    a->run_value.work = fused_work;
    if (s || *bytes > sizeof fused_work)
        fail_msg("%s: work memory: %zu bytes", pe_encoding_spec(a->e), *bytes);
}

static void size_forward(args *a)
{
    size_fused(a, false);
}

BUILD_BOTH(build_fused, build_attention, size_forward)
BUILD_BOTH(build_fused_paged, build_paged, size_forward)
BUILD_BOTH(build_fused_packed, build_packed, size_forward)

static pe_partial piece_at(int out, int max, int sum, int carry)
{
    return (pe_partial){ memory(out), memory(max), memory(sum), memory(carry) };
}

static void build_partial(args *a)
{
    build_fused(a);
    drop_outputs(a);
    a->piece = piece_at(Y, Y2, Y3, CARRY);
}

static void build_merge(args *a)
{
    a->piece = piece_at(Y, Y2, Y3, CARRY);
    a->from = piece_at(DOUT, OUT, LSE, PIECE_CARRY);
    a->rows = B * TQ * H;
    a->count = D;
}

static void build_finish(args *a)
{
    build_fused(a);
    a->run_value.work = NULL;
    a->attention_value.scores = a->attention_value.probabilities = (pe_view){ 0 };
    a->piece = piece_at(DOUT, OUT, LSE, PIECE_CARRY);
}

static void build_fused_backward(args *a)
{
    build_backward(a);
    a->attention_value.out = batch(OUT, B, TQ, H, D);
    a->attention_value.lse = batch(LSE, B, TQ, H, 1);
    size_fused(a, true);
}

static void build_fused_backward_piece(args *a)
{
    build_fused_backward(a);
    a->attention_grad_value.piece = true;
    a->attention_grad_value.carry = memory(PIECE_CARRY);
    a->attention_grad_value.dcarry = memory(DCARRY);
}

static void build_plan(args *a)
{
    a->plan_out = memory(Y);
    a->plan = some_plan;
    a->behind = 3, a->ahead = 3;
    give_run(a);
}

#define PAIR_HOOKS (PE_HOOK_CONTENT | PE_HOOK_BIAS | PE_HOOK_VALUE)
#define ANY_HOOK (PAIR_HOOKS | PE_HOOK_EMBED | PE_HOOK_ROTATE)

/* The first term of a score, where there is one. */
static void build_tell(args *a)
{
    pe_formula f[PE_FORMULAS_MAX];
    int count = pe_encoding_formulas(a->e, f, PE_FORMULAS_MAX);
    while (a->index < count && !(f[a->index].hook & PAIR_HOOKS))
        a->index++;
    a->index = a->index < count ? a->index : 0;
    a->question_value = PE_MAKE(pe_question, .params = params(a->e, W), .q_at = memory(AT),
                                .k_at = memory(K_AT), .q = memory(X),
                                .k = memory(K), .seen = slot[SEEN], .keys = TK, .key = 1);
    a->question = &a->question_value;
    a->number = memory(Y);
    a->text = memory(Y2);
    a->room = 500;
}

static void build_init(args *a)
{
    a->w = params(a->e, Y);
}

static void build_builders(args *a)
{
    a->i_out = memory(Y);
    a->offsets = memory(OFFSETS);
    a->used = slot[USED];
    a->tokens = TK, a->start = 7, a->sequences = 2;
    a->t = 2, a->h = 3, a->w_cells = 4;
}

/* ------------------------------------------------ the calls */

#define RETURN_OF(name, call) static pe_status call_##name(args *a) { return call; }

RETURN_OF(kernels, pe_encoding_set_kernels((pe_encoding *)(uintptr_t)a->e, a->spec, a->err))
RETURN_OF(rotate, pe_rotate(a->e, a->side, a->y, a->x, a->at, a->run, a->err))
RETURN_OF(unrotate, pe_unrotate(a->e, a->side, a->y, a->x, a->at, a->run, a->err))
RETURN_OF(rotate_back, pe_rotate_back(a->e, a->side, a->y, a->x, a->at, a->run, a->err))
RETURN_OF(rotate_grad, pe_rotate_grad(a->e, a->dw, a->side, a->x2, a->x, a->at, a->run, a->err))
RETURN_OF(pairs, pe_encoding_pairs(a->e, a->pairs, a->count, a->err))
RETURN_OF(table, pe_rotate_table(a->e, a->side, a->y, a->y2, a->at, a->run, a->err))
RETURN_OF(rotate_qk, pe_rotate_qk(a->e, a->rotation, a->run, a->err))
RETURN_OF(embed, pe_embed(a->e, a->y, a->x, a->at, a->run, a->err))
RETURN_OF(embed_back, pe_embed_back(a->e, a->dw, a->y, a->x, a->at, a->run, a->err))
RETURN_OF(content, pe_encoding_content(a->e, a->stage, a->w, a->tile, a->err))
RETURN_OF(bias, pe_encoding_bias(a->e, a->stage, a->w, a->tile, a->err))
RETURN_OF(content_back, pe_encoding_content_back(a->e, a->stage, a->w, a->tile, a->grad, a->err))
RETURN_OF(bias_back, pe_encoding_bias_back(a->e, a->stage, a->w, a->tile, a->grad, a->err))
RETURN_OF(value, pe_encoding_value(a->e, a->w, a->y, a->x, a->at, a->k_at, a->err))
RETURN_OF(value_back, pe_encoding_value_back(a->e, a->w, a->dw, a->y, a->x, a->x2, a->at, a->k_at, a->err))
RETURN_OF(work, pe_reference_work(a->e, a->attention, a->bytes_out, a->err))
RETURN_OF(forward, pe_reference_forward(a->e, a->attention, a->run, a->err))
RETURN_OF(backward, pe_reference_backward(a->e, a->attention, a->attention_grad, a->run, a->err))
RETURN_OF(shift, pe_cache_shift(a->e, a->k, a->pages, a->at, a->k_at, a->run, a->err))
RETURN_OF(rebase, pe_cache_rebase(a->e, a->e2, a->k, a->pages, a->at, a->run, a->err))
RETURN_OF(fused_work, pe_attention_work(a->e, a->attention, a->run, a->bytes_out, a->err))
RETURN_OF(fused_forward, pe_attention_forward(a->e, a->attention, a->run, a->err))
RETURN_OF(partial, pe_attention_partial(a->e, a->attention, a->piece, a->run, a->err))
RETURN_OF(merge, pe_attention_merge(a->piece, a->from, a->rows, a->count, a->err))
RETURN_OF(finish, pe_attention_finish(a->e, a->attention, a->piece, a->run, a->err))
RETURN_OF(fused_backward_work, pe_attention_backward_work(a->e, a->attention, a->run, a->bytes_out, a->err))
RETURN_OF(fused_backward, pe_attention_backward(a->e, a->attention, a->attention_grad, a->run, a->err))
RETURN_OF(plan_params, pe_plan_set_params(a->plan, a->run, a->err))
RETURN_OF(tell, pe_encoding_tell(a->e, a->index, a->question, a->number, a->text, a->room, a->err))
RETURN_OF(init, pe_encoding_init(a->e, a->w, 1, a->err))
RETURN_OF(masked, pe_positions_masked(a->i_out, a->used, a->tokens, a->start, a->err))
RETURN_OF(packed, pe_positions_packed(a->i_out, a->offsets, a->sequences, a->err))
RETURN_OF(grid, pe_positions_grid(a->i_out, a->t, a->h, a->w_cells, a->start, a->err))

/* What is made is freed at once. */
#define MADE_BY(name, out, release, call)                                                                              \
    static pe_status call_##name(args *a)                                                                              \
    {                                                                                                                  \
        pe_status s = call;                                                                                            \
        if (!s) {                                                                                                      \
            release(*a->out);                                                                                          \
            *a->out = NULL;                                                                                            \
        }                                                                                                              \
        return s;                                                                                                      \
    }

MADE_BY(new, out, pe_encoding_free, pe_encoding_new(a->out, a->spec, a->shape, a->err))
MADE_BY(pool, pool_out, pe_pool_free, pe_pool_new(a->pool_out, a->index, a->err))
MADE_BY(plan, plan_out, pe_plan_free, pe_plan_new(a->plan_out, a->e, a->behind, a->ahead, a->run, a->err))

/* ------------------------------------------------ the table */

typedef struct row {
    const char *names; /* the functions this row is about */
    void (*build)(args *a);
    pe_status (*call)(args *a);
    const char *members;    /* what is made wrong: members of args by their names */
    bool outputs_undefined; /* after an error (the two attention calls) */
    bool few;               /* another build of a call above: with every fourth encoding */
    void (*alone)(void);    /* functions that cannot fail */
} row;

#define CALL(name, build, call, members) { name, build, call, members, false, false, NULL }
#define LONG(name, build, call, members) { name, build, call, members, true, false, NULL }
#define AGAIN(name, build, call, members, undefined) { name, build, call, members, undefined, true, NULL }
#define ALONE(names, f) { names, NULL, NULL, NULL, false, false, f }

static const row table[] = {
    CALL("pe_encoding_new", build_new, call_new, "out spec shape err"),
    CALL("pe_encoding_set_kernels", build_kernels, call_kernels, "e spec err"),
    CALL("pe_pool_new", build_pool, call_pool, "pool_out index err"),
    CALL("pe_rotate", build_rotate, call_rotate, "e side y x at run params err"),
    CALL("pe_unrotate", build_rotate, call_unrotate, "e side y x at run params err"),
    CALL("pe_rotate_back", build_rotate, call_rotate_back, "e side y x at run params err"),
    CALL("pe_rotate_grad", build_rotate, call_rotate_grad, "e dw side x2 x at run params err"),
    CALL("pe_encoding_pairs", build_pairs, call_pairs, "e pairs count err"),
    CALL("pe_rotate_table", build_table, call_table, "e side y y2 at run params err"),
    CALL("pe_rotate_qk", build_rotate_qk, call_rotate_qk, "e rotation run params err"),
    CALL("pe_embed", build_embed, call_embed, "e y x at run params err"),
    CALL("pe_embed_back", build_embed_back, call_embed_back, "e dw y x at run params err"),
    CALL("pe_encoding_content", build_content, call_content, "e stage w tile err"),
    CALL("pe_encoding_bias", build_bias, call_bias, "e stage w tile err"),
    CALL("pe_encoding_content_back", build_content_back, call_content_back, "e stage w tile grad err"),
    CALL("pe_encoding_bias_back", build_bias_back, call_bias_back, "e stage w tile grad err"),
    CALL("pe_encoding_value", build_value, call_value, "e w y x at k_at err"),
    CALL("pe_encoding_value_back", build_value_back, call_value_back, "e w dw y x x2 at k_at err"),
    CALL("pe_reference_work", build_attention, call_work, "e attention bytes_out err"),
    LONG("pe_reference_forward", build_attention, call_forward, "e attention run work err"),
    LONG("pe_reference_backward", build_backward, call_backward, "e attention attention_grad run work err"),
    CALL("pe_cache_shift", build_cache, call_shift, "e k at k_at run params err"),
    CALL("pe_cache_rebase", build_cache, call_rebase, "e e2 k at run params err"),
    CALL("pe_attention_work", build_fused, call_fused_work, "e attention run pool bytes_out err"),
    CALL("pe_attention_forward", build_fused, call_fused_forward, "e attention run work err"),
    CALL("pe_attention_partial", build_partial, call_partial, "e attention piece run work err"),
    CALL("pe_attention_merge", build_merge, call_merge, "piece from rows count err"),
    CALL("pe_attention_finish", build_finish, call_finish, "e attention piece run pool err"),
    CALL("pe_attention_backward_work", build_fused_backward, call_fused_backward_work,
         "e attention run pool bytes_out err"),
    CALL("pe_attention_backward", build_fused_backward, call_fused_backward, "e attention attention_grad run work err"),
    AGAIN("pe_reference_forward", build_paged, call_forward, "e attention run work err", true),
    AGAIN("pe_reference_forward", build_packed, call_forward, "e attention run work err", true),
    AGAIN("pe_attention_forward", build_fused_paged, call_fused_forward, "e attention run work err", false),
    AGAIN("pe_attention_forward", build_fused_packed, call_fused_forward, "e attention run work err", false),
    AGAIN("pe_attention_backward", build_fused_backward_piece, call_fused_backward,
          "e attention attention_grad run work err", false),
    AGAIN("pe_cache_shift in pages", build_cache_paged, call_shift, "e k pages at k_at run params err", false),
    CALL("pe_plan_new", build_plan, call_plan, "plan_out e behind ahead run params err"),
    CALL("pe_plan_set_params", build_plan, call_plan_params, "plan run params err"),
    CALL("pe_encoding_tell", build_tell, call_tell, "e index question number text room err"),
    CALL("pe_encoding_init", build_init, call_init, "e w err"),
    CALL("pe_positions_masked", build_builders, call_masked, "i_out used tokens start err"),
    CALL("pe_positions_packed", build_builders, call_packed, "i_out offsets sequences err"),
    CALL("pe_positions_grid", build_builders, call_grid, "i_out t h w_cells start err"),
    ALONE("pe_encoding_free pe_encoding_spec pe_encoding_fingerprint pe_encoding_shape pe_encoding_axes pe_encoding_scale "
          "pe_encoding_magnitude pe_encoding_pair_count pe_encoding_param_count pe_encoding_tensor_count pe_encoding_hooks "
          "pe_encoding_claims pe_encoding_carries pe_encoding_replaces pe_encoding_hooks_at pe_encoding_gain pe_encoding_kernels pe_encoding_tensor "
          "pe_pool_free pe_plan_free pe_encoding_formulas pe_encoding_inputs pe_plan_lowered", try_getters),
    ALONE("pe_embed_width", try_embed_width),
    ALONE("pe_claim_name pe_hook_name pe_idea_name pe_idea_advice pe_status_name pe_dtype_size pe_version pe_agrees", try_names),
    ALONE("pe_info_count pe_info_at pe_info_key pe_kernels_name", try_info),
    ALONE("pe_view_of pe_positions_of pe_positions_run", try_views),
};

#endif

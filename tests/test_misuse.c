/* SPDX-License-Identifier: MIT
 * labels: core
 *
 * Every parameter of every public function gets NULL, zero, negative, huge, misaligned, overlapping: a status and a
 * sentence, never a crash, and after an error no buffer has changed. One table: a row is a function with a valid call
 * and its parameters; structs are walked field by field; each field is made wrong in every way its kind knows. What is
 * accepted nevertheless is listed in `legal`, with the reason. */
#include <fnmatch.h>

#include "common.h"

/* ------------------------------------------------ memory: one slot per buffer, inputs apart from outputs */

enum { Y, Y2, Y3, Y4, Y5, DW, DSINKS, CARRY, DCARRY, WORK, OUTPUTS, X = OUTPUTS, K, V, DOUT, AT, K_AT, W, SEEN, ADD, SINKS, USED, ROW_Q,
       ROW_K, LENGTHS, K_LENGTHS, PAGES, OFFSETS, K_OFFSETS, PIECE_CARRY, OUT, LSE, SLOTS };
#define SLOT 4096
#define MARGIN 64 /* zeros before it, where an input whose stride is -1 ends */

/* Fused attention works on tiles, however few the tokens: its memory is too large to be copied for every call. */
static _Alignas(64) unsigned char fused_work[1 << 21];

static unsigned char *slot[SLOTS], *pristine[SLOTS], *before[SLOTS];

enum { B = 2, TQ = 3, TK = 5, H = 2, D = 8, C = 16 };
enum { PAGE_COUNT = 3, PAGE = 2 };
static const pe_shape shape = { H, 1, D, C };

static void fill_pristine(void)
{
    for (int i = 0; i < SLOTS; i++)
        for (int n = 0; n < SLOT / 4; n++) {
            float x = 0.25f + (float)((n * 7 + i) % 11) / 8;
            memcpy(pristine[i] + 4 * n, &x, 4);
        }
    for (int i = 0; i < OUTPUTS; i++)
        memset(pristine[i], 0, SLOT);
    for (int n = 0; n < SLOT / 8; n++) {
        int64_t p = n % 4, one = n % 2;
        memcpy(pristine[AT] + 8 * n, &p, 8);
        memcpy(pristine[K_AT] + 8 * n, &p, 8);
        memcpy(pristine[ROW_Q] + 8 * n, &one, 8);
        memcpy(pristine[ROW_K] + 8 * n, &one, 8);
    }
    memset(pristine[SEEN], 1, SLOT);
    memset(pristine[USED], 1, SLOT);
    for (int n = LENGTHS; n <= PIECE_CARRY; n++)
        memset(pristine[n], 0, SLOT);
    memcpy(pristine[LENGTHS], (int64_t[]){ 3, 2 }, 16);
    memcpy(pristine[K_LENGTHS], (int64_t[]){ 4, 5 }, 16);
    memcpy(pristine[OFFSETS], (int64_t[]){ 0, 2, 6 }, 24);
    memcpy(pristine[K_OFFSETS], (int64_t[]){ 0, 4, 9 }, 24);
    memcpy(pristine[PAGES], (int32_t[]){ 0, 1, 2, 2, 1, 0, 0, 0 }, 32);
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < SLOTS; i++) {
        unsigned char *with_margin = calloc(1, MARGIN + SLOT);
        slot[i] = with_margin ? with_margin + MARGIN : NULL;
        pristine[i] = malloc(SLOT);
        before[i] = malloc(SLOT);
        if (!slot[i] || !pristine[i] || !before[i])
            return -1;
    }
    fill_pristine();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < SLOTS; i++) {
        free(slot[i] - MARGIN);
        free(pristine[i]);
        free(before[i]);
    }
    return 0;
}

static void copy_slots(unsigned char **to, unsigned char **from)
{
    for (int i = 0; i < SLOTS; i++)
        memcpy(to[i], from[i], SLOT);
}

/* ------------------------------------------------ the arguments of all calls */

typedef struct args {
    const pe_encoding *e, *e2;
    pe_error *err;
    pe_encoding **out;
    pe_pool **pool_out;
    const char *spec;
    pe_shape shape;
    pe_side side;
    pe_stage stage;
    pe_view y, y2, x, x2; /* outputs y, y2; inputs x, x2 */
    pe_positions at, k_at;
    pe_view k;
    pe_pages pages_value;
    const pe_pages *pages;
    pe_params w, dw;
    pe_tile tile_value;
    pe_tile_grad grad_value;
    pe_attention attention_value;
    pe_attention_grad attention_grad_value;
    const pe_tile *tile;
    const pe_tile_grad *grad;
    const pe_attention *attention;
    const pe_attention_grad *attention_grad;
    pe_rotation rotation_value;
    const pe_rotation *rotation;
    pe_run run_value;
    const pe_run *run;
    pe_plan **plan_out;
    pe_plan *plan;
    pe_partial piece, from;
    size_t *bytes_out;
    pe_pair *pairs;
    int64_t count;
    int index;
    pe_question question_value;
    const pe_question *question;
    double *number;
    char *text;
    size_t room;
    int64_t rows;
    int64_t *i_out;
    const int64_t *offsets;
    const uint8_t *used;
    int64_t tokens, start, sequences, t, h, w_cells, behind, ahead;
} args;

static pe_view batch(int s, int64_t sequences, int64_t tokens, int64_t heads, int64_t dim)
{
    return pe_view_of(slot[s], PE_F32, sequences, tokens, heads, dim);
}

static pe_view view(int s, int64_t tokens, int64_t heads, int64_t dim)
{
    return batch(s, 1, tokens, heads, dim);
}

static pe_positions batch_positions(const pe_encoding *e, int s, int64_t sequences, int64_t tokens)
{
    return pe_positions_of(slot[s], PE_I64, sequences, tokens, pe_encoding_axes(e));
}

static pe_positions positions(const pe_encoding *e, int s, int64_t tokens)
{
    return batch_positions(e, s, 1, tokens);
}

static pe_params params(const pe_encoding *e, int s)
{
    int64_t n = pe_encoding_param_count(e);
    return n ? (pe_params){ slot[s], PE_F32, n } : (pe_params){ 0 };
}

/* ------------------------------------------------ fields */

typedef enum kind {
    STRUCT,         /* walked */
    HANDLE,         /* const pe_encoding *, const struct *: NULL, misaligned */
    ERROR,          /* pe_error *: NULL and misaligned change nothing */
    BUFFER,         /* NULL, misaligned, on top of every other buffer */
    BYTE_BUFFER,    /* the same, but bytes cannot be misaligned */
    POSITION_BUFFER,/* and wrong positions inside */
    CARRY_BUFFER,   /* and wrong numbers inside */
    LENGTH_BUFFER,
    OFFSET_BUFFER,
    PAGE_BUFFER,    /* and pages that there are not */
    ROW_BUFFER,     /* and rows that a table does not have */
    SIZE, STRIDE, START, DTYPE, ENUM, REAL, BYTES, INT, TEXT,
    OWN_SIZE        /* the size that a struct begins with */
} kind;

typedef struct field {
    const char *name;
    kind kind;
    size_t offset;
    const struct field *sub;
    int sub_count;
} field;

#define OF(type, member, how) { #member, how, offsetof(type, member), NULL, 0 }
#define IN(type, member, table) { #member, STRUCT, offsetof(type, member), table, COUNT(table) }

static const field view_fields[] = {
    OF(pe_view, data, BUFFER), OF(pe_view, dtype, DTYPE), OF(pe_view, batch, SIZE), OF(pe_view, tokens, SIZE), OF(pe_view, heads, SIZE),
    OF(pe_view, dim, SIZE), OF(pe_view, batch_stride, STRIDE), OF(pe_view, token_stride, STRIDE), OF(pe_view, head_stride, STRIDE),
};
static const field keep_fields[] = {
    OF(pe_view, data, BYTE_BUFFER), OF(pe_view, dtype, DTYPE), OF(pe_view, batch, SIZE), OF(pe_view, tokens, SIZE), OF(pe_view, heads, SIZE),
    OF(pe_view, dim, SIZE), OF(pe_view, batch_stride, STRIDE), OF(pe_view, token_stride, STRIDE), OF(pe_view, head_stride, STRIDE),
};
static const field positions_fields[] = {
    OF(pe_positions, data, POSITION_BUFFER), OF(pe_positions, dtype, DTYPE), OF(pe_positions, batch, SIZE), OF(pe_positions, tokens, SIZE),
    OF(pe_positions, axes, SIZE), OF(pe_positions, batch_stride, STRIDE), OF(pe_positions, token_stride, STRIDE),
    OF(pe_positions, axis_stride, STRIDE), OF(pe_positions, start, START), OF(pe_positions, step, START),
};
static const field params_fields[] = {
    OF(pe_params, data, BUFFER), OF(pe_params, dtype, DTYPE), OF(pe_params, count, SIZE),
};
static const field shape_fields[] = {
    OF(pe_shape, heads, SIZE), OF(pe_shape, kv_heads, SIZE), OF(pe_shape, head_dim, SIZE), OF(pe_shape, model_dim, SIZE),
};
static const field tile_fields[] = {
    IN(pe_tile, score, view_fields), IN(pe_tile, q, view_fields), IN(pe_tile, k, view_fields),
    IN(pe_tile, q_at, positions_fields), IN(pe_tile, k_at, positions_fields), OF(pe_tile, seen, BYTE_BUFFER),
    OF(pe_tile, seen_head_stride, STRIDE),
    OF(pe_tile, carry, CARRY_BUFFER),
};
static const field tile_grad_fields[] = {
    IN(pe_tile_grad, dscore, view_fields), IN(pe_tile_grad, dq, view_fields), IN(pe_tile_grad, dk, view_fields),
    IN(pe_tile_grad, dparams, params_fields),
};
static const field mask_fields[] = {
    OF(pe_mask, align, ENUM), OF(pe_mask, window, SIZE), OF(pe_mask, first_keys, SIZE), IN(pe_mask, keep, keep_fields),
    IN(pe_mask, additive, view_fields), OF(pe_mask, keys_after, SIZE),
};
static const field lengths_fields[] = {
    OF(pe_lengths, length, LENGTH_BUFFER), OF(pe_lengths, offset, OFFSET_BUFFER), OF(pe_lengths, sequences, SIZE),
};
static const field pages_fields[] = { OF(pe_pages, table, PAGE_BUFFER), OF(pe_pages, columns, SIZE) };
static const field attention_fields[] = {
    OF(pe_attention, size, OWN_SIZE), IN(pe_attention, out, view_fields), IN(pe_attention, lse, view_fields), IN(pe_attention, q, view_fields),
    IN(pe_attention, k, view_fields), IN(pe_attention, v, view_fields), IN(pe_attention, q_at, positions_fields),
    IN(pe_attention, k_at, positions_fields), IN(pe_attention, q_lengths, lengths_fields), IN(pe_attention, k_lengths, lengths_fields),
    IN(pe_attention, pages, pages_fields), IN(pe_attention, mask, mask_fields), IN(pe_attention, sinks, params_fields),
    OF(pe_attention, soft_cap, REAL), OF(pe_attention, scale, REAL), IN(pe_attention, scores, view_fields),
    IN(pe_attention, probabilities, view_fields),
};
static const field partial_fields[] = {
    OF(pe_partial, out, BUFFER), OF(pe_partial, max, BUFFER), OF(pe_partial, sum, BUFFER), OF(pe_partial, carry, CARRY_BUFFER),
};
static const field attention_grad_fields[] = {
    OF(pe_attention_grad, size, OWN_SIZE),
    IN(pe_attention_grad, dout, view_fields), IN(pe_attention_grad, dq, view_fields),
    IN(pe_attention_grad, dk, view_fields), IN(pe_attention_grad, dv, view_fields),
    IN(pe_attention_grad, dadditive, view_fields), IN(pe_attention_grad, dparams, params_fields),
    IN(pe_attention_grad, dsinks, params_fields), OF(pe_attention_grad, carry, CARRY_BUFFER),
    OF(pe_attention_grad, dcarry, BUFFER),
};

static const field table_fields[] = {
    IN(pe_table, cosine, view_fields), IN(pe_table, sine, view_fields), OF(pe_table, row, ROW_BUFFER),
};
static const field rotation_fields[] = {
    OF(pe_rotation, size, OWN_SIZE),
    IN(pe_rotation, q, view_fields), IN(pe_rotation, k, view_fields), IN(pe_rotation, q_out, view_fields),
    IN(pe_rotation, k_out, view_fields), IN(pe_rotation, at, positions_fields), IN(pe_rotation, q_table, table_fields),
    IN(pe_rotation, k_table, table_fields),
};

/* What a call looks at of its run: the pool; parameters too; memory to work in too. */
static const field run_pool_fields[] = { OF(pe_run, size, OWN_SIZE), OF(pe_run, pool, HANDLE) };
static const field run_params_fields[] = { OF(pe_run, size, OWN_SIZE), IN(pe_run, params, params_fields), OF(pe_run, pool, HANDLE) };
static const field run_fields[] = {
    OF(pe_run, size, OWN_SIZE), IN(pe_run, params, params_fields), OF(pe_run, pool, HANDLE), OF(pe_run, work, BUFFER),
    OF(pe_run, work_bytes, BYTES),
};
#define RUN(table) OF(args, run, HANDLE), IN(args, run_value, table)

static void run_in_order(void *self, pe_job job, void *arg, int64_t count)
{
    (void)self;
    for (int64_t n = 0; n < count; n++)
        job(arg, n, 0);
}

static const pe_pool here = { NULL, 1, run_in_order };

static void give_run(args *a, pe_params w)
{
    a->run_value = PE_MAKE(pe_run, .params = w, .pool = &here);
    a->run = &a->run_value;
}

/* ------------------------------------------------ the calls, each with what makes it valid */

static void build_new(args *a)
{
    a->out = (pe_encoding **)(void *)slot[Y];
    a->spec = "rope";
    a->shape = shape;
}
static pe_status call_new(args *a)
{
    pe_status s = pe_encoding_new(a->out, a->spec, a->shape, a->err);
    if (!s) {
        pe_encoding_free(*a->out);
        *a->out = NULL;
    }
    return s;
}
static const field fields_new[] = { OF(args, out, BUFFER), OF(args, spec, TEXT), IN(args, shape, shape_fields), OF(args, err, ERROR) };

static void build_kernels(args *a)
{
    a->spec = "scalar";
}
static pe_status call_kernels(args *a)
{
    return pe_encoding_set_kernels((pe_encoding *)(uintptr_t)a->e, a->spec, a->err);
}
static const field fields_kernels[] = { OF(args, e, HANDLE), OF(args, spec, TEXT), OF(args, err, ERROR) };

static void build_pool(args *a)
{
    a->pool_out = (pe_pool **)(void *)slot[Y];
    a->index = 2; /* workers */
}
static pe_status call_pool(args *a)
{
    pe_status s = pe_pool_new(a->pool_out, a->index, a->err);
    if (!s) {
        pe_pool_free(*a->pool_out);
        *a->pool_out = NULL;
    }
    return s;
}
static const field fields_pool[] = { OF(args, pool_out, BUFFER), OF(args, index, INT), OF(args, err, ERROR) };

static void build_rotate(args *a)
{
    a->side = PE_QUERY;
    a->y = batch(Y, B, TQ, H, D);
    a->x = batch(X, B, TQ, H, D);
    a->at = batch_positions(a->e, AT, B, TQ);
    give_run(a, params(a->e, W));
}
static pe_status call_rotate(args *a)
{
    return pe_rotate(a->e, a->side, a->y, a->x, a->at, a->run, a->err);
}
static pe_status call_unrotate(args *a)
{
    return pe_unrotate(a->e, a->side, a->y, a->x, a->at, a->run, a->err);
}
static pe_status call_rotate_back(args *a)
{
    return pe_rotate_back(a->e, a->side, a->y, a->x, a->at, a->run, a->err);
}
static const field fields_rotate[] = { OF(args, e, HANDLE), OF(args, side, ENUM), IN(args, y, view_fields), IN(args, x, view_fields),
                                       IN(args, at, positions_fields), RUN(run_params_fields), OF(args, err, ERROR) };

static void build_rotate_grad(args *a)
{
    build_rotate(a);
    a->x2 = batch(DOUT, B, TQ, H, D);
    a->dw = params(a->e, DW);
}
static pe_status call_rotate_grad(args *a)
{
    return pe_rotate_grad(a->e, a->dw, a->side, a->x2, a->x, a->at, a->run, a->err);
}
static const field fields_rotate_grad[] = { OF(args, e, HANDLE), IN(args, dw, params_fields), OF(args, side, ENUM), IN(args, x2, view_fields),
                                            IN(args, x, view_fields), IN(args, at, positions_fields), RUN(run_params_fields),
                                            OF(args, err, ERROR) };

static void build_pairs(args *a)
{
    a->pairs = (pe_pair *)(void *)slot[Y];
    a->count = pe_encoding_pair_count(a->e);
}
static pe_status call_pairs(args *a)
{
    return pe_encoding_pairs(a->e, a->pairs, a->count, a->err);
}
static const field fields_pairs[] = { OF(args, e, HANDLE), OF(args, pairs, BUFFER), OF(args, count, SIZE), OF(args, err, ERROR) };

static void build_table(args *a)
{
    a->side = PE_KEY;
    a->y = batch(Y, B, TQ, 1, pe_encoding_pair_count(a->e));
    a->y2 = batch(Y2, B, TQ, 1, pe_encoding_pair_count(a->e));
    a->at = batch_positions(a->e, AT, B, TQ);
    give_run(a, params(a->e, W));
}
static pe_status call_table(args *a)
{
    return pe_rotate_table(a->e, a->side, a->y, a->y2, a->at, a->run, a->err);
}
static const field fields_table[] = { OF(args, e, HANDLE), OF(args, side, ENUM), IN(args, y, view_fields), IN(args, y2, view_fields),
                                      IN(args, at, positions_fields), RUN(run_params_fields), OF(args, err, ERROR) };

static void build_rotate_qk(args *a)
{
    int64_t P = pe_encoding_pair_count(a->e);
    a->rotation_value = (pe_rotation){
        .size = sizeof(pe_rotation), .q = batch(X, B, TQ, H, D), .k = batch(K, B, TQ, 1, D), .q_out = batch(Y, B, TQ, H, D),
        .k_out = batch(Y2, B, TQ, 1, D), .at = batch_positions(a->e, AT, B, TQ),
    };
    if (P) {
        a->rotation_value.q_table = (pe_table){ view(W, 4, 1, P), view(ADD, 4, 1, P), (int64_t *)(void *)slot[ROW_Q] };
        a->rotation_value.k_table = (pe_table){ view(SINKS, 4, 1, P), view(V, 4, 1, P), (int64_t *)(void *)slot[ROW_K] };
    }
    a->rotation = &a->rotation_value;
    give_run(a, params(a->e, W));
}
static pe_status call_rotate_qk(args *a)
{
    return pe_rotate_qk(a->e, a->rotation, a->run, a->err);
}
static const field fields_rotate_qk[] = { OF(args, e, HANDLE), OF(args, rotation, HANDLE), IN(args, rotation_value, rotation_fields),
                                          RUN(run_params_fields), OF(args, err, ERROR) };

static void build_embed(args *a)
{
    a->dw = params(a->e, DW);
    a->x = batch(X, B, TQ, 1, C);
    a->y = batch(Y, B, TQ, 1, pe_embed_width(a->e, C));
    a->at = batch_positions(a->e, AT, B, TQ);
    give_run(a, params(a->e, W));
}
static pe_status call_embed(args *a)
{
    return pe_embed(a->e, a->y, a->x, a->at, a->run, a->err);
}
static const field fields_embed[] = { OF(args, e, HANDLE), IN(args, y, view_fields), IN(args, x, view_fields), IN(args, at, positions_fields),
                                      RUN(run_params_fields), OF(args, err, ERROR) };

static void build_embed_back(args *a)
{
    build_embed(a);
    a->x = batch(X, B, TQ, 1, pe_embed_width(a->e, C));
    a->y = batch(Y, B, TQ, 1, C);
}
static pe_status call_embed_back(args *a)
{
    return pe_embed_back(a->e, a->dw, a->y, a->x, a->at, a->run, a->err);
}
static const field fields_embed_back[] = { OF(args, e, HANDLE), IN(args, dw, params_fields), IN(args, y, view_fields), IN(args, x, view_fields),
                                           IN(args, at, positions_fields), RUN(run_params_fields), OF(args, err, ERROR) };

static void build_tile(args *a)
{
    a->w = params(a->e, W);
    a->tile_value = (pe_tile){ .size = sizeof(pe_tile), .score = view(Y, TQ, H, TK), .q = view(X, TQ, H, D), .k = view(K, TK, 1, D),
                               .q_at = positions(a->e, AT, TQ), .k_at = positions(a->e, K_AT, TK), .seen = slot[SEEN],
                               .carry = (double *)(void *)slot[CARRY] };
    a->tile = &a->tile_value;
}
static void build_content(args *a)
{
    build_tile(a);
    a->stage = pe_encoding_carries(a->e) ? PE_AFTER_SCALE : PE_BEFORE_SCALE;
}
static void build_bias(args *a)
{
    build_tile(a);
    a->stage = PE_AFTER_SCALE;
}
static pe_status call_content(args *a)
{
    return pe_encoding_content(a->e, a->stage, a->w, a->tile, a->err);
}
static pe_status call_bias(args *a)
{
    return pe_encoding_bias(a->e, a->stage, a->w, a->tile, a->err);
}
static const field fields_tile[] = { OF(args, e, HANDLE), OF(args, stage, ENUM), IN(args, w, params_fields), OF(args, tile, HANDLE),
                                     IN(args, tile_value, tile_fields), OF(args, err, ERROR) };

static void build_tile_grad(args *a)
{
    a->tile_value.score = (pe_view){ 0 };
    a->tile_value.carry = NULL;
    a->grad_value = (pe_tile_grad){ .size = sizeof(pe_tile_grad), .dscore = view(DOUT, TQ, H, TK), .dq = view(Y, TQ, H, D), .dk = view(Y2, TK, 1, D),
                                    .dparams = params(a->e, DW) };
    a->grad = &a->grad_value;
}
static void build_content_back(args *a)
{
    build_content(a);
    build_tile_grad(a);
}
static void build_bias_back(args *a)
{
    build_bias(a);
    build_tile_grad(a);
}
static pe_status call_content_back(args *a)
{
    return pe_encoding_content_back(a->e, a->stage, a->w, a->tile, a->grad, a->err);
}
static pe_status call_bias_back(args *a)
{
    return pe_encoding_bias_back(a->e, a->stage, a->w, a->tile, a->grad, a->err);
}
static const field fields_tile_back[] = { OF(args, e, HANDLE), OF(args, stage, ENUM), IN(args, w, params_fields), OF(args, tile, HANDLE),
                                          IN(args, tile_value, tile_fields), OF(args, grad, HANDLE),
                                          IN(args, grad_value, tile_grad_fields), OF(args, err, ERROR) };

static void build_value(args *a)
{
    a->w = params(a->e, W);
    a->dw = params(a->e, DW);
    a->y = view(Y, TQ, H, D);
    a->x = view(X, TQ, H, TK);
    a->at = positions(a->e, AT, TQ);
    a->k_at = positions(a->e, K_AT, TK);
}
static pe_status call_value(args *a)
{
    return pe_encoding_value(a->e, a->w, a->y, a->x, a->at, a->k_at, a->err);
}
static const field fields_value[] = { OF(args, e, HANDLE), IN(args, w, params_fields), IN(args, y, view_fields), IN(args, x, view_fields),
                                      IN(args, at, positions_fields), IN(args, k_at, positions_fields), OF(args, err, ERROR) };

static void build_value_back(args *a)
{
    build_value(a);
    a->y = view(Y, TQ, H, TK);
    a->x2 = view(DOUT, TQ, H, D);
}
static pe_status call_value_back(args *a)
{
    return pe_encoding_value_back(a->e, a->w, a->dw, a->y, a->x, a->x2, a->at, a->k_at, a->err);
}
static const field fields_value_back[] = { OF(args, e, HANDLE), IN(args, w, params_fields), IN(args, dw, params_fields),
                                           IN(args, y, view_fields), IN(args, x, view_fields), IN(args, x2, view_fields),
                                           IN(args, at, positions_fields), IN(args, k_at, positions_fields), OF(args, err, ERROR) };

static void build_attention(args *a)
{
    a->attention_value = (pe_attention){
        .size = sizeof(pe_attention),
        .out = batch(Y, B, TQ, H, D),
        .lse = batch(Y2, B, TQ, H, 1),
        .q = batch(X, B, TQ, H, D),
        .k = batch(K, B, TK, 1, D),
        .v = batch(V, B, TK, 1, D),
        .q_at = batch_positions(a->e, AT, B, TQ),
        .k_at = batch_positions(a->e, K_AT, B, TK),
        .q_lengths = { .length = (int64_t *)(void *)slot[LENGTHS] },
        .k_lengths = { .length = (int64_t *)(void *)slot[K_LENGTHS], .padded_left = true },
        .mask = { .causal = true, .window = 4, .first_keys = 1, .keep = pe_view_of(slot[USED], PE_BOOL, B, TQ, H, TK),
                  .additive = batch(ADD, B, TQ, H, TK) },
        .sinks = { slot[SINKS], PE_F32, H },
        .soft_cap = 20,
        .scale = 0.5,
        .scores = batch(Y3, B, TQ, H, TK),
        .probabilities = batch(Y4, B, TQ, H, TK),
    };
    a->attention = &a->attention_value;
    give_run(a, params(a->e, W));
    a->run_value.work = slot[WORK];
    a->bytes_out = (size_t *)(void *)slot[Y5];
    if (pe_reference_work(a->e, a->attention, &a->run_value.work_bytes, NULL) || a->run_value.work_bytes > SLOT)
        fail_msg("%s: work memory: %zu bytes", pe_encoding_spec(a->e), a->run_value.work_bytes);
}

/* The same with keys and values in pages, or with sequences packed end to end. */
static void put_in_pages(args *a)
{
    pe_attention *p = &a->attention_value;
    p->k = batch(K, PAGE_COUNT, PAGE, 1, D);
    p->v = batch(V, PAGE_COUNT, PAGE, 1, D);
    p->pages = (pe_pages){ (int32_t *)(void *)slot[PAGES], 3 };
    p->k_lengths.padded_left = false;
}
static void pack(args *a)
{
    pe_attention *p = &a->attention_value;
    p->q = batch(X, 1, 6, H, D);
    p->out = batch(Y, 1, 6, H, D);
    p->lse = batch(Y2, 1, 6, H, 1);
    p->k = batch(K, 1, 9, 1, D);
    p->v = batch(V, 1, 9, 1, D);
    p->q_at = positions(a->e, AT, 6);
    p->k_at = positions(a->e, K_AT, 9);
    p->q_lengths = (pe_lengths){ .offset = (int64_t *)(void *)slot[OFFSETS], .sequences = 2 };
    p->k_lengths = (pe_lengths){ .offset = (int64_t *)(void *)slot[K_OFFSETS], .sequences = 2 };
    p->mask.keep = p->mask.additive = p->scores = p->probabilities = (pe_view){ 0 };
}
static void build_paged(args *a)
{
    build_attention(a);
    put_in_pages(a);
}
static void build_packed(args *a)
{
    build_attention(a);
    pack(a);
}
static pe_status call_work(args *a)
{
    return pe_reference_work(a->e, a->attention, a->bytes_out, a->err);
}
static const field fields_work[] = { OF(args, e, HANDLE), OF(args, attention, HANDLE), IN(args, attention_value, attention_fields),
                                     OF(args, bytes_out, BUFFER), OF(args, err, ERROR) };
static pe_status call_forward(args *a)
{
    return pe_reference_forward(a->e, a->attention, a->run, a->err);
}
static const field fields_forward[] = { OF(args, e, HANDLE), OF(args, attention, HANDLE), IN(args, attention_value, attention_fields),
                                        RUN(run_fields), OF(args, err, ERROR) };

static void build_backward(args *a)
{
    build_attention(a);
    a->attention_value.out = a->attention_value.lse = a->attention_value.scores = a->attention_value.probabilities = (pe_view){ 0 };
    a->attention_grad_value = (pe_attention_grad){
        .size = sizeof(pe_attention_grad),
        .dout = batch(DOUT, B, TQ, H, D),
        .dq = batch(Y, B, TQ, H, D),
        .dk = batch(Y2, B, TK, 1, D),
        .dv = batch(Y3, B, TK, 1, D),
        .dadditive = batch(Y4, B, TQ, H, TK),
        .dparams = params(a->e, DW),
        .dsinks = { slot[DSINKS], PE_F32, H },
    };
    a->attention_grad = &a->attention_grad_value;
}
static pe_status call_backward(args *a)
{
    return pe_reference_backward(a->e, a->attention, a->attention_grad, a->run, a->err);
}
static const field fields_backward[] = { OF(args, e, HANDLE), OF(args, attention, HANDLE), IN(args, attention_value, attention_fields),
                                         OF(args, attention_grad, HANDLE), IN(args, attention_grad_value, attention_grad_fields),
                                         RUN(run_fields), OF(args, err, ERROR) };

static void build_cache(args *a)
{
    a->e2 = a->e;
    a->k = batch(Y, B, TK, 1, D);
    a->at = batch_positions(a->e, AT, B, TK);
    a->k_at = batch_positions(a->e, K_AT, B, TK);
    give_run(a, params(a->e, W));
}
static void build_cache_paged(args *a)
{
    build_cache(a);
    a->k = batch(Y, 2 * PAGE_COUNT, PAGE, 1, D);
    a->pages_value = (pe_pages){ (int32_t *)(void *)slot[PAGES], 3 };
    a->pages = &a->pages_value;
}
static pe_status call_shift(args *a)
{
    return pe_cache_shift(a->e, a->k, a->pages, a->at, a->k_at, a->run, a->err);
}
static pe_status call_rebase(args *a)
{
    return pe_cache_rebase(a->e, a->e2, a->k, a->pages, a->at, a->run, a->err);
}
static const field fields_shift[] = { OF(args, e, HANDLE), IN(args, k, view_fields), IN(args, at, positions_fields),
                                      IN(args, k_at, positions_fields), RUN(run_params_fields), OF(args, err, ERROR) };
static const field fields_rebase[] = { OF(args, e, HANDLE), OF(args, e2, HANDLE), IN(args, k, view_fields), IN(args, at, positions_fields),
                                       RUN(run_params_fields), OF(args, err, ERROR) };
static const field fields_shift_paged[] = { OF(args, e, HANDLE), IN(args, k, view_fields), OF(args, pages, HANDLE),
                                            IN(args, pages_value, pages_fields), IN(args, at, positions_fields),
                                            IN(args, k_at, positions_fields), RUN(run_params_fields), OF(args, err, ERROR) };

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
static void build_fused(args *a)
{
    build_attention(a);
    size_fused(a, false);
}
static void build_fused_paged(args *a)
{
    build_paged(a);
    size_fused(a, false);
}
static void build_fused_packed(args *a)
{
    build_packed(a);
    size_fused(a, false);
}
static pe_status call_fused_work(args *a)
{
    return pe_attention_work(a->e, a->attention, a->run, a->bytes_out, a->err);
}
static const field fields_fused_work[] = { OF(args, e, HANDLE), OF(args, attention, HANDLE), IN(args, attention_value, attention_fields),
                                           RUN(run_pool_fields), OF(args, bytes_out, BUFFER), OF(args, err, ERROR) };
static pe_status call_fused_forward(args *a)
{
    return pe_attention_forward(a->e, a->attention, a->run, a->err);
}

static pe_partial piece_at(int out, int max, int sum, int carry)
{
    return (pe_partial){ (float *)(void *)slot[out], (float *)(void *)slot[max], (float *)(void *)slot[sum], (double *)(void *)slot[carry] };
}
static void build_partial(args *a)
{
    build_fused(a);
    a->attention_value.out = a->attention_value.lse = a->attention_value.scores = a->attention_value.probabilities = (pe_view){ 0 };
    a->piece = piece_at(Y, Y2, Y3, CARRY);
}
static pe_status call_partial(args *a)
{
    return pe_attention_partial(a->e, a->attention, a->piece, a->run, a->err);
}
static const field fields_partial[] = { OF(args, e, HANDLE), OF(args, attention, HANDLE), IN(args, attention_value, attention_fields),
                                        IN(args, piece, partial_fields), RUN(run_fields), OF(args, err, ERROR) };
static void build_merge(args *a)
{
    a->piece = piece_at(Y, Y2, Y3, CARRY);
    a->from = piece_at(DOUT, OUT, LSE, PIECE_CARRY);
    a->rows = B * TQ * H;
    a->count = D;
}
static pe_status call_merge(args *a)
{
    return pe_attention_merge(a->piece, a->from, a->rows, a->count, a->err);
}
static const field fields_merge[] = { IN(args, piece, partial_fields), IN(args, from, partial_fields), OF(args, rows, SIZE),
                                      OF(args, count, SIZE), OF(args, err, ERROR) };
static void build_finish(args *a)
{
    build_fused(a);
    a->run_value.work = NULL;
    a->attention_value.scores = a->attention_value.probabilities = (pe_view){ 0 };
    a->piece = piece_at(DOUT, OUT, LSE, PIECE_CARRY);
}
static pe_status call_finish(args *a)
{
    return pe_attention_finish(a->e, a->attention, a->piece, a->run, a->err);
}
static const field fields_finish[] = { OF(args, e, HANDLE), OF(args, attention, HANDLE), IN(args, attention_value, attention_fields),
                                       IN(args, piece, partial_fields), RUN(run_pool_fields), OF(args, err, ERROR) };

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
    a->attention_grad_value.carry = (double *)(void *)slot[PIECE_CARRY];
    a->attention_grad_value.dcarry = (double *)(void *)slot[DCARRY];
}
static pe_status call_fused_backward_work(args *a)
{
    return pe_attention_backward_work(a->e, a->attention, a->run, a->bytes_out, a->err);
}
static pe_status call_fused_backward(args *a)
{
    return pe_attention_backward(a->e, a->attention, a->attention_grad, a->run, a->err);
}

static void build_plan(args *a)
{
    a->plan_out = (pe_plan **)(void *)slot[Y];
    a->behind = 3, a->ahead = 3;
    give_run(a, params(a->e, W));
}
static pe_status call_plan(args *a)
{
    pe_status s = pe_plan_new(a->plan_out, a->e, a->behind, a->ahead, a->run, a->err);
    if (!s) {
        pe_plan_free(*a->plan_out);
        *a->plan_out = NULL;
    }
    return s;
}
static const field fields_plan[] = { OF(args, plan_out, BUFFER), OF(args, e, HANDLE), OF(args, behind, SIZE), OF(args, ahead, SIZE),
                                     RUN(run_params_fields), OF(args, err, ERROR) };

static pe_plan *some_plan; /* for the encoding under test */
static void build_plan_params(args *a)
{
    a->plan = some_plan;
    give_run(a, params(a->e, W));
}
static pe_status call_plan_params(args *a)
{
    return pe_plan_set_params(a->plan, a->run, a->err);
}
static const field fields_plan_params[] = { OF(args, plan, HANDLE), RUN(run_params_fields), OF(args, err, ERROR) };

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
    a->question_value = (pe_question){ .size = sizeof(pe_question), .params = params(a->e, W), .q_at = (int64_t *)(void *)slot[AT],
                                       .k_at = (int64_t *)(void *)slot[K_AT], .q = (double *)(void *)slot[X],
                                       .k = (double *)(void *)slot[K], .seen = slot[SEEN], .keys = TK, .key = 1 };
    a->question = &a->question_value;
    a->number = (double *)(void *)slot[Y];
    a->text = (char *)slot[Y2];
    a->room = 500;
}
static pe_status call_tell(args *a)
{
    return pe_encoding_tell(a->e, a->index, a->question, a->number, a->text, a->room, a->err);
}
static const field question_fields[] = {
    IN(pe_question, params, params_fields), OF(pe_question, q_at, POSITION_BUFFER), OF(pe_question, k_at, POSITION_BUFFER),
    OF(pe_question, q, BUFFER), OF(pe_question, k, BUFFER), OF(pe_question, seen, BYTE_BUFFER), OF(pe_question, keys, SIZE),
    OF(pe_question, key, SIZE), OF(pe_question, head, SIZE), OF(pe_question, element, SIZE),
};
static const field fields_tell[] = { OF(args, e, HANDLE), OF(args, index, INT), OF(args, question, HANDLE),
                                     IN(args, question_value, question_fields), OF(args, number, BUFFER), OF(args, text, BYTE_BUFFER),
                                     OF(args, room, BYTES), OF(args, err, ERROR) };

static void build_init(args *a)
{
    a->w = params(a->e, Y);
}
static pe_status call_init(args *a)
{
    return pe_encoding_init(a->e, a->w, 1, a->err);
}
static const field fields_init[] = { OF(args, e, HANDLE), IN(args, w, params_fields), OF(args, err, ERROR) };

static void build_builders(args *a)
{
    a->i_out = (int64_t *)(void *)slot[Y];
    a->offsets = (int64_t *)(void *)slot[OFFSETS];
    a->used = slot[USED];
    a->tokens = TK, a->start = 7, a->sequences = 2;
    a->t = 2, a->h = 3, a->w_cells = 4;
}
static pe_status call_masked(args *a)
{
    return pe_positions_masked(a->i_out, a->used, a->tokens, a->start, a->err);
}
static pe_status call_packed(args *a)
{
    return pe_positions_packed(a->i_out, a->offsets, a->sequences, a->err);
}
static pe_status call_grid(args *a)
{
    return pe_positions_grid(a->i_out, a->t, a->h, a->w_cells, a->start, a->err);
}
static const field fields_masked[] = { OF(args, i_out, BUFFER), OF(args, used, BYTE_BUFFER), OF(args, tokens, SIZE),
                                       OF(args, start, START), OF(args, err, ERROR) };
static const field fields_packed[] = { OF(args, i_out, BUFFER), OF(args, offsets, OFFSET_BUFFER), OF(args, sequences, SIZE),
                                       OF(args, err, ERROR) };
static const field fields_grid[] = { OF(args, i_out, BUFFER), OF(args, t, SIZE), OF(args, h, SIZE), OF(args, w_cells, SIZE),
                                     OF(args, start, START), OF(args, err, ERROR) };

/* Functions that cannot fail: whatever they get, they return. */
static pe_encoding *some; /* a valid encoding */

static void try_getters(void)
{
    pe_shape none = pe_encoding_shape(NULL);
    pe_encoding_free(NULL);
    pe_pool_free(NULL);
    pe_plan_free(NULL);
    assert_null(pe_plan_lowered(NULL));
    assert_true(!pe_encoding_inputs(NULL).gates && pe_encoding_inputs(NULL).relative == 0);
    assert_string_equal(pe_encoding_spec(NULL), "");
    assert_string_equal(pe_encoding_kernels(NULL), "");
    assert_true(*pe_encoding_kernels(some));
    assert_int_equal(pe_encoding_fingerprint(NULL), 0);
    assert_true(none.heads == 0 && none.kv_heads == 0 && none.head_dim == 0 && none.model_dim == 0);
    assert_int_equal(pe_encoding_axes(NULL), 0);
    assert_true(pe_encoding_scale(NULL) == 0 && pe_encoding_magnitude(NULL) == 1);
    assert_int_equal(pe_encoding_pair_count(NULL), 0);
    assert_int_equal(pe_encoding_param_count(NULL), 0);
    assert_int_equal(pe_encoding_tensor_count(NULL), 0);
    assert_null(pe_encoding_tensor(NULL, 0));
    static const int wrong[] = { -1, INT32_MIN, INT32_MAX };
    for (int i = 0; i < COUNT(wrong); i++)
        assert_null(pe_encoding_tensor(some, wrong[i]));
    assert_null(pe_encoding_tensor(some, pe_encoding_tensor_count(some)));
    assert_int_equal(pe_encoding_hooks(NULL), 0);
    assert_int_equal(pe_encoding_claims(NULL), 0);
    assert_false(pe_encoding_carries(NULL));
    assert_int_equal(pe_encoding_hooks_at(NULL, PE_BEFORE_SCALE), 0);
    pe_formula one = { .count = -1 };
    assert_int_equal(pe_encoding_formulas(NULL, &one, 1), 0);
    assert_int_equal(pe_encoding_formulas(some, &one, INT32_MIN), 2);
    assert_int_equal(one.count, -1);
    assert_int_equal(pe_encoding_formulas(some, NULL, 99), 2);
    assert_int_equal(pe_encoding_formulas(some, &one, 1), 2);
    assert_int_equal(one.count, 8);
    assert_true(pe_encoding_gain(NULL, PE_QUERY, 0) == 1);
    for (int64_t at = INT64_MIN, n = 0; n < 3; n++, at = n == 1 ? INT64_MAX : 0)
        assert_true(isfinite(pe_encoding_gain(some, (pe_side)99, at)));
    assert_int_equal(pe_encoding_hooks_at(some, (pe_stage)99), 0);
}

static void try_embed_width(void)
{
    assert_int_equal(pe_embed_width(NULL, 5), 5);
    assert_int_equal(pe_embed_width(some, -1), -1);
    assert_int_equal(pe_embed_width(some, INT64_MIN), -1);
    assert_int_equal(pe_embed_width(some, INT64_MAX), -1);
    assert_int_equal(pe_embed_width(some, INT64_MAX - 8), INT64_MAX);
    assert_int_equal(pe_embed_width(some, 0), 8);
}

static void try_names(void)
{
    for (int i = -1; i < 100; i++) /* a block has no size of an element */
        assert_true((pe_dtype_size((pe_dtype)i) != 0) == (i >= 0 && i <= PE_BOOL && i != PE_Q8_0 && i != PE_Q4_0));
    for (int i = -2; i < 1000; i++)
        assert_true(pe_status_name((pe_status)i) && *pe_status_name((pe_status)i));
    for (unsigned i = 0; i < 5000; i++) {
        bool one = i && !(i & (i - 1));
        assert_true((pe_claim_name(i) != NULL) == (one && i < 1u << CLAIM_COUNT));
        assert_true((pe_hook_name(i) != NULL) == (one && i <= PE_HOOK_VALUE));
    }
    assert_null(pe_claim_name(~0u));
    assert_null(pe_hook_name(~0u));
    assert_true(*pe_version());
    assert_true(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR));
    assert_false(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR - 1));
    assert_false(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR + 1));
    assert_false(pe_agrees(PE_VERSION_MAJOR + 1, PE_VERSION_MINOR));
    assert_false(pe_agrees(-1, INT32_MIN));
}

static void try_info(void)
{
    static const int wrong[] = { -1, INT32_MIN, INT32_MAX };
    for (int i = 0; i < 3; i++) {
        assert_null(pe_info_at(wrong[i]));
        assert_null(pe_info_key(pe_info_at(0), wrong[i]));
        assert_null(pe_info_key(NULL, wrong[i]));
    }
    assert_null(pe_info_key(NULL, 0));
    assert_null(pe_info_key(&(pe_info){ .name = "rope", .key_count = 9 }, 0)); /* none of the registry */
    for (int i = 0; i < pe_info_count(); i++) {
        int count = pe_info_at(i)->key_count;
        assert_null(pe_info_key(pe_info_at(i), count));
        assert_true(!count || pe_info_key(pe_info_at(i), count - 1));
    }
    assert_null(pe_info_at(pe_info_count()));
    for (int i = 0; i < 3; i++)
        assert_null(pe_kernels_name(wrong[i]));
    assert_non_null(pe_kernels_name(0));
    assert_non_null(pe_info_at(pe_info_count() - 1));
}

static void try_views(void)
{
    static int64_t memory[1];
    pe_view v = pe_view_of(NULL, (pe_dtype)99, 1, INT64_MIN, -1, INT64_MAX);
    assert_true(!v.data && (int)v.dtype == 99 && v.batch == 1 && v.tokens == INT64_MIN && v.heads == -1 && v.dim == INT64_MAX);
    v = pe_view_of(memory, PE_F16, 2, 3, 4, 5);
    assert_true(v.data == memory && v.batch_stride == 60 && v.token_stride == 20 && v.head_stride == 5);
    v = pe_view_of(NULL, PE_F32, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX); /* products that do not fit: for the door to refuse */
    assert_true(v.batch_stride > 0 && v.token_stride > 0);
    pe_positions p = pe_positions_of(NULL, (pe_dtype)99, INT64_MIN, -1, INT64_MAX);
    assert_true(!p.data && (int)p.dtype == 99 && p.batch == INT64_MIN && p.tokens == -1 && p.axes == INT64_MAX && !p.start && !p.step);
    p = pe_positions_of(memory, PE_I32, 2, 3, 4);
    assert_true(p.data == memory && p.batch_stride == 12 && p.token_stride == 4 && p.axis_stride == 1);
    p = pe_positions_run(INT64_MIN, INT64_MAX, INT64_MIN);
    assert_true(!p.data && p.batch == INT64_MIN && p.tokens == INT64_MAX && p.start == INT64_MIN && p.step == 1);
}

/* ------------------------------------------------ the table */

typedef struct row {
    const char *names; /* the functions this row is about */
    void (*build)(args *a);
    pe_status (*call)(args *a);
    const field *fields;
    int count;
    bool outputs_undefined; /* after an error (the two attention calls) */
    bool few;               /* another build of a call above: with every fourth encoding */
    void (*alone)(void);    /* functions that cannot fail */
} row;

#define CALL(name, build, call, fields) { name, build, call, fields, COUNT(fields), false, false, NULL }
#define LONG(name, build, call, fields) { name, build, call, fields, COUNT(fields), true, false, NULL }
#define AGAIN(name, build, call, fields, undefined) { name, build, call, fields, COUNT(fields), undefined, true, NULL }
#define ALONE(names, f) { names, NULL, NULL, NULL, 0, false, false, f }

static const row table[] = {
    CALL("pe_encoding_new", build_new, call_new, fields_new),
    CALL("pe_encoding_set_kernels", build_kernels, call_kernels, fields_kernels),
    CALL("pe_pool_new", build_pool, call_pool, fields_pool),
    CALL("pe_rotate", build_rotate, call_rotate, fields_rotate),
    CALL("pe_unrotate", build_rotate, call_unrotate, fields_rotate),
    CALL("pe_rotate_back", build_rotate, call_rotate_back, fields_rotate),
    CALL("pe_rotate_grad", build_rotate_grad, call_rotate_grad, fields_rotate_grad),
    CALL("pe_encoding_pairs", build_pairs, call_pairs, fields_pairs),
    CALL("pe_rotate_table", build_table, call_table, fields_table),
    CALL("pe_rotate_qk", build_rotate_qk, call_rotate_qk, fields_rotate_qk),
    CALL("pe_embed", build_embed, call_embed, fields_embed),
    CALL("pe_embed_back", build_embed_back, call_embed_back, fields_embed_back),
    CALL("pe_encoding_content", build_content, call_content, fields_tile),
    CALL("pe_encoding_bias", build_bias, call_bias, fields_tile),
    CALL("pe_encoding_content_back", build_content_back, call_content_back, fields_tile_back),
    CALL("pe_encoding_bias_back", build_bias_back, call_bias_back, fields_tile_back),
    CALL("pe_encoding_value", build_value, call_value, fields_value),
    CALL("pe_encoding_value_back", build_value_back, call_value_back, fields_value_back),
    CALL("pe_reference_work", build_attention, call_work, fields_work),
    LONG("pe_reference_forward", build_attention, call_forward, fields_forward),
    LONG("pe_reference_backward", build_backward, call_backward, fields_backward),
    CALL("pe_cache_shift", build_cache, call_shift, fields_shift),
    CALL("pe_cache_rebase", build_cache, call_rebase, fields_rebase),
    CALL("pe_attention_work", build_fused, call_fused_work, fields_fused_work),
    CALL("pe_attention_forward", build_fused, call_fused_forward, fields_forward),
    CALL("pe_attention_partial", build_partial, call_partial, fields_partial),
    CALL("pe_attention_merge", build_merge, call_merge, fields_merge),
    CALL("pe_attention_finish", build_finish, call_finish, fields_finish),
    CALL("pe_attention_backward_work", build_fused_backward, call_fused_backward_work, fields_fused_work),
    CALL("pe_attention_backward", build_fused_backward, call_fused_backward, fields_backward),
    AGAIN("pe_reference_forward", build_paged, call_forward, fields_forward, true),
    AGAIN("pe_reference_forward", build_packed, call_forward, fields_forward, true),
    AGAIN("pe_attention_forward", build_fused_paged, call_fused_forward, fields_forward, false),
    AGAIN("pe_attention_forward", build_fused_packed, call_fused_forward, fields_forward, false),
    AGAIN("pe_attention_backward", build_fused_backward_piece, call_fused_backward, fields_backward, false),
    AGAIN("pe_cache_shift in pages", build_cache_paged, call_shift, fields_shift_paged, false),
    CALL("pe_plan_new", build_plan, call_plan, fields_plan),
    CALL("pe_plan_set_params", build_plan_params, call_plan_params, fields_plan_params),
    CALL("pe_encoding_tell", build_tell, call_tell, fields_tell),
    CALL("pe_encoding_init", build_init, call_init, fields_init),
    CALL("pe_positions_masked", build_builders, call_masked, fields_masked),
    CALL("pe_positions_packed", build_builders, call_packed, fields_packed),
    CALL("pe_positions_grid", build_builders, call_grid, fields_grid),
    ALONE("pe_encoding_free pe_encoding_spec pe_encoding_fingerprint pe_encoding_shape pe_encoding_axes pe_encoding_scale "
          "pe_encoding_magnitude pe_encoding_pair_count pe_encoding_param_count pe_encoding_tensor_count pe_encoding_hooks "
          "pe_encoding_claims pe_encoding_carries pe_encoding_hooks_at pe_encoding_gain pe_encoding_kernels pe_encoding_tensor "
          "pe_pool_free pe_plan_free pe_encoding_formulas pe_encoding_inputs pe_plan_lowered", try_getters),
    ALONE("pe_embed_width", try_embed_width),
    ALONE("pe_claim_name pe_hook_name pe_status_name pe_dtype_size pe_version pe_agrees", try_names),
    ALONE("pe_info_count pe_info_at pe_info_key pe_kernels_name", try_info),
    ALONE("pe_view_of pe_positions_of pe_positions_run", try_views),
};

/* A hook more, for the list below: frequencies are parameters. */
#define TRAINED_ROTATION 0x100u
static unsigned hooks_of_some(void)
{
    bool trained = pe_encoding_hooks(some) & PE_HOOK_ROTATE && strstr(pe_encoding_spec(some), "learned=");
    return pe_encoding_hooks(some) | (trained ? TRAINED_ROTATION : 0);
}

/* What is accepted although it was changed: patterns for function, field and change. `unless`: only for encodings
 * without these hooks. An entry that nothing needs is an error. */
static struct {
    const char *function, *field, *change;
    unsigned unless;
    long used;
} legal[] = {
    /* another view, as good as the first: strides (see is_legal), a broadcast, an element type */
    { "*", "*_stride", "*", 0, 0 },
    { "*", "*[!pt].dtype", "*F*", 0, 0 },
    { "*", "*out.dtype", "*F*", 0, 0 },
    { "*", "*at.dtype", "I32", 0, 0 }, /* small numbers, read as twice as many */
    { "pe_embed*", "at.dtype", "F64", 0, 0 }, /* the same bits are fractions, which some rows take */
    { "pe_*rotate*", "*at.dtype", "F64", 0, 0 },
    { "pe_attention_*", "attention_value.*_at.dtype", "F64", 0, 0 },
    { "pe_reference_*", "attention_value.*_at.dtype", "F64", 0, 0 },
    { "*", "*at.st*", "-1", 0, 0 },
    { "*", "*at.st*", "one *", 0, 0 },
    { "pe_*rotate", "side", "[0-3]", 0, 0 },
    { "pe_rotate_back", "side", "[0-3]", 0, 0 },
    { "pe_rotate_table", "side", "[01]", 0, 0 },
    { "pe_rotate_grad", "side", "[01]", 0, 0 },
    { "*", "stage", "[01]", 0, 0 },
    { "*", "err", "*", 0, 0 },
    /* inputs may share memory; a rotation and an embedding work in place */
    { "*", "*", "on input *", 0, 0 },
    { "pe_*rotate", "[xy].data", "on [xy].data", 0, 0 },
    { "pe_rotate_back", "[xy].data", "on [xy].data", 0, 0 },
    { "pe_embed*", "[xy].data", "on [xy].data", 0, 0 },
    { "pe_rotate_qk", "rotation_value.q.data", "on rotation_value.q_out.data", 0, 0 },
    { "pe_rotate_qk", "rotation_value.q_out.data", "on rotation_value.q.data", 0, 0 },
    { "pe_rotate_qk", "rotation_value.k.data", "on rotation_value.k_out.data", 0, 0 },
    { "pe_rotate_qk", "rotation_value.k_out.data", "on rotation_value.k.data", 0, 0 },
    /* NULL: not wanted, or not there */
    { "*", "*at.data", "NULL", 0, 0 }, /* a run */
    { "*", "run", "NULL", 0, 0 },
    { "*", "run_value.pool", "NULL", 0, 0 },
    { "pe_rotate_qk", "rotation_value.[qk].data", "NULL", 0, 0 },
    { "pe_rotate_qk", "rotation_value.[qk]_out.data", "NULL", 0, 0 },
    { "pe_embed", "x.data", "NULL", 0, 0 },
    { "pe_embed_back", "y.data", "NULL", 0, 0 },
    { "pe_encoding_value_back", "y.data", "NULL", 0, 0 },
    { "*_back", "dw.data", "NULL", 0, 0 },
    { "pe_rotate_grad", "dw.data", "NULL", 0, 0 },
    { "*_back", "grad_value.d[qkp]*.data", "NULL", 0, 0 },
    { "pe_*_backward", "attention_grad_value.d[qkvaps]*.data", "NULL", 0, 0 },
    { "pe_*_f[io]*", "attention_value.lse.data", "NULL", 0, 0 },
    { "*", "attention_value.mask.additive.data", "NULL", 0, 0 },
    { "*", "attention_value.mask.keep.data", "NULL", 0, 0 },
    { "*", "attention_value.[qk]_lengths.length", "NULL", 0, 0 },
    { "*", "attention_value.[sp]*.data", "NULL", 0, 0 }, /* sinks, scores, probabilities */
    { "pe_*_backward", "attention_grad_value.*carry", "NULL", 0, 0 },
    { "*", "tile_value.seen", "NULL", 0, 0 },
    { "*", "tile_value.carry", "NULL", 0, 0 },
    /* not looked at by this call, or by this encoding */
    { "pe_*_work", "attention_value.out.*", "*", 0, 0 },
    { "pe_*_work", "attention_value.lse.*", "*", 0, 0 },
    { "pe_*_work", "attention_value.[sp][cr]*.*", "*", 0, 0 }, /* scores, probabilities */
    { "pe_*_work", "*", "on *", 0, 0 },
    { "pe_attention_partial", "attention_value.out.*", "*", 0, 0 },
    { "pe_attention_partial", "attention_value.lse.*", "*", 0, 0 },
    { "pe_attention_[mf]*", "*", "on *.carry*", 0, 0 },
    { "pe_attention_[mf]*", "*.carry", "*", 0, 0 },
    { "pe_attention_partial", "piece.carry", "[Nc]*", 0, 0 }, /* unless keys are counted: see below */
    { "pe_attention_backward", "attention_grad_value.carry", "content *", 0, 0 },
    { "pe_reference_backward", "attention_value.out.*", "*", 0, 0 },
    { "pe_reference_backward", "attention_value.lse.*", "*", 0, 0 },
    { "*_back", "tile_value.score.*", "*", 0, 0 },
    { "pe_encoding_bias*", "tile_value.[qk].*", "*", 0, 0 },
    { "pe_encoding_bias*", "*", "on tile_value.[qk].*", 0, 0 },
    { "pe_encoding_content*", "tile_value.[qk].*", "*", PE_HOOK_CONTENT, 0 },
    { "pe_encoding_content*", "*", "on tile_value.[qk].*", PE_HOOK_CONTENT, 0 },
    { "pe_encoding_bias_back", "grad_value.d[qk].*", "*", 0, 0 },
    { "pe_encoding_bias_back", "*", "on grad_value.d[qk].*", 0, 0 },
    { "pe_rotate_qk", "rotation_value.[qk]_table.*", "*", PE_HOOK_ROTATE, 0 },
    { "pe_*rotate*", "run_value.params.*", "*", TRAINED_ROTATION, 0 },
    { "pe_*rotate*", "*", "on run_value.params.*", TRAINED_ROTATION, 0 },
    { "pe_cache_*", "run_value.params.*", "*", TRAINED_ROTATION, 0 },
    { "pe_cache_*", "*", "on run_value.params.*", TRAINED_ROTATION, 0 },
    { "pe_encoding_value", "y.dim", "*", PE_HOOK_VALUE, 0 },
    { "pe_encoding_value_back", "x2.dim", "*", PE_HOOK_VALUE, 0 },
    { "pe_encoding_tell", "question*", "*", ANY_HOOK, 0 }, /* the softmax scale has no question */
    { "pe_encoding_tell", "*", "on question_value.*", ANY_HOOK, 0 },
    { "pe_encoding_tell", "question_value.[ksh]*", "*", PAIR_HOOKS, 0 },
    { "pe_encoding_tell", "*", "on question_value.[ks]*", PAIR_HOOKS, 0 },
    { "pe_encoding_tell", "question_value.[qk]", "*", PE_HOOK_CONTENT, 0 },
    { "pe_encoding_tell", "*", "on question_value.[qk]", PE_HOOK_CONTENT, 0 },
    { "pe_encoding_tell", "*", "on question_value.[qk]+4", PE_HOOK_CONTENT, 0 },
    { "pe_encoding_tell", "question_value.q_at", "content *", 0, 0 }, /* beyond its axes */
    { "pe_encoding_tell", "question_value.seen", "NULL", 0, 0 },
    /* numbers as good as the first */
    { "pe_encoding_tell", "question_value.key*", "[0o]*", 0, 0 },
    { "pe_encoding_tell", "question_value.head", "one more", 0, 0 },
    { "pe_encoding_tell", "question_value.element", "one more", PAIR_HOOKS, 0 },
    { "pe_encoding_tell", "room", "[oh]*", 0, 0 },
    { "*", "tile_value.carry", "content *", 0, 0 },
    { "pe_pool_new", "index", "99", 0, 0 },
    { "pe_encoding_new", "shape.heads", "one *", 0, 0 },
    { "pe_encoding_new", "shape.kv_heads", "[0o]*", 0, 0 },
    { "pe_encoding_new", "shape.model_dim", "[0o]*", 0, 0 },
    { "*", "attention_value.mask.window", "[0-9oI]*[!N]", 0, 0 },
    { "*", "attention_value.mask.window", "0", 0, 0 },
    { "*", "attention_value.mask.first_keys", "[0-9oI]*[!N]", 0, 0 },
    { "*", "attention_value.mask.first_keys", "0", 0, 0 },
    { "*", "attention_value.mask.keys_after", "one more", 0, 0 },
    { "*", "attention_value.mask.align", "[0-2]", 0, 0 },
    { "*", "attention_value.mask.*.heads", "one less", 0, 0 }, /* one for all */
    { "*", "attention_value.mask.*.batch", "one less", 0, 0 },
    { "*", "*pages*.columns", "one more", 0, 0 },
    { "*", "attention_value.soft_cap", "0", 0, 0 },
    { "*", "attention_value.scale", "[-0]*[!f]", 0, 0 },
    { "*", "attention_value.scale", "0", 0, 0 },
    { "pe_reference_*", "attention_value.s*", "1e+308", 0, 0 }, /* fused attention has these in float32 */
    { "pe_attention_finish", "attention_value.s*", "1e+308", 0, 0 }, /* not looked at */
    { "pe_*_work", "attention_value.v.dim", "[0o]*", PE_HOOK_VALUE, 0 },
    { "pe_attention_partial", "attention_value.v.dim", "[0o]*", PE_HOOK_VALUE, 0 },
    { "pe_*ward", "run_value.work_bytes", "[oS]*[!s]", 0, 0 },
    { "pe_attention_partial", "run_value.work_bytes", "[oS]*[!s]", 0, 0 },
    { "pe_attention_merge", "rows", "[0o]*", 0, 0 },
    { "pe_attention_merge", "count", "[0o]*", 0, 0 },
    { "pe_plan_new", "behind", "[0o]*", 0, 0 },
    { "pe_plan_new", "ahead", "[0o]*", 0, 0 },
    { "pe_cache_*", "k.heads", "[0o]*", 0, 0 },
    { "pe_cache_*", "k.dim", "[0o]*", PE_HOOK_ROTATE, 0 },
    { "pe_cache_shift in pages", "k.batch", "one *", 0, 0 }, /* pages that no table names */
    { "pe_positions_masked", "tokens", "[0o]*", 0, 0 },
    { "pe_positions_*", "start", "[-0o]*[!1]", 0, 0 },
    { "pe_positions_*", "start", "-1", 0, 0 },
    { "pe_positions_*", "start", "0", 0, 0 },
    { "pe_positions_packed", "sequences", "0", 0, 0 },
    { "pe_positions_packed", "offsets", "on i_out*", 0, 0 }, /* zeros: sequences of no tokens */
    { "pe_positions_packed", "sequences", "one less", 0, 0 },
    { "pe_positions_grid", "[thw]*", "[0o]*", 0, 0 },
};

/* ------------------------------------------------ wrong values */

typedef struct leaf {
    char path[80];
    kind kind;
    void *where;
} leaf;

static int collect(const field *f, int n, void *base, const char *prefix, leaf *out, int count)
{
    for (int i = 0; i < n; i++) {
        void *where = (char *)base + f[i].offset;
        leaf *l = &out[count];
        snprintf(l->path, sizeof l->path, "%s%s%s", prefix, *prefix ? "." : "", f[i].name);
        if (f[i].kind == STRUCT) {
            char path[80];
            memcpy(path, l->path, sizeof path);
            count = collect(f[i].sub, f[i].sub_count, where, path, out, count);
            continue;
        }
        l->kind = f[i].kind;
        l->where = where;
        count++;
    }
    return count;
}

static bool is_buffer(kind k)
{
    return k == BUFFER || k == BYTE_BUFFER || k == POSITION_BUFFER || k == CARRY_BUFFER || k == LENGTH_BUFFER ||
           k == OFFSET_BUFFER || k == PAGE_BUFFER || k == ROW_BUFFER;
}

static void *pointer_at(const leaf *l)
{
    void *p;
    memcpy(&p, l->where, sizeof p);
    return p;
}

static void set_pointer(const leaf *l, void *p)
{
    memcpy(l->where, &p, sizeof p);
}

static bool set_size(const leaf *l, int m, char *name)
{
    static const struct {
        const char *name;
        int64_t value;
        int64_t step;
    } wrong[] = { { "0", 0, 0 },
                  { "-1", -1, 0 },
                  { "INT64_MIN", INT64_MIN, 0 },
                  { "INT64_MAX", INT64_MAX, 0 },
                  { "2^62", INT64_C(1) << 62, 0 },
                  { "one more", 0, 1 },
                  { "one less", 0, -1 },
                  { "2^36+1", PE_POSITION_MAX + 1, 0 },
                  { "-2^36-1", -PE_POSITION_MAX - 1, 0 } };
    int64_t x;
    if (m >= COUNT(wrong) || (l->kind != START && m >= COUNT(wrong) - 2))
        return false;
    memcpy(&x, l->where, sizeof x);
    x = wrong[m].step ? x + wrong[m].step : wrong[m].value;
    memcpy(l->where, &x, sizeof x);
    strcpy(name, wrong[m].name);
    return true;
}

static bool set_int(const leaf *l, int m, char *name)
{
    static const struct {
        const char *name;
        int value;
    } dtypes[] = { { "-1", -1 }, { "99", 99 }, { "INT_MAX", INT32_MAX }, { "F32", PE_F32 },
                   { "F16", PE_F16 }, { "BF16", PE_BF16 }, { "F64", PE_F64 }, { "Q8_0", PE_Q8_0 },
                   { "Q4_0", PE_Q4_0 }, { "I64", PE_I64 }, { "I32", PE_I32 }, { "BOOL", PE_BOOL }, { "past the last", PE_BOOL + 1 } },
      enums[] = { { "-1", -1 }, { "99", 99 }, { "INT_MIN", INT32_MIN }, { "1", 1 }, { "0", 0 }, { "2", 2 }, { "3", 3 } },
      ints[] = { { "-1", -1 }, { "INT_MIN", INT32_MIN }, { "INT_MAX", INT32_MAX }, { "99", 99 } };
    if (m >= (l->kind == INT ? COUNT(ints) : l->kind == DTYPE ? COUNT(dtypes) : COUNT(enums)))
        return false;
    const char *text = l->kind == DTYPE ? dtypes[m].name : l->kind == ENUM ? enums[m].name : ints[m].name;
    int x = l->kind == DTYPE ? dtypes[m].value : l->kind == ENUM ? enums[m].value : ints[m].value;
    memcpy(l->where, &x, sizeof x);
    strcpy(name, text);
    return true;
}

static bool set_real(const leaf *l, int m, char *name)
{
    static const double wrong[] = { NAN, INFINITY, -INFINITY, -1, 1e308, 0 };
    if (m >= COUNT(wrong))
        return false;
    memcpy(l->where, &wrong[m], sizeof wrong[m]);
    snprintf(name, 64, "%g", wrong[m]);
    return true;
}

static bool set_bytes(const leaf *l, int m, char *name)
{
    size_t n;
    memcpy(&n, l->where, sizeof n);
    const size_t wrong[] = { 0, n - 1, n / 2, n + 1, SIZE_MAX };
    static const char *const text[] = { "0", "one less", "half", "one more", "SIZE_MAX" };
    if (m >= COUNT(wrong))
        return false;
    memcpy(l->where, &wrong[m], sizeof n);
    strcpy(name, text[m]);
    return true;
}

static bool set_own_size(const leaf *l, int m, char *name)
{
    static const size_t wrong[] = { 0, 1, sizeof(size_t) - 1, (1 << 16) + 1, SIZE_MAX };
    if (m >= COUNT(wrong))
        return false;
    memcpy(l->where, &wrong[m], sizeof wrong[m]);
    snprintf(name, 64, "%zu", wrong[m]);
    return true;
}

static bool set_text(const leaf *l, int m, char *name)
{
    static const char *const wrong[] = { NULL, "", "+", "\xff\xfe", "%n%s" };
    if (m >= COUNT(wrong))
        return false;
    memcpy(l->where, &wrong[m], sizeof wrong[m]);
    snprintf(name, 64, "text %d", m);
    return true;
}

/* What stands in the buffer is wrong: the third element of positions, rows or the carry, the second of lengths, offsets
 * and pages. */
static bool set_content(const leaf *l, int m, char *name)
{
    static const int64_t far[] = { PE_POSITION_MAX + 1, -PE_POSITION_MAX - 1, INT64_MIN, INT64_MAX };
    static const int64_t length[] = { -1, INT64_MIN, INT64_MAX, 6 }, offset[] = { -1, INT64_MIN, INT64_MAX, 10 };
    static const int32_t page[] = { -1, INT32_MIN, INT32_MAX, 2 * PAGE_COUNT };
    static const double sum[] = { NAN, -INFINITY, -1e300, -1e-300, 1e300, INFINITY };
    const struct {
        kind kind;
        const void *wrong;
        int count;
        size_t size, at;
    } kinds[] = { { POSITION_BUFFER, far, 4, 8, 16 }, { ROW_BUFFER, far, 4, 8, 16 },  { LENGTH_BUFFER, length, 4, 8, 8 },
                  { OFFSET_BUFFER, offset, 4, 8, 8 }, { PAGE_BUFFER, page, 4, 4, 4 }, { CARRY_BUFFER, sum, 6, 8, 16 } };
    for (int i = 0; i < COUNT(kinds); i++)
        if (kinds[i].kind == l->kind && m < kinds[i].count && pointer_at(l)) {
            memcpy((char *)pointer_at(l) + kinds[i].at, (const char *)kinds[i].wrong + (size_t)m * kinds[i].size, kinds[i].size);
            snprintf(name, 64, "content %d", m);
            return true;
        }
    return false;
}

static bool is_input(const char *p)
{
    for (int i = 0; i < OUTPUTS; i++)
        if ((const char *)slot[i] == p)
            return false;
    return p != NULL && p != (const char *)fused_work;
}

static bool set_buffer(const leaf *all, int count, const leaf *l, int m, char *name)
{
    char *old = pointer_at(l);
    if (m == 0) {
        strcpy(name, "NULL");
        set_pointer(l, NULL);
        return true;
    }
    if (m == 1) {
        strcpy(name, "misaligned");
        set_pointer(l, old && l->kind != BYTE_BUFFER ? old + 1 : old);
        return true;
    }
    m -= 2;
    if (!old)
        return false;
    if (m >= 2 * count)
        return set_content(l, m - 2 * count, name);
    const leaf *other = &all[m / 2];
    char *p = is_buffer(other->kind) && other != l ? pointer_at(other) : NULL;
    if (!p || p == old)
        return true;
    snprintf(name, 96, "on %s%s%s", is_input(old) && is_input(p) ? "input " : "", other->path, m % 2 ? "+4" : "");
    set_pointer(l, p + m % 2 * 4);
    return true;
}

/* Makes leaf l wrong in its m-th way; false: there is no m-th way. */
static bool make_wrong(const leaf *all, int count, const leaf *l, int m, char *name)
{
    switch (l->kind) {
    case HANDLE:
    case ERROR:
        if (m > 1)
            return false;
        strcpy(name, m ? "misaligned" : "NULL");
        set_pointer(l, m ? (char *)pointer_at(l) + 1 : NULL);
        return true;
    case SIZE:
    case STRIDE:
    case START: return set_size(l, m, name);
    case DTYPE:
    case ENUM:
    case INT: return set_int(l, m, name);
    case REAL: return set_real(l, m, name);
    case BYTES: return set_bytes(l, m, name);
    case OWN_SIZE: return set_own_size(l, m, name);
    case TEXT: return set_text(l, m, name);
    default: return set_buffer(all, count, l, m, name);
    }
}

/* ------------------------------------------------ judging */

static long calls, refused;

static bool matches(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

/* The leaf beside this one in the same struct: x.batch of x.batch_stride. */
static const leaf *beside(const leaf *all, int count, const char *path, const char *name)
{
    char wanted[96];
    snprintf(wanted, sizeof wanted, "%.*s%s", (int)(strrchr(path, '.') - path) + 1, path, name);
    for (int i = 0; i < count; i++)
        if (!strcmp(all[i].path, wanted))
            return &all[i];
    return NULL;
}

/* A stride that makes elements of an output repeat, walk backwards or overlap. */
static bool written_twice(const leaf *all, int count, const char *path, const char *change)
{
    static const char *const strides[][2] = { { "batch_stride", "batch" }, { "token_stride", "tokens" }, { "head_stride", "heads" } };
    const char *name = strrchr(path, '.');
    const leaf *data = name ? beside(all, count, path, "data") : NULL;
    for (int i = 0; data && i < COUNT(strides); i++) {
        const leaf *size = beside(all, count, path, strides[i][1]);
        int64_t n = 0;
        if (strcmp(name + 1, strides[i][0]) || !size)
            continue;
        memcpy(&n, size->where, sizeof n);
        return n > 1 && pointer_at(data) && !is_input(pointer_at(data)) &&
               (!strcmp(change, "0") || !strcmp(change, "-1") || !strcmp(change, "one less"));
    }
    return false;
}

static bool is_legal(const leaf *all, int count, const char *function, const char *path, const char *change)
{
    bool found = false, twice = written_twice(all, count, path, change);
    for (int i = 0; i < COUNT(legal); i++)
        if (matches(legal[i].function, function) && matches(legal[i].field, path) && matches(legal[i].change, change) &&
            !(legal[i].unless & hooks_of_some()) && !(twice && !strcmp(legal[i].field, "*_stride"))) {
            legal[i].used++;
            found = true;
        }
    return found;
}

static void judge(const row *r, args *a, const leaf *all, int count, const char *path, const char *change)
{
    pe_error err = { 0 };
    const char *spec = pe_encoding_spec(some);
    bool own = a->err == NULL || (uintptr_t)a->err % 4; /* err itself is under test */
    bool moved = !strncmp(change, "on ", 3) || matches("*_out.data", path); /* in place: an input is written */
    if (!own)
        a->err = &err;
    copy_slots(before, slot);
    pe_status s = r->call(a);
    calls++;
    refused += s != PE_OK;
    if (s && !own && (!strcmp(pe_status_name(s), pe_status_name((pe_status)999)) || err.status != s || strlen(err.text) < 10))
        fail_msg("%s(%s: %s) of %s: status %d with '%s'", r->names, path, change, spec, s, err.text);
    if (!s && *path && !is_legal(all, count, r->names, path, change))
        fail_msg("%s(%s: %s) of %s was accepted", r->names, path, change, spec);
    for (int i = s && !r->outputs_undefined ? 0 : OUTPUTS; i < SLOTS && (s || !moved); i++)
        if (memcmp(before[i], slot[i], SLOT))
            fail_msg("%s(%s: %s) of %s: %s, but memory %d has changed", r->names, path, change, spec, pe_status_name(s), i);
    copy_slots(slot, before);
    a->err = NULL;
    if (r->call(a) != s)
        fail_msg("%s(%s: %s) of %s: another status without err", r->names, path, change, spec);
}

static void build(const row *r, args *a, pe_error *err)
{
    copy_slots(slot, pristine);
    memset(a, 0, sizeof *a);
    a->e = some;
    a->err = err;
    r->build(a);
}

/* Gradients of parameters that do not exist are not looked at, and neither is a view that is not given. */
static bool absent(const leaf *all, int count, const leaf *l)
{
    const leaf *data = strrchr(l->path, '.') ? beside(all, count, l->path, "data") : NULL;
    bool optional = matches("*.scores.*", l->path) || matches("*.probabilities.*", l->path) || matches("*.mask.*.*", l->path);
    if (!pe_encoding_param_count(some) && (matches("dw.*", l->path) || matches("*dparams.*", l->path)))
        return true;
    if (matches("*.pages.columns", l->path))
        return !pointer_at(beside(all, count, l->path, "table"));
    if (matches("*.sequences", l->path))
        return !pointer_at(beside(all, count, l->path, "offset"));
    return optional && data && !pointer_at(data);
}

static void try_row(const row *r)
{
    static leaf all[200];
    static args a, valid;
    pe_error err;
    build(r, &a, &err);
    judge(r, &a, all, 0, "", "valid");
    int count = collect(r->fields, r->count, &a, "", all, 0);
    assert_true(count < COUNT(all));
    bool fresh = false;
    for (int i = 0; i < count; i++)
        for (int m = 0;; m++) {
            char change[96] = "";
            if (!fresh)
                build(r, &a, &err);
            fresh = true;
            valid = a;
            if (absent(all, count, &all[i]) || !make_wrong(all, count, &all[i], m, change))
                break;
            if (!memcmp(&valid, &a, sizeof a) && strncmp(change, "content", 7))
                continue;
            judge(r, &a, all, count, all[i].path, change);
            fresh = false;
        }
}

static const char *const specs[] = {
    "none",
    "rope",
    "rope:turn=qkvo,pairs=adjacent-half,magnitude=0.5",
    "rope:sections=1/1/2",
    "rope:learned=heads",
    "xpos",
    "learned:rows=16",
    "learned:rows=8/8,merge=split",
    "sinusoidal:join=concat,width=8",
    "shaw:left=2,right=2",
    "transformer-xl:back=4,ahead=4",
    "deberta:buckets=4,max=8",
    "cope:positions=4",
    "t5:buckets=8,max=16",
    "alibi",
    "alibi:convention=falcon",
    "fire:hidden=4",
    "kerple",
    "window:window=4/4",
    "sinusoidal+rope+t5:scale=sqrt",
};

static void every_wrong_argument_gets_a_status(void **state)
{
    (void)state;
    for (int n = 0; n < COUNT(specs); n++) {
        pe_error err;
        some = test_encoding(specs[n], shape);
        copy_slots(slot, pristine);
        assert_ok(pe_plan_new(&some_plan, some, 3, 3, &PE_MAKE(pe_run, .params = params(some, W)), &err));
        for (int i = 0; i < COUNT(table); i++)
            if (table[i].call && (!table[i].few || n % 4 == 1 || pe_encoding_carries(some)))
                try_row(&table[i]);
        pe_plan_free(some_plan);
        pe_encoding_free(some);
    }
    for (int i = 0; i < COUNT(legal); i++)
        if (!legal[i].used)
            fail_msg("legal[%d] is of no use: %s(%s: %s)", i, legal[i].function, legal[i].field, legal[i].change);
    printf("%ld calls, %ld of them refused\n", calls, refused);
}

static void functions_that_cannot_fail_take_anything(void **state)
{
    (void)state;
    some = test_encoding("sinusoidal:join=concat,width=8", shape);
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].alone)
            table[i].alone();
    pe_encoding_free(some);
}

/* ------------------------------------------------ traps that need two changes at once */

static void a_bare_table_of_negative_width_is_refused(void **state)
{
    (void)state;
    float y[TQ * 8] = { 0 };
    int64_t at[TQ] = { 0, 1, 2 };
    pe_positions where = pe_positions_of(at, PE_I64, 1, TQ, 1);
    pe_error err;
    pe_encoding *e = test_encoding("sinusoidal:join=concat,width=8", shape);
    for (int64_t width = -8; width < 0; width++) {
        pe_view out = pe_view_of(y, PE_F32, 1, TQ, 1, 8 + width), nothing = pe_view_of(NULL, PE_F32, 1, TQ, 1, width);
        assert_int_equal(pe_embed(e, out, nothing, where, NULL, &err), PE_ERR_SHAPE);
        assert_int_equal(pe_embed_back(e, (pe_params){ 0 }, nothing, out, where, NULL, &err), PE_ERR_SHAPE);
    }
    pe_view far = pe_view_of(NULL, PE_F32, 1, TQ, 1, INT64_MAX);
    assert_int_equal(pe_embed(e, pe_view_of(y, PE_F32, 1, TQ, 1, 8), far, where, NULL, &err), PE_ERR_OVERFLOW);
    pe_encoding_free(e);
}

/* An additive mask without data has no gradient, whatever sizes it states. */
static void a_gradient_of_no_mask_is_refused(void **state)
{
    (void)state;
    static args a;
    some = test_encoding("none", shape);
    copy_slots(slot, pristine);
    a = (args){ .e = some };
    build_backward(&a);
    a.attention_value.mask.additive = pe_view_of(NULL, PE_F32, 1, 1, 1, 1);
    a.attention_grad_value.dadditive = pe_view_of(slot[Y4], PE_F32, 1, 1, 1, 1);
    assert_int_equal(call_backward(&a), PE_ERR_NULL);
    pe_encoding_free(some);
}

/* A carry is where q meets a table: no number, less than nothing or more than all keys would be outside it. */
static void a_carry_that_no_keys_can_make_is_refused(void **state)
{
    (void)state;
    enum { AFTER = 3 };
    static args a;
    static const double wrong[] = { NAN, -INFINITY, -1e300, -1e-300, AFTER + 1.5, 1e300, INFINITY }, right[] = { 0, 0.5, AFTER };
    some = test_encoding("cope:positions=4", shape);
    for (int n = 0; n < COUNT(wrong) + COUNT(right) + 1; n++) {
        bool ok = n >= COUNT(wrong) && n < COUNT(wrong) + COUNT(right);
        copy_slots(slot, pristine);
        a = (args){ .e = some };
        build_partial(&a);
        a.attention_value.mask.keys_after = AFTER;
        size_fused(&a, false);
        if (n == COUNT(wrong) + COUNT(right))
            a.piece.carry = NULL;
        else
            a.piece.carry[TQ * H - 1] = ok ? right[n - COUNT(wrong)] : wrong[n];
        memcpy(before[Y], slot[Y], SLOT);
        assert_int_equal(call_partial(&a), ok ? PE_OK : a.piece.carry ? PE_ERR_RANGE : PE_ERR_NULL);
        if (!ok)
            assert_memory_equal(before[Y], slot[Y], SLOT);
        if (n == COUNT(wrong) + COUNT(right))
            continue;
        copy_slots(slot, pristine); /* the gradient of a piece has it again */
        a = (args){ .e = some };
        build_fused_backward_piece(&a);
        a.attention_value.mask.keys_after = AFTER;
        size_fused(&a, true);
        ((double *)(void *)slot[PIECE_CARRY])[TQ * H - 1] = ok ? right[n - COUNT(wrong)] : wrong[n];
        assert_int_equal(call_fused_backward(&a), ok ? PE_OK : PE_ERR_RANGE);
    }
    pe_encoding_free(some);
}

/* In float32 they would be infinite or 0. */
static void numbers_that_float32_has_not_are_refused_by_fused_attention(void **state)
{
    (void)state;
    static args a;
    static const struct {
        double cap, scale;
        bool ok;
    } rows[] = { { 0x1p60, 0x1p60, true }, { 0x1p-60, -0x1p-60, true }, { 0, -0x1p60, true }, { 1e39, 1, false }, { 1e-46, 1, false },
                 { 0x1.8p60, 1, false }, { 0, 1e39, false }, { 0, -1e39, false }, { 0, 1e-46, false }, { 0, -0x1p-61, false } };
    some = test_encoding("cope:positions=4", shape);
    for (int n = 0; n < COUNT(rows); n++)
        for (int backward = 0; backward < 2; backward++) {
            pe_error err = { 0 };
            copy_slots(slot, pristine);
            a = (args){ .e = some, .err = &err };
            (backward ? build_fused_backward : build_fused)(&a);
            a.attention_value.soft_cap = rows[n].cap;
            a.attention_value.scale = rows[n].scale;
            pe_status want = rows[n].ok ? PE_OK : PE_ERR_RANGE;
            assert_int_equal((backward ? call_fused_backward_work : call_fused_work)(&a), want);
            assert_int_equal((backward ? call_fused_backward : call_fused_forward)(&a), want);
            assert_true(rows[n].ok || strstr(err.text, rows[n].scale == 1 ? "soft_cap is " : "scale is "));
            assert_int_equal(pe_reference_work(some, a.attention, &a.run_value.work_bytes, &err), PE_OK);
        }
    pe_encoding_free(some);
}

/* Weights are exp(score - lse): three digits of it are none of them. */
static void a_log_sum_exp_of_few_digits_has_no_gradient(void **state)
{
    (void)state;
    static args a;
    some = test_encoding("rope", shape);
    for (int type = 0; type < FLOAT_COUNT; type++) {
        bool ok = type == PE_F32 || type == PE_F64;
        pe_error err = { 0 };
        copy_slots(slot, pristine);
        a = (args){ .e = some, .err = &err };
        build_fused_backward(&a);
        a.attention_value.lse.dtype = (pe_dtype)type;
        assert_int_equal(call_fused_backward(&a), ok ? PE_OK : PE_ERR_DTYPE);
        assert_true(ok || strstr(err.text, "lse is "));
        copy_slots(slot, pristine);
        build_fused(&a);
        a.attention_value.lse.dtype = (pe_dtype)type;
        assert_int_equal(call_fused_forward(&a), PE_OK);
    }
    pe_encoding_free(some);
}

/* A header that is older ends its structs sooner: what lies beyond is not looked at. One that is newer has fields that
 * must be 0: a wish that this library does not know cannot be met. */
static void structs_may_be_those_of_an_older_or_newer_header(void **state)
{
    (void)state;
    struct {
        pe_attention a;
        uint64_t more[4];
    } attention = { .more = { 0 } };
    struct {
        pe_attention_grad g;
        uint64_t more[4];
    } grad = { .more = { 0 } };
    struct {
        pe_run r;
        uint64_t more[4];
    } run = { .more = { 0 } };
    static args a;
    static const unsigned char junk = 0x5b;
    some = test_encoding("rope", shape);
    for (int n = 0; n < 9; n++) {
        pe_error err = { 0 };
        unsigned char wanted[SLOT];
        copy_slots(slot, pristine);
        a = (args){ .e = some, .err = &err };
        build_fused_backward(&a);
        assert_ok(call_fused_backward(&a));
        memcpy(wanted, slot[Y], SLOT);
        copy_slots(slot, pristine);
        attention.a = a.attention_value, grad.g = a.attention_grad_value, run.r = a.run_value;
        memset(attention.more, 0, sizeof attention.more);
        memset(grad.more, 0, sizeof grad.more);
        memset(run.more, 0, sizeof run.more);
        unsigned char *base = n / 3 == 0 ? (void *)&attention : n / 3 == 1 ? (void *)&grad : (void *)&run;
        size_t whole = n / 3 == 0 ? sizeof attention : n / 3 == 1 ? sizeof grad : sizeof run;
        size_t older = n / 3 == 0   ? offsetof(pe_attention, scores)
                       : n / 3 == 1 ? offsetof(pe_attention_grad, accumulate)
                                    : offsetof(pe_run, work_bytes) + sizeof(size_t);
        if (n % 3 == 0)
            memset(base + older, junk, whole - older);
        if (n % 3 == 2)
            base[whole - 1] = 1;
        memcpy(base, n % 3 ? &whole : &older, sizeof whole); /* a struct begins with its size */
        a.attention = &attention.a, a.attention_grad = &grad.g, a.run = &run.r;
        assert_int_equal(call_fused_backward(&a), n % 3 == 2 ? PE_ERR_UNSUITED : PE_OK);
        if (n % 3 == 2)
            assert_non_null(strstr(err.text, "does not know"));
        else
            assert_memory_equal(slot[Y], wanted, SLOT);
    }
    pe_encoding_free(some);
}

/* Rows without the table they are of would be forgotten silently. */
static void rows_of_no_table_are_refused(void **state)
{
    (void)state;
    static args a;
    static const struct {
        bool q, k; /* have lost their tables */
        const char *said;
    } rows[] = { { true, false, "q_table: it has rows" }, { false, true, "k_table: it has rows" }, { true, true, "q_table: it has rows" } };
    some = test_encoding("rope", shape);
    for (int n = 0; n < COUNT(rows); n++) {
        pe_error err = { 0 };
        copy_slots(slot, pristine);
        a = (args){ .e = some, .err = &err };
        build_rotate_qk(&a);
        if (rows[n].q)
            a.rotation_value.q_table.cosine.data = a.rotation_value.q_table.sine.data = NULL;
        if (rows[n].k)
            a.rotation_value.k_table.cosine.data = a.rotation_value.k_table.sine.data = NULL;
        assert_int_equal(call_rotate_qk(&a), PE_ERR_NULL);
        assert_non_null(strstr(err.text, rows[n].said));
    }
    pe_encoding_free(some);
}

/* One row of positions may serve any number of tokens; the check must not walk them all. */
static void a_broadcast_of_positions_is_checked_once(void **state)
{
    (void)state;
    int64_t at = 3;
    float q[H * D] = { 0 }, k[D] = { 0 };
    size_t bytes;
    pe_error err;
    pe_encoding *e = test_encoding("rope", shape);
    pe_attention a = { .size = sizeof(pe_attention), .q = pe_view_of(q, PE_F32, 1, 1, H, D), .q_at = pe_positions_of(&at, PE_I64, 1, 1, 1) };
    for (int shift = 40; shift < 63; shift++) {
        a.k = a.v = (pe_view){ k, PE_F32, 1, INT64_C(1) << shift, 1, D, 0, 0, D };
        a.k_at = (pe_positions){ .data = &at, .dtype = PE_I64, .batch = 1, .tokens = INT64_C(1) << shift, .axes = 1, .token_stride = 0, .axis_stride = 1 };
        assert_int_equal(pe_reference_work(e, &a, &bytes, &err), PE_ERR_OVERFLOW);
        assert_int_equal(pe_attention_work(e, &a, NULL, &bytes, &err), PE_ERR_OVERFLOW);
    }
    pe_partial piece = { q, q, q, NULL };
    a.k = a.v = pe_view_of(k, PE_F32, 1, 1, 1, D);
    a.k_at = pe_positions_of(&at, PE_I64, 1, 1, 1);
    for (int shift = 60; shift < 63; shift++) { /* a piece has a row for each query, however few those are */
        a.q = (pe_view){ q, PE_F32, 1, INT64_C(1) << shift, H, D, 0, 0, D };
        a.q_at = (pe_positions){ .data = &at, .dtype = PE_I64, .batch = 1, .tokens = INT64_C(1) << shift, .axes = 1, .token_stride = 0, .axis_stride = 1 };
        assert_int_equal(pe_attention_merge(piece, piece, INT64_C(1) << shift, D, &err), PE_ERR_OVERFLOW);
        assert_int_equal(pe_attention_partial(e, &a, piece, &PE_MAKE(pe_run, .work = q, .work_bytes = 8), &err), PE_ERR_OVERFLOW);
    }
    pe_encoding_free(e);
}

/* The gradient takes cope's sum of gates apart again; rounding may leave less than nothing. */
static void cope_sums_below_zero_stay_inside_the_table(void **state)
{
    (void)state;
    enum { N = 12, P = 4, WIDTH = 8 };
    uint64_t seed = 1;
    pe_error err;
    pe_encoding *e = test_encoding("cope:positions=4", (pe_shape){ 1, 1, WIDTH, WIDTH });
    double *w = calloc(P * WIDTH, sizeof *w), *dw = calloc(P * WIDTH, sizeof *dw); /* exact, so that ASan sees a step outside */
    for (int round = 0; round < 2000; round++) {
        double q[WIDTH] = { 1 }, k[N * WIDTH] = { 0 }, ds[N], dq[WIDTH] = { 0 }, dk[N * WIDTH] = { 0 };
        int64_t q_at[1] = { N - 1 }, k_at[N];
        for (int j = 0; j < N; j++) {
            k_at[j] = j;
            ds[j] = 1;
            k[j * WIDTH] = j < N - 1 ? 4 * test_uniform(&seed) : -1000;
        }
        pe_tile t = { .size = sizeof(pe_tile), .q = pe_view_of(q, PE_F64, 1, 1, 1, WIDTH), .k = pe_view_of(k, PE_F64, 1, N, 1, WIDTH),
                      .q_at = pe_positions_of(q_at, PE_I64, 1, 1, 1), .k_at = pe_positions_of(k_at, PE_I64, 1, N, 1) };
        pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = pe_view_of(ds, PE_F64, 1, 1, 1, N), .dq = pe_view_of(dq, PE_F64, 1, 1, 1, WIDTH), .dk = pe_view_of(dk, PE_F64, 1, N, 1, WIDTH), .dparams = { dw, PE_F64, P * WIDTH } };
        assert_ok(pe_encoding_content_back(e, PE_AFTER_SCALE, (pe_params){ w, PE_F64, P * WIDTH }, &t, &g, &err));
    }
    free(w);
    free(dw);
    pe_encoding_free(e);
}

/* Keys far ahead are hidden, but turned all the same: zero times infinity must not reach the gradient. */
static void a_hidden_key_whose_turn_overflows_has_no_part(void **state)
{
    (void)state;
    enum { N = 3, WIDTH = 4 };
    float x[N * WIDTH], out[3][N * WIDTH];
    double work[500];
    int64_t at[N] = { 0, 1, 1000000 };
    pe_error err;
    pe_encoding *e = test_encoding("xpos", (pe_shape){ 1, 1, WIDTH, WIDTH });
    for (int i = 0; i < N * WIDTH; i++)
        x[i] = (float)i / 7;
    pe_view v = pe_view_of(x, PE_F32, 1, N, 1, WIDTH);
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out[0], PE_F32, 1, N, 1, WIDTH), .q = v, .k = v, .v = v, .q_at = pe_positions_of(at, PE_I64, 1, N, 1),
                       .k_at = pe_positions_of(at, PE_I64, 1, N, 1), .mask = { .causal = true } };
    pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = v, .dq = pe_view_of(out[0], PE_F32, 1, N, 1, WIDTH),
                            .dk = pe_view_of(out[1], PE_F32, 1, N, 1, WIDTH), .dv = pe_view_of(out[2], PE_F32, 1, N, 1, WIDTH) };
    assert_ok(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
    for (int i = 0; i < N * WIDTH; i++)
        assert_true(isfinite(out[0][i]));
    assert_ok(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
    for (int i = 0; i < 3 * N * WIDTH; i++)
        assert_true(isfinite(out[i / (N * WIDTH)][i % (N * WIDTH)]));
    a.mask.causal = false; /* now that key would be read */
    assert_int_equal(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err), PE_ERR_POSITION);
    pe_encoding_free(e);
}

/* Gradients of q, k and v in one block, as fused projections want them: (T, 3, H, D) and (T, H, 3, D). */
static void views_that_interleave_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 4, ALL = N * H * D };
    static float in[3 * ALL], dout[ALL], whole[2][3 * ALL], apart[3][ALL];
    static double work[4096];
    int64_t at[N] = { 0, 1, 2, 3 };
    uint64_t seed = 2;
    pe_error err;
    pe_encoding *e = test_encoding("rope", (pe_shape){ H, H, D, C });
    for (int i = 0; i < 3 * ALL; i++)
        in[i] = (float)test_uniform(&seed);
    for (int i = 0; i < ALL; i++)
        dout[i] = (float)test_uniform(&seed);
    pe_attention a = { .size = sizeof(pe_attention), .q = pe_view_of(in, PE_F32, 1, N, H, D), .k = pe_view_of(in + ALL, PE_F32, 1, N, H, D),
                       .v = pe_view_of(in + 2 * ALL, PE_F32, 1, N, H, D), .q_at = pe_positions_of(at, PE_I64, 1, N, 1), .k_at = pe_positions_of(at, PE_I64, 1, N, 1) };
    for (int layout = 0; layout < 3; layout++) {
        pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = pe_view_of(dout, PE_F32, 1, N, H, D) };
        pe_view *d[3] = { &g.dq, &g.dk, &g.dv };
        for (int i = 0; i < 3; i++)
            *d[i] = layout == 0   ? (pe_view){ whole[0] + i * H * D, PE_F32, 1, N, H, D, 0, 3 * H * D, D }
                    : layout == 1 ? (pe_view){ whole[1] + i * D, PE_F32, 1, N, H, D, 0, 3 * H * D, 3 * D }
                                  : (pe_view){ apart[i], PE_F32, 1, N, H, D, 0, H * D, D };
        assert_ok(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
        for (int i = 0; i < 2 && layout < 2; i++) { /* one element too far: into the next */
            pe_view kept = *d[i];
            d[i]->data = (float *)d[i]->data + 1;
            assert_int_equal(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err), PE_ERR_ALIAS);
            *d[i] = kept;
        }
    }
    for (int t = 0; t < N; t++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < 3; i++) {
                assert_memory_equal(&apart[i][(t * H + h) * D], &whole[0][((t * 3 + i) * H + h) * D], D * sizeof(float));
                assert_memory_equal(&apart[i][(t * H + h) * D], &whole[1][((t * H + h) * 3 + i) * D], D * sizeof(float));
            }
    pe_encoding_free(e);
}

/* Reads the header, so that a new function cannot be forgotten here. */
static void every_function_of_the_header_is_in_the_table(void **state)
{
    (void)state;
    static char text[100000];
    int found = 0;
    FILE *f = fopen("include/posenc.h", "rb");
    if (!f)
        fail_msg("include/posenc.h cannot be opened; run the tests in the project's root");
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    for (char *p = text; (p = strstr(p, "\nPE_API ")); p++) {
        char name[64], *end = strchr(p, '('), *start = end;
        assert_non_null(end);
        while (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z') || (start[-1] >= '0' && start[-1] <= '9'))
            start--;
        snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
        bool known = false;
        for (int i = 0; i < COUNT(table); i++)
            for (const char *w = table[i].names; *w && !known; w += strcspn(w, " "), w += *w == ' ')
                known = strcspn(w, " ") == strlen(name) && !strncmp(w, name, strlen(name));
        if (!known)
            fail_msg("%s is in the header, but not in this test's table", name);
        found++;
    }
    assert_true(found > 40);
}

/* A view that is empty or not wanted may hold any strides: they are never multiplied (UBSan watches). */
static void strides_of_nothing_are_not_used(void **state)
{
    (void)state;
    pe_error err;
    int64_t at[] = { 0, 1, 2 };
    double numbers[3 * 64] = { 0 }, more[3 * 64] = { 0 };
    const int64_t far = INT64_MAX;
    pe_positions where = pe_positions_of(at, PE_I64, 1, 3, 1);
    pe_encoding *e = NULL;
    assert_int_equal(pe_encoding_new(&e, "sinusoidal", (pe_shape){ 1, 1, 8, 8 }, &err), PE_OK);
    pe_view y = pe_view_of(numbers, PE_F64, 1, 3, 1, 8), bare = { NULL, PE_F64, 1, 3, 1, 8, far, far, far };
    assert_int_equal(pe_embed(e, y, bare, where, NULL, &err), PE_OK);
    pe_encoding_free(e);
    assert_int_equal(pe_encoding_new(&e, "cope:positions=2", (pe_shape){ 1, 1, 8, 8 }, &err), PE_OK);
    double rows[16] = { 0 };
    pe_params w = { rows, PE_F64, 16 };
    pe_tile t = { .size = sizeof(pe_tile), .q = pe_view_of(numbers, PE_F64, 1, 3, 1, 8), .k = pe_view_of(more, PE_F64, 1, 3, 1, 8), .q_at = where, .k_at = where };
    pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = pe_view_of(numbers, PE_F64, 1, 3, 1, 3), .dq = { NULL, PE_F64, 1, 3, 1, 8, far, far, far },
                       .dk = { NULL, PE_F64, 1, 3, 1, 8, far, far, far } };
    assert_int_equal(pe_encoding_content_back(e, PE_AFTER_SCALE, w, &t, &g, &err), PE_OK);
    t.k_at.tokens = 0;
    t.k.tokens = 0;
    t.score = (pe_view){ numbers, PE_F64, 1, 3, 1, 0, far, far, far };
    assert_int_equal(pe_encoding_content(e, PE_AFTER_SCALE, w, &t, &err), PE_OK);
    double work[4096];
    pe_attention a = { .size = sizeof(pe_attention), .q = t.q, .k = pe_view_of(more, PE_F64, 1, 3, 1, 8), .v = { more, PE_F64, 1, 3, 1, 0, far, far, far },
                       .out = { rows, PE_F64, 1, 3, 1, 0, far, far, far }, .q_at = where, .k_at = where };
    assert_int_equal(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = w, .work = work, .work_bytes = sizeof work), &err), PE_OK);
    pe_encoding_free(e);
    assert_int_equal(pe_encoding_new(&e, "shaw:left=1,right=1", (pe_shape){ 1, 1, 8, 8 }, &err), PE_OK);
    double tables[48] = { 0 };
    assert_int_equal(pe_encoding_value_back(e, (pe_params){ tables, PE_F64, 48 }, (pe_params){ 0 },
                                            (pe_view){ NULL, PE_F64, 1, 3, 1, 3, far, far, far }, pe_view_of(more, PE_F64, 1, 3, 1, 3),
                                            pe_view_of(numbers, PE_F64, 1, 3, 1, 8), where, where, &err), PE_OK);
    pe_encoding_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_of_nothing_are_not_used),
        cmocka_unit_test(every_function_of_the_header_is_in_the_table),
        cmocka_unit_test(functions_that_cannot_fail_take_anything),
        cmocka_unit_test_setup_teardown(every_wrong_argument_gets_a_status, setup, teardown),
        cmocka_unit_test(a_bare_table_of_negative_width_is_refused),
        cmocka_unit_test_setup_teardown(a_gradient_of_no_mask_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_carry_that_no_keys_can_make_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_that_float32_has_not_are_refused_by_fused_attention, setup, teardown),
        cmocka_unit_test_setup_teardown(a_log_sum_exp_of_few_digits_has_no_gradient, setup, teardown),
        cmocka_unit_test_setup_teardown(structs_may_be_those_of_an_older_or_newer_header, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_of_no_table_are_refused, setup, teardown),
        cmocka_unit_test(a_broadcast_of_positions_is_checked_once),
        cmocka_unit_test(cope_sums_below_zero_stay_inside_the_table),
        cmocka_unit_test(a_hidden_key_whose_turn_overflows_has_no_part),
        cmocka_unit_test(views_that_interleave_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

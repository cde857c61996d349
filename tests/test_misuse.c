/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 14 s
 *
 * Every parameter of every public function gets NULL, zero, negative, huge, misaligned, overlapping: a status and a
 * sentence, never a crash, and after an error no buffer has changed. One table: a row is a function with a valid call
 * and its parameters; structs are walked field by field; each field is made wrong in every way its kind knows. What is
 * accepted nevertheless is listed in `legal`, with the reason. */
#include <fnmatch.h>

#include "test.h"

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

AROUND(before_each)
{
    for (int i = 0; i < SLOTS; i++) {
        slot[i] = (unsigned char *)take(1, MARGIN + SLOT) + MARGIN;
        pristine[i] = take(1, SLOT);
        before[i] = take(1, SLOT);
    }
    fill_pristine();
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
static const field question_fields[] = {
    IN(pe_question, params, params_fields), OF(pe_question, q_at, POSITION_BUFFER), OF(pe_question, k_at, POSITION_BUFFER),
    OF(pe_question, q, BUFFER), OF(pe_question, k, BUFFER), OF(pe_question, seen, BYTE_BUFFER), OF(pe_question, keys, SIZE),
    OF(pe_question, key, SIZE), OF(pe_question, head, SIZE), OF(pe_question, element, SIZE),
};

/* ------------------------------------------------ members of the arguments, by the names that rows use */

/* pool, params, work: what of its run a call looks at. */
#define RUN_OF(key, table) { key, IN(args, run_value, table) }

static const struct {
    const char *key;
    field field;
} members[] = {
    { "e", OF(args, e, HANDLE) }, { "e2", OF(args, e2, HANDLE) }, { "err", OF(args, err, ERROR) },
    { "out", OF(args, out, BUFFER) }, { "pool_out", OF(args, pool_out, BUFFER) },
    { "plan_out", OF(args, plan_out, BUFFER) }, { "plan", OF(args, plan, HANDLE) }, { "spec", OF(args, spec, TEXT) },
    { "shape", IN(args, shape, shape_fields) }, { "side", OF(args, side, ENUM) }, { "stage", OF(args, stage, ENUM) },
    { "y", IN(args, y, view_fields) }, { "y2", IN(args, y2, view_fields) }, { "x", IN(args, x, view_fields) },
    { "x2", IN(args, x2, view_fields) }, { "k", IN(args, k, view_fields) }, { "at", IN(args, at, positions_fields) },
    { "k_at", IN(args, k_at, positions_fields) }, { "w", IN(args, w, params_fields) },
    { "dw", IN(args, dw, params_fields) }, { "pages", OF(args, pages, HANDLE) },
    { "pages", IN(args, pages_value, pages_fields) }, { "tile", OF(args, tile, HANDLE) },
    { "tile", IN(args, tile_value, tile_fields) }, { "grad", OF(args, grad, HANDLE) },
    { "grad", IN(args, grad_value, tile_grad_fields) }, { "attention", OF(args, attention, HANDLE) },
    { "attention", IN(args, attention_value, attention_fields) },
    { "attention_grad", OF(args, attention_grad, HANDLE) },
    { "attention_grad", IN(args, attention_grad_value, attention_grad_fields) },
    { "rotation", OF(args, rotation, HANDLE) }, { "rotation", IN(args, rotation_value, rotation_fields) },
    { "run", OF(args, run, HANDLE) }, RUN_OF("pool", run_pool_fields), RUN_OF("params", run_params_fields),
    RUN_OF("work", run_fields), { "piece", IN(args, piece, partial_fields) },
    { "from", IN(args, from, partial_fields) }, { "bytes_out", OF(args, bytes_out, BUFFER) },
    { "pairs", OF(args, pairs, BUFFER) }, { "count", OF(args, count, SIZE) }, { "index", OF(args, index, INT) },
    { "question", OF(args, question, HANDLE) }, { "question", IN(args, question_value, question_fields) },
    { "number", OF(args, number, BUFFER) }, { "text", OF(args, text, BYTE_BUFFER) },
    { "room", OF(args, room, BYTES) }, { "rows", OF(args, rows, SIZE) }, { "i_out", OF(args, i_out, BUFFER) },
    { "offsets", OF(args, offsets, OFFSET_BUFFER) }, { "used", OF(args, used, BYTE_BUFFER) },
    { "tokens", OF(args, tokens, SIZE) }, { "start", OF(args, start, START) },
    { "sequences", OF(args, sequences, SIZE) }, { "t", OF(args, t, SIZE) }, { "h", OF(args, h, SIZE) },
    { "w_cells", OF(args, w_cells, SIZE) }, { "behind", OF(args, behind, SIZE) }, { "ahead", OF(args, ahead, SIZE) },
};

/* ------------------------------------------------ what makes a call valid */

static void give_run(args *a)
{
    a->run_value = PE_MAKE(pe_run, .params = params(a->e, W), .pool = &reversed_pool);
    a->run = &a->run_value;
}

static void build_new(args *a)
{
    a->out = (pe_encoding **)(void *)slot[Y];
    a->spec = "rope";
    a->shape = shape;
}

static void build_kernels(args *a)
{
    a->spec = "scalar";
}

static void build_pool(args *a)
{
    a->pool_out = (pe_pool **)(void *)slot[Y];
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
    a->pairs = (pe_pair *)(void *)slot[Y];
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
        a->rotation_value.q_table = (pe_table){ view(W, 4, 1, P), view(ADD, 4, 1, P), (int64_t *)(void *)slot[ROW_Q] };
        a->rotation_value.k_table = (pe_table){ view(SINKS, 4, 1, P), view(V, 4, 1, P), (int64_t *)(void *)slot[ROW_K] };
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
                            .carry = (double *)(void *)slot[CARRY]);
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

static void build_content_back(args *a)
{
    build_content(a);
    give_tile_grad(a);
}

static void build_bias_back(args *a)
{
    build_bias(a);
    give_tile_grad(a);
}

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
        .k_at = batch_positions(a->e, K_AT, B, TK), .q_lengths = { .length = (int64_t *)(void *)slot[LENGTHS] },
        .k_lengths = { .length = (int64_t *)(void *)slot[K_LENGTHS], .padded_left = true },
        .mask = { .causal = true, .window = 4, .first_keys = 1, .keep = pe_view_of(slot[USED], PE_BOOL, B, TQ, H, TK),
                  .additive = batch(ADD, B, TQ, H, TK) },
        .sinks = { slot[SINKS], PE_F32, H }, .soft_cap = 20, .scale = 0.5, .scores = batch(Y3, B, TQ, H, TK),
        .probabilities = batch(Y4, B, TQ, H, TK));
    a->attention = &a->attention_value;
    give_run(a);
    a->run_value.work = slot[WORK];
    a->bytes_out = (size_t *)(void *)slot[Y5];
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
    p->pages = (pe_pages){ (int32_t *)(void *)slot[PAGES], 3 };
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
    p->q_lengths = (pe_lengths){ .offset = (int64_t *)(void *)slot[OFFSETS], .sequences = 2 };
    p->k_lengths = (pe_lengths){ .offset = (int64_t *)(void *)slot[K_OFFSETS], .sequences = 2 };
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
    a->pages_value = (pe_pages){ (int32_t *)(void *)slot[PAGES], 3 };
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

static pe_partial piece_at(int out, int max, int sum, int carry)
{
    return (pe_partial){ (float *)(void *)slot[out], (float *)(void *)slot[max], (float *)(void *)slot[sum],
                         (double *)(void *)slot[carry] };
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
    a->attention_grad_value.carry = (double *)(void *)slot[PIECE_CARRY];
    a->attention_grad_value.dcarry = (double *)(void *)slot[DCARRY];
}

static pe_plan *some_plan; /* for the encoding under test */

static void build_plan(args *a)
{
    a->plan_out = (pe_plan **)(void *)slot[Y];
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
    a->question_value = PE_MAKE(pe_question, .params = params(a->e, W), .q_at = (int64_t *)(void *)slot[AT],
                                .k_at = (int64_t *)(void *)slot[K_AT], .q = (double *)(void *)slot[X],
                                .k = (double *)(void *)slot[K], .seen = slot[SEEN], .keys = TK, .key = 1);
    a->question = &a->question_value;
    a->number = (double *)(void *)slot[Y];
    a->text = (char *)slot[Y2];
    a->room = 500;
}

static void build_init(args *a)
{
    a->w = params(a->e, Y);
}

static void build_builders(args *a)
{
    a->i_out = (int64_t *)(void *)slot[Y];
    a->offsets = (int64_t *)(void *)slot[OFFSETS];
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

static pe_status call_new(args *a)
{
    pe_status s = pe_encoding_new(a->out, a->spec, a->shape, a->err);
    if (!s) {
        pe_encoding_free(*a->out);
        *a->out = NULL;
    }
    return s;
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

static pe_status call_plan(args *a)
{
    pe_status s = pe_plan_new(a->plan_out, a->e, a->behind, a->ahead, a->run, a->err);
    if (!s) {
        pe_plan_free(*a->plan_out);
        *a->plan_out = NULL;
    }
    return s;
}

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
    assert_false(pe_encoding_replaces(NULL));
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
    for (int i = -2; i < 1000; i++)
        assert_true(!pe_idea_name((pe_idea)i) == !pe_idea_advice((pe_idea)i));
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

/* A hook more, for the list below: frequencies are parameters. */
#define TRAINED_ROTATION 0x100u
static unsigned hooks_of_some(void)
{
    bool trained = test_rotates_by_params(some);
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

/* Those of the members that a row names. */
static int collect_members(const char *names, args *a, leaf *out)
{
    int count = 0;
    for (const char *w = names; *w; w += strcspn(w, " "), w += *w == ' ') {
        int known = count;
        for (int i = 0; i < COUNT(members); i++)
            if (strlen(members[i].key) == strcspn(w, " ") && !strncmp(w, members[i].key, strlen(members[i].key)))
                count = collect(&members[i].field, 1, a, "", out, count);
        assert_true(count > known);
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

#define NUMBERS (BIT(SIZE) | BIT(STRIDE) | BIT(START))
#define BIT(kind) (1u << (kind))

/* What a number may be that is wrong; `step`: by how much more than it is, `part`: which share of it. */
static const struct {
    unsigned kinds;
    const char *name;
    union {
        int64_t i;
        double d;
        const char *text;
    } value;
    int step, part;
} wrong_values[] = {
    { NUMBERS | BIT(BYTES), "0", { .i = 0 }, 0, 0 }, { NUMBERS, "-1", { .i = -1 }, 0, 0 },
    { NUMBERS, "INT64_MIN", { .i = INT64_MIN }, 0, 0 }, { NUMBERS, "INT64_MAX", { .i = INT64_MAX }, 0, 0 },
    { NUMBERS, "2^62", { .i = INT64_C(1) << 62 }, 0, 0 }, { NUMBERS | BIT(BYTES), "one more", { .i = 0 }, 1, 1 },
    { NUMBERS | BIT(BYTES), "one less", { .i = 0 }, -1, 1 }, { BIT(BYTES), "half", { .i = 0 }, 0, 2 },
    { BIT(BYTES) | BIT(OWN_SIZE), "SIZE_MAX", { .i = -1 }, 0, 0 },
    { BIT(START), "2^36+1", { .i = PE_POSITION_MAX + 1 }, 0, 0 },
    { BIT(START), "-2^36-1", { .i = -PE_POSITION_MAX - 1 }, 0, 0 }, { BIT(OWN_SIZE), "0", { .i = 0 }, 0, 0 },
    { BIT(OWN_SIZE), "1", { .i = 1 }, 0, 0 },
    { BIT(OWN_SIZE), "less than itself", { .i = sizeof(size_t) - 1 }, 0, 0 },
    { BIT(OWN_SIZE), "65537", { .i = (1 << 16) + 1 }, 0, 0 },
    { BIT(DTYPE) | BIT(ENUM) | BIT(INT), "-1", { .i = -1 }, 0, 0 },
    { BIT(DTYPE) | BIT(ENUM) | BIT(INT), "99", { .i = 99 }, 0, 0 },
    { BIT(DTYPE) | BIT(INT), "INT_MAX", { .i = INT32_MAX }, 0, 0 },
    { BIT(ENUM) | BIT(INT), "INT_MIN", { .i = INT32_MIN }, 0, 0 }, { BIT(ENUM), "0", { .i = 0 }, 0, 0 },
    { BIT(ENUM), "1", { .i = 1 }, 0, 0 }, { BIT(ENUM), "2", { .i = 2 }, 0, 0 }, { BIT(ENUM), "3", { .i = 3 }, 0, 0 },
    { BIT(DTYPE), "F32", { .i = PE_F32 }, 0, 0 }, { BIT(DTYPE), "F16", { .i = PE_F16 }, 0, 0 },
    { BIT(DTYPE), "BF16", { .i = PE_BF16 }, 0, 0 }, { BIT(DTYPE), "F64", { .i = PE_F64 }, 0, 0 },
    { BIT(DTYPE), "Q8_0", { .i = PE_Q8_0 }, 0, 0 }, { BIT(DTYPE), "Q4_0", { .i = PE_Q4_0 }, 0, 0 },
    { BIT(DTYPE), "I64", { .i = PE_I64 }, 0, 0 }, { BIT(DTYPE), "I32", { .i = PE_I32 }, 0, 0 },
    { BIT(DTYPE), "BOOL", { .i = PE_BOOL }, 0, 0 }, { BIT(DTYPE), "past the last", { .i = PE_BOOL + 1 }, 0, 0 },
    { BIT(REAL), "nan", { .d = NAN }, 0, 0 }, { BIT(REAL), "inf", { .d = INFINITY }, 0, 0 },
    { BIT(REAL), "-inf", { .d = -INFINITY }, 0, 0 }, { BIT(REAL), "-1", { .d = -1 }, 0, 0 },
    { BIT(REAL), "1e+308", { .d = 1e308 }, 0, 0 }, { BIT(REAL), "0", { .d = 0 }, 0, 0 },
    { BIT(TEXT), "text 0", { .text = NULL }, 0, 0 }, { BIT(TEXT), "text 1", { .text = "" }, 0, 0 },
    { BIT(TEXT), "text 2", { .text = "+" }, 0, 0 }, { BIT(TEXT), "text 3", { .text = "\xff\xfe" }, 0, 0 },
    { BIT(TEXT), "text 4", { .text = "%n%s" }, 0, 0 },
};

/* The m-th of the values that are wrong for this kind; false: there are fewer. */
static bool set_value(const leaf *l, int m, char *name)
{
    int n = 0;
    for (; n < COUNT(wrong_values); n++)
        if (wrong_values[n].kinds & BIT(l->kind) && m-- == 0)
            break;
    if (n == COUNT(wrong_values))
        return false;
    strcpy(name, wrong_values[n].name);
    if (l->kind == TEXT) {
        memcpy(l->where, &wrong_values[n].value.text, sizeof(char *));
    } else if (l->kind == DTYPE || l->kind == ENUM || l->kind == INT) {
        memcpy(l->where, &(int){ (int)wrong_values[n].value.i }, sizeof(int));
    } else if (l->kind == REAL) {
        memcpy(l->where, &wrong_values[n].value.d, sizeof(double));
    } else if (l->kind == BYTES || l->kind == OWN_SIZE) {
        size_t x;
        memcpy(&x, l->where, sizeof x);
        x = wrong_values[n].part ? x / (size_t)wrong_values[n].part + (size_t)wrong_values[n].step
                                 : (size_t)wrong_values[n].value.i;
        memcpy(l->where, &x, sizeof x);
    } else {
        int64_t x;
        memcpy(&x, l->where, sizeof x);
        x = wrong_values[n].part ? x / wrong_values[n].part + wrong_values[n].step : wrong_values[n].value.i;
        memcpy(l->where, &x, sizeof x);
    }
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
    if (!p || p == old || (m % 2 && sizeof(void *) == 4 && !strcmp(other->path, "plan_out"))) /* past 4 bytes */
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
    case START:
    case DTYPE:
    case ENUM:
    case INT:
    case REAL:
    case BYTES:
    case OWN_SIZE:
    case TEXT: return set_value(l, m, name);
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
    const char *spec = pe_encoding_spec(some);
    bool own = a->err == NULL || (uintptr_t)a->err % 4; /* err itself is under test */
    bool moved = !strncmp(change, "on ", 3) || matches("*_out.data", path); /* in place: an input is written */
    if (!own)
        a->err = &err;
    copy_slots(before, slot);
    forget_error();
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

/* A valid call of the encoding under test, in memory as it was at the beginning. */
static void build_call(args *a, void (*build)(args *a))
{
    copy_slots(slot, pristine);
    memset(a, 0, sizeof *a);
    a->e = some;
    a->err = &err;
    build(a);
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

/* All bytes, padding too, which nobody wrote: MemorySanitizer is told not to look. */
#ifdef __clang__
__attribute__((no_sanitize("memory")))
#endif
static bool
same_bytes(const args *a, const args *b)
{
    const volatile unsigned char *x = (const void *)a, *y = (const void *)b;
    size_t i = 0;
    while (i < sizeof *a && x[i] == y[i])
        i++;
    return i == sizeof *a;
}

static void try_row(const row *r)
{
    static leaf all[200];
    static args a, valid;
    build_call(&a, r->build);
    judge(r, &a, all, 0, "", "valid");
    int count = collect_members(r->members, &a, all);
    assert_true(count < COUNT(all));
    bool fresh = false;
    for (int i = 0; i < count; i++)
        for (int m = 0;; m++) {
            char change[96] = "";
            if (!fresh)
                build_call(&a, r->build);
            fresh = true;
            valid = a;
            if (absent(all, count, &all[i]) || !make_wrong(all, count, &all[i], m, change))
                break;
            if (same_bytes(&valid, &a) && strncmp(change, "content", 7))
                continue;
            judge(r, &a, all, count, all[i].path, change);
            fresh = false;
        }
}

static const char *const specs[] = {
    "none", "rope", "rope:turn=qkvo,pairs=adjacent-half,magnitude=0.5", "rope:sections=1/1/2", "rope:learned=heads",
    "xpos", "learned:rows=16", "learned:rows=8/8,merge=split", "sinusoidal:join=concat,width=8",
    "shaw:left=2,right=2", "transformer-xl:back=4,ahead=4", "deberta:buckets=4,max=8", "cope:positions=4",
    "t5:buckets=8,max=16", "alibi", "alibi:convention=falcon", "fire:hidden=4", "kerple", "window:window=4/4",
    "sinusoidal+rope+t5:scale=sqrt",
};

TEST(every_wrong_argument_gets_a_status)
{
    for (int n = 0; n < COUNT(specs); n++) {
        some = encoding_of(specs[n], shape);
        copy_slots(slot, pristine);
        assert_ok(pe_plan_new(&some_plan, some, 3, 3, &PE_MAKE(pe_run, .params = params(some, W)), &err));
        for (int i = 0; i < COUNT(table); i++)
            if (table[i].call && (!table[i].few || n % 4 == 1 || pe_encoding_carries(some)))
                try_row(&table[i]);
        pe_plan_free(some_plan);
    }
    for (int i = 0; i < COUNT(legal); i++)
        if (!legal[i].used)
            fail_msg("legal[%d] is of no use: %s(%s: %s)", i, legal[i].function, legal[i].field, legal[i].change);
    printf("%ld calls, %ld of them refused\n", calls, refused);
}

TEST(functions_that_cannot_fail_take_anything)
{
    some = encoding_of("sinusoidal:join=concat,width=8", shape);
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].alone)
            table[i].alone();
}

/* ------------------------------------------------ two changes at once */

/* An additive mask without data has no gradient, whatever sizes it states. */
TEST(a_gradient_of_no_mask_is_refused)
{
    static args a;
    some = encoding_of("none", shape);
    build_call(&a, build_backward);
    a.attention_value.mask.additive = pe_view_of(NULL, PE_F32, 1, 1, 1, 1);
    a.attention_grad_value.dadditive = pe_view_of(slot[Y4], PE_F32, 1, 1, 1, 1);
    assert_int_equal(call_backward(&a), PE_ERR_NULL);
}

/* A carry is where q meets a table: no number, less than nothing or more than all keys would be outside it. */
TEST(a_carry_that_no_keys_can_make_is_refused)
{
    enum { AFTER = 3 };
    static args a;
    static const double wrong[] = { NAN, -INFINITY, -1e300, -1e-300, AFTER + 1.5, 1e300, INFINITY }, right[] = { 0, 0.5, AFTER };
    some = encoding_of("cope:positions=4", shape);
    for (int n = 0; n < COUNT(wrong) + COUNT(right) + 1; n++) {
        bool ok = n >= COUNT(wrong) && n < COUNT(wrong) + COUNT(right);
        build_call(&a, build_partial);
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
        build_call(&a, build_fused_backward_piece); /* the gradient of a piece has it again */
        a.attention_value.mask.keys_after = AFTER;
        size_fused(&a, true);
        ((double *)(void *)slot[PIECE_CARRY])[TQ * H - 1] = ok ? right[n - COUNT(wrong)] : wrong[n];
        assert_int_equal(call_fused_backward(&a), ok ? PE_OK : PE_ERR_RANGE);
    }
}

/* In float32 they would be infinite or 0. */
TEST(numbers_that_float32_has_not_are_refused_by_fused_attention)
{
    static args a;
    static const struct {
        double cap, scale;
        bool ok;
    } rows[] = { { 0x1p60, 0x1p60, true }, { 0x1p-60, -0x1p-60, true }, { 0, -0x1p60, true }, { 1e39, 1, false }, { 1e-46, 1, false },
                 { 0x1.8p60, 1, false }, { 0, 1e39, false }, { 0, -1e39, false }, { 0, 1e-46, false }, { 0, -0x1p-61, false } };
    some = encoding_of("cope:positions=4", shape);
    for (int n = 0; n < COUNT(rows); n++)
        for (int backward = 0; backward < 2; backward++) {
            build_call(&a, backward ? build_fused_backward : build_fused);
            a.attention_value.soft_cap = rows[n].cap;
            a.attention_value.scale = rows[n].scale;
            pe_status want = rows[n].ok ? PE_OK : PE_ERR_RANGE;
            assert_int_equal((backward ? call_fused_backward_work : call_fused_work)(&a), want);
            forget_error();
            assert_int_equal((backward ? call_fused_backward : call_fused_forward)(&a), want);
            assert_true(rows[n].ok || strstr(err.text, rows[n].scale == 1 ? "soft_cap is " : "scale is "));
            assert_int_equal(pe_reference_work(some, a.attention, &a.run_value.work_bytes, &err), PE_OK);
        }
}

/* Weights are exp(score - lse): three digits of it are none of them. */
TEST(a_log_sum_exp_of_few_digits_has_no_gradient)
{
    static args a;
    some = encoding_of("rope", shape);
    for (int type = 0; type < FLOAT_COUNT; type++) {
        bool ok = type == PE_F32 || type == PE_F64;
        build_call(&a, build_fused_backward);
        a.attention_value.lse.dtype = (pe_dtype)type;
        forget_error();
        assert_int_equal(call_fused_backward(&a), ok ? PE_OK : PE_ERR_DTYPE);
        assert_true(ok || strstr(err.text, "lse is "));
        build_call(&a, build_fused);
        a.attention_value.lse.dtype = (pe_dtype)type;
        assert_int_equal(call_fused_forward(&a), PE_OK);
    }
}

/* A header that is older ends its structs sooner: what lies beyond is not looked at. One that is newer has fields that
 * must be 0: a wish that this library does not know cannot be met. */
TEST(structs_may_be_those_of_an_older_or_newer_header)
{
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
    some = encoding_of("rope", shape);
    for (int n = 0; n < 9; n++) {
        unsigned char wanted[SLOT];
        build_call(&a, build_fused_backward);
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
        forget_error();
        assert_int_equal(call_fused_backward(&a), n % 3 == 2 ? PE_ERR_UNSUITED : PE_OK);
        if (n % 3 == 2)
            assert_non_null(strstr(err.text, "does not know"));
        else
            assert_memory_equal(slot[Y], wanted, SLOT);
    }
}

/* Rows without the table they are of would be forgotten silently. */
TEST(rows_of_no_table_are_refused)
{
    static args a;
    static const struct {
        bool q, k; /* have lost their tables */
        const char *said;
    } rows[] = { { true, false, "q_table: it has rows" }, { false, true, "k_table: it has rows" }, { true, true, "q_table: it has rows" } };
    some = encoding_of("rope", shape);
    for (int n = 0; n < COUNT(rows); n++) {
        build_call(&a, build_rotate_qk);
        if (rows[n].q)
            a.rotation_value.q_table.cosine.data = a.rotation_value.q_table.sine.data = NULL;
        if (rows[n].k)
            a.rotation_value.k_table.cosine.data = a.rotation_value.k_table.sine.data = NULL;
        assert_refused(call_rotate_qk(&a), PE_ERR_NULL, rows[n].said);
    }
}

/* Reads the header, so that a new function cannot be forgotten here. */
TEST(every_function_of_the_header_is_in_the_table)
{
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


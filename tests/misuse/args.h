/* SPDX-License-Identifier: MIT
 *
 * What the calls of test_misuse.c are given: memory, one struct with the arguments of all of them, and its fields by
 * name with the kind of each, which says how it can be made wrong. */
#ifndef TESTS_MISUSE_ARGS_H
#define TESTS_MISUSE_ARGS_H

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

static pe_encoding *some; /* the encoding under test */
static pe_plan *some_plan; /* for it */

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

static void *memory(int s)
{
    return slot[s];
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
    BUFFER,         /* the first of those that are: NULL, misaligned, on top of every other buffer */
    BYTE_BUFFER,    /* the same, but bytes cannot be misaligned */
    POSITION_BUFFER,/* and wrong positions inside */
    CARRY_BUFFER,   /* and wrong numbers inside */
    LENGTH_BUFFER,
    OFFSET_BUFFER,
    PAGE_BUFFER,    /* and pages that there are not */
    ROW_BUFFER,     /* the last: and rows that a table does not have */
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

#define VIEW_FIELDS(memory)                                                                                            \
    {                                                                                                                  \
        OF(pe_view, data, memory), OF(pe_view, dtype, DTYPE), OF(pe_view, batch, SIZE), OF(pe_view, tokens, SIZE),     \
        OF(pe_view, heads, SIZE), OF(pe_view, dim, SIZE), OF(pe_view, batch_stride, STRIDE),                           \
        OF(pe_view, token_stride, STRIDE), OF(pe_view, head_stride, STRIDE),                                           \
    }
static const field view_fields[] = VIEW_FIELDS(BUFFER), keep_fields[] = VIEW_FIELDS(BYTE_BUFFER);
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

#endif

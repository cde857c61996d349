/* SPDX-License-Identifier: MIT */
#include "zoo/turn_head.h"

#include "io/checked.h"
#include "io/io.h"

#include <stdlib.h>

int64_t zoo_turn_heads(const pe_encoding *e)
{
    int64_t heads = 1;
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (pe_encoding_tensor(e, i)->hooks & PE_HOOK_ROTATE)
            heads = pe_encoding_tensor(e, i)->shape[0];
    return heads;
}

static double *room_for(int64_t tokens, int64_t heads, int64_t width, pe_error *err)
{
    size_t bytes;
    double *x = io_mul(&bytes, (size_t)tokens, (size_t)heads) && io_mul(&bytes, bytes, (size_t)width) &&
                        io_mul(&bytes, bytes, sizeof *x)
                    ? calloc(1, bytes ? bytes : 1)
                    : NULL;
    if (!x)
        io_fail(err, PE_ERR_NOMEM, "no memory for a rotation of every head");
    return x;
}

/* Copies the one head of `one` into, or out of, this head of `all`. */
static void move_head(pe_view one, pe_view all, int64_t head, bool into)
{
    for (int64_t t = 0; t < one.tokens; t++) {
        double *a = (double *)one.data + t * one.token_stride;
        double *b = (double *)all.data + t * all.token_stride + head * all.head_stride;
        for (int64_t d = 0; d < one.dim; d++)
            *(into ? &b[d] : &a[d]) = into ? a[d] : b[d];
    }
}

static int64_t key_head(const pe_encoding *e, int64_t head)
{
    pe_shape s = pe_encoding_shape(e);
    return head / (s.heads / s.kv_heads);
}

pe_status zoo_turn_table(pe_view cosine, pe_view sine, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                         pe_positions at, pe_error *err)
{
    pe_run run = PE_MAKE(pe_run, .params = w);
    int64_t heads = zoo_turn_heads(e), n = cosine.tokens, P = cosine.dim;
    if (heads == 1)
        return pe_rotate_table(e, side, cosine, sine, at, &run, err);
    double *c = room_for(n, heads, P, err), *s = room_for(n, heads, P, err);
    pe_view all[2] = { pe_view_of(c, PE_F64, 1, n, heads, P), pe_view_of(s, PE_F64, 1, n, heads, P) };
    pe_status status = c && s ? pe_rotate_table(e, side, all[0], all[1], at, &run, err) : PE_ERR_NOMEM;
    if (!status) {
        move_head(cosine, all[0], key_head(e, head), false);
        move_head(sine, all[1], key_head(e, head), false);
    }
    free(c), free(s);
    return status;
}

pe_status zoo_turn_head(pe_view y, pe_view x, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                        pe_positions at, pe_error *err)
{
    pe_run run = PE_MAKE(pe_run, .params = w);
    int64_t heads = zoo_turn_heads(e), n = x.tokens, D = x.dim;
    if (heads == 1)
        return pe_rotate(e, side, y, x, at, &run, err);
    double *room = room_for(n, heads, D, err);
    pe_view all = pe_view_of(room, PE_F64, 1, n, heads, D);
    if (!room)
        return PE_ERR_NOMEM;
    move_head(x, all, key_head(e, head), true);
    pe_status status = pe_rotate(e, side, all, all, at, &run, err);
    if (!status)
        move_head(y, all, key_head(e, head), false);
    free(room);
    return status;
}

/* SPDX-License-Identifier: MIT
 *
 * Rotation of runs on any rung. The file that includes this has defined
 *   vf, W             a vector of W floats
 *   load_f32, load_f16, load_bf16, store_f32, store_f16, store_bf16    W elements of that type
 *   split             the even and the odd ones of 2 W elements, in an order of its own
 *   join              split undone
 *   ordered           from that order to the natural one or back: one function does both
 * Each product is rounded: no fused operation may stand here. */

typedef struct couple {
    vf x, y;
} couple;

RUNG_INLINE vf load(const void *x, int64_t i, pe_dtype type)
{
    switch (type) {
    case PE_F32: return load_f32((const float *)x + i);
    case PE_F16: return load_f16((const uint16_t *)x + i);
    default: return load_bf16((const uint16_t *)x + i);
    }
}

RUNG_INLINE void store(void *y, int64_t i, vf v, pe_dtype type)
{
    switch (type) {
    case PE_F32: store_f32((float *)y + i, v); break;
    case PE_F16: store_f16((uint16_t *)y + i, v); break;
    default: store_bf16((uint16_t *)y + i, v); break;
    }
}

/* Pairs i .. i + W - 1, turned; adjacent ones stay in the order of split. */
RUNG_INLINE couple turned(const void *x, const pair_run *r, const float *c, const float *s, int64_t i, bool adjacent,
                          pe_dtype type)
{
    vf a, b, cosine = load_f32(c + i), sine = load_f32(s + i);
    if (adjacent) {
        split(load(x, r->from.x + 2 * i, type), load(x, r->from.x + 2 * i + W, type), &a, &b);
        cosine = ordered(cosine);
        sine = ordered(sine);
    } else {
        a = load(x, r->from.x + i, type);
        b = load(x, r->from.y + i, type);
    }
    return (couple){ a * cosine - b * sine, a * sine + b * cosine };
}

RUNG_INLINE void put(void *y, const pair_run *r, couple v, int64_t i, bool was_adjacent, bool adjacent, pe_dtype type)
{
    if (was_adjacent != adjacent)
        v = (couple){ ordered(v.x), ordered(v.y) };
    if (adjacent) {
        vf low, high;
        join(v.x, v.y, &low, &high);
        store(y, r->to.x + 2 * i, low, type);
        store(y, r->to.x + 2 * i + W, high, type);
    } else {
        store(y, r->to.x + i, v.x, type);
        store(y, r->to.y + i, v.y, type);
    }
}

/* Fewer pairs than a vector has: in a vector's worth of memory. */
RUNG_INLINE void turn_few(char *y, const char *x, const pair_run *r, const float *c, const float *s, bool from2,
                          bool to2, pe_dtype type)
{
    _Alignas(64) char in[2 * W * 4] = { 0 }, out[2 * W * 4];
    float cosine[W] = { 0 }, sine[W] = { 0 };
    size_t n = (size_t)r->count, size = type == PE_F32 ? 4 : 2;
    const pair_run here = { .count = r->count, .from = { 0, from2 ? 1 : W }, .to = { 0, to2 ? 1 : W } };
    memcpy(in, x + (size_t)r->from.x * size, (from2 ? 2 * n : n) * size);
    if (!from2)
        memcpy(in + W * size, x + (size_t)r->from.y * size, n * size);
    memcpy(cosine, c, n * 4);
    memcpy(sine, s, n * 4);
    put(out, &here, turned(in, &here, cosine, sine, 0, from2, type), 0, from2, to2, type);
    memcpy(y + (size_t)r->to.x * size, out, (to2 ? 2 * n : n) * size);
    if (!to2)
        memcpy(y + (size_t)r->to.y * size, out + W * size, n * size);
}

/* The last vector reaches back over pairs already turned; in place it must be read before they are. */
RUNG_INLINE void turn_row(void *y, const void *x, const pair_run *r, const float *c, const float *s, bool from2,
                          bool to2, pe_dtype type)
{
    int64_t n = r->count, i = 0;
    couple last = { 0 };
    if (n % W)
        last = turned(x, r, c, s, n - W, from2, type);
    for (; i + W <= n; i += W)
        put(y, r, turned(x, r, c, s, i, from2, type), i, from2, to2, type);
    if (i < n)
        put(y, r, last, n - W, from2, to2, type);
}

RUNG_INLINE void turn_rows(char *y, int64_t y_stride, const char *x, int64_t x_stride, int64_t rows, const pair_run *r,
                           const float *c, const float *s, int64_t table_stride, bool from2, bool to2, pe_dtype type)
{
    int64_t size = type == PE_F32 ? 4 : 2;
    for (int64_t n = 0; n < rows; n++) {
        if (r->count < W)
            turn_few(y, x, r, c, s, from2, to2, type);
        else
            turn_row(y, x, r, c, s, from2, to2, type);
        y += y_stride * size;
        x += x_stride * size;
        c += table_stride;
        s += table_stride;
    }
}

RUNG_INLINE void turn_any(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                          const float *c, const float *s, int64_t table_stride, pe_dtype type)
{
    c += r->first;
    s += r->first;
    if (r->from_step == 1 && r->to_step == 1)
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, false, false, type);
    else if (r->from_step == 2 && r->to_step == 2)
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, true, true, type);
    else if (r->from_step == 2)
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, true, false, type);
    else
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, false, true, type);
}

static void rows_f32(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                     const float *c, const float *s, int64_t table_stride)
{
    turn_any(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_F32);
}

static void rows_f16(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                     const float *c, const float *s, int64_t table_stride)
{
    turn_any(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_F16);
}

static void rows_bf16(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                      const float *c, const float *s, int64_t table_stride)
{
    turn_any(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_BF16);
}

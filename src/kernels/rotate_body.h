/* SPDX-License-Identifier: MIT
 *
 * Rotation of runs on any rung, in columns of VW pairs whose cos and sin serve several rows. Each product is rounded:
 * no fused operation may stand here. */
#include "kernels/simd_each.h"

#define ROWS 4 /* that share a column's cos and sin */

typedef struct couple {
    vf x, y;
} couple;

/* How a call's pairs lie, and its elements' type: constants that vanish. */
typedef struct shape {
    bool from2, to2; /* adjacent */
    pe_dtype type;
} shape;

/* Adjacent pairs of float16 that stay so are rotated where they lie, v c + swapped(v) s, s negative for the first of a
 * pair: dearer in the column, cheaper in its rows. */
INLINE bool in_line(shape h)
{
    return h.from2 && h.to2 && h.type == PE_F16;
}

INLINE vf row_load(const void *x, int64_t i, pe_dtype type)
{
    return vf_load_as((const char *)x + i * type_size(type), type);
}

INLINE void row_store(void *y, int64_t i, vf v, pe_dtype type)
{
    vf_store_as((char *)y + i * type_size(type), type, v);
}

/* What pairs i .. i + VW - 1 are rotated by; in line, two vectors of each. */
typedef struct angles {
    vf c, s, c2, s2;
} angles;

INLINE angles column(const float *c, const float *s, int64_t i, shape h)
{
    angles t = { .c = vf_load(c + i), .s = vf_load(s + i) };
    if (h.type == PE_BF16) /* so that rounding leaves them NaN */
        t = (angles){ .c = vf_tame(t.c), .s = vf_tame(t.s) };
    else if (h.from2)
        t = (angles){ .c = vf_ordered(t.c), .s = vf_ordered(t.s) };
    if (in_line(h)) {
        angles both;
        vf_join(t.c, t.c, &both.c, &both.c2);
        vf_join(-t.s, t.s, &both.s, &both.s2);
        return both;
    }
    return t;
}

INLINE couple rotated(const void *x, const pair_run *r, angles t, int64_t i, shape h)
{
    vf a, b;
    if (in_line(h)) {
        a = row_load(x, r->from.x + 2 * i, h.type);
        b = row_load(x, r->from.x + 2 * i + VW, h.type);
        return (couple){ a * t.c + vf_swapped(a) * t.s, b * t.c2 + vf_swapped(b) * t.s2 };
    }
    if (!h.from2) {
        a = row_load(x, r->from.x + i, h.type);
        b = row_load(x, r->from.y + i, h.type);
    } else if (h.type == PE_BF16)
        vf_split_bf16((const uint16_t *)x + r->from.x + 2 * i, &a, &b);
    else
        vf_split(row_load(x, r->from.x + 2 * i, h.type), row_load(x, r->from.x + 2 * i + VW, h.type), &a, &b);
    return (couple){ a * t.c - b * t.s, a * t.s + b * t.c };
}

INLINE void put(void *y, const pair_run *r, couple v, int64_t i, shape h)
{
    if (h.from2 != h.to2 && h.type != PE_BF16)
        v = (couple){ vf_ordered(v.x), vf_ordered(v.y) };
    if (!h.to2) {
        row_store(y, r->to.x + i, v.x, h.type);
        row_store(y, r->to.y + i, v.y, h.type);
    } else if (h.type == PE_BF16)
        vf_join_bf16((uint16_t *)y + r->to.x + 2 * i, v.x, v.y);
    else {
        if (!in_line(h))
            vf_join(v.x, v.y, &v.x, &v.y);
        row_store(y, r->to.x + 2 * i, v.x, h.type);
        row_store(y, r->to.x + 2 * i + VW, v.y, h.type);
    }
}

/* Fewer pairs than a vector has: in a vector's worth of memory. */
INLINE void rotate_few(char *y, const char *x, const pair_run *r, const float *c, const float *s, shape h)
{
    _Alignas(64) char in[2 * VW * 4] = { 0 }, out[2 * VW * 4];
    float cosine[VW] = { 0 }, sine[VW] = { 0 };
    const size_t n = (size_t)r->count, size = (size_t)type_size(h.type);
    const pair_run here = { .count = r->count, .from = { 0, h.from2 ? 1 : VW }, .to = { 0, h.to2 ? 1 : VW } };
    memcpy(in, x + (size_t)r->from.x * size, (h.from2 ? 2 * n : n) * size);
    if (!h.from2)
        memcpy(in + VW * size, x + (size_t)r->from.y * size, n * size);
    memcpy(cosine, c, n * 4);
    memcpy(sine, s, n * 4);
    put(out, &here, rotated(in, &here, column(cosine, sine, 0, h), 0, h), 0, h);
    memcpy(y + (size_t)r->to.x * size, out, (h.to2 ? 2 * n : n) * size);
    if (!h.to2)
        memcpy(y + (size_t)r->to.y * size, out + VW * size, n * size);
}

/* Rows that share their table, and the bytes from one to the next. */
typedef struct group {
    char *y;
    const char *x;
    int64_t y_step, x_step, rows;
} group;

/* bfloat16 in halves, 2 VW pairs at a time: the words of memory are its even and odd elements. Returns how many. */
INLINE int64_t rotate_bf16(group g, const pair_run *r, const float *c, const float *s)
{
    int64_t i = 0;
    for (; i + 2 * VW <= r->count; i += 2 * VW) {
        vf c0, c1, s0, s1;
        vf_split(vf_tame(vf_load(c + i)), vf_tame(vf_load(c + i + VW)), &c0, &c1);
        vf_split(vf_tame(vf_load(s + i)), vf_tame(vf_load(s + i + VW)), &s0, &s1);
        c0 = vf_ordered(c0), c1 = vf_ordered(c1), s0 = vf_ordered(s0), s1 = vf_ordered(s1);
        for (int64_t k = 0; k < g.rows; k++) {
            const uint16_t *x = (const uint16_t *)(const void *)(g.x + k * g.x_step);
            uint16_t *y = (uint16_t *)(void *)(g.y + k * g.y_step);
            vf a0, a1, b0, b1;
            vf_split_bf16(x + r->from.x + i, &a0, &a1);
            vf_split_bf16(x + r->from.y + i, &b0, &b1);
            vf_join_bf16(y + r->to.x + i, a0 * c0 - b0 * s0, a1 * c1 - b1 * s1);
            vf_join_bf16(y + r->to.y + i, a0 * s0 + b0 * c0, a1 * s1 + b1 * c1);
        }
    }
    return i;
}

INLINE void rotate_columns(group g, const pair_run *r, const float *c, const float *s, shape h)
{
    int64_t i = 0;
    if (h.type == PE_BF16 && !h.from2 && !h.to2)
        i = rotate_bf16(g, r, c, s);
    for (; i + VW <= r->count; i += VW) {
        angles t = column(c, s, i, h);
        for (int64_t k = 0; k < g.rows; k++)
            put(g.y + k * g.y_step, r, rotated(g.x + k * g.x_step, r, t, i, h), i, h);
    }
}

/* A last column reaches back over pairs already rotated; in place it must be read before they are. */
INLINE void rotate_group(group g, const pair_run *r, const float *c, const float *s, shape h)
{
    int64_t at = r->count - VW;
    if (r->count % VW == 0) {
        rotate_columns(g, r, c, s, h);
        return;
    }
    couple last[ROWS];
    angles t = column(c, s, at, h);
    for (int64_t k = 0; k < g.rows; k++)
        last[k] = rotated(g.x + k * g.x_step, r, t, at, h);
    rotate_columns(g, r, c, s, h);
    for (int64_t k = 0; k < g.rows; k++)
        put(g.y + k * g.y_step, r, last[k], at, h);
}

/* Rows of 16-bit numbers share the work on a column's table; those of float32 are read one after another, as memory
 * likes it. */
INLINE void rotate_each_row(char *y, int64_t y_stride, const char *x, int64_t x_stride, int64_t rows, const pair_run *r,
                            const float *c, const float *s, int64_t table_stride, shape h)
{
    const int64_t size = type_size(h.type);
    group g = { y, x, y_stride * size, x_stride * size, 1 };
    for (int64_t n = 0; n < rows; n += g.rows, g.y += g.rows * g.y_step, g.x += g.rows * g.x_step) {
        const float *c_n = c + n * table_stride, *s_n = s + n * table_stride;
        if (r->count < VW)
            rotate_few(g.y, g.x, r, c_n, s_n, h);
        else if (h.type == PE_F32 || table_stride || n + ROWS > rows)
            rotate_group(g = (group){ g.y, g.x, g.y_step, g.x_step, 1 }, r, c_n, s_n, h);
        else
            rotate_group(g = (group){ g.y, g.x, g.y_step, g.x_step, ROWS }, r, c_n, s_n, h);
    }
}

INLINE void rotate_any(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                       const float *c, const float *s, int64_t table_stride, pe_dtype type)
{
#if VW == 16
    if (r->count < VW) {
        rotate_rows_avx2[type](y, y_stride, x, x_stride, rows, r, c, s, table_stride);
        return;
    }
#endif
    const pair_run own = *r; /* no store can change it */
    r = &own;
    c += r->first;
    s += r->first;
    if (r->from_step == 1 && r->to_step == 1)
        rotate_each_row(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ false, false, type });
    else if (r->from_step == 2 && r->to_step == 2)
        rotate_each_row(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ true, true, type });
    else if (r->from_step == 2)
        rotate_each_row(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ true, false, type });
    else
        rotate_each_row(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ false, true, type });
}

static void rotate_f32_v(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                         const float *c, const float *s, int64_t table_stride)
{
    rotate_any(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_F32);
}

static void rotate_f16_v(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                         const float *c, const float *s, int64_t table_stride)
{
    rotate_any(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_F16);
}

static void rotate_bf16_v(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                          const float *c, const float *s, int64_t table_stride)
{
    rotate_any(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_BF16);
}

static rotate_rows *const rotate_v[3] = { [PE_F32] = rotate_f32_v, [PE_F16] = rotate_f16_v, [PE_BF16] = rotate_bf16_v };

static void rotate_fill(kernels *k)
{
    memcpy(k->rotate, rotate_v, sizeof k->rotate);
}

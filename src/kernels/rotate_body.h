/* SPDX-License-Identifier: MIT
 *
 * Rotation of runs on any rung, in columns of W pairs whose cos and sin serve several rows. The file that includes this
 * has defined
 *   vf, W             a vector of W floats
 *   load_f32, load_f16, load_bf16, store_f32, store_f16, store_bf16    W elements of that type
 *   split             the even and the odd ones of 2 W elements, in an order of its own
 *   join              split undone
 *   ordered           from that order to the natural one or back: one function does both
 *   swapped           each element exchanged with its neighbour
 *   split_bf16, join_bf16    the even and the odd ones of 2 W elements in memory, in the natural order
 *   tame              NaNs without the lowest 16 bits of theirs
 *   lower             the kernels for runs shorter than W, or NULL
 * Each product is rounded: no fused operation may stand here. */

#define ROWS 4 /* that share a column's cos and sin */

typedef struct couple {
    vf x, y;
} couple;

/* How a call's pairs lie, and its elements' type: constants that vanish. */
typedef struct shape {
    bool from2, to2; /* adjacent */
    pe_dtype type;
} shape;

/* Adjacent pairs of float16 that stay so are turned where they lie, v c + swapped(v) s, s negative for the first of a
 * pair: dearer in the column, cheaper in its rows. */
INLINE bool in_line(shape h)
{
    return h.from2 && h.to2 && h.type == PE_F16;
}

INLINE vf load(const void *x, int64_t i, pe_dtype type)
{
    switch (type) {
    case PE_F32: return load_f32((const float *)x + i);
    case PE_F16: return load_f16((const uint16_t *)x + i);
    default: return load_bf16((const uint16_t *)x + i);
    }
}

INLINE void store(void *y, int64_t i, vf v, pe_dtype type)
{
    switch (type) {
    case PE_F32: store_f32((float *)y + i, v); break;
    case PE_F16: store_f16((uint16_t *)y + i, v); break;
    default: store_bf16((uint16_t *)y + i, v); break;
    }
}

/* What pairs i .. i + W - 1 are turned by; in line, two vectors of each. */
typedef struct angles {
    vf c, s, c2, s2;
} angles;

INLINE angles column(const float *c, const float *s, int64_t i, shape h)
{
    angles t = { .c = load_f32(c + i), .s = load_f32(s + i) };
    if (h.type == PE_BF16) /* so that rounding leaves them NaN */
        t = (angles){ .c = tame(t.c), .s = tame(t.s) };
    else if (h.from2)
        t = (angles){ .c = ordered(t.c), .s = ordered(t.s) };
    if (in_line(h)) {
        angles both;
        join(t.c, t.c, &both.c, &both.c2);
        join(-t.s, t.s, &both.s, &both.s2);
        return both;
    }
    return t;
}

INLINE couple turned(const void *x, const pair_run *r, angles t, int64_t i, shape h)
{
    vf a, b;
    if (in_line(h)) {
        a = load(x, r->from.x + 2 * i, h.type);
        b = load(x, r->from.x + 2 * i + W, h.type);
        return (couple){ a * t.c + swapped(a) * t.s, b * t.c2 + swapped(b) * t.s2 };
    }
    if (!h.from2) {
        a = load(x, r->from.x + i, h.type);
        b = load(x, r->from.y + i, h.type);
    } else if (h.type == PE_BF16)
        split_bf16((const uint16_t *)x + r->from.x + 2 * i, &a, &b);
    else
        split(load(x, r->from.x + 2 * i, h.type), load(x, r->from.x + 2 * i + W, h.type), &a, &b);
    return (couple){ a * t.c - b * t.s, a * t.s + b * t.c };
}

INLINE void put(void *y, const pair_run *r, couple v, int64_t i, shape h)
{
    if (h.from2 != h.to2 && h.type != PE_BF16)
        v = (couple){ ordered(v.x), ordered(v.y) };
    if (!h.to2) {
        store(y, r->to.x + i, v.x, h.type);
        store(y, r->to.y + i, v.y, h.type);
    } else if (h.type == PE_BF16)
        join_bf16((uint16_t *)y + r->to.x + 2 * i, v.x, v.y);
    else {
        if (!in_line(h))
            join(v.x, v.y, &v.x, &v.y);
        store(y, r->to.x + 2 * i, v.x, h.type);
        store(y, r->to.x + 2 * i + W, v.y, h.type);
    }
}

/* Fewer pairs than a vector has: in a vector's worth of memory. */
INLINE void turn_few(char *y, const char *x, const pair_run *r, const float *c, const float *s, shape h)
{
    _Alignas(64) char in[2 * W * 4] = { 0 }, out[2 * W * 4];
    float cosine[W] = { 0 }, sine[W] = { 0 };
    size_t n = (size_t)r->count, size = h.type == PE_F32 ? 4 : 2;
    const pair_run here = { .count = r->count, .from = { 0, h.from2 ? 1 : W }, .to = { 0, h.to2 ? 1 : W } };
    memcpy(in, x + (size_t)r->from.x * size, (h.from2 ? 2 * n : n) * size);
    if (!h.from2)
        memcpy(in + W * size, x + (size_t)r->from.y * size, n * size);
    memcpy(cosine, c, n * 4);
    memcpy(sine, s, n * 4);
    put(out, &here, turned(in, &here, column(cosine, sine, 0, h), 0, h), 0, h);
    memcpy(y + (size_t)r->to.x * size, out, (h.to2 ? 2 * n : n) * size);
    if (!h.to2)
        memcpy(y + (size_t)r->to.y * size, out + W * size, n * size);
}

/* Rows that share their table, and the bytes from one to the next. */
typedef struct group {
    char *y;
    const char *x;
    int64_t y_step, x_step, rows;
} group;

/* bfloat16 in halves, 2 W pairs at a time: the words of memory are its even and odd elements. Returns how many. */
INLINE int64_t turn_words(group g, const pair_run *r, const float *c, const float *s)
{
    int64_t i = 0;
    for (; i + 2 * W <= r->count; i += 2 * W) {
        vf c0, c1, s0, s1;
        split(tame(load_f32(c + i)), tame(load_f32(c + i + W)), &c0, &c1);
        split(tame(load_f32(s + i)), tame(load_f32(s + i + W)), &s0, &s1);
        c0 = ordered(c0), c1 = ordered(c1), s0 = ordered(s0), s1 = ordered(s1);
        for (int64_t k = 0; k < g.rows; k++) {
            const uint16_t *x = (const uint16_t *)(const void *)(g.x + k * g.x_step);
            uint16_t *y = (uint16_t *)(void *)(g.y + k * g.y_step);
            vf a0, a1, b0, b1;
            split_bf16(x + r->from.x + i, &a0, &a1);
            split_bf16(x + r->from.y + i, &b0, &b1);
            join_bf16(y + r->to.x + i, a0 * c0 - b0 * s0, a1 * c1 - b1 * s1);
            join_bf16(y + r->to.y + i, a0 * s0 + b0 * c0, a1 * s1 + b1 * c1);
        }
    }
    return i;
}

INLINE void turn_columns(group g, const pair_run *r, const float *c, const float *s, shape h)
{
    int64_t i = 0;
    if (h.type == PE_BF16 && !h.from2 && !h.to2)
        i = turn_words(g, r, c, s);
    for (; i + W <= r->count; i += W) {
        angles t = column(c, s, i, h);
        for (int64_t k = 0; k < g.rows; k++)
            put(g.y + k * g.y_step, r, turned(g.x + k * g.x_step, r, t, i, h), i, h);
    }
}

/* A last column reaches back over pairs already turned; in place it must be read before they are. */
INLINE void turn_group(group g, const pair_run *r, const float *c, const float *s, shape h)
{
    int64_t at = r->count - W;
    if (r->count % W == 0) {
        turn_columns(g, r, c, s, h);
        return;
    }
    couple last[ROWS];
    angles t = column(c, s, at, h);
    for (int64_t k = 0; k < g.rows; k++)
        last[k] = turned(g.x + k * g.x_step, r, t, at, h);
    turn_columns(g, r, c, s, h);
    for (int64_t k = 0; k < g.rows; k++)
        put(g.y + k * g.y_step, r, last[k], at, h);
}

/* Rows of 16-bit numbers share the work on a column's table; those of float32 are read one after another, as memory
 * likes it. */
INLINE void turn_rows(char *y, int64_t y_stride, const char *x, int64_t x_stride, int64_t rows, const pair_run *r,
                      const float *c, const float *s, int64_t table_stride, shape h)
{
    int64_t size = h.type == PE_F32 ? 4 : 2;
    group g = { y, x, y_stride * size, x_stride * size, 1 };
    for (int64_t n = 0; n < rows; n += g.rows, g.y += g.rows * g.y_step, g.x += g.rows * g.x_step) {
        const float *c_n = c + n * table_stride, *s_n = s + n * table_stride;
        if (r->count < W)
            turn_few(g.y, g.x, r, c_n, s_n, h);
        else if (h.type == PE_F32 || table_stride || n + ROWS > rows)
            turn_group(g = (group){ g.y, g.x, g.y_step, g.x_step, 1 }, r, c_n, s_n, h);
        else
            turn_group(g = (group){ g.y, g.x, g.y_step, g.x_step, ROWS }, r, c_n, s_n, h);
    }
}

INLINE void turn_any(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                     const float *c, const float *s, int64_t table_stride, pe_dtype type)
{
    if (r->count < W && lower) {
        lower[type](y, y_stride, x, x_stride, rows, r, c, s, table_stride);
        return;
    }
    const pair_run own = *r; /* no store can change it */
    r = &own;
    c += r->first;
    s += r->first;
    if (r->from_step == 1 && r->to_step == 1)
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ false, false, type });
    else if (r->from_step == 2 && r->to_step == 2)
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ true, true, type });
    else if (r->from_step == 2)
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ true, false, type });
    else
        turn_rows(y, y_stride, x, x_stride, rows, r, c, s, table_stride, (shape){ false, true, type });
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

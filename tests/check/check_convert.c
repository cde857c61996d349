/* SPDX-License-Identifier: MIT
 *
 * Rows of any type to float32 and back. */
#include "family.h"

static void draw_row(problem *p)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0, PE_Q4_0 };
    p->type = p->bench ? p->type : types[draw_bits(p) % COUNT(types)];
    p->n = draw_blocks(p, draw_main(p));
}

/* Now and then all codes of a 16-bit type in one row. */
void make_widen(problem *p)
{
    draw_row(p);
    bool all = !p->bench && (p->type == PE_F16 || p->type == PE_BF16) && draw_bits(p) % 32 == 0;
    if (all)
        p->n = 65536;
    draw_out(p, "y", PE_F32, 1, p->n, p->n, false);
    buffer *x = draw_in(p, "x", p->type, 1, p->n, p->n);
    for (int64_t j = 0; all && j < p->n; j++)
        ((uint16_t *)x->data)[j] = (uint16_t)j;
    for (int64_t j = 0; p->type == PE_F64 && j < p->n; j++)
        if (draw_bits(p) % 2) /* between two float32, half way, and past their range */
            put(x, 0, j, (double)draw_value(p) * (1 + (double)(draw_bits(p) % 9) * 0x1p-25));
}

void call_widen(const kernels *k, const problem *p, void *const *at)
{
    k->widen(at[0], at[1], p->type, p->n);
}

/* Half of the values lie half way between two of the narrow type, or one float32 beside that. */
float beside_a_tie(problem *p, pe_dtype type)
{
    float x = draw_finite(p);
    uint32_t bits, kept = type == PE_BF16 ? 16 : 13;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & ~((1u << kept) - 1)) | 1u << (kept - 1);
    bits += (uint32_t)draw_range(p, -1, 1);
    memcpy(&x, &bits, sizeof x);
    return type == PE_F16 && draw_bits(p) % 2 ? x * (draw_bits(p) % 2 ? 65536.0f : 0x1p-15f) : x;
}

/* In a block whose largest number is 127 or 8, times a power of two: half way between codes or one float32 beside that,
 * and now and then the largest size again with either sign. */
static void put_beside_codes(problem *p, buffer *x, int64_t first)
{
    int64_t most = p->type == PE_Q8_0 ? 127 : 8;
    int power = (int)draw_range(p, -12, 12);
    for (int64_t j = 0; j < BLOCK_WIDTH; j++) {
        float half = (float)draw_range(p, -most, most - 1) + 0.5f;
        uint64_t kind = draw_bits(p) % 8;
        half = kind == 0   ? (float)most
               : kind == 1 ? (float)-most
               : kind < 4  ? nextafterf(half, kind == 2 ? INFINITY : -INFINITY)
                           : half;
        put(x, 0, first + j, ldexp((double)half, power));
    }
}

void make_narrow(problem *p)
{
    draw_row(p);
    draw_out(p, "y", p->type, 1, p->n, p->n, false);
    buffer *x = draw_in(p, "x", PE_F32, 1, p->n, p->n);
    for (int64_t j = 0; !p->bench && !block_kind(p->type) && j < p->n; j++)
        if (draw_bits(p) % 2)
            put(x, 0, j, (double)beside_a_tie(p, p->type));
    for (int64_t j = 0; !p->bench && block_kind(p->type) && j < p->n; j += BLOCK_WIDTH)
        if (draw_bits(p) % 2)
            put_beside_codes(p, x, j);
}

void call_narrow(const kernels *k, const problem *p, void *const *at)
{
    k->narrow(at[0], p->type, at[1], p->n);
}

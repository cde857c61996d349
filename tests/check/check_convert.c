/* SPDX-License-Identifier: MIT
 *
 * Rows of any type to float32 and back. */
#include "family.h"

static void draw_row(problem *p, bool blocks)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0, PE_Q4_0 };
    p->type = p->bench ? p->type : types[draw_bits(p) % (blocks ? 6 : 4)];
    p->n = draw_blocks(p, draw_main(p));
}

/* Now and then all codes of a 16-bit type in one row. */
void make_widen(problem *p)
{
    draw_row(p, true);
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
static float beside_a_tie(problem *p)
{
    float x = draw_finite(p);
    uint32_t bits, kept = p->type == PE_BF16 ? 16 : 13;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & ~((1u << kept) - 1)) | 1u << (kept - 1);
    bits += (uint32_t)draw_range(p, -1, 1);
    memcpy(&x, &bits, sizeof x);
    return p->type == PE_F16 && draw_bits(p) % 2 ? x * (draw_bits(p) % 2 ? 65536.0f : 0x1p-15f) : x;
}

void make_narrow(problem *p)
{
    draw_row(p, false);
    draw_out(p, "y", p->type, 1, p->n, p->n, false);
    buffer *x = draw_in(p, "x", PE_F32, 1, p->n, p->n);
    for (int64_t j = 0; !p->bench && j < p->n; j++)
        if (draw_bits(p) % 2)
            put(x, 0, j, (double)beside_a_tie(p));
}

void call_narrow(const kernels *k, const problem *p, void *const *at)
{
    k->narrow(at[0], p->type, at[1], p->n);
}

/* SPDX-License-Identifier: MIT
 *
 * Words made of the vocabulary: parts of a vector, rows of any type, the exponential. */
#ifndef PE_SIMD_EACH_H
#define PE_SIMD_EACH_H

/* A vector of which `left` elements lie at p, all or fewer. */
INLINE vf vf_get(const float *p, int64_t left)
{
    return left >= VW ? vf_load(p) : vf_load_some(p, left);
}

INLINE void vf_put(float *p, vf x, int64_t left)
{
    if (left >= VW)
        vf_store(p, x);
    else
        vf_store_some(p, x, left);
}

/* Elements of float32 and the 16-bit types: the bytes of one; a vector of them, which for bfloat16 must be tame. */
INLINE int64_t type_size(pe_dtype type)
{
    return type == PE_F32 ? 4 : 2;
}

INLINE vf vf_load_as(const void *p, pe_dtype type)
{
    return type == PE_F32 ? vf_load(p) : type == PE_F16 ? vf_load_f16(p) : vf_load_bf16(p);
}

INLINE void vf_store_as(void *p, pe_dtype type, vf x)
{
    switch (type) {
    case PE_F32: vf_store(p, x); break;
    case PE_F16: vf_store_f16(p, x); break;
    default: vf_store_bf16(p, x); break;
    }
}

/* Vectors of a step through a row; steps end where blocks do. */
#define WIDE (4 * VW < BLOCK_WIDTH ? BLOCK_WIDTH / VW : 4)

/* Bytes of so many elements, also of blocks. */
INLINE int64_t row_bytes(pe_dtype type, int64_t n)
{
    return block_kind(type) ? n / BLOCK_WIDTH * block_bytes(type) : n * type_size(type);
}

/* Of a block's numbers those from i on; the product with its scale is exact. */
INLINE vf vf_load_block(const char *block, pe_dtype kind, int64_t i)
{
    const int64_t half = BLOCK_WIDTH / 2;
    vf code = kind == PE_Q8_0 ? vf_load_i8(block + 2 + i) : vf_load_i4(block + 2 + i % half, i >= half);
    return vf_set_f16(block) * code;
}

/* Elements i, i + 1, ... of a row of any type but float64: a vector of them, or the `left` that there are. */
INLINE vf vf_get_as(const char *row, pe_dtype type, int64_t i, int64_t left)
{
    if (block_kind(type))
        return vf_load_block(row + row_bytes(type, i), type, i % BLOCK_WIDTH);
    const void *p = row + i * type_size(type);
    if (type == PE_F32)
        return vf_get(p, left);
    uint16_t part[VW] = { 0 };
    return vf_load_as(left < VW ? memcpy(part, p, (size_t)left * sizeof *part) : p, type);
}

INLINE void vf_put_as(void *p, pe_dtype type, vf x, int64_t left)
{
    if (type == PE_F32) {
        vf_put(p, x, left);
        return;
    }
    uint16_t part[VW];
    vf_store_as(left < VW ? part : p, type, x);
    if (left < VW)
        memcpy(p, part, (size_t)left * sizeof *part);
}

/* exp(x) for x < 88.3, within 1 ulp; exactly 1 at 0, exactly 0 below -87.7 (2^-126.5), NaN stays. With x = n ln 2 + r:
 * ln 2 in two parts, of which the first times n is exact; exp(r) = 1 + s, s = r + r^2 (c2 + ... + c6 r^4), where the c
 * are the best ones on |r| <= ln 2 / 2 (off by 2^-28); 2^n + s 2^n. */
INLINE vf vf_exp(vf x)
{
    const vf shift = vf_set(0x1.8p23f + 127);
    x = vf_at_least(x, vf_set(-88)); /* where 2^n is 0 */
    vf t = vf_fma(x, vf_set(0x1.715476p+0f), shift), n = t - shift, power = vf_power(t);
    vf r = vf_fma(n, vf_set(-0x1.62e4p-1f), x);
    r = vf_fma(n, vf_set(-0x1.7f7d1cp-20f), r);
    vf p = vf_fma(vf_set(0x1.6a235p-10f), r, vf_set(0x1.123a6cp-7f));
    p = vf_fma(p, r, vf_set(0x1.5558f4p-5f));
    p = vf_fma(p, r, vf_set(0x1.55549p-3f));
    p = vf_fma(p, r, vf_set(0x1.fffffcp-2f));
    return vf_fma(vf_fma(p * r, r, r), power, power);
}

/* The same for any x: infinite from 88.3 on. */
INLINE vf vf_exp_any(vf x)
{
    const vf most = vf_set(88.3f);
    return vf_if_less(most, x, vf_set(INFINITY), vf_exp(vf_at_most(x, most)));
}

#endif

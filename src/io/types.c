/* SPDX-License-Identifier: MIT */
#include "types.h"

#include <string.h>

#if defined __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as the files have them");
#endif

/* memcpy, for a tensor may start at any byte. */
static uint32_t load_u16(const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double real_f32(const uint8_t *at)
{
    float v;
    memcpy(&v, at, sizeof v);
    return (double)v;
}

static double real_f64(const uint8_t *at)
{
    double v;
    memcpy(&v, at, sizeof v);
    return v;
}

static double real_bf16(const uint8_t *at)
{
    return (double)float_of(load_u16(at) << 16);
}

/* Exponent and mantissa moved to float32's places; 2^112 makes up for the bias and turns subnormals into normals. */
static double real_f16(const uint8_t *at)
{
    uint32_t h = load_u16(at), sign = (h & 0x8000u) << 16, rest = (h & 0x7FFFu) << 13;
    if (rest >= 0x0F800000u) /* infinity and NaN keep an exponent of all ones */
        return (double)float_of(sign | 0x70000000u | rest);
    double size = (double)float_of(rest) * 0x1p112;
    return sign ? -size : size;
}

#define WHOLE(name, type)                                                                                              \
    static bool name(int64_t *out, const uint8_t *at)                                                                  \
    {                                                                                                                  \
        type v;                                                                                                        \
        memcpy(&v, at, sizeof v);                                                                                      \
        *out = (int64_t)v;                                                                                             \
        return true;                                                                                                   \
    }
WHOLE(int_i64, int64_t)
WHOLE(int_i32, int32_t)
WHOLE(int_i16, int16_t)
WHOLE(int_i8, int8_t)
WHOLE(int_u32, uint32_t)
WHOLE(int_u16, uint16_t)
WHOLE(int_u8, uint8_t)

static bool int_u64(int64_t *out, const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    *out = v <= INT64_MAX ? (int64_t)v : 0;
    return v <= INT64_MAX;
}

static bool int_bool(int64_t *out, const uint8_t *at)
{
    *out = *at != 0;
    return true;
}

static const io_type_row rows[IO_TYPE_COUNT] = {
    [IO_F32] = { "F32", "<f4", 4, real_f32, NULL },   [IO_F64] = { "F64", "<f8", 8, real_f64, NULL },
    [IO_F16] = { "F16", "<f2", 2, real_f16, NULL },   [IO_BF16] = { "BF16", "", 2, real_bf16, NULL },
    [IO_I64] = { "I64", "<i8", 8, NULL, int_i64 },    [IO_I32] = { "I32", "<i4", 4, NULL, int_i32 },
    [IO_I16] = { "I16", "<i2", 2, NULL, int_i16 },    [IO_I8] = { "I8", "|i1", 1, NULL, int_i8 },
    [IO_U64] = { "U64", "<u8", 8, NULL, int_u64 },    [IO_U32] = { "U32", "<u4", 4, NULL, int_u32 },
    [IO_U16] = { "U16", "<u2", 2, NULL, int_u16 },    [IO_U8] = { "U8", "|u1", 1, NULL, int_u8 },
    [IO_BOOL] = { "BOOL", "|b1", 1, NULL, int_bool }, [IO_F8_E4M3] = { "F8_E4M3", "", 1, NULL, NULL },
    [IO_F8_E5M2] = { "F8_E5M2", "", 1, NULL, NULL },  [IO_F8_E8M0] = { "F8_E8M0", "", 1, NULL, NULL },
    [IO_C64] = { "C64", "<c8", 8, NULL, NULL },
};

const io_type_row *io_type_get(io_type t)
{
    return (unsigned)t < IO_TYPE_COUNT ? &rows[t] : NULL;
}

const char *io_type_name(io_type t)
{
    return io_type_get(t) ? rows[t].name : "?";
}

size_t io_type_size(io_type t)
{
    return io_type_get(t) ? rows[t].size : 0;
}

io_type io_type_of(pe_dtype t)
{
    static const io_type same[FLOAT_COUNT] = {
        [PE_F32] = IO_F32, [PE_F16] = IO_F16, [PE_BF16] = IO_BF16, [PE_F64] = IO_F64
    };
    return (unsigned)t < FLOAT_COUNT ? same[t] : IO_TYPE_COUNT;
}

bool io_type_by_name(io_type *out, const char *name)
{
    for (int i = 0; i < IO_TYPE_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *out = (io_type)i;
            return true;
        }
    return false;
}

bool io_type_by_npy(io_type *out, const char *descr, size_t length)
{
    for (int i = 0; i < IO_TYPE_COUNT; i++)
        if (length == 3 && memcmp(rows[i].npy, descr, strlen(rows[i].npy)) == 0 && rows[i].npy[0]) {
            *out = (io_type)i;
            return true;
        }
    return false;
}

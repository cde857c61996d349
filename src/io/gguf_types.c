/* SPDX-License-Identifier: MIT
 *
 * What the type numbers of GGUF stand for: values (gguf.h of ggml) and tensors (ggml.h, blocks of ggml-common.h).
 */
#include "gguf.h"

static const io_gguf_value_row value_rows[IO_GGUF_TYPE_COUNT] = {
    [IO_GGUF_U8] = { "u8", 1, IO_U8, IO_GGUF_WHOLE },
    [IO_GGUF_I8] = { "i8", 1, IO_I8, IO_GGUF_WHOLE },
    [IO_GGUF_U16] = { "u16", 2, IO_U16, IO_GGUF_WHOLE },
    [IO_GGUF_I16] = { "i16", 2, IO_I16, IO_GGUF_WHOLE },
    [IO_GGUF_U32] = { "u32", 4, IO_U32, IO_GGUF_WHOLE },
    [IO_GGUF_I32] = { "i32", 4, IO_I32, IO_GGUF_WHOLE },
    [IO_GGUF_F32] = { "f32", 4, IO_F32, IO_GGUF_REAL },
    [IO_GGUF_BOOL] = { "bool", 1, IO_BOOL, IO_GGUF_TRUTH },
    [IO_GGUF_STRING] = { "string", 0, IO_TYPE_COUNT, IO_GGUF_TEXT },
    [IO_GGUF_ARRAY] = { "array", 0, IO_TYPE_COUNT, IO_GGUF_LIST },
    [IO_GGUF_U64] = { "u64", 8, IO_U64, IO_GGUF_WHOLE },
    [IO_GGUF_I64] = { "i64", 8, IO_I64, IO_GGUF_WHOLE },
    [IO_GGUF_F64] = { "f64", 8, IO_F64, IO_GGUF_REAL },
};

#define PLAIN(size) 1, size, IO_TYPE_COUNT
#define BLOCK(count, size) count, size, IO_TYPE_COUNT

/* Left out: 4, 5, 31 to 33, 36 to 38, which ggml has removed. */
static const io_gguf_tensor_row tensor_rows[] = {
    [0] = { "F32", 1, 4, IO_F32 },
    [1] = { "F16", 1, 2, IO_F16 },
    [2] = { "Q4_0", BLOCK(32, 18) },
    [3] = { "Q4_1", BLOCK(32, 20) },
    [6] = { "Q5_0", BLOCK(32, 22) },
    [7] = { "Q5_1", BLOCK(32, 24) },
    [8] = { "Q8_0", BLOCK(32, 34) },
    [9] = { "Q8_1", BLOCK(32, 36) },
    [10] = { "Q2_K", BLOCK(256, 84) },
    [11] = { "Q3_K", BLOCK(256, 110) },
    [12] = { "Q4_K", BLOCK(256, 144) },
    [13] = { "Q5_K", BLOCK(256, 176) },
    [14] = { "Q6_K", BLOCK(256, 210) },
    [15] = { "Q8_K", BLOCK(256, 292) },
    [16] = { "IQ2_XXS", BLOCK(256, 66) },
    [17] = { "IQ2_XS", BLOCK(256, 74) },
    [18] = { "IQ3_XXS", BLOCK(256, 98) },
    [19] = { "IQ1_S", BLOCK(256, 50) },
    [20] = { "IQ4_NL", BLOCK(32, 18) },
    [21] = { "IQ3_S", BLOCK(256, 110) },
    [22] = { "IQ2_S", BLOCK(256, 82) },
    [23] = { "IQ4_XS", BLOCK(256, 136) },
    [24] = { "I8", PLAIN(1) },
    [25] = { "I16", PLAIN(2) },
    [26] = { "I32", PLAIN(4) },
    [27] = { "I64", PLAIN(8) },
    [28] = { "F64", 1, 8, IO_F64 },
    [29] = { "IQ1_M", BLOCK(256, 56) },
    [30] = { "BF16", 1, 2, IO_BF16 },
    [34] = { "TQ1_0", BLOCK(256, 54) },
    [35] = { "TQ2_0", BLOCK(256, 66) },
    [39] = { "MXFP4", BLOCK(32, 17) },
    [40] = { "NVFP4", BLOCK(64, 36) },
    [41] = { "Q1_0", BLOCK(128, 18) },
    [42] = { "Q2_0", BLOCK(64, 18) },
};

const io_gguf_value_row *io_gguf_value_type(uint32_t type)
{
    return type < IO_GGUF_TYPE_COUNT ? &value_rows[type] : NULL;
}

const io_gguf_tensor_row *io_gguf_tensor_type(uint32_t type)
{
    bool known = type < sizeof tensor_rows / sizeof tensor_rows[0] && tensor_rows[type].name;
    return known ? &tensor_rows[type] : NULL;
}

const char *io_gguf_type_name(io_gguf_type t)
{
    const io_gguf_value_row *row = io_gguf_value_type((uint32_t)t);
    return row ? row->name : "?";
}

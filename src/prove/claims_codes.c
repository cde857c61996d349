/* SPDX-License-Identifier: MIT
 *
 * Claims: the codes that come before sinusoids. Integers drown the word, bits jump, fractions depend on the length. */
#include "prove/codes.h"

#define WIDE .heads = 4, .head_dim = 16, .model_dim = 64, .length = 512, .seed = 1

static const prove_claim claims[] = {
    { .name = "integer-drowns",
      .claim = { "Integer codes, added to a word, drown it.", "把整数位置直接加到词向量上，会把词义淹没。" },
      .put = { "Added to a word, its code drowns it.", "加到词向量上，它的编码会把词义淹没。" },
      .source = "folklore; Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .given = { WIDE, .spec = { "integer", "normalised", "binary", "sinusoidal" } },
      .measure = codes_drown,
      .takes = PE_HOOK_EMBED },
    { .name = "binary-jumps",
      .claim = { "Binary codes jump from one position to the next.", "二进制编码在相邻位置之间会跳变。" },
      .put = { "Its code jumps from one position to the next.", "它的编码在相邻位置之间会跳变。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .given = { WIDE, .spec = { "binary" } },
      .measure = codes_jump,
      .takes = PE_HOOK_EMBED },
    { .name = "sinusoids-smooth",
      .claim = { "Sinusoids do not jump: they are bits made smooth.", "正弦编码不跳变：它相当于平滑的二进制。" },
      .put = { "Its code does not jump: every step to the next position is as long as every other.",
               "它的编码不跳变：到下一个位置的每一步都一样长。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .given = { WIDE, .spec = { "sinusoidal" } },
      .measure = codes_smooth,
      .takes = PE_HOOK_EMBED },
    { .name = "bit-periods",
      .claim = { "252 is 11111100, and bit k of the position has the period 2^(k+1).",
                 "252 写成二进制是 11111100；位置的第 k 位以 2^(k+1) 为周期。" },
      .put = { "Element k of its code has the period 2^(k+1), as bit k of the position has.",
               "它的编码的第 k 维以 2^(k+1) 为周期，如同位置的第 k 个比特。" },
      .source = "arithmetic",
      .given = { WIDE, .spec = { "binary" } },
      .measure = codes_bits,
      .takes = PE_HOOK_EMBED },
    { .name = "fractions-depend",
      .claim = { "A position divided by the length, t/N, has another code in another text.",
                 "位置除以长度 t/N：同一位置在不同长度的文本里编码不同。" },
      .put = { "The code of one position is another in a text of another length.",
               "同一位置在不同长度的文本里编码不同。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .given = { WIDE, .spec = { "normalised" } },
      .measure = codes_fractions,
      .takes = PE_HOOK_EMBED },
};

const prove_group prove_group_codes = { .name = "codes",
                                        .title = { "From integers to waves", "从整数到波" },
                                        .claims = claims,
                                        .count = (int)(sizeof claims / sizeof *claims) };

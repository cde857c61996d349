/* SPDX-License-Identifier: MIT
 *
 * Claims: sinusoids. A shift is a rotation; how long their waves are, what the dot product does with the distance, and
 * where the position sits. */
#include "prove/sinusoids.h"

#define SINUSOID .spec = { "sinusoidal" }
#define WIDTH(n) .heads = 4, .head_dim = (n) / 4, .model_dim = (n), .theta = 10000, .seed = 1

static const prove_claim claims[] = {
    { .name = "shift-rotates",
      .claim = { "p(t + k) is a linear function of p(t), M(k) p(t), and M(k) is a rotation.",
                 "p(t+k) 是 p(t) 的线性函数 M(k) p(t)，且 M(k) 是旋转矩阵。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .given = { WIDTH(32), SINUSOID, .length = 1 << 22 },
      .measure = sinusoids_shift,
      .takes = PE_HOOK_EMBED },
    { .name = "wavelengths",
      .claim = { "The wavelengths form a geometric progression from 2 pi to 10000 * 2 pi.",
                 "波长构成从 2π 到 10000·2π 的等比数列。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .given = { WIDTH(128), .spec = { "sinusoidal", "sinusoidal:denominator=d-2" } },
      .measure = sinusoids_wavelengths },
    { .name = "symmetric-dot",
      .claim = { "The dot product of two codes depends on their distance alone, and not on its sign.",
                 "两个位置编码的内积只依赖距离，与方向无关。" },
      .source = "Yan et al. 2019 (arXiv:1911.04474)",
      .given = { WIDTH(128), SINUSOID, .length = 400 },
      .measure = sinusoids_symmetric,
      .takes = PE_HOOK_EMBED },
    { .name = "decaying-dot",
      .claim = { "The dot product of two codes decays with their distance.",
                 "两个位置编码的内积随距离衰减（远程衰减）。" },
      .source = "Yan et al. 2019 (arXiv:1911.04474)",
      .given = { WIDTH(128), SINUSOID, .length = 4096 },
      .measure = sinusoids_decay,
      .takes = PE_HOOK_EMBED },
    { .name = "1-and-10001",
      .claim = { "With a base of 10000 positions 1 and 10001 coincide.",
                 "底数为 10000 时，位置 1 与 10001 的编码重合。" },
      .source = "a common misreading of Vaswani et al. 2017",
      .given = { WIDTH(64), SINUSOID, .length = 1 << 17 },
      .measure = sinusoids_coincide,
      .takes = PE_HOOK_EMBED },
    { .name = "first-dims",
      .claim = { "Only the first dimensions of a sinusoidal code carry the position.",
                 "正弦编码只有前面的维度携带位置信息。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .given = { WIDTH(128), SINUSOID, .length = 1 << 14 },
      .measure = sinusoids_first_dims,
      .takes = PE_HOOK_EMBED },
    { .name = "sinusoids-extrapolate",
      .claim = { "Sinusoids let a model extrapolate to texts longer than those of its training.",
                 "正弦编码能让模型外推到比训练时更长的文本。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762); against it Press et al. 2021 (arXiv:2108.12409)",
      .given = { WIDTH(128), SINUSOID, .length = 256 },
      .measure = sinusoids_extrapolate,
      .takes = PE_HOOK_EMBED },
};

const prove_group prove_group_sinusoids = { .name = "sinusoids",
                                            .title = { "Sinusoids", "正弦位置编码" },
                                            .claims = claims,
                                            .count = (int)(sizeof claims / sizeof *claims) };

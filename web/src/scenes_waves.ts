// SPDX-License-Identifier: MIT
//
// The story: sinusoids.

import { tex } from "./tex";
import type { Scene } from "./story_scene";

export const waves: Scene[] = [
  {
    id: "waves",
    title: { en: "Turn bits into clocks: sinusoids", zh: "把比特变成时钟：正弦编码" },
    lead: {
      en: "Keep the clocks and make them smooth: replace each bit by a hand that turns, every hand slower than the one before. Press play, scrub, or drag a hand.",
      zh: "保留这组时钟，把它们变光滑：每一位换成一根匀速转动的指针，一根比一根慢。按播放、拖滑块，或直接拨动指针。",
    },
    formulas: {
      code: tex`\begin{aligned} p_t[2i] &= \sin(t\,\omega_i)\\ p_t[2i{+}1] &= \cos(t\,\omega_i)\\ \omega_i &= \theta^{-2i/d} \end{aligned}`,
      base: tex`\theta = 10000`,
      shift: tex`\begin{pmatrix}\sin (t+k)\omega\\ \cos (t+k)\omega\end{pmatrix} = \begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}\begin{pmatrix}\sin t\omega\\ \cos t\omega\end{pmatrix}`,
      move: tex`p_{t+k} = M(k)\,p_t`,
      dot: tex`p_t\cdot p_{t+k} = \sum_i \cos(k\,\omega_i)`,
      last: tex`2\pi\,\theta^{(d-2)/d}`,
      through: tex`p_m^{\top} W_Q^{\top} W_K\, p_n`,
    },
    text: {
      en: [
        "Keep the range of frequencies, but make the waves smooth. A bit is a square wave with half the frequency of the bit before it. Replace it by a pair of sine and cosine whose frequency falls by a constant factor from pair to pair, {base}:",
        "{code}",
        "The [wavelengths](wavelength) grow from 2π to {last}: the first pairs change from word to word, the last ones hardly change within a book. The code is bounded, smooth and independent of the sequence length.",
        "Why a sine *and* a cosine? Together they are a point on a circle, like the tip of a clock hand. Moving by k positions rotates each pair by its own angle kω, at every t:",
        "{shift}",
        "So {move} with one matrix for all t. A distance is now a linear map, which a layer can learn. And the dot product of two codes, {dot}, depends only on the distance: it is largest at 0, symmetric, and falls as k grows because the cosines get out of phase.",
        "Two weaknesses remain. The dot product is symmetric, so it does not distinguish before from after. And attention does not compute this product but {through}, with trained matrices in between, which no longer depends only on the difference of the positions. The model has to learn the relative property itself.",
      ],
      zh: [
        "保留时钟，磨掉棱角。二进制里每一位比前一位慢一半，是方波；现在换成正弦波，每一对比前一对慢一个固定的倍数，{base}：",
        "{code}",
        "[波长](wavelength)从 2π 一直到 {last}：前几对在一个词一个词地数，最后几对在一整本书里几乎不动。处处有界、光滑，且与长度无关。",
        "为什么正弦、余弦都要？两者合起来才是表盘上的一根指针。往后移 k 个位置，每根指针都转过自己的角度 kω，与原来指向哪里无关：",
        "{shift}",
        "于是 {move}，同一个矩阵对所有 t 都成立。“相距 k”变成了线性变换，这是网络学得会的。两个编码的内积 {dot} 只依赖距离：在 0 处最大，左右对称，随 k 增大各余弦步调错开而下降。",
        "还有两处不足。左右对称意味着分不清前后；而且注意力里出现的不是这个内积，而是 {through}，中间隔着训练出来的矩阵，两个位置不再以差的形式出现。正弦编码许诺的好性质，模型还得自己重新学一遍。",
      ],
    },
    demos: [
      {
        title: { en: "Six clocks", zh: "六只时钟" },
        insight: { en: "One step turns each hand by its own angle, from wherever it points: moving on is one rotation.", zh: "走一步，每根指针都转过自己的角度，与它原来指向哪里无关：前进就是旋转。" },
        controls: [{ kind: "slider", id: "t", label: { en: "Position", zh: "位置" }, value: 4, min: 0, max: 500, play: 90, begins: true }],
        outputs: [
          { kind: "clock", look: "dials", command: ["table", "sinusoidal", "-n", "501", "--model-dim", "12"], at: "{t}", hands: [[1, 0], [3, 2], [5, 4], [7, 6], [9, 8], [11, 10]] },
          { kind: "claim", claim: "shift-rotates" },
          { kind: "claim", claim: "sinusoids-smooth" },
        ],
      },
      {
        title: { en: "The table of codes", zh: "编码表" },
        insight: { en: "The first columns change from word to word, the last hardly within a book.", zh: "前几列一个词一变，最后几列在一整本书里几乎不动。" },
        controls: [
          { kind: "slider", id: "n", label: { en: "Positions", zh: "位置数" }, value: 50, min: 8, max: 512, log: true },
          { kind: "slider", id: "d", label: { en: "Width", zh: "宽度" }, value: 128, min: 8, max: 256, step: 2 },
          { kind: "slider", id: "theta", label: { en: "theta", zh: "theta" }, value: 10000, min: 10, max: 1000000, log: true },
        ],
        outputs: [
          { kind: "picture", spec: "sinusoidal:theta={theta}", view: "table", options: ["-n", "{n}", "--model-dim", "{d}"] },
          { kind: "picture", spec: "sinusoidal:theta={theta}", view: "wavelengths", options: ["-n", "{n}", "--model-dim", "{d}"] },
        ],
      },
      {
        title: { en: "The code of one position, step by step", zh: "亲手算一个位置的编码" },
        insight: { en: "Nothing but sines and cosines of t times a frequency.", zh: "不过是 t 乘以频率，再取正弦和余弦。" },
        controls: [
          { kind: "slider", id: "t", label: { en: "Position t", zh: "位置 t" }, value: 5, min: 2, max: 200 },
        ],
        outputs: [{ kind: "walk", spec: "sinusoidal", options: ["--pos", "{t}", "--dim", "4"] }],
        folded: true,
      },
      {
        title: { en: "Why a sine and a cosine", zh: "为什么正弦、余弦都要" },
        insight: { en: "With sines and cosines one matrix moves every code on by k. With sines alone none does.", zh: "正弦余弦都在，一个矩阵就能把所有编码往后移 k 位；只有正弦，没有这样的矩阵。" },
        controls: [{ kind: "slider", id: "d", label: { en: "Width", zh: "宽度" }, value: 128, min: 8, max: 512, step: 2 }],
        outputs: [{ kind: "picture", spec: "sinusoidal", view: "shift", options: ["--model-dim", "{d}"] }],
        folded: true,
      },
      {
        title: { en: "Dot product by distance", zh: "内积随距离的变化" },
        insight: { en: "Two codes multiply to a number of their distance alone: alike to both sides, so before and after are one.", zh: "两个编码的内积只依赖距离；左右对称，所以分不清前后。" },
        controls: [
          { kind: "slider", id: "n", label: { en: "Largest distance", zh: "最远距离" }, value: 128, min: 16, max: 2048, log: true },
          { kind: "slider", id: "d", label: { en: "Width", zh: "宽度" }, value: 128, min: 8, max: 512, step: 2 },
        ],
        outputs: [
          { kind: "picture", spec: "sinusoidal", view: "decay", options: ["-n", "{n}", "--model-dim", "{d}"] },
          { kind: "claim", claim: "symmetric-dot" },
          { kind: "claim", claim: "decaying-dot" },
          { kind: "claim", claim: "1-and-10001" },
        ],
      },
    ],
    tries: {
      en: "In the table, set theta to 10: the right half, which hardly changed before, begins to oscillate. Then set it to 1000000: fewer dimensions carry position. In the last picture, increase the width: the curve becomes smoother.",
      zh: "在编码表里把 theta 降到 10：原本几乎不动的右半边也起伏起来；再升到 1000000：真正携带位置信息的维度越来越少。在最后一张图里加大宽度，看衰减曲线变得光滑。",
    },
  },
];

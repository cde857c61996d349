// SPDX-License-Identifier: MIT
//
// The story: models that were trained, in the page.

import type { Scene } from "./story_scene";

export const trained: Scene[] = [
  {
    id: "trained",
    title: { en: "Real models, past their trained length", zh: "真实的模型，走出训练长度" },
    lead: {
      en: "Enough of random vectors. These are small models that were trained on novels at 128 bytes, each with another encoding, running here in your browser. Make the text longer and watch which of them falls apart.",
      zh: "随机向量到此为止。这里是几个在小说上以 128 字节训练的小模型，编码各不相同，正在你的浏览器里运行。把文本拉长，看谁先崩溃。",
    },
    formulas: {},
    text: {
      en: ["Three layers of width 96, bytes as tokens, 8 bits a weight; the text is a novel that none of them saw. Loss is measured with the C code of `posenc eval`, over windows of the length that you choose; a table of 128 learned rows cannot go on at all. NTK and YaRN change RoPE's frequencies while it runs, without any training."],
      zh: ["三层，宽 96，以字节为词元，每个权重 8 比特；文本是它们都没见过的一部小说。损失由与 `posenc eval` 相同的 C 代码在你选的长度的窗口上测得；128 行的可学习表根本走不下去。NTK 与 YaRN 在运行时改动 RoPE 的频率，不再训练。"],
    },
    demos: [
      {
        title: { en: "Longer texts", zh: "更长的文本" },
        insight: { en: "Sinusoids get lost right after the trained length, RoPE a little later; ALiBi and T5 do not notice it. NTK carries RoPE to twice the length, YaRN to four times; at 16 times both are lost too.", zh: "正弦一过训练长度就迷路，RoPE 稍晚一点；ALiBi 和 T5 浑然不觉。NTK 能让 RoPE 走到两倍长，YaRN 到四倍；到 16 倍，两者也都迷路。" },
        controls: [
          { kind: "kept", id: "on", value: "alibi,rope,sinusoidal,t5" }, { kind: "kept", id: "times", value: "4" }, { kind: "kept", id: "method", value: "" },
          { kind: "kept", id: "reader", value: "rope" }, { kind: "kept", id: "other", value: "alibi" },
        ],
        outputs: [{ kind: "models", what: "length" }],
      },
      {
        title: { en: "Your sentence", zh: "你的句子" },
        insight: { en: "These weights were learned. Choose another layer or head, and see what it looks for.", zh: "这些权重是学出来的。换一层、换一个头，看看它在找什么。" },
        controls: [{ kind: "kept", id: "words", value: "The dog chased the other dog." }, { kind: "kept", id: "model", value: "rope" }, { kind: "kept", id: "layer", value: "0" }, { kind: "kept", id: "head", value: "0" }],
        outputs: [{ kind: "models", what: "attention" }],
      },
    ],
    next: [
      { label: { en: "Choose an encoding: all of them on one sheet", zh: "挑一种编码：一张表看全" }, to: { tab: "sheet" } },
      { label: { en: "Change one and watch it in the lab", zh: "到实验台改一改、看一看" }, to: { tab: "explore", a: "rope", b: "alibi", view: "" } },
      { label: { en: "See what your own model does", zh: "看看你自己的模型怎么做" }, to: { tab: "model" } },
      { label: { en: "Every claim, measured", zh: "逐条实测的论断" }, to: { tab: "claims" } },
    ],
  },
];

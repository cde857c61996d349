// SPDX-License-Identifier: MIT
//
// The tour, step 0: why there are position encodings at all.

import { tex } from "./tex";
import type { Step } from "./tour_step";

export const order: Step[] = [
  {
    id: "0",
    title: { en: "Attention is blind to order", zh: "注意力看不见顺序" },
    formulas: {
      score: tex`\mathrm{out}_i = \sum_j \frac{e^{q_i\cdot k_j/\sqrt d}}{\sum_{l} e^{q_i\cdot k_l/\sqrt d}}\, v_j`,
      swap: tex`A(PX) = P\,A(X)`,
    },
    text: {
      en: [
        "[Attention](attention) compares a word's query with every key and averages the values by the weights that come out:",
        "{score}",
        "Look for the place where this formula says which word comes first. There is none: i and j only name the words, they enter no computation. Shuffle the sentence and every output moves along with its word, otherwise unchanged: {swap} for every [permutation](permutation) P.",
        "In “the dog chased the other dog” both dogs have the same vector, hence the same query, the same row of weights and the same output. Who chased whom is lost before the first layer ends.",
        "A position encoding puts the order back. The rest of this tour tries the obvious ways, watches each one fail at something, and arrives at the rotation that most of today's models use.",
      ],
      zh: [
        "[注意力](attention)把一个词的查询与所有键做内积，softmax 之后对值做加权平均：",
        "{score}",
        "仔细看，这个式子里哪里体现了谁先谁后？没有。i、j 只是给词起的名字，并不参与计算。把句子打乱，每个输出只是跟着自己的词换了位置，数值丝毫不变：对任意置换 P 都有 {swap}，即[置换等变](permutation)。",
        "“那条狗追另一条狗”里，两个“狗”词向量相同，于是查询相同、注意力权重的行相同、输出也相同。谁追谁，第一层还没算完就已经丢了。",
        "位置编码要做的，就是把顺序补回来。接下来我们从最直接的办法试起，看每种办法败在哪里，一路走到今天大多数模型使用的旋转位置编码。",
      ],
    },
    demos: [
      {
        title: { en: "Two equal words, with and without position", zh: "两个相同的词：有位置与没有位置" },
        controls: [
          {
            kind: "text", id: "words", label: { en: "Sentence", zh: "句子" },
            value: { en: "the dog chased the other dog", zh: "那条狗追另一条狗" },
          },
          {
            kind: "choice", id: "spec", label: { en: "Encoding", zh: "位置编码" },
            options: [
              { value: "none", label: { en: "none", zh: "无" } },
              { value: "sinusoidal", label: { en: "sinusoidal", zh: "正弦" } },
              { value: "alibi:form=symmetric", label: { en: "ALiBi, both ways", zh: "ALiBi（双向）" } },
              { value: "rope", label: { en: "RoPE", zh: "RoPE" } },
            ],
          },
          {
            kind: "choice", id: "mask", label: { en: "Mask", zh: "掩码" },
            options: [
              { value: "", label: { en: "none", zh: "无" } },
              { value: "--causal", label: { en: "causal", zh: "因果" } },
            ],
          },
        ],
        outputs: [
          { kind: "picture", spec: "{spec}", view: "attention", options: ["--sentence", "{words}", "{mask}"], narrow: true },
          { kind: "claim", claim: "two-dogs" },
        ],
      },
      {
        title: { en: "What is known about it", zh: "与此有关的论断" },
        controls: [
          {
            kind: "choice", id: "claim", label: { en: "Claim", zh: "论断" },
            options: [
              { value: "order-blind", label: { en: "shuffled words", zh: "打乱词序" } },
              { value: "causal-mask", label: { en: "the mask alone", zh: "只有掩码" } },
              { value: "reversal-blind", label: { en: "read backwards", zh: "倒着读" } },
            ],
          },
        ],
        outputs: [{ kind: "claim", claim: "{claim}" }],
      },
    ],
    tries: {
      en: "Leave the encoding at none and compare the rows of the two dogs: they are equal. Choose RoPE: they are not. Then go back to none and switch on the causal mask: the rows differ again, because the second dog sees more words. A mask is a faint position encoding by itself.",
      zh: "先保持“无”，比较两个“狗”所在的两行：完全一样。换成 RoPE，就不一样了。再换回“无”并打开因果掩码：两行又不同了，因为后一个“狗”能看到更多的词。掩码本身就是一种微弱的位置编码。",
    },
  },
];

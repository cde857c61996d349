// SPDX-License-Identifier: MIT
//
// The tour, step 0: why there are position encodings at all.

import { tex } from "./tex";
import type { Step } from "./tour_step";

export const order: Step[] = [
  {
    id: "0",
    title: { en: "Attention ignores word order", zh: "注意力看不见顺序" },
    formulas: {
      score: tex`\mathrm{out}_i = \sum_j \frac{e^{q_i\cdot k_j/\sqrt d}}{\sum_{l} e^{q_i\cdot k_l/\sqrt d}}\, v_j`,
      swap: tex`A(PX) = P\,A(X)`,
    },
    text: {
      en: [
        "[Attention](attention) compares a word's query with every key, turns the scores into weights by a softmax, and averages the values with these weights:",
        "{score}",
        "Nothing in this formula says which word comes first: i and j only name the words and enter no computation. If you shuffle the sentence, each output moves with its word and keeps its value: {swap} for every [permutation](permutation) P.",
        "In “the dog chased the other dog” both dogs have the same embedding, so they have the same query, the same row of attention weights and the same output. After the first layer the model can no longer tell who chased whom.",
        "A position encoding adds the order. The rest of this tour starts with the simplest methods, shows where each one fails, and ends with the rotation that most of today's models use.",
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
        title: { en: "Two equal words, with and without a position encoding", zh: "两个相同的词：有位置与没有位置" },
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
              { value: "alibi:form=symmetric", label: { en: "ALiBi, symmetric", zh: "ALiBi（双向）" } },
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
        title: { en: "Claims about word order", zh: "与此有关的论断" },
        controls: [
          {
            kind: "choice", id: "claim", label: { en: "Claim", zh: "论断" },
            options: [
              { value: "order-blind", label: { en: "shuffled words", zh: "打乱词序" } },
              { value: "causal-mask", label: { en: "causal mask only", zh: "只有掩码" } },
              { value: "reversal-blind", label: { en: "reversed sentence", zh: "倒着读" } },
            ],
          },
        ],
        outputs: [{ kind: "claim", claim: "{claim}" }],
      },
    ],
    tries: {
      en: "Leave the encoding at none and compare the rows of the two dogs: they are equal. Choose RoPE: they are not. Then go back to none and switch on the causal mask: the rows differ again, because the second dog sees more words. The mask alone is a weak position encoding.",
      zh: "先保持“无”，比较两个“狗”所在的两行：完全一样。换成 RoPE，就不一样了。再换回“无”并打开因果掩码：两行又不同了，因为后一个“狗”能看到更多的词。掩码本身就是一种微弱的位置编码。",
    },
  },
];

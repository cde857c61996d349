// SPDX-License-Identifier: MIT
//
// The story: why there are position encodings at all.

import { tex } from "./tex";
import type { Scene } from "./story_scene";

export const order: Scene[] = [
  {
    id: "dogs",
    title: { en: "Attention cannot tell which dog chased which", zh: "注意力分不清谁追谁" },
    lead: {
      en: "The dog chased the other dog. Which one ran away? [Attention](attention) compares words with words and never asks where they stand: to it a sentence is a bag of words. Drag the words below.",
      zh: "狗追另一只狗，跑掉的是哪一只？[注意力](attention)只拿词和词比较，从不问它们站在哪里：在它眼里，一句话只是一袋词。拖动下面的词试试。",
    },
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
        "A position encoding adds the order. The rest of this story starts with the simplest methods, shows where each one fails, and ends with the rotation that most of today's models use.",
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
        title: { en: "Two dogs, with and without their places", zh: "两只狗：知道位置与不知道位置" },
        insight: { en: "Without position the two rows are equal, wherever you drag the words. With any encoding they part.", zh: "没有位置，两行永远相等，怎么拖都一样；加上任何一种编码，两行就不同了。" },
        controls: [
          {
            kind: "words", id: "words", label: { en: "Drag the words, or focus one and press the arrow keys", zh: "拖动词，或选中一个词按方向键" },
            value: { en: "the dog chased the other dog", zh: "狗 追 另一只 狗" },
          },
          {
            kind: "choice", id: "spec", label: { en: "Position encoding", zh: "位置编码" },
            options: [
              { value: "none", label: { en: "none", zh: "无" } },
              { value: "sinusoidal", label: { en: "sinusoidal", zh: "正弦" } },
              { value: "alibi:form=symmetric", label: { en: "ALiBi, symmetric", zh: "ALiBi（双向）" } },
              { value: "rope", label: { en: "RoPE", zh: "RoPE" } },
            ],
          },
        ],
        outputs: [
          { kind: "rows", spec: "{spec}", options: ["--sentence", "{words}"] },
          { kind: "claim", claim: "two-dogs" },
        ],
      },
    ],
  },
  {
    id: "order",
    title: { en: "Shuffle the words, and the answers are shuffled with them", zh: "打乱词序，答案只是跟着打乱" },
    lead: {
      en: "Shuffle the sentence and each word takes its answer along. Whatever is averaged over the words, or asked of them by one query, does not change at all. Only a causal mask, which lets a word see the words before it, breaks the symmetry a little.",
      zh: "把句子打乱，每个词都带着自己的答案走。对所有词取平均，或者由一个查询去问所有词，结果丝毫不变。只有因果掩码（每个词只看前面的词）能稍稍打破这种对称。",
    },
    formulas: { swap: tex`A(PX) = P\,A(X)` },
    text: {
      en: [
        "For every [permutation](permutation) P attention satisfies {swap}. A mean over the words is then the same for every order (pooling), and so is what one query of a decoder reads from the words of an encoder (cross-attention).",
        "A causal mask is a weak position encoding: the second dog sees more words than the first.",
      ],
      zh: [
        "对任意[置换](permutation) P，注意力满足 {swap}。于是对各词取平均（池化）与词序无关，解码器的一个查询从编码器各词读到的内容（交叉注意力）也与词序无关。",
        "因果掩码本身就是一种微弱的位置编码：后一只狗能看到更多的词。",
      ],
    },
    demos: [
      {
        title: { en: "A permutation, and what is pooled", zh: "置换与池化" },
        insight: { en: "Without an encoding the words in another order P get the same attention S, moved along with them: P S Pᵀ.", zh: "没有编码时，换成另一种次序 P 的词得到同样的注意力 S，只是跟着词挪了位置：P S Pᵀ。" },
        controls: [
          {
            kind: "choice", id: "view", label: { en: "Look at", zh: "看" },
            options: [
              { value: "permuted", label: { en: "shuffled words", zh: "打乱的词" } },
              { value: "pooled", label: { en: "pooled, read by one query", zh: "池化，由一个查询读取" } },
            ],
          },
          {
            kind: "choice", id: "spec", label: { en: "Position encoding", zh: "位置编码" },
            options: [{ value: "none", label: { en: "none", zh: "无" } }, { value: "rope", label: { en: "RoPE", zh: "RoPE" } }],
          },
        ],
        outputs: [{ kind: "picture", spec: "{spec}", view: "{view}", pairs: true, only: { permuted: [1, 3, 4] } }],
      },
      {
        title: { en: "Claims about word order", zh: "与此有关的论断" },
        insight: { en: "Each sentence is a claim of the literature, measured.", zh: "每一句都是文献中的论断，逐条实测。" },
        controls: [
          {
            kind: "choice", id: "claim", label: { en: "Claim", zh: "论断" },
            options: [
              { value: "order-blind", label: { en: "shuffled words", zh: "打乱词序" } },
              { value: "causal-mask", label: { en: "causal mask only", zh: "只有掩码" } },
              { value: "reversal-blind", label: { en: "reversed sentence", zh: "倒着读" } },
              { value: "pooled-blind", label: { en: "pooling", zh: "池化" } },
              { value: "cross-blind", label: { en: "cross-attention", zh: "交叉注意力" } },
              { value: "order-seen", label: { en: "with an encoding", zh: "加上编码" } },
            ],
          },
        ],
        outputs: [{ kind: "claim", claim: "{claim}" }],
      },
    ],
  },
];

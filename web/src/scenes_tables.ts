// SPDX-License-Identifier: MIT
//
// The story: adding or concatenating, what layers keep, and codes that are learned.

import { tex } from "./tex";
import type { Scene } from "./story_scene";

const adding: Scene = {
  id: "adding",
  title: { en: "Add it or put it beside?", zh: "相加还是拼接？" },
  lead: {
    en: "Adding a code to a word looks like mixing two colours. But a wide space has room: word and code hardly overlap, and a linear map reads both from their sum. Putting the code beside the word costs parameters, and small models that we trained did better with it.",
    zh: "把编码加到词上，听起来像把两种颜色混在一起。可是高维空间很宽敞：词与编码几乎正交，线性映射能从和里把两者都读出来。拼在旁边要更多参数，而我们训练的小模型这样更好。",
  },
  formulas: { same: tex`(x+p)\,W = [x,\,p]\begin{pmatrix}W\\ W\end{pmatrix}` },
  text: {
    en: ["Adding is a concatenation whose two halves share one projection, {same}. Whether that loses something depends on whether words and codes can be told apart, which a linear probe measures."],
    zh: ["相加就是两半共用一个投影的拼接，{same}。会不会丢东西，取决于词与编码能否分开，线性探针可以测出来。"],
  },
  demos: [
    {
      title: { en: "Measured", zh: "实测" },
      insight: { en: "In a wide space the sum keeps both; in a narrow one it does not.", zh: "空间够宽，和里两者都在；空间太窄就不行。" },
      controls: [
        {
          kind: "choice", id: "claim", label: { en: "Claim", zh: "论断" },
          options: [
            { value: "adding-loses-nothing", label: { en: "adding loses nothing", zh: "相加不丢信息" } },
            { value: "orthogonal", label: { en: "words and codes are nearly orthogonal", zh: "词与编码几乎正交" } },
            { value: "adding-is-concatenating", label: { en: "adding is concatenating", zh: "相加就是拼接" } },
            { value: "concatenating-costs", label: { en: "concatenating costs", zh: "拼接要付代价" } },
            { value: "first-dims", label: { en: "only the first dimensions", zh: "只有前几维有用" } },
          ],
        },
      ],
      outputs: [{ kind: "claim", claim: "{claim}" }],
    },
    {
      title: { en: "Which dimensions carry position", zh: "哪些维度在记录位置" },
      insight: { en: "Where the line is at 0 all places look alike: these dimensions are free for the word.", zh: "曲线为 0 的维度上，所有位置都一样：这些维度留给了词。" },
      controls: [{ kind: "slider", id: "n", label: { en: "Positions", zh: "位置数" }, value: 64, min: 8, max: 4096, log: true }],
      outputs: [{ kind: "picture", spec: "sinusoidal", view: "variance", options: ["-n", "{n}", "--model-dim", "128"] }],
    },
  ],
};

const residuals: Scene = {
  id: "residuals",
  title: { en: "Why add it once? Residuals carry it up", zh: "为什么只加一次？残差把它带上去" },
  lead: {
    en: "A code is added before the first layer only. Residual connections hand it on, layer by layer: a linear probe still finds the place at the top. Cut them, and the place is lost.",
    zh: "编码只在第一层之前加一次。残差连接把它一层层传上去：到了顶层，线性探针仍能读出位置。去掉残差，位置就丢了。",
  },
  formulas: {},
  text: {
    en: ["Each layer adds to its input, so what was added below is still there above. Without a mask nothing else tells the layers about order; with a causal mask a model without any encoding can partly count what it sees."],
    zh: ["每一层都是在输入上再加一点，所以下面加进去的东西上面还在。没有掩码时，别的东西都不携带顺序；有因果掩码时，没有编码的模型也能靠“看得见几个词”数出一点位置。"],
  },
  demos: [
    {
      title: { en: "Measured in random layers", zh: "在随机层上实测" },
      insight: { en: "With residuals the place can be read at every layer; without them it fades.", zh: "有残差，每层都读得出位置；没有残差，越往上越模糊。" },
      controls: [
        {
          kind: "choice", id: "claim", label: { en: "Claim", zh: "论断" },
          options: [
            { value: "residuals-carry-position", label: { en: "with residuals", zh: "有残差" } },
            { value: "no-residuals-no-position", label: { en: "without", zh: "没有残差" } },
            { value: "causal-mask-tells-position", label: { en: "only a causal mask", zh: "只有因果掩码" } },
          ],
        },
      ],
      outputs: [{ kind: "claim", claim: "{claim}" }],
    },
  ],
};

const learned: Scene = {
  id: "learned",
  title: { en: "Let the model learn the codes", zh: "让模型自己学" },
  lead: {
    en: "Why design codes at all? Give each place a row of a table and train it, as BERT and GPT-2 did. It works until the table ends: past its last row there is nothing. Writing a place as a coarse and a fine row stretches n rows to n² places.",
    zh: "何必费心设计？给每个位置一行可训练的向量，BERT 和 GPT-2 就是这么做的。它很好用，直到表到头：最后一行之后什么都没有。把位置拆成一粗一细两行，n 行就能管 n² 个位置。",
  },
  formulas: { split: tex`q_{in+j} = \alpha\,u_i + (1-\alpha)\,u_j,\quad u_i = \frac{p_i-\alpha\,p_0}{1-\alpha}` },
  text: {
    en: ["The hierarchical decomposition keeps the first n codes as they were trained, {split}, and gives every later place a pair of rows of its own."],
    zh: ["层次分解让前 n 个位置的编码保持训练时的样子，{split}，之后每个位置都对应一对不同的行。"],
  },
  demos: [
    {
      title: { en: "The table, before training", zh: "训练之前的表" },
      insight: { en: "Noise until a model is trained: nothing in it says that place 5 is beside place 6. And after the last row it ends.", zh: "训练之前只是噪声：没有任何东西表明第 5 位挨着第 6 位。到最后一行就没有了。" },
      controls: [
        {
          kind: "choice", id: "spec", label: { en: "Table", zh: "表" },
          options: [
            { value: "learned:rows=16", label: { en: "16 learned rows", zh: "16 行可学习" } },
            { value: "hierarchical:rows=16", label: { en: "16 rows, hierarchical", zh: "16 行，层次分解" } },
          ],
        },
      ],
      outputs: [
        { kind: "picture", spec: "{spec}", view: "table", options: ["--model-dim", "64"], narrow: true },
        { kind: "claim", claim: "tables-end" },
        { kind: "claim", claim: "hierarchical-goes-on" },
      ],
    },
  ],
};

export const tables: Scene[] = [adding, residuals, learned];

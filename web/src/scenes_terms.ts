// SPDX-License-Identifier: MIT
//
// The story: the four terms of a score, and the relative encodings as edits of them.

import { tex } from "./tex";
import type { Option, Scene } from "./story_scene";

const edits: Option[] = [
  {
    value: "shaw:left=6,right=6", label: { en: "Shaw 2018", zh: "Shaw 2018" },
    formula: "shaw",
    note: {
      en: "The query's position is dropped; the key's position becomes a trained vector of the [clipped](shaw) distance. The values get such a vector too.",
      zh: "去掉查询一侧的位置，键一侧的位置换成[截断](shaw)距离的可训练向量；值也照此处理。",
    },
  },
  {
    value: "transformer-xl:back=64,ahead=64", label: { en: "Transformer-XL 2019", zh: "Transformer-XL 2019" },
    formula: "xl",
    note: {
      en: "All four terms stay. The key's position becomes a sinusoidal code of the distance with its own projection; the query's position becomes two trained vectors u and v, the same for every position.",
      zh: "四项都保留。键的位置换成距离的正弦编码，并用单独的投影矩阵；查询的位置换成两个与位置无关的可训练向量 u、v。",
    },
  },
  {
    value: "xlnet:length=64", label: { en: "XLNet 2019", zh: "XLNet 2019" },
    formula: "xl",
    note: {
      en: "Transformer-XL's formula, with keys on both sides of the query and a memory of the previous text.",
      zh: "公式与 Transformer-XL 相同，但左右两侧的键都能看到，并带有前文的记忆段。",
    },
  },
  {
    value: "t5", label: { en: "T5 2019", zh: "T5 2019" },
    formula: "t5",
    note: {
      en: "Words and positions are kept apart, so the two middle terms are dropped; the last one becomes one trained number per head and per [bucket](bucket) of the distance.",
      zh: "词与位置各管各的，中间两项删去；最后一项化简成每个头、每个距离[桶](bucket)一个可训练标量。",
    },
  },
  {
    value: "deberta:buckets=8,max=32", label: { en: "DeBERTa 2020", zh: "DeBERTa 2020" },
    formula: "deberta",
    note: {
      en: "The opposite of T5: the two mixed terms stay, each with its own vectors of the distance, and the last term is dropped.",
      zh: "恰好与 T5 相反：保留中间两个交叉项，各配一张距离向量表；扔掉最后的位置–位置项。",
    },
  },
  {
    value: "alibi:form=symmetric", label: { en: "ALiBi 2021", zh: "ALiBi 2021" },
    formula: "alibi",
    note: {
      en: "T5's trained number becomes a fixed straight line, with a different [slope](slope) for each head. In our race it was as good at 16 times the trained length as at the trained length.",
      zh: "把 T5 的可训练标量换成一条固定的直线，每个头[斜率](slope)不同。在我们的竞赛里，它到 16 倍训练长度时依然和在训练长度上一样好。",
    },
  },
];

export const terms: Scene[] = [
  {
    id: "terms",
    title: { en: "Write the distance into the score", zh: "把距离写进分数" },
    lead: {
      en: "Multiply out the score of two words x with codes p: four terms, word with word, word with position, position with word, position with position. None of them states the distance directly, so people wrote it in: keep some terms, replace the others.",
      zh: "把两个词 x 加上编码 p 之后的分数展开，共有四项：词–词、词–位置、位置–词、位置–位置。没有一项直接含有距离。于是人们动手改写：留下几项，换掉几项。",
    },
    shown: "four",
    formulas: {
      four: tex`\begin{aligned} & (x_i+p_i)^{\top}W(x_j+p_j)\\ &= x_i^{\top}Wx_j + x_i^{\top}Wp_j\\ &\quad + p_i^{\top}Wx_j + p_i^{\top}Wp_j \end{aligned}`,
      w: tex`W = W_Q^{\top}W_K`,
      pi: tex`p_i`,
      pj: tex`p_j`,
      shaw: tex`q_i\cdot\bigl(k_j + a_{\mathrm{clip}(j-i)}\bigr)`,
      xl: tex`(q_i+u)\cdot k_j + (q_i+v)\cdot W_R\,r_{i-j}`,
      t5: tex`q_i\cdot k_j + b_{h,\,\mathrm{bucket}(i-j)}`,
      deberta: tex`q_i\cdot k_j + q_i\cdot K_{\delta(i-j)} + k_j\cdot Q_{\delta(i-j)}`,
      alibi: tex`q_i\cdot k_j - m_h\,|i-j|`,
    },
    text: {
      en: [
        "Add a code to each word's embedding and expand the attention score ({w}): these are the four terms above. They contain the codes {pi} and {pj} of the two positions separately; the distance does not appear.",
        "If the distance is what matters, one can write it into the formula. Each of the [relative](relative) encodings below is an edit of this sum: it keeps some terms and replaces {pi} and {pj}. Choose one and compare its formula with its picture.",
        "They work, but at a cost: a term that depends on both i and j must be computed for every pair inside the softmax. It cannot be put into the keys in advance, and attention that does not compute single scores (linear attention) cannot use it. Can an encoding act on each word alone, like a sinusoid, and still give scores that depend only on the distance?",
      ],
      zh: [
        "给每个词加上位置编码，再把注意力里的内积展开（{w}），就得到上面的四项。式子里只有各自独立的 {pi} 和 {pj}，没有一处出现距离。",
        "既然要的是距离，那就直接写进去。那几年的[相对位置编码](relative)，无一不是在这个和式上动刀：保留哪几项，再把 {pi}、{pj} 换成什么。在下面逐个选择，对照公式看图。",
        "它们都有效，但有代价：同时依赖 i、j 的项必须在 softmax 里逐对计算，没法预先放进键里；不显式计算分数的注意力（例如线性注意力）根本用不了。能不能让编码像正弦那样只作用在单个词上，而距离在做内积时自己冒出来？",
      ],
    },
    demos: [
      {
        title: { en: "The four terms in a trained model", zh: "训练好的模型里的四项" },
        insight: { en: "The first map sees letters only: equal letters look alike. The last sees positions only: it is smooth, and near keys score more.", zh: "第一张图只看字母：相同的字母，看上去也一样。最后一张图只看位置：平滑，近处的键分数更高。" },
        controls: [{ kind: "kept", id: "words", value: "the dog, the dog" }, { kind: "kept", id: "model", value: "sinusoidal" }, { kind: "kept", id: "head", value: "2" }],
        outputs: [{ kind: "models", what: "terms" }],
      },
      {
        title: { en: "The bias that is added to the score", zh: "分数上加了什么" },
        insight: { en: "Every diagonal has one colour: for equal words, the term depends on the distance alone.", zh: "每条对角线一种颜色：词相同时，这一项只依赖距离。" },
        controls: [
          { kind: "choice", id: "spec", label: { en: "Edit", zh: "改法" }, options: edits },
          { kind: "slider", id: "head", label: { en: "Head", zh: "头" }, value: 0, min: 0, max: 7 },
        ],
        outputs: [
          { kind: "picture", spec: "{spec}", view: "bias", options: ["-n", "24", "--head", "{head}"], narrow: true },
        ],
      },
      {
        title: { en: "What T5 has learned, beside ALiBi's lines", zh: "T5 学到了什么，与 ALiBi 的直线对照" },
        insight: { en: "Nobody told T5 to look less at far keys: it learned it, and that the one or two letters just before matter most.", zh: "没有人告诉 T5 要少看远处的键：这是它自己学会的；它还学会了，紧挨着的前一两个字母最要紧。" },
        controls: [{ kind: "kept", id: "layer", value: "0" }],
        outputs: [{ kind: "models", what: "bias" }],
      },
      {
        title: { en: "What one word is told about the positions of the others", zh: "从一个词看其他词的位置" },
        insight: { en: "Choose another word: the pattern moves along with it.", zh: "换一个词看，图案跟着平移。" },
        controls: [
          { kind: "choice", id: "spec", label: { en: "Edit", zh: "改法" }, options: edits.map(({ value, label }) => ({ value, label })) },
          {
            kind: "text", id: "words", label: { en: "Sentence", zh: "句子" },
            value: { en: "the dog chased the other dog until it ran away", zh: "那条狗追着另一条狗跑" },
          },
          { kind: "slider", id: "at", label: { en: "Position of the query word (from 0)", zh: "从第几个词看（从 0 数起）" }, value: 3, min: 0, max: 9 },
        ],
        outputs: [{ kind: "picture", spec: "{spec}", view: "around", options: ["--sentence", "{words}", "--at", "{at}"] }],
        folded: true,
      },
      {
        title: { en: "Check each edit", zh: "每种改法真如所说吗？" },
        insight: { en: "Each paper's own sentence about its terms, measured.", zh: "每篇论文对自己那几项的说法，逐条实测。" },
        controls: [
          {
            kind: "choice", id: "claim", label: { en: "Claim", zh: "论断" },
            options: [
              { value: "four-terms", label: { en: "the four terms", zh: "四项展开" } },
              { value: "shaw-edit", label: { en: "Shaw", zh: "Shaw" } },
              { value: "transformer-xl-edit", label: { en: "Transformer-XL", zh: "Transformer-XL" } },
              { value: "xlnet-edit", label: { en: "XLNet", zh: "XLNet" } },
              { value: "t5-edit", label: { en: "T5", zh: "T5" } },
              { value: "deberta-edit", label: { en: "DeBERTa", zh: "DeBERTa" } },
              { value: "alibi-linear", label: { en: "ALiBi", zh: "ALiBi" } },
            ],
          },
        ],
        outputs: [{ kind: "claim", claim: "{claim}" }],
      },
    ],
    tries: {
      en: "In the second figure every diagonal has one colour, whichever edit you choose: the picture takes the same word everywhere, and then the term depends on i − j alone. (In Shaw, Transformer-XL and DeBERTa it depends on the words too.) With Shaw the colours are constant beyond 6 positions from the diagonal, because the distance is clipped; with T5 they change less often at larger distances, because of the buckets; with ALiBi later heads have smaller slopes. In the folded figure below, choose another word: the pattern moves with it.",
      zh: "第二张图里，无论选哪种改法，每条对角线都是同一种颜色：图中处处是同一个词，这时这一项只依赖 i − j（Shaw、Transformer-XL、DeBERTa 的这一项还依赖词）。选 Shaw，离对角线 6 格之外颜色不再变，这就是截断；选 T5，颜色越远变得越慢，这就是分桶；选 ALiBi，越靠后的头衰减越缓。在下面折叠的图里换一个词来看：图案跟着平移。",
    },
  },
];

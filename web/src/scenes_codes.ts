// SPDX-License-Identifier: MIT
//
// The story: integers, their fractions, their bits.

import { tex } from "./tex";
import type { Scene, SliderControl } from "./story_scene";

const length: SliderControl = {
  kind: "slider", id: "n", label: { en: "Positions", zh: "位置数" }, value: 64, min: 8, max: 512, log: true,
};

const integer: Scene = {
  id: "integer",
  title: { en: "Count the words", zh: "直接用整数编号" },
  lead: {
    en: "Number the words and add the number to each word. Every place has its own number, and nobody needs to know the length. Press play.",
    zh: "给每个词编号，把号码加到词向量上。每个位置都不同，也不必知道全文多长。按播放看看。",
  },
  formulas: { code: tex`p_t = t`, sum: tex`x_t + p_t\,\mathbf 1` },
  text: {
    en: [
      "The simplest code is the position itself: {code}, added to every element of the word's embedding.",
      "No two positions have the same code, the code does not depend on the sequence length, and every position has one. These are three of four properties that we want. The fourth is that the code is *bounded*, and it is not: the elements of an embedding are about 1 in size, and at position 500 the code is 500. The input of the network, {sum}, is then almost only the position, and the word is noise on it.",
      "Normalisation does not help. RMSNorm divides by the size of the sum, which is the size of the code. LayerNorm subtracts the mean, and because every element has the same number added, this removes the position. And a model that was trained up to position 512 later gets larger numbers than it has ever seen.",
    ],
    zh: [
      "最朴素的想法：给每个词标上它的序号。{code}，加到词向量的每个分量上。",
      "每个位置的编码都不同，编码不随文本长度改变，而且可以一直数下去。四个愿望实现了三个。剩下的一个是*有界*，它在这里败得很惨：词向量的分量大约是 1 的量级，而到了位置 500，编码就是 500。送进网络的 {sum}，其实是“位置”加上一点名叫“词”的噪声。",
      "归一化也救不了：RMSNorm 除掉的是和的大小，也就是编码的大小；LayerNorm 要减去均值，而每个分量加的是同一个数，于是位置信息被一并减得干干净净。何况训练只到 512 的模型，之后遇到的数比它见过的任何数都大。",
    ],
  },
  demos: [
    {
      title: { en: "A word and its number", zh: "词与它的号码" },
      insight: { en: "The word does not shrink. The number grows, and soon the word is noise.", zh: "词并没有变小，是号码在长大；很快，词就成了噪声。" },
      controls: [{ kind: "slider", id: "t", label: { en: "Position", zh: "位置" }, value: 3, min: 0, max: 512, play: 60, begins: true }],
      outputs: [
        { kind: "clock", look: "bar", command: ["table", "integer", "-n", "513", "--model-dim", "1"], at: "{t}" },
        { kind: "claim", claim: "integer-drowns" },
      ],
    },
    {
      title: { en: "Attention with integer codes", zh: "词还剩下什么" },
      insight: { en: "With the codes added, each word looks mostly at an end of the sentence, whichever word is there; in “the dog chased the other dog”, at the first.", zh: "每个词都盯着句子的某一头，不管那里是什么词。" },
      controls: [
        {
          kind: "text", id: "words", label: { en: "Sentence", zh: "句子" },
          value: { en: "the dog chased the other dog", zh: "那条狗追另一条狗" },
        },
      ],
      outputs: [{ kind: "picture", spec: "integer", view: "attention", options: ["--sentence", "{words}"], pairs: true }],
    },
  ],
  tries: {
    en: "Move the position to 512: the elements of an embedding stay near 1. The evidence of the claim below the bars has the ratio of the word's power to the code's in decibels: at length 512 the code has about 100,000 times the power (−49 dB). Then compare the two attention maps of the sentence: with integer codes each word attends to one or the other end of the sentence, whichever word is there.",
    zh: "把位置拖到 512：词向量的分量一直只有 1 左右。柱子下面那条论断的数据以分贝给出词与编码的功率之比：长度 512 时，编码的功率约为词的十万倍（−49 dB）。再比较同一句话的两张注意力图：加上整数编码之后，每个词都盯着句子的某一头，不管那里是什么词。",
  },
};

const normalised: Scene = {
  id: "fraction",
  title: { en: "Divide by the length", zh: "除以长度" },
  lead: {
    en: "Then divide by the length, so that no number is above 1. Now the same place has another number in every text, and a model that writes does not know the length.",
    zh: "那就除以总长度，谁也不超过 1。可这样一来，同一个位置在每篇文本里号码都不同；而且边写边生成的模型并不知道总长。",
  },
  formulas: { code: tex`p_t = t/N`, step: tex`p_{t+1} - p_t = 1/N` },
  text: {
    en: [
      "To bound the code, divide it by the number of words: {code} is always between 0 and 1.",
      "Now the code is bounded, but the step from one word to the next is {step}: a tenth in a sentence of ten words, a thousandth in a page. “The previous word”, which grammar needs most, is a different step at each length, and the model would have to learn it once per length.",
      "Worse, N has to be known. A model that generates text does not know how long the text will be. With each new word the codes of all earlier words change, and everything computed from them, including the [KV cache](cache), becomes invalid. So the code of a position must not depend on the sequence length.",
    ],
    zh: [
      "嫌太大？那就除以总长度：{code} 永远在 0 和 1 之间。",
      "有界是有界了，可是“往后一个词”变成了 {step}：十个词的句子里是十分之一，一整页里是千分之一。语法最需要的“前一个词”，在每段文本里竟是不同的步长，模型得为每种长度各学一遍。",
      "更糟的是必须事先知道 N。生成时并不知道文本最终有多长；每多写一个词，前面所有词的编码都变了，由它们算出的一切（包括 [KV 缓存](cache)）统统作废。于是愿望再加一条：一个位置的编码不能依赖序列长度。",
    ],
  },
  demos: [
    {
      title: { en: "The same position in a short and in a long text", zh: "同一个位置，短文本与长文本" },
      insight: { en: "The lower text grows word by word: the same word slides to the left, and one step is of another size at every length.", zh: "下面的文本一个词一个词地变长：同一个词不断左移，“一步”的大小每时每刻都不同。" },
      controls: [
        { kind: "slider", id: "len", label: { en: "Length N of the lower text", zh: "下面那段文本的长度 N" }, value: 12, min: 6, max: 64, play: 180, begins: true },
        { kind: "slider", id: "t", label: { en: "Position", zh: "位置" }, value: 2, min: 0, max: 4 },
      ],
      outputs: [
        { kind: "rulers", lengths: ["6", "{len}"], at: "{t}" },
        { kind: "claim", claim: "fractions-depend" },
      ],
    },
  ],
  tries: {
    en: "Choose position 4 and set N to 8, then to 64: the code 0.500 becomes 0.063. The position is the same, and its code is not.",
    zh: "选位置 4，把 N 设成 8，再设成 64：编码从 0.500 变成 0.063。同一个词、同一个位置，编码却变了。",
  },
};

const binary: Scene = {
  id: "bits",
  title: { en: "Write the number in bits", zh: "写成二进制" },
  lead: {
    en: "Write the number in bits: each bit is 0 or 1, and twice as slow as the bit before it. Press play and watch how many lamps switch at once.",
    zh: "把号码写成二进制：每一位非 0 即 1，一位比一位慢一倍。按播放，看每一步有几盏灯同时切换。",
  },
  formulas: {
    code: tex`p_t[c] = \lfloor t/2^c \rfloor \bmod 2`,
    period: tex`2^{c+1}`,
    example: tex`252 = 11111100_2`,
  },
  text: {
    en: [
      "A large number has small digits: {example}. Give each bit its own element, {code}. The code is then bounded by 1 and independent of the sequence length, and d elements distinguish 2^d positions.",
      "Look at how one bit changes with the position. The lowest bit flips at every step, the next one at every second step, and bit c has period {period}: each bit has half the frequency of the one before. The next steps keep this structure.",
      "The weakness is that bits *jump*. From 7 to 8 four bits flip at once, from 8 to 9 only one; 0 and 128 differ in one bit, while the neighbours 127 and 128 differ in all eight. The distance between codes says nothing about the distance between positions. And a bit has no values between 0 and 1, so there is no gradient to learn from.",
    ],
    zh: [
      "再大的数，写成一位一位也都很小：{example}。每个比特占一个分量，{code}，编码不超过 1，与长度无关，d 个分量就能表示 2^d 个位置。",
      "盯住某一位看它随位置怎么变：最低位每步翻转一次，次低位每两步翻转一次，第 c 位的周期是 {period}。这是一组时钟，一个比一个慢一半。这个结构很好，后面要保留。",
      "不好的是它会*跳变*：从 7 到 8 一下子翻四位，从 8 到 9 只翻一位；0 和 128 只差一位，相邻的 127 和 128 反而八位全不同。编码之间的距离与位置之间的距离毫无关系；而且 0 与 1 之间什么都没有，没有梯度可学。",
    ],
  },
  demos: [
    {
      title: { en: "Eight lamps", zh: "八盏灯" },
      insight: { en: "From 127 to 128 all eight switch at once: near places can have codes that are far apart.", zh: "从 127 到 128，八盏灯同时切换：相邻的位置，编码可以相差很远。" },
      controls: [{ kind: "slider", id: "t", label: { en: "Position", zh: "位置" }, value: 120, min: 0, max: 255, play: 350, begins: true }],
      outputs: [{ kind: "clock", look: "lamps", command: ["table", "binary", "-n", "256", "--model-dim", "8"], at: "{t}" }],
    },
    {
      title: { en: "Bits as square waves", zh: "把比特看成时钟" },
      insight: { en: "Each column is a wave with twice the period of the one before. Two bits jump between four corners.", zh: "每一列都是方波，周期是前一列的两倍；两个比特在四个角之间跳来跳去。" },
      controls: [length],
      outputs: [
        { kind: "picture", spec: "binary", view: "table", options: ["-n", "{n}", "--model-dim", "8"], narrow: true },
        { kind: "picture", spec: "binary", view: "path", options: ["-n", "{n}", "--model-dim", "8"], narrow: true },
        { kind: "claim", claim: "bit-periods" },
        { kind: "claim", claim: "binary-jumps" },
      ],
    },
  ],
  tries: {
    en: "Set the position to 128 and look at the step from 127: every bit changes. At 252 the lamps read 11111100.",
    zh: "把位置设成 128，看从 127 走来的这一步：八位全变。设成 252，灯正好是 11111100。",
  },
};

export const codes: Scene[] = [integer, normalised, binary];

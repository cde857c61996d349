// SPDX-License-Identifier: MIT
//
// The story: rotation, more dimensions, longer texts.

import { tex } from "./tex";
import type { Scene } from "./story_scene";

const rotary: Scene = {
  id: "rotary",
  title: { en: "Turn the arrows: RoPE", zh: "旋转箭头：RoPE" },
  lead: {
    en: "Can an encoding act on each word alone and still give scores of the distance? Turn the query by its place and the key by its own: what is left between them is the difference. Drag the arrows.",
    zh: "能不能让编码只作用在单个词上，分数却只看距离？把查询按自己的位置转，把键按自己的位置转：两者之间剩下的，正是位置差。拨动箭头看看。",
  },
  formulas: {
    want: tex`\langle f(q,m),\,f(k,n)\rangle = g(q,k,m-n)`,
    start: tex`f(q,0)=q`,
    polar: tex`f(q,m) = R(q,m)\,e^{\mathrm i\,\Theta(q,m)}`,
    both: tex`f(q,m)\,f(k,n)^{*}`,
    sizes: tex`R(q,m)\,R(k,m) = |q|\,|k|`,
    phases: tex`\Theta(q,m)-\Theta(q,0) = \Theta(k,m)-\Theta(k,0) = \varphi(m)`,
    steps: tex`\varphi(m)-\varphi(m-1) = \theta`,
    answer: tex`f(q,m) = q\,e^{\mathrm i m\theta}`,
    matrix: tex`\begin{pmatrix}\cos m\theta & -\sin m\theta\\ \sin m\theta & \cos m\theta\end{pmatrix}\begin{pmatrix}q_0\\ q_1\end{pmatrix}`,
    product: tex`\mathrm{Re}\bigl[q\,e^{\mathrm i m\theta}\,(k\,e^{\mathrm i n\theta})^{*}\bigr] = \mathrm{Re}\bigl[q\,k^{*}e^{\mathrm i(m-n)\theta}\bigr]`,
    pairs: tex`\theta_i = 10000^{-2i/d},\quad i = 0,\dots,d/2-1`,
    score: tex`\mathrm{score} = \mathrm{Re}\sum_{i} q_i k_i^{*}\, e^{\mathrm i (m-n)\theta_i}`,
    bound: tex`\Bigl|\sum_i h_i e^{\mathrm i s\theta_i}\Bigr| \le \max_i|h_{i+1}-h_i|\,\sum_{j}|S_j|`,
    h: tex`h_i = q_i k_i^{*}`,
    zero: tex`m=n`,
    one: tex`n=m-1`,
  },
  text: {
    en: [
      "Write what we want as an equation and solve it. f may use only a vector and its own position; the dot product of two results may depend on the positions only through their difference:",
      "{want}",
      "with {start}. In two dimensions a vector is a complex number, {polar}. Require the equation of the complex product {both}, whose real part is the dot product. First set {zero}: for every m the product equals that at position 0, so {sizes}. The simplest solution keeps the lengths. For the phases the same step gives",
      "{phases}",
      "with one function φ of the position for all vectors. Now set {one}: the right side depends on q and k but not on m, and the left side is φ(m) − φ(m−1) plus constants. So {steps} for every m. This is an arithmetic progression, φ(m) = mθ, and",
      "{answer}",
      "which is a rotation, {matrix}. One line confirms it: {product}. Each vector is rotated by its absolute position, the score depends on the relative position, there are no trained parameters, and the softmax has no extra term.",
      "For d dimensions take d/2 [pairs](pairs), each with its own angle per position, {pairs}. The dot product is the sum over the pairs, so it keeps the property: {score}. As the distance s grows, the terms get out of phase. Summation by parts ({h}, S the partial sums of the exponentials) bounds the score, and the bound falls with s on average: the [distance decay](decay).",
      "{bound}",
    ],
    zh: [
      "把想要的写成方程，然后解它。f 只能看向量自己和它自己的位置；两个结果的内积只能通过位置差依赖位置：",
      "{want}",
      "并设 {start}。先看二维，向量就是复数，写成极坐标 {polar}；并对复数乘积 {both} 提这个要求，它的实部就是内积。取 {zero}：对任何 m，乘积都等于在位置 0 处的值，于是 {sizes}，最简单的解是模长不变。对相位做同样的事，得到",
      "{phases}",
      "也就是说，相位的增量 φ 只与位置有关，与向量无关。再取 {one}：右边只含 q、k 而不含 m，左边除常数外是 φ(m) − φ(m−1)。所以对一切 m 有 {steps}，等差数列，φ(m) = mθ，即",
      "{answer}",
      "这正是旋转：{matrix}。验证只需一行：{product}。绝对位置的做法，相对位置的效果，没有可训练参数，softmax 里也不多一项。",
      "推广到 d 维：分成 d/2 [对](pairs)，每对每步转自己的角度，{pairs}；内积可加，性质保持：{score}。距离 s 增大时各项步调错开，用分部求和（{h}，S 为指数的部分和）可得分数的上界，它平均而言随 s 下降，这就是[远程衰减](decay)。",
      "{bound}",
    ],
  },
  demos: [
    {
      title: { en: "A query and a key, turned by their places", zh: "查询与键，各按自己的位置旋转" },
      insight: { en: "Move both by the same number of words: both arrows turn, and the angle between them stays.", zh: "两者一起移动同样多个词：两支箭头都在转，它们之间的夹角不变。" },
      controls: [
        { kind: "slider", id: "m", label: { en: "Query at", zh: "查询位置" }, value: 9, min: 0, max: 128, play: 120 },
        { kind: "slider", id: "o", label: { en: "Key at", zh: "键位置" }, value: 5, min: 0, max: 128, play: 120 },
        { kind: "slider", id: "s", label: { en: "Both moved by", zh: "两者一起移动" }, value: 0, min: 0, max: 128, play: 120, begins: true },
      ],
      outputs: [
        { kind: "clock", look: "arrows", command: ["table", "rope:theta=100", "-n", "257", "--head-dim", "8"], at: "{m}", other: "{o}", both: "{s}" },
        { kind: "claim", claim: "rope-relative" },
        { kind: "claim", claim: "rope-turns-once" },
        { kind: "claim", claim: "rope-keeps-norms" },
      ],
    },
    {
      title: { en: "Dials: each pair has its own frequency", zh: "表盘：每对各有各的转速" },
      insight: { en: "Fast pairs go round many times, slow ones hardly move.", zh: "快的对转了许多圈，慢的几乎不动。" },
      controls: [
        { kind: "slider", id: "n", label: { en: "Positions", zh: "位置数" }, value: 16, min: 2, max: 256, log: true },
        { kind: "slider", id: "start", label: { en: "First position", zh: "起始位置" }, value: 0, min: 0, max: 4096 },
        { kind: "slider", id: "theta", label: { en: "theta", zh: "theta" }, value: 10000, min: 10, max: 1000000, log: true },
      ],
      outputs: [{ kind: "picture", spec: "rope:theta={theta}", view: "turns", options: ["-n", "{n}", "--start", "{start}", "--head-dim", "32", "--pairs", "0,2,4,8"] }],
    },
    {
      title: { en: "The score of one query and one key, step by step", zh: "一步一步算给你看" },
      insight: { en: "Every angle depends on the places; the score only on their difference.", zh: "每个角度都依赖位置，分数却只依赖位置差。" },
      controls: [
        { kind: "slider", id: "m", label: { en: "Query at m", zh: "查询位置 m" }, value: 5, min: 0, max: 100 },
        { kind: "slider", id: "o", label: { en: "Key at n", zh: "键位置 n" }, value: 3, min: 0, max: 100 },
      ],
      outputs: [
        { kind: "walk", spec: "rope", options: ["--pos", "{m}", "--key", "{o}", "--dim", "4"] },
      ],
      folded: true,
    },
    {
      title: { en: "The distance decay and its limits", zh: "远程衰减，以及它没说的事" },
      insight: { en: "The bound falls on average. A score need not: decay is a tendency, not a law.", zh: "上界平均而言在下降，分数却未必：衰减是倾向，不是定律。" },
      controls: [
        { kind: "slider", id: "n", label: { en: "Largest distance", zh: "最远距离" }, value: 256, min: 16, max: 4096, log: true },
        { kind: "slider", id: "d", label: { en: "Head width", zh: "头宽度" }, value: 64, min: 4, max: 256, step: 2 },
      ],
      outputs: [
        { kind: "picture", spec: "rope", view: "decay", options: ["-n", "{n}", "--head-dim", "{d}"] },
        { kind: "claim", claim: "rope-bound-decays" },
        { kind: "claim", claim: "rope-scores-decay" },
      ],
    },
  ],
  tries: {
    en: "In the step-by-step score, set m = 5, n = 3, then m = 25, n = 23: every angle changes, and the score stays the same. Then read the last claim: for any distance there are a q and a k whose score is highest at that distance, so the decay is a tendency and not a law.",
    zh: "在分步计算里先取 m = 5、n = 3，再取 m = 25、n = 23：每个角度都变了，分数不变。再看最后一条论断：对任意距离，都能找到让分数恰好在那里最高的 q 和 k。所以衰减只是倾向，不是定律。",
  },
};

const axes: Scene = {
  id: "axes",
  title: { en: "More dimensions", zh: "推广到多维" },
  lead: {
    en: "A patch of a picture has two coordinates. Give half of the pairs to each: a step to the right turns some dials, a step down turns the others.",
    zh: "图像块有两个坐标，那就各给一半旋转对：往右一步转动一些表盘，往下一步转动另一些。",
  },
  formulas: {
    block: tex`\begin{pmatrix}R_{x\theta} & 0\\ 0 & R_{y\theta}\end{pmatrix}`,
    wrong: tex`R_{(x+y)\theta}`,
    any: tex`R_{x\alpha+y\beta}`,
  },
  text: {
    en: [
      "A patch of an image has a position (x, y). The requirement is the same: scores depend only on the two differences. The solution has the same form: a rotation matrix R(x, y) with R(x, y) R(x′, y′) = R(x + x′, y + y′).",
      "The simplest solution takes four elements, two for x and two for y: {block}. In d dimensions half of the pairs are rotated by x and half by y. A move along x rotates only the pairs of x: the axes are independent.",
      "Why not save elements and rotate *one* pair by both, {wrong}? Then (1, 0) and (0, 1) have the same angle. Other weights, {any}, only hide the problem: a pair has one angle and the plane has two coordinates, so positions along each line where xα + yβ is constant have the same angle, or angles as close as you like. Two coordinates need at least two pairs.",
      "Video adds time: [sections](mrope) divide the pairs among t, h and w. A text token has three equal coordinates, and for it the encoding is ordinary RoPE.",
    ],
    zh: [
      "图像块的位置是 (x, y)。愿望不变，分数只依赖两个坐标差；答案的形式也不变：一个旋转矩阵 R(x, y)，满足 R(x, y) R(x′, y′) = R(x + x′, y + y′)。",
      "最简单的解用四个分量，两个归 x，两个归 y：{block}。在 d 维里就是一半的对跟着 x 转，另一半跟着 y 转。沿 x 方向移动，只有 x 的那些对在动，两个轴互不相干。",
      "能不能省一点，让*同一对*既受 x 又受 y 驱动，{wrong}？那样 (1, 0) 和 (0, 1) 就成了同一个位置。换成不同权重 {any} 也只是把问题藏起来：一对只有一个角度，平面却有两个坐标，沿着 xα + yβ 为常数的每条直线，各处的角度都相同，或者要多接近有多接近。两个坐标至少要两对。",
      "视频再加上时间：[分段](mrope)把所有的对分给 t、h、w。文本词元的三个坐标相等，对它来说就是普通的 RoPE。",
    ],
  },
  demos: [
    {
      title: { en: "Which pairs an axis rotates", zh: "哪些对归哪个轴" },
      insight: { en: "Each axis turns its own dials and leaves the others still.", zh: "每个轴只转自己的表盘，其余不动。" },
      controls: [
        {
          kind: "choice", id: "spec", label: { en: "Split", zh: "分配方式" },
          options: [
            { value: "rope:axes=2,split=axial", label: { en: "axial: one set of frequencies per axis (ViT)", zh: "axial：每轴一套频率（ViT）" } },
            { value: "rope:axes=2,split=oddeven", label: { en: "oddeven: one set of frequencies, divided by odd and even (Pixtral)", zh: "oddeven：共用一套频率，奇偶分配（Pixtral）" } },
            { value: "rope:sections=8/12/12", label: { en: "sections: t, h, w (Qwen2-VL)", zh: "sections：t、h、w（Qwen2-VL）" } },
          ],
        },
        {
          kind: "choice", id: "axis", label: { en: "Move along", zh: "沿哪个轴移动" },
          options: [
            { value: "0", label: { en: "the first axis", zh: "第一个轴" } },
            { value: "1", label: { en: "the second axis", zh: "第二个轴" } },
          ],
        },
        { kind: "slider", id: "n", label: { en: "Positions", zh: "位置数" }, value: 12, min: 2, max: 64 },
      ],
      outputs: [
        { kind: "picture", spec: "{spec}", view: "turns", options: ["-n", "{n}", "--axis", "{axis}", "--pairs", "0,1,16,17"] },
        { kind: "claim", claim: "rope-axes" },
        { kind: "claim", claim: "rope-one-pair-for-all-axes" },
      ],
    },
  ],
  tries: {
    en: "Switch the axis: the dials that rotated stop, and others rotate. Then read both claims: with one pair per axis the axes are independent; with one pair for both axes all positions on a diagonal have the same angle.",
    zh: "切换移动的轴：刚才在转的表盘停下，另一些开始转。再看两条论断：每轴各用一对时，两轴互不干扰；两轴合用一对时，整条对角线都分不开。",
  },
};

const longer: Scene = {
  id: "longer",
  title: { en: "Longer than the trained length", zh: "比训练更长" },
  lead: {
    en: "Any place can be turned to, so RoPE runs at any length, but the slowest hands reach angles that no training text showed. Scaling them is a choice of which hands to slow down.",
    zh: "任何位置都能旋转，所以 RoPE 在任意长度下都能跑；但最慢的指针会转到训练时从未见过的角度。各种缩放，说到底是选择让哪些指针慢下来。",
  },
  formulas: {
    turns: tex`r_i = L\,\theta_i/2\pi`,
    linear: tex`\theta_i \to \theta_i/s`,
    ntk: tex`\theta \to \theta\cdot s^{d/(d-2)}`,
    yarn: tex`\theta_i \to (1-\gamma_i)\,\theta_i/s + \gamma_i\,\theta_i`,
    gain: tex`0.1\ln s + 1`,
  },
  text: {
    en: [
      "Every position has a rotation, so RoPE can be computed at any length, but the model's results get worse. In training at length L, pair i completed {turns} turns. Fast pairs completed many turns, so the model saw all of their angles. The slowest pairs did not complete one turn, and past L they have angles that did not occur in training.",
      "*Linear*: {linear} for all pairs. No angle is new, but neighbours that were one radian apart are now 1/s radian apart, which the model did not see in training either. *NTK-aware* changes the base instead, {ntk}. The fastest pair stays the same, and the slowest becomes slower by exactly s: [high frequencies extrapolate, low ones interpolate](ntk). *YaRN* decides for each pair by its number of turns: {yarn}, with γ = 1 above 32 turns and γ = 0 below 1. It also multiplies cos and sin by the [attention factor](mscale) {gain}, which sharpens the softmax.",
      "We measured how well they work: byte models, trained on novels at length 256, tested on another novel at up to 16 times that length, without training after the change. Without fine-tuning, linear is worse than no scaling; NTK and YaRN extend the usable length by a factor of two to four; ALiBi, whose bias falls with the distance, needs none of these.",
    ],
    zh: [
      "每个位置都能旋转，所以 RoPE 在任意长度下都*能跑*，但能跑不等于好用。训练长度为 L 时，第 i 对总共转了 {turns} 圈。快的对转了很多圈，各种角度模型都见过；最慢的对连一圈都没转满，超过 L 之后，它们指向的是训练中从未出现过的方向。",
      "*线性内插*：所有的对 {linear}。角度都在见过的范围里，可原来相差 1 弧度的相邻词现在只差 1/s，模型同样没见过。*NTK-aware*：改底数，{ntk}。最快的一对不变，最慢的一对恰好慢 s 倍：[高频外推，低频内插](ntk)。*YaRN* 按圈数逐对决定：{yarn}，转过 32 圈以上 γ = 1，不足 1 圈 γ = 0；再给 cos、sin 乘上[注意力系数](mscale) {gain}，让 softmax 更尖锐。",
      "效果如何？我们让它们比了一场：字节级模型，在小说上以长度 256 训练，用另一本小说在至多 16 倍长度上测试，改动之后不再训练。线性内插若不微调，比什么都不做还糟；NTK 与 YaRN 能多撑两到四倍；随距离衰减的偏置则根本用不着这些。",
    ],
  },
  demos: [
    {
      title: { en: "Wavelengths and the trained length", zh: "波长与训练长度" },
      insight: { en: "Linear slows every hand alike; NTK all but the fastest, and slow ones more; YaRN those that did not come round.", zh: "线性让所有指针同样变慢；NTK 只有最快的不变，越慢的放慢越多；YaRN 放慢没转满一圈的。" },
      controls: [
        {
          kind: "choice", id: "spec", label: { en: "Scaling", zh: "缩放方式" },
          options: [
            { value: "rope:scaling=linear,factor={s}", label: { en: "linear", zh: "线性" } },
            { value: "rope:scaling=ntk,alpha={s}", label: { en: "NTK-aware", zh: "NTK-aware" } },
            { value: "rope:scaling=yarn,factor={s},trained={trained}", label: { en: "YaRN", zh: "YaRN" } },
            { value: "rope:scaling=llama3,factor={s},trained={trained}", label: { en: "Llama 3.1", zh: "Llama 3.1" } },
          ],
        },
        { kind: "slider", id: "s", label: { en: "Factor s", zh: "倍数 s" }, value: 4, min: 1, max: 64, log: true },
        { kind: "slider", id: "trained", label: { en: "Trained length L", zh: "训练长度 L" }, value: 2048, min: 256, max: 32768, log: true },
      ],
      outputs: [
        { kind: "picture", spec: "{spec}", view: "wavelengths", options: ["-n", "{trained}", "--head-dim", "64"] },
        { kind: "claim", claim: "rope-bands" },
        { kind: "claim", claim: "sinusoids-extrapolate" },
      ],
    },
  ],
  tries: {
    en: "Set s = 8, choose each scaling, and compare its wavelengths with those before the scaling and with the mark at L. Linear makes all wavelengths longer. NTK leaves the shortest unchanged and lengthens the others, the longest by exactly s. YaRN leaves the fast pairs unchanged and makes longer those that did not complete a turn.",
    zh: "取 s = 8，依次切换缩放方式，与缩放前的那条线对照，看波长曲线与 L 标线的关系：线性把整条线抬高；NTK 以左端为支点把它撬起来；YaRN 则折弯它，转得快的部分不动，没转满一圈的部分抬高。",
  },
};

export const rotation: Scene[] = [rotary, axes, longer];

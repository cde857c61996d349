// SPDX-License-Identifier: MIT
//
// The words of the field, each with a definition that can be checked. Text is marked up as marked.ts reads it:
// `code`, *weight*, [words](id) for another term.

import type { State, Words } from "./app";

export interface Term {
  id: string; // of its link
  name: Words;
  also?: string; // what else a reader may search for
  text: Words;
  open?: Partial<State>; // what to look at
}

/** Shows one spec in one view. */
const see = (a: string, view: string, more: Partial<State> = {}): Partial<State> => ({ tab: "explore", a, b: "", view, ...more });
/** Shows two specs side by side. */
const beside = (a: string, b: string, view: string, more: Partial<State> = {}): Partial<State> => ({ tab: "explore", a, b, view, ...more });

const attention: Term[] = [
  {
    id: "attention",
    name: { en: "attention", zh: "注意力" },
    also: "softmax score 分数 缩放",
    text: {
      en: "Each query is compared with every key it may see: `score = q·k * scale`, usually with scale 1/√d. A softmax over the keys turns scores into weights, and the output is the weighted mean of the values. The computation contains no position; a position encoding adds it.",
      zh: "每个查询与它能看到的所有键做内积：`score = q·k * scale`，scale 通常取 1/√d；对键做 softmax 得到权重，输出是值的加权平均。整个计算里没有任何位置信息，位置编码补的正是这一点。",
    },
    open: see("none", "attention"),
  },
  {
    id: "query",
    name: { en: "query, key, value", zh: "查询、键、值" },
    also: "q k v QKV projection 投影",
    text: {
      en: "Three linear projections of a word's vector, one set per [head](head). The dot product of a query and a key says how relevant the key's word is; the value is what attention passes on. Rotary encodings rotate q and k; Shaw's encoding adds vectors to k and v.",
      zh: "词向量的三个线性投影，每个[头](head)一套。查询发问，键回答“我有多相关”，值是真正传递的内容。旋转类编码作用于 q、k；Shaw 的编码加在 k、v 上。",
    },
  },
  {
    id: "head",
    name: { en: "head", zh: "注意力头" },
    also: "head_dim multi-head 多头 头宽度 头维度 GQA kv_heads",
    text: {
      en: "One of H independent attentions that run in parallel, each on vectors of `head_dim` elements. `model_dim` is usually heads times head_dim. Under grouped-query attention several query heads share one key and value head (`kv_heads`).",
      zh: "H 个并行、互相独立的注意力之一，每个处理 `head_dim`（头宽度）个分量；`model_dim` 一般等于头数乘头宽度。分组查询注意力（GQA）里，多个查询头共用一组键和值（`kv_heads`）。",
    },
    open: see("alibi", "bias"),
  },
  {
    id: "mask",
    name: { en: "causal mask", zh: "因果掩码" },
    also: "causal decoder bidirectional 双向 单向",
    text: {
      en: "Key j is visible to query i only where j ≤ i, as in a language model that writes from left to right. The mask alone already gives some position information: the first word sees one key, the tenth sees ten. This is why [NoPE](nope) can work.",
      zh: "查询 i 只能看到 j ≤ i 的键，自左向右生成的语言模型都是这样。掩码本身就泄露了一点位置：第 1 个词看到 1 个键，第 10 个词看到 10 个键。[NoPE](nope) 之所以能用，原因就在这里。",
    },
    open: see("none", "attention", { causal: true }),
  },
  {
    id: "cache",
    name: { en: "KV cache", zh: "KV 缓存" },
    also: "kv cache prefill decode 解码",
    text: {
      en: "The keys and values of all words so far, stored so that each new word needs only one query. Engines store RoPE's keys after rotation; a rotation by m followed by one by n is a rotation by m + n, so the keys of a cache can be moved to other positions without recomputing them.",
      zh: "保存已处理词的键和值，这样每生成一个新词只需算一个查询。RoPE 的键是旋转之后存进去的；先转 m 再转 n 等于转 m + n，所以缓存可以整体平移到别的位置而不必重算。",
    },
  },
  {
    id: "permutation",
    name: { en: "permutation equivariance", zh: "置换等变性" },
    also: "order set 词序 集合 打乱",
    text: {
      en: "If the words are shuffled, the outputs are shuffled in the same way and keep their values: A(PX) = P A(X). Attention without a mask and without a position encoding has this property, so it reads a sentence as a set.",
      zh: "把输入词打乱，输出只是跟着同样打乱，数值不变：A(PX) = P A(X)。没有掩码、没有位置编码的注意力就有这个性质，因此它把句子当成集合来读。",
    },
    open: { tab: "story", step: "0" },
  },
];

const hooks: Term[] = [
  {
    id: "hooks",
    name: { en: "hooks", zh: "五个作用点" },
    also: "embed rotate content bias value 钩子 嵌入 旋转 偏置",
    text: {
      en: "The five places where an encoding can act on attention: *embed* (added to the word's vector), *rotate* (rotates q and k), *content* (adds to the score a product of q or k with a vector of the distance), *bias* (adds to the score a number that depends only on positions), *value* (adds to the values). Each encoding uses one or two of them.",
      zh: "位置编码能介入注意力的五处：*embed*（加到词向量上）、*rotate*（旋转 q 和 k）、*content*（把 q 或 k 与距离向量的内积加进分数）、*bias*（把只由位置决定的数加进分数）、*value*（加到值上）。每种编码只用其中一两处。",
    },
  },
  {
    id: "absolute",
    name: { en: "absolute encoding", zh: "绝对位置编码" },
    also: "embed additive 加性",
    text: {
      en: "A code that depends only on the position and is added to each word before attention: x_t + p_t. Integers, bits, sinusoids and learned tables are absolute.",
      zh: "只由位置本身决定的编码，在词与词发生交互之前就给定：x_t 加上 p_t。整数、二进制、正弦、可学习位置表都属于绝对位置编码。",
    },
    open: see("sinusoidal", "table"),
  },
  {
    id: "relative",
    name: { en: "relative encoding", zh: "相对位置编码" },
    also: "distance 距离 平移不变",
    text: {
      en: "The score depends on the positions of two words only through their distance i − j, so a phrase is treated alike at the start and at the end. A bias depends on the distance by construction; RoPE rotates by absolute positions, and the score depends on the distance.",
      zh: "分数只通过距离 i − j 依赖两个词的位置，同一个短语放在开头或结尾含义一致。偏置类天然如此；RoPE 则是“用绝对位置的操作，实现相对位置的效果”。",
    },
    open: beside("alibi", "rope", "around"),
  },
  {
    id: "nope",
    name: { en: "NoPE", zh: "NoPE（无位置编码）" },
    also: "none no position",
    text: {
      en: "No position encoding. With a [causal mask](mask) a model can still infer positions; some models use no encoding in about every fourth layer and RoPE in the others.",
      zh: "完全不加位置编码。有[因果掩码](mask)时模型仍能间接推断位置；一些模型每隔几层留一层不加，其余层用 RoPE。",
    },
    open: see("none", "attention", { causal: true }),
  },
  {
    id: "combination",
    name: { en: "combination", zh: "组合编码" },
    also: "+ spec 规格",
    text: {
      en: "Several encodings at once, written with `+`: `rope+t5`. Each acts at its own [hooks](hooks); a combination has the properties that all of its parts have.",
      zh: "同时使用几种编码，用 `+` 连接：`rope+t5`。各自在自己的[作用点](hooks)生效；组合的性质是各部分都满足、且不被任何一部分破坏的性质。",
    },
    open: see("sinusoidal+alibi", "attention"),
  },
];

const codes: Term[] = [
  {
    id: "theta",
    name: { en: "theta (base)", zh: "theta（底数 base）" },
    also: "rope_theta base freq_base 10000 500000",
    text: {
      en: "The number whose powers are the frequencies: pair i of d/2 is rotated by θ^(−2i/d) radians per position. It is 10000 in the Transformer and in RoPE, and 500000 or more in models with long contexts, which makes the slow pairs slower.",
      zh: "频率的底数：d/2 对中的第 i 对，每个位置转 θ^(−2i/d) 弧度。原始 Transformer 与 RoPE 取 10000；长上下文模型取 500000 乃至更大，让低频更低。",
    },
    open: beside("rope", "rope:theta=500000", "wavelengths"),
  },
  {
    id: "frequency",
    name: { en: "frequency", zh: "频率" },
    also: "high low 高频 低频 inv_freq",
    text: {
      en: "The angle by which a pair is rotated from one position to the next, f_i = θ^(−2i/d) radians. The first pair is the fastest, 1 radian per position; high frequencies distinguish neighbours, low ones distinguish regions of the text.",
      zh: "一对分量从一个位置到下一个位置转过的角度，f_i = θ^(−2i/d) 弧度。第一对最快，每步 1 弧度；高频分辨相邻词，低频分辨大致区域。",
    },
    open: see("rope", "turns"),
  },
  {
    id: "wavelength",
    name: { en: "wavelength", zh: "波长" },
    also: "period 周期 turns 圈",
    text: {
      en: "The number of positions in which a pair completes one full turn: λ = 2π/f, from 2π up to 2π·θ^((d−2)/d). A pair whose wavelength is longer than the trained length did not complete a turn in training; larger angles are new to the model.",
      zh: "一对分量转满一圈所需的位置数：λ = 2π/f，从 2π 到 2π·θ^((d−2)/d)。波长大于训练长度的那些对，训练时从未转满一圈，再往后的角度模型没有见过。",
    },
    open: see("rope", "wavelengths"),
  },
  {
    id: "sinusoidal",
    name: { en: "sinusoidal code", zh: "正弦位置编码" },
    also: "sin cos Vaswani Sinusoidal",
    text: {
      en: "p_t consists of sin(t f_i) and cos(t f_i) for decreasing frequencies f_i. Moving by k rotates each (sin, cos) pair by k f_i, so p_(t+k) = M(k) p_t with a rotation M(k) that does not depend on t.",
      zh: "p_t 由一组递减频率上的 sin(t f_i)、cos(t f_i) 组成。平移 k 就是把每个 (sin, cos) 对旋转 k f_i，因此 p_(t+k) = M(k) p_t，旋转矩阵 M(k) 与 t 无关。",
    },
    open: see("sinusoidal", "table"),
  },
  {
    id: "table",
    name: { en: "learned table", zh: "可学习位置表" },
    also: "learned BERT GPT-2 absolute 训练式",
    text: {
      en: "A trained vector per position. The number of rows is fixed; positions beyond the last row have no code.",
      zh: "每个位置一个训练得到的向量。表有多长就只能用到多长：下一个位置不是编码不好，而是根本没有编码。",
    },
    open: see("learned:rows=64", "table"),
  },
  {
    id: "hierarchical",
    name: { en: "hierarchical extension", zh: "层次分解" },
    also: "hierarchical n^2 苏剑林",
    text: {
      en: "A combination α u_i + (1−α) u_j of two rows of a trained table of n rows, one coarse and one fine, gives codes for n² positions without training; the first n codes do not change.",
      zh: "把训练好的 n 行位置表按 α u_i + (1−α) u_j 组合一粗一细两行，不用训练就能得到 n² 个位置，且前 n 个位置保持原样。",
    },
    open: see("hierarchical:rows=16", "table"),
  },
  {
    id: "join",
    name: { en: "adding and concatenating", zh: "相加与拼接" },
    also: "add concat concatenate join=concat",
    text: {
      en: "A code can be added to the word's vector or concatenated to it. Concatenation needs more width, and so more parameters. With addition, word and code share one space, which works because random directions in many dimensions are nearly orthogonal.",
      zh: "编码可以加到词向量上，也可以拼在后面。拼接要多占宽度、多出参数；相加则共用同一空间，之所以可行，是因为高维空间里随机方向近似正交。",
    },
    open: beside("sinusoidal", "sinusoidal:join=concat,width=64", "attention"),
  },
];

const rotary: Term[] = [
  {
    id: "rope",
    name: { en: "RoPE, rotary encoding", zh: "RoPE，旋转位置编码" },
    also: "rotary rope 旋转 复数",
    text: {
      en: "Each pair of elements of q at position m and of k at position n is a complex number, multiplied by e^(imθ) and e^(inθ). Their product depends only on the difference: q k* e^(i(m−n)θ). The vectors keep their lengths, the score is relative, and there are no trained parameters.",
      zh: "把位置 m 处 q、位置 n 处 k 的每一对分量看成复数，分别乘 e^(imθ) 与 e^(inθ)。内积里只剩位置差：q k* e^(i(m−n)θ)。模长不变，分数只看相对位置，没有任何可训练参数。",
    },
    open: see("rope", "turns"),
  },
  {
    id: "pairs",
    name: { en: "pair layout: half, adjacent", zh: "配对方式：half 与 adjacent" },
    also: "neox gpt-j interleaved rotate_half 交错 is_neox",
    text: {
      en: "Which two elements form a pair. *half*: i and i + d/2 (GPT-NeoX, Llama in Hugging Face's files). *adjacent*: 2i and 2i + 1 (the paper, GPT-J, Llama in Meta's files). The two are equivalent after a permutation of the weights; confusing them is the most frequent bug.",
      zh: "哪两个分量组成一对。*half*：i 与 i + d/2（GPT-NeoX、Hugging Face 版 Llama）。*adjacent*：2i 与 2i + 1（原论文、GPT-J、Meta 版 Llama）。对权重做一次置换后两者等价；弄混是最常见的实现错误。",
    },
    open: beside("rope:pairs=half", "rope:pairs=adjacent", "turns"),
  },
  {
    id: "partial",
    name: { en: "partial rotation", zh: "部分旋转" },
    also: "partial_rotary_factor rotary_pct dims fraction",
    text: {
      en: "Only the first `dims` elements of a head are rotated, the rest carry no position (GPT-J: 64 of 256; Phi and GPT-NeoX: a fraction).",
      zh: "每个头只旋转前 `dims` 个分量，其余不带位置信息（GPT-J：256 中的 64；Phi、GPT-NeoX：按比例）。",
    },
    open: see("rope:dims=32", "turns"),
  },
  {
    id: "decay",
    name: { en: "distance decay", zh: "远程衰减" },
    also: "long-term decay bound 上界 衰减",
    text: {
      en: "As the distance grows, the cosines of many frequencies cancel, so the *upper bound* of RoPE's score falls. It is only a bound: for each distance there are q and k whose score is highest at that distance (2410.06205).",
      zh: "距离越大，多个频率的余弦相互抵消，RoPE 分数的*上界*随之下降。注意这只是上界：对任意距离都能构造出让分数恰好在该处最高的 q 和 k（2410.06205）。",
    },
    open: see("rope", "decay"),
  },
  {
    id: "xpos",
    name: { en: "xPos", zh: "xPos" },
    also: "LeX RetNet",
    text: {
      en: "RoPE with an exponential scale: q is multiplied by ζ^n and k by ζ^(−n), so the score is multiplied by ζ^(distance). In causal models the score itself then decays, not only its bound.",
      zh: "在 RoPE 上再加指数缩放：q 乘 ζ^n，k 乘 ζ^(−n)，分数于是带上 ζ 的距离次幂。对因果模型来说，衰减不再只是上界，而是真实发生。",
    },
    open: beside("rope", "xpos", "decay"),
  },
  {
    id: "mrope",
    name: { en: "M-RoPE sections", zh: "M-RoPE 分段" },
    also: "mrope sections multimodal Qwen2-VL 多模态 t h w",
    text: {
      en: "Positions of images and video have three coordinates (t, h, w). The pairs of one set of frequencies are divided among them: `sections=16/24/24` gives the 16 fastest of 64 pairs to time and 24 each to height and width. A text token has three equal coordinates, which gives ordinary RoPE.",
      zh: "图像、视频的位置有三个坐标 (t, h, w)。同一套频率按段分给它们：`sections=16/24/24` 表示 64 对里最快的 16 对归时间，高、宽各 24 对。文本的三个坐标相等，等同于普通 RoPE。",
    },
    open: see("rope:sections=8/12/12", "turns"),
  },
  {
    id: "axial",
    name: { en: "axial RoPE (2-D)", zh: "轴向 RoPE（二维）" },
    also: "2d vision ViT axes split 二维 图像",
    text: {
      en: "Half of the pairs are rotated by x, the other half by y. The score is relative in each axis. If one pair were rotated by both, by (x + y)θ, the positions (1, 0) and (0, 1) could not be distinguished.",
      zh: "一半的对由 x 旋转，另一半由 y 旋转，两个轴各自满足相对性。若让同一对同时受 x、y 驱动、转 (x + y)θ，(1, 0) 与 (0, 1) 就无法区分。",
    },
    open: see("rope:axes=2,split=axial", "turns"),
  },
];

const longer: Term[] = [
  {
    id: "extrapolation",
    name: { en: "extrapolation", zh: "外推" },
    also: "length generalisation 长度外推 train short test long",
    text: {
      en: "Good results at sequence lengths longer than the trained length, without more training. A code for every position is necessary but not sufficient: sinusoids have one, and models that use them fail at longer lengths.",
      zh: "在比训练更长的序列上、不经训练仍能正常工作。每个位置都有编码只是必要条件，并不充分：正弦编码处处有定义，外推照样失败。",
    },
    open: { tab: "story", step: "8" },
  },
  {
    id: "interpolation",
    name: { en: "position interpolation (linear)", zh: "位置内插（linear）" },
    also: "PI linear scaling Chen 线性",
    text: {
      en: "Positions are divided by s, so every pair has the frequency f/s (2306.15595). No angle is new, but neighbours are closer together than in training. It works well after some fine-tuning and poorly without.",
      zh: "位置统一除以 s，即每对频率变为 f/s（2306.15595）：没有陌生的角度，但相邻词之间比训练时挤得更近。微调后效果不错，不微调则很差。",
    },
    open: beside("rope", "rope:scaling=linear,factor=4", "wavelengths"),
  },
  {
    id: "ntk",
    name: { en: "NTK-aware scaling", zh: "NTK-aware 缩放" },
    also: "ntk alpha base change 高频外推 低频内插",
    text: {
      en: "θ is multiplied by α^(d/(d−2)): the fastest pair keeps its frequency, the slowest is divided by exactly α, the others lie between. High frequencies extrapolate, low ones interpolate.",
      zh: "把 θ 乘以 α^(d/(d−2))：最高频保持不变，最低频恰好除以 α，其余介于两者之间。一句话：高频外推，低频内插。",
    },
    open: beside("rope", "rope:scaling=ntk,alpha=8", "wavelengths"),
  },
  {
    id: "dynamic",
    name: { en: "dynamic NTK", zh: "动态 NTK" },
    also: "dynamic scaling",
    text: {
      en: "NTK scaling whose strength depends on the current length n: up to the trained length L nothing changes; at n > L, θ is multiplied by (s·n/L − (s−1))^(d/(d−2)). Keys that were cached earlier were rotated with another θ.",
      zh: "缩放强度随当前长度变化的 NTK：不超过训练长度 L 时不变，n > L 时 θ 乘以 (s·n/L − (s−1))^(d/(d−2))。注意先前缓存的键用的是另一个 θ。",
    },
    open: see("rope:scaling=dynamic,factor=2,trained=2048,length=6000", "wavelengths"),
  },
  {
    id: "yarn",
    name: { en: "YaRN and its ramp", zh: "YaRN 与它的斜坡" },
    also: "ramp beta_fast beta_slow ntk-by-parts",
    text: {
      en: "Pair by pair (2309.00071): pairs that completed more than `beta_fast` = 32 turns in training keep their frequency, those with fewer than `beta_slow` = 1 turn are divided by s, and between them a linear ramp over the pair's index mixes both. Cosine and sine are multiplied by the [attention factor](mscale).",
      zh: "逐对处理（2309.00071）：训练长度内转了 `beta_fast` = 32 圈以上的保持不变，不足 `beta_slow` = 1 圈的除以 s，中间按下标用线性斜坡过渡；cos、sin 再乘上[注意力系数](mscale)。",
    },
    open: beside("rope", "rope:scaling=yarn,factor=4,trained=2048", "wavelengths"),
  },
  {
    id: "mscale",
    name: { en: "attention factor, mscale", zh: "注意力系数，mscale" },
    also: "attention_factor temperature magnitude 温度 幅度",
    text: {
      en: "Longer texts flatten the softmax, so YaRN multiplies cos and sin by g = 0.1 ln s + 1, which multiplies scores by g². DeepSeek gives `mscale` and `mscale_all_dim`: the magnitude is g(s, mscale)/g(s, mscale_all_dim) with g(s, m) = 0.1 m ln s + 1.",
      zh: "文本变长会把 softmax 摊平，所以 YaRN 给 cos、sin 乘上 g = 0.1 ln s + 1，分数随之乘以 g²。DeepSeek 用 `mscale` 与 `mscale_all_dim`：幅度为 g(s, mscale)/g(s, mscale_all_dim)，其中 g(s, m) = 0.1 m ln s + 1。",
    },
    open: see("rope:scaling=yarn,factor=40,trained=4096,mscale=1,mscale_all_dim=1", "wavelengths"),
  },
  {
    id: "longrope",
    name: { en: "LongRoPE", zh: "LongRoPE" },
    also: "short_factor long_factor Phi su",
    text: {
      en: "A divisor for every pair, found by a search and stored in the model: one list for lengths up to the trained length (`short`), one for longer ones (`long`), and a magnitude √(1 + ln s / ln L) (2402.13753; Phi-3).",
      zh: "每对各有一个由搜索得到、写在模型里的除数：训练长度以内用 `short`，超出用 `long`，幅度为 √(1 + ln s / ln L)（2402.13753；Phi-3）。",
    },
  },
  {
    id: "llama3",
    name: { en: "llama3 scaling", zh: "llama3 缩放" },
    also: "low_freq_factor high_freq_factor Llama 3.1",
    text: {
      en: "Pairs with more than 4 turns in the trained length keep their frequency, pairs with less than 1 turn are divided by s, and pairs between are mixed in proportion to their turns. It is like YaRN with other limits and without the magnitude.",
      zh: "训练长度内转满 4 圈以上的对不变，不足 1 圈的除以 s，中间按圈数线性混合。相当于换了端点、且不改幅度的 YaRN。",
    },
    open: see("rope:theta=500000,scaling=llama3,factor=8,trained=8192", "wavelengths"),
  },
  {
    id: "prope",
    name: { en: "p-RoPE", zh: "p-RoPE" },
    also: "proportional partial Gemma",
    text: {
      en: "Only a fraction p of the pairs, those with the highest frequencies, is rotated; the others are not rotated and carry content that does not depend on distance (2410.06205).",
      zh: "只有频率最高的 p 比例的对参与旋转（频谱仍按整个头计算），其余低频对保持静止，用来承载不受距离干扰的语义（2410.06205）。",
    },
    open: see("rope:scaling=proportional,turning=0.75", "turns"),
  },
];

const biases: Term[] = [
  {
    id: "fourterms",
    name: { en: "the four terms", zh: "四项展开" },
    also: "expansion (x+e) content-position 展开",
    text: {
      en: "With a code added to each word, the score (x_i + p_i)ᵀ QᵀK (x_j + p_j) is a sum of four terms: word–word, word–position, position–word, position–position. Shaw, Transformer-XL, XLNet, T5 and DeBERTa each keep and replace some of them.",
      zh: "给每个词加上位置编码后，分数 (x_i + p_i)ᵀ QᵀK (x_j + p_j) 展开为四项：词–词、词–位置、位置–词、位置–位置。Shaw、Transformer-XL、XLNet、T5、DeBERTa 都是对这四项做取舍和替换。",
    },
    open: { tab: "story", step: "5" },
  },
  {
    id: "shaw",
    name: { en: "Shaw's vectors and clip", zh: "Shaw 相对向量与截断" },
    also: "clip shaw 截断 relative_key",
    text: {
      en: "A trained vector per distance, added to the key (and to the value). Distances beyond k are *clipped* to k: all farther words look equally far.",
      zh: "每个距离一个可训练向量，加在键（和值）上。超过 k 的距离*截断*为 k：更远的一律视为同样远。",
    },
    open: see("shaw:left=6,right=3", "around"),
  },
  {
    id: "transformerxl",
    name: { en: "Transformer-XL's u, v and r", zh: "Transformer-XL 的 u、v、r" },
    also: "transformer-xl xlnet XLNet",
    text: {
      en: "score = (q_i + u)·k_j + (q_i + v)·r_(i−j): the key's position becomes a projected sinusoidal code r of the distance, and the query's position becomes two trained vectors u and v.",
      zh: "score = (q_i + u)·k_j + (q_i + v)·r_(i−j)：键一侧的位置换成距离正弦编码的投影 r，查询一侧的位置换成两个可训练向量 u、v。",
    },
    open: see("transformer-xl", "around"),
  },
  {
    id: "bucket",
    name: { en: "bucket", zh: "分桶" },
    also: "t5 buckets log 对数 T5",
    text: {
      en: "A group of distances that share one parameter. T5 gives each near distance its own bucket and groups far distances by their logarithm, up to `max`; all larger distances share the last bucket.",
      zh: "共用同一个参数的一组距离。T5 里近处每个距离一个桶，远处按对数合并，到 `max` 为止；再远的都落在最后一个桶。",
    },
    open: see("t5:direction=causal", "bias"),
  },
  {
    id: "deberta",
    name: { en: "disentangled attention", zh: "解耦注意力" },
    also: "deberta c2p p2c DeBERTa",
    text: {
      en: "DeBERTa keeps three of the four terms: content–content, content-to-position (q_i with a vector of the distance) and position-to-content (k_j with another); the scale becomes 1/√(3d).",
      zh: "DeBERTa 保留四项中的三项：内容–内容、内容到位置（q_i 与距离向量）、位置到内容（k_j 与另一张距离表），缩放改为 1/√(3d)。",
    },
    open: see("deberta:buckets=8,max=32", "around"),
  },
  {
    id: "slope",
    name: { en: "ALiBi slope", zh: "ALiBi 斜率" },
    also: "alibi slope linear bias Press 线性偏置",
    text: {
      en: "ALiBi subtracts m_h (i − j) from the score; the slope m_h is 2^(−8h/n) for head h of n. Heads with a large slope attend to near words, heads with a small slope also to far ones. It has no trained parameters, and it extrapolates.",
      zh: "ALiBi 从分数里减去 m_h (i − j)，n 个头中第 h 个的斜率 m_h = 2^(−8h/n)。斜率大的头看近处，斜率小的头看远处。无需训练，外推能力好。",
    },
    open: see("alibi", "bias"),
  },
  {
    id: "kernel",
    name: { en: "kernel bias (KERPLE, FIRE, Sandwich)", zh: "核函数偏置（KERPLE、FIRE、Sandwich）" },
    also: "kerple fire sandwich log power",
    text: {
      en: "Biases that are a curve of the distance instead of a line. KERPLE uses a trained logarithm or power per head, FIRE a small network of the distance divided by the query's position, Sandwich the dot product of sinusoidal codes.",
      zh: "把直线换成距离的曲线：KERPLE 是每头一个可训练的对数核或幂核，FIRE 用小网络处理“距离除以查询位置”，Sandwich 直接用正弦编码的内积。",
    },
    open: beside("kerple", "sandwich", "bias"),
  },
  {
    id: "cope",
    name: { en: "contextual position (CoPE)", zh: "上下文位置（CoPE）" },
    also: "cope count gate 计数",
    text: {
      en: "The position is a count: from right to left, each key adds a gate between 0 and 1, computed from the query and the key, that says whether this key counts. A head can then attend, for example, to the third sentence back.",
      zh: "距离不是量出来的，而是数出来的：从右往左，每个键按“对该查询是否值得计数”贡献一个 0 到 1 的门值。于是可以去关注“往前数第三句”。",
    },
    open: see("cope:positions=16", "attention"),
  },
  {
    id: "window",
    name: { en: "window bias", zh: "窗口偏置" },
    also: "swin window relative position bias 二维",
    text: {
      en: "In a window of h × w cells, each head has a trained number per offset (dy, dx), (2h−1)(2w−1) numbers in all (Swin, BEiT). There is none outside the window.",
      zh: "在 h × w 的窗口里，每头每个偏移 (dy, dx) 一个可训练的数，共 (2h−1)(2w−1) 个（Swin、BEiT）；窗口之外没有定义。",
    },
    open: see("window:window=4/4", "bias", { n: 4 }),
  },
];

const numbers: Term[] = [
  {
    id: "ulp",
    name: { en: "ulp", zh: "ulp（末位单位）" },
    also: "unit in the last place rounding 舍入 精度",
    text: {
      en: "The gap between a floating-point number and the next: near 1 it is 2^−23 in float32. A correctly rounded result has an error of at most half an ulp; posenc's cos and sin have at most 0.51 ulp at every position up to 2^36.",
      zh: "相邻两个浮点数的间隔：float32 在 1 附近是 2^−23。正确舍入的误差不超过半个 ulp；posenc 的 cos、sin 在 2^36 以内的任何位置都不超过 0.51 ulp。",
    },
  },
  {
    id: "bfloat16",
    name: { en: "bfloat16", zh: "bfloat16" },
    also: "bf16 float16 half precision 半精度 量化",
    text: {
      en: "A float32 cut to 16 bits: it has 8 bits of significand, so whole numbers are exact only up to 256. An *angle* computed in bfloat16 is wrong at large positions; cos and sin that are computed exactly and rounded once are accurate.",
      zh: "float32 截成 16 位：有效数字只有 8 位，整数超过 256 就不再精确。用它直接算*角度*，位置一远就全错；先精确算出 cos、sin 再舍入一次则没有问题。",
    },
  },
  {
    id: "perplexity",
    name: { en: "perplexity", zh: "困惑度" },
    also: "ppl loss 损失",
    text: {
      en: "e to the power of the mean loss per token (in nats): the number of equally likely tokens that would be as hard to predict. It depends on the tokenizer; [bits per byte](bpb) do not.",
      zh: "e 的“每词元平均损失（nat）”次方：模型相当于在多少个等可能的词里猜。它依赖分词器；[bits per byte](bpb) 不依赖。",
    },
  },
  {
    id: "bpb",
    name: { en: "bits per byte", zh: "每字节比特数（bits per byte）" },
    also: "bpb race results 比特",
    text: {
      en: "The loss in bits, divided by the number of bytes of the text: the size to which an ideal compressor with this model would compress each byte. A model that knows nothing has 8. The race reports it at 1 to 16 times the trained length.",
      zh: "以比特计的总损失除以文本字节数：用该模型做理想压缩，每字节需要多少比特。8 等于一无所知。本项目的竞赛在训练长度的 1 到 16 倍上报告这个数。",
    },
  },
  {
    id: "claims",
    name: { en: "claim, verdict", zh: "命题与判定" },
    also: "prove holds refuted depends 成立 不成立",
    text: {
      en: "A claim is a sentence of the literature that `posenc prove` measures; the verdict is HOLDS, REFUTED, or DEPENDS, and then says on what. Each encoding also claims properties (unique, bounded, relative, ...); tests check that it has those it claims and lacks the others.",
      zh: "`posenc prove` 逐条实测文献中的说法：成立、不成立，或视情况而定（并指出取决于什么）。每种编码还声明自身的性质（唯一、有界、只看相对位置……），正反两个方向都有测试。",
    },
    open: { tab: "claims" },
  },
];

export const terms: readonly Term[] = [...attention, ...hooks, ...codes, ...rotary, ...longer, ...biases, ...numbers];

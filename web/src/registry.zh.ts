// SPDX-License-Identifier: MIT
// The Chinese of what `posenc list --json` says in English, by the English text itself. A text that has no entry (a new row,
// a sentence that changed) is shown in English; web/tests/registry.test.mjs lists those, and fails on an entry that nobody says.

import type { Words } from "./app";

/** Summaries, help of keys, what tensors are, and papers and models that carry a remark. */
export const registryZh: Readonly<Record<string, string>> = {
  // summaries
  "No position information: attention without a mask cannot tell one word order from another.":
    "不加任何位置信息：没有掩码的注意力分不清词序。",
  "Adds the position itself, as a number, to the embedding (or concatenates it).":
    "把位置序号本身当作一个数，加到词向量上（或拼在其后）。",
  "Adds the position divided by the sequence length to the embedding.": "位置序号除以序列长度。",
  "Adds the binary digits of the position to the embedding, the lowest bit first.": "位置序号的二进制各位，最低位在前。",
  "Adds sines and cosines of the position, at decreasing frequencies, to the embedding (or concatenates them).":
    "位置在一组递减频率上的正弦和余弦，加到词向量上（或拼在其后）。",
  "Adds a trained vector per position; positions past the end of the table have none.": "每个位置一个可训练向量；超出表长的位置没有编码。",
  "Extends a learned table of n rows to n^2 positions: each code combines a coarse row and a fine row.":
    "用一粗一细两行的组合，把 n 行的可学习位置表层次分解到 n² 个位置。",
  "Rotates pairs of query and key elements by an angle proportional to position, so attention scores depend only on relative distance.":
    "按位置逐对旋转查询和键，使内积只依赖相对距离。",
  "RoPE with decay: queries and keys are also scaled by inverse factors, so scores shrink with distance.":
    "带衰减的 RoPE：查询与键再乘以互逆的缩放因子，距离越远分数越小。",
  "RoPE whose pairs each mix several frequencies, without those that are too slow to be learned at the trained length.":
    "RoPE 的每一对分量混合多个频率，并去掉在训练长度内学不到的过慢频率。",
  "Polar coordinates: a query's and a key's elements are magnitudes, and their angle comes from the distance and a trained phase alone.":
    "极坐标：查询与键的每个分量只作幅值，夹角只由距离和一个可训练相位决定。",
  "Adds a trained vector per clipped relative distance to keys and values.": "每个截断后的相对距离对应一个可训练向量，加到键和值上。",
  "Attention scores are the sum of a content term and a term from projected sinusoids of the distance, with two trained bias vectors.":
    "分数由内容项和距离的正弦编码（经投影）两部分组成，另有两个可训练偏置向量 u、v。",
  "Transformer-XL's attention scores in both directions, with memory of earlier segments.": "Transformer-XL 的双向版本，带记忆段。",
  "Adds content-to-position and position-to-content scores, with distances in logarithmic buckets.":
    "内容对位置、位置对内容两项分数，距离按对数分桶。",
  "Contextual positions: a key's position is the number of keys, counted from right to left, that the query finds relevant.":
    "位置由上下文决定：从右往左累计查询认为相关的键的个数。",
  "Ricker wavelets of the distance at many scales and shifts replace Shaw's trained vectors.":
    "以多尺度、多平移的 Ricker 小波表示距离，取代 Shaw 的可训练向量。",
  "Subtracts a penalty from attention scores that grows linearly with distance, with a fixed slope per head.": "随距离线性增长的惩罚项，每个头一个斜率。",
  "Adds a trained bias per head and distance bucket; buckets are logarithmic for large distances.": "每个头、每个距离桶一个可训练偏置，远处按对数分桶。",
  "Adds a trained logarithmic or power kernel of the distance, one per head.": "每个头一个可训练的距离核：对数核或幂核。",
  "Adds a bias computed by a small trained network from the distance relative to the query's position, on a logarithmic scale.":
    "用一个小网络把“距离 / 查询位置”（取对数后）映射成偏置。",
  "Adds the inner product of sinusoidal codes as a bias, compressed by a different factor per head.":
    "把正弦编码的内积当作偏置，各头的压缩程度不同。",
  "Adds a trained bias per head and relative offset inside a two-dimensional window.": "二维窗口内，每个头、每个相对偏移一个可训练偏置。",

  "Subtracts what a forget gate per token and head, computed from the token, forgets between the key and the query.":
    "每个词元、每个头有一个由词元内容算出的遗忘门；分数减去从键到查询之间所遗忘的部分。",
  "Adds a bias by distance that the query's token mixes from trained profiles; zero past the last one.":
    "由查询的词元把若干可训练的距离曲线混合成偏置；超出最后一个距离后为零。",

  // keys
  "N: distances 0 to N-1 have a trained profile; nothing is added past them": "N：距离 0 到 N-1 各有一行可训练曲线；更远处不加",
  "numbers of the vector that the caller gives per query and head": "调用者为每个查询、每个头给出的向量的宽度",
  "scores of queries from here on are multiplied by 1 + alpha ln((i+1)/floor); default: nowhere":
    "从这个位置起，查询的分数乘以 1 + alpha ln((i+1)/floor)；默认不乘",
  "see floor": "见 floor",
  "add the code to the embedding, or concatenate it": "编码加到 x 上，还是拼接在 x 之后",
  "width of the code; default: model_dim": "编码的宽度；默认等于 model_dim",
  "N: the length of the sequence": "N：序列长度",
  "base of the wavelengths": "波长的底数（base）",
  "length the model was trained at; frequencies that do not complete a turn within it become 0":
    "模型的训练长度；在此长度内转不满一圈的频率变为 0",
  "number of pairs that rotate, at most that of the frequencies; default: as many (the authors' code: at most d/4)":
    "旋转的对数，至多等于频率的个数；默认相等（作者的代码：至多 d/4）",
  "one mixture shared by all heads, or one per key head": "各头共用一组混合系数，或每个键头一组",
  "how much of other frequencies a pair starts with: the gain of Xavier's deviation": "每一对起始时混入其他频率的多少：Xavier 标准差的增益",
  "sine of the pairs with frequency 0: 0 as in the paper, or 1 as in the authors' code and Intern-S1-Pro":
    "频率为 0 的各对的正弦：0 与论文相同，1 与作者的代码和 Intern-S1-Pro 相同",
  "with two axes: a pair's frequency starts on its own axis, or in a direction of its head's own (RoPE-Mixed)":
    "两个轴时：每一对的频率从自己的轴开始，或从该头自己的方向开始（RoPE-Mixed）",
  "where training starts: all phases 0, or anywhere from -2 pi to 0": "训练的起点：相位全为 0，或在 -2π 到 0 之间随机",
  "sin and cos interleaved, or all sines and then all cosines": "sin、cos 交错排列，还是先全部 sin 再全部 cos",
  "whether sin or cos comes first": "sin 与 cos 谁在前",
  "exponent 2i/d, or 2i/(d-2) = i/(d/2-1)": "指数取 2i/d，或 2i/(d-2) = i/(d/2-1)",
  "added to every position (fairseq: 2)": "加到每个位置上的偏移（fairseq：2）",
  "coordinates per token": "每个词元的坐标个数",
  "number of positions in the table; one number per axis: rows=14/14": "表中的位置数；每个轴一个数：rows=14/14",
  "added to every position (OPT, BART: 2)": "加到每个位置上的偏移（OPT、BART：2）",
  "how the codes of the axes are combined: added, or concatenated": "各轴编码如何合并：相加，或并排拼接",
  "n: rows of the table, which cover n^2 positions": "n：表的行数；可覆盖 n² 个位置",
  "a: weight of the coarse position; not 0, 0.5 or 1": "a：粗粒度位置的权重；不能取 0、0.5、1",
  "which elements form a pair: i and i+d/2 [ccss], 2i and 2i+1 [cscs], or read as cscs and written as ccss":
    "哪两个分量结成一对旋转：i 与 i+d/2 [ccss]；2i 与 2i+1 [cscs]；或按 cscs 读、按 ccss 写",
  "number of elements of a head that are rotated; default: all": "每个头中参与旋转的分量数；默认全部",
  "the same as a fraction of the head dimension, rounded down": "同上，以占头宽度的比例给出，向下取整",
  "which end of the head is rotated": "旋转每个头的前段还是后段",
  "direction of the rotation (nanochat: negative)": "旋转方向（nanochat 为负向）",
  "exponent 2i/d, 2i/(d-2), or 2i/(d-1) (transformers, where an odd number of elements would be rotated)":
    "指数取 2i/d、2i/(d-2) 或 2i/(d-1)（旋转分量数为奇数时 transformers 的做法）",
  "how frequencies are changed for longer contexts": "为更长的上下文如何修改频率",
  "how many times longer than the trained length": "目标长度是训练长度的几倍",
  "theta is multiplied by alpha^(d/(d-2))": "theta 乘以 alpha^(d/(d-2))",
  "length the model was trained at": "模型的训练长度",
  "current sequence length; default: trained": "当前序列的长度；默认等于训练长度",
  "a pair that completes more turns than this in training keeps its frequency": "训练长度内转的圈数高于此值的对保持不变",
  "a pair that completes fewer turns than this is interpolated": "圈数低于此值的对做内插",
  "round the ends of the ramp outwards to whole pairs": "把斜坡两端向外取整到整数对",
  "magnitude g(factor, mscale) / g(factor, mscale_all_dim)": "幅度 g(factor, mscale) / g(factor, mscale_all_dim)",
  "see mscale; g(s, m) = 0.1 m ln s + 1": "见 mscale；g(s, m) = 0.1 m ln s + 1",
  "a pair that completes fewer turns than this in training is interpolated": "训练长度内转的圈数低于此值的对做内插",
  "a pair that completes more turns than this keeps its frequency": "圈数高于此值的对保持不变",
  "fraction of the pairs that are rotated at all (p-RoPE)": "参与旋转的对所占比例（p-RoPE）",
  "a divisor per pair, used up to the trained length": "每对一个除数，用于训练长度以内",
  "a divisor per pair, used past the trained length": "每对一个除数，用于超出训练长度时",
  "magnitude used with short (Phi-MoE)": "使用 short 时的幅度（Phi-MoE）",
  "magnitude used with long (Phi-MoE)": "使用 long 时的幅度（Phi-MoE）",
  "how the axes share the pairs. One spectrum for all axes: chunked (Qwen2-VL), interleaved (Qwen3-VL; axes alternate until their section is used up, the first axis takes the rest), tail (ERNIE 4.5 VL; the other axes alternate, the first has the last pairs), oddeven (Pixtral). One spectrum per axis: axial (ViT), blocks with pairs inside each axis' block (Gemma 4), alternate":
    "各轴如何分配旋转对。共用一套频率：chunked（Qwen2-VL）、interleaved（Qwen3-VL；各轴轮流取，直到各自的份额用完，剩下的归第一个轴）、tail（ERNIE 4.5 VL；其余各轴轮流取，第一个轴占最后的对）、oddeven（Pixtral）。每轴一套频率：axial（ViT）、blocks（对只在各轴自己的块内，Gemma 4）、alternate",
  "number of pairs of each axis: 16/24/24; default: equal": "各轴分到的对数：16/24/24；默认均分",
  "normalised: the angle is 2 pi c f, with c the centre of the cell scaled to -1..1 (DINOv3)":
    "normalised：角度为 2 pi c f，c 是格子中心缩放到 -1..1 的坐标（DINOv3）",
  "number of cells along each axis: 14/14": "每个轴上的格数：14/14",
  "factor on cos and sin; default: the scaling's own": "乘在 cos、sin 上的系数；默认由 scaling 决定",
  "factor on the softmax scale (DeepSeek: g(s, m)^2)": "乘在 softmax 缩放上的系数（DeepSeek：g(s, m)^2）",
  "b: queries are multiplied by 1 + b ln(1 + floor((t + shift)/floor)) (Llama 4: 0.1 with dims=0, its layers without rotation)":
    "b：查询乘以 1 + b ln(1 + floor((t + shift)/floor))（Llama 4 的无旋转层：0.1，dims=0）",
  "see temperature": "见 temperature",
  "see temperature (Llama 4: 1, Ministral 3: 0)": "见 temperature（Llama 4：1，Ministral 3：0）",
  "which vectors are rotated; o: the output is rotated back and its magnitude undone (DeepSeek-V4, with magnitude=1)":
    "旋转哪些向量；o：输出再反向转回，并抵消幅度（DeepSeek-V4，magnitude=1）",
  "m: the first frequency; the others are m (theta/m)^(-2i/d) (tensor2tensor, flax, TimesFM)": "m：第一个频率；其余为 m (theta/m)^(-2i/d)（tensor2tensor、flax、TimesFM）",
  "radians per position, for each sine and cosine of a coordinate; replaces theta": "一个坐标的每对正弦和余弦每走一个位置的弧度；给出后代替 theta",
  "positions per turn, for each sine and cosine of a coordinate; replaces theta": "一个坐标的每对正弦和余弦转一整圈所需的位置数；给出后代替 theta",
  "what coordinates are multiplied by: one number, or one per axis (diffusers: scale)": "坐标所乘的数：一个数，或每个轴一个（diffusers：scale）",
  "s: factor on the code (x-transformers: d^-0.5)": "s：编码所乘的系数（x-transformers：d^-0.5）",
  "what coordinates are multiplied by: one number, or one per axis: 1/0.5/0.5": "坐标所乘的数：一个数，或每个轴一个：1/0.5/0.5",
  "angle in radians per position, for each pair; replaces theta": "每一对分量每走一个位置转过的弧度；给出后代替 theta",
  "train the frequencies, starting from these: one set, or one per key head (GRAPE-M, RoPE-Mixed)":
    "频率可训练，以此为初值：所有头共用一组，或每个键头各一组（GRAPE-M、RoPE-Mixed）",
  "how angles are computed: exactly, or as transformers (hf) or ggml do in float32": "角度如何计算：精确，或完全照搬这些 float32 实现",
  "which elements form a pair": "哪两个分量结成一对旋转",
  "g: how slowly the lowest-frequency pair decays": "g：最慢的一对衰减得有多慢",
  "B: positions per power of zeta": "B：每经过多少个位置，zeta 的幂次加一",
  "c: the position at which the magnitude is 1": "c：幅度恰为 1 的位置",
  "largest distance to earlier keys that has its own vector": "向左（之前）多少个距离拥有各自的向量",
  "largest distance to later keys that has its own vector": "向右（之后）多少个距离拥有各自的向量",
  "where the vectors are added: keys, values or both": "向量加在键上、值上，还是两者都加",
  "trained vectors, or sinusoids of the distance": "可训练，或取距离的正弦编码",
  "one table shared by all heads, or one per head": "各头共用一张表，或每头一张",
  "largest distance to earlier keys in the table": "表中向左的最大距离",
  "largest distance to later keys in the table": "表中向右的最大距离",
  "number of tokens in a segment": "一段的词元数",
  "number of remembered tokens before the segment, as keys with smaller positions": "段之前记忆的词元数，作为位置更小的键",
  "number of buckets on each side; 0: no buckets, distances are clipped at max": "每一侧的桶数；0：不分桶，距离在 max 处截断",
  "distance at which the last bucket begins": "最后一个桶起始的距离",
  "which terms are added: content-to-position (c2p), position-to-content (p2c)": "内容对位置（c2p），位置对内容（p2c）",
  "P: number of rows of the table; counts are capped at P-1": "P：表的行数；计数上限为 P-1",
  "number of scales; divides head_dim": "尺度个数；须整除 head_dim",
  "the smallest scale is 2^first": "最小尺度为 2^first",
  "which slopes to use (press: Press et al., BLOOM)": "采用谁的斜率（press：原论文、BLOOM）",
  "i-j for causal models, |i-j| for encoders": "因果模型用 i-j，编码器用 |i-j|",
  "the last slope is 2^-max (MPT: alibi_bias_max)": "最后一个斜率为 2^-max（MPT：alibi_bias_max）",
  "index of the first head here, when heads are sharded": "注意力头切分到多卡时，本分片的第一个头",
  "number of heads in all shards; default: offset + heads": "所有分片的总头数；默认 offset + heads",
  "fixed slopes, or trained parameters that start from them": "固定常数，或以此为初值的可训练参数",
  "slope times position exactly, or rounded to bfloat16": "斜率乘位置取精确值，或取其 bfloat16",
  "total number of buckets": "桶的总数",
  "distance from which all keys share the last bucket": "从这个距离起全部落入最后一个桶",
  "both: half of the buckets are for later keys; causal: later keys share bucket 0":
    "both：一半的桶留给后面的键；causal：后面的键都归 0 号桶",
  "softmax scale 1/d as in Inkling, or 1/sqrt(d) as in Inkling 2": "softmax 缩放取 1/d（Inkling），或 1/sqrt(d)（Inkling 2）",
  "softmax scale 1 as in T5, or 1/sqrt(d)": "softmax 缩放取 1（T5），或 1/sqrt(d)",
  "-r1 log(1 + r2 |i-j|), or -r1 |i-j|^r2": "-r1 log(1 + r2 |i-j|)，或 -r1 |i-j|^r2",
  "width of the network's hidden layer (ReLU)": "网络唯一隐藏层的宽度（ReLU）",
  "initial value of L": "L 的初值",
  "d: width of the sinusoids; even": "d：正弦编码的宽度；偶数",
  "index of the first frequency": "起始频率的下标",
  "number of cells along each axis": "每个轴上的格数",

  // tensors
  "row t + offset: the code of coordinate t": "第 t + offset 行：坐标 t 的编码",
  "row t is the code of position t; the codes of all rows^2 positions are computed from it":
    "第 t 行：位置 t 的编码；前 rows² 个位置都由此表推出",
  "row clip(j-i) + left: keys far back first": "第 clip(j-i) + left 行：最左（最远之前）的键在前",
  "row (i-j) + ahead: distances -ahead .. back in rising order; sinusoids, projected":
    "第 (i-j) + ahead 行：距离从 -ahead 到 back 递增；正弦编码经投影",
  "added to the query in the content term": "查询与键相乘时加到查询上",
  "added to the query in the position term": "查询与 r 相乘时加到查询上",
  "row b(i-j) + buckets: bucket of the distance, keys far ahead first; projected":
    "第 b(i-j) + buckets 行：距离所在的桶，最靠后的键在前；经投影",
  "row p: the vector of count p": "第 p 行：计数 p 的向量",
  "share of a frequency's cosine: key head, frequency, pair": "每个频率的余弦所占份额：键头、频率、分量对",
  "share of a frequency's sine: key head, frequency, pair": "每个频率的正弦所占份额：键头、频率、分量对",
  "radians: key head, element": "弧度：键头、分量",
  "row: the distance; what the caller's vector is multiplied with": "每行一个距离：与调用者给出的向量相乘",
  "row: bucket of the distance, keys at and before the query first": "每行一个距离桶，查询自身及之前的键在前",
  "strength per head; above 0": "每头的强度；大于 0",
  "reach (log) or exponent (power, at most 2) per head; above 0": "每头的作用范围（log）或指数（power，至多 2）；大于 0",
  "scale of the logarithm; above 0": "对数的尺度；大于 0",
  "queries before this position share one normaliser": "查询位置在此之前共用同一个归一化因子",
  "first layer": "第一层",
  "second layer": "第二层",
  "row (dy + h-1)(2w-1) + dx + w-1, query minus key": "第 (dy + h-1)(2w-1) + dx + w-1 行，偏移为查询减键",

  // papers and models with a remark
  "Haviv et al. 2022 (causal models without an encoding)": "Haviv et al. 2022（没有位置编码的因果模型）",
  "Thinking Machines Lab 2026 (transformers' inkling)": "Thinking Machines Lab 2026（transformers 的 inkling）",
  folklore: "常识性做法，无确切出处",
  "folklore; the step between integers and sinusoids": "常识性做法；从整数到正弦之间的一步",
  "Su 2020 (kexue.fm/archives/7947)": "苏剑林 2020（kexue.fm/archives/7947）",
  "Llama 4 (some layers)": "Llama 4（部分层）",
  "SmolLM3 (some layers)": "SmolLM3（部分层）",
  "Command R7B (some layers)": "Command R7B（部分层）",
  "Whisper encoder": "Whisper 编码器",
  "MAE (axes=2, layout=halves, (x, y))": "MAE（axes=2，layout=halves，坐标 (x, y)）",
  "DETR (axes=2, coordinates scaled to 2 pi)": "DETR（axes=2，坐标缩放到 2π）",
  "BERT (stretched from 512 to 262144 positions)": "BERT（从 512 个位置扩展到 262144 个）",
  "RetNet (its rotation)": "RetNet（其中的旋转）",
  "BERT relative_key (its rows in reverse)": "BERT relative_key（表的行序相反）",
  "Conformer encoders": "Conformer 编码器",
  "Jina embeddings (symmetric)": "Jina embeddings（对称形式）",
  "MPNet (scale=sqrt)": "MPNet（scale=sqrt）",
  "BEiT (between patches)": "BEiT（图像块之间）",
};

/** What encodings do with a position, and when to choose which (`posenc list --json`: ideas). */
export const ideaWords: Readonly<Record<string, { name: Words; about: Words }>> = {
  none: {
    name: { en: "none", zh: "无" },
    about: {
      en: "For layers between others that have an encoding, and as the baseline of a comparison: a causal mask alone tells some of the order.",
      zh: "用于夹在有位置编码的层之间的层，或作为比较的基线：只有因果掩码时，模型也能看出一部分顺序。",
    },
  },
  absolute: {
    name: { en: "absolute", zh: "绝对位置" },
    about: {
      en: "For encoders, pictures and time steps whose length is known: added once, before the first layer; past the trained length quality is lost.",
      zh: "用于长度已知的编码器、图像和时间步：只在第一层之前加一次；超过训练长度后质量下降。",
    },
  },
  rotation: {
    name: { en: "rotation", zh: "旋转" },
    about: {
      en: "For language models: positions become angles, and where nothing is learned the attention kernel stays as it is and keys can be moved in the cache; longer contexts usually need a scaling.",
      zh: "用于语言模型：位置变成角度；没有训练得到的参数时，注意力核不变，缓存里的键可以移动位置；更长的上下文通常需要缩放。",
    },
  },
  bias: {
    name: { en: "bias", zh: "偏置" },
    about: {
      en: "For sequences longer than those of training: a number by distance, from a formula or trained, is added to each score; a table of offsets ends with its window.",
      zh: "用于比训练时更长的序列：给每个分数加一个由距离决定的数，来自公式或训练；偏移表只到它的窗口为止。",
    },
  },
  content: {
    name: { en: "content", zh: "内容项" },
    about: {
      en: "Where the meaning of a distance depends on the word, as in encoders, translation and music: each query or key meets a vector by distance, which costs more.",
      zh: "用于距离的含义取决于词的任务，如编码器、翻译和音乐：每个查询或键与按距离取出的向量做内积，代价更高。",
    },
  },
  "data-dependent": {
    name: { en: "data-dependent", zh: "依赖数据" },
    about: {
      en: "Where the text itself says what is near or to be forgotten, such as the n-th sentence back: what is added to a score is computed from the tokens.",
      zh: "用于由文本本身决定远近或遗忘的情形，例如往前第 n 句：加到分数上的项由词元算出。",
    },
  },
};

/** The places of attention that an encoding touches: a short name, and what happens there. */
export const hookWords: Readonly<Record<string, { name: Words; about: Words }>> = {
  embed: {
    name: { en: "embed", zh: "嵌入" },
    about: {
      en: "added to the word's vector (or concatenated to it) before the first layer",
      zh: "在第一层之前加到词向量上（或拼在其后）",
    },
  },
  rotate: {
    name: { en: "rotate", zh: "旋转" },
    about: { en: "rotates queries and keys before their dot product", zh: "在做内积之前旋转查询和键" },
  },
  content: {
    name: { en: "content", zh: "内容项" },
    about: {
      en: "adds to the score a product of the query or the key with a vector of the distance",
      zh: "把查询（或键）与某个距离向量的内积加进分数",
    },
  },
  bias: {
    name: { en: "bias", zh: "偏置" },
    about: { en: "adds a number to the score that depends on the positions alone", zh: "把只由位置决定的一个数加进分数" },
  },
  value: {
    name: { en: "value", zh: "值" },
    about: { en: "adds a vector of the distance to the values that are averaged", zh: "把距离向量加到被加权平均的值上" },
  },
};

/** What a row may claim of itself: a short name, and the sentence that is measured. */
export const claimWords: Readonly<Record<string, { name: Words; about: Words }>> = {
  unique: {
    name: { en: "unique", zh: "唯一" },
    about: { en: "no two positions have the same code", zh: "任意两个位置的编码都不相同" },
  },
  "any-length": {
    name: { en: "any length", zh: "与长度无关" },
    about: {
      en: "a position's code does not depend on the length of the sequence",
      zh: "同一位置的编码不随序列长度改变",
    },
  },
  bounded: {
    name: { en: "bounded", zh: "有界" },
    about: { en: "the code is bounded for all positions of the sequence, however long it is", zh: "无论序列多长，其中各位置的编码都有界" },
  },
  linear: {
    name: { en: "linear", zh: "线性平移" },
    about: {
      en: "the code of t + k is one matrix M(k) times the code of t, plus one vector b(k)",
      zh: "位置 t + k 的编码等于 t 的编码乘矩阵 M(k) 再加向量 b(k)，两者只依赖 k",
    },
  },
  relative: {
    name: { en: "relative", zh: "只看相对位置" },
    about: { en: "the score depends on the distance i - j only", zh: "分数只依赖相对距离 i - j" },
  },
  norm: {
    name: { en: "keeps norms", zh: "保范数" },
    about: { en: "the vectors that it changes keep their norm", zh: "作用之后向量的模长不变" },
  },
  axes: {
    name: { en: "axes apart", zh: "各轴独立" },
    about: { en: "axes do not mix", zh: "多维坐标的各个轴互不干扰" },
  },
  symmetric: {
    name: { en: "symmetric", zh: "对称" },
    about: { en: "distances i - j and j - i give the same score", zh: "i 在 j 前与 j 在 i 前看起来一样" },
  },
  invertible: {
    name: { en: "invertible", zh: "可逆" },
    about: { en: "unrotate undoes rotate", zh: "反向旋转能完全还原" },
  },
  endless: {
    name: { en: "endless", zh: "没有尽头" },
    about: { en: "every position has a code, however far", zh: "任意远的位置都有编码" },
  },
  learned: {
    name: { en: "learned", zh: "可训练" },
    about: { en: "has parameters to train", zh: "含有需要训练的参数" },
  },
};

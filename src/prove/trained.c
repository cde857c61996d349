/* SPDX-License-Identifier: MIT
 *
 * Claims on what training makes of words, codes, queries and keys, measured on small trained models: the list. */
#include "prove/trained.h"

static const prove_claim claims[] = {
    { .name = "trained-orthogonal",
      .claim = { "Training makes words and position codes orthogonal, more than random directions are.",
                 "训练使词向量与位置编码正交，程度超过随机方向。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .rule = { "It holds if in every model the mean |cos| of the 64 most frequent bytes and all codes is below that "
                "of random directions of that width, both as they are and with the means taken off both, and is refuted "
                "if in none: chance is the border. Controls: both before training and the same codes turned at random "
                "(as chance), words with one another (farther), codes less what lies along the words (closer).",
                "成立的条件：每个模型中，最常见的 64 个字节与所有编码的 |cos| 均值都低于同宽度的随机方向，无论是否减去各自"
                "的均值；都不低于则不成立。以随机为界。对照：训练之前、随机旋转后的编码（与随机相同）；词向量之间（更偏离"
                "正交）；去掉沿词向量分量的编码（更接近正交）。" },
      .given = { .spec = { "sinusoidal", "learned" } },
      .trained = true,
      .measure = measure_trained_orthogonal },
    { .name = "trained-adding",
      .claim = { "From the sum of a trained word and a code a linear map can read both.",
                 "线性映射能从训练后的词向量与编码之和中同时读出两者。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .rule = { "It holds if in every model the sums of the 64 most frequent bytes with every place are all read "
                "right, word and place, by a map that is fitted on some of them and asked about the others, in "
                "each of 20 draws of those, whatever share is fitted: 1, 2, 3, 4 or 6 eighths, ten times as many "
                "sums as a map has unknowns or more. Nothing lost means all, and no share is better founded than "
                "another. It is refuted if in no model and at no share all are. Control: an eighth of the "
                "elements.",
                "成立的条件：每个模型中，最常见的 64 个字节与每个位置之和，随机取一部分拟合线性映射，其余的词与位"
                "置全部读对，20 次抽取都如此，且与拟合份额无关：八分之 1、2、3、4、6，和的个数至少是未知数的十倍"
                "。“没有损失”就是全部，也没有哪个份额更有道理。没有一个模型在任何份额下如此则不成立。对照：只看八"
                "分之一的元素。" },
      .given = { .spec = { "sinusoidal", "learned" }, .seed = 1 },
      .trained = true,
      .measure = measure_trained_adding },
    { .name = "trained-concatenating",
      .claim = { "Codes that are added to words serve trained models as well as codes that are concatenated.",
                 "对训练后的模型，编码与词向量相加和拼接一样好。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .rule = { "One kind is better if its bits per byte on the whole text differ by more than seeds make them: "
                "Welch's t-test, p below 5 %, as in posenc race; quarters of the text are shown. It is refuted "
                "if the same kind is better at every amplitude of the code that is added, and holds if neither "
                "is at any. With amplitude 0.5 it is as strong beside the words that training starts from as the "
                "concatenated code, which has a quarter of the elements. Both are as wide, codes included. A "
                "length counts where both beat the control, models without an encoding, by the same test; the "
                "first that does not ends it.",
                "一类更好的条件：两类在整个文本上的每字节比特数之差超过随机种子造成的差异（Welch t 检验，p 低于 5"
                " %，与 posenc race 相同）；文本的四个部分另行列出。无论相加的编码振幅多大都是同一类更好则不成立"
                "；在任何振幅下都没有更好的一类则成立。振幅为 0.5 时，编码相对训练起点的词向量与拼接的编码一样强"
                "，后者只有四分之一的元素。两类宽度相同（含编码）。某一长度计入的条件是两类都按同一检验好于对照，"
                "即没有位置编码的模型；遇到第一个不计入的长度就停止。" },
      .given = { .spec = { "sinusoidal", "sinusoidal:scale=0.5", "sinusoidal:scale=2", "sinusoidal:join=concat",
                           "none" } },
      .trained = true,
      .measure = measure_trained_concatenating },
    { .name = "trained-residuals",
      .claim = { "In trained models residual connections carry the codes through all layers.",
                 "在训练后的模型中，残差连接让位置编码穿过所有层。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .rule = { "It holds if in every model that adds codes the R^2 of the place, in what enters each layer and "
                "what leaves the last, is at least half of the input's, and less than half in the control, the "
                "stream less its input: what the layers have written themselves. It is refuted if none is half. "
                "The map is fitted on 16384 tokens, 169 for each unknown of a model that is 96 wide, and asked "
                "about 8192 others; fits on 1024 and 4096 show how far it has converged, and encodings without a "
                "code what attention puts there.",
                "成立的条件：每个相加编码的模型中，进入各层以及离开最后一层的位置 R² 都不低于输入层的一半，而对照"
                "（残差流减去其输入，即各层自己写入的部分）不足一半；都不足一半则不成立。映射由 16384 个词元拟合"
                "（宽 96 的模型中每个未知数 169 个），用另外 8192 个测试；1024 和 4096 个词元的拟合显示收敛到什么"
                "程度，没有编码相加的模型显示注意力自己放入了多少。" },
      .given = { .spec = { "none", "rope", "alibi", "t5", "sinusoidal", "learned" } },
      .trained = true,
      .measure = measure_trained_residuals },
    { .name = "trained-reach",
      .claim = { "Trained queries look at near keys.", "训练后的查询主要看邻近的键。" },
      .source = "Sukhbaatar et al. 2019 (arXiv:1905.07799)",
      .rule = { "It holds if in every layer of every model the mean distance of attention is below half of what even "
                "attention has, for queries in the second half of 8 windows: near means nearer than halfway.",
                "成立的条件：每个模型的每一层，8 个窗口后半部分的查询，其注意力的平均距离都不到均匀注意力的一半。" },
      .given = { .spec = { "none", "sinusoidal", "learned", "rope", "alibi", "t5" } },
      .trained = true,
      .measure = measure_trained_reach },
    { .name = "trained-rope-decays",
      .claim = { "With trained queries and keys RoPE's scores fall with the distance.",
                 "用训练后的 q 和 k，RoPE 的分数随距离下降。" },
      .source = "Su et al. 2021, 3.4.3 (arXiv:2104.09864); against it Barbero et al. 2024 (arXiv:2410.06205)",
      .rule = { "It holds if in every head of every model the mean score over 8 windows falls with each doubling of "
                "the "
                "distance, and is refuted if in none.",
                "成立的条件：每个模型的每个头，8 个窗口的平均分数随距离每翻一倍都下降；都不则不成立。" },
      .given = { .spec = { "rope", "alibi" } },
      .trained = true,
      .measure = measure_trained_decay },
    { .name = "trained-bfloat16",
      .claim = { "With trained queries and keys, too, RoPE's scores in bfloat16 depend on more than the distance.",
                 "用训练后的 q 和 k，bfloat16 下 RoPE 的分数同样不再只取决于距离。" },
      .source = "Wang et al. 2024 (arXiv:2411.13476)",
      .rule = { measure_moved_rule, measure_moved_rule_zh }, /* a seed draws queries and keys of the text */
      .given = { .spec = { "rope" }, .heads = 1, .length = 1 << 17, .seed = 10 },
      .trained = true,
      .measure = measure_trained_bf16 },
    { .name = "trained-table",
      .claim = { "In a learned table near rows are alike, as in sinusoids.",
                 "学习出的位置表与正弦编码一样，相近的行相似。" },
      .source = "Wang et al. 2021 (openreview.net/forum?id=onxoVA9FxMw); Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .rule = { "It holds if in every model the mean cosine of two rows, less the mean row, falls with each doubling "
                "of "
                "their distance, as that of sinusoids does.",
                "成立的条件：每个模型中，两行（减去平均行）的平均余弦随距离每翻一倍都下降，与正弦编码一样。" },
      .given = { .spec = { "learned", "sinusoidal" }, .seed = 1 },
      .trained = true,
      .measure = measure_trained_table },
    { .name = "trained-learned",
      .claim = { "Learned codes and sinusoids serve trained models equally well.",
                 "对训练后的模型，可学习编码与正弦编码一样好。" },
      .source = "Vaswani et al. 2017, 3.5 and table 3 (arXiv:1706.03762)",
      .rule = { "One kind is better if its bits per byte on the whole text differ by more than seeds make them: "
                "Welch's t-test, p below 5 %, as in posenc race; quarters of the text are shown. It holds if "
                "neither is, at the trained length (past it a table has no rows), and is refuted if one is; if "
                "all of one kind are better and p is larger, it is open. Control: models without an encoding, "
                "which both must beat by the same test.",
                "一类更好的条件：两类在整个文本上的每字节比特数之差超过随机种子造成的差异（Welch t 检验，p 低于 5"
                " %，与 posenc race 相同）；文本的四个部分另行列出。在训练长度上（超出后位置表没有行）都不更好则"
                "成立，有一类更好则不成立；一类全部更好但 p 更大，则未定。对照：没有位置编码的模型，两类都必须按"
                "同一检验更好。" },
      .given = { .spec = { "learned", "sinusoidal", "none" } },
      .trained = true,
      .measure = measure_trained_learned },
};

const prove_group prove_group_trained = { .name = "trained",
                                          .title = { "What small trained models do", "训练过的小模型" },
                                          .claims = claims,
                                          .count = sizeof claims / sizeof *claims };

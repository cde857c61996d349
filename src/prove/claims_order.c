/* SPDX-License-Identifier: MIT
 *
 * Claims: attention takes a set. One layer, random words, random projections; what changes when the words change
 * places? */
#include "prove/order.h"

#define SMALL .heads = 4, .head_dim = 16, .model_dim = 64, .length = 7, .seed = 1
#define NONE .spec = { "none" }

static const prove_claim claims[] = {
    { .name = "two-dogs",
      .claim = { "The same word at two places gets the same attention output without a position encoding, and "
                 "different "
                 "ones with any.",
                 "没有位置编码时，同一个词在两个位置上的注意力输出相同；加上任何一种位置编码就不同。" },
      .put = { "With it, the same word at two places gets two different attention outputs.",
               "用了它，同一个词在两个位置上的注意力输出不同。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .given = { SMALL },
      .measure = order_dogs,
      .takes = PROVE_ANY },
    { .name = "order-blind",
      .claim = { "Without a position encoding permuted words give permuted outputs: A' = P A P^T.",
                 "没有位置编码时，打乱词序只会把输出同样打乱：A' = P A P^T（置换等变）。" },
      .put = { "Permuted words give permuted outputs: A' = P A P^T.",
               "打乱词序，输出只是同样打乱：A' = P A P^T（置换等变）。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .given = { SMALL, NONE },
      .measure = order_blind,
      .takes = PROVE_ANY },
    { .name = "pooled-blind",
      .claim = { "What is pooled over the outputs (sum, mean, attention with a fixed query) then does not change at "
                 "all.",
                 "此时对输出做池化（求和、平均、固定查询的注意力池化），结果完全不变（置换不变）。" },
      .put = { "What is pooled over the outputs (sum, mean, attention with a fixed query) does not change when the "
               "words change places.",
               "打乱词序后对输出做池化（求和、平均、固定查询的注意力池化），结果不变（置换不变）。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .given = { SMALL, NONE },
      .measure = order_pooled,
      .takes = PROVE_ANY },
    { .name = "cross-blind",
      .claim = { "Cross-attention does not notice that its keys have changed places.",
                 "交叉注意力的键换了顺序，输出不变。" },
      .put = { "Cross-attention does not notice that its keys have changed places.",
               "交叉注意力的键换了顺序，输出不变。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .given = { SMALL, NONE },
      .measure = order_cross,
      .takes = PROVE_ANY },
    { .name = "order-seen",
      .claim = { "Every position encoding breaks this symmetry, without a mask.",
                 "不加掩码时，每种位置编码都会打破这种对称性。" },
      .put = { "It breaks the symmetry of attention: permuted words give more than permuted outputs, without a mask.",
               "它打破注意力的对称性：不加掩码时，打乱词序后输出不只是随之打乱。" },
      .source = "Dufter et al. 2021 (arXiv:2102.11090)",
      .given = { SMALL },
      .measure = order_seen,
      .takes = PROVE_ANY },
    { .name = "causal-mask",
      .claim = { "A causal mask alone already breaks it: a decoder needs no encoding to see order.",
                 "仅有因果掩码就已打破对称：解码器不用位置编码也能感知顺序。" },
      .source = "Haviv et al. 2022 (arXiv:2203.16634)",
      .given = { SMALL, NONE, .causal = true },
      .measure = order_causal },
    { .name = "reversal-blind",
      .claim = { "A bias in |i - j| alone cannot tell a text from the same text read backwards.",
                 "只含 |i - j| 的偏置分不清一段文字是正读还是倒读。" },
      .put = { "It cannot tell a text from the same text read backwards.", "它分不清一段文字是正读还是倒读。" },
      .source = "Yan et al. 2019, on direction (arXiv:1911.04474)",
      .given = { SMALL, .spec = { "alibi:form=symmetric", "kerple", "sandwich" } },
      .measure = order_reversal_blind,
      .takes = PE_HOOK_BIAS },
    { .name = "reversal-seen",
      .claim = { "A position encoding tells a text from the same text read backwards.", "位置编码能区分正读与倒读。" },
      .put = { "It tells a text from the same text read backwards.", "它能区分一段文字的正读与倒读。" },
      .source = "Yan et al. 2019, on direction (arXiv:1911.04474)",
      .given = { SMALL },
      .measure = order_reversal_seen,
      .takes = PROVE_ANY },
};

const prove_group prove_group_order = { .name = "order",
                                        .title = { "Does attention see order?", "注意力看得到顺序吗？" },
                                        .claims = claims,
                                        .count = (int)(sizeof claims / sizeof *claims) };

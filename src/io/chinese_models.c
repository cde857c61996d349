/* SPDX-License-Identifier: MIT
 *
 * The Chinese of the tool: what explain and extend say of models, their lengths and the methods for longer ones. */
#include "io/chinese.h"

#include <stddef.h>

/* clang-format off */
const words chinese_models[] = {
    { "trained at {} positions, and served at more only with dual chunk attention, which no spec says: sglang "
      "--attention-backend dual_chunk_flash_attn; in vllm VLLM_ATTENTION_BACKEND=DUAL_CHUNK_FLASH_ATTN, where "
      "VLLM_USE_V1=0 still works ({})",
      "训练长度为 {} 个位置，更长的部分只能用双块注意力，spec 无法表示：sglang 用 --attention-backend "
      "dual_chunk_flash_attn；vllm 在仍支持 VLLM_USE_V1=0 的版本中用 VLLM_ATTENTION_BACKEND=DUAL_CHUNK_FLASH_ATTN（{}）" },
    /* explain */
    { "file", "文件" },
    { "format", "格式" },
    { "no type in the file", "文件中没有类型" },
    { "Lengths", "长度" },
    { "trained", "训练" },
    { "served", "服务" },
    { "positions", "个位置" },
    { "numbers", "个数" },
    { "{} positions, {} times the trained length", "{} 个位置，是训练长度的 {} 倍" },
    { "{} positions", "{} 个位置" },
    { "not in the file; --trained N gives it", "文件中没有；可用 --trained N 给出" },
    { "not in the file", "文件中没有" },
    { "Every layer", "每一层" },
    { "Layers of kind {} of {}", "第 {} 类层（共 {} 类）" },
    { "layers", "层" },
    { "heads", "头" },
    { "pairs", "对" },
    { "base", "底数" },
    { "scaling", "缩放" },
    { "{} of dimension {}, {} for keys and values", "{} 个，维度 {}，其中 {} 个键值头" },
    { "{} of dimension {}", "{} 个，维度 {}" },
    { "none: these layers are not rotated", "none：这些层不旋转" },
    { "half [ccss]: elements i and i + d/2", "half [ccss]：分量 i 与 i + d/2 成对" },
    { "adjacent [cscs]: elements 2i and 2i + 1", "adjacent [cscs]：分量 2i 与 2i + 1 成对" },
    { "adjacent-half [cscs -> ccss]: elements 2i and 2i + 1, written to i and i + d/2",
      "adjacent-half [cscs -> ccss]：分量 2i 与 2i + 1 成对，写到 i 与 i + d/2" },
    { "half [ccss] in each block of {} elements: elements i and i + {} of it",
      "half [ccss]，每 {} 个分量为一块：块内分量 i 与 i + {} 成对" },
    { "{}; {} pairs, all {} of {} elements", "{}；共 {} 对，全部 {4} 个分量都旋转" },
    { "{}; {} pairs, the first {} of {} elements", "{}；共 {} 对，旋转 {4} 个分量中的前 {3} 个" },
    { "{}; {} pairs, the last {} of {} elements", "{}；共 {} 对，旋转 {4} 个分量中的后 {3} 个" },
    { "none: the frequencies are as trained", "none：频率与训练时相同" },
    { "linear: every frequency is divided by {}", "linear：所有频率除以 {}" },
    { "dynamic NTK: nothing changes up to {} positions; for a longer sequence the base grows with the sequence "
      "length, factor {}",
      "dynamic NTK：{} 个位置以内不变；更长的序列，底数随序列长度增大，factor 为 {}" },
    { "NTK: the base is multiplied by {}, which lowers the lowest frequencies most",
      "NTK：底数乘以 {}，越低的频率降得越多" },
    { "YaRN: pairs with more than {} turns in {} positions keep their frequency, the frequency of pairs with "
      "fewer than {} is divided by {}, and a linear ramp blends both between these",
      "YaRN：在 {2} 个位置内转 {1} 圈以上的对保持频率，少于 {3} 圈的对频率除以 "
      "{4}，中间的对按线性斜坡混合" },
    { "its ends are not rounded to whole pairs (truncate is false)",
      "斜坡两端不取整（truncate 为 false）" },
    { "the factor is that of mscale {} over mscale_all_dim {}",
      "系数由 mscale {} 与 mscale_all_dim {} 之比决定" },
    { "LongRoPE: each pair has its own divisor, the short list up to {} positions, the long list beyond",
      "LongRoPE：每一对有自己的除数，{} 个位置以内用 short 表，以外用 long 表" },
    { "llama3: pairs with more than {} turns in {} positions keep their frequency, the frequency of pairs with "
      "fewer than {} is divided by {}, and those between get a mix of both",
      "llama3：在 {2} 个位置内转 {1} 圈以上的对保持频率，少于 {3} 圈的对频率除以 "
      "{4}，中间的对取两者的混合" },
    { "p-RoPE: the first {} of the pairs are rotated, the rest are not",
      "p-RoPE：前 {} 的对旋转，其余不旋转" },
    { "every frequency is divided by {}", "所有频率除以 {}" },
    { "the rotation is by the negative angle", "按负角度旋转" },
    { "2i/(d-2) instead of 2i/d", "用 2i/(d-2) 代替 2i/d" },
    { "the pairs of the coordinates are interleaved, sections {}", "各坐标的对交错排列，sections 为 {}" },
    { "each coordinate has a block of pairs, one after the other: {}", "每个坐标占连续的一段对：{}" },
    { "{} coordinates per token, split {}", "每个词元 {} 个坐标，按 {} 划分" },
    { "scaled to -1..1 over {} cells", "在 {} 个格上缩放到 -1..1" },
    { "queries are multiplied by {} at position t", "位置 t 的查询乘以 {}" },
    { "values are rotated too", "值也旋转" },
    { "the attention output is rotated back", "注意力输出再转回来" },
    { "computed in float32 as {} does", "按 {} 的做法以 float32 计算" },
    { "{} to {} over the heads, at distance {}", "距离 {3} 处，各头为 {1} 到 {2}" },
    { "the table has {} positions, 0 to {}", "表中有 {} 个位置，0 到 {}" },
    { "no engine has an embedding for positions beyond them", "更远的位置在任何引擎中都没有编码" },
    { "cos and sin are multiplied by {}, and so the rotated part of a score by its square, {}",
      "cos 和 sin 乘以 {}，因此分数中旋转的部分乘以它的平方 {}" },
    { "scores are not divided by the square root of the head dimension", "分数不除以头维度的平方根" },
    { "the softmax scale is multiplied by {}", "softmax 的缩放再乘以 {}" },
    { "window of {}", "窗口 {}" },
    { "--layer N shows the wavelengths of more layers, --json of all.",
      "--layer N 显示其他层的波长，--json 显示全部。" },
    { "Wavelengths and the trained length", "波长与训练长度" },
    { "shortest", "最短" },
    { "longest", "最长" },
    { "turns", "圈数" },
    { "columns", "各列" },
    { "pair", "对" },
    { "wavelength", "波长" },
    { "turns in training", "训练中的圈数" },
    { "frequency", "频率" },
    { "new angles from", "从何处起有新角度" },
    { "frequency|unchanged", "不变" },
    { "not rotated", "不旋转" },
    { "new angles from|never", "没有" },
    { "never (all seen)", "没有（都见过）" },
    { "never (window)", "没有（有窗口）" },
    { "sequence length", "序列长度" },
    { "{} positions, the served length (--length N for another)",
      "{} 个位置，即服务长度（--length N 可换）" },
    { "{} positions (pair {})", "{} 个位置（第 {} 对）" },
    { "the trained length is not known; --trained N gives it", "训练长度未知；可用 --trained N 给出" },
    { "every rotated pair completes a turn in training ({} positions)",
      "训练中（{} 个位置）每个旋转的对都转满一圈" },
    { "pairs {} ({} of {}) never complete a turn in {} positions, the window",
      "第 {} 对（{3} 对中的 {2} 对）在窗口的 {4} 个位置内转不满一圈" },
    { "pairs {} ({} of {}) never complete a turn in {} positions",
      "第 {} 对（{3} 对中的 {2} 对）在 {4} 个位置内转不满一圈" },
    { "pair {} ({} of {}) never complete a turn in {} positions",
      "第 {} 对（{3} 对中的 {2} 对）在 {4} 个位置内转不满一圈" },
    { "wavelengths are those after scaling, turns in training those before",
      "波长是缩放之后的，训练中的圈数是缩放之前的" },
    { "Where extrapolation starts", "外推从哪里开始" },
    { "At position {}, the trained length: the {} pairs with less than one turn in training reach new angles "
      "there.",
      "从位置 {}（训练长度）起：训练中不到一圈的 {} 对在那里遇到新的角度。" },
    { "At position {}, not at {}: the {} pairs with less than one turn in training now have a new frequency "
      "({}), and reach new angles only there.",
      "从位置 {} 起，而不是 {}：训练中不到一圈的 {} "
      "对现在有了新的频率（{}），到那里才遇到新的角度。" },
    { "At position {}: pair {} ({}) is the first to reach an angle that it never reached in training; pair {} "
      "is the last, at {}.",
      "从位置 {} 起：第 {} 对（{}）最先转到训练中没有到过的角度；最后是第 {} "
      "对，在 {}。" },
    { "The served length, {}, stays below that.", "服务长度 {} 还没有到那里。" },
    { "The length asked for, {}, stays below that.", "所问的长度 {} 还没有到那里。" },
    { "The served length, {}, is beyond that: the angle of pair {} is then up to {} times the largest in "
      "training.",
      "服务长度 {} 超出了那里：第 {} 对的角度那时最大是训练中最大角度的 {} 倍。" },
    { "The length asked for, {}, is beyond that: the angle of pair {} is then up to {} times the largest in "
      "training.",
      "所问的长度 {} 超出了那里：第 {} 对的角度那时最大是训练中最大角度的 {} "
      "倍。" },
    { "Nowhere: the window keeps keys less than {} positions away, in training and afterwards, so no pair "
      "reaches a new angle.",
      "没有：窗口使键始终在 {} "
      "个位置以内，训练中和之后都是如此，所以没有一对会遇到新的角度。" },
    { "No pair reaches an angle that it never had in training; past position {} only combinations of angles "
      "are new.",
      "没有一对会遇到训练中没有的角度；位置 {} 之后只有角度的组合是新的。" },
    { "The other pairs reached every angle in training; only their combinations are new.",
      "其余的对在训练中转遍了所有角度，只有它们的组合是新的。" },
    { "The trained length is the one in the file. A model that was fine-tuned at a longer length has seen more "
      "angles: if the model's own scaling covers the served length, posenc extend treats that length as "
      "trained.",
      "训练长度取自文件。在更长的长度上微调过的模型见过更多角度：如果模型"
      "自带的缩放覆盖了服务长度，posenc extend 就把服务长度当作训练过的长度。" },
    { "Notes", "注意" },
    { "note", "说明" },
    { "WARNING", "警告" },
    { "GUESS", "推测" },
    { "Engines that are known to compute something else", "已知计算结果不同的引擎" },
    { "no setting", "没有设置项" },
    { "{}: decided by the model's code or its file", "{}：由模型的代码或文件决定" },
    { "remark", "备注" },
    { "source", "来源" },
    { "Settings for {}", "{} 的设置" },
    { "No layer is rotated, so only the length can be set: what the model's code adds is fixed.",
      "没有旋转的层，所以只能设置长度：模型代码所加的内容是固定的。" },
    { "Replace these keys in config.json:", "在 config.json 中替换这些键：" },
    { "attention", "注意力" },
    { "learned", "可学习" },
    /* extend */
    { "target", "目标" },
    { "{} (by a scaling that was not trained)", "{}（靠没有训练过的缩放）" },
    { "{} (offered by the model's makers with its own scaling, so it counts as trained)",
      "{}（模型作者用它自带的缩放提供，因此算作训练过）" },
    { "{} (not longer than the trained length)", "{}（不超过训练长度）" },
    { "{} (not longer than the served length)", "{}（不超过服务长度）" },
    { "{} ({} x)", "{}（{} 倍）" },
    { "windows", "窗口" },
    { "{} layers have a window and need no change; this plan changes {} of them too, because the config has "
      "one rotation for all layers",
      "{} "
      "层有窗口，不需要改；但配置里所有层共用一个旋转，所以这个方案也会改"
      "动其中 {} 层" },
    { "{} layers have a window, and stay as they are", "{} 层有窗口，保持不变" },
    { "{} layers are not rotated", "{} 层不旋转" },
    { "others", "其他" },
    { "other layers without a window rotate differently; the plan covers only layers with this spec",
      "其他没有窗口的层旋转方式不同；这个方案只涉及具有此 spec 的层" },
    { "{} pairs, and their turns over {} positions", "{} 对，以及它们在 {} 个位置上的圈数" },
    { "longer sequences", "更长的序列" },
    { "new angles", "有新角度" },
    { "no new angle", "没有新角度" },
    { "Methods (* recommended)", "方法（* 为推荐）" },
    { "number", "参数" },
    { "pairs with new angles", "有新角度的对" },
    { "pairs with new angles|none", "无" },
    { "{} ({}), {} x", "{}（{}），{} 倍" },
    { "up to {}", "至多 {}" },
    { "short prompts", "短提示" },
    { "short prompts: unchanged", "短提示：不变" },
    { "short prompts: the same angles, logits x {}", "短提示：角度相同，logits 乘以 {}" },
    { "short prompts: {} pairs are no longer rotated, from pair {}",
      "短提示：从第 {2} 对起，{1} 对不再旋转" },
    { "short prompts: {} pairs change, from pair {} (frequency x {}), by {} on average, by {} rad at distance "
      "{}",
      "短提示：从第 {2} 对起 {1} 对改变（频率乘以 {3}），平均改变 {4}，距离 {6} "
      "处改变 {5} 弧度" },
    { "does not apply: {}", "不适用：{}" },
    { "Choice", "选择" },
    { "recommended", "推荐" },
    { "because", "理由" },
    { "taken", "采用" },
    { "it replaces the model's own {}, with which the model was trained",
      "它取代模型自带的 {}，而模型是用后者训练的" },
    { "pairs {} still reach new angles, up to {} x", "第 {} 对仍会遇到新角度，最大 {} 倍" },
    { "Before transformers 5.0:", "transformers 5.0 之前：" },
    { "Answer", "回答" },
    { "{}, {} positions", "{}，{} 个位置" },
    { "nothing changes: only the length is raised", "什么都不改：只增大长度" },
    { "divides every frequency: neighbours get closer; the paper fine-tunes 1000 steps",
      "所有频率除以同一个数：相邻位置靠得更近；论文微调了 1000 步" },
    { "a larger theta: fast pairs almost keep their frequency; used without training",
      "增大 theta：快的对几乎保持频率；不训练即可使用" },
    { "theta grows with the sequence; keys cached before it grows keep their old angles",
      "theta 随序列增大；在此之前缓存的键保持旧的角度" },
    { "interpolates slow pairs, keeps fast ones, scales logits up; the paper fine-tunes 400 steps",
      "内插慢的对，保持快的对，放大 logits；论文微调了 400 步" },
    { "a divisor per pair: 1 above 32 turns, the whole factor below 1, geometric in log(turns) between: a "
      "start value for the paper's search, not its result",
      "每一对一个除数：32 圈以上为 1，不到 1 圈为整个 factor，中间按 log(圈数) "
      "几何过渡：这是论文搜索的初值，不是搜索的结果" },
    { "interpolates slow pairs, keeps fast ones, no temperature; Llama 3.1 was trained with it",
      "内插慢的对，保持快的对，没有温度；Llama 3.1 就是用它训练的" },
    { "pairs without a full turn are no longer rotated; the model must be trained with this",
      "转不满一圈的对不再旋转；模型必须这样训练" },
    { "the model was trained with {}: raise its factor; two scalings are never stacked",
      "模型是用 {} 训练的：增大它的 factor；两种缩放不能叠加" },
    { "the model is set to {}, which grows with the sequence: its factor stays, and it is never stacked with a "
      "second scaling",
      "模型设置的是 {}，它随序列增长：factor 不变，也不与第二种缩放叠加" },
    { "up to {} times the length a larger theta was the best measured, or near it, and every engine can set it",
      "到 {} 倍长度为止，增大 theta "
      "的实测结果最好或接近最好，而且每个引擎都能设置" },
    { "past {} times the length a larger theta was the best where a head has 4 pairs, for which YaRN's ramp is "
      "coarse, but it still lost much quality",
      "超过 {} 倍长度时，如果每个头只有 4 对（YaRN 的斜坡太粗），增大 theta "
      "最好，但质量仍损失很多" },
    { "past {} times the length YaRN was the best where a head has 16 pairs, and lost much all the same "
      "without training",
      "超过 {} 倍长度时，如果每个头有 16 对，YaRN 最好，但不训练仍损失很多" },
    { "this was measured on two small models (docs/eval.md)",
      "这是在两个小模型上测得的（docs/eval.md）" },
    { "measure yours with posenc eval", "请用 posenc eval 测量你的模型" },
    { "every pair completed a full turn, so only distances are new, not angles; raise the length, and measure",
      "每一对都转满了一圈，所以只有距离是新的，角度不是；增大长度，然后测量" },
    { "it is a Llama 3 (theta 500000): its successors were extended this way",
      "这是 Llama 3（theta 500000）：它的后续版本就是这样扩展的" },
    { "it is a Qwen: its makers prescribe YaRN (factor 4 of 32768 for Qwen2.5 and Qwen3)",
      "这是 Qwen：作者规定用 YaRN（Qwen2.5 和 Qwen3 从 32768 起 factor 为 4）" },
    { "no method keeps every pair within the range it has seen; the model has to be trained longer",
      "没有一种方法能让每一对都留在见过的范围内；模型需要在更长的长度上训练" },
    { "{}, the usual choice here, leaves pairs outside the trained range; this is the next that does",
      "这里通常选 {}，但它让一些对超出训练过的范围；这是下一个满足要求的方法" },
    { "{}, the usual choice here, does not apply to this model; this is the next that does",
      "这里通常选 {}，但它不适用于这个模型；这是下一个适用的方法" },
    { "max_position_embeddings stays: dynamic takes it for the trained length",
      "max_position_embeddings 不变：dynamic 把它当作训练长度" },
    { "for versions that read rope_scaling, pass the same object under that name",
      "对于读取 rope_scaling 的版本，用这个名字传入同样的对象" },
    { "it makes a table of max_position_embeddings x factor rows: leave that key out where the file has the "
      "trained length",
      "它会生成 max_position_embeddings 乘以 factor "
      "行的表：如果文件里写的是训练长度，就不要写这个键" },
    { "rope_type proportional is for models that were trained so",
      "rope_type proportional 只用于这样训练过的模型" },
    { "which is the plain base where the factor is 1: take --method ntk",
      "factor 为 1 时它就是原来的底数：请用 --method ntk" },
    { "--method ntk is the same at the full length", "在最大长度处与 --method ntk 相同" },
    { "convert the changed config.json again", "用改过的 config.json 重新转换" },
    { "convert the changed config.json again, and train the model so",
      "用改过的 config.json 重新转换，并照此训练模型" },
    { "has no option for {}", "没有 {} 的选项" },
    { "the GGUF carries it as the tensor rope_freqs, which the converter writes",
      "GGUF 用张量 rope_freqs 保存它，由转换程序写入" },
    { "a GGUF of this model has its own divisors, which still apply together with these flags: two scalings, "
      "stacked",
      "这个模型的 GGUF 有自己的除数，与这些参数同时起作用：两种缩放叠加" },
    { "ALiBi is a slope on the distance, defined at any length; Press et al. 2021 (2108.12409) trained at 1024 "
      "and read 2048 and more. There is nothing to set: raise the served length, and measure.",
      "ALiBi 是按距离的斜率，在任何长度上都有定义；Press 等 2021（2108.12409）在 1024 "
      "上训练，可以读 2048 以上。没有要设置的：增大服务长度，然后测量。" },
    { "T5's buckets give every distance past max_distance one bias, so any length is defined (Raffel et al. "
      "2019, 1910.10683). There is nothing to set; far tokens all look equally far.",
      "T5 的分桶让超过 max_distance "
      "的距离共用一个偏置，所以任何长度都有定义（Raffel 等 "
      "2019，1910.10683）。没有要设置的；远处的词元看起来一样远。" },
    { "The model has no position encoding, only the causal mask (Kazemnejad et al. 2023, 2305.19466). There is "
      "nothing to set; such models lose quality past the trained length all the same.",
      "模型没有位置编码，只有因果掩码（Kazemnejad 等 "
      "2023，2305.19466）。没有要设置的；超过训练长度后这类模型的质量同样会下降。" },
    { "Inkling's bias depends on the distance and is 0 past its last profile, so any length is defined. There is "
      "nothing to set: raise the served length, and measure.",
      "Inkling 的偏置取决于距离，超过最后一行之后为 0，所以任何长度都有定义。没有要设置的：增大服务长度，然后测量。" },
    { "Inkling's bias depends on the distance and is 0 past its last profile, so any length is defined; "
      "log_scaling_n_floor makes the scores of late queries larger. There is nothing to set: raise the served length, "
      "and measure.",
      "Inkling 的偏置取决于距离，超过最后一行之后为 0，所以任何长度都有定义；log_scaling_n_floor "
      "使靠后的查询的分数更大。没有要设置的：增大服务长度，然后测量。" },
    { "xPos rotates as RoPE does, with a decay, and no scaling of its frequencies is established. Its authors read longer "
      "texts in blocks that see no further than the block before (Sun et al. 2022, 2212.10554), which needs code in the "
      "engine.",
      "xPos 像 RoPE 一样旋转并带衰减，它的频率没有公认的缩放方法。作者分块读更长的文本，"
      "每块只看到前一块为止（Sun 等 2022，2212.10554），这需要修改引擎的代码。" },
    { "FoPE has no frequency that completes less than a turn within its trained length, so no angle is new at any "
      "length (Hua et al. 2024, 2412.17739). There is nothing to set: raise the served length, and measure.",
      "FoPE 没有在训练长度内转不满一圈的频率，所以任何长度都没有新的角度（Hua 等 "
      "2024，2412.17739）。没有要设置的：增大服务长度，然后测量。" },
    { "PoPE's cosines see new angles past the trained length, and no scaling of its frequencies is established. Its "
      "authors read longer texts without one (Gopalakrishnan et al. 2025, 2509.10534): raise the served length, and "
      "measure.",
      "超过训练长度后 PoPE 的余弦会遇到新的角度，它的频率没有公认的缩放方法。作者不用缩放就读更长的文本"
      "（Gopalakrishnan 等 2025，2509.10534）：增大服务长度，然后测量。" },
    { "The table of positions ends where training ended: there is no row for a later one. It can be continued "
      "by posenc's hierarchical row (a new row is a mix of two trained ones), which needs code in the engine.",
      "位置表到训练长度为止：更远的位置没有对应的行。可以用 posenc 的 "
      "hierarchical（新的一行由两行训练过的混合而成）延长，但需要修改引擎的代"
      "码。" },
    { "The codes exist at any position, but the model saw none past its trained length, and no scaling of them "
      "is established. Train it longer.",
      "任何位置都有编码，但模型没有见过训练长度以外的编码，也没有公认的缩"
      "放方法。请在更长的长度上训练。" },
    { "{} positions are within the {} it was trained at: nothing to do.",
      "{} 个位置在训练长度 {} 以内：不需要做什么。" },
    { "{} positions are within the {} it is served at, which the model's own makers offer, by a scaling of its "
      "own: nothing to do.",
      "{} 个位置在服务长度 {} 以内（模型作者用自带的缩放提供）：不需要做什么。" },
    { "No layer has pairs that rotate ({}): the methods of this verb change the frequencies of rope.",
      "没有旋转的层（{}）：这个命令的方法改变的是 rope 的频率。" },
    { "Its coordinates are normalised to -1..1: a larger grid stays within them, and the methods for longer "
      "sequences do not apply.",
      "它的坐标归一化到 -1..1：更大的网格仍在这个范围内，长序列的方法不适用。" },
    { "Every rotated layer has a window no longer than the trained length, so no angle is new at any length. "
      "Nothing about the rotation has to be set: raise the served length.",
      "每个旋转的层都有不超过训练长度的窗口，所以任何长度都没有新的角度。"
      "旋转不需要任何设置：增大服务长度即可。" },
    { "Every rotated layer has a window no longer than the trained length, so no angle is new at any length; "
      "the layers that see everything do not rotate. Nothing about the rotation has to be set: raise the "
      "served length.",
      "每个旋转的层都有不超过训练长度的窗口，所以任何长度都没有新的角度；"
      "看得到全部位置的层不旋转。旋转不需要任何设置：增大服务长度即可。" },
    /* the last: a remark in parentheses */
    { "{} ({})", "{}（{}）" },
    { NULL, NULL },
};
/* clang-format on */

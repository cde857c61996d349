/* labels: core; tier: quick; cost: 1 s; needs: show
 * SPDX-License-Identifier: MIT
 *
 * The tool's Chinese: what the registry says has Chinese, what is filled into a sentence keeps its place, and what has no
 * Chinese is marked. */
#include "test.h"

#include "io/chinese.h"

#include <string.h>

static bool has_han(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0xe3)
            return true;
    return false;
}

static void is_known(const char *row, const char *text)
{
    if (text && *text && !words_known(text))
        fail_msg("%s: src/io/chinese_registry.c has no Chinese for: %s", row, text);
}

/* Rows that docs/add-an-encoding.md adds are an exercise: their English is shown, and marked. */
TEST(what_the_registry_says_has_chinese)
{
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *row = pe_info_at(i);
        pe_encoding *e;
        if (!strcmp(row->paper, "an exercise"))
            continue;
        is_known(row->name, row->summary);
        is_known(row->name, row->paper);
        for (int k = 0; k < row->key_count; k++)
            is_known(row->name, pe_info_key(row, k)->help);
        if (pe_encoding_new(&e, row->name, (pe_shape){ .heads = 8, .head_dim = 64 }, NULL))
            continue;
        for (int t = 0; t < pe_encoding_tensor_count(e); t++)
            is_known(row->name, pe_encoding_tensor(e, t)->about);
        pe_encoding_free(e);
    }
    for (pe_idea idea = PE_IDEA_NONE; pe_idea_name(idea); idea++)
        is_known(pe_idea_name(idea), pe_idea_advice(idea));
}

/* A part that Chinese repeats, or leaves out, would be a mistake; so would two entries of one sentence. */
TEST(every_entry_is_chinese_with_the_same_parts)
{
    const words *table;
    for (int i = 0; (table = chinese_table(i)); i++)
        for (const words *w = table; w->en; w++) {
            int parts = 0, used = 0;
            for (const char *at = w->en; (at = strstr(at, "{}")); at++)
                parts++;
            for (const char *at = w->zh; (at = strchr(at, '{')); at++)
                used++;
            if (!has_han(w->zh) || used > parts)
                fail_msg("%s: %s", w->en, w->zh);
            for (const words *other = w + 1; other->en; other++)
                if (!strcmp(other->en, w->en))
                    fail_msg("twice: %s", w->en);
        }
}

TEST(parts_keep_their_places_and_the_rest_is_marked)
{
    static const struct {
        const char *english, *chinese;
    } cases[] = {
        { "a whole number, 1 to 64; default 2; with scaling=yarn", "整数，1 到 64；默认 2；仅当 scaling=yarn" },
        { "(16 of 20 rows, 8 of 512 columns; -o FILE or --json gives all of them)",
          "（显示 20 行中的 16 行、512 列中的 8 列；用 -o FILE 或 --json 得到全部）" },
        { "Su et al. 2021, arXiv:2104.09864", "Su 等 2021, arXiv:2104.09864" },
        { "rope: Adds the position divided by the sequence length to the embedding.", "rope：位置序号除以序列长度。" },
        { "rope:theta=500000,scaling=yarn", "rope:theta=500000,scaling=yarn" },
        { "score = q·k · scale; weight = softmax(score)", "score = q·k · scale; weight = softmax(score)" },
        { "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t", "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t" },
        { "Music Transformer", "Music Transformer" },
        { "已经是中文 with some words", "已经是中文 with some words" },
        { "2. 例子", "2. 例子" },
        { "2. 例子|已经是中文。", "2. 例子|已经是中文。" },
        { "nobody has said this before", WORDS_MARK "nobody has said this before" },
        { "default 2; nobody has said this before", WORDS_MARK "default 2; nobody has said this before" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        assert_string_equal(words_translate(cases[i].english, CHINESE).text, cases[i].chinese);
        assert_string_equal(words_translate(cases[i].english, ENGLISH).text, cases[i].english);
    }
}

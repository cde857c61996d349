/* SPDX-License-Identifier: MIT
 *
 * Claims on cost: time and memory of an encoding. */
#include "prove/measure.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cost of an encoding compared with attention without one: time of the fused attention, parameters and work. */

enum { REPEATS = 5, ROWS = 64 };

/* One spec with everything that a call needs, float32. */
typedef struct cost_row {
    pe_encoding *e;
    char spec[96];
    pe_params w;
    int64_t *at;
    zoo_alike in;
    void *work;
    size_t bytes;
    double best, codes; /* seconds: attention; the codes that are added to words */
} cost_row;

typedef struct cost_table {
    cost_row row[ROWS];
    int count;
    int64_t tokens;
    float *x[4]; /* q, k, v, out: (T, H, D) */
    float *word; /* (T, widest) */
    int64_t widest;
} cost_table;

static void cost_table_free(cost_table *f)
{
    for (int n = 0; f && n < f->count; n++) {
        pe_encoding_free(f->row[n].e);
        zoo_alike_free(&f->row[n].in);
        free(f->row[n].w.data), free(f->row[n].at), free(f->row[n].work);
    }
    for (int n = 0; f && n < 4; n++)
        free(f->x[n]);
    if (f)
        free(f->word);
    free(f);
}

static pe_attention attention(const cost_table *f, const cost_row *r)
{
    pe_shape s = pe_encoding_shape(r->e);
    pe_positions at = pe_positions_of(r->at, PE_I64, 1, f->tokens, pe_encoding_axes(r->e));
    return PE_MAKE(pe_attention, .out = pe_view_of(f->x[3], PE_F32, 1, f->tokens, s.heads, s.head_dim),
                   .q = pe_view_of(f->x[0], PE_F32, 1, f->tokens, s.heads, s.head_dim),
                   .k = pe_view_of(f->x[1], PE_F32, 1, f->tokens, s.heads, s.head_dim),
                   .v = pe_view_of(f->x[2], PE_F32, 1, f->tokens, s.heads, s.head_dim), .q_at = at, .k_at = at,
                   .mask.causal = true, .q_gates = r->in.q_gates, .k_gates = r->in.k_gates, .relative = r->in.relative);
}

static float *floats(int64_t n)
{
    return calloc(n > 0 ? (size_t)n : 1, sizeof(float));
}

static pe_status cost_table_new(cost_table **out, const prove_given *g, int64_t tokens, pe_error *err)
{
    cost_table *f = *out = calloc(1, sizeof *f);
    int64_t n = tokens * g->heads * g->head_dim;
    bool whole = f;
    for (int i = 0; whole && i < 4; i++)
        whole = (f->x[i] = floats(n));
    if (!whole)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld tokens", (long long)tokens);
    f->tokens = tokens;
    uint64_t seed = g->seed;
    for (int64_t i = 0; i < 3 * n; i++)
        f->x[i / n][i % n] = (float)measure_uniform(&seed);
    return PE_OK;
}

/* The spec, made to reach the last token. */
static pe_status add_row(cost_table *f, const char *spec, const prove_given *g, pe_error *err)
{
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    measure_text far = measure_reaching(spec, g, f->tokens);
    if (f->count == ROWS)
        return io_fail(err, PE_ERR_RANGE, "more than %d rows", ROWS);
    cost_row *r = &f->row[f->count];
    *r = (cost_row){ .best = INFINITY, .codes = INFINITY };
    TRY(pe_encoding_new(&r->e, far.is, shape, err));
    f->count++;
    memcpy(r->spec, far.is, sizeof r->spec);
    r->w = (pe_params){ .dtype = PE_F32, .count = pe_encoding_param_count(r->e) };
    r->w.data = floats(r->w.count);
    r->at = calloc((size_t)(f->tokens * pe_encoding_axes(r->e)), sizeof *r->at);
    if (!r->w.data || !r->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %s", r->spec);
    measure_place(r->at, f->tokens, pe_encoding_axes(r->e));
    TRY(pe_encoding_init(r->e, r->w, g->seed, err));
    int64_t width = pe_embed_width(r->e, pe_encoding_shape(r->e).model_dim);
    f->widest = width > f->widest ? width : f->widest;
    pe_positions at = pe_positions_of(r->at, PE_I64, 1, f->tokens, pe_encoding_axes(r->e));
    TRY(zoo_alike_new(&r->in, r->e, 1, at, at, err));
    pe_attention a = attention(f, r);
    return pe_attention_work(r->e, &a, &PE_MAKE(pe_run, .params = r->w), &r->bytes, err);
}

static pe_status add_cost_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    return add_row(with, spec, g, err);
}

/* All rows, the one without an encoding first. */
static pe_status add_all_rows(cost_table *f, const prove_given *g, pe_error *err)
{
    TRY(add_row(f, zoo_look_plain(), g, err));
    return measure_each_row(add_cost_row, f, g, err);
}

/* ------------------------------------------------ time */

static pe_status attend_once(cost_table *f, cost_row *r, pe_error *err)
{
    pe_attention a = attention(f, r);
    return pe_attention_forward(r->e, &a, &PE_MAKE(pe_run, .params = r->w, .work = r->work, .work_bytes = r->bytes),
                                err);
}

/* The codes of all tokens without words: computed once for all layers. */
static pe_status embed_once(cost_table *f, cost_row *r, pe_error *err)
{
    int64_t C = pe_encoding_shape(r->e).model_dim, width = pe_embed_width(r->e, C);
    pe_view y = pe_view_of(f->word, PE_F32, 1, f->tokens, 1, width);
    pe_view x = pe_view_of(NULL, PE_F32, 1, f->tokens, 1, C);
    return pe_embed(r->e, y, x, attention(f, r).q_at, &PE_MAKE(pe_run, .params = r->w), err);
}

typedef pe_status run_fn(cost_table *f, cost_row *r, pe_error *err);

static pe_status time_one(double *best, cost_table *f, cost_row *r, run_fn *run, double (*clock)(void), pe_error *err)
{
    double start = clock();
    TRY(run(f, r, err));
    *best = fmin(*best, clock() - start);
    return PE_OK;
}

static pe_status time_all(cost_table *f, double (*clock)(void), pe_error *err)
{
    f->word = floats(f->tokens * f->widest);
    for (int n = 0; n < f->count; n++)
        if (!f->word || !(f->row[n].work = malloc(f->row[n].bytes ? f->row[n].bytes : 1)))
            return io_fail(err, PE_ERR_NOMEM, "no memory for attention's work");
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int n = 0; n < f->count; n++) {
            cost_row *r = &f->row[n];
            TRY(time_one(&r->best, f, r, attend_once, clock, err));
            if (pe_encoding_hooks(r->e) & PE_HOOK_EMBED)
                TRY(time_one(&r->codes, f, r, embed_once, clock, err));
        }
    return PE_OK;
}

/* Which rows were above, by where position enters. */
typedef bool above_fn(const cost_table *f, int n);

static void add_kinds(prove_finding *out, const cost_table *f, above_fn *above)
{
    static const struct {
        unsigned hooks;
        words what;
    } kind[] = {
        { PE_HOOK_EMBED, { "above it, of those that add codes", "其中：加到词向量上的编码" } },
        { PE_HOOK_ROTATE, { "above it, of those that rotate q and k", "其中：旋转 q 和 k 的编码" } },
        { PE_HOOK_CONTENT, { "above it, of those whose terms look at content", "其中：各项与内容相乘的编码" } },
        { PE_HOOK_BIAS, { "above it, of those that add a bias", "其中：给分数加偏置的编码" } },
    };
    for (int k = 0; k < 4; k++) {
        int high = 0, all = 0;
        for (int n = 1; n < f->count; n++)
            if (pe_encoding_hooks(f->row[n].e) & kind[k].hooks) {
                all++;
                high += above(f, n);
            }
        if (all)
            prove_add(out, kind[k].what, measure_named("/ ", all).is, high, "");
    }
}

#define CHEAP 1.5 /* times attention without an encoding */

static bool is_dear(const cost_table *f, int n)
{
    return f->row[n].best > CHEAP * f->row[0].best;
}

static void report_times(prove_finding *out, const cost_table *f)
{
    double plain = f->row[0].best, pairs = (double)f->tokens * (double)(f->tokens + 1) / 2;
    double heads = (double)pe_encoding_shape(f->row[0].e).heads;
    int dear = 0, all = f->count - 1;
    for (int n = 1; n <= all; n++)
        dear += is_dear(f, n);
    if (all > 1)
        prove_add(out, (words){ "rows above 1.5 times plain attention", "耗时超过普通注意力 1.5 倍的编码数" },
                  measure_named("/ ", all).is, dear, "");
    if (all > 1)
        add_kinds(out, f, is_dear);
    for (int n = 1; n <= all; n++)
        prove_add(out, (words){ "time, in times of plain attention", "耗时，普通注意力的倍数" }, f->row[n].spec,
                  f->row[n].best / plain, "");
    prove_add(out, (words){ "plain attention, a score", "普通注意力，每个分数" }, "", 1e9 * plain / pairs / heads,
              "ns");
    for (int n = 1; n <= all; n++)
        if (f->row[n].codes < INFINITY)
            prove_add(out,
                      (words){ "codes, once for all layers, in times of plain attention",
                               "编码本身（各层只需一次），普通注意力的倍数" },
                      f->row[n].spec, f->row[n].codes / plain, "");
    prove_verdict v = !dear ? PROVE_HOLDS : dear == all ? PROVE_REFUTED : PROVE_DEPENDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Nothing measured takes more than 1.5 times plain attention.", "测过的都不超过普通注意力的 1.5 倍。" },
        { "All that was measured takes more than 1.5 times plain attention.", "测过的都超过普通注意力的 1.5 倍。" },
        { "It depends on the row: how many were above 1.5 times plain attention is counted by where position enters.",
          "取决于编码：超过普通注意力 1.5 倍的编码数，按位置进入之处分别列出。" },
    };
    prove_say(out, v, because[v]);
}

/* given: spec (none: every row), heads, head_dim, model_dim, length, clock. */
static pe_status measure_time_cost(prove_finding *out, const prove_given *g, pe_error *err)
{
    cost_table *f;
    pe_status status = cost_table_new(&f, g, g->length, err);
    status = status ? status : add_all_rows(f, g, err);
    status = status ? status : time_all(f, g->clock ? g->clock : io_seconds, err);
    if (!status)
        report_times(out, f);
    cost_table_free(f);
    return status;
}

/* ------------------------------------------------ memory */

#define SMALL_SHARE 0.1 /* of q, k and v */

/* Parameters in float32 and work beyond that of plain attention. */
static double bytes_of(const cost_table *f, int n)
{
    double more = (double)f->row[n].bytes - (double)f->row[0].bytes;
    return 4 * (double)f->row[n].w.count + (more > 0 ? more : 0);
}

/* The size of a table of all codes, or of cos and sin, that a caller may keep; 0: there is none. */
static double table_bytes(const cost_table *f, int n)
{
    const pe_encoding *e = f->row[n].e;
    bool adds = pe_encoding_hooks(e) & PE_HOOK_EMBED && !f->row[n].w.count;
    int64_t width = adds ? pe_embed_width(e, pe_encoding_shape(e).model_dim) : 2 * pe_encoding_pair_count(e);
    return 4 * (double)width * (double)f->tokens;
}

static double kept_bytes(const cost_table *f)
{
    pe_shape s = pe_encoding_shape(f->row[0].e);
    return 3 * 4 * (double)(f->tokens * s.heads * s.head_dim);
}

static bool is_large(const cost_table *f, int n)
{
    return bytes_of(f, n) > SMALL_SHARE * kept_bytes(f);
}

static void report_memory(prove_finding *out, const cost_table *f, const cost_table *half)
{
    double kept = kept_bytes(f), growth = 0;
    int large = 0, all = f->count - 1;
    for (int n = 1; n <= all; n++) {
        large += is_large(f, n);
        growth = bytes_of(half, n) > 0 ? fmax(growth, bytes_of(f, n) / bytes_of(half, n)) : growth;
    }
    if (all > 1)
        prove_add(out, (words){ "rows above a tenth of q, k and v", "超过 q、k、v 十分之一的编码数" },
                  measure_named("/ ", all).is, large, "");
    if (all > 1)
        add_kinds(out, f, is_large);
    for (int n = 1; n <= all; n++) {
        prove_add(out, (words){ "parameters and work, of q, k and v", "参数与工作内存，占 q、k、v" }, f->row[n].spec,
                  100 * bytes_of(f, n) / kept, "%");
        prove_add(out, (words){ "parameters", "参数量" }, f->row[n].spec, (double)f->row[n].w.count, "");
    }
    prove_add(out, (words){ "largest growth as the length doubles", "长度加倍时的最大增长倍数" }, "", growth, "");
    for (int n = 1; n <= all; n++)
        if (table_bytes(f, n) > 0)
            prove_add(out,
                      (words){ "table of its codes, where one is kept, of q, k and v", "若缓存编码表，占 q、k、v" },
                      f->row[n].spec, 100 * table_bytes(f, n) / kept, "%");
    prove_verdict v = !large ? PROVE_HOLDS : large == all ? PROVE_REFUTED : PROVE_DEPENDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Nothing measured needs more than a tenth of what q, k and v take.",
          "测过的都不超过 q、k、v 所占内存的十分之一。" },
        { "All that was measured needs more than a tenth of what q, k and v take.",
          "测过的都超过 q、k、v 所占内存的十分之一。" },
        { "It depends on the row: how many need more than a tenth of q, k and v is counted by where position enters, "
          "and how fast "
          "that grows with the length.",
          "取决于编码：超过 q、k、v 十分之一的编码数按位置进入之处分别列出，并给出随长度的增长倍数。" },
    };
    prove_say(out, v, because[v]);
}

/* given: spec (none: every row), heads, head_dim, model_dim, length. */
static pe_status measure_memory_cost(prove_finding *out, const prove_given *g, pe_error *err)
{
    cost_table *f = NULL, *half = NULL;
    pe_status status = cost_table_new(&f, g, g->length, err);
    status = status ? status : cost_table_new(&half, g, g->length / 2, err);
    status = status ? status : add_all_rows(f, g, err);
    status = status ? status : add_all_rows(half, g, err);
    if (!status)
        report_memory(out, f, half);
    cost_table_free(f);
    cost_table_free(half);
    return status;
}

/* ---------------------------------------------------------------- the claims */

#define FAR .length = 131072
#define ROUNDED .causal = true, .seed = 10, FAR /* sizes: its own */
#define CODED PE_HOOK_EMBED | PE_HOOK_ROTATE | PE_HOOK_CONTENT | PE_HOOK_BIAS /* hooks that use positions */

static const char rounded_rule[] =
    "It holds if, at 4096 and at 131072 positions, in each seed, the step of the code between neighbours has "
    "more power than its rounding (above 0 dB), for every encoding: below that, neighbours share codes. It is refuted "
    "if it is so for none.";
static const char rounded_rule_zh[] =
    "成立的条件：在 4096 和 131072 个位置上，每个随机种子下，每种编码相邻位置的步长功率都大于其舍入误差（高于 0 dB）；"
    "低于它，相邻位置就分不开。没有一种如此则不成立。";
static const char rounded_sizes[] = "Sizes: width 64 with 2 heads, and 512 with 8 (20 seeds each).";
static const char rounded_sizes_zh[] = "尺寸：宽 64、2 头，宽 512、8 头（各 20 个随机种子）。";

static const prove_claim claims[] = {
    { .name = "bfloat16-is-enough",
      .claim = { "bfloat16 is enough for position.", "bfloat16 的精度足够表示位置。" },
      .put = { "Kept in bfloat16, what it makes of a position still tells neighbours apart.",
               "用 bfloat16 存储，它给出的位置仍能区分相邻位置。" },
      .source = "Kalamkar et al. 2019 (arXiv:1905.12322): of networks at large",
      .rule = { rounded_rule, rounded_rule_zh },
      .sizes = { rounded_sizes, rounded_sizes_zh },
      .given = { ROUNDED },
      .measure = measure_bf16,
      .takes = CODED },
    { .name = "float16-is-enough",
      .claim = { "float16 is enough for position.", "float16 的精度足够表示位置。" },
      .put = { "Kept in float16, what it makes of a position still tells neighbours apart.",
               "用 float16 存储，它给出的位置仍能区分相邻位置。" },
      .source = "Micikevicius et al. 2017 (arXiv:1710.03740)",
      .rule = { rounded_rule, rounded_rule_zh },
      .sizes = { rounded_sizes, rounded_sizes_zh },
      .given = { ROUNDED },
      .measure = measure_f16,
      .takes = CODED },
    { .name = "bfloat16-breaks-relative",
      .claim = { "In bfloat16 RoPE's scores depend on more than the distance, the more the longer the context.",
                 "用 bfloat16 时，RoPE 的分数不再只取决于距离，上下文越长越严重。" },
      .put = { "In bfloat16 its scores depend on more than the distance, the more the longer the context.",
               "用 bfloat16 时，它的分数不再只取决于距离，上下文越长越严重。" },
      .source = "Wang et al. 2024 (arXiv:2411.13476)",
      .rule = { measure_moved_rule, measure_moved_rule_zh },
      .given = { .spec = { "rope" }, .head_dim = 128, FAR, .seed = 10 },
      .measure = measure_moved_bf16,
      .takes = PE_HOOK_ROTATE },
    { .name = "float16-breaks-relative",
      .claim = { "In float16 RoPE's scores depend on more than the distance, the more the longer the context.",
                 "用 float16 时，RoPE 的分数不再只取决于距离，上下文越长越严重。" },
      .put = { "In float16 its scores depend on more than the distance, the more the longer the context.",
               "用 float16 时，它的分数不再只取决于距离，上下文越长越严重。" },
      .source = "Wang et al. 2024 (arXiv:2411.13476), of bfloat16",
      .rule = { measure_moved_rule, measure_moved_rule_zh },
      .given = { .spec = { "rope" }, .head_dim = 128, FAR, .seed = 10 },
      .measure = measure_moved_f16,
      .takes = PE_HOOK_ROTATE },
    { .name = "8-bit-is-enough",
      .claim = { "Blocks of 8-bit numbers are enough for position.", "按块量化的 8 位数足够表示位置。" },
      .put = { "Kept in blocks of 8-bit numbers, what it makes of a position still tells neighbours apart.",
               "按块量化为 8 位，它给出的位置仍能区分相邻位置。" },
      .source = "Dettmers et al. 2022 (arXiv:2208.07339)",
      .rule = { rounded_rule, rounded_rule_zh },
      .sizes = { rounded_sizes, rounded_sizes_zh },
      .given = { ROUNDED },
      .measure = measure_q8,
      .takes = CODED },
    { .name = "4-bit-is-enough",
      .claim = { "Blocks of 4-bit numbers are enough for position.", "按块量化的 4 位数足够表示位置。" },
      .put = { "Kept in blocks of 4-bit numbers, what it makes of a position still tells neighbours apart.",
               "按块量化为 4 位，它给出的位置仍能区分相邻位置。" },
      .source = "Frantar et al. 2022 (arXiv:2210.17323)",
      .rule = { rounded_rule, rounded_rule_zh },
      .sizes = { rounded_sizes, rounded_sizes_zh },
      .given = { ROUNDED },
      .measure = measure_q4,
      .takes = CODED },
    { .name = "costs-no-time",
      .claim = { "Position costs attention next to no time.", "位置编码几乎不增加注意力的耗时。" },
      .put = { "It costs attention next to no time.", "它几乎不增加注意力的耗时。" },
      .source = "Press et al. 2021, 3 (arXiv:2108.12409); Dao et al. 2022 (arXiv:2205.14135)",
      .rule = { "It holds if attention with each encoding takes at most 1.5 times as long as without: less "
                "differs from run to run on a machine that others share.",
                "成立的条件：用每种编码的注意力耗时都不超过不用时的 1.5 倍；更小的差别在共用的机器上每次不同"
                "。" },
      .given = { .heads = 2, .head_dim = 64, .model_dim = 128, .length = 256, .causal = true, .seed = 10 },
      .measure = measure_time_cost,
      .timed = true,
      .takes = PROVE_ANY },
    { .name = "costs-no-memory",
      .claim = { "Position costs attention next to no memory.", "位置编码几乎不增加注意力的内存。" },
      .put = { "It costs attention next to no memory.", "它几乎不增加注意力的内存。" },
      .source = "Huang et al. 2018, 3.4 (arXiv:1809.04281): of relative vectors, O(n^2 d) or O(n d)",
      .rule = { "It holds if no encoding needs more than a tenth of the memory that q, k and v take.",
                "成立的条件：没有一种编码需要超过 q、k、v 所占内存的十分之一。" },
      .given = { .heads = 2, .head_dim = 64, .model_dim = 128, .length = 8192, .causal = true, .seed = 10 },
      .measure = measure_memory_cost,
      .takes = PROVE_ANY },
    { .name = "any-kernel",
      .claim = { "Any fast attention works with any encoding.", "任何快速注意力都能配合任何位置编码。" },
      .put = { "Any fast attention serves it.", "任何快速注意力都能配合它。" },
      .source = "Dao et al. 2022 (arXiv:2205.14135); Su et al. 2021, 3.3 (arXiv:2104.09864) on linear attention",
      .rule = { "It holds if plain attention on the q, k and v that an encoding has changed gives its "
                "outputs to rounding (1e-9), for every encoding, in each seed.",
                "成立的条件：对每种编码，先改变 q、k、v 再做普通注意力，每个随机种子下得到的输出都与它相等（舍入误差 1e-9 "
                "以内）。" },
      .sizes = MEASURE_SIZES,
      .given = { .length = 36, .causal = true, .seed = 10 },
      .measure = measure_any_kernel,
      .takes = PROVE_ANY },
    { .name = "cache-can-move",
      .claim = { "A cache of keys can drop its oldest tokens and move the rest without computing them again.",
                 "键缓存可以丢掉最旧的词元并整体移动，而不必重新计算。" },
      .put = { "A cache of its keys can drop its oldest tokens and move the rest without computing them again.",
               "使用它时，键缓存可以丢掉最旧的词元并整体移动，而不必重新计算。" },
      .source = "Xiao et al. 2023, 3.2 (arXiv:2309.17453)",
      .rule = { "It holds if scores with moved keys equal scores with new keys to rounding (1e-9), for every "
                "encoding, in each seed.",
                "成立的条件：对每种编码，每个随机种子下，平移缓存后的分数都与重新计算的分数相等（舍入误差 1e-9 以内）。" },
      .sizes = MEASURE_SIZES,
      .given = { .length = 36, .causal = true, .seed = 10 },
      .measure = measure_cache_shift,
      .takes = PROVE_ANY },
    { .name = "keys-can-be-split",
      .claim = { "Keys can be split among workers that do not know of each other.",
                 "键可以分给互不知晓的多个工作单元分别计算。" },
      .put = { "Its keys can be split among workers that do not know of each other.",
               "使用它时，键可以分给互不知晓的多个工作单元分别计算。" },
      .source = "Dao et al. 2023, Flash-Decoding; Liu et al. 2023 (arXiv:2310.01889)",
      .rule = { "It holds if the outputs of two halves of the keys, merged, equal the whole to float32's "
                "rounding (1e-5), for every encoding, in each seed.",
                "成立的条件：对每种编码，每个随机种子下，两半键合并后的输出都与整体相等（float32 舍入误差 1e-5 以内）。" },
      .sizes = MEASURE_SIZES,
      .given = { .length = 36, .causal = true, .seed = 10 },
      .measure = measure_split_keys,
      .takes = PROVE_ANY },
};

const prove_group prove_group_numbers = { .name = "numbers",
                                          .title = { "Precision, cost and fast attention", "精度、代价与快速注意力" },
                                          .claims = claims,
                                          .count = sizeof claims / sizeof *claims };

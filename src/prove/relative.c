/* SPDX-License-Identifier: MIT
 *
 * Claims: relative encodings. Biases by distance, tables and their ends, what has parameters. */
#include "prove/measure.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an encoding adds to a score, by distance: one query behind all keys, which are all the same word. */

typedef struct distance_terms {
    measure_encoding m;
    int64_t length; /* distances 0 .. length-1 */
    double *q, *k;  /* (1, H, D), (length, H, D) */
    int64_t *at;    /* (1 + length): the query, then the keys, nearest first */
    double *term;   /* (H, length) */
} distance_terms;

static void distance_terms_close(distance_terms *r)
{
    measure_close(&r->m);
    free(r->q), free(r->k), free(r->at), free(r->term);
}

static pe_status distance_terms_open(distance_terms *r, const prove_given *g, pe_error *err)
{
    *r = (distance_terms){ .length = g->length };
    TRY(measure_open(&r->m, g->spec[0], g, err));
    if (pe_encoding_axes(r->m.e) != 1)
        return io_fail(err, PE_ERR_UNSUITED, "%s has more axes than one; needs one", g->spec[0]);
    int64_t H = r->m.shape.heads, D = r->m.shape.head_dim;
    r->q = measure_memory(H, D, err);
    r->k = measure_memory(r->length * H, D, err);
    r->term = measure_memory(H, r->length, err);
    r->at = calloc((size_t)(1 + r->length), sizeof *r->at);
    if (!r->q || !r->k || !r->term || !r->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld distances", (long long)r->length);
    measure_normals(r->q, H * D, 1, g->seed);
    measure_normals(r->k, H * D, 1, g->seed + 1);
    for (int64_t d = 0; d < r->length; d++) {
        memmove(r->k + d * H * D, r->k, (size_t)(H * D) * sizeof *r->k);
        r->at[1 + d] = r->length - d;
    }
    r->at[0] = r->length;
    return PE_OK;
}

/* term (H, length): what content terms and biases add to q.k. */
static pe_status distance_terms_compute(distance_terms *r, pe_error *err)
{
    int64_t H = r->m.shape.heads, D = r->m.shape.head_dim, n = r->length;
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(r->term, PE_F64, 1, 1, H, n),
                  .q = pe_view_of(r->q, PE_F64, 1, 1, H, D),
                  .k = pe_view_of(r->k, PE_F64, 1, n, H, D),
                  .q_at = pe_positions_of(r->at, PE_I64, 1, 1, 1),
                  .k_at = pe_positions_of(r->at + 1, PE_I64, 1, n, 1) };
    memset(r->term, 0, (size_t)(H * n) * sizeof *r->term);
    return zoo_look_terms(r->m.e, &t, r->m.w, 1, err);
}

static pe_status distance_terms_new(distance_terms *r, const prove_given *g, pe_error *err)
{
    pe_status status = distance_terms_open(r, g, err);
    return status ? status : distance_terms_compute(r, err);
}

/* ------------------------------------------------ a straight line */

/* Slopes, steepest first, by their logarithms: SERIES where neighbours are all equally far apart, GAPS where they are
 * multiples of the smallest distance, so that a longer series has them all. */
typedef enum slopes { SERIES, GAPS, NO_SERIES } slopes;

typedef struct penalty {
    double bend;         /* second difference, of the slope, largest */
    double first, last;  /* slopes: steepest, flattest */
    double factor, most; /* from a slope to the next: the one nearest 1, the one farthest from it */
    bool falls;
    slopes are;
} penalty;

static int by_slope(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static slopes slopes_of(double *slope, int64_t heads, double *factor, double *most)
{
    bool equal = true, multiples = true;
    double least = INFINITY;
    *factor = *most = 1;
    qsort(slope, (size_t)heads, sizeof *slope, by_slope); /* they are negative */
    for (int64_t h = 1; h < heads; h++)
        least = fmin(least, log2(slope[h - 1] / slope[h]));
    for (int64_t h = 1; h < heads; h++) {
        double steps = log2(slope[h - 1] / slope[h]) / least;
        equal = equal && fabs(steps - 1) < PROVE_ROUNDING;
        multiples = multiples && fabs(steps - nearbyint(steps)) < PROVE_ROUNDING;
        *most = fmin(*most, slope[h] / slope[h - 1]);
    }
    *factor = heads > 1 ? exp2(-least) : 1;
    return equal ? SERIES : multiples ? GAPS : NO_SERIES;
}

static pe_status penalty_of(penalty *p, const prove_given *g, pe_error *err)
{
    distance_terms r;
    double slope[PROVE_HEADS_MAX];
    pe_status status = distance_terms_new(&r, g, err);
    *p = (penalty){ .falls = true };
    for (int64_t h = 0; !status && h < g->heads; h++) {
        const double *b = r.term + h * r.length;
        slope[h] = b[1] - b[0];
        for (int64_t d = 2; d < r.length; d++)
            p->bend = fmax(p->bend, fabs(b[d] - 2 * b[d - 1] + b[d - 2]) / (slope[h] != 0 ? fabs(slope[h]) : 1));
        p->falls = p->falls && slope[h] < 0;
    }
    distance_terms_close(&r);
    TRY(status);
    p->are = p->falls ? slopes_of(slope, g->heads, &p->factor, &p->most) : NO_SERIES;
    p->first = slope[0];
    p->last = slope[g->heads - 1];
    return PE_OK;
}

static void add_penalty(prove_finding *out, const penalty *p, int64_t heads)
{
    measure_text of = measure_named("H = ", (double)heads);
    prove_add(out, (words){ "second difference, of the slope, largest", "二阶差分与斜率之比，最大" }, of.is, p->bend,
              "");
    prove_add(out, (words){ "steepest slope", "最陡的斜率" }, of.is, p->first, "");
    prove_add(out, (words){ "flattest slope", "最缓的斜率" }, of.is, p->last, "");
    prove_add(out, (words){ "from a slope to the next, nearest to 1", "相邻斜率之比，最接近 1 的" }, of.is, p->factor,
              "");
    prove_add(out, (words){ "from a slope to the next, farthest from 1", "相邻斜率之比，离 1 最远的" }, of.is, p->most,
              "");
}

/* given: spec, length; heads, or none: those of models. REFUTED where a head's penalty bends or rises, or the slopes
 * are no series; DEPENDS where they are one with gaps. */
static pe_status measure_linear_penalty(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t of_models[] = { 8, 12, 16, 40 }; /* 12: models of BERT's size; 40: Baichuan-13B */
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Each head's penalty is a straight line, and the slopes are a geometric series.",
          "每个头的惩罚都是一条直线，各头斜率成等比数列。" },
        { "The penalty is not a falling straight line whose slopes are a geometric series.",
          "惩罚不是斜率成等比数列的下降直线。" },
        { "It depends on the number of heads: each penalty is a straight line; the slopes are a geometric series where "
          "that number is a power of two, else every slope of one series and some of the next finer one.",
          "取决于头数：每个头的惩罚都是直线；头数为 2 "
          "的幂时，斜率成等比数列；否则是一个等比数列，再加上更密一级数列中的几项。" },
    };
    int series = 0, straight = 0, tried = 0;
    for (int n = 0; n < (g->heads ? 1 : 4); n++, tried++) {
        prove_given one = *g;
        penalty p;
        one.heads = g->heads ? g->heads : of_models[n];
        TRY(penalty_of(&p, &one, err));
        bool line = p.falls && p.bend < PROVE_ROUNDING;
        straight += line && p.are != NO_SERIES;
        series += line && p.are == SERIES;
        add_penalty(out, &p, one.heads);
    }
    measure_add_first(out,
                      (words){ "head counts whose slopes are one geometric series", "斜率成一个等比数列的头数个数" },
                      measure_named("/ ", tried).is, series, "");
    prove_verdict v = straight < tried ? PROVE_REFUTED : series < tried ? PROVE_DEPENDS : PROVE_HOLDS;
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* ------------------------------------------------ buckets */

/* Every parameter becomes the number of its row, so that a bias tells which row it was read from. */
static void number_rows(measure_encoding *m)
{
    double *w = m->w.data;
    for (int n = 0; n < pe_encoding_tensor_count(m->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(m->e, n);
        for (int64_t i = 0; i < t->count; i++)
            w[t->offset + i] = (double)(i / (t->count / t->shape[0]));
    }
}

#define BUCKETS_MAX 128

/* Where buckets begin: start[0 .. count-1], the first at distance 0. */
typedef struct buckets {
    double start[BUCKETS_MAX];
    int count, falls;
} buckets;

static buckets buckets_of(const distance_terms *r)
{
    buckets b = { .count = 1 };
    for (int64_t d = 1; d < r->length; d++) {
        b.falls += r->term[d] < r->term[d - 1];
        if (r->term[d] > r->term[d - 1] && b.count < BUCKETS_MAX)
            b.start[b.count++] = (double)d;
    }
    return b;
}

static double bucket_width(const buckets *b, int n)
{
    return b->start[n + 1] - b->start[n];
}

/* The first buckets hold one distance each: how many. */
static int single_buckets(const buckets *b)
{
    int n = 0;
    while (n + 1 < b->count && bucket_width(b, n) == 1)
        n++;
    return n;
}

/* Whether the others begin at one geometric series, each term rounded up to a whole distance: start_n is
 * ceil(start_0 r^n) for some r. */
static bool is_logarithmic(const buckets *b, int first)
{
    double low = 1, high = INFINITY;
    for (int n = first + 1; n < b->count; n++) {
        low = fmax(low, pow((b->start[n] - 1) / b->start[first], 1.0 / (n - first)));
        high = fmin(high, pow(b->start[n] / b->start[first], 1.0 / (n - first)));
    }
    return first + 2 < b->count && low < high + PROVE_ROUNDING;
}

static void add_buckets(prove_finding *out, const buckets *b, const char *spec, int single)
{
    int narrower = 0;
    for (int n = single + 1; n + 1 < b->count; n++)
        narrower += bucket_width(b, n) < bucket_width(b, n - 1);
    prove_add(out, (words){ "distances at which the bucket falls", "桶号下降的距离个数" }, spec, b->falls, "");
    prove_add(out, (words){ "buckets in use", "用到的桶数" }, spec, b->count, "");
    prove_add(out, (words){ "buckets of one distance", "只含一个距离的桶数" }, spec, single, "");
    prove_add(out, (words){ "wider buckets that are narrower than the one before", "比前一个桶窄的宽桶数" }, spec,
              narrower, "");
    for (int n = 1; n < b->count; n++)
        prove_add(out, (words){ "first distance of bucket", "起始距离，桶号" }, measure_named("", n).is, b->start[n],
                  "");
}

/* given: spec, heads, length. REFUTED where a bucket's number falls with distance, near buckets are not single, or far
 * ones do not follow a geometric series. */
static pe_status measure_buckets(prove_finding *out, const prove_given *g, pe_error *err)
{
    distance_terms r;
    buckets b = { .count = 0 };
    pe_status status = distance_terms_open(&r, g, err);
    if (!status)
        number_rows(&r.m);
    status = status ? status : distance_terms_compute(&r, err);
    if (!status)
        b = buckets_of(&r);
    distance_terms_close(&r);
    TRY(status);
    int single = single_buckets(&b);
    add_buckets(out, &b, g->spec[0], single);
    prove_judge(
        out, !b.falls && single > 1 && is_logarithmic(&b, single),
        (words){ "The bucket never falls with distance; near ones hold one distance each, far ones begin at a "
                 "geometric series, rounded up to whole distances: now and then one is narrower than the one "
                 "before.",
                 "桶号从不随距离下降；近处一距离一桶，远处各桶的起点是取整后的等比数列，因此偶尔有一个桶比前一个窄。" },
        (words){ "Some farther key is in an earlier bucket, or near buckets are not single, or far ones do not "
                 "follow a geometric series.",
                 "有更远的键落进了更早的桶，或近处不是一距离一桶，或远处不按等比数列变宽。" });
    return PE_OK;
}

/* ------------------------------------------------ the clip */

static bool alike_terms(const distance_terms *r, int64_t a, int64_t b)
{
    for (int64_t h = 0; h < r->m.shape.heads; h++)
        if (r->term[h * r->length + a] != r->term[h * r->length + b])
            return false;
    return true;
}

/* The first distance from which all are alike; length - 1 where none are. */
static int64_t clip_of(const distance_terms *r)
{
    int64_t d = r->length - 1;
    while (d > 0 && alike_terms(r, d - 1, r->length - 1))
        d--;
    return d;
}

/* given: spec, heads, length. REFUTED where there is no end to the difference, or two nearer ones are alike. */
static pe_status measure_clip(prove_finding *out, const prove_given *g, pe_error *err)
{
    distance_terms r;
    pe_status status = distance_terms_new(&r, g, err);
    int64_t clip = status ? 0 : clip_of(&r), twins = 0;
    for (int64_t a = 0; !status && a < clip; a++)
        for (int64_t b = a + 1; b <= clip; b++)
            twins += alike_terms(&r, a, b);
    distance_terms_close(&r);
    bool clipped = clip > 0 && clip < g->length / 2 && !twins;
    prove_add(out, (words){ "distance from which all are alike", "从此距离起完全相同" }, g->spec[0], (double)clip, "");
    prove_add(out, (words){ "nearer pairs that are alike", "更近处相同的对数" }, g->spec[0], (double)twins, "");
    prove_add(out, (words){ "distances tried", "试过的距离数" }, g->spec[0], (double)g->length, "");
    prove_judge(out, clipped,
                (words){ "Up to the clip every distance has a term of its own, from there on all share one.",
                         "截断之内每个距离各有一项，截断之外共用一项。" },
                (words){ "There is no distance up to which all differ and from which on all are alike.",
                         "不存在这样的距离：之内各不相同，之外完全相同。" });
    return status;
}

/* What has to be learned, and how far a learned table reaches. */

/* ------------------------------------------------ parameters of the relative ones */

static pe_status count_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    measure_tally *t = with;
    pe_encoding *e;
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    TRY(pe_encoding_new(&e, spec, shape, err));
    int64_t count = pe_encoding_param_count(e);
    bool relative = pe_encoding_claims(e) & PE_CLAIM_RELATIVE && pe_encoding_hooks(e);
    pe_encoding_free(e);
    if (!relative)
        return PE_OK;
    prove_add(t->out, (words){ "parameters", "参数量" }, spec, (double)count, "");
    measure_count(t, !count);
    return PE_OK;
}

/* given: spec (none: every row), heads, head_dim. HOLDS: no relative one has parameters, REFUTED: each has. */
static pe_status measure_no_learning(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    TRY(measure_each_row(count_row, &t, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "None of these relative encodings has parameters.", "这些相对编码都没有参数。" },
        { "Each of these relative encodings has parameters.", "这些相对编码都有参数。" },
        { "It depends on the row: some follow from a formula, some are tables or functions that are trained.",
          "取决于编码：有的由公式给出，有的是要训练的表或函数。" },
    };
    measure_conclude(&t, (words){ "relative rows with parameters", "带参数的相对编码数" }, because);
    return PE_OK;
}

/* ------------------------------------------------ the end of a table */

static bool serves(const measure_encoding *m, int64_t position, double *code)
{
    return !measure_codes(code, m, position, 1, NULL);
}

/* Positions served from 0 on: what is served is an interval. */
static int64_t served(const measure_encoding *m, double *code)
{
    int64_t low = -1, high = PE_POSITION_MAX;
    if (serves(m, high, code))
        return high + 1;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        if (serves(m, middle, code))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Rows of the first tensor; 0 where nothing is learned. */
static int64_t table_rows(const measure_encoding *m)
{
    const pe_tensor *t = pe_encoding_tensor(m->e, 0);
    return t ? t->shape[0] : 0;
}

/* given: spec (one that adds codes), head_dim. REFUTED where positions past every table are served. */
static pe_status measure_table_ends(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    pe_error past = { 0 };
    TRY(measure_open_head(&m, g->spec[0], g, err));
    double *code = measure_memory(1, measure_width(&m), err);
    pe_status status = code ? measure_codes(code, &m, 0, 1, err) : PE_ERR_NOMEM;
    if (!status) {
        int64_t count = served(&m, code), rows = table_rows(&m);
        bool ends = rows > 0 && count <= rows && measure_codes(code, &m, count, 1, &past) == PE_ERR_POSITION;
        prove_add(out, (words){ "positions that have a code", "有编码的位置数" }, g->spec[0], (double)count, "");
        prove_add(out, (words){ "rows of the table", "表的行数" }, g->spec[0], (double)rows, "");
        prove_judge(out, ends,
                    (words){ "Past its last row the table has nothing: the library refuses the position.",
                             "表的最后一行之后没有内容：库会拒绝这样的位置。" },
                    (words){ "Positions past any table have codes too.", "超出任何表的位置也有编码。" });
    }
    free(code);
    measure_close(&m);
    return status;
}

/* ------------------------------------------------ beyond the table */

/* The smallest distance between any two of n codes. */
static double nearest_two(const double *code, int64_t n, int64_t width)
{
    double least = INFINITY;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < a; b++) {
            double far = 0;
            for (int64_t c = 0; c < width && far < least; c++)
                far += (code[a * width + c] - code[b * width + c]) * (code[a * width + c] - code[b * width + c]);
            least = fmin(least, far);
        }
    return sqrt(least);
}

/* What each run finds of the codes of a table that it draws. */
typedef struct beyond {
    const prove_given *g;
    double count[MEASURE_RUNS], near[MEASURE_RUNS], apart[MEASURE_RUNS];
    int64_t rows;
} beyond;

static pe_status look_beyond(beyond *b, int n, const measure_encoding *m, int64_t length, pe_error *err)
{
    int64_t width = measure_width(m), rows = table_rows(m), first = rows < length ? rows : length;
    double *code = measure_memory(length, width, err);
    if (!code)
        return PE_ERR_NOMEM;
    int64_t count = served(m, code), used = count < length ? count : length;
    pe_status status = measure_codes(code, m, 0, used, err);
    if (!status) {
        b->count[n] = (double)count;
        b->near[n] = nearest_two(code, used, width);
        b->apart[n] = measure_difference(code, m->w.data, first * width);
    }
    free(code);
    return status;
}

static pe_status beyond_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    beyond *b = with;
    measure_encoding m;
    prove_given g = measure_sized(b->g, n);
    g.seed = seed;
    TRY(measure_open(&m, g.spec[0], &g, err));
    pe_status status = table_rows(&m)
                           ? look_beyond(b, n, &m, g.length, err)
                           : io_fail(err, PE_ERR_UNSUITED, "%s has no table; needs one that is learned", g.spec[0]);
    if (!n)
        b->rows = table_rows(&m);
    measure_close(&m);
    return status;
}

/* given: spec (with a learned table), length (codes compared). REFUTED where n rows do not serve n^2. */
static pe_status measure_beyond_table(prove_finding *out, const prove_given *g, pe_error *err)
{
    beyond b = { .g = g };
    int runs = measure_runs(g);
    TRY(measure_each_seed(beyond_seed, &b, runs, g, err));
    measure_spread count = measure_spread_of(b.count, runs), near = measure_spread_of(b.near, runs),
                   apart = measure_spread_of(b.apart, runs);
    double whole = (double)(b.rows * b.rows);
    prove_add(out, (words){ "positions that have a code", "有编码的位置数" }, g->spec[0], count.least, "");
    prove_add(out, (words){ "rows of the table", "表的行数" }, g->spec[0], (double)b.rows, "");
    measure_add_spread(out, (words){ "nearest two codes", "最接近的两个编码之间的距离" }, g->spec[0], near, "");
    measure_add_spread(out, (words){ "first codes less the table, largest", "前若干个编码与原表的最大差" }, g->spec[0], apart,
                       "");
    bool all = count.least == whole && count.most == whole;
    prove_judge(out, all && near.least > PROVE_ROUNDING && apart.most < PROVE_ROUNDING,
                (words){ "n rows serve n^2 positions, no two of them alike, the first n as they were.",
                         "n 行的表可用于 n² 个位置，两两不同，且前 n 个与原表相同。" },
                (words){ "It serves no more positions than it has rows, or some of them share a code.",
                         "可用的位置不多于表的行数，或有位置共用编码。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- the claims */

#define STACK .length = 24, .seed = 9
#define PROBE_SIZES                                                                                                    \
    {                                                                                                                  \
        "Sizes: width 512 with 8 heads, and 128 with 1, 4 and 16 heads (20 seeds each).",                    \
            "尺寸：宽 512、8 头，宽 128，1、4、16 头（各 20 个随机种子）。"                                    \
    }

static const prove_claim claims[] = {
    { .name = "alibi-linear",
      .claim = { "ALiBi's penalty grows linearly with the distance, with slopes that are a geometric series.",
                 "ALiBi 的惩罚随距离线性增长，各头斜率成等比数列。" },
      .put = { "Its penalty grows linearly with the distance, with slopes that are a geometric series.",
               "它的惩罚随距离线性增长，各头斜率成等比数列。" },
      .source = "Press et al. 2021, 3 (arXiv:2108.12409)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "alibi" }, .head_dim = 8, .length = 2048 }, /* heads: those of models */
      .measure = measure_linear_penalty,
      .takes = PE_HOOK_BIAS },
    { .name = "t5-buckets",
      .claim = { "T5's buckets are single for near distances, logarithmic for far ones, and never fall.",
                 "T5 的桶在近处一距离一桶，远处按对数划分，桶号从不随距离下降。" },
      .source = "Raffel et al. 2019, 2.1 (arXiv:1910.10683)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "t5:direction=causal" }, .heads = 1, .head_dim = 8, .length = 1024 },
      .measure = measure_buckets },
    { .name = "shaw-clip",
      .claim = { "Beyond the clipping distance Shaw's terms are all alike.",
                 "超过截断距离之后，Shaw 的各项完全相同。" },
      .source = "Shaw et al. 2018, 3.2 (arXiv:1803.02155)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "shaw" }, .heads = 2, .head_dim = 16, .length = 400, .seed = 8 },
      .measure = measure_clip },
    { .name = "relative-needs-no-learning",
      .claim = { "Relative encodings need no learning.", "相对位置编码不需要学习。" },
      .source = "Press et al. 2021 (arXiv:2108.12409); Su et al. 2021 (arXiv:2104.09864)",
      .kind = PROVE_DEFINITION,
      .given = { .heads = 8, .head_dim = 64, .model_dim = 64, .causal = true },
      .measure = measure_no_learning },
    { .name = "tables-end",
      .claim = { "A learned table cannot extrapolate: past its last row there is no code.",
                 "可学习的位置表不能外推：最后一行之后没有编码。" },
      .put = { "It cannot extrapolate: past the last row of its table there is no code.",
               "它不能外推：位置表最后一行之后没有编码。" },
      .source = "Gehring et al. 2017, 3.1 (arXiv:1705.03122); Devlin et al. 2018 (arXiv:1810.04805)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "learned:rows=512" }, .head_dim = 64 },
      .measure = measure_table_ends,
      .takes = PE_HOOK_EMBED },
    { .name = "hierarchical-goes-on",
      .claim = { "The hierarchical decomposition extends a table of n rows to n^2 positions, all distinct.",
                 "层次分解让 n 行的位置表可用于 n² 个位置，且各不相同。" },
      .source = "Su 2020 (kexue.fm/archives/7947)",
      .rule = { "It holds if n rows serve n^2 positions, no two codes are equal to rounding (1e-9), and the "
                "first n are the table's own, in each seed: a table is drawn at random.",
                "成立的条件：每个随机种子下（表是随机的），n 行可用于 n² 个位置，没有两个编码相等（舍入误差 1e-9 以内），且前 n "
                "个就是原表。" },
      .sizes = MEASURE_SIZES,
      .given = { .spec = { "hierarchical:rows=32" }, .length = 1024, .seed = 1 },
      .measure = measure_beyond_table },
    { .name = "residuals-carry-position",
      .claim = { "With residual connections position stays readable by a linear map at every layer.",
                 "有残差连接时，线性映射在每一层都能读出位置。" },
      .put = { "With residual connections its position stays readable by a linear map at every layer.",
               "有残差连接时，线性映射在每一层都能读出它给的位置。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .rule = { "It holds if, in each seed, every layer keeps at least half of the input's R^2, with a map that is fitted "
                "on at least three times as many tokens as it has unknowns: more is kept than lost. Fits on fewer are shown, "
                "and runs whose input tells no place are left out and counted. The control is a model without an "
                "encoding.",
 "成立的条件：每个随机种子下，每一层都至少保留输入层 R² 的一半（保留的多于丢失的），线性映射的拟合词元数至少是未"
                "知数的三倍；更少的只列出；输入读不出位置的不计入，但列出次数。对照：没有位置编码的模型。" },
      .sizes = PROBE_SIZES,
      .given = { .spec = { "sinusoidal" }, .residual = true, STACK },
      .measure = measure_probe_kept,
      .takes = PE_HOOK_EMBED },
    { .name = "no-residuals-no-position",
      .claim = { "Without residual connections position is lost on the way up, where nothing is masked.",
                 "没有残差连接、也没有掩码时，位置信息会在逐层传递中丢失。" },
      .put = { "Without residual connections its position is lost on the way up, where nothing is masked.",
               "没有残差连接、也没有掩码时，它给的位置信息会在逐层传递中丢失。" },
      .source = "Dong et al. 2021, 2 (arXiv:2103.03404)",
      .rule = { "It holds if, in each seed, the last layer's R^2 is no larger than the largest of the control, a model "
                "without an encoding, which has no position to read; the map is fitted on at least three times as many tokens "
                "as it has unknowns, and fits on fewer are shown.",
 "成立的条件：每个随机种子下，最后一层的 R² 都不大于对照（没有位置编码的模型，无位置可读）的最大值；线性映射的拟合"
                "词元数至少是未知数的三倍，更少的只列出。" },
      .sizes = PROBE_SIZES,
      .given = { .spec = { "sinusoidal" }, STACK },
      .measure = measure_probe_lost,
      .takes = PE_HOOK_EMBED },
    { .name = "causal-mask-tells-position",
      .claim = { "A causal model without any encoding can tell position.", "没有任何位置编码的因果模型也能得知位置。" },
      .source = "Haviv et al. 2022 (arXiv:2203.16634); Kazemnejad et al. 2023, 5 (arXiv:2305.19466)",
      .rule = { "It holds if, in each seed, the last layer's R^2 is larger than that of its input and than the largest "
                "of the control, a model without the mask, which has no position to read; the map is fitted on at least three "
                "times as many tokens as it has unknowns, and fits on fewer are shown.",
 "成立的条件：每个随机种子下，最后一层的 R² 都大于其输入层，也大于对照（不加掩码的模型，无位置可读）的最大值；线性"
                "映射的拟合词元数至少是未知数的三倍，更少的只列出。" },
      .sizes = PROBE_SIZES,
      .given = { .spec = { "none" }, .causal = true, .residual = true, STACK },
      .measure = measure_probe_mask },
};

const prove_group prove_group_relative = { .name = "relative",
                                           .title = { "Relative encodings, tables and layers", "相对编码、位置表与层" },
                                           .claims = claims,
                                           .count = sizeof claims / sizeof *claims };

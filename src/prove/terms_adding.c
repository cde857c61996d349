/* SPDX-License-Identifier: MIT
 *
 * Claims on adding a code to a word: what the sum of the two vectors loses, and what concatenation costs. */
#include "prove/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words and codes in one vector: are they orthogonal, and what does it cost to keep them apart? Words are random
 * vectors whose elements have deviation 1. */

/* ------------------------------------------------ orthogonal? */

/* Mean |cos| between random words and the codes of positions 0 .. n-1. */
static pe_status mean_cosine(double *mean, const char *spec, const prove_given *g, int64_t width, pe_error *err)
{
    enum { WORDS = 64 };
    prove_given one = measure_at_width(g, width);
    measure_encoding m;
    TRY(measure_open(&m, spec, &one, err));
    double *word = measure_memory(WORDS + g->length, width, err), *code = word ? word + WORDS * width : NULL;
    pe_status status = word ? measure_added(&m, width, err) : PE_ERR_NOMEM;
    status = status ? status : measure_codes(code, &m, 0, g->length, err);
    if (!status) {
        measure_normals(word, WORDS * width, 1, g->seed);
        for (int64_t n = 0; n < WORDS * g->length; n++) {
            const double *a = word + n % WORDS * width, *b = code + n / WORDS * width;
            double sizes = measure_dot(a, a, width) * measure_dot(b, b, width);
            *mean += sizes > 0 ? fabs(measure_dot(a, b, width)) / sqrt(sizes) / (double)(WORDS * g->length) : 0;
        }
    }
    free(word);
    measure_close(&m);
    return status;
}

#define NEARLY 0.1 /* mean |cos| below which two vectors count as nearly orthogonal: 84 degrees */

/* given: spec, model_dim (the width that decides), length. REFUTED where the width is too small. */
pe_status measure_orthogonal(prove_finding *out, const prove_given *g, pe_error *err)
{
    double mean = 0, law = 0;
    static const words cosine = { "mean |cos| of words and codes", "词向量与位置编码夹角余弦的平均绝对值" };
    TRY(mean_cosine(&mean, g->spec[0], g, g->model_dim, err));
    prove_add(out, cosine, measure_named("d = ", (double)g->model_dim).is, mean, "");
    for (int64_t width = 8; width <= 1024; width *= 2) {
        double each = width == g->model_dim ? mean : 0;
        if (width != g->model_dim) {
            TRY(mean_cosine(&each, g->spec[0], g, width, err));
            prove_add(out, cosine, measure_named("d = ", (double)width).is, each, "");
        }
        law = fmax(law, fabs(each / sqrt(2 / (3.14159265358979323846 * (double)width)) - 1));
    }
    prove_add(out, (words){ "farthest from sqrt(2 / (pi d))", "与 sqrt(2/(πd)) 的最大偏离" }, "", 100 * law, "%");
    bool near = mean < NEARLY;
    prove_judge(out, near,
                (words){ "At this width the cosine is below 0.1; it falls as 1/sqrt(d).",
                         "在这个宽度上余弦小于 0.1，并按 1/sqrt(d) 下降。" },
                (words){ "At this width a word and a code still point alike: the cosine falls only as 1/sqrt(d).",
                         "在这个宽度上词向量与位置编码并不接近正交：余弦只按 1/sqrt(d) 下降。" });
    return PE_OK;
}

/* ------------------------------------------------ adding against concatenating */

/* to (n, out) = x (n, width) times W (rows, out), whose row c % rows meets element c: below the first block of rows
 * stands the same block again. */
static void project_tied(double *to, const double *x, int64_t n, int64_t width, const double *W, int64_t rows,
                         int64_t out)
{
    memset(to, 0, (size_t)(n * out) * sizeof *to);
    for (int64_t t = 0; t < n; t++)
        for (int64_t c = 0; c < width; c++)
            for (int64_t o = 0; o < out; o++)
                to[t * out + o] += x[t * width + c] * W[c % rows * out + o];
}

/* to (n, C): words 0 .. n-1 at places 0 .. n-1, joined with their codes as the spec says and projected by W. */
static pe_status join_and_project(double *to, const char *spec, const prove_given *g, const double *x, const double *W,
                                  pe_error *err)
{
    measure_encoding m;
    prove_given one = measure_at_width(g, g->model_dim);
    TRY(measure_open(&m, spec, &one, err));
    int64_t C = g->model_dim, n = g->length, width = measure_width(&m);
    double *y = measure_memory(n, width, err), *code = measure_memory(n, width, err);
    pe_status status = y && code ? measure_codes(code, &m, 0, n, err) : PE_ERR_NOMEM;
    if (!status) {
        memcpy(y, code, (size_t)(n * width) * sizeof *y);
        for (int64_t i = 0; i < n * C; i++)
            y[i / C * width + i % C] += x[i];
        project_tied(to, y, n, width, W, C, C);
    }
    free(y), free(code);
    measure_close(&m);
    return status;
}

/* given: two specs, one that adds and one that concatenates a code as wide as the word; model_dim, length. */
pe_status measure_tied(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t C = g->model_dim, n = g->length;
    double *x = measure_memory(3 * n + C, C, err), *W = x ? x + n * C : NULL;
    double *added = x ? W + C * C : NULL, *beside = x ? added + n * C : NULL;
    pe_status status = x ? PE_OK : PE_ERR_NOMEM;
    if (x) {
        measure_normals(x, n * C, 1, g->seed);
        measure_normals(W, C * C, 1 / sqrt((double)C), g->seed + 1);
    }
    status = status ? status : join_and_project(added, g->spec[0], g, x, W, err);
    status = status ? status : join_and_project(beside, g->spec[1], g, x, W, err);
    if (!status) {
        double most = measure_difference(added, beside, n * C);
        bool same = most < PROVE_ROUNDING;
        prove_add(out, (words){ "(x + p) W less [x, p] [W; W], largest", "(x+p)W 与 [x,p][W;W] 的最大差" }, g->spec[1],
                  most, "");
        prove_add(out, (words){ "largest element of (x + p) W", "(x+p)W 的最大元素" }, g->spec[0],
                  measure_largest(added, n * C), "");
        prove_judge(out, same,
                    (words){ "Adding is concatenating with one projection for both halves.",
                             "相加就是拼接后两半共用同一个投影矩阵。" },
                    (words){ "These two do not come to the same.", "这两者的结果并不相同。" });
    }
    free(x);
    return status;
}

/* given: specs that concatenate, model_dim (as many outputs of W_q, W_k, W_v each). REFUTED: none makes words wider. */
pe_status measure_concat_cost(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t C = g->model_dim;
    int dearer = 0, specs = 0;
    prove_given one = measure_at_width(g, C);
    for (; specs < PROVE_SPECS_MAX && g->spec[specs]; specs++) {
        measure_encoding m;
        TRY(measure_open(&m, g->spec[specs], &one, err));
        int64_t width = measure_width(&m);
        measure_close(&m);
        dearer += width > C;
        prove_add(out, (words){ "more parameters of W_q, W_k, W_v", "W_q、W_k、W_v 增加的参数" }, g->spec[specs],
                  100 * (double)(width - C) / (double)C, "%");
        prove_add(out, (words){ "parameters of W_q, W_k, W_v", "W_q、W_k、W_v 的参数量" }, g->spec[specs],
                  3 * (double)width * (double)C, "");
    }
    prove_add(out, (words){ "parameters of W_q, W_k, W_v when added", "相加时 W_q、W_k、W_v 的参数量" }, "",
              3 * (double)C * (double)C, "");
    prove_verdict v = dearer == specs ? PROVE_HOLDS : dearer ? PROVE_DEPENDS : PROVE_REFUTED;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Each element of the code is another row of all three projections.",
          "编码每多一维，三个投影矩阵就各多一行。" },
        { "None of these makes a word wider.", "这些编码都没有让词向量变宽。" },
        { "It depends on whether the code is joined or added.", "取决于编码是拼接还是相加。" },
    };
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* What adding loses: a linear map is fitted to read the code off sums of words and codes, and asked on others. */

enum { VOCABULARY = 512, ASKED = 256 };

typedef struct mixture {
    int64_t width, places, samples; /* samples to fit, then ASKED more */
    double *word, *code;            /* (VOCABULARY, d), (places, d) */
    double *sum, *image, *map;      /* (samples + ASKED, d) twice, (d, d) */
    int64_t *which;                 /* (samples + ASKED, 2): word, place */
} mixture;

static void mixture_free(mixture *m)
{
    free(m->word), free(m->code), free(m->sum), free(m->image), free(m->map), free(m->which);
}

static pe_status mixture_new(mixture *m, const prove_given *g, int64_t width, pe_error *err)
{
    *m = (mixture){ .width = width, .places = g->length, .samples = 4 * width };
    int64_t n = m->samples + ASKED;
    m->word = measure_memory(VOCABULARY, width, err);
    m->code = measure_memory(m->places, width, err);
    m->sum = measure_memory(n, width, err);
    m->image = measure_memory(n, width, err);
    m->map = measure_memory(width, width, err);
    m->which = calloc((size_t)(2 * n), sizeof *m->which);
    if (m->word && m->code && m->sum && m->image && m->map && m->which)
        return PE_OK;
    return io_fail(err, PE_ERR_NOMEM, "no memory for %lld sums of words and codes", (long long)n);
}

static void fill_mixture(mixture *m, uint64_t seed)
{
    int64_t d = m->width;
    measure_normals(m->word, VOCABULARY * d, 1, seed);
    for (int64_t n = 0; n < m->samples + ASKED; n++) {
        int64_t w = m->which[2 * n] = measure_range(&seed, 0, VOCABULARY - 1);
        int64_t p = m->which[2 * n + 1] = measure_range(&seed, 0, m->places - 1);
        for (int64_t c = 0; c < d; c++) {
            m->image[n * d + c] = m->code[p * d + c];
            m->sum[n * d + c] = m->word[w * d + c] + m->code[p * d + c];
        }
    }
}

static int64_t nearest(const double *x, const double *all, int64_t count, int64_t width)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t n = 0; n < count; n++) {
        double far = 0;
        for (int64_t c = 0; c < width && far < least; c++)
            far += (x[c] - all[n * width + c]) * (x[c] - all[n * width + c]);
        if (far < least) {
            least = far;
            best = n;
        }
    }
    return best;
}

typedef struct reading {
    double word, place; /* share of the asked that is read right */
    double off;         /* mean distance between the place read and the true one */
} reading;

/* A linear map reads the code off the sum; what is left is the word. */
static void read_off(reading *r, const mixture *m)
{
    double x[1024];
    for (int64_t n = m->samples; n < m->samples + ASKED; n++) {
        const double *sum = m->sum + n * m->width;
        for (int64_t c = 0; c < m->width; c++)
            x[c] = measure_dot(m->map + c * m->width, sum, m->width);
        int64_t place = nearest(x, m->code, m->places, m->width);
        for (int64_t c = 0; c < m->width; c++)
            x[c] = sum[c] - x[c];
        r->word += nearest(x, m->word, VOCABULARY, m->width) == m->which[2 * n] ? 1.0 / ASKED : 0;
        r->place += place == m->which[2 * n + 1] ? 1.0 / ASKED : 0;
        r->off += fabs((double)(place - m->which[2 * n + 1])) / ASKED;
    }
}

static pe_status read_at(reading *r, const prove_given *g, int64_t width, pe_error *err)
{
    prove_given one = measure_at_width(g, width);
    measure_encoding e;
    mixture m;
    double residual;
    *r = (reading){ 0 };
    TRY(measure_open(&e, g->spec[0], &one, err));
    pe_status status = mixture_new(&m, g, width, err);
    status = status ? status : measure_added(&e, width, err);
    status = status ? status : measure_codes(m.code, &e, 0, g->length, err);
    if (!status)
        fill_mixture(&m, g->seed);
    status = status ? status : measure_map(m.map, &residual, m.sum, width, m.image, width, m.samples, err);
    if (!status)
        read_off(r, &m);
    mixture_free(&m);
    measure_close(&e);
    return status;
}

#define RIGHT 0.8 /* of the words, and of the places: fewer, and they are lost */

/* given: spec, length (places). HOLDS: neither is lost at any width, REFUTED: one of both at each. */
pe_status measure_adding_loses(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    for (int64_t width = 256; width >= 16; width /= 2) {
        reading r;
        TRY(read_at(&r, g, width, err));
        measure_count(&t, r.word >= RIGHT && r.place >= RIGHT);
        measure_text d = measure_named("d = ", (double)width);
        prove_add(out, (words){ "places read right", "位置读对的比例" }, d.is, 100 * r.place, "%");
        prove_add(out, (words){ "words read right", "词读对的比例" }, d.is, 100 * r.word, "%");
        prove_add(out, (words){ "mean error of the place", "位置的平均误差" }, d.is, r.off, "");
    }
    static const words because[PROVE_VERDICT_COUNT] = {
        { "At every width tried a linear map reads 80 % of the words and of the places right.",
          "在试过的每个宽度上，线性映射都能读对 80% 的词和位置。" },
        { "At no width tried does a linear map read 80 % of both words and places right.",
          "在试过的任何宽度上，线性映射都不能同时读对 80% 的词和位置。" },
        { "It depends on the width: in a narrow sum a linear map reads fewer than 80 % of the words or of the places "
          "right, and "
          "that is called lost here.",
          "取决于宽度：宽度小时，线性映射读对的词或位置不足 80%，这里称为丢失。" },
    };
    measure_conclude(&t,
                     (words){ "widths at which one of both is lost (fewer than 80 % right)",
                              "词或位置丢失（读对不足 80%）的宽度数" },
                     because);
    return PE_OK;
}

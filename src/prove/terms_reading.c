/* SPDX-License-Identifier: MIT
 *
 * What adding loses: a linear map is fitted to read the code off sums of words and codes, and asked on others. */
#include "prove/measures.h"

#include <math.h>
#include <stdlib.h>

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

static void mix(mixture *m, uint64_t seed)
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
    PROVE_TRY(measure_open(&e, g->spec[0], &one, err));
    pe_status status = mixture_new(&m, g, width, err);
    status = status ? status : measure_added(&e, width, err);
    status = status ? status : measure_codes(m.code, &e, 0, g->length, err);
    if (!status)
        mix(&m, g->seed);
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
        PROVE_TRY(read_at(&r, g, width, err));
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
        { "On the width: in a narrow sum a linear map reads fewer than 80 % of the words or of the places right, and "
          "that is called lost here.",
          "取决于宽度：宽度小时，线性映射读对的词或位置不足 80%，这里称为丢失。" },
    };
    measure_conclude(&t,
                     (words){ "widths at which one of both is lost (fewer than 80 % right)",
                              "词或位置丢失（读对不足 80%）的宽度数" },
                     because);
    return PE_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * What several rows share. */
#ifndef PE_SHARED_H
#define PE_SHARED_H

#include "core/row.h"
#include "kernels/code.h"
#include "kernels/turn.h"

#define FREQUENCY_MAX 0x1p11 /* radians per position */

/* Every embed row ends its keys with these two, in this order. */
#define EMBED_KEYS                                                                                                     \
    { "join", PE_KEY_CHOICE, "add", 0, 0, "add|concat", NULL, "add the code to the embedding, or concatenate it", NULL, false },  \
    {                                                                                                                  \
        "width", PE_KEY_INT, "", 1, 1 << 24, NULL, "join=concat", "width of the code; default: model_dim", NULL, false \
    }

/* Reads join and width, whose keys are `first` and `first + 1`. */
static inline void embed_init(part *p, int first)
{
    p->concat = num(p, first) != 0;
    if (p->value[first + 1].given) {
        p->value[first + 1].given = whole(p, first + 1) != p->width; /* one canonical form */
        p->width = whole(p, first + 1);
    }
}

/* Rows of tables: y = elements i .. i + n - 1 of tensor t, or += them. */
static inline void params_row(const part *p, pe_params w, int t, int64_t i, double *y, int64_t n)
{
    i += p->tensor[t].offset;
    switch (w.dtype) { /* once, not for each */
    case PE_F32: num_loads(y, w.data, PE_F32, i, n); break;
    case PE_F64: num_loads(y, w.data, PE_F64, i, n); break;
    case PE_F16: num_loads(y, w.data, PE_F16, i, n); break;
    default: num_loads(y, w.data, PE_BF16, i, n); break;
    }
}

static inline void params_add(const part *p, pe_params w, int t, int64_t i, double *y, int64_t n)
{
    i += p->tensor[t].offset;
    switch (w.dtype) {
    case PE_F32: num_adds(y, w.data, PE_F32, i, n); break;
    case PE_F64: num_adds(y, w.data, PE_F64, i, n); break;
    case PE_F16: num_adds(y, w.data, PE_F16, i, n); break;
    default: num_adds(y, w.data, PE_BF16, i, n); break;
    }
}

/* theta^(-exponent) turns per position, divided by 2 pi. */
wide theta_power(double theta, wide exponent);

/* One spectrum: frequency[i] of theta^(-2i/denominator) for i = 0 .. count-1. */
void spectrum(wide *out, int64_t count, double theta, int64_t denominator);

/* Transformer-XL's two terms over distances -ahead .. back. */
pe_status xl_init(part *p, int64_t back, int64_t ahead, pe_error *err);
double xl_fill(const part *p, int t, int64_t i);
bool xl_reaches(const part *p, const int64_t *q, const int64_t *k);
void xl_tell_index(const part *p, const term *t, int64_t q, int64_t k, tell *out);
void xl_tell_entry(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out);
void xl_tell_beside(const part *p, const term *t, int64_t r, int64_t h, int64_t d, tell *out);

#endif

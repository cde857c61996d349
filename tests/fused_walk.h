/* SPDX-License-Identifier: MIT
 *
 * What both directions of fused attention are held to (test_fused, test_fused_back): the rungs of this CPU, shapes,
 * positions of any kind, views of any strides. */
#ifndef TESTS_FUSED_WALK_H
#define TESTS_FUSED_WALK_H

#include "fused_case.h"

/* Cases take the rungs in turn, from rung_at on. */
static const char *rungs[8];
static int rung_count, rung_at;
static pe_dtype type, out_type; /* of inputs and their gradients; of outputs */

/* Both run, and are compared; c is used up. The file has its own. */
static void compare(attention_case c, const char *how);

/* What each test starts from: float32, the rungs of this CPU in turn. */
AROUND(before_each)
{
    rung_count = case_rungs(rungs, COUNT(rungs));
    rung_at = 0;
    type = out_type = PE_F32;
}

/* ------------------------------------------------ the worst of a family */

static double worst;
static const char *worst_spec;
static int64_t compared, refused;

static inline void note(const char *spec, double off)
{
    compared++;
    if (off > worst) {
        worst = off;
        worst_spec = spec;
    }
}

static inline void report(const char *family)
{
    printf("%-40s %5" PRId64 " cases, %4" PRId64 " refused, worst: %.2f units, %.60s\n", family, compared, refused,
           worst, worst_spec ? worst_spec : "");
    for (int n = 0; n < GRADS; n++)
        if (back_most[n] > 0)
            printf("  %s %.2f\n", grad_names[n], back_most[n]);
    memset(back_most, 0, sizeof back_most);
    assert_true(compared > 0);
    worst = 0;
    worst_spec = NULL;
    compared = refused = 0;
}

/* ------------------------------------------------ shapes */

/* False: this shape does not suit the spec. */
static inline bool compare_shape(const char *spec, pe_shape shape, int64_t Dv, int64_t Tq, int64_t Tk,
                                 unsigned features)
{
    char how[160];
    pe_encoding *e = encoding_if_any(spec, shape);
    if (!e)
        return false;
    snprintf(how, sizeof how, "%d heads on %d, D %d, Dv %d, Tq %d, Tk %d, features %u", (int)shape.heads,
             (int)shape.kv_heads, (int)shape.head_dim, (int)Dv, (int)Tq, (int)Tk, features);
    attention_case c = case_begun(spec, e);
    c.Tq = Tq;
    c.Tk = Tk;
    c.Dv = Dv;
    compare(case_made(c, features, 0x66757365), how);
    return true;
}

/* ------------------------------------------------ positions */

typedef enum layout {
    APART, FURTHER, ANYWHERE, NEAR, RESTARTING, FALLING, ONE_GAP, STILL, GRID, STEPS, LAYOUTS
} layout;

static inline int64_t place(layout how, int64_t t, int64_t axis, uint64_t *r)
{
    switch (how) {
    case APART: return t * (INT64_C(1) << 26) - (INT64_C(1) << 30);
    case FURTHER: return t * (INT64_C(1) << 30) - (INT64_C(1) << 35);
    case ANYWHERE: return test_range(r, -PE_POSITION_MAX, PE_POSITION_MAX);
    case NEAR: return test_range(r, -300, 300);
    case RESTARTING: return t % 37;
    case FALLING: return 100 - t;
    case ONE_GAP: return t < 70 ? t : t + (INT64_C(1) << 30);
    case STILL: return 7;
    case GRID: return axis == 0 ? t / 49 % 2 : axis == 1 ? t / 7 % 7 : t % 7;
    default: return 4 * t; /* a tile needs more rows than NEED */
    }
}

/* Queries stand at the last keys, or apart from them; a segment is what a restart begins. */
static inline void place_tokens(attention_case *c, layout how, bool apart)
{
    uint64_t r = 0x66757365;
    for (int64_t n = 0; n < c->Tk * c->axes; n++)
        c->k_at[n] = place(how, n / c->axes, n % c->axes, &r);
    for (int64_t n = 0; n < c->Tq * c->axes; n++)
        c->q_at[n] = apart ? place(how, n / c->axes, n % c->axes, &r) : c->k_at[n + (c->Tk - c->Tq) * c->axes];
    for (int64_t j = 0; j < c->Tk; j++)
        c->k_segment[j] = j / 37;
    for (int64_t i = 0; i < c->Tq; i++)
        c->q_segment[i] = (i + c->Tk - c->Tq) / 37;
    case_keep(c);
}

/* ------------------------------------------------ views */

/* A packed view with rows apart, (heads, tokens, dim) or (tokens, heads, dim), in memory full of 0x5a. */
typedef struct spread {
    pe_view v;
    unsigned char *base;
    size_t bytes;
} spread;

static inline spread spread_of(pe_view p, bool heads_first, int64_t pad)
{
    spread s = { .v = p };
    size_t size = pe_dtype_size(p.dtype);
    s.v.token_stride = heads_first ? p.dim + pad : p.heads * (p.dim + pad) + pad;
    s.v.head_stride = heads_first ? p.tokens * (p.dim + pad) + pad : p.dim + pad;
    s.bytes = (size_t)((p.tokens + 1) * (p.heads + 1) * (p.dim + 2 * pad + 1)) * size + 64;
    s.base = take((int64_t)s.bytes, 1);
    memset(s.base, 0x5a, s.bytes);
    s.v.data = s.base + 16;
    for (int64_t n = 0; n < p.tokens * p.heads; n++)
        memcpy((char *)s.v.data + (size_t)(n / p.heads * s.v.token_stride + n % p.heads * s.v.head_stride) * size,
               (char *)p.data + (size_t)(n * p.dim) * size, (size_t)p.dim * size);
    return s;
}

#endif

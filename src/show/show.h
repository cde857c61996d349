/* SPDX-License-Identifier: MIT
 *
 * posenc_show: what an encoding looks like. A view is one kind of picture and one row of show_views; it asks the
 * library for numbers and leaves figures. No view knows an encoding by name: what it can show follows from the hooks.
 *
 *     show_subject *s;
 *     show_sheet sheet = { 0 };
 *     show_subject_new(&s, "rope:theta=500000", &request, &err);
 *     show_one_mask(&request, &s, 1, &err);
 *     for each view that show_fits(view, s): show_add(&sheet, view, s, &request, &err)
 *     show_align(&sheet);          figures_write(to, sheet.figure, sheet.count, &how, &err);
 *     show_sheet_free(&sheet);     show_subject_free(s);
 */
#ifndef POSENC_SHOW_H
#define POSENC_SHOW_H

#include "draw/figure.h"

#define SHOW_WORDS_MAX 64 /* of a sentence */
#define SHOW_PICK_MAX 8   /* of pairs or dimensions */
#define SHOW_FIGURES_MAX 256

typedef struct show_request {
    pe_shape shape;              /* zeros: 8 heads of 64, a model_dim of 128 */
    int64_t length;              /* positions; 0: the view's own choice, or as many as the encoding supports */
    int64_t start;               /* first position */
    int64_t position;            /* of the query; -1: the view's own choice */
    int64_t head;                /* attention head */
    int64_t axis;                /* coordinate that varies; the others are 0 */
    int64_t pick[SHOW_PICK_MAX]; /* which pairs (or dimensions, of codes) */
    int pick_count;              /* 0: a spread of them */
    const char *sentence;        /* words between spaces; NULL: the one with two dogs */
    bool causal;
    bool log;      /* distances on a logarithmic axis */
    uint64_t seed;    /* of learned parameters and of contents */
    pe_params params; /* float64; count 0: learned parameters as they start */
    language language;
} show_request;

struct show_block;
typedef struct show_subject {
    pe_encoding *e;
    pe_params params; /* float64 */
    bool given;       /* they are the request's; else as they start, by the seed */
    const char *spec; /* canonical; lives as long as e */
    pe_shape shape;
    int64_t axes;
    unsigned hooks;
    int64_t work;    /* steps that one score takes */
    int64_t trained; /* positions that training has, where the spec says so; 0: it does not */
    bool waves;      /* its codes are sines: one part makes them, and one matrix moves every position on */
    struct show_block *blocks, **scratch; /* what a view allocates, until it is made (views.h) */
} show_subject;

pe_status show_subject_new(show_subject **out, const char *spec, const show_request *r, pe_error *err);
void show_subject_free(show_subject *s); /* NULL is fine */
/* Whether given parameters, if there are any, are as many as the encoding has. */
pe_status show_params_fit(const pe_encoding *e, pe_params given, pe_error *err);

/* Sets r->causal where one of the subjects supports, or is made for, keys up to the query only: subjects side by side
 * share one mask, so that pictures differ by the encoding alone. */
pe_status show_one_mask(show_request *r, show_subject *const *s, int count, pe_error *err);

/* The figures of several views and subjects; owned. */
typedef struct show_sheet {
    figure *figure[SHOW_FIGURES_MAX];
    int count;
    language language; /* of what was added last */
} show_sheet;
void show_sheet_free(show_sheet *sheet);
/* Gives figures of one title one scale, so that they can be compared side by side. Where one of them uses less than a
 * quarter of it, the captions say what each spans. */
void show_align(show_sheet *sheet);

typedef struct show_view {
    const char *name;                    /* "table" */
    words title;                         /* of its figures */
    words about;                         /* what to look for, one or two sentences */
    unsigned hooks;                      /* rows with any of these have it; 0: every row */
    bool (*fits)(const show_subject *s); /* a further condition; NULL: none */
    bool first;                          /* one of the few that a terminal shows by default */
    bool random;                         /* draws words and projections by the seed */
    const char *asks;                    /* the options that it reads: "length|start" */
    pe_status (*make)(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err);
} show_view;

extern const show_view *const show_views[];
extern const int show_view_count;
bool show_fits(const show_view *v, const show_subject *s);
const show_view *show_view_named(const char *name); /* NULL: none */
/* The view's figures of s, at the end of the sheet; after a failure none of them. */
pe_status show_add(show_sheet *to, const show_view *v, const show_subject *s, const show_request *r, pe_error *err);

/* ---------------------------------------------------------------- walk: one small case, step by step */

/*     walk *w;
 *     walk_new(&w, "sinusoidal", &(walk_request){ .position = { 5 }, .dim = 8, .heads = 8 }, &err);
 *     walk_fill(out, w);
 *     walk_free(w);
 *
 * Three words at three positions, one of them looks at all: every number is the library's, and every line is an
 * equation whose sides agree to the digits shown. */
#define WALK_STEPS_MAX 29 /* parts, their terms, and what every walk has */
#define WALK_DIM_MAX 64
#define WALK_HEADS_MAX 64

typedef struct walk_line {
    char *name;    /* "p_5[2]"; NULL: text is a sentence */
    char *text;    /* "sin(5 · 10000^(-2/8)) = sin(5 · 0.1)": what it equals, before the number; NULL: none */
    double *value; /* (count) the number; or a vector; NULL: none */
    int count;
} walk_line;

typedef struct walk_step {
    words title;   /* what happens */
    char *formula; /* with letters; NULL: none */
    words note;    /* why; en NULL: none */
    walk_line *line;
    int count, room;
} walk_step;

typedef struct walk {
    char *spec; /* canonical */
    language language;
    walk_step step[WALK_STEPS_MAX];
    int count;
    bool failed; /* no memory */
} walk;

typedef struct walk_request {
    int64_t position[PE_AXES_MAX];   /* of the query */
    int64_t other[PE_AXES_MAX];      /* of the key that is looked at */
    int position_count, other_count; /* coordinates given: 1 stands for all axes; of other 0: two before the query */
    int64_t dim;                     /* width of the embedding and of a head */
    int64_t heads, head;             /* how many, and which is followed */
    uint64_t seed;
    pe_params params;  /* float64; count 0: learned parameters as they start */
    language language; /* of lines with words */
} walk_request;

pe_status walk_new(walk **out, const char *spec, const walk_request *r, pe_error *err);
void walk_free(walk *w); /* NULL is fine */

struct result;
void walk_fill(struct result *out, const walk *w); /* result/result.h */

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the views share: positions along one axis, codes, rotations, score terms, and the beginnings of figures. What
 * they allocate belongs to the subject, and show_add frees it when the view is made: nobody else does. */
#ifndef POSENC_SHOW_VIEWS_H
#define POSENC_SHOW_VIEWS_H

#include "show/show.h"
#include "base/try.h"

#define SHOW_POINTS_MAX 2048 /* of a line; longer ones are sampled */
#define SHOW_CELLS_MAX 4096  /* rows or columns of a heat map */
#define SHOW_LINES_MAX 8     /* of one figure */

/* What is drawn while somebody waits is counted before it is computed, in steps of a multiplication or so. */
#define SHOW_WORK_MAX (INT64_C(1) << 26)
#define SHOW_SINE 16 /* steps of a number of a code, or of a rotation */

#define SHOW_HOOKS_SCORE (PE_HOOK_CONTENT | PE_HOOK_BIAS)

/* ---------------------------------------------------------------- positions (path.c) */

/* start, start + step, ... along one axis. */
typedef struct show_path {
    int64_t *at;        /* (points, axes) */
    pe_positions where; /* of at */
    int64_t length;     /* positions that it stands for */
    int64_t step;
} show_path;

/* The request's length, or as much of own as the encoding serves; at most `most` points, and as many as SHOW_WORK_MAX
 * allows, by steps where more are wanted. Refused where not even a sentence's would be allowed. */
pe_status path_new(show_path *p, const show_subject *s, const show_request *r, int64_t own, int64_t most,
                   pe_error *err);
/* The same without steps: a length above `most` is refused, in the name of the view. */
pe_status path_new_whole(show_path *p, const show_subject *s, const show_request *r, int64_t own, int64_t most,
                         const char *view, pe_error *err);
/* The point at, or next to, the request's position; fallback where it has none. */
pe_status path_point(int64_t *out, const show_path *p, const show_request *r, int64_t fallback, pe_error *err);
pe_positions path_one(const show_path *p, int64_t i); /* point i alone */
/* Whether queries look back only: asked for, or all that the encoding serves, or is made for. */
pe_status show_is_causal(bool *out, const show_subject *s, const show_request *r, pe_error *err);

/* ---------------------------------------------------------------- numbers (numbers.c) */

/* Zeroed; NULL: no memory. */
void *show_scratch(const show_subject *s, int64_t count, size_t unit);
/* Frees what was allocated since *s->scratch was mark. */
void show_release(const show_subject *s, const struct show_block *mark);
/* a * b doubles, zeroed. */
pe_status show_memory(double **out, const show_subject *s, int64_t a, int64_t b, pe_error *err);
/* What is added to (or joined with) an embedding, (points, width). */
pe_status show_codes(double **out, int64_t *width, const show_subject *s, pe_positions where, pe_error *err);
/* cos, then sin, of the queries' rotation: (2, points, pairs). */
pe_status show_rotations(double **out, int64_t *pairs, const show_subject *s, pe_positions where, pe_error *err);
pe_status show_pairs(pe_pair **out, int64_t *count, const show_subject *s, pe_error *err);
/* What is added to the score, (Tq, H, Tk), where all queries have one content and all keys another. causal: pairs whose
 * key comes after the query are left out, as NaN. */
pe_status show_terms(double **out, const show_subject *s, const show_request *r, pe_positions q, pe_positions k,
                     bool causal, pe_error *err);
/* Whether the request's head is there. */
pe_status show_head(const show_subject *s, const show_request *r, pe_error *err);
double show_dot(const double *x, const double *y, int64_t n);

/* Which of count things are drawn, at most SHOW_LINES_MAX: those of the request that are there, or a spread of
 * `wanted`, closer together at the beginning where `early`. */
pe_status show_pick(int64_t out[SHOW_LINES_MAX], int *picked, const show_request *r, int64_t count, int wanted,
                    bool early, const char *what, pe_error *err);
/* As many heads of count as can be told apart, evenly spread. */
int show_pick_heads(int64_t *out, int most, int64_t count);

/* ---------------------------------------------------------------- figures (sheet.c) */

/* The next figure of the sheet, with its group; the sheet owns it. */
pe_status show_figure(figure **out, show_sheet *to, figure_kind kind, const show_subject *s, pe_error *err);
/* The view's title; of a combination that several figures of the view show, with what this one shows of it. */
void show_title(figure *f, const show_view *v, const show_subject *s, const show_request *r, unsigned hook);
/* printf in the request's language; both formats take the same arguments. */
void show_say(figure *f, char **field, const show_request *r, words format, ...);
/* A line at the trained length, where the spec names one that lies between. */
void show_mark_trained(figure *f, const show_subject *s, const show_request *r, double from, double to);
/* The caption, and a sentence on the steps of the path where it has any. */
void show_caption(figure *f, const show_path *p, const show_request *r, words format, ...);

/* ---------------------------------------------------------------- waves of codes (views_waves.c) */

/* Positions per turn of every dimension; of a subject that has waves. */
pe_status show_code_waves(double **out, int64_t *count, const show_subject *s, const show_request *r, pe_error *err);
/* A line over dimensions, broken where their wavelengths begin anew; wave NULL: nowhere. */
void show_put_broken(figure *f, const char *name, const double *y, const double *wave, int64_t count);

/* ---------------------------------------------------------------- sentences (sentence.c) */

typedef struct show_sentence {
    char *text;                       /* where the words lie */
    const char *word[SHOW_WORDS_MAX]; /* UTF-8 */
    int count;
    show_path path; /* a position for each word */
    bool causal;
} show_sentence;

/* Words between spaces; a Chinese character is a word. */
pe_status sentence_new(show_sentence *out, const show_subject *s, const show_request *r, pe_error *err);

/* ---------------------------------------------------------------- attention of a sentence (views_attention.c) */

/* x (T, C): the content of each word, drawn with the seed; equal words have equal contents. */
void show_word_vectors(double *x, const show_sentence *w, const show_request *r, int64_t model);
/* prob (T, T): what each word attends to, by the request's head, whose projections are drawn with the seed. with: with
 * the encoding. */
pe_status show_attend(double *prob, const show_sentence *w, bool with, const show_subject *s, const show_request *r,
                      pe_error *err);
words show_attention_rows(bool causal); /* of a caption: what a row is; %s: more of it */

/* ---------------------------------------------------------------- the rows of show_views */

extern const show_view show_view_table, show_view_curves, show_view_decay, show_view_heads, show_view_bias,
    show_view_wavelengths, show_view_turns, show_view_variance, show_view_around, show_view_attention, show_view_permuted,
    show_view_pooled, show_view_products, show_view_path, show_view_shift;

#endif

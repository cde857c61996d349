/* SPDX-License-Identifier: MIT
 *
 * What the files of a walk share: the case in numbers (walk_scene.c), the lines that are added (walk.c), and the steps,
 * one file each. */
#ifndef POSENC_WALK_H
#define POSENC_WALK_H

#include "base/tell.h"
#include "io/io.h"
#include "show/show.h"
#include "base/try.h"

enum { TOKENS = 3, WIDTH_MAX = 2 * WALK_DIM_MAX, PLACE_ROOM = 200, TEXT_ROOM = 16384 };

/* One query's way through attention, in the order it is taken. */
typedef struct attending {
    const pe_encoding *e;
    pe_params params;
    pe_positions q_at, k_at;
    const double *from; /* (T, D): the words, before they are rotated */
    int64_t D;
    double q[WIDTH_MAX], k[TOKENS * WIDTH_MAX], v[TOKENS * WIDTH_MAX]; /* (D), (T, D), rotated */
    double dot[TOKENS], before[TOKENS], after[TOKENS], scale;
    double score[TOKENS], weight[TOKENS], out[WIDTH_MAX]; /* the library's */
    double sum[WIDTH_MAX];                                /* out as it was before it was rotated back */
} attending;

typedef struct walk_scene {
    const walk_request *r;
    pe_encoding *e, *none;
    pe_params params;
    pe_formula formula[PE_FORMULAS_MAX]; /* what the encoding adds, rotates by and scales by */
    int formulas;
    pe_error failed;                   /* what kept the library from telling one of them */
    int64_t axes, dim, D, heads, head; /* D: of a word with its codes, and so of a head */
    int64_t at[TOKENS * PE_AXES_MAX];  /* (T, axes), the first coordinate rising */
    char place[TOKENS][PLACE_ROOM];    /* "5", "(5,5)" */
    int query, key;
    uint8_t seen[TOKENS];
    bool hidden;                /* the encoding does not serve keys ahead of the query: they are not seen */
    double gate[TOKENS];        /* c, where the encoding takes gates; the same for all heads */
    double relative[WIDTH_MAX]; /* (R): the query's vector, where it takes one */
    int64_t R;
    double x[TOKENS * WIDTH_MAX], y[TOKENS * WIDTH_MAX]; /* (T, dim), (T, D): before and after the codes */
    attending plain, with;
    int moved[TOKENS]; /* the word that stands at each place after two that are not the query have changed places */
    double plain_moved[WIDTH_MAX], with_moved[WIDTH_MAX]; /* the outputs of that; where both are seen */
    double wide[WALK_HEADS_MAX * WIDTH_MAX]; /* (H, D) of all heads, of which one is followed */
    char text[TEXT_ROOM];
} walk_scene;

const char *walk_word(const walk_scene *s, int word); /* "dog", in the language of the walk */

pe_status walk_scene_new(walk_scene **out, const char *spec, const walk_request *r, pe_error *err);
void walk_scene_free(walk_scene *s); /* NULL is fine */
const int64_t *walk_scene_at(const walk_scene *s, int word);
void walk_place(char text[PLACE_ROOM], const int64_t *at, int64_t axes); /* "5", "(5,5)" */
/* The number and the text of a formula, of the query and this key. */
double walk_scene_tell(walk_scene *s, int formula, int key, int64_t element, char *text, size_t room);
/* The same of a pair, of this word as query or as key. */
double walk_scene_tell_pair(walk_scene *s, int formula, pe_side side, int word, int64_t pair, char *text, size_t room);
/* What is shown is what the library has, up to rounding, of numbers as large as size. */
pe_status walk_scene_hold(const walk_scene *s, double shown, double library, double size, pe_error *err);

/* A step begins, and lines are added to it. What ran out of memory is said once, in walk->failed. */
void walk_begin(walk *w, words title, const char *formula, words note);
void walk_equation(walk *w, const char *name, const char *text, double number); /* "a\nb": a is a line of its own */
void walk_vector(walk *w, const char *name, const char *text, const double *number, int64_t count);
void walk_sentence(walk *w, const char *text);
/* The lines of a text before its last one, those that no step has yet; returns the last line. */
const char *walk_lines_before(walk *w, const char *text);
/* For the names above: walk_name("k_%s", place).text */
typedef struct name_text {
    char text[PLACE_ROOM + 40];
} name_text;
IO_PRINTF(1, 2) name_text walk_name(const char *format, ...);

pe_status walk_rotate(walk *w, walk_scene *s, pe_error *err);
pe_status walk_terms(walk *w, walk_scene *s, pe_error *err);
void walk_attend(walk *w, walk_scene *s);

#endif

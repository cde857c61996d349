/* SPDX-License-Identifier: MIT
 *
 * The measures that rows of claims_terms.c, claims_rope.c, claims_relative.c and claims_numbers.c name, by file. What
 * each reads of `given` and when its verdict turns stands beside its definition.
 */
#ifndef POSENC_MEASURES_H
#define POSENC_MEASURES_H

#include "prove/measure.h"

typedef pe_status measure_fn(prove_finding *out, const prove_given *g, pe_error *err);

/* measures.c: what several of them use */
#define MEASURE_HEAD_MAX 256
/* One head, as wide as given says, MEASURE_HEAD_MAX at most; the model as wide as the head. */
pe_status measure_open_head(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err);
prove_given measure_at_width(const prove_given *g, int64_t width); /* one head as wide as the model */
typedef struct measure_text {
    char is[96];
} measure_text;
measure_text measure_named(const char *before, double n); /* "d = 512" */
/* The spec as it is where it serves a text of this length, else with the key by which its row says how far it reaches.
 */
measure_text measure_reaching(const char *spec, const prove_given *g, int64_t length);
/* Token t of a text: along a line, or in the rows of the smallest square (cube) that holds the text: at (axes). */
void measure_place_one(int64_t *at, int64_t t, int64_t tokens, int64_t axes);
void measure_place(int64_t *at, int64_t tokens, int64_t axes); /* all of them: at (tokens, axes) */

/* How many of some rows pass, and the verdict: HOLDS all, REFUTED none, DEPENDS some. */
typedef struct measure_tally {
    prove_finding *out;
    int good, bad;
} measure_tally;
void measure_count(measure_tally *t, bool good);
/* The count of those that do not pass goes before all other numbers, as `what`, where there are several. */
void measure_conclude(const measure_tally *t, words what, const words because[PROVE_VERDICT_COUNT]);
/* prove_add, before all other numbers: what decides is known last and told first. */
void measure_add_first(prove_finding *out, words what, const char *of, double value, const char *unit);
void measure_first(prove_finding *out); /* the number that was added last goes before all others */

/* terms_four.c: the four terms */
measure_fn measure_four_terms;
/* terms_edits.c: encodings that edit them */
measure_fn measure_edit_shaw, measure_edit_xl, measure_edit_t5, measure_edit_deberta, measure_edit_rope, measure_edits;
/* terms_adding.c: words and codes in one vector */
measure_fn measure_orthogonal, measure_tied, measure_concat_cost;
/* terms_reading.c: what adding loses */
measure_fn measure_adding_loses;
/* rope_turn.c: what a turn keeps */
measure_fn measure_relative_only, measure_norms_kept, measure_matrix_form, measure_turns_once;
/* rope_distance.c: what distance does to a turned score */
measure_fn measure_bound_decays, measure_scores_decay, measure_bands;
/* rope_axes.c: more than one coordinate */
measure_fn measure_axes_apart, measure_axes_in_one_pair;
/* relative_bias.c: terms by distance */
measure_fn measure_linear_penalty, measure_buckets, measure_clip;
/* relative_learned.c: what has parameters, and how far a table reaches */
measure_fn measure_no_learning, measure_table_ends, measure_beyond_table;
/* relative_probe.c: position further up */
measure_fn measure_probe_kept, measure_probe_lost, measure_probe_mask;
/* numbers_precision.c: what survives rounding */
measure_fn measure_bf16, measure_f16, measure_q8, measure_q4;
/* numbers_moved.c: turned in few bits, is a score still one of the distance? */
measure_fn measure_moved_bf16, measure_moved_f16, measure_moved_f32;
/* numbers_cost.c: time and memory */
measure_fn measure_time_cost, measure_memory_cost;
/* numbers_kernels.c: which fast attentions an encoding allows */
measure_fn measure_any_kernel, measure_cache_shift, measure_split_keys;

#endif

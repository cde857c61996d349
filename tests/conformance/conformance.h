/* SPDX-License-Identifier: MIT
 *
 * posenc-conformance: the library held against golden vectors, outputs of other people's implementations.
 *
 *     main.c        the folder, its files, the report
 *     golden.c      one case: its parameters, its tensors, what was compared and the worst of it
 *     params.c      what a runner hands to the library: spec text, parameter blocks, tiles
 *     rope.c        rope_types and rope_layouts: from a case's parameters to a spec, positions and views
 *     rope_steps.c  ... and their comparison: frequencies, tables, layout, end to end
 *     config.c      a Hugging Face config as a spec
 *     tables.c      sinusoidal
 *     biases.c      biases and bucket indices
 *     modules.c     relative_attention: q, k, v from x, attention, output
 *     families.c    relative_attention: which row, and how a file's tables become its parameters
 *     lm.c          relative_attention: whole language models, loaded as posenc eval does
 *
 * A runner compares and returns PE_OK, whether the values agree or not; it returns another status, with the sentence in
 * c->err, when the case cannot be run at all, which fails it too. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "base/try.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
/* The README's tolerances, all of them. */
#define TOL_FREQUENCY 4e-6       /* of inv_freq: a float32 pipeline rounds i/d, the power and the smoothing */
#define TOL_SCALING 1e-6         /* of attention_scaling */
#define TOL_ANGLE 0x1p-22        /* times 1 + |angle|: float32 angle, cos and sin */
#define TOL_ROTATED 1e-6         /* of |x| + |y|, with the file's own cos and sin */
#define TOL_END_TO_END 1e-4      /* of |x| + |y|, at positions below END_TO_END_POSITIONS */
#define END_TO_END_POSITIONS 100
#define TOL_PROBABILITY 2e-5
#define TOL_OUTPUT 1e-5          /* of the largest |output| or |gradient| */
#define TOL_LOGIT 2e-5           /* of the largest |logit| */
#define TOL_BIAS 2e-6            /* of the largest |bias| */

typedef struct golden_tensor {
    float *real;    /* one of the two, as it was read; lives as long as the case */
    int64_t *whole;
    int rank;
    int64_t shape[IO_RANK_MAX], count;
} golden_tensor;

/* The comparison that used up most of its tolerance. */
typedef struct golden_worst {
    double got, want, tolerance, used;
    char where[160];
} golden_worst;

typedef struct golden_kept golden_kept;

typedef struct golden {
    const char *file, *name;    /* "biases", "alibi_mpt_h8" */
    io_node meta, tensors;
    const io_safetensors *data;
    pe_error err;
    char skip[200];             /* why it was not run; "": it was */
    int64_t compared;
    golden_worst worst;
    golden_kept *kept;
} golden;

pe_status golden_skip(golden *c, const char *why, ...) IO_PRINTF(2, 3); /* PE_OK */
pe_status golden_fail(golden *c, const char *why, ...) IO_PRINTF(2, 3); /* PE_ERR_FORMAT */
void golden_free(golden *c);                                            /* what the case kept */

/* Memory and encodings that live as long as the case. NULL, with c->err filled, when there is none. */
void *golden_alloc(golden *c, int64_t count, size_t size);
pe_encoding *golden_encoding(golden *c, const char *spec, pe_shape shape);

bool golden_has(const golden *c, const char *field);
pe_status golden_real(golden *c, const char *field, golden_tensor *out);
pe_status golden_whole(golden *c, const char *field, golden_tensor *out);
/* Drops leading axes of 1 down to this rank (1 to 3) and holds the rest against a, b, d; -1: any size. */
pe_status golden_fits(golden *c, const char *field, golden_tensor *t, int rank, int64_t a, int64_t b, int64_t d);
double golden_largest(const golden_tensor *t); /* |element| */

io_json_kind golden_kind(const io_node *at, const char *key);    /* of at.key */
const char *golden_word(const io_node *at, const char *key);      /* NULL: no string */
/* meta.key; absent: *out as it was. Sizes are 1 to 2^24. */
pe_status golden_size(golden *c, const char *key, io_need need, int64_t *out);
/* Whether meta.note, or the case's own name, has the word, in any case. For what meta has no key for. */
bool golden_note_says(golden *c, const char *word);
bool golden_name_says(const golden *c, const char *word);

/* Notes the comparison; the text after the tolerance says where. A tolerance of 0 wants equality. */
void golden_compare(golden *c, double got, double want, double tolerance, const char *where, ...) IO_PRINTF(5, 6);

/* ---------------------------------------------------------------- spec text */

typedef struct spec_text {
    char text[65536];
    size_t used;
} spec_text;

void spec_start(spec_text *s, const char *row);
void spec_word(spec_text *s, const char *key, const char *value);
void spec_number(spec_text *s, const char *key, double value); /* NAN: leaves it out */
pe_status spec_list(spec_text *s, const char *key, golden *c, const io_node *array);

/* ---------------------------------------------------------------- parameters and tiles */

pe_status params_new(golden *c, const pe_encoding *e, pe_params *out); /* float64, zeroed */
/* The named tensor's place in the block, and how many rows it has; NULL with c->err where there is none. */
double *params_tensor(golden *c, const pe_encoding *e, pe_params w, const char *name, int64_t *rows);
pe_status params_set(golden *c, const pe_encoding *e, pe_params w, const char *name, const float *from, int64_t count);
/* tensor[row] = row, whatever its width: a score then tells which row was looked up. */
pe_status params_number_rows(golden *c, const pe_encoding *e, pe_params w, const char *name);
/* out (Tq, H, Tk): the bias of one stage. */
pe_status bias_tile(golden *c, const pe_encoding *e, pe_stage stage, pe_params w, pe_positions q_at, pe_positions k_at,
                    double **out);

/* ---------------------------------------------------------------- the files */

typedef pe_status golden_run(golden *c);
golden_run run_rope_types, run_rope_layouts, run_rope_census, run_layer_census, run_table_census, run_sinusoidal,
    run_biases, run_relative_attention, run_language_model;

/* The tensor (rows, width) against a sinusoidal spec at positions first, first + step, ... */
pe_status sinusoid_compare(golden *c, const char *field, const char *spec, int64_t first, int64_t step);

/* A whole attention module, batch of one. */
typedef struct module {
    int64_t heads, kv_heads, head_dim;
    int64_t queries, keys;
    double *q, *k, *v;     /* (queries, heads, head_dim), (keys, kv_heads, head_dim) twice */
    double *gates, *relative; /* (keys, heads), (queries, heads, R), where the row takes them */
    bool causal;
    const char *output;    /* the output projection's name; NULL: none */
} module;

/* out (tokens, rows) double = x times NAME_weight transposed plus NAME_bias, if there is one. */
pe_status module_linear(golden *c, const char *name, const double *x, int64_t tokens, int64_t width, double **out,
                        int64_t *rows);
pe_status module_read(golden *c, module *m, const char *q, const char *k, const char *v); /* from x and these three */
void module_positions(const module *m, pe_positions *q_at, pe_positions *k_at);
pe_status module_compare(golden *c, const module *m, const pe_encoding *e, pe_params w);
/* Of the file's dout: dq, dk and dv are compared; dgates (keys, heads) is the gradient of gates, summed over both sides. */
pe_status module_compare_grads(golden *c, const module *m, const pe_encoding *e, pe_params w, double **dgates);
pe_status module_compare_grad(golden *c, const char *field, const double *own, int64_t count);
pe_encoding *module_encoding(golden *c, const module *m, const char *spec);

#endif

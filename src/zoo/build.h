/* SPDX-License-Identifier: MIT
 *
 * How the readers of this folder put a zoo_model together. All memory belongs to the model and goes with it. */
#ifndef POSENC_ZOO_BUILD_H
#define POSENC_ZOO_BUILD_H

#include "base/try.h"
#include "zoo/zoo.h"

#define ZOO_LAYERS_MAX 1024 /* a config of 40 bytes must not make us allocate for a billion */
#define ZOO_PARTS_MAX 8
#define ZOO_GROUPS_MAX 16  /* each kind of layer looks its keys up anew */
#define ZOO_LONG_SPEC 2048 /* characters: with lists for every pair */
#define ZOO_LONG_MAX 4     /* groups with such specs, which a small file could ask for again and again */
#define ZOO_NOTES_MAX 64
#define ZOO_SPEC_MAX 65536

typedef struct zoo_block zoo_block;

typedef struct zoo_builder {
    zoo_model model; /* first: the model handed out is the builder's */
    const zoo_options *options;
    pe_error *err;
    zoo_block *blocks;
    struct zoo_spec *spec; /* for whoever writes the next spec */
    int depth;             /* of configs in configs */
} zoo_builder;

/* NULL, with *err filled, where there is no memory. */
zoo_builder *zoo_begin(const char *path, const char *format, const zoo_options *options, pe_error *err);
/* *out is the model, or NULL and everything freed where s is no PE_OK or there is no part. */
pe_status zoo_finish(zoo_model **out, zoo_builder *b, pe_status s);

/* Memory, texts: NULL with b->err filled where there is none. */
void *zoo_alloc(zoo_builder *b, size_t count, size_t size); /* zeroed */
const char *zoo_text(zoo_builder *b, const char *format, ...) IO_PRINTF(2, 3);

/* What is made after a mark can be undone: memory, parts and notes. */
typedef struct zoo_mark {
    zoo_block *blocks;
    int parts, notes;
} zoo_mark;
zoo_mark zoo_mark_here(const zoo_builder *b);
void zoo_undo(zoo_builder *b, zoo_mark mark);

/* The part and its layers, none of which has an encoding yet. name and type are copied. */
pe_status zoo_add_part(zoo_builder *b, zoo_part **out, const char *name, const char *type, int64_t layers);
/* spec is any spec text: it is made canonical, and layers with equal ones share a group. A spec the library refuses is
 * PE_ERR_FORMAT, its sentence after the file's name. kind NULL: "". */
pe_status zoo_set_layer(zoo_builder *b, zoo_part *p, int64_t layer, const char *spec, pe_shape shape, const char *kind,
                        int64_t window);
/* What layer `from` was given, but for the window. */
void zoo_same_layer(zoo_part *p, int64_t layer, int64_t from, int64_t window);
/* Notes past ZOO_NOTES_MAX and repeated ones are dropped. */
pe_status zoo_note_add(zoo_builder *b, zoo_level level, const char *key, const char *ref, const char *format, ...)
    IO_PRINTF(5, 6);
/* Fails with "FILE: SENTENCE". */
pe_status zoo_fail(zoo_builder *b, pe_status status, const char *format, ...) IO_PRINTF(3, 4);
/* The file leaves something open. Lenient: a note that says what is taken. Else an error: what is unknown, and the
 * option that says it. "FILE: WHAT; pass OPTION, or --lenient to take GUESS" */
pe_status zoo_unknown(zoo_builder *b, const char *key, const char *option, const char *guess, const char *format, ...)
    IO_PRINTF(5, 6);

/* A number for a sentence: %s with zoo_number(x).text, as %g would follow the locale, and say 1e+06. */
typedef struct zoo_figure {
    char text[40];
} zoo_figure;
zoo_figure zoo_number(double x);

/* ---------------------------------------------------------------- spec text */

typedef struct zoo_spec {
    char text[ZOO_SPEC_MAX];
    size_t used;
    bool full; /* it did not fit; zoo_set_layer refuses it */
} zoo_spec;

void zoo_spec_start(zoo_spec *s, const char *row);
void zoo_spec_word(zoo_spec *s, const char *key, const char *value);
void zoo_spec_real(zoo_spec *s, const char *key, double value); /* the shortest text that reads back; NAN: left out */
void zoo_spec_int(zoo_spec *s, const char *key, int64_t value);
void zoo_spec_raw(zoo_spec *s, const char *keys); /* "sign=negative,turn=qkv" as it is; "" or NULL: nothing */
void zoo_spec_list(zoo_spec *s, const char *key, const double *value, size_t count);

#endif

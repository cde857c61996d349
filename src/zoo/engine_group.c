/* SPDX-License-Identifier: MIT
 *
 * One group of layers in an engine's words. Numbers that no key of the spec holds (an effective base, a magnitude) are
 * asked of the encoding itself. */
#include "zoo/engine_keys.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One group, ready to be asked. */
typedef struct speaker {
    const zoo_engine *engine;
    const char *spec;
    pe_encoding *e;
    char *bare; /* the spec without its magnitude keys */
} speaker;

/* ---------------------------------------------------------------- which rows speak */

/* Is name an item of "a|b"? */
static bool names(const char *list, const char *name)
{
    return zoo_is_one_of((zoo_slice){ name, strlen(name) }, list, strlen(list));
}

const char *zoo_type_word(const zoo_engine *engine, const char *spec)
{
    const zoo_rope_type *t;
    for (int i = 0; (t = zoo_rope_type_at(i)); i++)
        if (names(t->engines, engine->name) && zoo_spec_is(spec, "scaling", t->scaling))
            return t->word;
    return NULL;
}

bool zoo_engine_says(const zoo_engine *engine, const zoo_part *part)
{
    int g = zoo_main_group(part);
    return g < 0 || zoo_type_word(engine, part->group[g].spec);
}

bool zoo_spelling_is_of(const zoo_spelling *s, const zoo_engine *engine)
{
    return names(s->engines, engine->name);
}

bool zoo_spelling_speaks(const zoo_spelling *s, const zoo_engine *engine, const char *spec)
{
    return zoo_spelling_is_of(s, engine) && zoo_spec_meets(spec, s->when);
}

bool zoo_group_rotates(const zoo_group *g)
{
    return zoo_spec_key(g->spec, "scaling") && !zoo_spec_is(g->spec, "dims", "0");
}

/* ---------------------------------------------------------------- values */

static void put_number(FILE *to, double x)
{
    char text[40];
    io_print_real(text, sizeof text, x);
    fputs(text, to);
}

static void put_list(FILE *to, zoo_slice v)
{
    putc('[', to);
    for (size_t i = 0; i < v.length; i++)
        if (v.text[i] == '/')
            fputs(", ", to);
        else
            putc(v.text[i], to);
    putc(']', to);
}

static void put_equal(FILE *to, const speaker *s)
{
    int64_t axes = pe_encoding_axes(s->e), pairs = pe_encoding_pair_count(s->e);
    for (int64_t a = 0; a < axes; a++)
        fprintf(to, "%s%" PRId64, a ? ", " : "[", pairs / axes);
    putc(']', to);
}

/* f = base^(-2/d) of pair 1. */
static double effective_base(const speaker *s)
{
    pe_pair pair[PE_HEAD_DIM_MAX / 2];
    int64_t count = pe_encoding_pair_count(s->e);
    if (count < 2 || pe_encoding_pairs(s->e, pair, count, NULL))
        return zoo_spec_num(s->spec, "theta");
    return exp(-log(fabs(pair[1].frequency)) * (double)count);
}

/* Over what the scaling says where no key speaks of the magnitude. */
static double magnitude_ratio(const speaker *s)
{
    pe_encoding *bare = NULL;
    double m = pe_encoding_magnitude(s->e);
    if (!pe_encoding_new(&bare, s->bare, pe_encoding_shape(s->e), NULL))
        m /= pe_encoding_magnitude(bare);
    pe_encoding_free(bare);
    return m;
}

static void put_value(FILE *to, const speaker *s, const zoo_spelling *row)
{
    zoo_slice v = zoo_spec_get(s->spec, row->key);
    const char *quote = s->engine->takes_config ? "\"" : "";
    switch (row->form) {
    case FORM_NUMBER: fprintf(to, "%.*s", (int)v.length, v.text ? v.text : ""); break;
    case FORM_TYPE: fprintf(to, "%s%s%s", quote, zoo_type_word(s->engine, s->spec), quote); break;
    case FORM_SHARE: put_number(to, zoo_spec_num(s->spec, row->key) / (double)pe_encoding_shape(s->e).head_dim); break;
    case FORM_YES: fputs(zoo_spec_is(s->spec, row->key, "no") ? "false" : "true", to); break;
    case FORM_NO: fputs("false", to); break;
    case FORM_LIST: put_list(to, v); break;
    case FORM_EQUAL: put_equal(to, s); break;
    case FORM_MAGNITUDE: put_number(to, pe_encoding_magnitude(s->e)); break;
    case FORM_RATIO: put_number(to, magnitude_ratio(s)); break;
    case FORM_BASE: put_number(to, effective_base(s)); break;
    }
}

/* ---------------------------------------------------------------- one group */

static bool strip_magnitude(speaker *s)
{
    static const char *const keys[] = { "magnitude", "mscale", "mscale_all_dim" };
    bool fine = (s->bare = zoo_spec_set(s->spec, keys[0], NULL)) != NULL;
    for (size_t i = 1; fine && i < sizeof keys / sizeof *keys; i++)
        fine = zoo_spec_put(&s->bare, keys[i], NULL);
    return fine;
}

static pe_status start(speaker **out, const zoo_engine *engine, const zoo_group *g, pe_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out)
        **out = (speaker){ .engine = engine, .spec = g->spec };
    if (!*out || !strip_magnitude(*out))
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings of %s", engine->name);
    return pe_encoding_new(&(*out)->e, g->spec, g->shape, err);
}

static void stop(speaker *s)
{
    if (s) {
        pe_encoding_free(s->e);
        free(s->bare);
    }
    free(s);
}

pe_status zoo_group_object(FILE *to, const zoo_engine *engine, const zoo_group *g, pe_error *err)
{
    speaker *s;
    const zoo_spelling *row;
    const char *sign = "{";
    pe_status status = start(&s, engine, g, err);
    for (int i = 0; status == PE_OK && (row = zoo_spelling_at(i)); i++) {
        if (!zoo_spelling_speaks(row, engine, g->spec))
            continue;
        fprintf(to, "%s\"%s\": ", sign, row->name);
        put_value(to, s, row);
        sign = ", ";
    }
    putc('}', to);
    stop(s);
    return status;
}

/* One of two kinds of names: options, or keys of the file. */
static void put_named(FILE *to, const speaker *s, const char *arch, bool keys, int *overrides)
{
    const zoo_spelling *row;
    for (int i = 0; (row = zoo_spelling_at(i)); i++) {
        if (!zoo_spelling_speaks(row, s->engine, s->spec) || (*row->name != '-') != keys)
            continue;
        if (keys)
            fprintf(to, "%s%s.%s", zoo_override_sign((*overrides)++), arch, row->name);
        else
            fprintf(to, " %s ", row->name);
        put_value(to, s, row);
    }
}

const char *zoo_override_sign(int before)
{
    return before ? "," : " --override-kv "; /* given twice, only the last would count */
}

pe_status zoo_group_options(FILE *to, const zoo_engine *engine, const char *arch, const zoo_group *g, int *overrides,
                            pe_error *err)
{
    speaker *s;
    pe_status status = start(&s, engine, g, err);
    if (!status) {
        put_named(to, s, arch, false, overrides);
        put_named(to, s, arch, true, overrides);
    }
    stop(s);
    return status;
}

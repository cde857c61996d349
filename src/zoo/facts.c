/* SPDX-License-Identifier: MIT
 *
 * Finds rows and takes their words apart. */
#include "zoo/facts.h"

#include "base/text.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- rows */

static const zoo_row *const tables[] = { zoo_rows_rope, zoo_rows_other, zoo_rows_parts, zoo_rows_remote };

const zoo_row *zoo_row_find(const char *type)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const zoo_row *row = tables[t]; row->type; row++)
            if (!strcmp(row->type, type))
                return row;
    return NULL;
}

const char *zoo_row_source(char out[120], const zoo_row *row)
{
    const char *source = strstr(row->words, "source="), *folder = strstr(row->words, "folder=");
    if (source)
        snprintf(out, 120, "%s", source + strlen("source="));
    else {
        folder = folder ? folder + strlen("folder=") : row->type;
        snprintf(out, 120, ZOO_TRANSFORMERS_READ " models/%.*s", (int)strcspn(folder, " "), folder);
    }
    return out;
}

/* ---------------------------------------------------------------- words */

typedef enum word_kind { A_NUMBER, A_WORD, A_FLAG } word_kind;

static const struct {
    const char *key;
    word_kind kind;
} keys[] = {
    { "folder", A_WORD },            /* of the code in transformers' models/, where it is not the type's name */
    { "source", A_WORD },            /* where else the row was read; takes the rest of the row */
    { "hidden", A_NUMBER },          /* hidden size */
    { "heads", A_WORD },             /* heads, or heads/key heads */
    { "head_dim", A_NUMBER },        /* where it is not hidden size / heads */
    { "head_dim_times", A_NUMBER },  /* head dimension is so many times hidden size / heads, whatever keys say */
    { "full_head_dim", A_NUMBER },   /* of full_attention layers, where theirs is another (global_head_dim) */
    { "rope_dim", A_NUMBER },        /* MLA: qk_rope_head_dim */
    { "nope_dim", A_NUMBER },        /* MLA: qk_nope_head_dim */
    { "layers", A_NUMBER },          /* how many */
    { "length", A_NUMBER },          /* sequence length: max_position_embeddings and its like */
    { "theta", A_NUMBER },           /* base */
    { "fixed_theta", A_FLAG },       /* its code reads neither a base nor a scaling */
    { "local_theta", A_NUMBER },     /* base of sliding layers */
    { "local_unscaled", A_FLAG },    /* sliding layers have the same base, but are never scaled */
    { "local_scaled", A_FLAG },      /* one dict of parameters is that of both kinds of layers, but for the base */
    { "rotary_fraction", A_NUMBER }, /* partial_rotary_factor; 1: the key is read, and all rotates without it */
    { "local_rotary_fraction", A_NUMBER }, /* that of sliding layers */
    { "rotary_dims", A_NUMBER },           /* elements of a head that rotate; default of rotary_dims_key */
    { "pairs", A_WORD },                   /* adjacent or adjacent-half */
    { "sinks", A_WORD },                   /* heads have trained sinks: in all layers, or in windowed ones */
    { "unit_scale", A_FLAG },              /* scores are not divided by the square root of the head dimension */
    { "softmax_mscale", A_FLAG },          /* softmax scale times g(factor, mscale_all_dim)^2 */
    { "yarn_magnitude", A_NUMBER },        /* attention_factor of yarn, where one dict is for all layers and lacks it */
    { "query_temperature", A_FLAG }, /* layers without rotation scale queries by position (attn_temperature_tuning) */
    { "window", A_NUMBER },          /* sliding window */
    { "use_window", A_WORD },        /* use_sliding_window: yes or no; absent: yes unless max_window_layers is there */
    { "window_from_layer", A_NUMBER }, /* max_window_layers */
    { "window_before_key", A_WORD },   /* key of a window that does not count the query itself: it is one more */
    { "centred_window", A_FLAG },      /* half of the window is ahead */
    { "pattern", A_WORD },          /* kinds of layers: s sliding, f full, ...; "f>sf": sf over and over, but f first */
    { "dense_period", A_NUMBER },   /* prefix_dense_sliding_window_pattern */
    { "attention_list", A_WORD },   /* key that lists the layers with attention ... */
    { "other_layers", A_WORD },     /* ... and the kind of the others */
    { "norope", A_WORD },           /* kind of layers that do not rotate */
    { "norope_if_window", A_FLAG }, /* they do not rotate only where there is a window */
    { "norope_interval", A_NUMBER }, /* no_rope_layer_interval */
    { "theta_key", A_WORD },         /* keys of the config that give: the base, */
    { "local_theta_key", A_WORD },   /* the base of sliding layers, */
    { "rotary_dims_key", A_WORD },   /* how many elements of a head rotate, */
    { "linear_factor_key", A_WORD }, /* the factor of a linear scaling, */
    { "hidden_key", A_WORD },        /* the hidden size, where hidden_size means something else, */
    { "length_key", A_WORD },        /* the sequence length, or how many rows a table has, */
    { "image_key", A_WORD },         /* the size of the picture that a table is for, */
    { "extra_rows_key", A_WORD },    /* rows of a table of patches that are no patch, */
    { "window_key", A_WORD },        /* the window, */
    { "embedding_key", A_WORD },     /* the width of the embedding, where it is not the hidden size */
    { "embedding", A_NUMBER },       /* default of embedding_key */
    { "only_if", A_WORD },  /* rotates, or is as its first spec says, only where the config says so: "use_mem_rope" is
                               true, "!use_learned_..." is false, "position_embedding_type=rope" */
    { "labels", A_WORD },   /* "main|compress": names in rope_parameters of sliding and of other layers */
    { "sections", A_WORD }, /* M-RoPE: mrope_section; "": read where the config has it */
    { "split", A_WORD },    /* M-RoPE: interleaved or tail; absent: chunked */
    { "spec", A_WORD },     /* rope: keys that the code adds to every spec. Others: the spec itself. "A|B": A where
                               only_if holds, else B; of two stacks: the decoder's and the encoder's */
    { "stack", A_WORD },    /* of two stacks: the only one there is */
    { "rope_parameters", A_WORD }, /* of a config that has none, as JSON without its quotes */
    { "image", A_NUMBER },         /* image_size */
    { "patch", A_NUMBER },         /* patch_size */
    { "frames", A_NUMBER },        /* num_frames */
    { "tubelet", A_NUMBER },       /* tubelet_size */
    { "root_scale", A_FLAG },      /* sines are divided by the square root of the hidden size */
    { "extra_rows", A_NUMBER },    /* rows of a table of patches that are no patch */
    { "table_key", A_WORD },       /* a tower that rotates also adds a table of so many rows, stretched to the picture: */
    { "table_rows", A_NUMBER },    /* its default, */
    { "table_patches", A_FLAG },   /* or one row for each patch of image_size; */
    { "table_axes", A_FLAG },      /* or not stretched: a table for each axis, added up, which the spec says, as of */
                                   /* models that do not rotate */
    { "pad_token", A_NUMBER },     /* pad_token_id, where positions start behind it */
    /* inkling */
    { "swa_heads", A_NUMBER },    /* of its sliding layers */
    { "swa_kv_heads", A_NUMBER }, /* of its sliding layers */
    { "floor", A_NUMBER },        /* log_scaling_n_floor */
};

static int find_key(const char *word)
{
    size_t length = strcspn(word, "=");
    for (int n = 0; n < (int)(sizeof keys / sizeof *keys); n++)
        if (strlen(keys[n].key) == length && !strncmp(keys[n].key, word, length))
            return n;
    return -1;
}

/* "8k" is 8192. */
static bool read_number(const char *text, size_t n, double *out)
{
    int unit = n ? text_unit(text[n - 1]) : 0;
    if (!text_number(text, n - (unit != 0), out))
        return false;
    *out *= (double)(INT64_C(1) << unit);
    return true;
}

const char *zoo_fact_word(const zoo_fact *f, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = f->words; *at; at += strlen(at) + 1)
        if (!strncmp(at, key, n) && (!at[n] || at[n] == '='))
            return at + n + (at[n] == '=');
    return NULL;
}

double zoo_fact_number(const zoo_fact *f, const char *key)
{
    const char *word = zoo_fact_word(f, key);
    double x = 0;
    return word && read_number(word, strlen(word), &x) ? x : 0;
}

static bool is_right(const zoo_fact *f, const char *word)
{
    int n = find_key(word);
    const char *value = word + strcspn(word, "=");
    double x;
    if (n < 0 || zoo_fact_word(f, keys[n].key) != value + (*value == '=')) /* unknown, or given before */
        return false;
    if (keys[n].kind == A_FLAG)
        return !*value;
    return *value && (keys[n].kind == A_WORD || read_number(value + 1, strlen(value + 1), &x));
}

static void take_common(zoo_fact *f)
{
    static const struct {
        const char *key;
        size_t at;
    } sizes[] = {
        { "hidden", offsetof(zoo_fact, hidden) },     { "head_dim", offsetof(zoo_fact, head_dim) },
        { "layers", offsetof(zoo_fact, layers) },     { "length", offsetof(zoo_fact, length) },
        { "window", offsetof(zoo_fact, window) },     { "rope_dim", offsetof(zoo_fact, rope_dim) },
        { "nope_dim", offsetof(zoo_fact, nope_dim) },
    };
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        *(int64_t *)((char *)f + sizes[n].at) = (int64_t)zoo_fact_number(f, sizes[n].key);
    const char *heads = zoo_fact_word(f, "heads"), *kv = heads ? strchr(heads, '/') : NULL;
    f->heads = heads ? strtoll(heads, NULL, 10) : 0;
    f->kv_heads = kv ? strtoll(kv + 1, NULL, 10) : 0;
    f->theta = zoo_fact_number(f, "theta");
    f->local_theta = zoo_fact_number(f, "local_theta");
    f->rotary_fraction = zoo_fact_number(f, "rotary_fraction");
    f->pairs = zoo_fact_word(f, "pairs");
    f->pattern = zoo_fact_word(f, "pattern");
    f->spec = zoo_fact_word(f, "spec");
}

pe_status zoo_fact_read(zoo_fact *out, const zoo_row *row, pe_error *err)
{
    *out = (zoo_fact){ .type = row->type, .family = row->family };
    size_t used = strlen(row->words);
    if (used + 2 > sizeof out->words)
        return io_fail(err, PE_ERR_FORMAT, "row %s: has %zu characters; needs %zu at most", row->type, used,
                       sizeof out->words - 2);
    memcpy(out->words, row->words, used);
    for (char *at = out->words; *at; at++) {
        if (!strncmp(at, "source=", strlen("source=")))
            break;
        at += strcspn(at, " ");
        if (!*at)
            break;
        *at = 0;
    }
    const char *at = out->words;
    for (; *at; at += strlen(at) + 1)
        if (!is_right(out, at))
            return io_fail(err, PE_ERR_FORMAT, "row %s: %.60s is unknown, given twice, or has no such value", row->type,
                           at);
    if (used && at != out->words + used + 1)
        return io_fail(err, PE_ERR_FORMAT, "row %s: has two spaces in a row", row->type);
    take_common(out);
    out->pairs = out->pairs ? out->pairs : "half";
    return PE_OK;
}

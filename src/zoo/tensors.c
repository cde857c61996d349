/* SPDX-License-Identifier: MIT
 *
 * A .safetensors without its config.json: layers by their names, tables by names and shapes, a rotation by stored
 * frequencies. What is in no tensor, such as the pair layout, is asked for. */
#include "zoo/read.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct zoo_tensors {
    zoo_builder *b;
    const io_safetensors *st;
    int64_t layers;           /* by the highest number in a name; 0: none has one */
    const io_tensor *table;   /* learned positions */
    const io_tensor *bias;    /* T5's */
    const io_tensor *freqs;   /* inv_freq */
    const io_tensor *q, *k;   /* projections of some layer */
    const io_tensor *strange; /* a name that says: not with these tensors alone */
    const char *why;
    zoo_spec *spec;
} zoo_tensors;

/* ---------------------------------------------------------------- names */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), e = strlen(end);
    return n >= e && !strcmp(text + n - e, end) && (n == e || text[n - e - 1] == '.');
}

/* The number after "layers." and the like, at the start of a name or after a point; -1: none. */
static int64_t layer_of(const char *name)
{
    static const char *const words[] = { "layers.", "layer.", "h.", "blocks.", "block." };
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            size_t n = strlen(words[i]);
            if (strncmp(at, words[i], n) || at[n] < '0' || at[n] > '9')
                continue;
            char *end;
            long long number = strtoll(at + n, &end, 10);
            if (*end == '.' && number < ZOO_LAYERS_MAX)
                return number;
        }
    return -1;
}

typedef struct known_name {
    const char *end;
    int rank;
    size_t field; /* in zoo_tensors */
    const char *why;
} known_name;

#define FIELD(member) offsetof(zoo_tensors, member)
static const known_name known[] = {
    { "wpe.weight", 2, FIELD(table), NULL },
    { "position_embeddings.weight", 2, FIELD(table), NULL },
    { "position_embedding.weight", 2, FIELD(table), NULL },
    { "embed_positions.weight", 2, FIELD(table), NULL },
    { "SelfAttention.relative_attention_bias.weight", 2, FIELD(bias), NULL },
    { "inv_freq", 1, FIELD(freqs), NULL },
    { "q_proj.weight", 2, FIELD(q), NULL },
    { "SelfAttention.q.weight", 2, FIELD(q), NULL },
    { "k_proj.weight", 2, FIELD(k), NULL },
    { "rel_embeddings.weight", 2, FIELD(strange),
      "is DeBERTa's; whether its rows are buckets or distances is in config.json only" },
    { "encoder.relative_attention_bias.weight", 2, FIELD(strange), "is MPNet's; its heads are in config.json only" },
    { "lora_A.weight", 2, FIELD(strange), "belongs to an adapter, which says nothing about positions" },
    { "lora_A.default.weight", 2, FIELD(strange), "belongs to an adapter, which says nothing about positions" },
    { "lora_down.weight", 2, FIELD(strange), "belongs to an adapter, which says nothing about positions" },
};

static void look_at(zoo_tensors *t, const io_tensor *x)
{
    int64_t layer = layer_of(x->name);
    if (layer >= t->layers)
        t->layers = layer + 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const io_tensor **field = (const io_tensor **)(void *)((char *)t + known[i].field);
        if (*field || x->rank != known[i].rank || x->count < 1 || !ends_with(x->name, known[i].end))
            continue;
        *field = x;
        if (known[i].why)
            t->why = known[i].why;
    }
}

/* ---------------------------------------------------------------- tables */

static pe_status add_part(zoo_tensors *t, const char *name, int64_t layers, pe_shape shape)
{
    zoo_part *p;
    TRY(zoo_add_part(t->b, &p, name, "", layers ? layers : 1));
    p->trained = t->b->options->trained ? t->b->options->trained : t->table ? t->table->shape[0] : 0;
    p->served = t->table ? t->table->shape[0] : 0;
    for (int64_t n = 0; n < p->layers; n++)
        TRY(zoo_set_layer(t->b, p, n, t->spec->text, shape, "", 0));
    return PE_OK;
}

static pe_status add_learned(zoo_tensors *t)
{
    int64_t width = t->table->shape[1], head = t->b->options->head_dim;
    bool heads = head > 0 && width % head == 0;
    zoo_spec_start(t->spec, "learned");
    zoo_spec_int(t->spec, "rows", t->table->shape[0]);
    TRY(zoo_note_add(t->b, ZOO_WARNING, t->table->name, "",
                     "whether positions start at row 0 is in no tensor (OPT and BART: 2; RoBERTa: after its padding "
                     "id); 0 is taken"));
    if (!heads)
        TRY(zoo_note_add(t->b, ZOO_FACT, "", "", "no tensor says the number of heads; pass --head-dim N"));
    return add_part(t, "", t->layers, (pe_shape){ heads ? width / head : 1, 0, heads ? head : 1, width });
}

static pe_status add_t5_part(zoo_tensors *t, const char *name, const char *direction)
{
    int64_t heads = t->bias->shape[1], rows = t->q ? t->q->shape[0] : 0;
    int64_t head = t->b->options->head_dim ? t->b->options->head_dim : rows % heads ? 0 : rows / heads;
    if (!head)
        return zoo_fail(t->b, PE_ERR_FORMAT, "no tensor says the head dimension; pass --head-dim N");
    zoo_spec_start(t->spec, "t5");
    zoo_spec_int(t->spec, "buckets", t->bias->shape[0]);
    zoo_spec_word(t->spec, "direction", direction);
    return add_part(t, name, t->layers, (pe_shape){ heads, 0, head, t->q ? t->q->shape[1] : heads * head });
}

static pe_status add_t5(zoo_tensors *t)
{
    static const char at[] = "block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    char name[100];
    bool two = true;
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s.%s", i ? "encoder" : "decoder", at);
        two = two && io_safetensors_find(t->st, name);
    }
    TRY(zoo_note_add(t->b, ZOO_FACT, t->bias->name, "transformers T5Config",
                     "the distance from which all share a bucket is in no tensor; T5's 128"));
    if (two)
        TRY(add_t5_part(t, "decoder", "causal"));
    bool decoder = !two && strstr(t->bias->name, "decoder.");
    return add_t5_part(t, two ? "encoder" : "", decoder ? "causal" : "both");
}

/* ---------------------------------------------------------------- rotations */

/* Where inv_freq is stored, f_i = theta^(-2i/d) / s gives theta and s back. */
typedef struct series {
    double theta, factor;
} series;

/* What storing and computing in this type loses. */
static double precision(io_type type)
{
    return type == IO_BF16 ? 0x1p-8 : type == IO_F16 ? 0x1p-10 : 0x1p-21;
}

static bool reproduces(const series *s, const double *f, int64_t n, io_type type)
{
    double floor = type == IO_F16 ? 0x1p-24 : 0; /* float16 has steps there */
    for (int64_t i = 0; i < n; i++) {
        double x = pow(s->theta, -(double)i / (double)n) / s->factor;
        if (!(fabs(f[i] - x) <= precision(type) * x + floor))
            return false;
    }
    return true;
}

/* x to so many digits: bases and factors are round numbers. */
static double rounded(double x, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return strtod(text, NULL);
}

static bool fit(series *out, const double *f, int64_t n, io_type type)
{
    if (n < 2 || !(f[0] > 0) || !(f[n - 1] > 0))
        return false;
    /* The step from the widest span that is not lost in rounding. */
    double theta = pow(f[0] / f[n - 1], (double)n / (double)(n - 1));
    for (int digits = 1; digits <= 9; digits++) {
        *out = (series){ rounded(theta, digits), rounded(1 / f[0], digits) };
        if (out->theta >= 1 && reproduces(out, f, n, type))
            return true;
    }
    return false;
}

/* The stored frequencies, read now where the file was opened by its header. */
static pe_status load_freqs(zoo_tensors *t, double **out)
{
    io_tensor own = *t->freqs;
    uint8_t *bytes = NULL;
    if (own.size > (size_t)PE_HEAD_DIM_MAX * sizeof(double))
        return zoo_fail(t->b, PE_ERR_RANGE, "%s has %zu bytes; needs at most %d numbers", own.name, own.size,
                        PE_HEAD_DIM_MAX);
    if (!own.bytes) {
        own.bytes = bytes = zoo_alloc(t->b, own.size, 1);
        if (!bytes)
            return PE_ERR_NOMEM;
        TRY(io_tensor_read(bytes, t->st, t->freqs, 0, own.size, t->b->err));
    }
    return io_tensor_to_f64(out, &own, t->b->err);
}

static pe_status put_stored(zoo_tensors *t)
{
    series s;
    double *f;
    TRY(load_freqs(t, &f));
    bool found = fit(&s, f, t->freqs->count, t->freqs->type);
    free(f);
    if (!found)
        return zoo_fail(t->b, PE_ERR_FORMAT,
                        "%s is no power of a base: how it was scaled is in config.json "
                        "only",
                        t->freqs->name);
    zoo_spec_real(t->spec, "theta", t->b->options->theta > 0 ? t->b->options->theta : s.theta);
    if (s.factor == 1)
        return PE_OK;
    zoo_spec_word(t->spec, "scaling", "linear");
    zoo_spec_real(t->spec, "factor", s.factor);
    return PE_OK;
}

static pe_status put_theta(zoo_tensors *t)
{
    if (t->freqs)
        return put_stored(t);
    if (!(t->b->options->theta > 0))
        TRY(zoo_unknown(t->b, "", "--theta N", "10000", "no tensor holds the base of the rotation, if there is one"));
    zoo_spec_real(t->spec, "theta", t->b->options->theta > 0 ? t->b->options->theta : 10000);
    return PE_OK;
}

static pe_status put_pairs(zoo_tensors *t)
{
    const char *pairs = t->b->options->pairs;
    if (!pairs)
        TRY(zoo_unknown(t->b, "", "--pairs half|adjacent", "half", "no tensor says the pair layout"));
    zoo_spec_word(t->spec, "pairs", pairs ? pairs : "half");
    return PE_OK;
}

static pe_status settle_shape(zoo_tensors *t, pe_shape *out)
{
    int64_t head = t->b->options->head_dim, rotated = t->freqs ? 2 * t->freqs->count : 128;
    char guess[40];
    snprintf(guess, sizeof guess, "%lld", (long long)rotated);
    if (!head)
        TRY(zoo_unknown(t->b, "", "--head-dim N", guess, "no tensor says the head dimension"));
    head = head ? head : rotated;
    int64_t q = t->q ? t->q->shape[0] : head, k = t->k ? t->k->shape[0] : q;
    if (head < 1 || q % head || k % head)
        return zoo_fail(t->b, PE_ERR_FORMAT,
                        "the projections have %lld and %lld rows; heads of %lld do not "
                        "divide them",
                        (long long)q, (long long)k, (long long)head);
    *out = (pe_shape){ q / head, k / head, head, t->q ? t->q->shape[1] : 0 };
    if (t->freqs && rotated != head)
        zoo_spec_int(t->spec, "dims", rotated);
    return PE_OK;
}

static pe_status add_rope(zoo_tensors *t)
{
    pe_shape shape;
    zoo_part *p;
    if (t->freqs && t->freqs->count > PE_HEAD_DIM_MAX / 2)
        return zoo_fail(t->b, PE_ERR_FORMAT, "%s holds %lld frequencies; needs %d at most", t->freqs->name,
                        (long long)t->freqs->count, PE_HEAD_DIM_MAX / 2);
    zoo_spec_start(t->spec, "rope");
    TRY(settle_shape(t, &shape));
    TRY(put_theta(t));
    TRY(put_pairs(t));
    TRY(zoo_add_part(t->b, &p, "", "", t->layers ? t->layers : 1));
    p->trained = t->b->options->trained;
    for (int64_t n = 0; n < p->layers; n++)
        TRY(zoo_set_layer(t->b, p, n, t->spec->text, shape, "", 0));
    return zoo_note_add(t->b, ZOO_WARNING, "", "",
                        "layers are taken to be alike: which have a window or do not rotate is in "
                        "config.json only");
}

pe_status zoo_read_tensors(zoo_builder *b, const io_safetensors *st)
{
    zoo_tensors t = { .b = b, .st = st, .spec = zoo_alloc(b, 1, sizeof *t.spec) };
    if (!t.spec)
        return PE_ERR_NOMEM;
    for (size_t i = 0; i < io_safetensors_count(st); i++)
        look_at(&t, io_safetensors_at(st, i));
    if (t.strange)
        return zoo_fail(b, PE_ERR_FORMAT, "%s %s", t.strange->name, t.why);
    if (t.bias)
        return add_t5(&t);
    if (t.table)
        return add_learned(&t);
    if (t.freqs || t.q)
        return add_rope(&t);
    return zoo_fail(b, PE_ERR_FORMAT, "its tensors say nothing about positions; give the model's config.json");
}

/* SPDX-License-Identifier: MIT
 *
 * A part in an engine's words: a group of layers as keys or options, which layers the keys speak of, lengths, the
 * command; and where a model's class reads no such keys. */
#include "zoo/engine_keys.h"

#include "zoo/build.h"
#include "zoo/facts.h"
#include "zoo/spec_read.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *engines, *scaling, *word;
} types[] = {
    { HF, "none", "default" },
    { "transformers", "ntk", "default" },
    { "vllm|sglang", "ntk", "dynamic" },
    { LC, "none", "none" },
    { LC, "ntk", "none" },
    { HF "|" LC, "linear", "linear" },
    { HF "|" LC, "yarn", "yarn" },
    { HF, "dynamic", "dynamic" },
    { HF, "longrope", "longrope" },
    { HF, "llama3", "llama3" },
    { HF, "proportional", "proportional" },
};

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
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (names(types[i].engines, engine->name) && zoo_spec_is(spec, "scaling", types[i].scaling))
            return types[i].word;
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

static bool zoo_group_rotates(const zoo_group *g)
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

static pe_status start_speaker(speaker **out, const zoo_engine *engine, const zoo_group *g, pe_error *err)
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

static pe_status group_object(FILE *to, const zoo_engine *engine, const zoo_group *g, pe_error *err)
{
    speaker *s;
    const zoo_spelling *row;
    const char *sign = "{";
    pe_status status = start_speaker(&s, engine, g, err);
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

/* What stands before the next key of the file. */
static const char *override_sign(int before)
{
    return before ? "," : " --override-kv "; /* given twice, only the last would count */
}

/* One of two kinds of names: options, or keys of the file. */
static void put_named(FILE *to, const speaker *s, const char *arch, bool keys, int *overrides)
{
    const zoo_spelling *row;
    for (int i = 0; (row = zoo_spelling_at(i)); i++) {
        if (!zoo_spelling_speaks(row, s->engine, s->spec) || (*row->name != '-') != keys)
            continue;
        if (keys)
            fprintf(to, "%s%s.%s", override_sign((*overrides)++), arch, row->name);
        else
            fprintf(to, " %s ", row->name);
        put_value(to, s, row);
    }
}

static pe_status group_options(FILE *to, const zoo_engine *engine, const char *arch, const zoo_group *g, int *overrides,
                               pe_error *err)
{
    speaker *s;
    pe_status status = start_speaker(&s, engine, g, err);
    if (!status) {
        put_named(to, s, arch, false, overrides);
        put_named(to, s, arch, true, overrides);
    }
    stop(s);
    return status;
}

/* ---------------------------------------------------------------- layers */

int zoo_main_group(const zoo_part *part)
{
    int found = -1;
    for (int64_t n = 0; n < part->layers; n++) {
        const zoo_layer *layer = &part->layer[n];
        if (!zoo_group_rotates(&part->group[layer->group]))
            continue;
        if (!layer->window)
            return layer->group;
        if (found < 0)
            found = layer->group;
    }
    return found;
}

bool zoo_quirk_applies(const zoo_quirk *q, const zoo_part *part)
{
    int rotating = 0, met = 0;
    for (int g = 0; g < part->groups; g++) {
        rotating += zoo_group_rotates(&part->group[g]);
        met += zoo_group_rotates(&part->group[g]) && zoo_spec_meets(part->group[g].spec, q->when);
    }
    return met && (!q->mixed || rotating > 1);
}

/* ---------------------------------------------------------------- the part */

/* The kind of layer that alone has this group; NULL: groups do not follow the layers' kinds. */
static const char *kind_of(const zoo_part *part, int group)
{
    const char *kind = NULL;
    for (int64_t n = 0; n < part->layers; n++) {
        if (part->layer[n].group == group && (!kind || strcmp(kind, part->layer[n].kind))) {
            if (kind || !*part->layer[n].kind)
                return NULL;
            kind = part->layer[n].kind;
        }
    }
    for (int64_t n = 0; n < part->layers; n++)
        if (kind && part->layer[n].group != group && !strcmp(kind, part->layer[n].kind))
            return NULL;
    return kind;
}

/* Groups that rotate each have a kind of their own, and there is more than one. */
static bool zoo_by_kind(const zoo_part *part)
{
    int rotating = 0;
    for (int g = 0; g < part->groups; g++) {
        if (!zoo_group_rotates(&part->group[g]))
            continue;
        rotating++;
        if (!kind_of(part, g))
            return false;
    }
    return rotating > 1;
}

/* Names come from files and go into JSON and a shell's command: only what means nothing to either. */
typedef struct plain_word {
    char text[64];
} plain_word;

static plain_word plain(const char *word)
{
    plain_word out = { "" };
    for (size_t n = 0; word[n] && n < sizeof out.text - 1; n++)
        out.text[n] = isalnum((unsigned char)word[n]) || strchr("_-.", word[n]) ? word[n] : '?';
    return out;
}

static pe_status put_parameters(FILE *to, const zoo_engine *engine, const zoo_part *part, pe_error *err)
{
    const char *sign = "{";
    if (!zoo_by_kind(part))
        return group_object(to, engine, &part->group[zoo_main_group(part)], err);
    for (int g = 0; g < part->groups; g++) {
        if (!zoo_group_rotates(&part->group[g]))
            continue;
        fprintf(to, "%s\"%s\": ", sign, plain(kind_of(part, g)).text);
        TRY(group_object(to, engine, &part->group[g], err));
        sign = ", ";
    }
    putc('}', to);
    return PE_OK;
}

/* Has the engine a key of its own for this one? */
static bool has_name(const zoo_engine *engine, const char *spec, const char *key)
{
    const zoo_spelling *row;
    for (int i = 0; (row = zoo_spelling_at(i)); i++)
        if (!strcmp(row->key, key) && zoo_spelling_speaks(row, engine, spec))
            return true;
    return false;
}

/* max_position_embeddings. Dynamic NTK measures against it where nothing else says the trained length. */
static int64_t stated_length(const zoo_engine *engine, const zoo_part *part)
{
    const char *spec = part->group[zoo_main_group(part)].spec;
    bool measure = zoo_spec_is(spec, "scaling", "dynamic") && !has_name(engine, spec, "trained");
    return measure ? (int64_t)zoo_spec_num(spec, "trained") : part->served;
}

/* The keys of config.json that say this, as JSON on one line; "{}" where the engine reads none of them. */
static pe_status zoo_engine_config(FILE *to, const zoo_engine *engine, const zoo_part *part, pe_error *err)
{
    bool nested = !strcmp(part->name, "text"), any = zoo_main_group(part) >= 0;
    int64_t length = any ? stated_length(engine, part) : 0;
    if (!engine->takes_config || !any || zoo_engine_closed(engine, part)) {
        fputs("{}", to);
        return PE_OK;
    }
    fprintf(to, "%s{\"rope_parameters\": ", nested ? "{\"text_config\": " : "");
    TRY(put_parameters(to, engine, part, err));
    if (length > 0)
        fprintf(to, ", \"max_position_embeddings\": %" PRId64, length);
    fputs(nested ? "}}" : "}", to);
    return PE_OK;
}

/* Whether the engine would take this length for more than the config says. Those that multiply allow the trained
 * length times the factor, for yarn, linear and dynamic. */
static bool needs_longer(const zoo_engine *engine, const zoo_part *part)
{
    int g = zoo_main_group(part);
    if (!engine->longer || !engine->multiplies || g < 0 || part->served <= 0)
        return false;
    const char *spec = part->group[g].spec;
    double trained = zoo_spec_num(spec, "trained"), factor = zoo_spec_num(spec, "factor");
    return zoo_spec_meets(spec, "scaling=yarn|dynamic") && (double)part->served > trained * factor;
}

/* Qwen's recipe leaves max_position_embeddings as it was: vLLM serves the trained length times the factor all
 * the same. */
static int64_t served_length(const zoo_engine *engine, const zoo_part *part)
{
    int g = zoo_main_group(part);
    if (engine != zoo_engine_at(ZOO_VLLM) || g < 0 || !zoo_spec_is(part->group[g].spec, "scaling", "yarn"))
        return part->served;
    double reach = zoo_spec_num(part->group[g].spec, "trained") * zoo_spec_num(part->group[g].spec, "factor");
    bool left = part->served > 0 && part->served == (int64_t)zoo_spec_num(part->group[g].spec, "trained");
    return left && reach > (double)part->served && reach < 0x1p36 ? (int64_t)reach : part->served;
}

/* Layers with a window have a base of their own, as a key of the file. */
static void put_windowed_base(FILE *to, const char *arch, const zoo_part *part, int overrides)
{
    int main_group = zoo_main_group(part);
    for (int g = 0; g < part->groups; g++) {
        zoo_slice theta = zoo_spec_get(part->group[g].spec, "theta");
        if (g == main_group || !zoo_group_rotates(&part->group[g]))
            continue;
        fprintf(to, "%s%s.rope.freq_base_swa=float:%.*s", override_sign(overrides), arch, (int)theta.length,
                theta.text);
        return;
    }
}

/* The command that serves the part at its served length, on one line; nothing where the engine has none. */
static pe_status zoo_engine_command(FILE *to, const zoo_engine *engine, const zoo_model *m, const zoo_part *part,
                                    pe_error *err)
{
    plain_word arch = plain(strcmp(m->format, "GGUF") ? "ARCH" : part->type);
    int g = zoo_main_group(part), overrides = 0;
    if (!engine->start)
        return PE_OK;
    if (needs_longer(engine, part))
        fprintf(to, "%s ", engine->longer);
    fputs(engine->start, to);
    bool settable = g >= 0 && !zoo_engine_closed(engine, part);
    if (settable && engine->override) {
        fprintf(to, " %s '", engine->override);
        TRY(zoo_engine_config(to, engine, part, err));
        putc('\'', to);
    } else if (settable) {
        TRY(group_options(to, engine, arch.text, &part->group[g], &overrides, err));
        put_windowed_base(to, arch.text, part, overrides);
    }
    if (part->served > 0)
        fprintf(to, " %s %" PRId64, engine->length, served_length(engine, part));
    return PE_OK;
}

pe_status zoo_engine_text(char **out, const zoo_engine *engine, const zoo_model *m, const zoo_part *part, bool command,
                          pe_error *err)
{
    size_t size = 0;
    *out = NULL;
    FILE *to = open_memstream(out, &size);
    if (!to)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings");
    pe_status s = command ? zoo_engine_command(to, engine, m, part, err) : zoo_engine_config(to, engine, part, err);
    if (fclose(to) && !s)
        s = io_fail(err, PE_ERR_NOMEM, "no memory for the settings");
    if (s) {
        free(*out);
        *out = NULL;
    }
    return s;
}

void zoo_engine_fixed(char *out, size_t cap, const zoo_engine *engine, const zoo_part *part)
{
    int g = zoo_main_group(part);
    size_t used = 0;
    out[0] = 0;
    const char *spec = g >= 0 ? part->group[g].spec : "";
    const pe_info *info = g >= 0 ? zoo_spec_row(spec) : NULL;
    for (int k = 0; info && k < info->key_count && used < cap; k++) {
        const char *key = pe_info_key(info, k)->name;
        zoo_slice v = zoo_spec_get(spec, key);
        bool length = engine->takes_config && !strcmp(key, "trained"); /* max_position_embeddings is it, at least */
        bool count = !strcmp(key, "axes") && zoo_spec_has(spec, "sections"); /* the list has that many */
        if (zoo_spec_has(spec, key) && !length && !count && !has_name(engine, spec, key))
            used += (size_t)snprintf(out + used, cap - used, "%s%s=%.*s%s", used ? ", " : "", key,
                                     (int)(v.length > 20 ? 16 : v.length), v.text, v.length > 20 ? "..." : "");
    }
}

/* ---------------------------------------------------------------- classes that read no such keys */

/* Read in models/TYPE of transformers (facts.h has the version), in chatglm.py of vLLM and SGLang, and in SGLang's
 * gemma3_causal.py. */
static const struct {
    const char *engines, *types;
    const char *when; /* on the spec */
    const char *text;
} closed[] = {
    { "transformers", "gptj|codegen", "",
      "its class reads rotary_dim, how many elements rotate, and nothing else: base 10000 and no scaling are in its "
      "code" },
    { "transformers", "roformer|clvp|dinov3_vit|vjepa2|wav2vec2-bert|wav2vec2-conformer|sapiens2", "",
      "its class reads no rope_parameters: base and scaling are in its code" },
    { "transformers", "deepseek_v4", "",
      "its class reads rope_parameters by the names main and compress; what the config has there stays in force" },
    { "transformers", "phi3|phi3_v|phi4mm|phi4_multimodal", "scaling!=none|longrope",
      "its class takes longrope only (and takes yarn for it)" },
    { "vllm|sglang", "chatglm", "",
      "its class reads rope_ratio, by which it multiplies base 10000, and no rope_parameters" },
    { "sglang", "gemma3_text", "scaling!=none",
      "its class reads the two bases and no scaling: rope_type default is in its code" },
};

static bool is_one_of(const char *name, const char *list)
{
    return zoo_is_one_of((zoo_slice){ name, strlen(name) }, list, strlen(list));
}

static bool is_remote(const char *type)
{
    char source[120];
    const zoo_row *row = zoo_row_find(type);
    return row && strncmp(zoo_row_source(source, row), "transformers", 12) != 0;
}

const char *zoo_engine_closed(const zoo_engine *engine, const zoo_part *part)
{
    bool remote = engine == zoo_engine_at(ZOO_TRANSFORMERS) && is_remote(part->type);
    int g = zoo_main_group(part);
    if (g < 0)
        return NULL;
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (names(closed[i].engines, engine->name) && is_one_of(part->type, closed[i].types) &&
            zoo_spec_meets(part->group[g].spec, closed[i].when))
            return closed[i].text;
    return remote ? "transformers has no class for it: the code beside the weights decides which keys count "
                    "(trust_remote_code)"
                  : NULL;
}

const char *zoo_engine_remark(const zoo_engine *engine, const zoo_part *part)
{
    int g = zoo_main_group(part);
    if (g < 0 || engine != zoo_engine_at(ZOO_TRANSFORMERS))
        return g < 0 ? NULL : engine->remark;
    const char *spec = part->group[g].spec;
    /* By the kind of layer, and of GPT-NeoX (rotary_pct, rotary_emb_base), the names were other ones. */
    if (zoo_engine_closed(engine, part) || zoo_by_kind(part) ||
        is_one_of(part->type, "gpt_neox|gptneox|gpt_neox_japanese"))
        return NULL;
    return zoo_spec_meets(spec, "dims,range!=trailing")
               ? "before version 5: the same keys under rope_scaling, but rope_theta and partial_rotary_factor beside "
                 "it"
               : "before version 5: the same keys under rope_scaling, but rope_theta beside it";
}

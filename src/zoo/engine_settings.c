/* SPDX-License-Identifier: MIT
 *
 * A part in an engine's words: which layers the keys speak of, lengths, the command. */
#include "zoo/engine_keys.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
bool zoo_by_kind(const zoo_part *part)
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
        return zoo_group_object(to, engine, &part->group[zoo_main_group(part)], err);
    for (int g = 0; g < part->groups; g++) {
        if (!zoo_group_rotates(&part->group[g]))
            continue;
        fprintf(to, "%s\"%s\": ", sign, plain(kind_of(part, g)).text);
        ZOO_TRY(zoo_group_object(to, engine, &part->group[g], err));
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

pe_status zoo_engine_config(FILE *to, const zoo_engine *engine, const zoo_part *part, pe_error *err)
{
    bool nested = !strcmp(part->name, "text"), any = zoo_main_group(part) >= 0;
    int64_t length = any ? stated_length(engine, part) : 0;
    if (!engine->takes_config || !any || zoo_engine_closed(engine, part)) {
        fputs("{}", to);
        return PE_OK;
    }
    fprintf(to, "%s{\"rope_parameters\": ", nested ? "{\"text_config\": " : "");
    ZOO_TRY(put_parameters(to, engine, part, err));
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

/* Layers with a window have a base of their own, as a key of the file. */
static void put_windowed_base(FILE *to, const char *arch, const zoo_part *part, int overrides)
{
    int main_group = zoo_main_group(part);
    for (int g = 0; g < part->groups; g++) {
        zoo_slice theta = zoo_spec_get(part->group[g].spec, "theta");
        if (g == main_group || !zoo_group_rotates(&part->group[g]))
            continue;
        fprintf(to, "%s%s.rope.freq_base_swa=float:%.*s", zoo_override_sign(overrides), arch, (int)theta.length,
                theta.text);
        return;
    }
}

pe_status zoo_engine_command(FILE *to, const zoo_engine *engine, const zoo_model *m, const zoo_part *part,
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
        ZOO_TRY(zoo_engine_config(to, engine, part, err));
        putc('\'', to);
    } else if (settable) {
        ZOO_TRY(zoo_group_options(to, engine, arch.text, &part->group[g], &overrides, err));
        put_windowed_base(to, arch.text, part, overrides);
    }
    if (part->served > 0)
        fprintf(to, " %s %" PRId64, engine->length, part->served);
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

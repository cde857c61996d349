/* SPDX-License-Identifier: MIT */
#include "lab/specs.h"

#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct use {
    int64_t trained, length;
    bool causal, training;
} use;

/* key=number, unless the spec says it or the key means nothing in it. */
static bool spec_put(char **spec, const char *key, double number)
{
    const pe_key *k = key ? zoo_spec_key(*spec, key) : NULL;
    if (!k || zoo_spec_has(*spec, key) || !zoo_spec_means(*spec, k))
        return true;
    return zoo_spec_put_real(spec, key, number < k->min ? k->min : number);
}

/* The positions of training: their number, or the sides of the square that holds them where the key has more axes. */
static bool put_trained(char **spec, const char *key, int64_t trained)
{
    const pe_key *k = key ? zoo_spec_key(*spec, key) : NULL;
    char sides[64];
    int64_t side = 1;
    if (!k || k->kind != PE_KEY_LIST || !strchr(k->fallback, '/'))
        return spec_put(spec, key, (double)trained);
    while (side * side < trained)
        side++;
    snprintf(sides, sizeof sides, "%" PRId64 "/%" PRId64, side, side);
    return zoo_spec_has(*spec, key) || zoo_spec_put(spec, key, sides);
}

/* Each of "factor|alpha" that means something here, and nothing in the spec that was trained: what a model is born with
 * (p-RoPE) does not follow the length. */
static bool put_each(char **spec, const char *keys, double number)
{
    char key[32], *born = keys ? zoo_spec_unscaled(*spec) : NULL;
    bool ok = born || !keys;
    for (const char *at = keys; ok && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "|"), at);
        const pe_key *k = zoo_spec_key(born, key);
        ok = (k && zoo_spec_means(born, k)) || spec_put(spec, key, number);
    }
    free(born);
    return ok;
}

static void replace(char **spec, char *by)
{
    free(*spec);
    *spec = by;
}

/* The row whose parameters are trained instead, with the keys that both have. */
static char *as_trained(const char *spec, const pe_info *row)
{
    char text[400];
    char *out = malloc(strlen(row->trained_as) + 1);
    if (out)
        memcpy(out, row->trained_as, strlen(row->trained_as) + 1);
    for (int i = 0; out && i < row->key_count; i++) {
        const char *key = pe_info_key(row, i)->name;
        if (zoo_spec_has(spec, key) && zoo_spec_key(out, key) && zoo_spec_text(text, sizeof text, spec, key) &&
            !zoo_spec_put(&out, key, text))
            replace(&out, NULL);
    }
    return out;
}

/* One part, malloc'ed; NULL: out of memory. */
static char *settle_part(char *spec, use u)
{
    const pe_info *row = zoo_spec_row(spec);
    if (!row)
        return spec;
    if (u.training && row->trained_as) {
        replace(&spec, as_trained(spec, row));
        row = spec ? zoo_spec_row(spec) : NULL;
    }
    if (spec && u.training && row->key_factor)
        replace(&spec, zoo_spec_unscaled(spec)); /* trained without the scaling that is added afterwards */
    if (!spec)
        return NULL;
    double factor = (double)u.length / (double)u.trained;
    if (!put_trained(&spec, row->key_trained, u.trained) || !spec_put(&spec, row->key_length, (double)u.length) ||
        (!u.causal && !spec_put(&spec, row->key_ahead, (double)u.length)) ||
        !put_each(&spec, row->key_factor, factor < 1 ? 1 : factor))
        replace(&spec, NULL);
    return spec;
}

static char *settle_all(const char *spec, use u)
{
    int parts = zoo_spec_parts(spec);
    char *out = malloc(strlen(spec) + 1);
    if (out)
        memcpy(out, spec, strlen(spec) + 1);
    for (int i = 0; out && i < parts; i++) {
        char *part = zoo_spec_part(out, i);
        if (part)
            part = settle_part(part, u);
        replace(&out, part ? zoo_spec_with_part(out, i, part) : NULL);
        free(part);
    }
    return out;
}

char *lab_spec_trained(const char *spec, int64_t trained, bool causal)
{
    return settle_all(spec, (use){ trained, trained, causal, true });
}

char *lab_spec_at(const char *spec, int64_t trained, int64_t length, bool causal)
{
    return settle_all(spec, (use){ trained, length, causal, false });
}

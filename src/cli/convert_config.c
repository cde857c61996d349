/* SPDX-License-Identifier: MIT
 *
 * Weights lie beside a config.json, which knows their heads. */
#include "cli/convert.h"

#include "zoo/spec_read.h"
#include "zoo/zoo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct found {
    pe_shape shape;
    int64_t dims;
    bool trailing;
    int from; /* as --from counts */
} found;

/* What one group of layers does, from the pairs themselves. */
static bool look(found *out, const zoo_group *g)
{
    static const char *const layouts[] = { "half", "adjacent", "adjacent-half" };
    pe_encoding *e;
    pe_pair *pair;
    bool done = false;
    if (pe_encoding_new(&e, g->spec, g->shape, NULL))
        return false;
    int64_t count = pe_encoding_pair_count(e);
    *out = (found){ .shape = g->shape, .dims = 2 * count, .from = -1 };
    pair = count ? malloc((size_t)count * sizeof *pair) : NULL;
    if (pair && !pe_encoding_pairs(e, pair, count, NULL)) {
        out->trailing = pair[0].x > 0;
        for (int i = 0; i < CLI_COUNT(layouts); i++)
            if (zoo_spec_is(g->spec, "pairs", layouts[i]))
                out->from = i;
        done = out->from >= 0;
    }
    free(pair);
    pe_encoding_free(e);
    return done;
}

static bool same(const found *a, const found *b)
{
    return a->shape.heads == b->shape.heads && a->shape.kv_heads == b->shape.kv_heads &&
           a->shape.head_dim == b->shape.head_dim && a->dims == b->dims && a->trailing == b->trailing &&
           a->from == b->from;
}

/* What all layers that turn have in common; false where they differ, or none turns. */
static bool agree(found *out, const zoo_part *p)
{
    bool any = false;
    for (int g = 0; g < p->groups; g++) {
        found one;
        if (!look(&one, &p->group[g]))
            continue;
        if (any && !same(out, &one))
            return false;
        *out = one;
        any = true;
    }
    return any;
}

static void fill(convert_job *j, const found *f, const char *path)
{
    io_pairs_facts *facts = &j->facts;
    facts->heads = f->shape.heads;
    facts->kv_heads = f->shape.kv_heads;
    facts->head_dim = f->shape.head_dim;
    if (!facts->dims && f->dims != f->shape.head_dim) {
        facts->dims = f->dims;
        facts->trailing = f->trailing;
    }
    if (j->from < 0)
        j->from = f->from;
    cli_note(j->args, "%s: %" PRId64 " heads, %" PRId64 " for keys, of %" PRId64 "; %" PRId64 " elements turn", path,
             facts->heads, facts->kv_heads, facts->head_dim, f->dims);
}

void convert_from_config(convert_job *j)
{
    const char *slash = strrchr(j->in, '/');
    char path[4096];
    zoo_model *m;
    pe_error err;
    found f = { 0 };
    snprintf(path, sizeof path, "%.*sconfig.json", slash ? (int)(slash - j->in) + 1 : 0, j->in);
    if (j->facts.heads || j->facts.head_dim || access(path, R_OK) != 0)
        return;
    if (zoo_open(&m, path, &(zoo_options){ 0 }, &err)) {
        cli_note(j->args, "the config beside it does not help: %s", err.text);
        return;
    }
    if (agree(&f, &m->part[0]))
        fill(j, &f, path);
    else
        cli_note(j->args, "%s: its layers do not turn alike; give --heads, --head-dim and --tensors", path);
    zoo_free(m);
}

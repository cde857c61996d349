/* SPDX-License-Identifier: MIT
 *
 * Weights lie beside a config.json, which knows their heads. */
#include "cli/convert.h"

#include "zoo/spec_read.h"
#include "zoo/zoo.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

convert_layout convert_layout_at(int choice)
{
    convert_layout out = { "" };
    cli_item(CLI_PAIRS, choice, out.name, sizeof out.name);
    return out;
}

typedef struct found {
    pe_shape shape;
    int64_t dims;
    bool trailing;
    int from; /* as --from counts; -1: pairs that lie otherwise, which no permutation of ours moves */
} found;

/* Do all pairs lie as a layout has them? A model of two axes may lay them out axis by axis, in blocks. */
static bool lie(const pe_pair *pair, int64_t count, bool adjacent)
{
    int64_t first = pair[0].x;
    for (int64_t i = 0; i < count; i++) {
        int64_t x = first + (adjacent ? 2 * i : i), y = adjacent ? x + 1 : x + count;
        if (pair[i].x != x || pair[i].y != y)
            return false;
    }
    return true;
}

/* What one group of layers does, from the pairs themselves; false where they do not turn. */
static bool look(found *out, const zoo_group *g)
{
    pe_encoding *e;
    pe_pair pair[PE_HEAD_DIM_MAX / 2];
    if (pe_encoding_new(&e, g->spec, g->shape, NULL))
        return false;
    int64_t count = pe_encoding_pair_count(e);
    *out = (found){ .shape = g->shape, .dims = 2 * count, .from = -1 };
    bool turns = count > 0 && count <= CLI_COUNT(pair) && !pe_encoding_pairs(e, pair, count, NULL);
    if (turns)
        out->trailing = pair[0].x > 0;
    for (int i = 0; turns && *convert_layout_at(i).name; i++)
        if (zoo_spec_is(g->spec, "pairs", convert_layout_at(i).name) && lie(pair, count, i > 0))
            out->from = i;
    pe_encoding_free(e);
    return turns;
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
    cli_note(j->args, "%s: %" PRId64 " heads, %" PRId64 " for keys, of %" PRId64 "; %" PRId64 " elements turn", path,
             facts->heads, facts->kv_heads, facts->head_dim, f->dims);
}

/* The config's word on the layout. What a file was converted to, it says itself: the config does not know of that. */
static cli_exit compare(convert_job *j, const found *f, const char *path)
{
    static const char why[] = "its pairs lie in blocks, axis by axis; posenc convert knows half and adjacent";
    if (f->from < 0 && !j->facts.tensors)
        return cli_fail(j->args, CLI_INPUT, "%s: %s", path, why);
    if (f->from < 0 && j->from >= 0)
        cli_note(j->args, "%s: %s; what --tensors chooses is taken for %s", path, why, convert_layout_at(j->from).name);
    else if (f->from >= 0 && j->from >= 0 && (j->from == 0) != (f->from == 0) &&
             !io_safetensors_meta(j->st, IO_PAIRS_KEY))
        cli_note(j->args, "warning: --from is %s, but by %s its pairs are %s: weights in the wrong order still run",
                 convert_layout_at(j->from).name, path, convert_layout_at(f->from).name);
    if (j->from < 0)
        j->from = f->from;
    return CLI_OK;
}

cli_exit convert_from_config(convert_job *j)
{
    const char *slash = strrchr(j->in, '/');
    char path[4096];
    zoo_model *m;
    pe_error err;
    found f = { 0 };
    cli_exit code = CLI_OK;
    bool needed = !j->facts.heads && !j->facts.head_dim;
    snprintf(path, sizeof path, "%.*sconfig.json", slash ? (int)(slash - j->in) + 1 : 0, j->in);
    if (access(path, R_OK) != 0)
        return CLI_OK;
    if (zoo_open(&m, path, &(zoo_options){ 0 }, &err)) {
        if (needed)
            cli_note(j->args, "the config beside it does not help: %s", err.text);
        return CLI_OK;
    }
    bool alike = agree(&f, &m->part[0]);
    if (alike)
        code = compare(j, &f, path);
    if (alike && f.from >= 0 && needed)
        fill(j, &f, path);
    else if (!alike && needed)
        cli_note(j->args, "%s: its layers do not turn alike; give --heads, --head-dim and --tensors", path);
    zoo_free(m);
    return code;
}

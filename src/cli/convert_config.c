/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/convert.h"

#include "zoo/spec_read.h"
#include "zoo/zoo.h"

/* Do all pairs lie as a layout has them? A model of two axes may lay them out axis by axis, in blocks. */
static bool pairs_lie(const pe_pair *pair, int64_t count, bool adjacent)
{
    int64_t first = pair[0].x;
    for (int64_t i = 0; i < count; i++) {
        int64_t x = first + (adjacent ? 2 * i : i), y = adjacent ? x + 1 : x + count;
        if (pair[i].x != x || pair[i].y != y)
            return false;
    }
    return true;
}

/* What one group of layers does, from the pairs themselves; false where they are not rotated. */
static bool read_group(convert_config *out, const zoo_group *g)
{
    pe_encoding *e;
    pe_pair pair[PE_HEAD_DIM_MAX / 2];
    char layout[32];
    if (pe_encoding_new(&e, g->spec, g->shape, NULL))
        return false;
    int64_t count = pe_encoding_pair_count(e);
    *out = (convert_config){ .alike = true, .shape = g->shape, .dims = 2 * count, .layout = -1 };
    bool rotated = count > 0 && count <= CLI_COUNT(pair) && !pe_encoding_pairs(e, pair, count, NULL);
    if (rotated)
        out->trailing = pair[0].x > 0;
    for (int i = 0; rotated && cli_item(CLI_PAIRS, i, layout, sizeof layout); i++)
        if (zoo_spec_is(g->spec, "pairs", layout) && pairs_lie(pair, count, i > 0))
            out->layout = i;
    pe_encoding_free(e);
    return rotated;
}

static bool groups_alike(const convert_config *a, const convert_config *b)
{
    return a->shape.heads == b->shape.heads && a->shape.kv_heads == b->shape.kv_heads &&
           a->shape.head_dim == b->shape.head_dim && a->dims == b->dims && a->trailing == b->trailing &&
           a->layout == b->layout;
}

pe_status convert_read_config(convert_config *out, const char *path, pe_error *err)
{
    zoo_model *m;
    convert_config one;
    bool differ = false;
    *out = (convert_config){ .alike = false };
    pe_status s = zoo_open(&m, path, &(zoo_options){ 0 }, err);
    for (int g = 0; !s && g < m->part[0].groups; g++) {
        if (!read_group(&one, &m->part[0].group[g]))
            continue;
        differ = differ || (out->alike && !groups_alike(out, &one));
        *out = one;
    }
    out->alike = out->alike && !differ;
    zoo_free(m);
    return s;
}

/* SPDX-License-Identifier: MIT
 *
 * rope_types and the censuses: a model's config read by the reader of the tool (src/zoo), and what its specs compute. */
#include "rope.h"

#include "zoo/zoo.h"

/* The spec and the head of the first layer, in the case's memory. */
static const char *spec_of(golden *c, const io_node *config, const zoo_options *o, pe_shape *shape)
{
    zoo_model *m;
    if (zoo_read_node(&m, c->name, config, o, &c->err) != PE_OK)
        return NULL;
    const zoo_group *g = &m->part[0].group[m->part[0].layer[0].group];
    char *spec = golden_alloc(c, (int64_t)strlen(g->spec) + 1, 1);
    if (spec)
        strcpy(spec, g->spec);
    *shape = g->shape;
    zoo_free(m);
    return spec;
}

/* One coordinate per token, or several; where the file has one and the spec wants more, all are the same. */
static pe_status positions_of(golden *c, const char *spec, pe_shape shape, pe_positions *out)
{
    pe_encoding *e = golden_encoding(c, spec, shape);
    golden_tensor t;
    if (!e)
        return c->err.status;
    TRY(golden_whole(c, "positions", &t));
    if (t.rank != 1)
        return rope_positions(c, pe_encoding_axes(e), out);
    *out = (pe_positions){ .data = t.whole, .dtype = PE_I64, .batch = 1, .tokens = t.count, .axes = pe_encoding_axes(e), .token_stride = 1, .axis_stride = 0 };
    return PE_OK;
}

pe_status run_rope_types(golden *c)
{
    rope_case r = { 0 };
    rotated s[3];
    int count;
    io_node config;
    pe_shape shape;
    zoo_options o = { .pairs = rope_pairs(c), .type = "a type that has no row", .rotary = "" };
    if (!o.pairs)
        return golden_skip(c, "its layout is not one that this program knows");
    TRY(io_json_int(&o.length, &c->meta, "seq_len", IO_OPTIONAL, (io_int_range){ 1, PE_POSITION_MAX }, &c->err));
    TRY(io_json_string(&o.rotary, &c->meta, "layer_type", IO_OPTIONAL, &c->err));
    TRY(io_json_object(&config, &c->meta, "config", IO_OPTIONAL, &c->err));
    if (!config.json)
        return golden_skip(c, "it has no config");
    const char *spec = spec_of(c, &config, &o, &shape);
    if (!spec)
        return c->err.status;
    r.head_dim = shape.head_dim;
    TRY(rope_rotated(c, false, s, &count));
    TRY(positions_of(c, spec, shape, &r.at));
    return rope_compare(c, &r, spec, s, count);
}

/* meta.applied_to_first: the case's function was given that many elements of each head only. */
static pe_status narrow(golden *c, rope_case *r, rotated *s, int count)
{
    int64_t first = r->head_dim;
    TRY(golden_size(c, "applied_to_first", IO_OPTIONAL, &first));
    r->head_dim = first;
    for (int n = 0; n < count; n++) {
        if (first > s[n].x.dim)
            return golden_fail(c, "applied_to_first is %" PRId64 "; heads are %" PRId64 " wide", first, s[n].x.dim);
        s[n].x.dim = s[n].y.dim = first;
    }
    return PE_OK;
}

/* The sequence that dynamic and longrope see: up to the last position. */
static pe_status length_of(golden *c, int64_t *out)
{
    golden_tensor t;
    TRY(golden_whole(c, "positions", &t));
    for (int64_t n = 0; n < t.count; n++)
        if (t.whole[n] >= *out && t.whole[n] < PE_POSITION_MAX)
            *out = t.whole[n] + 1;
    return PE_OK;
}

pe_status run_rope_census(golden *c)
{
    rope_case r = { 0 };
    rotated s[3];
    int count;
    io_node config;
    pe_shape shape;
    zoo_options o = { .rotary = "" };
    TRY(io_json_object(&config, &c->meta, "config", IO_REQUIRED, &c->err));
    TRY(io_json_string(&o.rotary, &c->meta, "layer_type", IO_OPTIONAL, &c->err));
    TRY(golden_size(c, "head_dim", IO_REQUIRED, &o.head_dim));
    TRY(length_of(c, &o.length));
    const char *spec = spec_of(c, &config, &o, &shape);
    if (!spec)
        return c->err.status;
    TRY(rope_rotated(c, false, s, &count));
    r.head_dim = shape.head_dim = o.head_dim;
    TRY(narrow(c, &r, s, count));
    shape.head_dim = r.head_dim;
    TRY(positions_of(c, spec, shape, &r.at));
    return rope_compare(c, &r, spec, s, count);
}

/* ---------------------------------------------------------------- which layers rotate */

static pe_status group_rotates(golden *c, const zoo_group *g, bool *out)
{
    pe_encoding *e = golden_encoding(c, g->spec, g->shape);
    *out = e && pe_encoding_pair_count(e) > 0;
    return e ? PE_OK : c->err.status;
}

static pe_status compare_layers(golden *c, const zoo_part *p, const golden_tensor *rotates)
{
    if (p->layers != rotates->count)
        return golden_fail(c, "the config is read as %" PRId64 " layers; the model has %" PRId64, p->layers,
                           rotates->count);
    for (int64_t n = 0; n < p->layers; n++) {
        bool own;
        TRY(group_rotates(c, &p->group[p->layer[n].group], &own));
        golden_compare(c, own, (double)rotates->whole[n], 0, "layer %" PRId64, n);
    }
    return PE_OK;
}

pe_status run_layer_census(golden *c)
{
    io_node config;
    golden_tensor rotates;
    zoo_model *m;
    TRY(io_json_object(&config, &c->meta, "config", IO_REQUIRED, &c->err));
    TRY(golden_whole(c, "rotates", &rotates));
    TRY(zoo_read_node(&m, c->name, &config, &(zoo_options){ 0 }, &c->err));
    pe_status s = compare_layers(c, &m->part[0], &rotates);
    zoo_free(m);
    return s;
}

/* ---------------------------------------------------------------- learned tables */

/* Whether the file has a table of this shape. */
static bool is_among(const golden_tensor *tables, int64_t rows, int64_t width)
{
    for (int64_t n = 0; n < tables->shape[0]; n++)
        if (tables->whole[2 * n] == rows && tables->whole[2 * n + 1] == width)
            return true;
    return false;
}

/* The learned tables of one part, each with as many rows and as wide as one of the model. */
static pe_status compare_tables(golden *c, const zoo_part *p, const golden_tensor *tables)
{
    const zoo_group *g = &p->group[p->layer[0].group];
    pe_encoding *e = golden_encoding(c, g->spec, g->shape);
    if (!e)
        return c->err.status;
    for (int n = 0; n < pe_encoding_tensor_count(e); n++) {
        const pe_tensor *t = pe_encoding_tensor(e, n);
        if (t->hooks & PE_HOOK_EMBED)
            golden_compare(c, is_among(tables, t->shape[0], t->shape[1]), 1, 0,
                           "%s of %s: a table of %" PRId64 " rows of %" PRId64, t->name, g->spec, t->shape[0],
                           t->shape[1]);
    }
    return PE_OK;
}

pe_status run_table_census(golden *c)
{
    io_node config;
    golden_tensor tables;
    zoo_model *m;
    pe_status s = PE_OK;
    TRY(io_json_object(&config, &c->meta, "config", IO_REQUIRED, &c->err));
    TRY(golden_whole(c, "tables", &tables));
    if (tables.rank != 2 || tables.shape[1] != 2)
        return golden_fail(c, "tables are not rows and widths");
    TRY(zoo_read_node(&m, c->name, &config, &(zoo_options){ 0 }, &c->err));
    for (int n = 0; s == PE_OK && n < m->parts; n++)
        s = compare_tables(c, &m->part[n], &tables);
    zoo_free(m);
    return s == PE_OK && !c->compared ? golden_fail(c, "the config is read as a model without a table") : s;
}

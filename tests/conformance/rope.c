/* SPDX-License-Identifier: MIT
 *
 * What a case of rope_types, rope_layouts or rope_census holds; and rope_layouts, from its parameters to a spec. */
#include "rope.h"

/* ---------------------------------------------------------------- reading a case */

/* meta.shape, "n,heads,head_dim", names the axes; (heads, n, head_dim) without it. */
static pe_status view_of(golden *c, const char *field, pe_view *out)
{
    const char *shape = NULL;
    golden_tensor t;
    TRY(io_json_string(&shape, &c->meta, "shape", IO_OPTIONAL, &c->err));
    bool tokens_first = shape && !strncmp(shape, "n,heads", 7);
    if (shape && !tokens_first && strncmp(shape, "heads,n", 7))
        return golden_fail(c, "shape is \"%s\"; needs \"n,heads,head_dim\" or \"heads,n,head_dim\"", shape);
    TRY(golden_real(c, field, &t));
    TRY(golden_fits(c, field, &t, 3, -1, -1, -1));
    *out = pe_view_of(t.real, PE_F32, 1, t.shape[tokens_first ? 0 : 1], t.shape[tokens_first ? 1 : 0], t.shape[2]);
    out->token_stride = tokens_first ? t.shape[1] * t.shape[2] : t.shape[2];
    out->head_stride = tokens_first ? t.shape[2] : t.shape[1] * t.shape[2];
    return PE_OK;
}

/* q, k and v as far as they are there, before and after. */
pe_status rope_rotated(golden *c, bool rotates_value, rotated s[3], int *count)
{
    static const rotated all[] = { { .field = "q", .out_field = "q_out", .side = PE_QUERY },
                                  { .field = "k", .out_field = "k_out", .side = PE_KEY },
                                  { .field = "v", .out_field = "v_out", .side = PE_VALUE } };
    *count = 0;
    for (int n = 0; n < COUNT(all); n++) {
        rotated *x = &s[*count];
        if (!golden_has(c, all[n].field) || !golden_has(c, all[n].out_field))
            continue;
        *x = all[n];
        x->turns = x->side != PE_VALUE || rotates_value;
        TRY(view_of(c, x->field, &x->x));
        TRY(view_of(c, x->out_field, &x->y));
        if (x->x.tokens != x->y.tokens || x->x.heads != x->y.heads || x->x.dim != x->y.dim)
            return golden_fail(c, "%s and %s differ in shape", x->field, x->out_field);
        ++*count;
    }
    return PE_OK;
}

/* (n), (n, axes) or (axes, n). Where both fit, sections mean (axes, n). */
pe_status rope_positions(golden *c, int64_t axes, pe_positions *out)
{
    golden_tensor t;
    TRY(golden_whole(c, "positions", &t));
    if (t.rank != 1 && t.rank != 2)
        return golden_fail(c, "positions has %d axes; needs 1 or 2", t.rank);
    bool last = t.rank == 2 && t.shape[1] == axes, first = t.rank == 2 && t.shape[0] == axes;
    if (t.rank == 1 ? axes != 1 : !last && !first)
        return golden_fail(c, "positions has no axis of %" PRId64 " coordinates", axes);
    if (last && first)
        last = !golden_kind(&c->meta, "mrope_section");
    int64_t n = t.count / axes;
    *out = last ? pe_positions_of(t.whole, PE_I64, 1, n, axes) : (pe_positions){ .data = t.whole, .dtype = PE_I64, .batch = 1, .tokens = n, .axes = axes, .token_stride = 1, .axis_stride = n };
    return PE_OK;
}

/* meta.patches: every cell of a grid, row by row, its coordinates counted from the middle. */
static pe_status read_grid(golden *c, const io_node *patches, rope_case *r)
{
    int64_t size[2] = { 0, 0 };
    if (io_json_size(patches) != 2)
        return golden_fail(c, "patches has %zu numbers; needs 2", io_json_size(patches));
    for (size_t n = 0; n < 2; n++) {
        io_node item;
        TRY(io_json_item(&item, patches, n, &c->err));
        TRY(io_json_int(&size[n], &item, NULL, IO_REQUIRED, (io_int_range){ 1, 1 << 12 }, &c->err));
        r->origin[n] = (double)(size[n] - 1) / 2;
    }
    int64_t tokens = size[0] * size[1], *at = golden_alloc(c, 2 * tokens, sizeof *at);
    if (!at)
        return PE_ERR_NOMEM;
    for (int64_t t = 0; t < tokens; t++) {
        at[2 * t] = t / size[1];
        at[2 * t + 1] = t % size[1];
    }
    r->at = pe_positions_of(at, PE_I64, 1, tokens, 2);
    return PE_OK;
}

/* ---------------------------------------------------------------- the two files */

/* meta.layout in our words; NULL: unknown. */
const char *rope_pairs(golden *c)
{
    const char *layout = golden_word(&c->meta, "layout");
    if (!layout || !strncmp(layout, "half", 4))
        return "half";
    return !strcmp(layout, "interleaved") || !strcmp(layout, "adjacent") ? "adjacent" : NULL;
}

/* How several axes share the pairs. */
static pe_status split_of(golden *c, int64_t axes, const io_node *sections, const io_node *patches, spec_text *out)
{
    bool interleaved = false;
    const char *layout = golden_word(&c->meta, "layout");
    TRY(io_json_bool(&interleaved, &c->meta, "interleaved_sections", IO_OPTIONAL, &c->err));
    if (axes > 1)
        spec_number(out, "axes", (double)axes);
    if (sections->json) {
        spec_word(out, "split", interleaved ? "interleaved" : "chunked");
        return spec_list(out, "sections", c, sections);
    }
    if (axes > 1)
        spec_word(out, "split", layout && strstr(layout, "axis block") ? "blocks" : "axial");
    if (!patches->json)
        return PE_OK;
    spec_word(out, "coords", "normalised");
    return spec_list(out, "extent", c, patches);
}

/* Width of a head: meta's, or that of the vectors. */
static pe_status head_dim_of(golden *c, const rotated *s, int count, int64_t *out)
{
    *out = count ? s[0].x.dim : 0;
    TRY(golden_size(c, "head_dim", count ? IO_OPTIONAL : IO_REQUIRED, out));
    for (int n = 0; n < count; n++)
        if (s[n].x.dim != *out)
            return golden_fail(c, "%s is %" PRId64 " wide; head_dim is %" PRId64, s[n].field, s[n].x.dim, *out);
    return PE_OK;
}

static pe_status layout_spec(golden *c, const rope_case *r, int64_t axes, bool rotates_value, const io_node *sections,
                             const io_node *patches, spec_text *out)
{
    int64_t dims = r->head_dim, per_axis = 0;
    double theta = NAN;
    TRY(io_json_real(&theta, &c->meta, "theta", IO_OPTIONAL, &c->err));
    TRY(golden_size(c, "dim_per_axis", IO_OPTIONAL, &per_axis));
    if (per_axis)
        dims = axes * per_axis;
    TRY(golden_size(c, "rotary_dim", IO_OPTIONAL, &dims));
    spec_start(out, "rope");
    spec_number(out, "theta", theta);
    spec_word(out, "pairs", rope_pairs(c));
    spec_number(out, "dims", (double)dims);
    if (rotates_value)
        spec_word(out, "turn", "qkv");
    return split_of(c, axes, sections, patches, out);
}

pe_status run_rope_layouts(golden *c)
{
    rope_case r = { 0 };
    spec_text *spec = golden_alloc(c, 1, sizeof *spec);
    rotated s[3];
    int count;
    int64_t axes = 1;
    const char *rotates = NULL;
    io_node sections, patches;
    if (!spec)
        return PE_ERR_NOMEM;
    if (!rope_pairs(c))
        return golden_skip(c, "its layout is not one that this program knows");
    TRY(io_json_array(&sections, &c->meta, "mrope_section", IO_OPTIONAL, &c->err));
    TRY(io_json_array(&patches, &c->meta, "patches", IO_OPTIONAL, &c->err));
    TRY(io_json_string(&rotates, &c->meta, "rotates", IO_OPTIONAL, &c->err));
    TRY(io_json_int(&axes, &c->meta, "axes", IO_OPTIONAL, (io_int_range){ 1, PE_AXES_MAX }, &c->err));
    if (!patches.json && !golden_has(c, "positions"))
        return golden_skip(c, "it has neither positions nor patches");
    if (sections.json)
        axes = (int64_t)io_json_size(&sections);
    bool rotates_value = rotates && strchr(rotates, 'v');
    TRY(rope_rotated(c, rotates_value, s, &count));
    TRY(head_dim_of(c, s, count, &r.head_dim));
    if (patches.json) {
        axes = 2;
        TRY(read_grid(c, &patches, &r));
    } else
        TRY(rope_positions(c, axes, &r.at));
    TRY(layout_spec(c, &r, axes, rotates_value, &sections, &patches, spec));
    return rope_compare(c, &r, spec->text, s, count);
}

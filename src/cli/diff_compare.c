/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/explain.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"
#include "zoo/rotation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that files keep as float32 differ by this much at most: two roundings. */
#define DIFF_ROUNDING 0x1p-22

/* ---------------------------------------------------------------- keys */

static void put_value(char out[64], zoo_slice v)
{
    bool cut = v.length > 60;
    snprintf(out, 64, "%.*s%s", v.text ? (int)(cut ? 57 : v.length) : 1, v.text ? v.text : "-", cut ? "..." : "");
}

static void add_key(diff_result *r, const char *key, zoo_slice a, zoo_slice b)
{
    if (r->keys == DIFF_KEYS_MAX)
        return;
    diff_key *k = &r->key[r->keys++];
    k->key = key;
    put_value(k->a, a);
    put_value(k->b, b);
}

static void add_size(diff_result *r, const char *key, int64_t a, int64_t b)
{
    char x[24], y[24];
    if (a == b)
        return;
    snprintf(x, sizeof x, "%" PRId64, a);
    snprintf(y, sizeof y, "%" PRId64, b);
    add_key(r, key, (zoo_slice){ x, strlen(x) }, (zoo_slice){ y, strlen(y) });
}

/* Does the key speak in this spec? */
static zoo_slice in_force(const char *spec, const pe_key *k)
{
    return zoo_spec_means(spec, k) ? zoo_spec_get(spec, k->name) : (zoo_slice){ 0 };
}

static void compare_keys(diff_result *r, const char *a, const char *b)
{
    const pe_info *x = zoo_spec_row(a), *y = zoo_spec_row(b);
    if (x != y) {
        add_key(r, "encoding", (zoo_slice){ a, strcspn(a, ":") }, (zoo_slice){ b, strcspn(b, ":") });
        return;
    }
    for (int i = 0; x && i < x->key_count; i++) {
        zoo_slice u = in_force(a, pe_info_key(x, i)), v = in_force(b, pe_info_key(x, i));
        bool same = !u.text == !v.text && u.length == v.length && (!u.text || !memcmp(u.text, v.text, u.length));
        if (!same)
            add_key(r, pe_info_key(x, i)->name, u, v);
    }
}

static bool takes_inputs(const pe_encoding *e)
{
    pe_inputs in = pe_encoding_inputs(e);
    return in.gates || in.relative;
}

/* Keys whose effect is not in the tables, embeddings and biases that are compared. */
static bool is_hidden(const diff_result *r, const pe_encoding *a, const pe_encoding *b)
{
    static const char *const keys[] = { "turn", "precision" };
    unsigned content = PE_HOOK_CONTENT | PE_HOOK_VALUE;
    bool opaque = pe_encoding_param_count(a) || pe_encoding_param_count(b) ||
                  (pe_encoding_hooks(a) | pe_encoding_hooks(b)) & content;
    if (pe_encoding_hooks(a) != pe_encoding_hooks(b) || pe_encoding_axes(a) != pe_encoding_axes(b))
        return true;
    if (takes_inputs(a) != takes_inputs(b) || (takes_inputs(a) && r->keys && !strcmp(r->key[0].key, "encoding")))
        return true; /* made from what the tokens hold: the numbers below stand in for them */
    for (int i = 0; i < r->keys; i++)
        for (int k = 0; k < CLI_COUNT(keys); k++)
            if (opaque || !strcmp(r->key[i].key, keys[k]))
                return true;
    return false;
}

/* ---------------------------------------------------------------- numbers */

static double relative_gap(double a, double b)
{
    double size = fmax(fabs(a), fabs(b));
    return size == 0 ? 0 : fabs(a - b) / size;
}

static void compare_pairs(diff_result *r, diff_at *at, const pe_pair *a, const pe_pair *b, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        double gap = relative_gap(a[n].frequency, b[n].frequency);
        double angle = fabs((a[n].frequency - b[n].frequency) * (double)at->position + a[n].phase - b[n].phase);
        bool rounding = gap <= DIFF_ROUNDING && a[n].phase == b[n].phase && a[n].axis == b[n].axis;
        r->numbers |= !rounding;
        r->rounding = fmax(r->rounding, rounding ? gap : 0);
        r->layout |= a[n].x != b[n].x || a[n].y != b[n].y;
        r->cache |= a[n].x_out != b[n].x_out || a[n].y_out != b[n].y_out;
        if (at->pair < 0 || angle > at->angle) {
            at->angle = angle;
            at->pair = n;
        }
    }
}

static double worst_difference(const double *a, const double *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* cos and sin of every pair of the first head at one position: 2 * pairs numbers. Frequencies that are trained are
 * compared where they start. */
static pe_status make_angles(const pe_encoding *e, int64_t position, double *out, pe_error *err)
{
    int64_t pairs = pe_encoding_pair_count(e), axes = pe_encoding_axes(e), at[PE_AXES_MAX];
    pe_params w = { .dtype = PE_F64, .count = pe_encoding_param_count(e) };
    for (int64_t i = 0; i < axes; i++)
        at[i] = position;
    w.data = w.count ? calloc((size_t)w.count, sizeof(double)) : NULL;
    if (w.count && !w.data)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the learned parameters");
    pe_status s = pe_encoding_init(e, w, 0, err);
    s = s ? s
          : zoo_rotate_table(pe_view_of(out, PE_F64, 1, 1, 1, pairs), pe_view_of(out + pairs, PE_F64, 1, 1, 1, pairs),
                             e, w, 0, PE_QUERY, pe_positions_of(at, PE_I64, 1, 1, axes), err);
    free(w.data);
    return s;
}

static pe_status compare_rotations(diff_result *r, diff_at *at, const pe_encoding *a, const pe_encoding *b,
                                   pe_error *err)
{
    int64_t n = pe_encoding_pair_count(a), m = pe_encoding_pair_count(b), count = n < m ? n : m, most = n < m ? m : n;
    r->numbers |= n != m;
    if (!count)
        return PE_OK;
    pe_pair *pair = calloc((size_t)most, 2 * sizeof *pair);
    double *x = calloc((size_t)most, 4 * sizeof *x);
    pe_status s = pair && x ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " pairs", most);
    if (!s)
        s = pe_encoding_pairs(a, pair, n, err);
    if (!s)
        s = pe_encoding_pairs(b, pair + most, m, err);
    if (!s)
        compare_pairs(r, at, pair, pair + most, count);
    if (!s && n == m && !(s = make_angles(a, at->position, x, err)) &&
        !(s = make_angles(b, at->position, x + 2 * most, err)))
        at->number = fmax(at->number, worst_difference(x, x + 2 * most, 2 * n));
    free(pair);
    free(x);
    return s;
}

/* Biases that are not learned, head by head. */
static void compare_biases(diff_result *r, diff_at *at, const pe_encoding *a, const pe_encoding *b)
{
    int64_t heads = pe_encoding_shape(a).heads, others = pe_encoding_shape(b).heads;
    double *x = calloc((size_t)(heads + others), sizeof *x);
    if (x && explain_bias(a, at->position, x) && explain_bias(b, at->position, x + heads)) {
        double gap = heads == others ? worst_difference(x, x + heads, heads) : 0;
        r->numbers |= heads != others || gap > DIFF_ROUNDING * (double)at->position;
        at->number = fmax(at->number, gap);
    }
    free(x);
}

/* Embeddings that are not learned. */
static void compare_embeddings(diff_result *r, diff_at *at, const pe_encoding *a, const pe_encoding *b)
{
    int64_t n = pe_embed_width(a, pe_encoding_shape(a).model_dim);
    int64_t m = pe_embed_width(b, pe_encoding_shape(b).model_dim), axes = pe_encoding_axes(a);
    unsigned both = pe_encoding_hooks(a) & pe_encoding_hooks(b);
    if (!(both & PE_HOOK_EMBED) || pe_encoding_param_count(a) || pe_encoding_param_count(b) || n < 1 || axes != 1)
        return;
    r->numbers |= n != m;
    double *x = calloc((size_t)n, 2 * sizeof *x);
    pe_positions where = pe_positions_of(&at->position, PE_I64, 1, 1, 1);
    const pe_encoding *e[2] = { a, b };
    bool good = x && n == m;
    for (int i = 0; good && i < 2; i++)
        good = !pe_embed(e[i], pe_view_of(x + i * n, PE_F64, 1, 1, 1, n),
                         pe_view_of(NULL, PE_F64, 1, 1, 1, pe_encoding_shape(a).model_dim), where,
                         &PE_MAKE(pe_run, .params = (pe_params){ 0 }), NULL);
    if (good) {
        double gap = worst_difference(x, x + n, n);
        r->numbers |= gap > DIFF_ROUNDING * (double)(at->position + 1);
        at->number = fmax(at->number, gap);
    }
    free(x);
}

/* ---------------------------------------------------------------- groups */

/* The group's encoding for a sequence that ends at this position: some depend on the length, others are made once. */
static pe_status make_encoding(pe_encoding **out, const zoo_group *g, int64_t position, pe_error *err)
{
    double least = (double)position + 1;
    if (*out && !zoo_spec_grows(g->spec))
        return PE_OK;
    pe_encoding_free(*out);
    *out = NULL;
    char *text = zoo_spec_at(g->spec, (int64_t)fmax(zoo_spec_num_or(g->spec, "length", 0), least));
    pe_status s = text ? pe_encoding_new(out, text, g->shape, err) : io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    free(text);
    return s;
}

static pe_status compare_at(diff_result *r, const pe_encoding *x, const pe_encoding *y, int64_t position, pe_error *err)
{
    diff_at *at = &r->at[r->ats];
    *at = (diff_at){ .position = position, .pair = -1, .number = (double)NAN };
    if (pe_encoding_axes(x) == pe_encoding_axes(y))
        TRY(compare_rotations(r, at, x, y, err));
    compare_biases(r, at, x, y);
    compare_embeddings(r, at, x, y);
    r->numbers |=
        relative_gap(pe_encoding_scale(x), pe_encoding_scale(y)) > DIFF_ROUNDING ||
        relative_gap(pe_encoding_magnitude(x), pe_encoding_magnitude(y)) > DIFF_ROUNDING ||
        relative_gap(pe_encoding_gain(x, PE_QUERY, position), pe_encoding_gain(y, PE_QUERY, position)) > DIFF_ROUNDING;
    r->hidden |= is_hidden(r, x, y);
    r->ats++;
    return PE_OK;
}

static pe_status compare_groups(diff_result *out, const zoo_group *a, const zoo_group *b, const int64_t *at, int ats,
                                pe_error *err)
{
    *out = (diff_result){ 0 };
    compare_keys(out, a->spec, b->spec);
    if (!out->keys && strcmp(a->spec, b->spec)) /* a later part of a combination */
        add_key(out, "spec", (zoo_slice){ a->spec, strlen(a->spec) }, (zoo_slice){ b->spec, strlen(b->spec) });
    add_size(out, "head_dim", a->shape.head_dim, b->shape.head_dim);
    pe_encoding *x = NULL, *y = NULL;
    pe_status s = PE_OK;
    for (int i = 0; !s && i < ats && i < DIFF_AT_MAX; i++) {
        s = make_encoding(&x, a, at[i], err);
        if (!s)
            s = make_encoding(&y, b, at[i], err);
        if (!s)
            s = compare_at(out, x, y, at[i], err);
    }
    pe_encoding_free(x);
    pe_encoding_free(y);
    out->same = !out->numbers && !out->hidden;
    return s;
}

/* ---------------------------------------------------------------- layers */

/* A window that no sequence of the served length reaches hides nothing. */
static int64_t hiding_window(const zoo_part *p, int64_t window)
{
    return p->served > 0 && window >= p->served ? 0 : window;
}

static pe_status add_class(diff_model *d, const zoo_layer *a, const zoo_layer *b, diff_class **out, pe_error *err)
{
    if (d->classes == DIFF_CLASSES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "the layers differ in more than %d ways", DIFF_CLASSES_MAX);
    diff_class *c = *out = &d->class[d->classes++];
    *c = (diff_class){ .a = a->group, .b = b->group, .window_a = a->window, .window_b = b->window };
    c->in = calloc((size_t)d->layers, sizeof *c->in);
    if (!c->in)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the layers");
    for (const diff_class *k = d->class; k < c && !c->again; k++)
        if (k->a == c->a && k->b == c->b) {
            c->result = k->result;
            c->again = true;
        }
    if (!c->again)
        TRY(compare_groups(&c->result, &d->part_a->group[c->a], &d->part_b->group[c->b], d->at, d->ats, err));
    c->same = c->result.same && hiding_window(d->part_a, c->window_a) == hiding_window(d->part_b, c->window_b);
    d->same = d->same && c->same;
    d->layout = d->layout || c->result.layout;
    d->cache = d->cache || c->result.cache;
    return PE_OK;
}

static pe_status add_layer(diff_model *d, int64_t n, pe_error *err)
{
    const zoo_layer *a = &d->part_a->layer[n], *b = &d->part_b->layer[n];
    diff_class *found = NULL;
    for (diff_class *c = d->class; c < d->class + d->classes && !found; c++)
        if (c->a == a->group && c->b == b->group && c->window_a == a->window && c->window_b == b->window)
            found = c;
    if (!found)
        TRY(add_class(d, a, b, &found, err));
    found->in[n] = true;
    return PE_OK;
}

/* Near, far, and the last position that is served. */
static void choose_positions(diff_model *d)
{
    static const int64_t usual[] = { 1, 100, 4096, 32768, 131072, 1048576 };
    const int64_t length[] = { d->part_a->served, d->part_b->served, d->part_a->trained, d->part_b->trained };
    int64_t end = 0;
    for (int i = 0; i < CLI_COUNT(length); i++)
        end = length[i] > end ? length[i] : end;
    end = end > PE_POSITION_MAX ? PE_POSITION_MAX : end;
    for (int i = 0; i < CLI_COUNT(usual); i++)
        if (usual[i] < end || (!end && i < 4))
            d->at[d->ats++] = usual[i];
    if (end > 1 && (!d->ats || d->at[d->ats - 1] != end - 1))
        d->at[d->ats++] = end - 1;
}

/* ---------------------------------------------------------------- models */

pe_status diff_models(diff_model *d, pe_error *err)
{
    d->part_a = &d->a->part[0];
    d->part_b = &d->b->part[0];
    d->layers = d->part_a->layers < d->part_b->layers ? d->part_a->layers : d->part_b->layers;
    d->class = calloc(DIFF_CLASSES_MAX, sizeof *d->class);
    if (!d->class)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the layers");
    d->same = d->part_a->layers == d->part_b->layers;
    if (!d->ats)
        choose_positions(d);
    for (int64_t n = 0; n < d->layers; n++)
        TRY(add_layer(d, n, err));
    return PE_OK;
}

void diff_clear(diff_model *d)
{
    for (int i = 0; i < d->classes; i++)
        free(d->class[i].in);
    free(d->class);
    d->class = NULL;
    d->classes = 0;
}

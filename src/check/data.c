/* SPDX-License-Identifier: MIT
 *
 * The arrays of a check: their shapes, as engines dump them; their precision; one number at a time. */
#include "check/inside.h"

#include "base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADS_MAX 65536 /* that an encoding takes: an axis longer than that is one of tokens */

/* ------------------------------------------------ one number */

int64_t data_position(const check_data *d, int64_t token, int64_t axis)
{
    return io_position(d->at, token % d->length, axis);
}

static int64_t first_element(const check_data *d, int64_t token, int64_t head)
{
    int64_t sequence = token / d->length;
    if (!d->heads_first)
        return (token * d->heads + head) * d->width;
    return ((sequence * d->heads + head) * d->length + token % d->length) * d->width;
}

double data_before(const check_data *d, int64_t token, int64_t head, int64_t e)
{
    return num_load(d->data[0], d->type[0], first_element(d, token, head) + e);
}

int64_t data_row(const check_data *d)
{
    return d->tables ? 2 * d->width : d->width;
}

double data_observed(const check_data *d, int64_t token, int64_t head, int64_t e)
{
    if (!d->tables)
        return num_load(d->data[1], d->type[1], first_element(d, token, head) + e);
    int which = e >= d->width;
    return num_load(d->data[which], d->type[which], token * d->width + e - (which ? d->width : 0));
}

check_value data_value(const check_data *d, check_value v)
{
    for (int64_t a = 0; a < d->at.axes; a++)
        v.position[a] = data_position(d, v.token, a);
    v.sequence = v.token / d->length;
    v.token %= d->length;
    v.what = !d->tables ? "element" : v.element < d->width ? "cos" : "sin";
    v.element -= v.element >= d->width ? d->width : 0;
    return v;
}

/* ------------------------------------------------ shapes */

typedef struct shape_text {
    char text[160];
} shape_text;

/* "(2, 512, 32)" */
static shape_text shape_of(const check_array *a)
{
    shape_text out;
    int n = snprintf(out.text, sizeof out.text, "(");
    for (int i = 0; i < a->rank && i < CHECK_RANK_MAX; i++)
        n += snprintf(out.text + n, sizeof out.text - (size_t)n, "%s%" PRId64, i ? ", " : "", a->shape[i]);
    snprintf(out.text + n, sizeof out.text - (size_t)n, a->rank == 1 ? ",)" : ")");
    return out;
}

static pe_status fail_shape(pe_error *err, const check_input *in, int which, const char *needs)
{
    return io_fail(err, PE_ERR_FORMAT, "%s: shape is %s; needs %s", in->name[which], shape_of(&in->array[which]).text,
                   needs);
}

static bool is_empty(const check_array *a)
{
    bool empty = false;
    for (int i = 0; i < a->rank; i++)
        empty = empty || a->shape[i] < 1;
    return empty;
}

static pe_status check_same_shape(const check_input *in, pe_error *err)
{
    const check_array *a = &in->array[0], *b = &in->array[1];
    if (a->rank == b->rank && !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape))
        return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%s: shape is %s; needs that of %s, %s", in->name[1], shape_of(b).text,
                   in->name[0], shape_of(a).text);
}

static pe_status check_width(const check_data *d, const check_input *in, pe_error *err)
{
    if (d->width <= PE_HEAD_DIM_MAX)
        return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%s: the last axis is %" PRId64 "; needs %d at most", in->name[0], d->width,
                   PE_HEAD_DIM_MAX);
}

/* ------------------------------------------------ tables */

/* Whether each row holds every number twice, [ccss] or [cscs]: then it is as wide as the elements that are rotated. */
static bool is_tiled(const check_data *d)
{
    int64_t half = d->width / 2;
    bool tiled[2] = { d->width % 2 == 0, d->width % 2 == 0 };
    for (int64_t t = 0; t < d->tokens && (tiled[0] || tiled[1]); t++)
        for (int64_t i = 0; i < half; i++) {
            const int64_t sin = d->width;
            tiled[0] = tiled[0] && data_observed(d, t, 0, sin + i) == data_observed(d, t, 0, sin + i + half);
            tiled[1] = tiled[1] && data_observed(d, t, 0, sin + 2 * i) == data_observed(d, t, 0, sin + 2 * i + 1);
        }
    return tiled[0] || tiled[1];
}

/* The largest number that a part of the spec has for a key; 0: none. */
static double spec_most(const char *spec, const char *key)
{
    double most = 0;
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *part = zoo_spec_part(spec, i);
        most = part ? fmax(most, zoo_spec_num_or(part, key, 0)) : most;
        free(part);
    }
    return most;
}

static pe_status table_head_dim(const check_data *d, const check_input *in, int64_t *out, pe_error *err)
{
    int64_t observed = is_tiled(d) ? d->width : 2 * d->width;
    double dims = spec_most(in->spec, "dims");
    *out = in->head_dim;
    if (!*out && spec_most(in->spec, "fraction") > 0)
        return io_fail(err, PE_ERR_SPEC, "%s rotates a fraction of the head; needs head-dim, the width of a head",
                       in->spec);
    if (!*out)
        *out = dims > (double)observed && dims <= PE_HEAD_DIM_MAX ? (int64_t)dims : observed;
    *out = *out > PE_HEAD_DIM_MAX ? PE_HEAD_DIM_MAX : *out;
    return PE_OK;
}

static pe_status open_tables(check_data *d, const check_input *in, pe_error *err)
{
    const check_array *a = &in->array[0];
    const int64_t *shape = a->rank == 3 ? a->shape + 1 : a->shape;
    bool both = a->rank == 3 && a->shape[0] == 2 && !in->array[1].data; /* as posenc table writes them */
    bool batch = a->rank == 3 && a->shape[0] == 1;                      /* as transformers makes them */
    if (!both)
        TRY(check_same_shape(in, err));
    if ((a->rank != 2 && !batch && !both) || is_empty(a))
        return fail_shape(err, in, 0, "(n, pairs) or (n, dims), none of them 0");
    d->tokens = d->length = shape[0];
    d->width = shape[1];
    d->heads = 1;
    if (both) {
        d->type[1] = d->type[0];
        d->data[1] = (const char *)a->data + (size_t)(d->tokens * d->width) * pe_dtype_size(a->type);
    }
    TRY(check_width(d, in, err));
    d->shape.heads = 1;
    return table_head_dim(d, in, &d->shape.head_dim, err);
}

/* ------------------------------------------------ vectors */

static void take_axes(check_data *d, const check_input *in, int order)
{
    static const char *const name[2][2] = { { "(B, T, H, D)", "(B, H, T, D)" }, { "(1, T, H, D)", "(1, H, T, D)" } };
    const check_array *a = &in->array[0];
    const int64_t *shape = a->shape + (a->rank == 4);
    int64_t sequences = a->rank == 4 ? a->shape[0] : 1;
    if (order)
        d->heads_first = !d->heads_first;
    d->read_as = a->rank == 4 ? name[sequences == 1][d->heads_first] : NULL;
    d->length = shape[d->heads_first];
    d->tokens = sequences * d->length;
    d->heads = a->rank == 2 ? 1 : shape[!d->heads_first];
    d->width = a->shape[a->rank - 1];
    d->shape = (pe_shape){ .heads = d->heads, .head_dim = d->width };
}

/* Which axis counts tokens, where the number of positions tells. */
static pe_status order_by_positions(check_data *d, const check_input *in, int *orders, pe_error *err)
{
    const check_array *a = &in->array[0];
    int64_t found = in->at.tokens;
    if (a->rank == 3 && found == a->shape[1] && found != a->shape[0])
        return fail_shape(err, in, 0, "(T, H, D): in numpy y.transpose(1, 0, 2)");
    if (a->rank == 4 && found != a->shape[1] && found != a->shape[2])
        return fail_shape(err, in, 0, "as many tokens as there are positions: (B, T, H, D) or (B, H, T, D)");
    if (a->rank < 4 && found != d->length)
        return io_fail(err, PE_ERR_FORMAT, "%s: holds %" PRId64 " positions; there are %" PRId64 " tokens", in->name[2],
                       found, d->length);
    if (a->rank == 4 && a->shape[1] != a->shape[2]) {
        *orders = 1;
        d->heads_first = found == a->shape[2];
    }
    return PE_OK;
}

static pe_status open_vectors(check_data *d, const check_input *in, int *orders, pe_error *err)
{
    const check_array *a = &in->array[0];
    TRY(check_same_shape(in, err));
    if (a->rank < 2 || a->rank > 4 || is_empty(a))
        return fail_shape(err, in, 0, "(T, D), (T, H, D) or (B, T, H, D), none of them 0");
    *orders = a->rank == 4 && a->shape[1] <= HEADS_MAX && a->shape[2] <= HEADS_MAX ? 2 : 1;
    d->heads_first = a->rank == 4 && a->shape[2] > HEADS_MAX;
    take_axes(d, in, 0);
    return check_width(d, in, err);
}

/* ------------------------------------------------ the spec and its positions */

static bool trains_rotation(const pe_encoding *e)
{
    bool trains = false;
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        trains = trains || pe_encoding_tensor(e, i)->hooks & PE_HOOK_ROTATE;
    return trains;
}

static pe_status fail_unrotated(const pe_encoding *e, pe_error *err)
{
    const char *spec = pe_encoding_spec(e);
    unsigned hooks = pe_encoding_hooks(e);
    if (hooks & (PE_HOOK_CONTENT | PE_HOOK_VALUE))
        return io_fail(err, PE_ERR_UNSUITED,
                       "%s has no rotation to check: it reads q and k inside attention; compare outputs with "
                       "pe_reference_forward",
                       spec);
    const char *verb = hooks & PE_HOOK_BIAS ? "bias" : hooks & PE_HOOK_EMBED ? "table" : NULL;
    if (!verb)
        return io_fail(err, PE_ERR_UNSUITED, "%s has no rotation to check", spec);
    return io_fail(err, PE_ERR_UNSUITED, "%s has no rotation to check; compare with what posenc %s %s makes", spec, verb,
                   spec);
}

/* The one part that rotates, by itself. */
static pe_status find_part(check_data *d, const check_input *in, int64_t *axes, pe_error *err)
{
    pe_encoding *whole = NULL, *e = NULL;
    TRY(pe_encoding_new(&whole, in->spec, d->shape, err));
    int64_t parts = zoo_spec_parts(pe_encoding_spec(whole)), rotated = 0;
    pe_status status = PE_OK;
    for (int i = 0; i < parts && !status && !rotated; i++) {
        free(d->spec);
        d->spec = zoo_spec_part(pe_encoding_spec(whole), i);
        status = d->spec ? pe_encoding_new(&e, d->spec, d->shape, err) : io_fail(err, PE_ERR_NOMEM, "no memory");
        rotated = status ? 0 : pe_encoding_pair_count(e);
        *axes = status ? 0 : pe_encoding_axes(e);
        if (rotated && trains_rotation(e))
            status = io_fail(err, PE_ERR_UNSUITED,
                             "%s rotates by trained parameters, which check does not take; compare with what posenc "
                             "apply %s --params FILE makes",
                             d->spec, d->spec);
        pe_encoding_free(e);
        e = NULL;
    }
    if (!status && !rotated)
        status = fail_unrotated(whole, err);
    pe_encoding_free(whole);
    return status;
}

static pe_status check_axes(const check_data *d, const check_input *in, int64_t axes, pe_error *err)
{
    if (!in->at.data && (in->at.start < -PE_POSITION_MAX || in->at.start > PE_POSITION_MAX))
        return io_fail(err, PE_ERR_POSITION, "start is %" PRId64 "; needs -2^36 to 2^36", in->at.start);
    if (!in->at.data && axes > 1)
        return io_fail(err, PE_ERR_UNSUITED,
                       "%s has %" PRId64 " coordinates per token; needs positions of shape (n, %" PRId64 ")", d->spec,
                       axes, axes);
    if (in->at.data && in->at.axes != axes)
        return io_fail(err, PE_ERR_FORMAT, "%s: holds %" PRId64 " coordinates per token; %s needs %" PRId64,
                       in->name[2], in->at.axes, d->spec, axes);
    if (in->at.data && d->tables && in->at.tokens != d->length)
        return io_fail(err, PE_ERR_FORMAT, "%s: holds %" PRId64 " positions; there are %" PRId64 " tokens", in->name[2],
                       in->at.tokens, d->length);
    return PE_OK;
}

pe_status data_open(check_data *d, const check_input *in, int *orders, pe_error *err)
{
    int64_t axes = 0;
    *d = (check_data){ .tables = in->tables, .side = in->side };
    for (int i = 0; i < 2; i++) {
        d->data[i] = in->array[i].data;
        d->type[i] = in->array[i].type;
    }
    *orders = 1;
    TRY(in->tables ? open_tables(d, in, err) : open_vectors(d, in, orders, err));
    TRY(find_part(d, in, &axes, err));
    TRY(check_axes(d, in, axes, err));
    return in->at.data && !in->tables ? order_by_positions(d, in, orders, err) : PE_OK;
}

void data_take_order(check_data *d, const check_input *in, int order)
{
    if (!d->tables)
        take_axes(d, in, order);
    d->at = in->at;
    if (!in->at.data) {
        d->at = pe_positions_run(1, d->length, in->at.start);
        d->at.axes = 1;
    }
}

pe_status data_take_length(check_data *d, pe_error *err)
{
    int64_t furthest = 0;
    for (int64_t t = 0; t < d->length; t++)
        furthest = data_position(d, t, 0) > furthest ? data_position(d, t, 0) : furthest;
    bool past = furthest >= (int64_t)zoo_spec_num_or(d->spec, "trained", 0x1p36);
    if (!past || !zoo_spec_grows(d->spec) || zoo_spec_has(d->spec, "length"))
        return PE_OK;
    char *spec = zoo_spec_at(d->spec, furthest + 1);
    if (!spec)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    free(d->spec);
    d->spec = spec;
    return PE_OK;
}

/* ------------------------------------------------ the numbers before anything is made of them */

static int64_t count_of(const check_data *d)
{
    return d->tokens * d->heads * d->width;
}

/* Zeros rotate into zeros, whatever the angle. */
pe_status data_reject_zeros(const check_data *d, const check_input *in, pe_error *err)
{
    for (int64_t i = 0; i < count_of(d); i++)
        if (num_load(d->data[0], d->type[0], i) != 0)
            return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%s: holds only zeros, which tell nothing; dump %s", in->name[0],
                   d->tables ? "cos and sin as they are used"
                             : "q or k of a real prompt, before and after the rotation");
}

pe_status data_find_not_finite(const check_data *d, const check_input *in, check_value *at, bool *found, pe_error *err)
{
    *found = false;
    for (int64_t i = 0; !d->tables && i < count_of(d); i++)
        if (!isfinite(num_load(d->data[0], d->type[0], i)))
            return io_fail(err, PE_ERR_FORMAT, "%s: number %" PRId64 " is not finite; needs numbers", in->name[0], i);
    for (int64_t t = 0; t < d->tokens; t++)
        for (int64_t h = 0; h < d->heads; h++)
            for (int64_t e = 0; e < data_row(d); e++) {
                *at = (check_value){ .token = t,
                                     .head = h,
                                     .element = e,
                                     .got = data_observed(d, t, h, e),
                                     .expected = NAN,
                                     .error = NAN,
                                     .tolerance = NAN };
                *found = !isfinite(at->got);
                if (*found)
                    return PE_OK;
            }
    return PE_OK;
}

double data_rounded(double x, pe_dtype type)
{
    return (double)(type == PE_F16 ? num_from_f16(num_to_f16(x)) : num_from_bf16(num_to_bf16(x)));
}

/* A bfloat16 model whose dump was made with .float(): the array is float32, its numbers are not. */
static bool is_rounded(const check_data *d, pe_dtype type)
{
    for (int64_t i = 0; i < count_of(d); i++) {
        double x = num_load(d->data[1], d->type[1], i);
        if (x != data_rounded(x, type))
            return false;
    }
    return true;
}

/* Tables are left as they are: cos and sin of 16 bits in a wider array are a bug that has a name. */
void data_find_precision(check_data *d)
{
    static const double unit_of[FLOAT_COUNT] = { 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-24 };
    static const pe_dtype coarse[] = { PE_BF16, PE_F16 };
    d->precision = unit_of[d->type[0]] > unit_of[d->type[1]] ? d->type[0] : d->type[1];
    for (int i = 0; i < CHECK_COUNT(coarse) && !d->tables && !d->rounded && unit_of[d->precision] < 0x1p-20; i++)
        if (is_rounded(d, coarse[i])) {
            d->rounded = true;
            d->precision = coarse[i];
        }
    d->unit = unit_of[d->precision];
}

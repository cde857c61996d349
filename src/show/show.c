/* SPDX-License-Identifier: MIT
 *
 * The subject (an encoding with its parameters as they start), and the table of views: a view is one row. */
#include "show/views.h"

#include "io/io.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADS 8
#define HEAD_DIM 64
#define MODEL_DIM 128
#define PARAMS_MAX (INT64_C(1) << 23) /* 64 MiB as they start */

static pe_shape subject_shape(const show_request *r)
{
    pe_shape s = r->shape;
    s.heads = s.heads ? s.heads : HEADS;
    s.head_dim = s.head_dim ? s.head_dim : HEAD_DIM;
    s.model_dim = s.model_dim ? s.model_dim : MODEL_DIM;
    return s;
}

/* Takes the trained length of the first part that has one. */
static void subject_find_trained(show_subject *s, const char *part)
{
    const pe_info *row = zoo_spec_row(part);
    double found = row && row->key_trained ? zoo_spec_num_or(part, row->key_trained, 0) : 0;
    if (!s->trained)
        s->trained = found > 0 && found < (double)PE_POSITION_MAX ? (int64_t)found : 0;
}

static void subject_find_work(show_subject *s, const char *part)
{
    const pe_info *row = zoo_spec_row(part);
    double found = row && row->key_work ? zoo_spec_num_or(part, row->key_work, 0) : 0;
    s->work += found > 0 && found < 0x1p31 ? (int64_t)found : 0;
}

static pe_status subject_find_waves(show_subject *s, const char *part, int *coders, pe_error *err)
{
    pe_encoding *e;
    TRY(pe_encoding_new(&e, part, s->shape, err));
    bool codes = pe_encoding_hooks(e) & PE_HOOK_EMBED;
    *coders += codes;
    unsigned wave = PE_CLAIM_LINEAR | PE_CLAIM_BOUNDED | PE_CLAIM_ANY_LENGTH; /* integers grow, fractions of N change */
    s->waves = codes ? *coders == 1 && (pe_encoding_claims(e) & wave) == wave : s->waves && *coders < 2;
    pe_encoding_free(e);
    return PE_OK;
}

static pe_status subject_read_parts(show_subject *s, pe_error *err)
{
    pe_status status = PE_OK;
    int coders = 0;
    s->work = 1;
    for (int i = 0; !status && i < zoo_spec_parts(s->spec); i++) {
        char *part = zoo_spec_part(s->spec, i);
        if (!part)
            return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
        subject_find_trained(s, part);
        subject_find_work(s, part);
        status = subject_find_waves(s, part, &coders, err);
        free(part);
    }
    return status;
}

pe_status show_params_fit(const pe_encoding *e, pe_params given, pe_error *err)
{
    int64_t count = pe_encoding_param_count(e);
    if (!given.count || given.count == count)
        return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%" PRId64 " learned parameters are given; %.150s has %" PRId64, given.count,
                   pe_encoding_spec(e), count);
}

static pe_status subject_fill_params(show_subject *s, const show_request *r, pe_error *err)
{
    double *data;
    int64_t count = pe_encoding_param_count(s->e);
    TRY(show_params_fit(s->e, r->params, err));
    if (!count)
        return PE_OK;
    if (count > PARAMS_MAX)
        return io_fail(err, PE_ERR_RANGE,
                       "%.150s learns %" PRId64 " numbers, too many to make for a picture; needs %" PRId64 " or less",
                       s->spec, count, PARAMS_MAX);
    TRY(show_memory(&data, s, count, 1, err));
    s->params = (pe_params){ .data = data, .dtype = PE_F64, .count = count };
    s->given = r->params.count > 0;
    if (s->given)
        memcpy(data, r->params.data, (size_t)count * sizeof *data);
    return s->given ? PE_OK : pe_encoding_init(s->e, s->params, r->seed, err);
}

pe_status show_subject_new(show_subject **out, const char *spec, const show_request *r, pe_error *err)
{
    show_subject *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return io_fail(err, PE_ERR_NOMEM, "no memory for an encoding");
    s->scratch = &s->blocks;
    pe_status status = pe_encoding_new(&s->e, spec, subject_shape(r), err);
    if (!status) {
        s->spec = pe_encoding_spec(s->e);
        s->shape = pe_encoding_shape(s->e);
        s->axes = pe_encoding_axes(s->e);
        s->hooks = pe_encoding_hooks(s->e);
        if (!pe_encoding_pair_count(s->e))
            s->hooks &= ~(unsigned)PE_HOOK_ROTATE; /* a rotation of no pairs: there is nothing to look at */
        status = subject_read_parts(s, err);
    }
    if (!status)
        status = subject_fill_params(s, r, err);
    if (status) {
        show_subject_free(s);
        return status;
    }
    *out = s;
    return PE_OK;
}

void show_subject_free(show_subject *s)
{
    if (!s)
        return;
    pe_encoding_free(s->e);
    show_release(s, NULL);
    free(s);
}

/* ---------------------------------------------------------------- views */

const show_view *const show_views[] = {
    &show_view_table,       &show_view_curves, &show_view_decay,    &show_view_heads,  &show_view_bias,
    &show_view_wavelengths, &show_view_turns,  &show_view_variance, &show_view_around, &show_view_attention,
    &show_view_permuted,    &show_view_pooled, &show_view_products, &show_view_path,   &show_view_shift,
};
const int show_view_count = sizeof show_views / sizeof *show_views;

bool show_fits(const show_view *v, const show_subject *s)
{
    return (!v->hooks || (v->hooks & s->hooks)) && (!v->fits || v->fits(s));
}

const show_view *show_view_named(const char *name)
{
    for (int i = 0; i < show_view_count; i++)
        if (!strcmp(show_views[i]->name, name))
            return show_views[i];
    return NULL;
}

/* What is drawn by chance is no fact about the encoding, and says so. */
static void view_mark(figure *f, const show_view *v, const show_subject *s, const show_request *r)
{
    if (v->random || (s->params.count && !s->given))
        show_say(f, &f->mark, r, (words){ "untrained, seed %" PRIu64, "未训练，种子 %" PRIu64 }, r->seed);
}

static pe_status view_make(show_sheet *to, const show_view *v, const show_subject *s, const show_request *r,
                           pe_error *err)
{
    int first = to->count;
    TRY(v->make(to, s, r, err));
    for (int i = first; i < to->count; i++)
        if (!to->figure[i]->certain)
            view_mark(to->figure[i], v, s, r);
    for (int i = first; i < to->count; i++)
        TRY(figure_status(to->figure[i], err));
    return PE_OK;
}

pe_status show_add(show_sheet *to, const show_view *v, const show_subject *s, const show_request *r, pe_error *err)
{
    int before = to->count;
    struct show_block *mark = s->blocks;
    to->language = r->language;
    pe_status status = view_make(to, v, s, r, err);
    while (status && to->count > before)
        figure_free(to->figure[--to->count]);
    show_release(s, mark);
    return status;
}

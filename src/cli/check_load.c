/* SPDX-License-Identifier: MIT
 *
 * The files of posenc check: vectors before and after, or cos and sin. */
#include "cli/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static cli_exit load_floats(check_files *f, int which, const char *option)
{
    const cli_args *a = f->job.args;
    io_array *in = &f->a[which];
    bool bf16 = cli_given(a, "bf16");
    if (!cli_given(a, option))
        return cli_fail(a, CLI_USAGE, "needs --%s FILE; give --before and --after, or --cos and --sin", option);
    CLI_TRY(job_load(&f->job, in, option, bf16 ? IO_NPY_BF16 : 0));
    if (bf16 && in->type != IO_BF16)
        return cli_fail(a, CLI_INPUT, "%s: holds %s; --bf16 says that its uint16 are bfloat16; leave it out",
                        job_file(a, option), io_type_name(in->type));
    if (!array_type(in, &f->d.type[which]))
        return cli_fail(a, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64%s", job_file(a, option),
                        io_type_name(in->type), in->type == IO_U16 ? " (or bfloat16, with --bf16)" : "");
    f->d.data[which] = in->data;
    return CLI_OK;
}

static bool same_shape(const io_array *a, const io_array *b)
{
    return a->rank == b->rank && !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

static cli_exit check_same(const check_files *f, const char *one, const char *other)
{
    char shape[2][160];
    for (int i = 0; i < 2; i++)
        array_shape(shape[i], &f->a[i]);
    if (same_shape(&f->a[0], &f->a[1]))
        return CLI_OK;
    return cli_fail(f->job.args, CLI_INPUT, "%s: shape is %s; needs that of %s, %s", job_file(f->job.args, other),
                    shape[1], job_file(f->job.args, one), shape[0]);
}

cli_exit check_load_vectors(check_files *f)
{
    check_data *d = &f->d;
    CLI_TRY(load_floats(f, 0, "before"));
    CLI_TRY(load_floats(f, 1, "after"));
    CLI_TRY(check_same(f, "before", "after"));
    CLI_TRY(check_take_shape(f));
    if (d->width > PE_HEAD_DIM_MAX)
        return cli_fail(f->job.args, CLI_INPUT, "%s: heads are %" PRId64 " wide; needs %d at most",
                        job_file(f->job.args, "before"), d->width, PE_HEAD_DIM_MAX);
    return CLI_OK;
}

/* (2, n, pairs) is what posenc table writes: both in one file. */
static void split_both(check_files *f)
{
    io_array *a = f->a;
    a->rank = 2;
    a->shape[0] = a->shape[1];
    a->shape[1] = a->shape[2];
    a->count /= 2;
    f->d.type[1] = f->d.type[0];
    f->d.data[1] = (const char *)a->data + (size_t)a->count * pe_dtype_size(f->d.type[0]);
}

/* Whether each row holds every number twice, [ccss] or [cscs]: then it is as wide as the elements that turn. */
static bool is_tiled(const check_data *d)
{
    int64_t half = d->width / 2;
    bool tiled[2] = { d->width % 2 == 0, d->width % 2 == 0 };
    for (int64_t t = 0; t < d->tokens && (tiled[0] || tiled[1]); t++)
        for (int64_t i = 0; i < half; i++) {
            double c = check_seen(d, t, 0, d->width + i);
            tiled[0] = tiled[0] && c == check_seen(d, t, 0, d->width + i + half);
            tiled[1] = tiled[1] && check_seen(d, t, 0, d->width + 2 * i) == check_seen(d, t, 0, d->width + 2 * i + 1);
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

/* --head-dim, or what the table and the spec's dims ask for. */
static cli_exit head_of_tables(const check_files *f, int64_t *out)
{
    const check_data *d = &f->d;
    int64_t seen = is_tiled(d) ? d->width : 2 * d->width;
    double dims = spec_most(d->given, "dims");
    *out = f->head_dim ? f->head_dim : cli_int(d->args, "head-dim");
    if (*out)
        return CLI_OK;
    if (spec_most(d->given, "fraction") > 0)
        return cli_fail(d->args, CLI_USAGE, "%s turns a fraction of the head; give --head-dim N, its width", d->given);
    *out = dims > (double)seen && dims <= PE_HEAD_DIM_MAX ? (int64_t)dims : seen;
    return CLI_OK;
}

cli_exit check_load_tables(check_files *f)
{
    check_data *d = &f->d;
    io_array *a = f->a;
    const cli_args *args = f->job.args;
    d->tables = true;
    CLI_TRY(load_floats(f, 0, "cos"));
    if (a->rank == 3 && a->shape[0] == 2 && !cli_given(args, "sin"))
        split_both(f);
    if (!d->data[1]) {
        CLI_TRY(load_floats(f, 1, "sin"));
        CLI_TRY(check_same(f, "cos", "sin"));
    }
    bool batch = a->rank == 3 && a->shape[0] == 1; /* transformers: (1, n, dims) */
    if ((a->rank != 2 && !batch) || !a->count)
        return check_bad_shape(f, "cos", "(n, pairs) or (n, dims), none of them 0");
    f->orders = 1;
    d->tokens = d->length = a->shape[a->rank - 2];
    d->width = a->shape[a->rank - 1];
    d->heads = 1;
    if (d->width > PE_HEAD_DIM_MAX)
        return cli_fail(args, CLI_INPUT, "%s: is %" PRId64 " wide; needs %d at most", job_file(args, "cos"), d->width,
                        PE_HEAD_DIM_MAX);
    int64_t head;
    CLI_TRY(head_of_tables(f, &head));
    d->shape = (pe_shape){ .heads = 1, .head_dim = head > PE_HEAD_DIM_MAX ? PE_HEAD_DIM_MAX : head };
    return CLI_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * Shapes that engines dump: a batch of one, heads before tokens or after them. */
#include "cli/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

cli_exit check_bad_shape(const check_files *f, const char *option, const char *needs)
{
    char shape[160];
    array_shape(shape, &f->a[0]);
    return cli_fail(f->job.args, CLI_INPUT, "%s: shape is %s; needs %s", job_file(f->job.args, option), shape, needs);
}

/* How many positions --pos holds; -1: it says nothing, or can be read only once. */
static cli_exit count_positions(const check_files *f, int64_t *out)
{
    io_array at;
    const char *file = cli_text(f->job.args, "pos");
    *out = -1;
    if (!file || !strcmp(file, "-"))
        return CLI_OK;
    CLI_TRY(job_load(&f->job, &at, "pos", 0));
    *out = at.rank ? at.shape[0] : -1;
    io_array_free(&at);
    return CLI_OK;
}

/* (1, H, T, D) to (T, H, D). */
static cli_exit transpose(const check_files *f, io_array *a)
{
    void *to;
    int64_t heads = a->shape[1], tokens = a->shape[2];
    size_t size = io_type_size(a->type);
    CLI_TRY(array_memory(f->job.args, &to, "the vectors", a->count, size));
    size_t row = size * (size_t)a->shape[3];
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++)
            memcpy((char *)to + (size_t)(t * heads + h) * row, (const char *)a->data + (size_t)(h * tokens + t) * row,
                   row);
    io_array now = { to, a->type, 3, { tokens, heads, a->shape[3] }, a->count };
    io_array_free(a);
    *a = now;
    return CLI_OK;
}

static void drop_batch(io_array *a)
{
    a->rank = 3;
    memmove(a->shape, a->shape + 1, 3 * sizeof *a->shape);
}

static cli_exit take_four(check_files *f, int64_t positions)
{
    static const char *const transposed = "(T, H, D): in numpy y[0].transpose(1, 0, 2)";
    const int64_t *shape = f->a[0].shape;
    bool heads_first = positions < 0 || positions == shape[2], tokens_first = positions == shape[1];
    if (shape[0] != 1)
        return check_bad_shape(f, "before", "one sequence, (T, H, D): in numpy y[0].transpose(1, 0, 2)");
    if (!f->a[0].count || (heads_first && tokens_first && shape[1] != 1))
        return check_bad_shape(f, "before", transposed);
    if (!heads_first && !tokens_first)
        return check_bad_shape(f, "before", "as many tokens as --pos has positions: (T, H, D) or (1, H, T, D)");
    f->d.taken = heads_first ? "(1, H, T, D)" : "(1, T, H, D)";
    for (int i = 0; i < 2; i++) {
        if (heads_first)
            CLI_TRY(transpose(f, &f->a[i]));
        else
            drop_batch(&f->a[i]);
        f->d.data[i] = f->a[i].data;
    }
    return CLI_OK;
}

cli_exit check_take_shape(check_files *f)
{
    const io_array *a = &f->a[0];
    int64_t positions;
    CLI_TRY(count_positions(f, &positions));
    if (a->rank == 4)
        return take_four(f, positions);
    if (a->rank == 3 && positions == a->shape[1] && positions != a->shape[0])
        return check_bad_shape(f, "before", "(T, H, D): in numpy y.transpose(1, 0, 2)");
    return CLI_OK;
}

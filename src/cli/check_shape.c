/* SPDX-License-Identifier: MIT
 *
 * Shapes that engines dump: a batch of sequences, heads before tokens or after them. */
#include "cli/check.h"

#include <inttypes.h>

#define HEADS_MAX 65536 /* that an encoding takes: an axis longer than that is one of tokens */

cli_exit check_bad_shape(const check_files *f, const char *option, const char *needs)
{
    char shape[160];
    array_shape(shape, &f->a[0]);
    return cli_fail(f->job.args, CLI_INPUT, "%s: shape is %s; needs %s", job_file(f->job.args, option), shape, needs);
}

cli_exit check_take_shape(check_files *f)
{
    const io_array *a = &f->a[0];
    if (a->rank < 2 || a->rank > 4 || !a->count)
        return check_bad_shape(f, "before", "(T, D), (T, H, D) or (B, T, H, D), none of them 0");
    f->orders = a->rank == 4 && a->shape[1] <= HEADS_MAX && a->shape[2] <= HEADS_MAX ? 2 : 1;
    f->heads_first = a->rank == 4 && a->shape[2] > HEADS_MAX;
    check_take_order(f, 0);
    return CLI_OK;
}

void check_take_order(check_files *f, int order)
{
    static const char *const name[2][2] = { { "(B, T, H, D)", "(B, H, T, D)" }, { "(1, T, H, D)", "(1, H, T, D)" } };
    check_data *d = &f->d;
    const io_array *a = &f->a[0];
    const int64_t *shape = a->shape + (a->rank == 4);
    int64_t sequences = a->rank == 4 ? a->shape[0] : 1;
    d->heads_first = f->heads_first != (order > 0);
    d->taken = a->rank == 4 ? name[sequences == 1][d->heads_first] : NULL;
    d->length = shape[d->heads_first];
    d->tokens = sequences * d->length;
    d->heads = a->rank == 2 ? 1 : shape[!d->heads_first];
    d->width = a->shape[a->rank - 1];
    d->shape = (pe_shape){ .heads = d->heads, .head_dim = d->width };
}

cli_exit check_count_positions(check_files *f)
{
    const io_array *a = &f->a[0];
    int64_t found = f->job.at.tokens;
    if (a->rank == 3 && found == a->shape[1] && found != a->shape[0])
        return check_bad_shape(f, "before", "(T, H, D): in numpy y.transpose(1, 0, 2)");
    if (a->rank == 4 && found != a->shape[1] && found != a->shape[2])
        return check_bad_shape(f, "before", "as many tokens as --pos has positions: (B, T, H, D) or (B, H, T, D)");
    if (a->rank < 4 && found != f->d.length)
        return cli_fail(f->job.args, CLI_INPUT, "%s: holds %" PRId64 " positions; there are %" PRId64 " tokens",
                        job_file(f->job.args, "pos"), found, f->d.length);
    if (a->rank == 4 && a->shape[1] != a->shape[2]) {
        f->orders = 1;
        f->heads_first = found == a->shape[2];
    }
    return CLI_OK;
}

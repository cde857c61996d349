/* SPDX-License-Identifier: MIT
 *
 * The numbers before anything is made of them: whether they tell anything, and how finely. */
#include "cli/check.h"

#include "base/num.h"

#include <inttypes.h>
#include <math.h>

/* ------------------------------------------------ how fine they are */

static const double unit_of[FLOAT_COUNT] = { 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-24 };

static bool is_of(double x, pe_dtype type)
{
    return x == (double)(type == PE_F16 ? num_from_f16(num_to_f16(x)) : num_from_bf16(num_to_bf16(x)));
}

/* A bfloat16 model whose dump was made with .float(): the file is float32, its numbers are not. */
static bool is_rounded(const check_data *d, pe_dtype type)
{
    for (int64_t i = 0; i < d->tokens * d->heads * d->width; i++)
        if (!is_of(num_load(d->data[1], d->type[1], i), type))
            return false;
    return true;
}

/* Tables are left as they are: cos and sin of 16 bits in a wider file are a bug that has a name. */
void check_grain(check_data *d)
{
    static const pe_dtype coarse[] = { PE_BF16, PE_F16 };
    d->grain = unit_of[d->type[0]] > unit_of[d->type[1]] ? d->type[0] : d->type[1];
    for (int i = 0; i < CLI_COUNT(coarse) && !d->tables && !d->rounded && unit_of[d->grain] < 0x1p-20; i++)
        if (is_rounded(d, coarse[i])) {
            d->rounded = true;
            d->grain = coarse[i];
        }
    d->unit = unit_of[d->grain];
}

/* ------------------------------------------------ whether they tell anything */

cli_exit check_finite(const check_data *d, bool *stop)
{
    for (int64_t i = 0; !d->tables && i < d->tokens * d->heads * d->width; i++)
        if (!isfinite(num_load(d->data[0], d->type[0], i)))
            return cli_fail(d->args, CLI_INPUT, "%s: number %" PRId64 " is not finite; needs numbers",
                            job_file(d->args, "before"), i);
    for (int64_t t = 0; t < d->tokens; t++)
        for (int64_t h = 0; h < d->heads; h++)
            for (int64_t e = 0; e < check_row(d); e++) {
                double got = check_seen(d, t, h, e);
                if (isfinite(got))
                    continue;
                *stop = true;
                return check_report_not_finite(d, (check_spot){ t, h, e, got, NAN, NAN, NAN });
            }
    return CLI_OK;
}

/* Zeros turn into zeros, whatever turns them. */
cli_exit check_zeros(const check_data *d)
{
    const char *option = d->tables ? "cos" : "before";
    for (int64_t i = 0; i < d->tokens * d->heads * d->width; i++)
        if (num_load(d->data[0], d->type[0], i) != 0)
            return CLI_OK;
    return cli_fail(d->args, CLI_INPUT, "%s: holds only zeros, which tell nothing; dump %s", job_file(d->args, option),
                    d->tables ? "cos and sin as they are used" : "q or k of a real prompt, before and after the turn");
}

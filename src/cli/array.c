/* SPDX-License-Identifier: MIT */
#include "cli/array.h"

#include "base/num.h"
#include "io/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREVIEW_COLUMNS 8 /* of PREVIEW_WIDTH, beside the position, in a page of 100 */
#define PREVIEW_WIDTH 11
#define PREVIEW_ROOM (PREVIEW_COLUMNS * PREVIEW_WIDTH)

/* Bytes that one block may take: what a file of ours may hold, or all the memory there is. */
static double memory_limit(void)
{
    double limit = (double)IO_CAP_DATA;
#if defined _SC_PHYS_PAGES && defined _SC_PAGESIZE
    double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (physical > 0 && physical < limit)
        limit = physical;
#endif
    return limit;
}

cli_exit array_memory(const cli_args *a, void **out, const char *what, int64_t count, size_t size)
{
    size_t bytes;
    double wanted = (double)count * (double)size, limit = memory_limit(), gib = 0x1p-30;
    *out = NULL;
    if (!io_byte_count(&bytes, count, size) || wanted > limit)
        return cli_fail(a, CLI_SYSTEM, "%s would take %.4g GiB; %.4g GiB is the most that fits here", what,
                        wanted * gib, limit * gib);
    *out = malloc(bytes ? bytes : 1);
    return *out ? CLI_OK : cli_fail(a, CLI_SYSTEM, "%s: no memory for %zu bytes", what, bytes);
}

cli_exit array_new(const cli_args *a, io_array *out, pe_dtype type, int rank, const int64_t *shape)
{
    *out = (io_array){ .type = io_type_of(type), .rank = rank };
    for (int i = 0; i < rank; i++)
        out->shape[i] = shape[i];
    if (!io_shape_count(&out->count, shape, rank))
        return cli_fail(a, CLI_SYSTEM, "the result would take more than 2^63 elements; use a smaller -n");
    return array_memory(a, &out->data, "the result", out->count, pe_dtype_size(type));
}

bool array_type(const io_array *a, pe_dtype *out)
{
    for (int t = 0; t < FLOAT_COUNT; t++)
        if (io_type_of((pe_dtype)t) == a->type) {
            *out = (pe_dtype)t;
            return true;
        }
    return false;
}

const char *array_type_name(pe_dtype type)
{
    static const char *const name[FLOAT_COUNT] = {
        [PE_F32] = "float32", [PE_F16] = "float16", [PE_BF16] = "bfloat16", [PE_F64] = "float64"
    };
    return name[type];
}

void array_shape(char out[160], const io_array *a)
{
    int n = snprintf(out, 160, "(");
    for (int i = 0; i < a->rank && n < 130; i++)
        n += snprintf(out + n, 160 - (size_t)n, "%s%" PRId64, i ? ", " : "", a->shape[i]);
    snprintf(out + n, 160 - (size_t)n, a->rank == 1 ? ",)" : ")");
}

/* "7", or "0,7" with several axes. */
static void print_position(FILE *to, const pe_positions *p, int64_t token, int width)
{
    char text[200] = "";
    size_t n = 0;
    for (int64_t x = 0; x < p->axes && n < 160; x++)
        if (p->data && p->dtype == PE_F64)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%g", x ? "," : "", io_position_real(*p, token, x));
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRId64, x ? "," : "", io_position(*p, token, x));
    fprintf(to, "%*s", width, text);
}

/* Whole numbers of few digits, such as bits, take less room; so more columns are shown. */
static int column_width(const io_array *a, pe_dtype type, const array_block *b, int64_t rows)
{
    int width = 4;
    int64_t columns = b->columns < PREVIEW_ROOM / 4 ? b->columns : PREVIEW_ROOM / 4;
    for (int64_t n = 0; !b->column_at && n < rows * columns; n++) {
        char text[40];
        int length = snprintf(text, sizeof text, "%.4g",
                              num_load(a->data, type, b->first + n / columns * b->columns + n % columns));
        if (strchr(text, '.') || strchr(text, 'e'))
            return PREVIEW_WIDTH;
        width = length + 2 > width ? length + 2 : width;
    }
    return b->column_at ? PREVIEW_WIDTH : width;
}

static void print_block(FILE *to, const io_array *a, pe_dtype type, const array_block *b, int64_t rows, int64_t columns,
                        int width)
{
    const char *more = columns < b->columns ? "  ..." : "";
    fprintf(to, "%10s", "position");
    for (int64_t c = 0; c < columns; c++)
        if (b->column_at)
            print_position(to, b->column_at, c, width);
        else
            fprintf(to, "%*" PRId64, width, c);
    fprintf(to, "%s\n", more);
    for (int64_t r = 0; r < rows; r++) {
        print_position(to, b->row_at, r, 10);
        for (int64_t c = 0; c < columns; c++)
            fprintf(to, "%*.4g", width, num_load(a->data, type, b->first + r * b->columns + c));
        fprintf(to, "%s\n", more);
    }
    if (rows < b->rows)
        fprintf(to, "%10s\n", "...");
}

void array_preview(result *out, const io_array *a, pe_dtype type, array_block b)
{
    int64_t rows = b.rows < ARRAY_PREVIEW_ROWS ? b.rows : ARRAY_PREVIEW_ROWS;
    int width = column_width(a, type, &b, rows);
    int64_t fit = PREVIEW_ROOM / width, columns = b.columns < fit ? b.columns : fit;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to)
        print_block(to, a, type, &b, rows, columns, width);
    result_code(out, NULL, to && !fclose(to) ? text : "(no memory for the numbers)");
    free(text);
    if (rows < b.rows || columns < b.columns)
        result_say(out, NULL, "",
                   "(%" PRId64 " of %" PRId64 " rows, %" PRId64 " of %" PRId64
                   " columns; -o FILE or --json gives all of them)",
                   rows, b.rows, columns, b.columns);
}

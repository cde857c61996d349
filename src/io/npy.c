/* SPDX-License-Identifier: MIT
 *
 * Reads .npy 1.0, 2.0, 3.0 (numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
 *     \x93NUMPY major minor length {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n elements
 * The header is a Python literal; NumPy evaluates it, this file has a grammar of its own for the three keys.
 */
#include "checked.h"

#include "scan.h"
#include "types.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define PREFIX_MAX 12    /* magic, version, length */
#define HEADER_CAP 10000 /* NumPy's own limit; eight dimensions need 250 */

typedef struct reader {
    io_scan scan;
    io_array *out;
    unsigned flags;
    bool fortran;
} reader;

/* A Python string without escapes, in either quote. */
static bool take_quoted(io_scan *s, const char **text, size_t *length)
{
    char quote = io_scan_char(s, '\'') ? '\'' : '"';
    if (quote == '"' && !io_scan_char(s, '"'))
        return false;
    char *first = s->at;
    while (s->at < s->end && *s->at != quote && *s->at != '\\' && *s->at != '\n')
        s->at++;
    *text = first;
    *length = (size_t)(s->at - first);
    return s->at < s->end && *s->at++ == quote;
}

static pe_status refuse_descr(const reader *r, const char *descr, int length)
{
    const char *fix = "needs one of '<f4', '<f2', '<f8', '<i8', '<i4', '|u1', '|b1' and the like";
    if (memchr(descr, 'O', (size_t)length))
        fix = "pickled objects can run code and are refused; save an array of numbers";
    else if (length > 0 && descr[0] == '>')
        fix = "it is big-endian; save a.astype(a.dtype.newbyteorder('<'))";
    else if (length == 3 && memcmp(descr + 1, "V2", 2) == 0)
        fix = "if it is bfloat16, say so";
    return io_fail(r->scan.err, PE_ERR_DTYPE, "%s: descr is '%.*s'; %s", r->scan.name, length < 40 ? length : 40, descr,
                   fix);
}

static pe_status read_descr(reader *r)
{
    const char *descr;
    size_t length;
    if (io_scan_char(&r->scan, '['))
        return io_fail(r->scan.err, PE_ERR_DTYPE, "%s: has fields (a structured dtype); save one field", r->scan.name);
    if (!take_quoted(&r->scan, &descr, &length))
        return io_scan_fail(&r->scan, "a quoted dtype, as '<f4'");
    bool v2 = length == 3 && (memcmp(descr, "<V2", 3) == 0 || memcmp(descr, "|V2", 3) == 0);
    if (v2 && r->flags & IO_NPY_BF16)
        r->out->type = IO_BF16;
    else if (!io_type_by_npy(&r->out->type, descr, length))
        return refuse_descr(r, descr, (int)length); /* fits: HEADER_CAP */
    else if (r->out->type == IO_U16 && r->flags & IO_NPY_BF16)
        r->out->type = IO_BF16;
    return PE_OK;
}

static pe_status read_order(reader *r)
{
    r->fortran = io_scan_word(&r->scan, "True");
    return r->fortran || io_scan_word(&r->scan, "False") ? PE_OK : io_scan_fail(&r->scan, "True or False");
}

/* (), (3,), (3, 4), (3, 4,); not (3), which Python takes for a number. */
static pe_status read_shape(reader *r)
{
    io_scan *s = &r->scan;
    io_array *a = r->out;
    bool comma = true;
    if (!io_scan_char(s, '('))
        return io_scan_fail(s, "the shape in parentheses, as (3, 4)");
    while (!io_scan_char(s, ')')) {
        if (!comma)
            return io_scan_fail(s, "a comma or ) in the shape");
        if (a->rank == IO_RANK_MAX)
            return io_fail(s->err, PE_ERR_SHAPE, "%s: has more than %d dimensions", s->name, IO_RANK_MAX);
        if (!io_scan_count(s, &a->shape[a->rank]))
            return io_scan_fail(s, "a size from 0 to 2^63 - 1");
        a->rank++;
        comma = io_scan_char(s, ',');
    }
    return a->rank == 1 && !comma ? io_scan_fail(s, "a comma after a single size, as (3,)") : PE_OK;
}

static const struct {
    const char *name;
    pe_status (*read)(reader *);
} keys[] = { { "descr", read_descr }, { "fortran_order", read_order }, { "shape", read_shape } };
#define KEYS (sizeof keys / sizeof keys[0])

static pe_status read_entry(reader *r, unsigned *seen)
{
    const char *name;
    size_t length, k = 0;
    if (!take_quoted(&r->scan, &name, &length))
        return io_scan_fail(&r->scan, "a quoted key");
    while (k < KEYS && (strlen(keys[k].name) != length || memcmp(keys[k].name, name, length) != 0))
        k++;
    if (k == KEYS)
        return io_scan_fail(&r->scan, "no keys but descr, fortran_order and shape");
    if (*seen & 1u << k)
        return io_fail(r->scan.err, PE_ERR_FORMAT, "%s: key '%s' comes twice", r->scan.name, keys[k].name);
    *seen |= 1u << k;
    return io_scan_char(&r->scan, ':') ? keys[k].read(r) : io_scan_fail(&r->scan, "a colon after the key");
}

static pe_status read_dict(reader *r)
{
    io_scan *s = &r->scan;
    unsigned seen = 0;
    bool comma = true;
    if (s->at == s->end || s->end[-1] != '\n')
        return io_fail(s->err, PE_ERR_FORMAT, "%s: header does not end with a new line", s->name);
    if (!io_scan_char(s, '{'))
        return io_scan_fail(s, "{");
    while (!io_scan_char(s, '}')) {
        pe_status e = comma ? read_entry(r, &seen) : io_scan_fail(s, "a comma or }");
        if (e != PE_OK)
            return e;
        comma = io_scan_char(s, ',');
    }
    if (seen != (1u << KEYS) - 1)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: header lacks descr, fortran_order or shape", s->name);
    if (!io_scan_end(s))
        return io_scan_fail(s, "nothing after }");
    if (r->fortran && r->out->rank > 1)
        return io_fail(s->err, PE_ERR_FORMAT, "%s: is in Fortran order; save np.ascontiguousarray(a)", s->name);
    return PE_OK;
}

static pe_status find_header(size_t *begin, size_t *end, const io_bytes *file, pe_error *err)
{
    const uint8_t *p = file->data;
    if (file->size < 10 || memcmp(p, MAGIC, 6) != 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: is not a .npy file: it does not begin with \\x93NUMPY", file->name);
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: is .npy version %d.%d; needs 1.0, 2.0 or 3.0", file->name, p[6], p[7]);
    *begin = p[6] == 1 ? 10 : 12;
    if (file->size < *begin)
        return io_fail(err, PE_ERR_FORMAT, "%s: ends inside the header", file->name);
    size_t length = p[8] | (size_t)p[9] << 8;
    if (p[6] > 1)
        length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > HEADER_CAP)
        return io_fail(err, PE_ERR_FORMAT, "%s: header of %zu bytes; at most %d", file->name, length, HEADER_CAP);
    if (!io_add(end, *begin, length) || *end > file->size)
        return io_fail(err, PE_ERR_FORMAT, "%s: ends inside the header", file->name);
    return PE_OK;
}

/* left: what the file holds after its header. */
static pe_status check_size(io_array *a, size_t *bytes, uint64_t left, const char *name, pe_error *err)
{
    if (!io_shape_count(&a->count, a->shape, a->rank) || !io_byte_count(bytes, a->count, io_type_size(a->type)))
        return io_fail(err, PE_ERR_OVERFLOW, "%s: the product of its shape does not fit %d bits", name, IO_SIZE_BITS);
    if (*bytes != left)
        return io_fail(err, PE_ERR_FORMAT, "%s: shape and dtype ask for %zu bytes, the file holds %llu", name, *bytes,
                       (unsigned long long)left);
    return PE_OK;
}

/* head: the file, or its beginning as far as a header may reach. */
static pe_status read_header(io_array *out, size_t *end, const io_bytes *head, unsigned flags, pe_error *err)
{
    size_t begin = 0;
    pe_status s = find_header(&begin, end, head, err);
    if (s != PE_OK)
        return s;
    reader r = { .scan = io_scan_of(head->data + begin, *end - begin, head->name, err), .out = out, .flags = flags };
    return read_dict(&r);
}

static pe_status copy_elements(io_array *a, const io_bytes *file, size_t begin, pe_error *err)
{
    size_t bytes;
    pe_status s = check_size(a, &bytes, file->size - begin, file->name, err);
    if (s != PE_OK)
        return s;
    a->data = malloc(bytes ? bytes : 1);
    if (!a->data)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", file->name, bytes);
    memcpy(a->data, file->data + begin, bytes);
    return PE_OK;
}

pe_status io_npy_parse(io_array *out, const io_bytes *file, unsigned flags, pe_error *err)
{
    *out = (io_array){ 0 };
    size_t end = 0;
    pe_status s = read_header(out, &end, file, flags, err);
    if (s == PE_OK)
        s = copy_elements(out, file, end, err);
    if (s != PE_OK)
        io_array_free(out);
    return s;
}

pe_status io_npy_open(io_array *out, uint64_t *begin, const io_file *f, unsigned flags, pe_error *err)
{
    uint8_t start[PREFIX_MAX + HEADER_CAP];
    io_bytes head = { start, f->size < sizeof start ? (size_t)f->size : sizeof start, f->name };
    size_t end = 0, bytes;
    *out = (io_array){ 0 };
    *begin = 0;
    pe_status s = io_file_read(start, f, 0, head.size, err);
    if (s == PE_OK)
        s = read_header(out, &end, &head, flags, err);
    if (s == PE_OK)
        s = check_size(out, &bytes, f->size - end, f->name, err);
    if (s == PE_OK)
        *begin = end;
    else
        *out = (io_array){ 0 };
    return s;
}

pe_status io_npy_load(io_array *out, const char *path, unsigned flags, pe_error *err)
{
    *out = (io_array){ 0 };
    io_bytes file;
    pe_status s = io_read_file(&file, path, IO_CAP_DATA, err);
    if (s == PE_OK)
        s = io_npy_parse(out, &file, flags, err);
    io_bytes_free(&file);
    return s;
}

void io_array_free(io_array *a)
{
    free(a->data);
    *a = (io_array){ 0 };
}

/* ---------------------------------------------------------------- write */

/* Writes .npy 1.0, the same bytes as numpy.save. */

#define PREFIX 10 /* magic, version, length */
#define ALIGN 64  /* elements start at a multiple of this */
#define GROWTH 21 /* NumPy leaves room for the first size to grow to 2^64 in place */

static int append_header(char *text, int at, const char *fmt, ...) IO_PRINTF(3, 4);
static int append_header(char *text, int at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text + at, IO_NPY_HEADER_MAX - (size_t)at, fmt, args);
    va_end(args);
    return at + n; /* eight sizes of 19 digits are far from the end */
}

static int append_dict(char *text, int at, const io_array *a, const char *descr)
{
    at = append_header(text, at, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    int first = 0;
    for (int i = 0; i < a->rank; i++) {
        int before = at;
        at = append_header(text, at, "%s%lld", i ? ", " : "", (long long)a->shape[i]);
        if (i == 0)
            first = at - before;
    }
    at = append_header(text, at, "%s), }", a->rank == 1 ? "," : "");
    return a->rank ? append_header(text, at, "%*s", GROWTH - first, "") : at;
}

pe_status io_npy_header(char header[IO_NPY_HEADER_MAX], size_t *size, const io_array *a, pe_error *err)
{
    *size = 0;
    int64_t count;
    const io_type_row *row = io_type_get(a->type == IO_BF16 ? IO_U16 : a->type);
    if (!row || !row->npy[0])
        return io_fail(err, PE_ERR_DTYPE, "npy: has no type for %s", io_type_name(a->type));
    if (a->rank < 0 || a->rank > IO_RANK_MAX)
        return io_fail(err, PE_ERR_SHAPE, "npy: rank is %d; needs 0 to %d", a->rank, IO_RANK_MAX);
    if (!io_shape_count(&count, a->shape, a->rank))
        return io_fail(err, PE_ERR_OVERFLOW, "npy: a size is negative or their product does not fit 64 bits");
    if (count != a->count)
        return io_fail(err, PE_ERR_SHAPE, "npy: count is %lld; the shape makes %lld", (long long)a->count,
                       (long long)count);
    int at = append_dict(header, PREFIX, a, row->npy);
    int end = ((at + 1) / ALIGN + 1) * ALIGN; /* a whole ALIGN where none is needed: NumPy's way */
    int length = end - PREFIX;
    memset(header + at, ' ', (size_t)(end - at));
    header[end - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(length & 0xFF);
    header[9] = (char)(length >> 8);
    *size = (size_t)end;
    return PE_OK;
}

pe_status io_npy_save(const char *path, const io_array *a, pe_error *err)
{
    char header[IO_NPY_HEADER_MAX];
    size_t size, bytes;
    pe_status s = io_npy_header(header, &size, a, err);
    if (s != PE_OK)
        return s;
    if (!io_byte_count(&bytes, a->count, io_type_size(a->type)))
        return io_fail(err, PE_ERR_OVERFLOW, "npy: %lld elements do not fit", (long long)a->count);
    if (bytes && !a->data)
        return io_fail(err, PE_ERR_NULL, "npy: data is NULL; the shape makes %zu bytes", bytes);
    io_span parts[] = { { header, size }, { a->data, bytes } };
    return io_write_file(path, parts, 2, err);
}

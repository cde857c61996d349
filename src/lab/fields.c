/* SPDX-License-Identifier: MIT */
#include "lab/fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static size_t size_of(const field *f)
{
    static const size_t size[] = {
        [FIELD_TEXT] = 1,
        [FIELD_INT] = sizeof(int64_t),
        [FIELD_COUNT] = sizeof(int),
        [FIELD_SEED] = sizeof(uint64_t),
        [FIELD_HEX] = sizeof(uint64_t),
        [FIELD_REAL] = sizeof(double),
        [FIELD_BOOL] = sizeof(bool),
    };
    return size[f->kind];
}

/* ---------------------------------------------------------------- writing */

static void write_one(json_out *j, const char *key, const field *f, const char *at)
{
    char hex[24];
    switch (f->kind) {
    case FIELD_TEXT: out_text(j, key, at); break;
    case FIELD_INT:
    case FIELD_SEED: out_int(j, key, *(const int64_t *)(const void *)at); break;
    case FIELD_COUNT: out_int(j, key, *(const int *)(const void *)at); break;
    case FIELD_HEX:
        snprintf(hex, sizeof hex, "%016" PRIx64, *(const uint64_t *)(const void *)at);
        out_text(j, key, hex);
        break;
    case FIELD_REAL: out_real(j, key, *(const double *)(const void *)at); break;
    case FIELD_BOOL: out_bool(j, key, *(const bool *)(const void *)at); break;
    }
}

static int elements_of(const field *f, const char *from)
{
    return f->count_at ? *(const int *)(const void *)(from + f->count_at) : f->elements;
}

void fields_write(json_out *j, const field *f, int count, const void *from)
{
    for (int i = 0; i < count; i++, f++) {
        const char *at = (const char *)from + f->at;
        if (!f->elements) {
            write_one(j, f->name, f, at);
            continue;
        }
        out_open(j, f->name, '-');
        for (int n = 0; n < elements_of(f, from); n++)
            write_one(j, NULL, f, at + (size_t)n * size_of(f));
        out_close(j, '-');
    }
}

/* ---------------------------------------------------------------- reading */

static pe_status read_text(char *to, const field *f, const io_node *at, pe_error *err)
{
    const char *text;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&text, at, NULL, IO_REQUIRED, err);
    if (s)
        return s;
    size_t length = strlen(text);
    if (length >= f->room)
        return io_fail(err, PE_ERR_FORMAT, "%s has %zu bytes; needs at most %zu", io_json_place(place, at), length,
                       f->room - 1);
    memcpy(to, text, length);
    to[length] = 0;
    return PE_OK;
}

static pe_status read_hex(uint64_t *to, const io_node *at, pe_error *err)
{
    const char *text;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&text, at, NULL, IO_REQUIRED, err);
    if (s)
        return s;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16 || sscanf(text, "%" SCNx64, to) != 1)
        return io_fail(err, PE_ERR_FORMAT, "%s is %s; needs 16 hexadecimal digits", io_json_place(place, at), text);
    return PE_OK;
}

static pe_status read_number(void *to, const field *f, const io_node *at, pe_error *err)
{
    int64_t n = 0;
    pe_status s = io_json_int(&n, at, NULL, IO_REQUIRED, (io_int_range){ f->min, f->max }, err);
    if (f->kind == FIELD_COUNT)
        *(int *)to = (int)n; /* fits: the table's range */
    else
        *(int64_t *)to = n; /* uint64_t too */
    return s;
}

static pe_status read_one(void *to, const field *f, const io_node *at, pe_error *err)
{
    switch (f->kind) {
    case FIELD_TEXT: return read_text(to, f, at, err);
    case FIELD_INT:
    case FIELD_SEED:
    case FIELD_COUNT: return read_number(to, f, at, err);
    case FIELD_HEX: return read_hex(to, at, err);
    case FIELD_BOOL: return io_json_bool(to, at, NULL, IO_REQUIRED, err);
    case FIELD_REAL: break;
    }
    *(double *)to = (double)NAN;
    return io_json_kind_of(at) == IO_JSON_NULL ? PE_OK : io_json_real(to, at, NULL, IO_REQUIRED, err);
}

static pe_status read_list(char *to, const field *f, const io_node *list, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    int n = 0;
    pe_status s = PE_OK;
    for (io_node child = { 0 }; !s && n <= f->elements && io_json_next(&child, list); n++)
        if (n < f->elements)
            s = read_one(to + f->at + (size_t)n * size_of(f), f, &child, err);
    if (s)
        return s;
    if (n > f->elements || (!f->count_at && n < f->elements))
        return io_fail(err, PE_ERR_FORMAT, "%s has %zu elements; needs %s%d", io_json_place(place, list),
                       io_json_size(list), f->count_at ? "at most " : "", f->elements);
    if (f->count_at)
        *(int *)(void *)(to + f->count_at) = n;
    return PE_OK;
}

pe_status fields_read(void *to, const field *f, int count, const io_node *at, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < count && !s; i++, f++) {
        io_node child;
        char place[IO_JSON_PLACE_MAX];
        if (!io_json_get(&child, at, f->name))
            return io_fail(err, PE_ERR_FORMAT, "%s has no %s", io_json_place(place, at), f->name);
        if (f->elements && io_json_kind_of(&child) != IO_JSON_ARRAY)
            return io_fail(err, PE_ERR_FORMAT, "%s is no array", io_json_place(place, &child));
        s = f->elements ? read_list(to, f, &child, err) : read_one((char *)to + f->at, f, &child, err);
    }
    return s;
}

/* ---------------------------------------------------------------- comparing */

static void show_field(char *out, size_t cap, const field *f, const char *at)
{
    char real[40];
    switch (f->kind) {
    case FIELD_TEXT: snprintf(out, cap, "%s", at); break;
    case FIELD_INT:
    case FIELD_SEED: snprintf(out, cap, "%" PRId64, *(const int64_t *)(const void *)at); break;
    case FIELD_COUNT: snprintf(out, cap, "%d", *(const int *)(const void *)at); break;
    case FIELD_HEX: snprintf(out, cap, "%016" PRIx64, *(const uint64_t *)(const void *)at); break;
    case FIELD_BOOL: snprintf(out, cap, "%s", *(const bool *)(const void *)at ? "true" : "false"); break;
    case FIELD_REAL:
        io_print_real(real, sizeof real, *(const double *)(const void *)at);
        snprintf(out, cap, "%s", real);
        break;
    }
}

const field *fields_differ(const field *f, int count, const void *first, const void *second, char *a, char *b,
                           size_t cap)
{
    for (int i = 0; i < count; i++, f++) {
        if (!f->agree)
            continue;
        show_field(a, cap, f, (const char *)first + f->at);
        show_field(b, cap, f, (const char *)second + f->at);
        if (strcmp(a, b))
            return f;
    }
    return NULL;
}

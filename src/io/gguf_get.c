/* SPDX-License-Identifier: MIT
 *
 * Typed getters of GGUF metadata. None converts: a type that was not asked for is an error that names it.
 */
#include "gguf.h"
#include "scan.h"
#include "types.h"

#include <math.h>
#include <stdio.h>

static void decode(io_gguf_value *out, const io_gguf *g, const char *key)
{
    const uint8_t *at = (const uint8_t *)key + io_gguf_length(key) + 1;
    *out = (io_gguf_value){ g, key, (io_gguf_type)io_gguf_u32(at), false, 1, at + 4 };
    if (out->type == IO_GGUF_ARRAY)
        *out = (io_gguf_value){ g, key, (io_gguf_type)io_gguf_u32(at + 4), true, (size_t)io_gguf_u64(at + 8), at + 16 };
}

bool io_gguf_find(io_gguf_value *out, const io_gguf *g, const char *key)
{
    const char *found = io_gguf_search(g->keys, g->key_count, key);
    *out = (io_gguf_value){ .file = g };
    if (found)
        decode(out, g, found);
    return found != NULL;
}

static pe_status refuse_kind(pe_error *err, const io_gguf_value *v, io_gguf_kind wanted)
{
    static const char *const names[] = { [IO_GGUF_WHOLE] = "a whole number (u8 to i64)",
                                         [IO_GGUF_REAL] = "a real number (f32, f64)",
                                         [IO_GGUF_TRUTH] = "a bool",
                                         [IO_GGUF_TEXT] = "a string",
                                         [IO_GGUF_LIST] = "an array" };
    return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s%s; needs %s", v->file->name, v->key,
                   v->array ? "an array of " : "", io_gguf_type_name(v->type), names[wanted]);
}

/* "FILE: KEY is ...", "FILE: KEY[3] is ..." */
static pe_status refuse_value(pe_error *err, pe_status s, const io_gguf_value *v, size_t index, const char *what)
{
    char place[32] = "";
    if (v->array)
        snprintf(place, sizeof place, "[%zu]", index);
    return io_fail(err, s, "%s: %s%s %s", v->file->name, v->key, place, what);
}

/* One value, or an array where that is wanted. out->at is NULL where the key is absent and may be. */
static pe_status find_value(io_gguf_value *out, const io_gguf *g, const char *key, io_need need, io_gguf_kind wanted,
                            pe_error *err)
{
    if (io_gguf_find(out, g, key))
        return out->array == (wanted == IO_GGUF_LIST) ? PE_OK : refuse_kind(err, out, wanted);
    return need == IO_OPTIONAL ? PE_OK : io_fail(err, PE_ERR_FORMAT, "%s: %s is missing", g->name, key);
}

/* The place of an element. */
static pe_status find_element(const uint8_t **at, const io_type_row **row, const io_gguf_value *v, size_t index,
                              io_gguf_kind wanted, pe_error *err)
{
    if (index >= v->count)
        return v->at ? refuse_value(err, PE_ERR_RANGE, v, index, "is past the end of the array")
                     : io_fail(err, PE_ERR_RANGE, "an array that is missing has no element %zu", index);
    const io_gguf_value_row *type = io_gguf_value_type((uint32_t)v->type);
    if (type->kind != wanted)
        return refuse_kind(err, v, wanted);
    *at = v->at + index * type->size; /* index < count, and count x size lies in the file */
    *row = io_type_get(type->type);
    return PE_OK;
}

pe_status io_gguf_list_int(int64_t *out, const io_gguf_list *list, size_t index, io_int_range range, pe_error *err)
{
    const uint8_t *at;
    const io_type_row *row;
    int64_t v;
    char what[100];
    pe_status s = find_element(&at, &row, list, index, IO_GGUF_WHOLE, err);
    if (s != PE_OK)
        return s;
    bool fits = row->integer(&v, at);
    if (fits && v >= range.min && v <= range.max) {
        *out = v;
        return PE_OK;
    }
    int used = fits ? snprintf(what, sizeof what, "is %lld", (long long)v)
                    : snprintf(what, sizeof what, "is %llu", (unsigned long long)io_gguf_u64(at));
    snprintf(what + used, sizeof what - (size_t)used, "; needs %lld to %lld", (long long)range.min,
             (long long)range.max);
    return refuse_value(err, PE_ERR_RANGE, list, index, what);
}

pe_status io_gguf_list_real(double *out, const io_gguf_list *list, size_t index, pe_error *err)
{
    const uint8_t *at;
    const io_type_row *row;
    pe_status s = find_element(&at, &row, list, index, IO_GGUF_REAL, err);
    if (s != PE_OK)
        return s;
    double v = row->real(at);
    if (!isfinite(v))
        return refuse_value(err, PE_ERR_RANGE, list, index, isnan(v) ? "is NaN; needs a number" : "is infinite");
    *out = v;
    return PE_OK;
}

pe_status io_gguf_list_bool(bool *out, const io_gguf_list *list, size_t index, pe_error *err)
{
    const uint8_t *at;
    const io_type_row *row;
    pe_status s = find_element(&at, &row, list, index, IO_GGUF_TRUTH, err);
    if (s == PE_OK)
        *out = *at != 0;
    return s;
}

static bool is_text(const char *text, const char *end)
{
    size_t length = 1;
    for (; text < end && length; text += length)
        length = *text ? io_utf8_length(text, end) : 0;
    return length != 0;
}

pe_status io_gguf_list_string(const char **out, const io_gguf_list *list, size_t index, pe_error *err)
{
    const uint8_t *at;
    const io_type_row *row;
    pe_status s = find_element(&at, &row, list, index, IO_GGUF_TEXT, err);
    if (s != PE_OK)
        return s;
    const char *text = (const char *)at + 7; /* see gguf.h */
    for (size_t i = 0; i < index; i++)
        text += io_gguf_length(text) + 8;
    if (!is_text(text, text + io_gguf_length(text)))
        return refuse_value(err, PE_ERR_FORMAT, list, index, "is not UTF-8 or holds a zero byte");
    *out = text;
    return PE_OK;
}

pe_status io_gguf_int(int64_t *out, const io_gguf *g, const char *key, io_need need, io_int_range range, pe_error *err)
{
    io_gguf_value v;
    pe_status s = find_value(&v, g, key, need, IO_GGUF_WHOLE, err);
    return s == PE_OK && v.at ? io_gguf_list_int(out, &v, 0, range, err) : s;
}

pe_status io_gguf_real(double *out, const io_gguf *g, const char *key, io_need need, pe_error *err)
{
    io_gguf_value v;
    pe_status s = find_value(&v, g, key, need, IO_GGUF_REAL, err);
    return s == PE_OK && v.at ? io_gguf_list_real(out, &v, 0, err) : s;
}

pe_status io_gguf_bool(bool *out, const io_gguf *g, const char *key, io_need need, pe_error *err)
{
    io_gguf_value v;
    pe_status s = find_value(&v, g, key, need, IO_GGUF_TRUTH, err);
    return s == PE_OK && v.at ? io_gguf_list_bool(out, &v, 0, err) : s;
}

pe_status io_gguf_string(const char **out, const io_gguf *g, const char *key, io_need need, pe_error *err)
{
    io_gguf_value v;
    pe_status s = find_value(&v, g, key, need, IO_GGUF_TEXT, err);
    return s == PE_OK && v.at ? io_gguf_list_string(out, &v, 0, err) : s;
}

pe_status io_gguf_array(io_gguf_list *out, const io_gguf *g, const char *key, io_need need, pe_error *err)
{
    pe_status s = find_value(out, g, key, need, IO_GGUF_LIST, err);
    if (s != PE_OK)
        *out = (io_gguf_list){ .file = g };
    return s;
}

/* SPDX-License-Identifier: MIT
 *
 * Writes what comes before the data, as the reference does: compact JSON, __metadata__ first, spaces up to a multiple
 * of 8. Done twice, the first time only to count.
 */
#include "checked.h"
#include "safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *at; /* NULL: counting */
    size_t size;
} text;

static void put(text *t, const char *from, size_t size)
{
    if (t->at)
        memcpy(t->at + t->size, from, size);
    t->size += size; /* names and values are in memory, so six bytes for each fit size_t */
}

static void put_text(text *t, const char *from)
{
    put(t, from, strlen(from));
}

/* The reader took well-formed UTF-8 only, so that quotes, backslashes and controls are all there is to escape. */
static void put_string(text *t, const char *from)
{
    put(t, "\"", 1);
    for (const char *c = from; *c; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\')
            snprintf(escape, sizeof escape, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c);
        else
            snprintf(escape, sizeof escape, "%c", *c);
        put_text(t, escape);
    }
    put(t, "\"", 1);
}

static void put_number(text *t, const char *before, uint64_t n)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%s%" PRIu64, before, n);
    put_text(t, digits);
}

static void put_meta(text *t, const io_layout *l)
{
    put_text(t, "\"__metadata__\":{");
    for (size_t i = 0; i < l->pairs; i++) {
        put_text(t, i ? "," : "");
        put_string(t, l->meta[i].key);
        put_text(t, ":");
        put_string(t, l->meta[i].value);
    }
    put_text(t, "}");
}

static void put_tensor(text *t, const io_tensor *x, uint64_t data_at)
{
    put_text(t, ",");
    put_string(t, x->name);
    put_text(t, ":{\"dtype\":\"");
    put_text(t, io_type_name(x->type));
    put_text(t, "\",\"shape\":[");
    for (int i = 0; i < x->rank; i++)
        put_number(t, i ? "," : "", (uint64_t)x->shape[i]);
    put_number(t, "],\"data_offsets\":[", x->offset - data_at);
    put_number(t, ",", x->offset - data_at + x->size);
    put_text(t, "]}");
}

static void put_header(text *t, const io_layout *l)
{
    put_text(t, "{");
    put_meta(t, l);
    for (size_t i = 0; i < l->count; i++)
        put_tensor(t, l->tensors[i], l->data_at);
    put_text(t, "}");
    put(t, "       ", (8 - t->size % 8) % 8);
}

static void put_length(uint8_t to[8], size_t length)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)((uint64_t)length >> 8 * i);
}

pe_status io_safetensors_head_of(io_bytes *out, const io_layout *l, pe_error *err)
{
    text count = { 0 };
    size_t room;
    *out = (io_bytes){ 0 };
    put_header(&count, l);
    if (count.size > IO_SAFETENSORS_HEADER_CAP)
        return io_fail(err, PE_ERR_RANGE, "the header would have %zu bytes; %u are allowed", count.size,
                       IO_SAFETENSORS_HEADER_CAP);
    if (!io_add(&room, count.size, 8) || !(out->data = malloc(room)))
        return io_fail(err, PE_ERR_NOMEM, "no memory for a header of %zu bytes", count.size);
    text t = { (char *)out->data + 8, 0 };
    put_header(&t, l);
    put_length(out->data, t.size);
    out->size = room;
    return PE_OK;
}

/* A new key stands where its order puts it, so that a file converted and converted back is the same file. */
static size_t with_pair(io_pair *to, const io_safetensors *st, io_pair new)
{
    size_t n = 0;
    bool done = false;
    for (size_t i = 0; i < st->meta_count; i++) {
        int order = strcmp(st->meta[i].key, new.key);
        if (order >= 0 && !done)
            to[n++] = new;
        done |= order >= 0;
        if (order)
            to[n++] = st->meta[i];
    }
    if (!done)
        to[n++] = new;
    return n;
}

pe_status io_safetensors_head(io_bytes *out, const io_safetensors *st, const char *key, const char *value,
                              pe_error *err)
{
    const io_tensor **order;
    size_t room, bytes;
    *out = (io_bytes){ 0 };
    pe_status s = io_safetensors_order(&order, st, err);
    if (s != PE_OK)
        return s;
    io_pair *meta = io_add(&room, st->meta_count, 1) && io_mul(&bytes, room, sizeof *meta) ? malloc(bytes) : NULL;
    if (meta) {
        size_t pairs = with_pair(meta, st, (io_pair){ key, value });
        s = io_safetensors_head_of(out, &(io_layout){ meta, pairs, order, st->count, st->data_at }, err);
    } else {
        s = io_fail(err, PE_ERR_NOMEM, "no memory for a header of %zu tensors", st->count);
    }
    free(meta);
    free(order);
    return s;
}

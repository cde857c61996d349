/* SPDX-License-Identifier: MIT
 *
 * Writes what comes before the data, as the reference does: compact JSON, __metadata__ first, spaces up to a multiple
 * of 8. Done twice, the first time only to count.
 */
#include "checked.h"

#include "json_out.h"
#include "safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct header_text {
    char *at; /* NULL: counting */
    size_t size;
} header_text;

static void header_put(header_text *t, const char *from, size_t size)
{
    if (t->at)
        memcpy(t->at + t->size, from, size);
    t->size += size; /* names and values are in memory, so six bytes for each fit size_t */
}

static void put_text(header_text *t, const char *from)
{
    header_put(t, from, strlen(from));
}

/* The reader took well-formed UTF-8 only, so that quotes, backslashes and controls are all there is to escape. */
static void put_string(header_text *t, const char *from)
{
    header_put(t, "\"", 1);
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
    header_put(t, "\"", 1);
}

static void put_number(header_text *t, const char *before, uint64_t n)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%s%" PRIu64, before, n);
    put_text(t, digits);
}

static void put_meta(header_text *t, const io_layout *l)
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

static void put_tensor(header_text *t, const io_tensor *x, uint64_t data_at)
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

static void put_header(header_text *t, const io_layout *l)
{
    put_text(t, "{");
    put_meta(t, l);
    for (size_t i = 0; i < l->count; i++)
        put_tensor(t, l->tensors[i], l->data_at);
    put_text(t, "}");
    header_put(t, "       ", (8 - t->size % 8) % 8);
}

static void put_length(uint8_t to[8], size_t length)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)((uint64_t)length >> 8 * i);
}

static pe_status io_safetensors_head_of(io_bytes *out, const io_layout *l, pe_error *err)
{
    header_text count = { 0 };
    size_t room;
    *out = (io_bytes){ 0 };
    put_header(&count, l);
    if (count.size > IO_SAFETENSORS_HEADER_CAP)
        return io_fail(err, PE_ERR_RANGE, "the header would have %zu bytes; %u are allowed", count.size,
                       IO_SAFETENSORS_HEADER_CAP);
    if (!io_add(&room, count.size, 8) || !(out->data = malloc(room)))
        return io_fail(err, PE_ERR_NOMEM, "no memory for a header of %zu bytes", count.size);
    header_text t = { (char *)out->data + 8, 0 };
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

/* ---------------------------------------------------------------- save */

/* Writes a .safetensors file that can tell whether it is whole. The seal stands at a fixed place, so that it is found
 * without trusting the header: {"__metadata__":{"size":"000000000000123456","xxh64":"0123456789abcdef", ... */

#define BEFORE "{\"__metadata__\":{\"size\":\""
#define BETWEEN "\",\"xxh64\":\""
#define SIZE_DIGITS 18
#define SUM_DIGITS 16
#define SIZE_AT (8 + sizeof BEFORE - 1)
#define SUM_AT (SIZE_AT + SIZE_DIGITS + sizeof BETWEEN - 1)
#define SEAL_END (SUM_AT + SUM_DIGITS)

static const char zeros[] = "000000000000000000";

static bool has_place(const io_bytes *b)
{
    return b->size >= SEAL_END && memcmp(b->data + 8, BEFORE, sizeof BEFORE - 1) == 0 &&
           memcmp(b->data + SIZE_AT + SIZE_DIGITS, BETWEEN, sizeof BETWEEN - 1) == 0;
}

static uint64_t sum_of(const io_bytes *head, const io_span *data, size_t count)
{
    io_hash h = io_hash_start(0);
    io_hash_add(&h, head->data, SUM_AT);
    io_hash_add(&h, zeros, SUM_DIGITS);
    io_hash_add(&h, head->data + SEAL_END, head->size - SEAL_END);
    for (size_t i = 0; i < count; i++)
        io_hash_add(&h, data[i].data, data[i].size);
    return io_hash_end(&h);
}

bool io_safetensors_seal(io_bytes *head, const io_span *data, size_t count)
{
    char digits[32];
    uint64_t size = head->size;
    if (!has_place(head))
        return false;
    for (size_t i = 0; i < count; i++)
        size += data[i].size;
    snprintf(digits, sizeof digits, "%0*" PRIu64, SIZE_DIGITS, size);
    memcpy(head->data + SIZE_AT, digits, SIZE_DIGITS);
    snprintf(digits, sizeof digits, "%0*" PRIx64, SUM_DIGITS, sum_of(head, data, count));
    memcpy(head->data + SUM_AT, digits, SUM_DIGITS);
    return true;
}

pe_status io_safetensors_check_seal(const io_bytes *file, pe_error *err)
{
    char size[SIZE_DIGITS + 1] = "", sum[SUM_DIGITS + 1] = "", digits[32];
    if (file->size < SEAL_END)
        return io_fail(err, PE_ERR_FORMAT, "%s: is cut: it has %zu bytes and should have more than %zu", file->name,
                       file->size, SEAL_END);
    if (!has_place(file))
        return io_fail(err, PE_ERR_FORMAT, "%s: does not begin with a size and a checksum", file->name);
    memcpy(size, file->data + SIZE_AT, SIZE_DIGITS);
    memcpy(sum, file->data + SUM_AT, SUM_DIGITS);
    snprintf(digits, sizeof digits, "%0*" PRIu64, SIZE_DIGITS, (uint64_t)file->size);
    if (strcmp(digits, size) != 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: is cut: it has %zu bytes and should have %s", file->name, file->size,
                       size + strspn(size, "0"));
    snprintf(digits, sizeof digits, "%0*" PRIx64, SUM_DIGITS, sum_of(file, NULL, 0));
    if (strcmp(digits, sum) != 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: was damaged: its checksum is %s and its bytes give %s", file->name, sum,
                       digits);
    return PE_OK;
}

/* ---------------------------------------------------------------- a new file */

/* The reader takes nothing else. */
static pe_status check_text(const char *text, pe_error *err)
{
    unsigned code;
    for (const char *at = text; *at;) {
        int n = out_character(at, &code);
        if (n == 0)
            return io_fail(err, PE_ERR_RANGE, "%s: is not UTF-8, which names and metadata of safetensors have to be",
                           text);
        at += n;
    }
    return PE_OK;
}

typedef struct plan {
    io_tensor *tensors; /* with count, size and offset */
    const io_tensor **order;
    io_span *data;
    io_pair *meta;
    size_t count, pairs;
} plan;

static void *room_for(size_t count, size_t size)
{
    size_t bytes;
    return io_mul(&bytes, count, size) ? malloc(bytes ? bytes : 1) : NULL;
}

static void free_plan(plan *p)
{
    free(p->tensors);
    free(p->order);
    free(p->data);
    free(p->meta);
}

static pe_status place_all(plan *p, pe_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < p->count; i++) {
        io_tensor *t = &p->tensors[i];
        if (!io_shape_count(&t->count, t->shape, t->rank) || !io_byte_count(&t->size, t->count, io_type_size(t->type)))
            return io_fail(err, PE_ERR_OVERFLOW, "the shape of %s does not fit %d bits", t->name, IO_SIZE_BITS);
        t->offset = at;
        if (!io_add(&at, at, t->size))
            return io_fail(err, PE_ERR_OVERFLOW, "the tensors up to %s do not fit 64 bits", t->name);
        p->order[i] = t;
        p->data[i] = (io_span){ t->bytes, t->size };
        pe_status s = check_text(t->name, err);
        if (s != PE_OK)
            return s;
    }
    return PE_OK;
}

static pe_status set_meta(plan *p, const io_pair *meta, pe_error *err)
{
    p->meta[0] = (io_pair){ "size", zeros };
    p->meta[1] = (io_pair){ "xxh64", zeros + SIZE_DIGITS - SUM_DIGITS };
    for (size_t i = 2; i < p->pairs; i++) {
        p->meta[i] = meta[i - 2];
        pe_status s = check_text(p->meta[i].key, err);
        if (s == PE_OK)
            s = check_text(p->meta[i].value, err);
        if (s != PE_OK)
            return s;
    }
    return PE_OK;
}

static pe_status make_plan(plan *p, const io_tensor *tensors, size_t count, const io_pair *meta, size_t pairs,
                           pe_error *err)
{
    *p = (plan){ .count = count };
    p->tensors = room_for(count, sizeof *p->tensors);
    p->order = room_for(count, sizeof *p->order);
    p->data = room_for(count, sizeof *p->data);
    p->meta = io_add(&p->pairs, pairs, 2) ? room_for(p->pairs, sizeof *p->meta) : NULL;
    if (!p->tensors || !p->order || !p->data || !p->meta)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a header of %zu tensors", count);
    for (size_t i = 0; i < count; i++)
        p->tensors[i] = tensors[i];
    pe_status s = place_all(p, err);
    return s == PE_OK ? set_meta(p, meta, err) : s;
}

static pe_status put_all(const char *path, const io_bytes *head, const plan *p, pe_error *err)
{
    io_writer *w;
    pe_status s = io_writer_open(&w, path, err);
    if (s == PE_OK)
        s = io_writer_put(w, (io_span){ head->data, head->size }, err);
    for (size_t i = 0; s == PE_OK && i < p->count; i++)
        s = io_writer_put(w, p->data[i], err);
    if (s == PE_OK)
        return io_writer_commit(w, err);
    io_writer_abort(w);
    return s;
}

pe_status io_safetensors_save(const char *path, const io_tensor *tensors, size_t count, const io_pair *meta,
                              size_t pairs, pe_error *err)
{
    plan p;
    io_bytes head = { 0 };
    pe_status s = make_plan(&p, tensors, count, meta, pairs, err);
    if (s == PE_OK)
        s = io_safetensors_head_of(&head, &(io_layout){ p.meta, p.pairs, p.order, p.count, 0 }, err);
    if (s == PE_OK) {
        io_safetensors_seal(&head, p.data, p.count);
        s = put_all(path, &head, &p, err);
    }
    io_bytes_free(&head);
    free_plan(&p);
    return s;
}

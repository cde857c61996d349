/* SPDX-License-Identifier: MIT
 *
 * One case: its parameters, its tensors, what was compared and the worst of it. */
#include "conformance.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

struct golden_kept {
    golden_kept *next;
    void *memory;
    pe_encoding *encoding;
};

pe_status golden_skip(golden *c, const char *why, ...)
{
    va_list args;
    va_start(args, why);
    vsnprintf(c->skip, sizeof c->skip, why, args);
    va_end(args);
    return PE_OK;
}

pe_status golden_fail(golden *c, const char *why, ...)
{
    va_list args;
    va_start(args, why);
    vsnprintf(c->err.text, sizeof c->err.text, why, args);
    va_end(args);
    return c->err.status = PE_ERR_FORMAT;
}

/* ---------------------------------------------------------------- what a case keeps */

static bool keep(golden *c, void *memory, pe_encoding *encoding)
{
    golden_kept *k = malloc(sizeof *k);
    if (!k) {
        free(memory);
        pe_encoding_free(encoding);
        io_fail(&c->err, PE_ERR_NOMEM, "out of memory");
        return false;
    }
    *k = (golden_kept){ c->kept, memory, encoding };
    c->kept = k;
    return true;
}

void golden_free(golden *c)
{
    while (c->kept) {
        golden_kept *k = c->kept;
        c->kept = k->next;
        free(k->memory);
        pe_encoding_free(k->encoding);
        free(k);
    }
}

void *golden_alloc(golden *c, int64_t count, size_t size)
{
    void *p = count < 0 ? NULL : calloc(count ? (size_t)count : 1, size);
    if (!p)
        io_fail(&c->err, PE_ERR_NOMEM, "out of memory");
    return p && keep(c, p, NULL) ? p : NULL;
}

pe_encoding *golden_encoding(golden *c, const char *spec, pe_shape shape)
{
    pe_encoding *e = NULL;
    if (pe_encoding_new(&e, spec, shape, &c->err))
        return NULL;
    return keep(c, NULL, e) ? e : NULL;
}

/* ---------------------------------------------------------------- tensors */

bool golden_has(const golden *c, const char *field)
{
    return golden_kind(&c->tensors, field) != IO_JSON_ABSENT;
}

static pe_status find(golden *c, const char *field, golden_tensor *out, const io_tensor **t)
{
    const char *name = NULL;
    TRY(io_json_string(&name, &c->tensors, field, IO_REQUIRED, &c->err));
    *t = io_safetensors_find(c->data, name);
    if (!*t)
        return golden_fail(c, "no tensor is named %s", name);
    *out = (golden_tensor){ .rank = (*t)->rank, .count = (*t)->count };
    memcpy(out->shape, (*t)->shape, sizeof out->shape);
    return PE_OK;
}

pe_status golden_real(golden *c, const char *field, golden_tensor *out)
{
    const io_tensor *t;
    TRY(find(c, field, out, &t));
    TRY(io_tensor_to_f32(&out->real, t, &c->err));
    return keep(c, out->real, NULL) ? PE_OK : PE_ERR_NOMEM;
}

pe_status golden_whole(golden *c, const char *field, golden_tensor *out)
{
    const io_tensor *t;
    TRY(find(c, field, out, &t));
    TRY(io_tensor_to_i64(&out->whole, t, &c->err));
    return keep(c, out->whole, NULL) ? PE_OK : PE_ERR_NOMEM;
}

pe_status golden_fits(golden *c, const char *field, golden_tensor *t, int rank, int64_t a, int64_t b, int64_t d)
{
    int64_t wanted[] = { a, b, d };
    while (t->rank > rank && t->shape[0] == 1) {
        memmove(t->shape, t->shape + 1, (size_t)(t->rank - 1) * sizeof t->shape[0]);
        t->rank--;
    }
    if (t->rank != rank)
        return golden_fail(c, "%s has %d axes; needs %d", field, t->rank, rank);
    for (int n = 0; n < rank; n++) {
        if (wanted[n] >= 0 && t->shape[n] != wanted[n])
            return golden_fail(c, "%s: axis %d has %" PRId64 " elements; needs %" PRId64, field, n, t->shape[n],
                               wanted[n]);
        if (!t->shape[n])
            return golden_fail(c, "%s: axis %d is empty", field, n);
    }
    return PE_OK;
}

double golden_largest(const golden_tensor *t)
{
    double most = 0;
    for (int64_t n = 0; n < t->count; n++)
        most = fmax(most, fabs((double)t->real[n]));
    return most;
}

/* ---------------------------------------------------------------- parameters */

io_json_kind golden_kind(const io_node *at, const char *key)
{
    io_node value;
    io_json_get(&value, at, key);
    return io_json_kind_of(&value);
}

const char *golden_word(const io_node *at, const char *key)
{
    const char *word = NULL;
    if (golden_kind(at, key) == IO_JSON_STRING)
        io_json_string(&word, at, key, IO_REQUIRED, NULL);
    return word;
}

pe_status golden_size(golden *c, const char *key, io_need need, int64_t *out)
{
    return io_json_int(out, &c->meta, key, need, (io_int_range){ 1, 1 << 24 }, &c->err);
}

static bool says(const char *text, const char *word)
{
    for (size_t n = strlen(word); *text; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

bool golden_note_says(golden *c, const char *word)
{
    const char *note = golden_word(&c->meta, "note");
    return note && says(note, word);
}

bool golden_name_says(const golden *c, const char *word)
{
    return says(c->name, word);
}

/* ---------------------------------------------------------------- comparing */

void golden_compare(golden *c, double got, double want, double tolerance, const char *where, ...)
{
    double off = fabs(got - want), used = off <= 0 ? 0 : off / tolerance; /* equal is fine whatever the tolerance */
    if (isnan(off))
        used = INFINITY;
    if (c->compared++ && used <= c->worst.used)
        return;
    c->worst = (golden_worst){ .got = got, .want = want, .tolerance = tolerance, .used = used };
    va_list args;
    va_start(args, where);
    vsnprintf(c->worst.where, sizeof c->worst.where, where, args);
    va_end(args);
}

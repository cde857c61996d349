/* SPDX-License-Identifier: MIT
 *
 * The header of a model that posenc trained: metadata of a .safetensors. One table has the numbers, for both ways. */
#include "io.h"

#include "json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key;
    size_t at; /* of an int64_t in io_model */
    int64_t least, most;
} numbers[] = {
    { "vocab", offsetof(io_model, vocab), 1, 1 << 16 },       { "layers", offsetof(io_model, layers), 1, 1024 },
    { "width", offsetof(io_model, width), 1, 1 << 16 },       { "heads", offsetof(io_model, heads), 1, 1 << 16 },
    { "kv_heads", offsetof(io_model, kv_heads), 1, 1 << 16 }, { "head_dim", offsetof(io_model, head_dim), 1, 1 << 16 },
    { "hidden", offsetof(io_model, hidden), 1, 1 << 20 },     { "causal", offsetof(io_model, causal), 0, 1 },
    { "trained", offsetof(io_model, trained), 1, INT64_MAX }, { "steps", offsetof(io_model, steps), 0, INT64_MAX },
    { "seed", offsetof(io_model, seed), 0, INT64_MAX },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
_Static_assert(NUMBERS + 4 == IO_MODEL_PAIRS, "format, spec, data and embed_scale are the others");

/* ---------------------------------------------------------------- metadata of any .safetensors */

pe_status io_safetensors_text(const char **out, const io_safetensors *st, const char *key, const char *name,
                              pe_error *err)
{
    *out = io_safetensors_meta(st, key);
    return *out ? PE_OK : io_fail(err, PE_ERR_FORMAT, "%s: its metadata has no %s", name, key);
}

pe_status io_safetensors_whole(int64_t *out, const io_safetensors *st, const char *key, const char *name, pe_error *err)
{
    const char *text;
    pe_status s = io_safetensors_text(&text, st, key, name, err);
    if (s != PE_OK)
        return s;
    size_t size = strspn(text, "0123456789");
    if (size == 0 || text[size] || !io_json_whole(out, text, size))
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s; needs a whole number from 0 on", name, key, text);
    return PE_OK;
}

#define REAL_TEXT 40

pe_status io_safetensors_real(double *out, const io_safetensors *st, const char *key, const char *name, pe_error *err)
{
    const char *text;
    bool point;
    pe_status s = io_safetensors_text(&text, st, key, name, err);
    if (s != PE_OK)
        return s;
    size_t size = strlen(text);
    if (size == 0 || size > REAL_TEXT || io_json_numeral(text, text + size, &point) != size ||
        !io_json_double(out, text, size) || !isfinite(*out) || *out < 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s; needs a number from 0 on", name, key, text);
    return PE_OK;
}

/* ---------------------------------------------------------------- the header */

bool io_is_model(const io_safetensors *st)
{
    const char *format = io_safetensors_meta(st, "format");
    return format && !strncmp(format, IO_MODEL_FORMAT, strlen(IO_MODEL_FORMAT));
}

static int64_t *number_of(io_model *m, int n)
{
    return (int64_t *)(void *)((char *)m + numbers[n].at);
}

static pe_status read_header(io_model *m, const io_safetensors *st, const char *name, pe_error *err)
{
    pe_status s = PE_OK;
    for (int n = 0; s == PE_OK && n < NUMBERS; n++) {
        int64_t *to = number_of(m, n);
        s = io_safetensors_whole(to, st, numbers[n].key, name, err);
        if (s == PE_OK && (*to < numbers[n].least || *to > numbers[n].most))
            s = io_fail(err, PE_ERR_FORMAT, "%s: %s is %" PRId64 "; needs %" PRId64 " to %" PRId64, name,
                        numbers[n].key, *to, numbers[n].least, numbers[n].most);
    }
    s = s ? s : io_safetensors_real(&m->embed_scale, st, "embed_scale", name, err);
    s = s ? s : io_safetensors_text(&m->spec, st, "spec", name, err);
    return s ? s : io_safetensors_text(&m->data, st, "data", name, err);
}

pe_status io_model_read(io_model *out, const io_safetensors *st, const char *name, pe_error *err)
{
    const char *format;
    io_model m = { 0 };
    *out = m;
    pe_status s = io_safetensors_text(&format, st, "format", name, err);
    if (s == PE_OK && strcmp(format, IO_MODEL_FORMAT IO_MODEL_VERSION) != 0)
        s = io_fail(err, PE_ERR_FORMAT, "%s: its format is \"%s\"; needs \"%s\"", name, format,
                    IO_MODEL_FORMAT IO_MODEL_VERSION);
    s = s ? s : read_header(&m, st, name, err);
    if (s == PE_OK)
        *out = m;
    return s;
}

void io_model_write(io_pair meta[IO_MODEL_PAIRS], char text[IO_MODEL_PAIRS][IO_MODEL_TEXT], const io_model *m)
{
    io_model copy = *m;
    int at = 0;
    meta[at++] = (io_pair){ "format", IO_MODEL_FORMAT IO_MODEL_VERSION };
    meta[at++] = (io_pair){ "spec", m->spec };
    for (int n = 0; n < NUMBERS; n++, at++) {
        snprintf(text[at], IO_MODEL_TEXT, "%" PRId64, *number_of(&copy, n));
        meta[at] = (io_pair){ numbers[n].key, text[at] };
    }
    io_print_real(text[at], IO_MODEL_TEXT, m->embed_scale);
    meta[at] = (io_pair){ "embed_scale", text[at] };
    meta[at + 1] = (io_pair){ "data", m->data };
}

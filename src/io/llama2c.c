/* SPDX-License-Identifier: MIT
 *
 * Headers of llama2.c models (github.com/karpathy/llama2.c, export.py), little-endian:
 *     version 0   seven int32; a negative vocab_size: the classifier is not the embedding
 *     version 1   magic version:int32 seven int32 shared:u8, zeros up to 256 bytes
 *     version 2   as 1, with group_size:int32 after shared, unaligned
 * A legacy file has no magic, so its size is what tells it from anything else; the others are held to theirs as well.
 */
#include "checked.h"
#include "io.h"

#define MAGIC 0x616b3432u /* "ak42" */
#define LEGACY_SIZE 28
#define HEADER_SIZE 256
#define AFTER_NUMBERS 36 /* magic, version, seven numbers */

static uint32_t load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int64_t load_i32(const uint8_t *at)
{
    int64_t v = load_u32(at);
    return v > INT32_MAX ? v - (INT64_C(1) << 32) : v;
}

typedef struct header {
    io_llama2c *out;
    const char *name;
    pe_error *err;
} header;

static pe_status read_numbers(header *h, const uint8_t *at)
{
    io_llama2c *m = h->out;
    const struct {
        const char *name;
        int64_t *to;
    } fields[] = { { "dim", &m->dim },
                   { "hidden_dim", &m->hidden_dim },
                   { "n_layers", &m->layers },
                   { "n_heads", &m->heads },
                   { "n_kv_heads", &m->kv_heads },
                   { "vocab_size", &m->vocab_size },
                   { "max_seq_len", &m->seq_len } };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int64_t v = load_i32(at + 4 * i);
        if (m->version == 0 && fields[i].to == &m->vocab_size) {
            m->shared_classifier = v > 0;
            v = v < 0 ? -v : v;
        }
        if (v < 1)
            return io_fail(h->err, PE_ERR_FORMAT, "%s: %s is %lld; needs 1 or more", h->name, fields[i].name,
                           (long long)v);
        *fields[i].to = v;
    }
    return PE_OK;
}

static pe_status read_rest(header *h, const uint8_t *bytes)
{
    io_llama2c *m = h->out;
    size_t zeros = AFTER_NUMBERS + 1;
    if (bytes[AFTER_NUMBERS] > 1)
        return io_fail(h->err, PE_ERR_FORMAT, "%s: shared_classifier is %d; needs 0 or 1", h->name,
                       bytes[AFTER_NUMBERS]);
    m->shared_classifier = bytes[AFTER_NUMBERS] == 1;
    if (m->version == 2) {
        m->group_size = load_i32(bytes + zeros);
        zeros += 4;
        if (m->group_size < 1 || m->dim % m->group_size != 0)
            return io_fail(h->err, PE_ERR_FORMAT, "%s: group_size is %lld; needs a divisor of dim, %lld", h->name,
                           (long long)m->group_size, (long long)m->dim);
    }
    for (; zeros < HEADER_SIZE; zeros++)
        if (bytes[zeros] != 0)
            return io_fail(h->err, PE_ERR_FORMAT, "%s: byte %zu of the header is %d; needs 0", h->name, zeros,
                           bytes[zeros]);
    return PE_OK;
}

static pe_status check_heads(header *h)
{
    io_llama2c *m = h->out;
    if (m->dim % m->heads != 0 || m->dim / m->heads % 2 != 0)
        return io_fail(h->err, PE_ERR_SHAPE, "%s: dim is %lld and n_heads %lld; needs heads of one even size", h->name,
                       (long long)m->dim, (long long)m->heads);
    if (m->heads % m->kv_heads != 0)
        return io_fail(h->err, PE_ERR_SHAPE, "%s: n_kv_heads is %lld; needs a divisor of n_heads, %lld", h->name,
                       (long long)m->kv_heads, (long long)m->heads);
    m->head_size = m->dim / m->heads;
    return PE_OK;
}

/* *sum += a b c */
static bool add_product(int64_t *sum, int64_t a, int64_t b, int64_t c)
{
    int64_t v;
    return io_mul_i64(&v, a, b) && io_mul_i64(&v, v, c) && io_add_i64(sum, *sum, v);
}

static bool implied_size(int64_t *size, const io_llama2c *m)
{
    int64_t kv_dim = m->head_size * m->kv_heads; /* no more than dim */
    int64_t norms = 0, layer = 0, weights = 0;
    bool fits = add_product(&norms, 2, m->layers, m->dim) && add_product(&norms, 1, 1, m->dim) &&
                add_product(&layer, 2, m->dim, m->dim) && add_product(&layer, 2, m->dim, kv_dim) &&
                add_product(&layer, 3, m->dim, m->hidden_dim) && add_product(&weights, 1, m->layers, layer) &&
                add_product(&weights, m->shared_classifier ? 1 : 2, m->vocab_size, m->dim);
    *size = m->version == 0 ? LEGACY_SIZE : HEADER_SIZE;
    fits = fits && add_product(size, 1, 4, norms);
    if (m->version == 0) /* cos and sin of half a head each */
        fits = fits && add_product(size, 4, m->seq_len, m->head_size);
    if (m->version == 2) /* a byte for each weight, a float for each group */
        return fits && add_product(size, 1, 1, weights) && add_product(size, 1, 4, weights / m->group_size);
    return fits && add_product(size, 1, 4, weights);
}

static pe_status check_size(header *h, uint64_t file_size)
{
    int64_t implied;
    const char *hint = h->out->version ? "" : "; it may not be a llama2.c model at all";
    if (!implied_size(&implied, h->out))
        return io_fail(h->err, PE_ERR_OVERFLOW, "%s: the sizes in its header do not fit 64 bits%s", h->name, hint);
    if ((uint64_t)implied != file_size)
        return io_fail(h->err, PE_ERR_FORMAT, "%s: its header asks for %lld bytes, the file has %llu%s", h->name,
                       (long long)implied, (unsigned long long)file_size, hint);
    return PE_OK;
}

static pe_status read_header(header *h, const uint8_t *bytes, size_t size)
{
    bool legacy = size < 4 || load_u32(bytes) != MAGIC;
    size_t need = legacy ? LEGACY_SIZE : HEADER_SIZE;
    if (size < need)
        return io_fail(h->err, PE_ERR_FORMAT, "%s: has %zu bytes; a llama2.c header has %zu", h->name, size, need);
    int64_t version = legacy ? 0 : load_i32(bytes + 4);
    if (!legacy && version != 1 && version != 2)
        return io_fail(h->err, PE_ERR_FORMAT, "%s: is llama2.c version %lld; needs 1 or 2", h->name,
                       (long long)version);
    h->out->version = (int)version;
    pe_status s = read_numbers(h, bytes + (legacy ? 0 : 8));
    if (s == PE_OK && !legacy)
        s = read_rest(h, bytes);
    return s == PE_OK ? check_heads(h) : s;
}

pe_status io_llama2c_parse(io_llama2c *out, const uint8_t *bytes, size_t size, uint64_t file_size, const char *name,
                           pe_error *err)
{
    *out = (io_llama2c){ 0 };
    header h = { out, name, err };
    pe_status s = read_header(&h, bytes, size);
    if (s == PE_OK)
        s = check_size(&h, file_size);
    if (s != PE_OK)
        *out = (io_llama2c){ 0 };
    return s;
}

pe_status io_llama2c_open(io_llama2c *out, const char *path, pe_error *err)
{
    uint8_t bytes[HEADER_SIZE];
    io_file f;
    *out = (io_llama2c){ 0 };
    pe_status s = io_file_open(&f, path, err);
    if (s != PE_OK)
        return s;
    size_t size = f.size < HEADER_SIZE ? (size_t)f.size : HEADER_SIZE;
    s = io_file_read(bytes, &f, 0, size, err);
    io_file_close(&f);
    return s == PE_OK ? io_llama2c_parse(out, bytes, size, f.size, path, err) : s;
}

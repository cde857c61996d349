/* SPDX-License-Identifier: MIT
 *
 * What a case is made of: sizes that leave every tail, values that break things, all from one number. */
#include "base/random.h"
#include "check.h"

static const int64_t primes[] = { 71, 73, 79, 83, 89, 97, 101, 127, 131, 191, 211, 251, 509, 521 };
static const int64_t others[] = { 96, 128, 255, 256, 257 };
#define UP_TO 68 /* 0 .. 67 */
#define SIZES (UP_TO + COUNT(primes) + COUNT(others))

static int64_t size_at(int64_t index)
{
    index %= SIZES;
    return index < UP_TO                   ? index
           : index < UP_TO + COUNT(primes) ? primes[index - UP_TO]
                                           : others[index - UP_TO - COUNT(primes)];
}

void draw_case(problem *p, uint64_t seed, int64_t number)
{
    int64_t round = number / SIZES;
    p->random = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)number;
    draw_bits(p);
    p->main_size = size_at(number);
    p->place = (place)((number + round) % PLACES);
    p->values = (values)((number + round / PLACES) % VALUES);
}

uint64_t draw_bits(problem *p)
{
    return random_next(&p->random);
}

int64_t draw_range(problem *p, int64_t low, int64_t high)
{
    return low + (int64_t)(draw_bits(p) % (uint64_t)(high - low + 1));
}

double draw_uniform(problem *p)
{
    return (double)((int64_t)draw_bits(p) >> 10) * 0x1p-53;
}

int64_t draw_main(problem *p)
{
    return p->bench ? p->bench : p->main_size;
}

int64_t draw_size(problem *p, int64_t most)
{
    int64_t n;
    do
        n = size_at((int64_t)(draw_bits(p) % SIZES));
    while (n > most);
    return n;
}

int64_t draw_stride(problem *p, int64_t width)
{
    return width + (p->bench || draw_bits(p) % 2 ? 0 : draw_range(p, 1, 9));
}

int64_t draw_blocks(const problem *p, int64_t n)
{
    return block_kind(p->type) ? (n + BLOCK_WIDTH - 1) / BLOCK_WIDTH * BLOCK_WIDTH : n;
}

/* ---------------------------------------------------------------- values */

static float from_bits(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static float special(problem *p)
{
    static const float list[] = { NAN,       INFINITY,        -INFINITY,        0.0f, -0.0f, 0x1p-149f,   -0x1p-149f,
                                  0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f, 1.0f, -1.0f, 0x1.8p-127f, 0x1p24f };
    return draw_bits(p) % 3 ? (float)draw_uniform(p) : list[draw_bits(p) % COUNT(list)];
}

/* Large and equal up to the sign, and small ones that only an honest sum keeps. */
static float cancelling(problem *p)
{
    uint64_t r = draw_bits(p);
    return r % 3 == 0 ? 0x1p20f : r % 3 == 1 ? -0x1p20f : (float)draw_uniform(p);
}

float draw_finite(problem *p)
{
    double u = draw_uniform(p);
    switch (p->bench ? PLAIN : p->values) {
    case WIDE: return (float)ldexp(u, (int)draw_range(p, -20, 20));
    case CANCELLING: return cancelling(p);
    case DENORMAL: return (float)(u * 0x1p-126);
    case ZEROS: return draw_bits(p) % 4 ? (draw_bits(p) % 2 ? 0.0f : -0.0f) : (float)u;
    case HUGE_ONES: return (float)(u * 0x1.fffffep127);
    default: return (float)u;
    }
}

float draw_value(problem *p)
{
    values kind = p->bench ? PLAIN : p->values;
    return kind == SPECIAL ? special(p) : kind == ANY_BITS ? from_bits(draw_bits(p)) : draw_finite(p);
}

/* ---------------------------------------------------------------- buffers */

static size_t span(const buffer *b)
{
    int64_t elements = b->rows > 0 && b->cols > 0 ? (b->rows - 1) * b->stride + b->cols : 0;
    return (size_t)dtype_bytes(b->type, elements);
}

static buffer *draw_buffer(problem *p, const char *name, pe_dtype type, int64_t rows, int64_t cols, int64_t stride)
{
    buffer *b = &p->buffer[p->buffers++];
    *b = (buffer){ .name = name, .type = type, .rows = rows, .cols = cols, .stride = stride };
    b->bytes = span(b);
    b->data = guard_take(p, b->bytes, block_kind(type) ? 2 : pe_dtype_size(type));
    memset(b->data, 0xff, b->bytes); /* NaN in every type */
    return b;
}

static unsigned char *block_of(void *data, const buffer *b, int64_t i, int64_t j)
{
    return (unsigned char *)data + dtype_bytes(b->type, i * b->stride + j / BLOCK_WIDTH * BLOCK_WIDTH);
}

/* Of a block the codes, every fourth of them that of 0; its scale is a value. */
static void fill_codes(problem *p, buffer *b, int64_t i, int64_t j)
{
    unsigned char *block = block_of(b->data, b, i, j);
    for (int64_t n = 2; n < block_bytes(b->type); n++)
        block[n] = draw_bits(p) % 4 ? (unsigned char)draw_bits(p) : b->type == PE_Q8_0 ? 0 : 0x88;
}

/* Large values stay finite in float16 too; infinities have kinds of their own. */
static void fill(problem *p, buffer *b)
{
    bool blocks = block_kind(b->type), half = blocks || b->type == PE_F16;
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j += blocks ? BLOCK_WIDTH : 1) {
            double x = (double)draw_value(p);
            put(b, i, j, half && p->values <= CANCELLING ? ldexp(x, -8) : x);
            if (blocks)
                fill_codes(p, b, i, j);
        }
}

buffer *draw_in(problem *p, const char *name, pe_dtype type, int64_t rows, int64_t cols, int64_t stride)
{
    buffer *b = draw_buffer(p, name, type, rows, cols, stride);
    b->read = true;
    fill(p, b);
    return b;
}

buffer *draw_out(problem *p, const char *name, pe_dtype type, int64_t rows, int64_t cols, int64_t stride, bool filled)
{
    buffer *b = draw_buffer(p, name, type, rows, cols, stride);
    b->out = true;
    b->read = filled;
    if (filled)
        fill(p, b);
    return b;
}

void put(buffer *b, int64_t i, int64_t j, double x)
{
    if (block_kind(b->type))
        num_store(block_of(b->data, b, i, j), PE_F16, 0, x);
    else
        num_store(b->data, b->type, i * b->stride + j, x);
}

double was(const buffer *b, int64_t i, int64_t j)
{
    float x[BLOCK_WIDTH];
    if (!block_kind(b->type))
        return num_load(b->was, b->type, i * b->stride + j);
    block_load(x, block_of(b->was, b, i, j), b->type);
    return (double)x[j % BLOCK_WIDTH];
}

void expect(buffer *b, int64_t i, int64_t j, double truth, double size)
{
    b->truth[i * b->cols + j] = truth;
    b->size[i * b->cols + j] = size;
}

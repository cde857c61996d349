/* SPDX-License-Identifier: MIT
 * labels: core; needs: draw wrap
 *
 * PNG: what is packed unpacks to itself, by an inflate that is written here; files are whole; pixels are where the list
 * has its shapes. */
#include "draw_case.h"
#include "draw/font.h"
#include "draw/paint.h"
#include "draw/png.h"

/* ------------------------------------------------ inflate (RFC 1951), slow and plain */

typedef struct bits {
    const uint8_t *in;
    size_t size, at;
    int bit;
} bits;

static unsigned take(bits *b, int count)
{
    unsigned v = 0;
    for (int i = 0; i < count; i++) {
        assert_true(b->at < b->size);
        v |= (unsigned)(b->in[b->at] >> b->bit & 1) << i;
        b->bit = (b->bit + 1) % 8;
        b->at += b->bit == 0;
    }
    return v;
}

typedef struct code {
    int count[16];   /* of each length */
    int symbol[288]; /* in the order of their codes */
} code;

/* A code that uses every word of its bits, or has one symbol only. */
static void code_of(code *c, const uint8_t *length, int count)
{
    int at[16] = { 0 }, left = 1;
    memset(c, 0, sizeof *c);
    for (int i = 0; i < count; i++)
        c->count[length[i]]++;
    c->count[0] = 0;
    for (int i = 1; i < 16; i++) {
        left = 2 * left - c->count[i];
        assert_true(left >= 0);
        at[i] = at[i - 1] + c->count[i - 1];
    }
    assert_int_equal(left, 0);
    for (int i = 0; i < count; i++)
        if (length[i])
            c->symbol[at[length[i]]++] = i;
}

static int symbol(bits *b, const code *c)
{
    int word = 0, first = 0, index = 0;
    for (int length = 1; length < 16; length++) {
        word |= (int)take(b, 1);
        if (word - first < c->count[length])
            return c->symbol[index + word - first];
        index += c->count[length];
        first = (first + c->count[length]) << 1;
        word <<= 1;
    }
    fail_msg("no such code");
    return 0;
}

static void read_codes(bits *b, code *literal, code *distance)
{
    static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    uint8_t length[320] = { 0 };
    int literals = (int)take(b, 5) + 257, distances = (int)take(b, 5) + 1, count = (int)take(b, 4) + 4;
    for (int i = 0; i < count; i++)
        length[order[i]] = (uint8_t)take(b, 3);
    code c;
    code_of(&c, length, 19);
    memset(length, 0, sizeof length);
    for (int i = 0; i < literals + distances;) {
        int s = symbol(b, &c), n = 1;
        uint8_t v = (uint8_t)s;
        if (s >= 16) {
            assert_true(s != 16 || i > 0);
            v = s == 16 ? length[i - 1] : 0;
            n = s == 16 ? 3 + (int)take(b, 2) : s == 17 ? 3 + (int)take(b, 3) : 11 + (int)take(b, 7);
        }
        assert_true(i + n <= literals + distances);
        while (n-- > 0)
            length[i++] = v;
    }
    code_of(literal, length, literals);
    code_of(distance, length + literals, distances);
}

/* Of all bytes of a zlib stream; their number. out holds room. */
static size_t inflate(uint8_t *out, size_t room, const uint8_t *in, size_t size)
{
    static const int base[] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
    static const int extra[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
    static const int far_base[] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
    bits b = { .in = in, .size = size, .at = 2 };
    size_t n = 0;
    assert_int_equal((in[0] * 256 + in[1]) % 31, 0);
    assert_int_equal(in[0] & 15, 8);
    for (bool last = false; !last;) {
        code literal, distance;
        last = take(&b, 1);
        assert_int_equal(take(&b, 2), 2);
        read_codes(&b, &literal, &distance);
        for (int s; (s = symbol(&b, &literal)) != 256;) {
            assert_true(n < room);
            if (s < 256) {
                out[n++] = (uint8_t)s;
                continue;
            }
            assert_true(s - 257 < COUNT(base));
            int length = base[s - 257] + (int)take(&b, extra[s - 257]), d = symbol(&b, &distance);
            assert_true(d < COUNT(far_base));
            size_t back = (size_t)far_base[d] + take(&b, d < 4 ? 0 : d / 2 - 1);
            assert_true(back <= n && n + (size_t)length <= room);
            for (; length > 0; length--, n++)
                out[n] = out[n - back];
        }
    }
    b.at += b.bit > 0;
    assert_int_equal(b.at + 4, size);
    uint32_t a = 1, s = 0; /* Adler-32 */
    for (size_t i = 0; i < n; i++) {
        a = (a + out[i]) % 65521;
        s = (s + a) % 65521;
    }
    const uint8_t *sum = in + b.at;
    assert_true((uint32_t)sum[0] << 24 == (s >> 8 & 255) << 24 && sum[1] == (s & 255) && sum[2] == (a >> 8 & 255) &&
                sum[3] == (a & 255));
    return n;
}

static void check_packed(const uint8_t *in, size_t size, size_t most)
{
    byte_sink packed = { 0 };
    uint8_t *out = malloc(size + 1);
    zlib_pack(&packed, in, size);
    assert_false(packed.failed);
    if (packed.size > most)
        fail_msg("%zu bytes became %zu; at most %zu", size, packed.size, most);
    assert_int_equal(inflate(out, size + 1, packed.at, packed.size), size);
    assert_memory_equal(out, in, size ? size : 1 - 1);
    free(out);
    free(packed.at);
}

#define BYTES 200000

static void what_is_packed_unpacks_to_itself(void **state)
{
    (void)state;
    uint64_t seed = 6;
    uint8_t *in = calloc(BYTES, 1);
    check_packed(in, 0, 40);
    check_packed(in, 1, 40);
    check_packed(in, 2, 40);
    check_packed(in, BYTES, 400); /* one byte, again and again */
    for (size_t i = 0; i < BYTES; i++)
        in[i] = (uint8_t)test_random(&seed);
    check_packed(in, BYTES, BYTES + BYTES / 200); /* nothing to find */
    for (size_t i = 0; i < BYTES; i++)
        in[i] = i >= 40000 ? in[i - 32767] : (uint8_t)test_random(&seed);
    check_packed(in, BYTES, BYTES / 4); /* matches at the far end of the window */
    for (size_t i = 0; i < BYTES; i++)
        in[i] = (uint8_t)(i / 50 + (i % 7 ? 0 : test_random(&seed) % 3));
    check_packed(in, BYTES, BYTES / 2);
    for (size_t size = 3; size < 600; size += 7)
        check_packed(in + size, size, size + 200);
    free(in);
}

/* A match may lie 32768 back at most: a phrase, and again on both sides of that. */
static void repeats_stay_inside_the_window(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (size_t back = 32764; back <= 32776; back++) {
        uint8_t *in = calloc(back + 40, 1);
        for (size_t i = 0; i < 40; i++)
            in[i] = in[back + i] = (uint8_t)(1 + test_random(&seed) % 255);
        check_packed(in, back + 40, back < 32768 ? 250 : 300);
        free(in);
    }
}

/* Literals, each as often as weight says, as the one block of a stream. */
static void check_block(const uint32_t *weight)
{
    int count = 0;
    for (int i = 0; i < 256; i++)
        count += (int)weight[i];
    token *t = calloc((size_t)count + 1, sizeof *t);
    uint8_t *in = malloc((size_t)count + 1), *out = malloc((size_t)count + 1);
    byte_sink packed = { 0 };
    for (int i = 0, n = 0; i < 256; i++)
        for (uint32_t k = 0; k < weight[i]; k++, n++) {
            in[n] = (uint8_t)i;
            t[n].length = (uint16_t)i;
        }
    sink_put(&packed, "\x78\x9c", 2);
    bit_sink to = { .to = &packed };
    deflate_block(&to, t, count, true);
    deflate_end(&to);
    sink_big32(&packed, zlib_adler(in, (size_t)count));
    assert_int_equal(inflate(out, (size_t)count + 1, packed.at, packed.size), count);
    assert_memory_equal(out, in, (size_t)count);
    free(t);
    free(in);
    free(out);
    free(packed.at);
}

/* A literal's code has 15 bits at most, and the code of the codes' lengths 7: weights whose trees are deeper than that. */
static void deep_trees_are_read_again(void **state)
{
    (void)state;
    uint32_t weight[256] = { 0 }, a = 2, b = 3;
    for (int i = 0; i < 22; i++) {
        weight[i] = a - 1; /* Fibonacci's, less the 1 that every symbol gets */
        check_block(weight);
        b += a;
        a = b - a;
    }
    static const uint32_t how_many[] = { 90, 56, 34, 20, 12, 6, 3, 1, 1 }; /* literals of weight 8, 16, 32 .. */
    uint64_t seed = 3;
    for (int run = 0; run < 60; run++) {
        memset(weight, 0, sizeof weight);
        for (uint32_t w = 0; w < COUNT(how_many); w++)
            for (uint64_t k = how_many[w] / 2 + test_random(&seed) % (how_many[w] / 2 + 1); k > 0;) {
                uint32_t *at = &weight[test_random(&seed) % 255];
                k -= *at == 0;
                *at = *at ? *at : 8u << w;
            }
        check_block(weight);
    }
}

/* Phrases that begin alike: the longest match is not the nearest, and looking further makes the stream shorter. */
static void the_longest_match_is_looked_for(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint8_t in[20000];
    for (size_t i = 0; i < sizeof in; i += 10) {
        uint8_t phrase = (uint8_t)(test_random(&seed) % 40);
        for (size_t k = 0; k < 10; k++)
            in[i + k] = (uint8_t)(k < 3 ? 7 : (phrase + 1) * (k + 11));
    }
    check_packed(in, sizeof in, 3000);
}

/* Fibonacci weights make the deepest tree there is. */
static void no_code_is_longer_than_its_limit(void **state)
{
    (void)state;
    uint32_t weight[40] = { 1, 1 };
    uint8_t length[40];
    code c;
    for (int i = 2; i < 40; i++)
        weight[i] = weight[i - 1] + weight[i - 2];
    for (int limit = 7; limit <= 15; limit += 8) {
        huffman_lengths(length, weight, 40, limit);
        for (int i = 0; i < 40; i++)
            assert_true(length[i] > 0 && length[i] <= limit);
        code_of(&c, length, 40);
    }
    memset(weight, 0, sizeof weight);
    weight[17] = 9;
    huffman_lengths(length, weight, 40, 15);
    int used = 0;
    for (int i = 0; i < 40; i++)
        used += length[i];
    assert_int_equal(used, 2);
}

/* ------------------------------------------------ files */

static uint32_t big32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Bit by bit, of the definition. */
static uint32_t crc(const uint8_t *b, size_t size)
{
    uint32_t c = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        c ^= b[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
    }
    return ~c;
}

typedef struct picture {
    int width, height, pixel; /* bytes of a pixel */
    int ties;                 /* bytes of Paeth rows where left and corner are as near, and left must be taken */
    uint8_t *bytes;           /* (height, width, pixel) */
    uint8_t palette[768], alpha[256];
} picture;

static void unfilter(picture *p, const uint8_t *rows)
{
    int size = p->width * p->pixel;
    for (int y = 0; y < p->height; y++) {
        const uint8_t *in = rows + (size_t)y * ((size_t)size + 1);
        uint8_t *out = p->bytes + (size_t)y * (size_t)size;
        for (int i = 0; i < size; i++) {
            int a = i >= p->pixel ? out[i - p->pixel] : 0, b = y ? out[i - size] : 0;
            int c = y && i >= p->pixel ? out[i - size - p->pixel] : 0, e = a + b - c;
            int best = abs(e - a) <= abs(e - b) && abs(e - a) <= abs(e - c) ? a : abs(e - b) <= abs(e - c) ? b : c;
            const int guess[5] = { 0, a, b, (a + b) / 2, best };
            assert_true(in[0] < 5);
            out[i] = (uint8_t)(in[i + 1] + guess[in[0]]);
            p->ties += in[0] == 4 && a != c && a - c == -2 * (b - c);
        }
    }
}

static void read_header(picture *p, const uint8_t *head)
{
    p->width = (int)big32(head);
    p->height = (int)big32(head + 4);
    assert_true(head[8] == 8 && (head[9] == 2 || head[9] == 3) && !head[10] && !head[11] && !head[12]);
    p->pixel = head[9] == 2 ? 3 : 1;
}

/* Every chunk whole, in order; p->bytes is freed by the caller. */
static void read_png(picture *p, const uint8_t *file, size_t size)
{
    *p = (picture){ 0 };
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
    bool ended = false;
    for (size_t at = 8; at < size;) {
        uint32_t n = big32(file + at);
        const uint8_t *name = file + at + 4, *bytes = name + 4;
        assert_true(!ended && at + 12 + n <= size);
        assert_int_equal(crc(name, n + 4), big32(bytes + n));
        if (!memcmp(name, "IHDR", 4)) {
            read_header(p, bytes);
        } else if (!memcmp(name, "PLTE", 4)) {
            memcpy(p->palette, bytes, n);
        } else if (!memcmp(name, "tRNS", 4)) {
            memcpy(p->alpha, bytes, n);
        } else if (!memcmp(name, "IDAT", 4)) {
            size_t rows = ((size_t)p->width * (size_t)p->pixel + 1) * (size_t)p->height;
            uint8_t *all = malloc(rows);
            assert_int_equal(inflate(all, rows, bytes, n), rows);
            p->bytes = malloc(rows);
            unfilter(p, all);
            free(all);
        }
        ended = !memcmp(name, "IEND", 4);
        at += 12 + n;
    }
    assert_true(ended);
}

static void check_pixels(int width, int height, unsigned noise, int *ties)
{
    uint64_t seed = 4;
    size_t size = 3 * (size_t)width * (size_t)height;
    uint8_t *rgb = malloc(size);
    byte_sink file = { 0 };
    picture p;
    for (size_t i = 0; i < size; i++) {
        int x = (int)(i / 3) % width, y = (int)(i / 3) / width;
        rgb[i] = (uint8_t)(x * y / 8 * (1 + (int)(i % 3)) + (int)(test_random(&seed) % noise));
    }
    png_pixels(&file, rgb, width, height);
    assert_false(file.failed);
    read_png(&p, file.at, file.size);
    assert_true(p.width == width && p.height == height && p.pixel == 3);
    assert_memory_equal(p.bytes, rgb, size);
    *ties += p.ties;
    free(p.bytes);
    free(rgb);
    free(file.at);
}

static void pixels_come_back_whatever_the_size(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 1, 300 }, { 300, 1 }, { 2, 2 }, { 7, 5 }, { 64, 48 } };
    int ties = 0;
    for (int i = 0; i < COUNT(sizes); i++)
        for (unsigned noise = 1; noise < 200; noise += 3)
            check_pixels(sizes[i][0], sizes[i][1], noise, &ties);
    if (ties < 50)
        fail_msg("%d ties: the picture tries none", ties);
}

static void paint_list(picture *p, const draw *d, bool dark, double scale)
{
    pe_error err = { 0 };
    memory m;
    assert_ok(draw_png(memory_open(&m), d, dark, scale, &err));
    memory_end(&m);
    read_png(p, (const uint8_t *)m.text, m.size);
    memory_free(&m);
}

static draw_rgb pixel(const picture *p, int x, int y)
{
    const uint8_t *at = p->bytes + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    return (draw_rgb){ at[0], at[1], at[2] };
}

static bool same(draw_rgb a, draw_rgb b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

static draw *list(double width, double height)
{
    pe_error err = { 0 };
    draw *d;
    assert_ok(draw_new(&d, width, height, &err));
    return d;
}

static void shapes_are_painted_where_they_stand(void **state)
{
    (void)state;
    picture p;
    draw *d = list(40, 20);
    draw_point line[2] = { { 2, 15 }, { 38, 15 } };
    draw_rect(d, 2, 2, 10, 8, (draw_style){ .line = INK_NONE, .fill = INK_SERIES });
    draw_circle(d, 20, 6, 4, (draw_style){ .line = INK_NONE, .fill = INK_SERIES + 1 });
    draw_path(d, line, 2, false, (draw_style){ .line = INK_TEXT, .fill = INK_NONE, .width = 2 });
    for (int dark = 0; dark < 2; dark++) {
        draw_rgb (*ink)(int) = dark ? ink_dark : ink_light;
        paint_list(&p, d, dark, 0);
        assert_true(p.width == 80 && p.height == 40 && p.pixel == 3);
        assert_true(same(pixel(&p, 0, 0), ink(0)) && same(pixel(&p, 79, 39), ink(0)));
        assert_true(same(pixel(&p, 4, 4), ink(4)) && same(pixel(&p, 23, 19), ink(4)));
        assert_true(same(pixel(&p, 3, 4), ink(0)) && same(pixel(&p, 24, 19), ink(0)));
        assert_true(same(pixel(&p, 40, 12), ink(5)) && same(pixel(&p, 40, 2), ink(0)));
        assert_true(same(pixel(&p, 40, 29), ink(1)) && same(pixel(&p, 40, 30), ink(1)));
        assert_true(same(pixel(&p, 40, 26), ink(0)) && same(pixel(&p, 40, 33), ink(0)));
        free(p.bytes);
    }
    draw_free(d);
}

/* The sum of what is dark is the length times the width, whatever the slope: edges are smooth. */
static void a_line_is_as_dark_as_it_is_wide(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        picture p;
        draw *d = list(100, 100);
        double turn = 0.1 + i * 0.5, sum = 0;
        draw_point line[2] = { { 50, 50 }, { 50 + 30 * cos(turn), 50 + 30 * sin(turn) } };
        draw_path(d, line, 2, false, (draw_style){ .line = INK_TEXT, .fill = INK_NONE, .width = 3 });
        paint_list(&p, d, false, 1);
        double ink = 255.0 - ink_light(1).r;
        for (int k = 0; k < 100 * 100; k++)
            sum += (255.0 - p.bytes[3 * k]) / ink;
        assert_true(fabs(sum - (30 * 3 + 3.14159 * 1.5 * 1.5)) < 2.5); /* 2.5 of 97: how a round end falls on pixels */
        free(p.bytes);
        draw_free(d);
    }
}

/* pi r^2, and of a ring 2 pi r times its width. */
static void a_disc_is_as_dark_as_it_is_large(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        picture p;
        draw *d = list(60, 60);
        double radius = 3 + 1.7 * i, sum = 0, width = 2 * (i % 2);
        draw_style style = { .line = width > 0 ? INK_TEXT : INK_NONE, .fill = width > 0 ? INK_NONE : INK_TEXT, .width = width };
        draw_circle(d, 30 + 0.1 * i, 30 - 0.07 * i, radius, style);
        paint_list(&p, d, false, 1);
        double ink = 255.0 - ink_light(1).r, pi = 3.14159265, area = width > 0 ? 2 * pi * radius * width : pi * radius * radius;
        for (int k = 0; k < 60 * 60; k++)
            sum += (255.0 - p.bytes[3 * k]) / ink;
        if (fabs(sum - area) > 0.02 * area)
            fail_msg("radius %g, width %g: %g; its area is %g", radius, width, sum, area);
        free(p.bytes);
        draw_free(d);
    }
}

static void an_area_lets_through_what_its_alpha_says(void **state)
{
    (void)state;
    picture p;
    draw *d = list(20, 20);
    draw_point corner[3] = { { 1, 1 }, { 19, 1 }, { 1, 19 } };
    draw_path(d, corner, 3, true, (draw_style){ .line = INK_NONE, .fill = INK_TEXT, .alpha = 0.5 });
    paint_list(&p, d, false, 1);
    int wanted = (255 + ink_light(1).r) / 2;
    assert_true(abs(pixel(&p, 3, 3).r - wanted) <= 1);
    assert_int_equal(pixel(&p, 18, 18).r, 255);
    int edge = pixel(&p, 10, 9).r; /* the slanted side halves the pixel */
    assert_true(edge > wanted + 20 && edge < 255 - 20);
    free(p.bytes);
    draw_free(d);
}

static void dashes_leave_gaps(void **state)
{
    (void)state;
    int on[3];
    for (int dash = 0; dash < 3; dash++) {
        picture p;
        draw *d = list(100, 10);
        draw_point line[2] = { { 5, 5 }, { 95, 5 } };
        draw_path(d, line, 2, false, (draw_style){ .line = INK_TEXT, .fill = INK_NONE, .width = 2, .dash = (draw_dash)dash });
        paint_list(&p, d, false, 1);
        on[dash] = 0;
        for (int x = 0; x < 100; x++)
            on[dash] += pixel(&p, x, 4).r < 128;
        free(p.bytes);
        draw_free(d);
    }
    assert_true(on[0] >= 90 && on[1] > 50 && on[1] < 85 && on[2] > 20 && on[2] < 55);
}

static void cells_are_sharp_and_nothing_is_paper(void **state)
{
    (void)state;
    static const uint8_t heat[4] = { 0, 254, DRAW_NOTHING, 100 };
    picture p;
    draw *d = list(12, 12);
    draw_cells(d, 1, 1, 10, 10, 2, 2, heat);
    paint_list(&p, d, false, 2);
    assert_true(same(pixel(&p, 2, 2), ink_heat(INK_HEAT)) && same(pixel(&p, 11, 11), ink_heat(INK_HEAT)));
    assert_true(same(pixel(&p, 12, 11), ink_heat(INK_HEAT + 254)));
    assert_true(same(pixel(&p, 11, 12), ink_light(0)));
    assert_true(same(pixel(&p, 12, 12), ink_heat(INK_HEAT + 100)));
    assert_true(same(pixel(&p, 1, 1), ink_light(0)) && same(pixel(&p, 22, 22), ink_light(0)));
    free(p.bytes);
    draw_free(d);
}

/* The cells of an SVG. */
static void a_pixel_per_cell_keeps_its_level(void **state)
{
    (void)state;
    uint8_t heat[300];
    byte_sink file = { 0 };
    picture p;
    for (int i = 0; i < 300; i++)
        heat[i] = (uint8_t)(i % 256);
    png_cells(&file, heat, 20, 15);
    read_png(&p, file.at, file.size);
    assert_true(p.width == 20 && p.height == 15 && p.pixel == 1);
    assert_memory_equal(p.bytes, heat, 300);
    for (int i = 0; i < DRAW_LEVELS; i++) {
        draw_rgb c = ink_heat(INK_HEAT + i);
        assert_true(p.palette[3 * i] == c.r && p.palette[3 * i + 1] == c.g && p.palette[3 * i + 2] == c.b);
        assert_int_equal(p.alpha[i], 255);
    }
    assert_int_equal(p.alpha[DRAW_NOTHING], 0);
    free(p.bytes);
    free(file.at);
}

/* ------------------------------------------------ letters */

typedef struct extent {
    draw_point low, high;
    int count;
} extent;

static void widen(void *with, draw_point a, draw_point b)
{
    extent *e = with;
    e->low = (draw_point){ fmin(e->low.x, fmin(a.x, b.x)), fmin(e->low.y, fmin(a.y, b.y)) };
    e->high = (draw_point){ fmax(e->high.x, fmax(a.x, b.x)), fmax(e->high.y, fmax(a.y, b.y)) };
    e->count++;
}

/* In its own width, no higher and no lower than a line has room for; and no wider than pictures were laid out for. */
static void every_letter_stays_in_its_place(void **state)
{
    (void)state;
    for (int i = 0; i < font_glyph_count; i++) {
        const font_glyph *g = &font_glyphs[i];
        char text[8] = { 0 };
        extent e = { { 9, 9 }, { -9, -9 }, 0 };
        assert_true(i == 0 || g->code > font_glyphs[i - 1].code);
        if (g->code < 0x80)
            text[0] = (char)g->code;
        else if (g->code < 0x800)
            snprintf(text, sizeof text, "%c%c", (int)(0xC0 | g->code >> 6), (int)(0x80 | (g->code & 63)));
        else
            snprintf(text, sizeof text, "%c%c%c", (int)(0xE0 | g->code >> 12), (int)(0x80 | (g->code >> 6 & 63)), (int)(0x80 | (g->code & 63)));
        font_strokes(text, widen, &e);
        assert_true(g->code == ' ' || e.count > 0);
        if (e.count && (e.low.x < -0.01 || e.high.x > font_width(text) + 0.03 || e.low.y < -0.2 || e.high.y > 0.78))
            fail_msg("%s: %g .. %g, %g .. %g", text, e.low.x, e.high.x, e.low.y, e.high.y);
        assert_true(draw_png_has(g->code));
        if (g->code < 0x80)
            assert_true(font_width(text) <= draw_text_width(text, 1) + 0.09);
    }
    for (unsigned letter = ' '; letter < 0x7F; letter++)
        assert_true(font_has(letter));
    assert_false(draw_png_has(0x8DDD)); /* Chinese */
    assert_true(font_width("\xe8\xb7\x9d") == 1);
    assert_true(font_width("MMMMiiii") <= draw_text_width("MMMMiiii", 1));
    assert_true(font_width("trained at 512 tokens") <= draw_text_width("trained at 512 tokens", 1));
}

/* Where is the ink of a text: left, right, top, bottom. */
static void ink_box(int box[4], draw_anchor anchor, bool turned, const char *text)
{
    picture p;
    draw *d = list(100, 100);
    draw_text(d, 50, 50, 12, anchor, INK_TEXT, turned, text);
    paint_list(&p, d, false, 1);
    box[0] = box[2] = 100;
    box[1] = box[3] = -1;
    for (int y = 0; y < 100; y++)
        for (int x = 0; x < 100; x++)
            if (pixel(&p, x, y).r < 160) {
                box[0] = x < box[0] ? x : box[0];
                box[1] = x > box[1] ? x : box[1];
                box[2] = y < box[2] ? y : box[2];
                box[3] = y > box[3] ? y : box[3];
            }
    free(p.bytes);
    draw_free(d);
}

static void text_stands_by_its_anchor_and_reads_upwards_when_turned(void **state)
{
    (void)state;
    int box[4], width = (int)(font_width("HIH") * 12);
    ink_box(box, ANCHOR_START, false, "HIH");
    assert_true(box[0] >= 50 && box[1] <= 50 + width && box[2] >= 40 && box[3] <= 50);
    ink_box(box, ANCHOR_MIDDLE, false, "HIH");
    assert_true(abs(box[0] + box[1] - 99) <= 2);
    ink_box(box, ANCHOR_END, false, "HIH");
    assert_true(box[1] <= 50 && box[0] >= 49 - width);
    ink_box(box, ANCHOR_START, true, "HIH");
    assert_true(box[3] <= 50 && box[2] >= 49 - width && box[0] >= 40 && box[1] <= 50);
    ink_box(box, ANCHOR_END, true, "HIH");
    assert_true(box[2] >= 50 && box[3] <= 51 + width);
}

/* ------------------------------------------------ failures */

static void everything(draw *d)
{
    uint8_t heat[6] = { 0, 50, 100, 150, 200, DRAW_NOTHING };
    draw_point p[4] = { { 1, 1 }, { 30, 5 }, { -1e9, 1e9 }, { NAN, 3 } };
    draw_path(d, p, 4, true, (draw_style){ .line = INK_TEXT, .fill = INK_SERIES + 3, .alpha = 0.3 });
    draw_path(d, p, 1, false, (draw_style){ .line = INK_TEXT, .fill = INK_NONE, .dash = DASH_DOT });
    draw_rect(d, -50, -50, 1e8, 1e8, (draw_style){ .line = INK_GRID, .fill = INK_NONE, .width = 1e8 });
    draw_circle(d, 1e7, 5, 1e7, (draw_style){ .line = INK_TEXT, .fill = INK_HEAT + 9 });
    draw_cells(d, -5, -5, 100, 1e7, 2, 3, heat);
    draw_cells(d, 3, 3, 0.001, 0.001, 2, 3, heat);
    draw_text(d, 5, 20, 12, ANCHOR_MIDDLE, INK_TEXT, false, "a\x1b[31m\xff\xe8\xb7\x9d");
    draw_text(d, -1e6, 20, 1e6, ANCHOR_END, INK_TEXT, true, "far");
}

static void a_picture_without_memory_says_so(void **state)
{
    (void)state;
    bool reached = true;
    for (long n = 1; reached; n++) {
        pe_error err = { 0 };
        memory m;
        draw *d = list(40, 30);
        everything(d);
        size_t before = heap.live;
        memory_open(&m);
        heap.made = 0;
        heap.fail = n;
        pe_status s = draw_png(m.to, d, false, 1, &err);
        reached = heap.made >= n;
        heap.fail = 0;
        assert_int_equal(s, reached ? PE_ERR_NOMEM : PE_OK);
        assert_int_equal(heap.live, before);
        memory_end(&m);
        memory_free(&m);
        draw_free(d);
        assert_true(reached || n > 6);
    }
}

static void large_pictures_are_painted_at_a_lower_scale(void **state)
{
    (void)state;
    static const struct {
        double width, height, scale;
    } cases[] = { { 640, 480, 2 }, { 3960, 5526, 1.75 }, { 8000, 8000, 1 }, { 9000, 9000, 1 } };
    for (int i = 0; i < COUNT(cases); i++) {
        draw *d = list(cases[i].width, cases[i].height);
        assert_true(paint_scale(d) == cases[i].scale);
        draw_free(d);
    }
}

static void pictures_too_large_and_streams_that_fail_are_errors(void **state)
{
    (void)state;
    pe_error err = { 0 };
    draw *d = list(40, 30), *large = list(90000, 90000);
    FILE *f = fopen("/dev/null", "r"); /* not for writing */
    assert_int_equal(draw_png(f, d, false, 0, &err), PE_ERR_IO);
    fclose(f);
    assert_int_equal(draw_png(stdout, large, false, 1, &err), PE_ERR_RANGE);
    assert_non_null(strstr(err.text, "fewer views or specs"));
    assert_int_equal(draw_png(stdout, d, false, 17, &err), PE_ERR_RANGE);
    assert_int_equal(draw_png(stdout, d, false, INFINITY, &err), PE_ERR_RANGE);
    draw_free(d);
    draw_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_unpacks_to_itself),
        cmocka_unit_test(repeats_stay_inside_the_window),
        cmocka_unit_test(deep_trees_are_read_again),
        cmocka_unit_test(pixels_come_back_whatever_the_size),
        cmocka_unit_test(the_longest_match_is_looked_for),
        cmocka_unit_test(no_code_is_longer_than_its_limit),
        cmocka_unit_test(shapes_are_painted_where_they_stand),
        cmocka_unit_test(a_line_is_as_dark_as_it_is_wide),
        cmocka_unit_test(a_disc_is_as_dark_as_it_is_large),
        cmocka_unit_test(an_area_lets_through_what_its_alpha_says),
        cmocka_unit_test(dashes_leave_gaps),
        cmocka_unit_test(cells_are_sharp_and_nothing_is_paper),
        cmocka_unit_test(a_pixel_per_cell_keeps_its_level),
        cmocka_unit_test(every_letter_stays_in_its_place),
        cmocka_unit_test(text_stands_by_its_anchor_and_reads_upwards_when_turned),
        cmocka_unit_test(a_picture_without_memory_says_so),
        cmocka_unit_test(large_pictures_are_painted_at_a_lower_scale),
        cmocka_unit_test(pictures_too_large_and_streams_that_fail_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Small tasks. Only answers are asked for. */
#include "base/random.h"
#include "lab/window.h"

#include <string.h>

/* Strings of letters and what is asked of them, one instance a line, as many as fit:
 *
 *     copy kdw: [kdw]     turn kdw: [wdk]     sort kdw: [dkw]     count a in bab: [1]
 *
 * A string's length is log-uniform up to what the window holds, so longer windows ask for more. Only answers are asked
 * for. Distance: from a letter of the answer to that letter of the string; of a count, to where the string begins. */

enum { DRAW_LENGTH = 0, DRAW_LETTER = 1 };

static void task_put(window_text *p, int64_t *at, const char *text)
{
    for (; *text; text++, (*at)++) {
        p->text[*at] = (unsigned char)*text;
        p->told[*at] = WINDOW_OWN;
    }
}

static void task_put_told(window_text *p, int64_t *at, int32_t letter, int64_t from)
{
    p->text[*at] = letter;
    p->told[*at] = (int32_t)(*at - from);
    (*at)++;
}

static void task_put_letters(window_text *p, int64_t *at, uint64_t random, int64_t n, uint32_t alphabet)
{
    for (int64_t i = 0; i < n; i++, (*at)++) {
        p->text[*at] = (int32_t)('a' + random_below(random, DRAW_LETTER + (uint64_t)i, alphabet));
        p->told[*at] = WINDOW_OWN;
    }
}

/* 1 .. most, log-uniform. */
static int64_t draw_length(uint64_t random, int64_t most)
{
    uint32_t octaves = 1;
    while (octaves < 30 && (int64_t)1 << octaves <= most)
        octaves++;
    int64_t n = random_octaves(random, DRAW_LENGTH, octaves);
    return n < most ? n : most;
}

/* ---------------------------------------------------------------- copy, reverse, sort */

static void answer_copy(window_text *p, int64_t *at, int64_t from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        task_put_told(p, at, p->text[from + i], from + i);
}

static void answer_reverse(window_text *p, int64_t *at, int64_t from, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--)
        task_put_told(p, at, p->text[from + i], from + i);
}

static void answer_sort(window_text *p, int64_t *at, int64_t from, int64_t n)
{
    for (int32_t letter = 'a'; letter <= 'z'; letter++)
        for (int64_t i = 0; i < n; i++)
            if (p->text[from + i] == letter)
                task_put_told(p, at, letter, from + i);
}

typedef void answerer(window_text *p, int64_t *at, int64_t from, int64_t n);

/* Lines of verb, string, answer; the rest of the window is dots. */
static void fill_string(window_text *out, uint64_t key, const char *verb, answerer *answer)
{
    int64_t at = 0, frame = (int64_t)strlen(verb) + 3;
    for (uint64_t line = 0; out->size - at >= frame + 2; line++) {
        uint64_t random = random_at(key, line);
        int64_t n = draw_length(random, (out->size - at - frame) / 2);
        task_put(out, &at, verb);
        task_put_letters(out, &at, random, n, 26);
        task_put(out, &at, ": ");
        answer(out, &at, at - 2 - n, n);
        task_put(out, &at, "\n");
    }
    while (at < out->size)
        task_put(out, &at, ".");
}

void fill_copy(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    fill_string(out, w->key, "copy ", answer_copy);
}

void fill_reverse(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    fill_string(out, w->key, "turn ", answer_reverse);
}

void fill_sort(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    fill_string(out, w->key, "sort ", answer_sort);
}

/* ---------------------------------------------------------------- count */

static void put_number(window_text *p, int64_t *at, int64_t number, int64_t from)
{
    char digit[20];
    int n = 0;
    do
        digit[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n > 0)
        task_put_told(p, at, (unsigned char)digit[--n], from);
}

/* Strings of a, b and c: "count a in bab: 1". */
void fill_count(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t at = 0, frame = 15; /* with a digit */
    for (uint64_t line = 0; out->size - at > frame; line++) {
        uint64_t random = random_at(w->key, line);
        int64_t n = draw_length(random, out->size - at - frame), found = 0;
        if (n >= 10) /* room for the other digits */
            n -= n >= 1000 ? 9 : 2;
        char asked[2] = { (char)('a' + random_below(~random, 0, 3)), '\0' };
        task_put(out, &at, "count ");
        task_put(out, &at, asked);
        task_put(out, &at, " in ");
        int64_t from = at;
        task_put_letters(out, &at, random, n, 3);
        for (int64_t i = from; i < at; i++)
            found += out->text[i] == asked[0];
        task_put(out, &at, ": ");
        put_number(out, &at, found, from);
        task_put(out, &at, "\n");
    }
    while (at < out->size)
        task_put(out, &at, ".");
}

/* Tasks that ask later for what was told before.
 *
 *     recall    bak=Q dop=T bak?[Q] fim=A dop?[T]     the distance, in pairs, is log-uniform; what was set last counts
 *     passkey   noise, key 48213. more noise, key [48213]     once a window, at its end; told anywhere in it */

static void put_own(window_text *p, int64_t at, int32_t byte)
{
    p->text[at] = byte;
    p->told[at] = WINDOW_OWN;
}

/* ---------------------------------------------------------------- recall */

enum { PAIR = 6, KEY = 3 }; /* bytes of "bak=Q " */

static void put_key(window_text *p, int64_t at, uint64_t random)
{
    static const char outer[] = "bcdfghjklmnpqrstvwxz", inner[] = "aeiou";
    put_own(p, at, (unsigned char)outer[random_below(random, 1, 20)]);
    put_own(p, at + 1, (unsigned char)inner[random_below(random, 2, 5)]);
    put_own(p, at + 2, (unsigned char)outer[random_below(random, 3, 20)]);
}

static bool same_key(const window_text *p, int64_t a, int64_t b)
{
    return memcmp(p->text + a, p->text + b, KEY * sizeof *p->text) == 0;
}

/* The key of the pair `back` pairs before, or of the nearest before that which sets one, and its newest value. */
static void put_question(window_text *p, int64_t at, int64_t back)
{
    int64_t told = at - PAIR, from = at - back * PAIR;
    while (p->text[from + KEY] != '=')
        from -= PAIR;
    for (int i = 0; i < KEY; i++)
        put_own(p, at + i, p->text[from + i]);
    while (!same_key(p, told, at))
        told -= PAIR;
    put_own(p, at + KEY, '?');
    p->text[at + KEY + 1] = p->text[told + KEY + 1];
    p->told[at + KEY + 1] = (int32_t)(at - told);
}

void fill_recall(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t at = 0;
    for (uint32_t pairs = 0, octaves = 0; out->size - at >= PAIR - 1; at += PAIR, pairs++) {
        uint64_t random = random_at(w->key, pairs);
        while (octaves < 30 && 1u << octaves <= pairs)
            octaves++;
        if (pairs == 1 || (pairs > 1 && random_below(random, 0, 2))) {
            int64_t back = random_octaves(random, 5, octaves);
            put_question(out, at, back < pairs ? back : pairs);
        } else {
            put_key(out, at, random);
            put_own(out, at + KEY, '=');
            put_own(out, at + KEY + 1, (int32_t)('A' + random_below(random, 4, 26)));
        }
        if (at + PAIR <= out->size)
            put_own(out, at + PAIR - 1, ' ');
    }
    for (; at < out->size; at++)
        put_own(out, at, '.');
}

/* ---------------------------------------------------------------- passkey */

static const char *const noise[] = { "the grass is green. ", "the sky is blue. ", "the sun is yellow. ",
                                     "here we go. ",         "there and back. ",  "the night is long. ",
                                     "the road is white. ",  "nothing to see. ",  "a bird sings. ",
                                     "the river runs by. ",  "the sea is deep. ", "winter comes. ",
                                     "some say yes. ",       "others say no. ",   "the wind turns. ",
                                     "all is well. " };

static void put_noise(window_text *p, int64_t from, int64_t to, uint64_t random)
{
    uint64_t n = 0;
    while (from < to) {
        const char *line = noise[random_below(random, n++, sizeof noise / sizeof noise[0])];
        if ((int64_t)strlen(line) > to - from)
            line = to - from >= 5 ? "yes. " : " ";
        for (; *line; line++)
            put_own(p, from++, (unsigned char)*line);
    }
}

static void put_text(window_text *p, int64_t at, const char *text)
{
    for (; *text; text++)
        put_own(p, at++, (unsigned char)*text);
}

void fill_passkey(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t digits = out->size >= 20 ? 5 : (out->size - 10) / 2;
    int64_t ask = out->size - 4 - digits, last = ask - digits - 6;
    int64_t tell = (int64_t)random_below(w->key, 0, (uint32_t)last + 1);
    put_noise(out, 0, tell, random_at(w->key, 1));
    put_text(out, tell, "key ");
    put_text(out, tell + 4 + digits, ". ");
    put_noise(out, tell + 6 + digits, ask, random_at(w->key, 2));
    put_text(out, ask, "key ");
    for (int64_t i = 0; i < digits; i++) {
        put_own(out, tell + 4 + i, (int32_t)('0' + random_below(w->key, 3 + (uint64_t)i, 10)));
        out->text[ask + 4 + i] = out->text[tell + 4 + i];
        out->told[ask + 4 + i] = (int32_t)(ask - tell);
    }
}

/* A square of letters in slanted stripes: each cell is that of one row up and two columns to the left; the cells of the
 * first row and the first two columns are drawn at random. About 15 % are masked, each with its neighbour along the
 * stripe in sight, (-1, -2) or, where the stripe begins there, (+1, +2). In two coordinates that is one offset at any
 * side; in row-major order it is side + 2, which no model has seen at another side.
 *
 *     a k z e m
 *     p c a[k]z         distance: side + 2 where the neighbour comes before
 *     o f[p]c a */

enum { DOWN = 1, RIGHT = 2, LETTERS = 26, PERCENT = 18 }; /* drawn to be masked; neighbours may forbid it */

/* Whether cell t has its neighbour above; below: whether it has the other. */
static bool above(int64_t t, int64_t side)
{
    return t / side >= DOWN && t % side >= RIGHT;
}

static bool below(int64_t t, int64_t side)
{
    return t / side + DOWN < side && t % side + RIGHT < side;
}

void fill_grid(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t side = 1;
    while (side * side < out->size)
        side++;
    int64_t back = side * DOWN + RIGHT;
    uint64_t masks = random_at(~w->key, 0);
    bool any = false;
    for (int64_t t = 0; t < out->size; t++) {
        bool has = above(t, side);
        out->text[t] = has ? out->text[t - back] : (int32_t)('a' + random_below(w->key, (uint64_t)t, LETTERS));
        bool in_sight = has ? out->told[t - back] == WINDOW_OWN : below(t, side);
        bool masked = in_sight && random_below(masks, (uint64_t)t, 100) < PERCENT;
        out->told[t] = !masked ? WINDOW_OWN : has ? (int32_t)back : 0;
        any = any || masked;
    }
    if (!any) { /* at small sides: then one that has its neighbour above */
        int64_t row = DOWN + (int64_t)random_below(masks, (uint64_t)out->size, (uint32_t)(side - DOWN));
        int64_t column = RIGHT + (int64_t)random_below(masks, (uint64_t)out->size + 1, (uint32_t)(side - RIGHT));
        out->told[row * side + column] = (int32_t)back;
    }
}

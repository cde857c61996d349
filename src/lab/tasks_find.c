/* SPDX-License-Identifier: MIT
 *
 * What was told is asked for later.
 *
 *     recall    bak=Q dop=T bak?[Q] fim=A dop?[T]     the distance, in pairs, is log-uniform; what was set last counts
 *     passkey   noise, key 48213. more noise, key [48213]     once a window, at its end; told anywhere in it
 */
#include "lab/page.h"

#include "base/random.h"

#include <string.h>

static void put(page *p, int64_t at, int32_t byte)
{
    p->text[at] = byte;
    p->told[at] = PAGE_OWN;
}

/* ---------------------------------------------------------------- recall */

enum { PAIR = 6, KEY = 3 }; /* bytes of "bak=Q " */

static void put_key(page *p, int64_t at, uint64_t random)
{
    static const char outer[] = "bcdfghjklmnpqrstvwxz", inner[] = "aeiou";
    put(p, at, (unsigned char)outer[random_below(random, 1, 20)]);
    put(p, at + 1, (unsigned char)inner[random_below(random, 2, 5)]);
    put(p, at + 2, (unsigned char)outer[random_below(random, 3, 20)]);
}

static bool same_key(const page *p, int64_t a, int64_t b)
{
    return memcmp(p->text + a, p->text + b, KEY * sizeof *p->text) == 0;
}

/* The key of the pair `back` pairs before, or of the nearest before that which sets one, and its newest value. */
static void put_question(page *p, int64_t at, int64_t back)
{
    int64_t told = at - PAIR, from = at - back * PAIR;
    while (p->text[from + KEY] != '=')
        from -= PAIR;
    for (int i = 0; i < KEY; i++)
        put(p, at + i, p->text[from + i]);
    while (!same_key(p, told, at))
        told -= PAIR;
    put(p, at + KEY, '?');
    p->text[at + KEY + 1] = p->text[told + KEY + 1];
    p->told[at + KEY + 1] = (int32_t)(at - told);
}

void recall_page(page *out, const lab_data *d, const window *w)
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
            put(out, at + KEY, '=');
            put(out, at + KEY + 1, (int32_t)('A' + random_below(random, 4, 26)));
        }
        if (at + PAIR <= out->size)
            put(out, at + PAIR - 1, ' ');
    }
    for (; at < out->size; at++)
        put(out, at, '.');
}

/* ---------------------------------------------------------------- passkey */

static const char *const noise[] = { "the grass is green. ", "the sky is blue. ", "the sun is yellow. ",
                                     "here we go. ",         "there and back. ",  "the night is long. ",
                                     "the road is white. ",  "nothing to see. ",  "a bird sings. ",
                                     "the river runs by. ",  "the sea is deep. ", "winter comes. ",
                                     "some say yes. ",       "others say no. ",   "the wind turns. ",
                                     "all is well. " };

static void put_noise(page *p, int64_t from, int64_t to, uint64_t random)
{
    uint64_t n = 0;
    while (from < to) {
        const char *line = noise[random_below(random, n++, sizeof noise / sizeof noise[0])];
        if ((int64_t)strlen(line) > to - from)
            line = to - from >= 5 ? "yes. " : " ";
        for (; *line; line++)
            put(p, from++, (unsigned char)*line);
    }
}

static void put_words(page *p, int64_t at, const char *words)
{
    for (; *words; words++)
        put(p, at++, (unsigned char)*words);
}

void passkey_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    int64_t digits = out->size >= 20 ? 5 : (out->size - 10) / 2;
    int64_t ask = out->size - 4 - digits, last = ask - digits - 6;
    int64_t tell = (int64_t)random_below(w->key, 0, (uint32_t)last + 1);
    put_noise(out, 0, tell, random_at(w->key, 1));
    put_words(out, tell, "key ");
    put_words(out, tell + 4 + digits, ". ");
    put_noise(out, tell + 6 + digits, ask, random_at(w->key, 2));
    put_words(out, ask, "key ");
    for (int64_t i = 0; i < digits; i++) {
        put(out, tell + 4 + i, (int32_t)('0' + random_below(w->key, 3 + (uint64_t)i, 10)));
        out->text[ask + 4 + i] = out->text[tell + 4 + i];
        out->told[ask + 4 + i] = (int32_t)(ask - tell);
    }
}

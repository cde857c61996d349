/* SPDX-License-Identifier: MIT */
#include "lab/stories.h"

#include "core/random.h"

enum { DRAW_KIND, DRAW_FACT, DRAW_FIRST, DRAW_SECOND, DRAW_THIRD, DRAW_ANSWER, DRAW_BACK };

static beat_kind kind_of(uint64_t random, int64_t n)
{
    if (n % STORY_BEATS == STORY_BEATS - 1)
        return BEAT_OPEN;
    if (n % STORY_BEATS == 0)
        return BEAT_CLOSE;
    if (n % SCENE_BEATS == SCENE_BEATS - 1)
        return BEAT_SCENE;
    uint32_t r = random_below(random, DRAW_KIND, 100);
    return r < 33 ? BEAT_TELL : r < 76 ? BEAT_ASK : BEAT_PLAIN;
}

static uint64_t random_of(uint64_t stream, int64_t n)
{
    return random_at(stream, (uint64_t)n);
}

static fact fact_of(uint64_t random)
{
    fact f = { .kind = (int)random_below(random, DRAW_FACT, STORY_KINDS) };
    const fact_kind *k = &story_kind[f.kind];
    f.first = random_below(random, DRAW_FIRST, k->first.count);
    f.second = k->apart ? (f.first + 1 + random_below(random, DRAW_SECOND, k->second.count - 1)) % k->second.count
                        : random_below(random, DRAW_SECOND, k->second.count);
    f.third = random_below(random, DRAW_THIRD, k->third.count);
    return f;
}

static bool same(fact a, fact b)
{
    return a.kind == b.kind && a.first == b.first && a.second == b.second && a.third == b.third;
}

/* 1 to 511 beats, log-uniform, and four times as often 1: a beat is about 50 bytes, and near facts are wanted too. */
static int64_t beats_back(uint64_t random)
{
    uint32_t eighths = random_octaves(random, DRAW_BACK, 12);
    return eighths < 8 ? 1 : eighths / 8;
}

/* The fact that beat n tells or asks for; false: none. An ASK takes that of the first TELL at or before its distance.
 */
static bool subject(fact *out, uint64_t stream, int64_t n)
{
    uint64_t random = random_of(stream, n);
    beat_kind kind = kind_of(random, n);
    if (kind != BEAT_TELL && kind != BEAT_ASK)
        return false;
    if (kind == BEAT_ASK) {
        n += beats_back(random);
        while (kind_of(random = random_of(stream, n), n) != BEAT_TELL)
            n++;
    }
    *out = fact_of(random);
    return true;
}

/* What was told last counts; who asked for it meanwhile, told it again. */
static void look_back(beat *b)
{
    fact f;
    for (int64_t n = b->n + 1;; n++) {
        if (!subject(&f, b->stream, n) || !same(f, b->fact))
            continue;
        if (!b->told)
            b->told = n;
        uint64_t random = random_of(b->stream, n);
        if (kind_of(random, n) != BEAT_TELL)
            continue;
        b->answer = random_below(random, DRAW_ANSWER, story_kind[f.kind].answer.count);
        return;
    }
}

beat story_beat(uint64_t stream, int64_t n)
{
    beat b = { .stream = stream, .random = random_of(stream, n), .n = n };
    b.kind = kind_of(b.random, n);
    subject(&b.fact, stream, n);
    if (b.kind == BEAT_ASK)
        look_back(&b);
    if (b.kind == BEAT_TELL)
        b.answer = random_below(b.random, DRAW_ANSWER, story_kind[b.fact.kind].answer.count);
    return b;
}

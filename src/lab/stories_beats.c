/* SPDX-License-Identifier: MIT */
#include "lab/stories.h"

#include "base/random.h"

enum { DRAW_KIND, DRAW_NEAR, DRAW_BACK, DRAW_INITIAL };
enum { STAY_BEATS = 4096, FRESH_PERCENT = 15 };

static beat_kind kind_of(uint64_t random, int64_t n)
{
    if (n % STORY_BEATS == STORY_BEATS - 1)
        return BEAT_OPEN;
    if (n % STORY_BEATS == 0)
        return BEAT_CLOSE;
    if (n % SCENE_BEATS == SCENE_BEATS - 1)
        return BEAT_SCENE;
    return random_below(random, DRAW_KIND, 100) < 95 ? BEAT_PERSON : BEAT_PLAIN;
}

/* 1 to 8 beats, or, as often, 1 to 1023, log-uniform: a beat is about 13 bytes, and near facts are learned first. */
static int64_t beats_back(uint64_t random)
{
    uint32_t near = random_below(random, DRAW_NEAR, 20);
    return near < 8 ? 1 + near : random_octaves(random, DRAW_BACK, 10);
}

/* Of the one who was met some beats before, or of anyone. */
static uint32_t initial_of(uint64_t stream, int64_t n)
{
    for (;;) {
        uint64_t random = random_at(stream, (uint64_t)n);
        uint32_t fresh = random_below(random, DRAW_INITIAL, 100 * STORY_INITIALS);
        bool is_person = kind_of(random, n) == BEAT_PERSON;
        if (is_person && fresh < FRESH_PERCENT * STORY_INITIALS)
            return fresh % STORY_INITIALS;
        n += is_person ? beats_back(random) : 1;
    }
}

static person person_of(uint64_t stream, int64_t n)
{
    person p = { .initial = initial_of(stream, n) };
    uint64_t own = random_at(~stream, p.initial);
    p.stay = (n + random_below(own, 0, STAY_BEATS)) / STAY_BEATS;
    uint64_t name = random_at(own, (uint64_t)p.stay + 1);
    p.middle = random_below(name, 0, story_middle.count);
    p.ending = random_below(name, 1, story_ending.count);
    return p;
}

beat story_beat(uint64_t stream, int64_t n)
{
    beat b = { .random = random_at(stream, (uint64_t)n) };
    b.kind = kind_of(b.random, n);
    if (b.kind == BEAT_PERSON)
        b.who = person_of(stream, n);
    return b;
}

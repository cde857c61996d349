/* SPDX-License-Identifier: MIT */
#include "lab/stories.h"

#include "core/random.h"

#include <string.h>

enum { DRAW_SWAP = 16, DRAW_TEMPLATE, DRAW_ECHO, DRAW_ECHO_TEMPLATE, DRAW_SLOT };

/* Who is meant by $A and $B in this beat: one woman, one man, so that he and she are plain. */
typedef struct cast {
    uint32_t hero, friend;
} cast;

static bool named(const beat *b, uint32_t person)
{
    const fact_kind *k = &story_kind[b->fact.kind];
    if (b->kind != BEAT_TELL && b->kind != BEAT_ASK)
        return false;
    return (k->owned && b->fact.first == person) || (k->apart && b->fact.second == person);
}

/* The pair of the story, in turns; a neighbour instead of one who is named in the fact. */
static cast cast_of(const beat *b)
{
    uint32_t people = story_people.count;
    uint64_t story = random_at(~b->stream, (uint64_t)(b->n / STORY_BEATS));
    cast c = { .hero = random_below(story, 0, people), .friend = 2 * random_below(story, 1, people / 2) };
    c.friend += c.hero % 2 ? 0 : 1;
    bool own = b->kind == BEAT_OPEN || random_below(b->random, DRAW_SWAP, 5) < 3;
    if (!own)
        c = (cast){ c.friend, c.hero };
    while (named(b, c.hero))
        c.hero = (c.hero + 2) % people;
    while (named(b, c.friend))
        c.friend = (c.friend + 2) % people;
    return c;
}

static void put(sentence *out, const char *text)
{
    size_t n = strlen(text), room = SENTENCE_CAP - (size_t)out->size;
    n = n < room ? n : room;
    memcpy(out->text + out->size, text, n);
    out->size += (int)n;
}

static void put_key(sentence *out, const fact *f)
{
    const fact_kind *k = &story_kind[f->kind];
    put(out, k->first.item[f->first]);
    put(out, k->between);
    put(out, k->second.item[f->second]);
    if (k->third.count) {
        put(out, " ");
        put(out, k->third.item[f->third]);
    }
}

static void put_answer(sentence *out, const beat *b)
{
    if (out->answers < 2)
        out->answer[out->answers++] = out->size;
    put(out, story_kind[b->fact.kind].answer.item[b->answer]);
}

static void put_slot(sentence *out, const beat *b, const cast *c, char slot, uint64_t draw)
{
    bool man = c->hero % 2;
    const words *list = story_slot(slot);
    if (list) {
        put(out, list->item[random_below(b->random, draw, list->count)]);
        return;
    }
    switch (slot) {
    case 'A': put(out, story_people.item[c->hero]); break;
    case 'B': put(out, story_people.item[c->friend]); break;
    case 's': put(out, man ? "he" : "she"); break;
    case 'S': put(out, man ? "He" : "She"); break;
    case 'h': put(out, man ? "his" : "her"); break;
    case 'm': put(out, man ? "him" : "her"); break;
    case 'k': put_key(out, &b->fact); break;
    case 'x': put_answer(out, b); break;
    default: break;
    }
}

static void expand(sentence *out, const beat *b, const cast *c, const char *template, uint64_t draw)
{
    char piece[2] = { 0 };
    for (const char *at = template; *at; at++)
        if (*at == '$' && at[1]) {
            put_slot(out, b, c, *++at, draw++);
        } else {
            piece[0] = *at;
            put(out, piece);
        }
}

static const words *templates(const beat *b)
{
    switch (b->kind) {
    case BEAT_TELL: return &story_kind[b->fact.kind].tell;
    case BEAT_ASK: return &story_kind[b->fact.kind].ask;
    case BEAT_OPEN: return &story_open;
    case BEAT_SCENE: return &story_scene;
    case BEAT_CLOSE: return &story_close;
    default: return &story_plain;
    }
}

void story_write(sentence *out, const beat *b)
{
    cast c = cast_of(b);
    const words *t = templates(b);
    out->size = out->answers = 0;
    put(out, b->kind == BEAT_OPEN ? "\n\n" : b->kind == BEAT_SCENE ? "\n" : " ");
    expand(out, b, &c, t->item[random_below(b->random, DRAW_TEMPLATE, t->count)], DRAW_SLOT);
    if (b->kind != BEAT_TELL || random_below(b->random, DRAW_ECHO, 3))
        return;
    t = &story_kind[b->fact.kind].echo;
    expand(out, b, &c, t->item[random_below(b->random, DRAW_ECHO_TEMPLATE, t->count)], DRAW_SLOT + 8);
}

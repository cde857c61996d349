/* SPDX-License-Identifier: MIT */
#include "lab/stories.h"

#include "base/random.h"

#include <string.h>

enum { DRAW_TEMPLATE = 16, DRAW_SLOT };

static void put(sentence *out, const char *text)
{
    size_t n = strlen(text), room = SENTENCE_CAP - (size_t)out->size;
    n = n < room ? n : room;
    memcpy(out->text + out->size, text, n);
    out->size += (int)n;
}

static void put_name(sentence *out, const person *p)
{
    char initial[2] = { story_initial[p->initial] };
    if (out->names < 2)
        out->name[out->names++] = out->size;
    put(out, initial);
    put(out, story_middle.item[p->middle]);
    put(out, story_ending.item[p->ending]);
}

static void put_slot(sentence *out, const beat *b, char slot, uint64_t draw)
{
    const words *list = story_slot(slot);
    if (list) {
        put(out, list->item[random_below(b->random, draw, list->count)]);
        return;
    }
    if (slot == 'x')
        put_name(out, &b->who);
}

static void expand(sentence *out, const beat *b, const char *template, uint64_t draw)
{
    char piece[2] = { 0 };
    for (const char *at = template; *at; at++)
        if (*at == '$' && at[1]) {
            put_slot(out, b, *++at, draw++);
        } else {
            piece[0] = *at;
            put(out, piece);
        }
}

static const words *templates(const beat *b)
{
    switch (b->kind) {
    case BEAT_PERSON: return &story_person;
    case BEAT_OPEN: return &story_open;
    case BEAT_SCENE: return &story_scene;
    case BEAT_CLOSE: return &story_close;
    default: return &story_plain;
    }
}

void story_write(sentence *out, const beat *b)
{
    const words *t = templates(b);
    out->size = out->names = 0;
    put(out, b->kind == BEAT_OPEN ? "\n\n" : b->kind == BEAT_SCENE ? "\n" : " ");
    expand(out, b, t->item[random_below(b->random, DRAW_TEMPLATE, t->count)], DRAW_SLOT);
}

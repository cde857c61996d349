/* SPDX-License-Identifier: MIT
 *
 * Stories: who lives in the village, how its stories are told, the beats of a stream, and the windows that data.c asks
 * for. In a template $x is the person of the beat; the other letters draw from a list. */
#include "base/random.h"
#include "lab/window.h"
#include "lab/stories.h"

#include <string.h>

/* Who lives in the village, and how its stories are told. In a template: $x the person of the beat; the other
 * letters draw from a list. */

#define LIST(...)                                                                                                      \
    {                                                                                                                  \
        (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)            \
    }

const char story_initial[STORY_INITIALS + 1] = "BCDFGJKLMNPQRSVXYZ";
const word_list story_middle = LIST("a", "e", "i", "o", "u", "y", "la", "ro", "wi", "he");
static const word_list story_ending = LIST("b", "d", "g", "k", "l", "m", "n", "p", "s", "t");

static const word_list story_person =
    LIST("$x $w.", "$x $w.", "$x $w.", "$x was $f.", "\"$e\" said $x.", "They saw $x.", "Then $x $w.",
         "$x $w, and $x $w.", "Here was $x.", "They called $x, but $x $w.");
static const word_list story_open = LIST("Once upon a time, $q.", "This is a story about a $o and a $n.",
                                         "Once a $o lived beside $p.", "There was a $o who was always $f.");
static const word_list story_scene =
    LIST("$t, $q.", "$t, they met at $p.", "$t, the $o was $f.", "$t, a $n came to $p.");
static const word_list story_close =
    LIST("That was the end of a long day.", "And they all went home.", "It was so, and so it is.");
static const word_list story_plain = LIST("The $n $v.", "The $o $w.", "It was quiet at $p.", "Outside, $q.");

static const word_list times = LIST("One morning", "In the evening", "At noon", "The next day", "At night",
                                    "On a holiday", "A week later", "On market day");
static const word_list places =
    LIST("the mill", "the harbour", "the market", "the old bridge", "the orchard", "the bakery", "the river",
         "the church", "the school", "the lighthouse", "the station", "the meadow", "the forest", "the inn",
         "the library", "the green hill");
static const word_list weather =
    LIST("the rain fell softly", "the sun was warm", "snow lay on the roofs", "a cold wind blew",
         "mist hung over the fields", "the stars came out", "the birds were singing", "it began to thunder");
static const word_list animals = LIST("hen", "fox", "cat", "dog", "goat", "crow", "duck", "mouse", "donkey", "pony",
                                      "rabbit", "robin", "goose", "pig");
static const word_list antics =
    LIST("slept in the sun", "ran across the road", "sat on the wall", "hid in the grass", "made a great noise",
         "would not move", "jumped over the ditch", "stole a biscuit");
static const word_list feelings =
    LIST("glad", "tired", "hungry", "proud", "curious", "lonely", "sleepy", "busy", "cold", "thirsty", "happy", "late");
static const word_list deeds = LIST("sang", "slept", "laughed", "sat down", "ran home", "had tea", "waved", "danced",
                                    "hid", "fed the ducks", "whistled", "read");
static const word_list cries =
    LIST("What a day!", "Oh dear!", "How lovely!", "Hello!", "Who is there?", "Help!", "Is it late?", "Well done!");
static const word_list jobs =
    LIST("baker", "carpenter", "doctor", "farmer", "gardener", "miller", "painter", "postman", "potter", "sailor",
         "shepherd", "tailor", "teacher", "weaver", "fisherman", "clockmaker");

static const word_list *story_slot(char letter)
{
    switch (letter) {
    case 't': return &times;
    case 'p': return &places;
    case 'q': return &weather;
    case 'n': return &animals;
    case 'v': return &antics;
    case 'f': return &feelings;
    case 'w': return &deeds;
    case 'e': return &cries;
    case 'o': return &jobs;
    default: return NULL;
    }
}

enum { DRAW_TEMPLATE = 16, DRAW_SLOT };

static void sentence_put(sentence *out, const char *text)
{
    size_t n = strlen(text), room = SENTENCE_CAP - (size_t)out->size;
    n = n < room ? n : room;
    memcpy(out->text + out->size, text, n);
    out->size += (int)n;
}

static void sentence_put_name(sentence *out, const person *p)
{
    char initial[2] = { story_initial[p->initial] };
    if (out->names < 2)
        out->name[out->names++] = out->size;
    sentence_put(out, initial);
    sentence_put(out, story_middle.item[p->middle]);
    sentence_put(out, story_ending.item[p->ending]);
}

static void sentence_put_slot(sentence *out, const beat *b, char slot, uint64_t draw)
{
    const word_list *list = story_slot(slot);
    if (list) {
        sentence_put(out, list->item[random_below(b->random, draw, list->count)]);
        return;
    }
    if (slot == 'x')
        sentence_put_name(out, &b->who);
}

static void expand(sentence *out, const beat *b, const char *template, uint64_t draw)
{
    char piece[2] = { 0 };
    for (const char *at = template; *at; at++)
        if (*at == '$' && at[1]) {
            sentence_put_slot(out, b, *++at, draw++);
        } else {
            piece[0] = *at;
            sentence_put(out, piece);
        }
}

static const word_list *templates(const beat *b)
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
    const word_list *t = templates(b);
    out->size = out->names = 0;
    sentence_put(out, b->kind == BEAT_OPEN ? "\n\n" : b->kind == BEAT_SCENE ? "\n" : " ");
    expand(out, b, t->item[random_below(b->random, DRAW_TEMPLATE, t->count)], DRAW_SLOT);
}

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

enum { DRAW_END = 0, DRAW_CUT = 1 };

/* Of each initial the name that stands next after where the window is written: its second letter, and whose it is. */
typedef struct reader {
    struct {
        int64_t at, stay;
    } next[STORY_INITIALS];
} reader;

/* A name at `at` tells the next with its initial, where they are of the same person. */
static void tell(reader *r, window_text *out, const person *who, int64_t at)
{
    int64_t later = r->next[who->initial].at;
    if (at >= 0 && later < out->size && r->next[who->initial].stay == who->stay)
        out->told[later] = (int32_t)(later - (at + 1));
    r->next[who->initial].at = at + 1;
    r->next[who->initial].stay = who->stay;
}

static void place_sentence(reader *r, window_text *out, const sentence *s, const beat *b, int64_t at)
{
    for (int i = 0; i < s->size; i++)
        if (at + i >= 0 && at + i < out->size) {
            out->text[at + i] = (unsigned char)s->text[i];
            out->told[at + i] = 0;
        }
    for (int i = s->names - 1; i >= 0; i--)
        tell(r, out, &b->who, at + s->name[i]);
}

/* From the end of a stream back to the window's start. The end lies anywhere in a story and in a beat. */
void fill_stories(window_text *out, const lab_data *d, const window *w)
{
    (void)d;
    uint64_t stream = random_at(w->key, 2);
    int64_t first = random_below(w->key, DRAW_END, STORY_BEATS);
    reader r;
    sentence s;
    for (int i = 0; i < STORY_INITIALS; i++)
        r.next[i].at = out->size;
    for (int64_t at = out->size, n = first; at > 0; n++) {
        beat b = story_beat(stream, n);
        story_write(&s, &b);
        if (n == first)
            at += random_below(w->key, DRAW_CUT, (uint32_t)s.size);
        at -= s.size;
        place_sentence(&r, out, &s, &b, at);
    }
}

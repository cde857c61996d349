/* SPDX-License-Identifier: MIT
 *
 * Stories of a village. A stream is made of beats of one or two sentences, 8 to a scene, 32 to a story; beat n, counted
 * back from the end, follows from (stream, n) alone, so a window is made from its end back, for as long as it is.
 *
 *     tell   Mira hid the copper key behind the stove.           key: copper key    answer: stove
 *     ask    "Where is the copper key?" asked Tom. "Look behind the [s]tove," said Mira.
 *
 * Every answer of a kind is as likely as any other, told or not, and they differ in their first byte: that byte is the
 * one to recall. The key stands before the answer, in the same words, wherever a fact is told or asked for.
 */
#ifndef POSENC_LAB_STORIES_H
#define POSENC_LAB_STORIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORY_BEATS = 32, SCENE_BEATS = 8 };

typedef struct words {
    const char *const *item;
    uint32_t count;
} words;

/* A key is first, between, second: Mira 's aunt; where there is a third word, a space and that: Mira 's old goat. */
typedef struct fact_kind {
    words first, second, third;
    const char *between;
    bool apart; /* first and second are people: two different ones */
    bool owned; /* first is a person */
    words answer;
    words tell, ask, echo; /* $k the key, $x the answer, the rest as in story_slot */
} fact_kind;

#define STORY_KINDS 5
extern const fact_kind story_kind[STORY_KINDS];

extern const words story_people; /* women at even places, men at odd ones */
extern const words story_open, story_scene, story_close, story_plain;
const words *story_slot(char letter); /* NULL: none of the lists */

/* ---------------------------------------------------------------- facts and beats (stories_beats.c) */

typedef enum beat_kind { BEAT_TELL, BEAT_ASK, BEAT_PLAIN, BEAT_OPEN, BEAT_SCENE, BEAT_CLOSE } beat_kind;
typedef struct fact {
    int kind;
    uint32_t first, second, third;
} fact;

typedef struct beat {
    uint64_t stream, random; /* random: of this beat */
    int64_t n;
    beat_kind kind;
    fact fact;       /* told or asked for */
    uint32_t answer; /* index */
    int64_t told;    /* ASK: the beat that told or asked for it last; n is smaller */
} beat;
beat story_beat(uint64_t stream, int64_t n);

#define SENTENCE_CAP 512
typedef struct sentence {
    char text[SENTENCE_CAP];
    int size, answers;
    int answer[2]; /* where an answer begins */
} sentence;
void story_write(sentence *out, const beat *b);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Stories of a village in which one person's name begins with K, another's with B, and so on. The story tells a name
 * early and asks for it later.
 *
 *     Krol sang. They met Ben. "Well done!" said K[r]ol. Then B[e]n fed the ducks.
 *
 * A stream is made of beats of one sentence, 16 to a scene, 64 to a story; beat n, counted back from the end, follows
 * from (stream, n) alone, so a window is made from its end back, for as long as it is. After an initial every second
 * letter is as likely as any other, and no other word begins with a person's initial in capitals: the letter after it
 * is the one to recall. In time someone else with the same initial comes to the village; whom it told of last counts.
 */
#ifndef POSENC_LAB_STORIES_H
#define POSENC_LAB_STORIES_H

#include <stdint.h>

enum { STORY_BEATS = 64, SCENE_BEATS = 16 };

typedef struct word_list {
    const char *const *item;
    uint32_t count;
} word_list;

#define STORY_INITIALS 18
extern const char story_initial[STORY_INITIALS + 1];
extern const word_list story_middle; /* of a name, after its initial; no two begin alike */

typedef enum beat_kind { BEAT_PERSON, BEAT_PLAIN, BEAT_OPEN, BEAT_SCENE, BEAT_CLOSE } beat_kind;

typedef struct person {
    uint32_t initial, middle, ending;
    int64_t stay; /* which of those with this initial */
} person;

typedef struct beat {
    uint64_t random; /* of this beat */
    beat_kind kind;
    person who; /* of a BEAT_PERSON */
} beat;
beat story_beat(uint64_t stream, int64_t n);

#define SENTENCE_CAP 512
typedef struct sentence {
    char text[SENTENCE_CAP];
    int size, names;
    int name[2]; /* where the person's name begins */
} sentence;
void story_write(sentence *out, const beat *b);

#endif

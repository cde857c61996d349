/* SPDX-License-Identifier: MIT
 *
 * Who lives in the village, and how its stories are told. In a template: $x the person of the beat; the other letters
 * draw from a list.
 */
#include "lab/stories.h"

#define LIST(...)                                                                                                      \
    {                                                                                                                  \
        (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)            \
    }

const char story_initial[STORY_INITIALS + 1] = "BCDFGJKLMNPQRSVXYZ";
const words story_middle = LIST("a", "e", "i", "o", "u", "y", "la", "ro", "wi", "he");
const words story_ending = LIST("b", "d", "g", "k", "l", "m", "n", "p", "s", "t");

const words story_person = LIST("$x $w.", "$x $w.", "$x $w.", "$x was $f.", "\"$e\" said $x.", "They saw $x.",
                                "Then $x $w.", "$x $w, and $x $w.", "Here was $x.", "They called $x, but $x $w.");
const words story_open = LIST("Once upon a time, $q.", "This is a story about a $o and a $n.",
                              "Once a $o lived beside $p.", "There was a $o who was always $f.");
const words story_scene = LIST("$t, $q.", "$t, they met at $p.", "$t, the $o was $f.", "$t, a $n came to $p.");
const words story_close =
    LIST("That was the end of a long day.", "And they all went home.", "It was so, and so it is.");
const words story_plain = LIST("The $n $v.", "The $o $w.", "It was quiet at $p.", "Outside, $q.");

static const words times = LIST("One morning", "In the evening", "At noon", "The next day", "At night", "On a holiday",
                                "A week later", "On market day");
static const words places = LIST("the mill", "the harbour", "the market", "the old bridge", "the orchard", "the bakery",
                                 "the river", "the church", "the school", "the lighthouse", "the station", "the meadow",
                                 "the forest", "the inn", "the library", "the green hill");
static const words weather =
    LIST("the rain fell softly", "the sun was warm", "snow lay on the roofs", "a cold wind blew",
         "mist hung over the fields", "the stars came out", "the birds were singing", "it began to thunder");
static const words animals = LIST("hen", "fox", "cat", "dog", "goat", "crow", "duck", "mouse", "donkey", "pony",
                                  "rabbit", "robin", "goose", "pig");
static const words antics = LIST("slept in the sun", "ran across the road", "sat on the wall", "hid in the grass",
                                 "made a great noise", "would not move", "jumped over the ditch", "stole a biscuit");
static const words feelings =
    LIST("glad", "tired", "hungry", "proud", "curious", "lonely", "sleepy", "busy", "cold", "thirsty", "happy", "late");
static const words deeds = LIST("sang", "slept", "laughed", "sat down", "ran home", "had tea", "waved", "danced", "hid",
                                "fed the ducks", "whistled", "read");
static const words cries =
    LIST("What a day!", "Oh dear!", "How lovely!", "Hello!", "Who is there?", "Help!", "Is it late?", "Well done!");
static const words jobs =
    LIST("baker", "carpenter", "doctor", "farmer", "gardener", "miller", "painter", "postman", "potter", "sailor",
         "shepherd", "tailor", "teacher", "weaver", "fisherman", "clockmaker");

const words *story_slot(char letter)
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

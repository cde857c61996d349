/* SPDX-License-Identifier: MIT
 *
 * Who lives in the village, and how its stories are told. In a template: $A and $B the two people of the beat, of whom
 * $s she, $S She, $h her (hers), $m her are $A; $k a fact's key, $x its answer; the other letters draw from a list.
 */
#include "lab/stories.h"

#define LIST(...)                                                                                                      \
    {                                                                                                                  \
        (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)            \
    }
#define PEOPLE                                                                                                         \
    LIST("Ada", "Ben", "Clara", "Dan", "Ella", "Felix", "Greta", "Hugo", "Ivy", "Jack", "Kate", "Leo", "Mira", "Max",  \
         "Nora", "Otto", "Olive", "Paul", "Rosa", "Sam", "Tessa", "Tom", "Wanda", "Victor")
#define JOBS                                                                                                           \
    LIST("baker", "carpenter", "doctor", "farmer", "gardener", "miller", "painter", "postman", "potter", "sailor",     \
         "shepherd", "tailor", "teacher", "weaver", "fisherman", "clockmaker")

const words story_people = PEOPLE;

const fact_kind story_kind[STORY_KINDS] = {
    { .first = LIST("little", "old", "broken", "shiny", "painted", "heavy", "dusty", "lost", "strange", "lovely",
                    "plain", "golden", "wooden", "copper", "borrowed", "tiny"),
      .between = " ",
      .second =
          LIST("key", "box", "cup", "coin", "bell", "book", "lamp", "ring", "doll", "map", "spoon", "watch", "flute",
               "drum", "kite", "purse", "hat", "ball", "whistle", "brush", "button", "mask", "basket", "knife"),
      .answer = LIST("apple tree", "barn", "clock", "door", "elm", "fence", "gate", "hedge", "icebox", "jug", "kettle",
                     "ladder", "mirror", "nest box", "oven", "piano", "quilt", "rocks", "stove", "trunk", "umbrellas",
                     "vase", "well", "yew"),
      .tell = LIST("$A hid the $k behind the $x.", "$S put the $k away behind the $x.",
                   "Nobody saw $A push the $k behind the $x.", "To keep it safe, $A left the $k behind the $x."),
      .ask = LIST("$A found the $k behind the $x.", "$A went back for the $k. It was still behind the $x.",
                  "\"Where is the $k?\" asked $B. \"Look behind the $x,\" said $A.",
                  "$S had not forgotten the $k behind the $x."),
      .echo = LIST(" \"Behind the $x?\" asked $B.", " It was dark behind the $x.") },
    { .first = PEOPLE,
      .between = " gave ",
      .second = PEOPLE,
      .apart = true,
      .owned = true,
      .answer = LIST("apples", "beans", "cherries", "dates", "eggs", "figs", "grapes", "hazelnuts", "kippers", "lemons",
                     "mushrooms", "nettles", "olives", "plums", "quinces", "radishes", "strawberries", "turnips",
                     "walnuts", "yams"),
      .tell = LIST("$k a basket of $x.", "That week $k a basket of $x.", "$A saw it all: $k a basket of $x."),
      .ask = LIST("$A remembered how $k a basket of $x.", "Everybody knew that $k a basket of $x.",
                  "\"Is it true that $k a basket of $x?\" asked $B.", "When $k a present, it was $x, said $A."),
      .echo = LIST(" They were very good $x.", " What fine $x they were!") },
    { .first = PEOPLE,
      .between = "'s ",
      .second = LIST("old", "young", "spotted", "brown", "shy", "fat"),
      .third = LIST("goat", "dog", "cat", "pony", "hen", "donkey", "rabbit", "duck", "sheep", "parrot"),
      .owned = true,
      .answer = LIST("Acorn", "Biscuit", "Clover", "Daisy", "Ember", "Ginger", "Hazel", "Inky", "Juniper", "Kipper",
                     "Lucky", "Muffin", "Nutmeg", "Oscar", "Pepper", "Quincy", "Rusty", "Sunny", "Thistle", "Velvet",
                     "Willow", "Yarrow", "Ziggy"),
      .tell = LIST("$k was called $x.", "They named $k $x.", "$A was told that $k was called $x."),
      .ask = LIST("$A laughed, for $k was called $x.", "$A went to feed $k. \"Come here, $x!\" $s said.",
                  "$B asked what $k was called. \"It is $x,\" said $A.", "$A and $B knew that $k was called $x."),
      .echo = LIST(" \"$x is a good name,\" said $B.", " \"Come, $x!\" cried $B.") },
    { .first = JOBS,
      .between = "'s ",
      .second =
          LIST("gate", "door", "cart", "boat", "fence", "bench", "table", "chair", "shed", "sign", "wagon", "kennel"),
      .answer = LIST("amber", "blue", "crimson", "emerald", "green", "indigo", "jade", "khaki", "lilac", "maroon",
                     "navy", "orange", "pink", "red", "silver", "turquoise", "violet", "white", "yellow"),
      .tell = LIST("$A painted the $k $x.", "$A was paid to paint the $k $x.", "Over the summer the $k was painted $x.",
                   "$S helped to paint the $k $x."),
      .ask = LIST("\"Who painted the $k $x?\" asked $B.", "$A walked past the $k, which was still $x.",
                  "Everyone liked the $k, now that it was $x.",
                  "\"What colour is the $k?\" asked $A. \"It is $x,\" said $B."),
      .echo = LIST(" \"I like $x,\" said $B.", " It was a very bright $x.") },
    { .first = PEOPLE,
      .between = "'s ",
      .second = LIST("aunt", "uncle", "cousin", "sister", "brother", "grandmother", "godfather", "teacher"),
      .owned = true,
      .answer = LIST("Ashford", "Bramley", "Crowbridge", "Dunmoor", "Elmstead", "Fernhill", "Greystone", "Hollowell",
                     "Inglewood", "Jessop", "Kingsley", "Larkspur", "Moorgate", "Northam", "Oakham", "Pinewood",
                     "Quarrybank", "Riverton", "Seaforth", "Thornby", "Upton", "Wexley", "Yarmouth"),
      .tell = LIST("$k lived in $x.", "$A heard that $k lived in $x.", "There was news: $k had a new house in $x."),
      .ask = LIST("$A wrote a letter to $k in $x.", "\"Where does $k live?\" asked $B. \"In $x,\" said $A.",
                  "$A dreamed of a visit to $k in $x.", "It was well known that $k lived in $x."),
      .echo = LIST(" \"$x is far away,\" said $B.", " It often rained in $x.") },
};

const words story_open =
    LIST("Once there was a $o called $A, who lived near $p with a good friend, $B.",
         "This is a story about $A the $o and $h friend $B.", "Long ago, $A and $B lived beside $p.",
         "$A was a $o. $S worked at $p, and $B often came to help.",
         "In a village not far from $p lived a $o named $A.", "$A the $o had only one friend, and that was $B.");
const words story_scene = LIST("$t, $A and $B walked to $p.", "$t, $A went to $p alone.", "$t $q, and $A was $f.",
                               "$t, they met again at $p.", "When $A came to $p, $q.",
                               "$t, there was a knock at the door. It was $B.", "$t, $A was at $p, and $q.");
const words story_close =
    LIST("That night $A slept well.", "And that was the end of a long day.", "$A and $B went home together.",
         "They never forgot that day at $p.", "So it was that $A and $B stayed friends for ever.");
const words story_plain = LIST(
    "$A was $f.", "$S was $f, but $s did not say so.", "The $n $v.", "\"$e\" said $B.", "$A drank some $d and felt $f.",
    "$B laughed and $w.", "$A $w.", "$S $w, and then $s $w.", "$A and $B shared some $d.", "It was quiet at $p.",
    "At $p, $q.", "A $n $v, and $B laughed.", "$A wondered why the $n $v.",
    "\"I am $f,\" said $A. \"So am I,\" said $B.", "They talked about $p until it was late.", "Outside, $q.",
    "$B gave $m some $d.", "Soon a $n came by and $v.", "While $B $w, $A $w.", "\"$e\" cried $A, and $B $w.");

static const words times =
    LIST("One morning", "In the evening", "After lunch", "At noon", "The next day", "Before breakfast", "Late at night",
         "On Sunday", "A week later", "In the afternoon", "On market day", "Early one day");
static const words places = LIST("the mill", "the harbour", "the market", "the old bridge", "the orchard", "the bakery",
                                 "the river", "the church", "the school", "the lighthouse", "the station", "the meadow",
                                 "the forest", "the inn", "the library", "the green hill");
static const words weather =
    LIST("the rain fell softly", "the sun was warm", "snow lay on the roofs", "a cold wind blew",
         "mist hung over the fields", "the stars came out", "the clouds were low", "the birds were singing",
         "the leaves were falling", "smoke rose from the chimneys", "the moon was bright", "it began to thunder");
static const words animals = LIST("hen", "fox", "cat", "dog", "goat", "crow", "duck", "mouse", "donkey", "pony",
                                  "rabbit", "robin", "squirrel", "goose", "pig", "hedgehog");
static const words antics = LIST("slept in the sun", "ran across the road", "looked at them", "drank from a puddle",
                                 "sat on the wall", "hid in the grass", "made a great noise", "wanted some bread",
                                 "walked in a circle", "would not move", "jumped over the ditch", "stole a biscuit");
static const words feelings = LIST("glad", "tired", "hungry", "proud", "curious", "a little afraid", "cheerful",
                                   "lonely", "sleepy", "very busy", "cold", "thirsty", "surprised", "happy");
static const words drinks =
    LIST("tea", "milk", "cider", "soup", "cocoa", "water", "lemonade", "coffee", "broth", "porridge");
static const words deeds =
    LIST("swept the floor", "lit the fire", "sang an old song", "opened the window", "looked at the sky",
         "sat down on the grass", "told a long story", "read the paper", "mended a shirt", "baked some bread",
         "counted the boats", "fed the ducks", "picked some flowers", "washed the cups", "climbed the stairs",
         "closed the shutters", "whistled a tune", "ran down the lane", "drew a picture", "chopped some wood");
static const words cries =
    LIST("What a day!", "Come and see!", "I do not think so,", "Listen to that!", "Let us go home,", "How lovely!",
         "We must hurry!", "Who is there?", "That is funny,", "Good morning!", "I am not sure,", "Well done!");
static const words jobs = JOBS;

const words *story_slot(char letter)
{
    switch (letter) {
    case 't': return &times;
    case 'p': return &places;
    case 'q': return &weather;
    case 'n': return &animals;
    case 'v': return &antics;
    case 'f': return &feelings;
    case 'd': return &drinks;
    case 'w': return &deeds;
    case 'e': return &cries;
    case 'o': return &jobs;
    default: return NULL;
    }
}

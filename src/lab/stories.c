/* SPDX-License-Identifier: MIT */
#include "lab/stories.h"

#include "base/random.h"
#include "lab/page.h"

enum { DRAW_END = 0, DRAW_CUT = 1 };

/* Of each initial the name that stands next after where the page is written: its second letter, and whose it is. */
typedef struct reader {
    struct {
        int64_t at, stay;
    } next[STORY_INITIALS];
} reader;

/* A name at `at` tells the next with its initial, where they are of the same person. */
static void tell(reader *r, page *out, const person *who, int64_t at)
{
    int64_t later = r->next[who->initial].at;
    if (at >= 0 && later < out->size && r->next[who->initial].stay == who->stay)
        out->told[later] = (int32_t)(later - (at + 1));
    r->next[who->initial].at = at + 1;
    r->next[who->initial].stay = who->stay;
}

static void place(reader *r, page *out, const sentence *s, const beat *b, int64_t at)
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
void stories_page(page *out, const lab_data *d, const window *w)
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
        place(&r, out, &s, &b, at);
    }
}

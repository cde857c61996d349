/* SPDX-License-Identifier: MIT */
#include "lab/stories.h"

#include "lab/page.h"
#include "core/random.h"

enum { DRAW_END = 0, DRAW_CUT = 1 };

/* Until the whole page is there a question names, as -1 - beat, where its answer was told; work: (beats) where that
 * is on the page, -1 where the beat is not all there. */
static void place(page *out, const sentence *s, const beat *b, int64_t at, int64_t first)
{
    bool whole = at >= 0;
    for (int i = 0; i < s->size; i++)
        if (at + i >= 0 && at + i < out->size) {
            out->text[at + i] = (unsigned char)s->text[i];
            out->told[at + i] = 0;
        }
    int64_t last = s->answers ? at + s->answer[s->answers - 1] : -1;
    out->work[b->n - first] = whole ? (int32_t)last : -1;
    if (!s->answers || !whole || last >= out->size)
        return;
    if (s->answers == 2)
        out->told[last] = s->answer[1] - s->answer[0];
    else if (b->kind == BEAT_ASK)
        out->told[last] = (int32_t)(first - b->told - 1);
}

static void settle(page *out, int64_t beats)
{
    for (int64_t i = 0; i < out->size; i++) {
        int64_t teller = -1 - (int64_t)out->told[i];
        if (teller >= 0)
            out->told[i] = teller < beats && out->work[teller] >= 0 ? (int32_t)(i - out->work[teller]) : 0;
    }
}

/* From the end of a stream back to the window's start. The end lies anywhere in a story and in a beat. */
void stories_page(page *out, const lab_data *d, const window *w)
{
    (void)d;
    uint64_t stream = random_at(w->key, 2);
    int64_t first = random_below(w->key, DRAW_END, STORY_BEATS), n = first;
    sentence s;
    for (int64_t at = out->size; at > 0; n++) {
        beat b = story_beat(stream, n);
        story_write(&s, &b);
        if (n == first)
            at += random_below(w->key, DRAW_CUT, (uint32_t)s.size);
        at -= s.size;
        place(out, &s, &b, at, first);
    }
    settle(out, n - first);
}

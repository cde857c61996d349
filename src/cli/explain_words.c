/* SPDX-License-Identifier: MIT
 *
 * The sentences of posenc explain. */
#include "cli/explain.h"
#include "cli/page.h"

#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- keys, one sentence each */

static const struct {
    const char *label, *when, *text;
} remarks[] = {
    { "scaling", "scaling=none", "none: frequencies are as trained" },
    { "scaling", "scaling=linear", "linear: every frequency is divided by {factor}" },
    { "scaling", "scaling=dynamic",
      "dynamic NTK: nothing changes up to {trained} positions; for a longer sequence the base grows with its length, "
      "factor {factor}" },
    { "scaling", "scaling=ntk", "NTK: the base is multiplied by {alpha}^(d/(d-2)), so slow pairs are slowed most" },
    { "scaling", "scaling=yarn",
      "YaRN: pairs that make more than {beta_fast} turns in {trained} positions are kept, those that make fewer than "
      "{beta_slow} are divided by {factor}, with a ramp between" },
    { "", "scaling=yarn,truncate=no", "the ramp's ends are not rounded to whole pairs (truncate is false)" },
    { "", "scaling=yarn,mscale", "attention factor from mscale {mscale} over mscale_all_dim {mscale_all_dim}" },
    { "scaling", "scaling=longrope",
      "LongRoPE: each pair has a divisor of its own, one list up to {trained} positions and another past them" },
    { "scaling", "scaling=llama3",
      "llama3: pairs that make more than {high} turns in {trained} positions are kept, those that make fewer than "
      "{low} "
      "are divided by {factor}, a mix between" },
    { "scaling", "scaling=proportional", "p-RoPE: the first {turning} of the pairs turn, the rest stand still" },
    { "", "scaling=proportional,factor", "frequencies are divided by {factor}" },
    { "sign", "sign=negative", "the turn goes the other way" },
    { "exponent", "denominator=d-2", "2i/(d-2) instead of 2i/d" },
    { "axes", "split=interleaved", "coordinates take turns over the pairs (interleaved), sections {sections}" },
    { "axes", "sections,split=chunked", "pairs of each coordinate, one after the other: {sections}" },
    { "axes", "axes!=1,split=axial|blocks|oddeven|alternate", "{axes} coordinates per token, split {split}" },
    { "coords", "coords=normalised", "scaled to -1..1 over {extent} cells" },
    { "query", "temperature!=0,temperature",
      "queries are multiplied by 1 + {temperature} ln(1 + floor((t + {shift}) / {floor})) at position t" },
    { "turns", "turn=qkv|qkvo", "values turn too" },
    { "turns", "turn=qko|qkvo", "the attention output is turned back" },
    { "angles", "precision=hf|ggml", "formed in float32 as {precision} does" },
};

void explain_expand(char *out, size_t cap, const char *text, const char *spec)
{
    size_t used = 0;
    char key[40];
    while (*text && used + 1 < cap) {
        if (*text != '{') {
            out[used++] = *text++;
            continue;
        }
        size_t n = strcspn(text, "}");
        snprintf(key, sizeof key, "%.*s", (int)n - 1, text + 1);
        zoo_slice v = zoo_spec_get(spec, key);
        int wrote = snprintf(out + used, cap - used, "%.*s", v.text ? (int)v.length : 1, v.text ? v.text : "?");
        used += wrote < 0 ? 0 : (size_t)wrote;
        text += n + (text[n] == '}');
    }
    out[used < cap ? used : cap - 1] = 0;
}

bool explain_remark(const char *spec, int index, const char **label, char *text, size_t cap)
{
    for (int i = 0; i < CLI_COUNT(remarks); i++) {
        if (!zoo_spec_meets(spec, remarks[i].when) || index-- > 0)
            continue;
        *label = remarks[i].label;
        explain_expand(text, cap, remarks[i].text, spec);
        return true;
    }
    return false;
}

void explain_shorten(char *out, size_t cap, const char *spec)
{
    size_t used = 0;
    for (int items = 0; *spec && used + 8 < cap; spec++) {
        items = *spec == ',' ? 0 : items + (*spec == '/');
        if (items < 3) {
            out[used++] = *spec;
            continue;
        }
        size_t n = strcspn(spec, ",");
        if (memchr(spec + 1, '/', n - 1)) { /* more than one is left */
            memcpy(out + used, "...", 3);
            used += 3;
            spec += n - 1;
        } else
            out[used++] = *spec;
    }
    out[used] = 0;
}

/* ---------------------------------------------------------------- pairs */

void explain_pairs_words(char *out, size_t cap, const explain_facts *f)
{
    const pe_pair *p = &f->pair[f->pairs > 1].at; /* pair 0 looks alike in all layouts of two elements */
    int64_t head = pe_encoding_shape(f->e).head_dim, low = f->pair[0].at.x;
    bool reads_adjacent = p->y - p->x == 1 && f->pairs > 1, writes_adjacent = p->y_out - p->x_out == 1 && f->pairs > 1;
    const char *picture = !reads_adjacent   ? "half [ccss]: elements i and i + d/2 turn together"
                          : writes_adjacent ? "adjacent [cscs]: elements 2i and 2i + 1 turn together"
                                            : "adjacent-half [cscs -> ccss]: 2i and 2i + 1 turn together and are "
                                              "written to i and i + d/2";
    int n = snprintf(out, cap, "%s; %" PRId64 " pairs, ", picture, f->pairs);
    size_t used = n < 0 || (size_t)n >= cap ? cap - 1 : (size_t)n;
    if (2 * f->pairs == head)
        snprintf(out + used, cap - used, "the whole head of %" PRId64, head);
    else
        snprintf(out + used, cap - used, "%s %" PRId64 " of the head's %" PRId64 " elements",
                 low ? "the last" : "the first", 2 * f->pairs, head);
}

void explain_divisor(char out[40], double divisor)
{
    if (divisor == 1)
        snprintf(out, 40, "kept");
    else if (divisor > 1)
        snprintf(out, 40, "/ %.33s", page_number(divisor).text);
    else
        snprintf(out, 40, "x %.33s", page_number(1 / divisor).text);
}

void explain_turns_words(char *out, size_t cap, const explain_facts *f)
{
    bool windowed = f->window > 0 && f->window < f->trained;
    if (f->trained <= 0)
        snprintf(out, cap, "the trained length is not known: pass --trained N to see which pairs completed a turn");
    else if (!f->unturned_count)
        snprintf(out, cap, "every pair that turns completed at least one turn in training (%" PRId64 " positions)",
                 f->trained);
    else
        snprintf(out, cap, "%s %s (%" PRId64 " of %" PRId64 ") never completed a turn in %" PRId64 " positions%s",
                 f->unturned_count == 1 ? "pair" : "pairs", page_ranges(f->unturned, f->pairs).text, f->unturned_count,
                 f->pairs, windowed ? f->window : f->trained, windowed ? ", the window" : "");
}

/* ---------------------------------------------------------------- where extrapolation starts */

static size_t say(char *out, size_t cap, size_t used, const char *text)
{
    int n = snprintf(out + used, cap - used, "%s%s", used ? " " : "", text);
    return n < 0 || (size_t)n >= cap - used ? cap - 1 : used + (size_t)n;
}

static size_t say_end(char *out, size_t cap, size_t used, const explain_facts *f)
{
    char text[300];
    const zoo_turns *p = &f->pair[f->first];
    bool asked = f->length > 0 && !f->as_served; /* these frequencies are that length's, not the served one's */
    int64_t end = asked ? f->length : f->served;
    const char *which = asked ? "length asked for" : "served length";
    if (end <= 0)
        return used;
    if ((double)end <= p->leaves)
        snprintf(text, sizeof text, "The %s, %" PRId64 ", stays within.", which, end);
    else
        snprintf(text, sizeof text,
                 "The %s, %" PRId64 ", goes past it: pair %" PRId64 " then turns up to %s times as far as in training.",
                 which, end, f->first, page_number((double)end / p->leaves).text);
    return say(out, cap, used, text);
}

/* Some pairs leave their trained range: where, and which. */
static void say_where(char *out, size_t cap, const explain_facts *f)
{
    char how[40];
    const zoo_turns *p = &f->pair[f->first], *q = &f->pair[f->last];
    explain_divisor(how, p->divisor);
    if (!f->scaled)
        snprintf(out, cap,
                 "At position %" PRId64 ", the trained length: from there on the %" PRId64
                 " pairs that never completed a turn reach angles they never had.",
                 f->trained, f->unturned_count);
    else if (p->leaves == q->leaves)
        snprintf(out, cap,
                 "At position %s, not at %" PRId64 ": the %" PRId64
                 " pairs that never completed a turn are slowed (%s), and leave their trained range there.",
                 page_number(p->leaves).text, f->trained, f->unturned_count, how);
    else
        snprintf(out, cap,
                 "At position %s: pair %" PRId64 " (%s) is the first to reach an angle it never had in training; pair "
                 "%" PRId64 " is the last, at %s.",
                 page_number(p->leaves).text, f->first, how, f->last, page_number(q->leaves).text);
}

void explain_limit_words(char *out, size_t cap, const explain_facts *f)
{
    char text[400];
    out[0] = 0;
    if (f->trained <= 0)
        return;
    if (f->first < 0 && f->unturned_count)
        snprintf(out, cap,
                 "Nowhere: the window keeps keys less than %" PRId64
                 " places away, in training and after, so that no pair meets an angle it never had.",
                 f->window);
    else if (f->first < 0)
        snprintf(out, cap,
                 "No pair meets an angle that it never had in training; past position %" PRId64
                 " only combinations of angles are new.",
                 f->trained);
    if (f->first < 0)
        return;
    say_where(text, sizeof text, f);
    size_t used = say(out, cap, 0, text);
    if (f->unturned_count < f->pairs)
        used = say(out, cap, used, "The other pairs had every angle in training; of those, only combinations are new.");
    used = say_end(out, cap, used, f);
    if (f->scaled && f->served > f->trained)
        say(out, cap, used,
            "All of this is against the trained length that the file names. A model that was tuned at a longer one has "
            "seen more: where its makers offer the served length by a scaling of its own, posenc extend takes all of "
            "that for seen.");
}

/* SPDX-License-Identifier: MIT
 *
 * The pairs of a rotation: wavelengths, turns in training, and where extrapolation starts. */
#include "cli/explain.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PAIRS_SHOWN 9

/* ---------------------------------------------------------------- pairs */

/* "unchanged", "/ 8", "x 2" */
static number_text divisor_text(double divisor)
{
    number_text out;
    if (divisor == 1)
        snprintf(out.text, sizeof out.text, "unchanged");
    else
        snprintf(out.text, sizeof out.text, "%c %.36s", divisor > 1 ? '/' : 'x',
                 result_number(divisor > 1 ? divisor : 1 / divisor).text);
    return out;
}

static int show_pair(bool *shown, int count, int max, int64_t n)
{
    if (shown[n] || count >= max)
        return count;
    shown[n] = true;
    return count + 1;
}

/* Pairs that tell the story: ends, middle, and where something changes. shown: (pairs). */
static void choose_pairs(bool *shown, const explain_facts *f)
{
    int count = show_pair(shown, 0, PAIRS_SHOWN, 0);
    count = show_pair(shown, count, PAIRS_SHOWN, f->pairs - 1);
    for (int64_t n = 1; n < f->pairs; n++) {
        bool scaling_starts = (f->pair[n - 1].divisor == 1) != (f->pair[n].divisor == 1);
        bool rotation_ends = isfinite(f->pair[n - 1].wavelength) != isfinite(f->pair[n].wavelength);
        if (scaling_starts || rotation_ends || f->unturned[n - 1] != f->unturned[n]) {
            count = show_pair(shown, count, PAIRS_SHOWN - 2, n - 1);
            count = show_pair(shown, count, PAIRS_SHOWN - 2, n);
        }
    }
    count = show_pair(shown, count, PAIRS_SHOWN, f->pairs / 2);
    show_pair(shown, count, PAIRS_SHOWN, f->pairs / 4);
}

static void add_pair(result *out, const explain_facts *f, int64_t n, bool shown)
{
    const zoo_turns *p = &f->pair[n];
    bool rotated = isfinite(p->wavelength);
    result_open(out, RESULT_RECORD, NULL, "");
    result_int(out, "pair", "pair", n);
    result_ints(out, "elements", (int64_t[]){ p->at.x, p->at.y }, 2);
    result_ints(out, "written", (int64_t[]){ p->at.x_out, p->at.y_out }, 2);
    result_int(out, "axis", NULL, p->at.axis);
    result_real(out, "frequency", NULL, p->at.frequency);
    result_real(out, "wavelength", "wavelength", p->wavelength);
    if (!rotated)
        result_shown(out, "not rotated");
    result_real(out, "trained_wavelength", NULL, p->trained);
    result_real(out, "trained_turns", "turns in training", p->turns);
    result_real(out, "divisor", "frequency", p->divisor);
    result_shown(out, "%s", divisor_text(p->divisor).text);
    result_real(out, "new_angles_from", "new angles from", p->leaves);
    if (isinf(p->leaves))
        result_shown(out, "%s", !rotated ? "never" : f->unturned[n] ? "never (window)" : "never (all seen)");
    result_close(out);
    if (!shown)
        result_hide(out);
}

static pe_status add_pairs(result *out, const explain_facts *f, pe_error *err)
{
    bool *shown = calloc((size_t)f->pairs, sizeof *shown);
    if (!shown)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " pairs", f->pairs);
    if (f->shortest >= 0)
        choose_pairs(shown, f);
    result_open(out, RESULT_TABLE, "pairs", "");
    for (int64_t n = 0; n < f->pairs; n++)
        add_pair(out, f, n, shown[n]);
    result_close(out);
    free(shown);
    return PE_OK;
}

/* ---------------------------------------------------------------- where extrapolation starts */

/* Some pairs reach angles that they never had in training: where, and which. */
static void show_first_new_angle(result *out, const explain_facts *f)
{
    const zoo_turns *p = &f->pair[f->first], *q = &f->pair[f->last];
    if (!f->scaled)
        result_shown(out,
                     "At position %" PRId64 ", the trained length: the %" PRId64
                     " pairs with less than one turn in training reach new angles there.",
                     f->trained, f->unturned_count);
    else if (p->leaves == q->leaves)
        result_shown(out,
                     "At position %s, not at %" PRId64 ": the %" PRId64
                     " pairs with less than one turn in training now have a new frequency (%s), and reach new angles "
                     "only there.",
                     result_number(p->leaves).text, f->trained, f->unturned_count, divisor_text(p->divisor).text);
    else
        result_shown(out,
                     "At position %s: pair %" PRId64 " (%s) is the first to reach an angle that it never reached in "
                     "training; pair %" PRId64 " is the last, at %s.",
                     result_number(p->leaves).text, f->first, divisor_text(p->divisor).text, f->last,
                     result_number(q->leaves).text);
}

static void add_end_of_range(result *out, const explain_facts *f)
{
    const zoo_turns *p = &f->pair[f->first];
    bool asked = f->length > 0 && !f->as_served; /* these frequencies are that length's, not the served one's */
    int64_t end = asked ? f->length : f->served;
    const char *which = asked ? "length asked for" : "served length";
    if (end > 0 && (double)end <= p->leaves)
        result_say(out, NULL, "", "The %s, %" PRId64 ", stays below that.", which, end);
    else if (end > 0)
        result_say(out, NULL, "",
                   "The %s, %" PRId64 ", is beyond that: the angle of pair %" PRId64
                   " is then up to %s times the largest in training.",
                   which, end, f->first, result_number((double)end / p->leaves).text);
}

static void add_limit(result *out, const explain_facts *f)
{
    bool new_angles = f->first >= 0;
    result_open(out, RESULT_RECORD, NULL, "Where extrapolation starts");
    result_real(out, "extrapolates_from", "", new_angles ? f->pair[f->first].leaves : (double)f->trained);
    if (new_angles)
        show_first_new_angle(out, f);
    else if (f->unturned_count)
        result_shown(out,
                     "Nowhere: the window keeps keys less than %" PRId64
                     " positions away, in training and afterwards, so no pair reaches a new angle.",
                     f->window);
    else
        result_shown(out,
                     "No pair reaches an angle that it never had in training; past position %" PRId64
                     " only combinations of angles are new.",
                     f->trained);
    if (new_angles && f->unturned_count < f->pairs)
        result_text(out, NULL, "", "The other pairs reached every angle in training; only their combinations are new.");
    if (new_angles)
        add_end_of_range(out, f);
    if (new_angles && f->scaled && f->served > f->trained)
        result_text(
            out, NULL, "",
            "The trained length is the one in the file. A model that was fine-tuned at a longer length has seen "
            "more angles: if the model's own scaling covers the served length, posenc extend treats that length "
            "as trained.");
    result_flag(out, "new_angles", NULL, new_angles);
    result_close(out);
}

/* ---------------------------------------------------------------- wavelengths */

static void add_wavelength(result *out, const char *label, const explain_facts *f, int64_t pair)
{
    if (pair >= 0)
        result_say(out, NULL, label, "%s positions (pair %" PRId64 ")", result_number(f->pair[pair].wavelength).text,
                   pair);
}

static void add_unturned(result *out, const explain_facts *f)
{
    bool windowed = f->window > 0 && f->window < f->trained;
    if (f->trained <= 0) {
        result_text(out, NULL, "turns", "the trained length is not known; --trained N gives it");
        return;
    }
    result_int(out, "pairs_without_a_turn", "turns", f->unturned_count);
    if (!f->unturned_count)
        result_shown(out, "every rotated pair completes a turn in training (%" PRId64 " positions)", f->trained);
    else
        result_shown(out, "%s %s (%" PRId64 " of %" PRId64 ") never complete a turn in %" PRId64 " positions%s",
                     f->unturned_count == 1 ? "pair" : "pairs", result_ranges_text(f->unturned, f->pairs).text,
                     f->unturned_count, f->pairs, windowed ? f->window : f->trained, windowed ? ", the window" : "");
}

pe_status explain_rotation(result *out, const explain_facts *f, bool hidden, pe_error *err)
{
    result_open(out, RESULT_RECORD, "rotation", "Wavelengths and the trained length");
    result_real(out, "magnitude", NULL, pe_encoding_magnitude(f->e));
    result_int(out, "axes", NULL, pe_encoding_axes(f->e));
    if (f->length > 0)
        result_int(out, "length", "sequence length", f->length);
    if (f->length > 0 && f->as_served)
        result_shown(out, "%" PRId64 " positions, the served length (--length N for another)", f->length);
    result_flag(out, "scaled", NULL, f->scaled);
    add_wavelength(out, "shortest", f, f->shortest);
    add_wavelength(out, "longest", f, f->longest);
    add_unturned(out, f);
    if (f->scaled)
        result_text(out, NULL, "columns", "wavelengths are those after scaling, turns in training those before");
    pe_status s = add_pairs(out, f, err);
    if (!s && f->trained > 0)
        add_limit(out, f);
    result_close(out);
    if (hidden || f->shortest < 0)
        result_hide(out);
    return s;
}

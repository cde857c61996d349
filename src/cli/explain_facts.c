/* SPDX-License-Identifier: MIT
 *
 * What a group of layers computes: its encoding, and what each pair had of its circle in training. */
#include "cli/explain.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the two encodings */

/* Frequencies that depend on the length are looked at where the model is served, unless another is asked for. */
static int64_t wanted_length(explain_facts *f, const char *spec, int64_t asked)
{
    f->as_served = !asked && !zoo_spec_has(spec, "length");
    if (!zoo_spec_grows(spec))
        return 0;
    return asked ? asked : (int64_t)zoo_spec_num_or(spec, "length", (double)f->served);
}

/* text: a spec, which is freed; NULL: no memory was left for it. */
static pe_status new_encoding(pe_encoding **out, char *text, pe_shape shape, pe_error *err)
{
    pe_status s = text ? pe_encoding_new(out, text, shape, err) : io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    free(text);
    return s;
}

/* ---------------------------------------------------------------- pairs */

/* The widest window of the group's layers, where each has one. */
static int64_t group_window(const zoo_part *part, const zoo_group *g)
{
    int64_t most = 0;
    for (int64_t n = 0; n < part->layers; n++) {
        if (&part->group[part->layer[n].group] != g)
            continue;
        if (part->layer[n].window <= 0)
            return 0;
        most = part->layer[n].window > most ? part->layer[n].window : most;
    }
    return most;
}

static void summarise_pairs(explain_facts *f)
{
    f->first = f->last = f->shortest = f->longest = -1;
    for (int64_t n = 0; n < f->pairs; n++) {
        const zoo_turns *p = &f->pair[n];
        f->scaled |= p->divisor != 1;
        f->unturned[n] = zoo_turns_unturned(p);
        if (isfinite(p->wavelength) && (f->shortest < 0 || p->wavelength < f->pair[f->shortest].wavelength))
            f->shortest = n;
        if (isfinite(p->wavelength) && (f->longest < 0 || p->wavelength > f->pair[f->longest].wavelength))
            f->longest = n;
        if (!f->unturned[n])
            continue;
        f->unturned_count++;
        if (!isfinite(p->leaves))
            continue;
        if (f->first < 0 || p->leaves < f->pair[f->first].leaves)
            f->first = n;
        if (f->last < 0 || p->leaves > f->pair[f->last].leaves)
            f->last = n;
    }
}

static pe_status read_pairs(explain_facts *f, const pe_encoding *born, pe_error *err)
{
    pe_pair *now = calloc((size_t)f->pairs, 2 * sizeof *now);
    f->pair = calloc((size_t)f->pairs, sizeof *f->pair);
    f->unturned = calloc((size_t)f->pairs, sizeof *f->unturned);
    pe_status s = PE_OK;
    if (!now || !f->pair || !f->unturned)
        s = io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " pairs", f->pairs);
    if (!s)
        s = pe_encoding_pairs(f->e, now, f->pairs, err);
    if (!s)
        s = pe_encoding_pairs(born, now + f->pairs, f->pairs, err);
    for (int64_t n = 0; !s && n < f->pairs; n++)
        zoo_turns_measure(&f->pair[n], &now[n], &now[f->pairs + n], f->trained, f->window);
    free(now);
    if (!s)
        summarise_pairs(f);
    return s;
}

pe_status explain_group(explain_facts *out, const zoo_part *part, const zoo_group *g, int64_t length, pe_error *err)
{
    double trained = zoo_spec_num(g->spec, "trained");
    pe_encoding *born = NULL;
    *out = (explain_facts){ .trained = part->trained, .served = part->served, .window = group_window(part, g) };
    if (out->trained <= 0 && trained > 0)
        out->trained = (int64_t)trained;
    out->length = wanted_length(out, g->spec, length);
    pe_status s = new_encoding(&out->e, zoo_spec_at(g->spec, out->length), g->shape, err);
    out->pairs = s ? 0 : pe_encoding_pair_count(out->e);
    out->shortest = out->longest = out->first = out->last = -1;
    if (out->pairs > 0) {
        s = new_encoding(&born, zoo_spec_unscaled(g->spec), g->shape, err);
        if (!s)
            s = read_pairs(out, born, err);
    }
    pe_encoding_free(born);
    if (s)
        explain_clear(out);
    return s;
}

void explain_clear(explain_facts *f)
{
    pe_encoding_free(f->e);
    free(f->pair);
    free(f->unturned);
    *f = (explain_facts){ 0 };
}

/* ---------------------------------------------------------------- scores and tables */

double explain_softmax(const pe_encoding *e)
{
    return pe_encoding_scale(e) * sqrt((double)pe_encoding_shape(e).head_dim);
}

bool explain_bias(const pe_encoding *e, int64_t distance, double *score)
{
    static const int64_t zero = 0;
    int64_t heads = pe_encoding_shape(e).heads;
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(score, PE_F64, 1, 1, heads, 1),
                  .q_at = pe_positions_of(&distance, PE_I64, 1, 1, 1),
                  .k_at = pe_positions_of(&zero, PE_I64, 1, 1, 1) };
    bool good = pe_encoding_hooks(e) & PE_HOOK_BIAS && !pe_encoding_param_count(e) && pe_encoding_axes(e) == 1 &&
                !pe_encoding_inputs(e).gates;
    memset(score, 0, (size_t)heads * sizeof *score);
    for (int stage = PE_BEFORE_SCALE; good && stage <= PE_AFTER_SCALE; stage++)
        good = !pe_encoding_bias(e, (pe_stage)stage, (pe_params){ 0 }, &t, NULL);
    return good;
}

int64_t explain_end(const char *spec, const pe_encoding *e)
{
    double rows = zoo_spec_num(spec, "rows"), offset = zoo_spec_num(spec, "offset");
    if (pe_encoding_claims(e) & PE_CLAIM_ENDLESS || !(rows > 0))
        return 0;
    return (int64_t)(rows - (isnan(offset) ? 0 : offset));
}

/* SPDX-License-Identifier: MIT
 *
 * DroPE (Gelberg et al. 2025, arXiv:2512.12167): an encoding is dropped after training, and the model is trained on for
 * some steps without one, at the same length. As its authors' code does: all other weights stay, AdamW starts anew, the
 * rate warms up in 3 of 100 steps and falls on a cosine; here its peak is the race's. Data goes on where the training
 * ended. Softmax keeps its scale: queries trained with another than 1/sqrt(head_dim) are multiplied instead. */
#include "lab/race.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define DROPPED_PART 10 /* of the steps, unless told */

static int find_entry(const lab_setup *s, const char *name)
{
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].name, name) || !strcmp(s->entry[i].spec, name))
            return i;
    return -1;
}

static bool was_dropped(const lab_setup *s, const char *trained)
{
    for (int i = 0; i < s->entries; i++)
        if (s->entry[i].dropped && !strcmp(s->entry[i].trained, trained))
            return true;
    return false;
}

static pe_status add_dropped(lab_setup *s, const char *name, pe_error *err)
{
    char label[80];
    int from = find_entry(s, name);
    if (from < 0)
        return io_fail(err, PE_ERR_SPEC, "--drop has %.60s, which is not in the race; needs one of its encodings",
                       name);
    if (!strcmp(s->entry[from].trained, "none"))
        return io_fail(err, PE_ERR_SPEC, "--drop has %.60s, which has no encoding to drop", name);
    if (was_dropped(s, s->entry[from].trained))
        return io_fail(err, PE_ERR_SPEC, "--drop has %.60s, whose weights (%.60s) are there already", name,
                       s->entry[from].trained);
    snprintf(label, sizeof label, "%.55s dropped", s->entry[from].name);
    TRY(race_add_entry(s, label, "none", err));
    lab_entry *e = &s->entry[s->entries - 1];
    memcpy(e->trained, s->entry[from].trained, sizeof e->trained);
    e->dropped = 1; /* race_fill_dropped counts them */
    return PE_OK;
}

pe_status race_add_dropped(race *r, pe_error *err)
{
    char name[RACE_WORD];
    const char *at = r->asked.drop;
    r->asked.drop = NULL; /* once */
    while (at) {
        race_next_word(name, &at);
        TRY(add_dropped(&r->results.setup, name, err));
    }
    return PE_OK;
}

void race_fill_dropped(race *r)
{
    lab_setup *s = &r->results.setup;
    for (int i = 0; i < s->entries; i++)
        if (s->entry[i].dropped)
            s->entry[i].dropped =
                r->asked.drop_steps ? r->asked.drop_steps : (s->steps + DROPPED_PART - 1) / DROPPED_PART;
}

int race_trained_before(const race *r, const race_training *t)
{
    const lab_setup *s = &r->results.setup;
    for (int i = 0; i < r->trainings; i++) {
        const lab_entry *e = &s->entry[r->training[i].entry];
        if (r->training[i].seed == t->seed && !e->dropped && !strcmp(e->trained, s->entry[t->entry].trained))
            return i;
    }
    return -1;
}

static pe_status keep_scale(model *m, const char *trained, pe_error *err)
{
    const model_config *c = model_settings(m);
    pe_encoding *before;
    TRY(pe_encoding_new(&before, trained, (pe_shape){ c->heads, c->kv_heads, c->head_dim, c->width }, err));
    model_scale_queries(m, pe_encoding_scale(before) / pe_encoding_scale(model_encoding(m)));
    pe_encoding_free(before);
    return PE_OK;
}

pe_status race_take_dropped(model *m, const race *r, const race_training *t, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    const lab_entry *e = &s->entry[t->entry];
    int before = race_trained_before(r, t);
    checkpoint_state state = { 0 };
    char skipped[300] = "";
    bool found = false;
    if (before < 0)
        return io_fail(err, PE_ERR_FORMAT, "race.json has %s and not %s, which it goes on from", e->name, e->trained);
    const race_training *from = &r->training[before];
    checkpoint_wanted want = { race_fingerprint(s, from), s->steps, NULL };
    TRY(checkpoint_newest(from->folder, m, NULL, &state, &want, &found, skipped, sizeof skipped, err));
    if (!found || state.step != s->steps)
        return io_fail(err, PE_ERR_FORMAT, "%s has no checkpoint of step %" PRId64 ", which %s goes on from%s%s",
                       from->folder, s->steps, e->name, *skipped ? ": " : "", skipped);
    return keep_scale(m, e->trained, err);
}

/* SPDX-License-Identifier: MIT
 *
 * The weights of a finished race, a file for each training (model/file.h). */
#include "lab/release.h"

#include "base/try.h"
#include "lab/race.h"
#include "model/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct release {
    const char *folder, *to;
    const lab_setup *s;
    lab_released *written;
    void *with;
    int bits;
} release;

/* The last weights of a training: those after its last step. */
static pe_status load_last(model *m, const release *r, const race_training *t, pe_error *err)
{
    checkpoint_state state = { 0 };
    char skipped[300] = "";
    bool found = false;
    int64_t steps = race_steps(r->s, t);
    checkpoint_wanted want = { race_fingerprint(r->s, t), steps, NULL };
    TRY(checkpoint_newest(t->folder, m, NULL, &state, &want, &found, skipped, sizeof skipped, err));
    if (found && state.step == steps)
        return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%s has no checkpoint of step %" PRId64 "%s%s; finish the race with posenc race "
                   "--resume %s", t->folder, steps, *skipped ? ": " : "", skipped, r->folder);
}

static pe_status write_model(const release *r, model *m, const race_training *t, pe_error *err)
{
    char path[RACE_FOLDER + 160];
    const io_model about = { .trained = r->s->train_length,
                             .steps = race_steps(r->s, t),
                             .seed = (int64_t)t->seed,
                             .data = r->s->data };
    const char *slug = r->s->entry[t->entry].slug;
    if ((size_t)snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".safetensors", r->to, slug, t->seed) >= sizeof path)
        return io_fail(err, PE_ERR_RANGE, "%s: the name is too long", r->to);
    TRY(load_last(m, r, t, err));
    TRY(model_save(path, m, &about, r->bits, err));
    r->written(r->with, path, m);
    return PE_OK;
}

static pe_status release_one(const release *r, const race_training *t, pe_error *err)
{
    const lab_entry *e = &r->s->entry[t->entry];
    model_config c = race_model(r->s);
    model *m;
    TRY(model_new(&m, &c, e->dropped ? e->spec : e->trained, NULL, err));
    pe_status s = write_model(r, m, t, err);
    model_free(m);
    return s;
}

static pe_status release_all(const release *r, pe_error *err)
{
    if (lab_is_eval(r->s))
        return io_fail(err, PE_ERR_SPEC, "%s is an eval, which trained nothing; needs the folder of a race", r->folder);
    TRY(lab_folder_new(r->to, err));
    for (int i = 0; i < r->s->entries; i++)
        for (int k = 0; k < r->s->seeds && race_trains_first(r->s, i); k++) {
            race_training t = { .entry = i, .seed = r->s->seed[k] };
            race_training_folder(&t, r->folder, r->s);
            TRY(release_one(r, &t, err));
        }
    return PE_OK;
}

pe_status lab_release(const char *folder, const char *to, int bits, lab_released *written, void *with, pe_error *err)
{
    lab_setup *s = malloc(sizeof *s);
    if (!s)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its settings", folder);
    pe_status status = lab_read_setup(s, folder, err);
    if (!status)
        status = release_all(&(release){ folder, to, s, written, with, bits }, err);
    free(s);
    return status;
}

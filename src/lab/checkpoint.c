/* SPDX-License-Identifier: MIT */
#include "checkpoint.h"

#include "io/checked.h"
#include "io/json_text.h"
#include "io/sort.h"
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "step-"
#define SUFFIX ".safetensors"

static void checkpoint_name(char out[CHECKPOINT_NAME_MAX], int64_t step)
{
    snprintf(out, CHECKPOINT_NAME_MAX, PREFIX "%08" PRId64 SUFFIX, step);
}

static pe_status checkpoint_path(char *out, size_t cap, const char *folder, int64_t step, pe_error *err)
{
    char name[CHECKPOINT_NAME_MAX];
    checkpoint_name(name, step);
    int length = snprintf(out, cap, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= cap)
        return io_fail(err, PE_ERR_RANGE, "%s: the name is too long; needs %zu bytes or less", folder,
                       cap - CHECKPOINT_NAME_MAX);
    return PE_OK;
}

/* Accepts only names that checkpoint_name makes: step-1 is not one of them. */
static bool step_of(int64_t *step, const char *name)
{
    char again[CHECKPOINT_NAME_MAX];
    size_t digits = strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? strspn(name + strlen(PREFIX), "0123456789") : 0;
    if (digits == 0 || !io_json_whole(step, name + strlen(PREFIX), digits))
        return false;
    checkpoint_name(again, *step);
    return strcmp(again, name) == 0;
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static pe_status append_step(int64_t **steps, size_t *count, size_t *room, int64_t step, pe_error *err)
{
    if (*count == *room) {
        size_t more, bytes;
        int64_t *grown =
            io_mul(&more, *room ? *room : 8, 2) && io_mul(&bytes, more, sizeof **steps) ? realloc(*steps, bytes) : NULL;
        if (!grown)
            return io_fail(err, PE_ERR_NOMEM, "no memory for a list of %zu checkpoints", *count);
        *steps = grown;
        *room = more;
    }
    (*steps)[(*count)++] = step;
    return PE_OK;
}

static struct dirent *next_of(DIR *d)
{
    errno = 0; /* the end of the folder and an error are told apart by it */
    return readdir(d);
}

/* The steps of the files there, newest first: malloc'ed. A folder that is not there has none. */
static pe_status checkpoint_list(int64_t **steps, size_t *count, const char *folder, pe_error *err)
{
    size_t room = 0;
    int64_t step;
    pe_status s = PE_OK;
    *steps = NULL;
    *count = 0;
    DIR *d = opendir(folder);
    if (!d && errno == ENOENT)
        return PE_OK;
    if (!d)
        return io_fail(err, PE_ERR_IO, "%s: cannot be listed: %s", folder, strerror(errno));
    for (struct dirent *e = next_of(d); s == PE_OK && e; e = next_of(d))
        if (step_of(&step, e->d_name))
            s = append_step(steps, count, &room, step, err);
    if (s == PE_OK && errno != 0)
        s = io_fail(err, PE_ERR_IO, "%s: cannot be listed: %s", folder, strerror(errno));
    closedir(d);
    if (s == PE_OK) {
        io_sort(*steps, *count, sizeof **steps, newest_first);
    } else {
        free(*steps);
        *steps = NULL;
        *count = 0;
    }
    return s;
}

void checkpoint_remove_old(const char *folder, int64_t step, int keep)
{
    char path[1100];
    int64_t *steps;
    size_t count;
    if (checkpoint_list(&steps, &count, folder, NULL) != PE_OK)
        return;
    keep = keep < 1 ? 1 : keep;
    for (size_t i = 0; i < count; i++)
        if (steps[i] <= step && keep-- <= 0 && checkpoint_path(path, sizeof path, folder, steps[i], NULL) == PE_OK)
            unlink(path);
    free(steps);
}

/* ---------------------------------------------------------------- checkpoint */

/* A checkpoint is one sealed safetensors file (io_safetensors_save): weights under their names, so that anyone can read
 * them, both moments of Adam, and the rest of the state as metadata. Nothing of a file reaches the model before all of
 * it was found right. */

static const char *const prefix[] = { "", "adam.first.", "adam.second." };

typedef struct part {
    char name[112];
    const model_tensor *shape;
    real *data;
} part;

/* Weights, then first and second moments; a NULL: weights alone. */
static int part_count(const model *m, const adam *a)
{
    return model_tensor_count(m) * (a ? 3 : 1);
}

static part part_at(model *m, const adam *a, int index)
{
    int kind = index / model_tensor_count(m);
    part p = { .shape = model_tensor_at(m, index % model_tensor_count(m)) };
    real *start = kind == 0 ? model_weights(m) : kind == 1 ? a->first : a->second;
    snprintf(p.name, sizeof p.name, "%s%s", prefix[kind], p.shape->name);
    p.data = start + p.shape->offset;
    return p;
}

/* ---------------------------------------------------------------- state as metadata */

#define META 10
#define META_TEXT 40

static void put_state(io_pair meta[META], char text[META][META_TEXT], const checkpoint_state *s, const adam *a)
{
    static const char *const keys[META] = {
        "format", "step", "seed", "seconds", "log_size", "config", "adam_step", "losses", "loss_sum", "spec",
    };
    uint64_t sum;
    memcpy(&sum, &s->loss_sum, sizeof sum);
    snprintf(text[0], META_TEXT, "posenc checkpoint 1");
    snprintf(text[1], META_TEXT, "%" PRId64, s->step);
    snprintf(text[2], META_TEXT, "%016" PRIx64, s->seed);
    io_print_real(text[3], META_TEXT, s->seconds);
    snprintf(text[4], META_TEXT, "%" PRId64, s->log_size);
    snprintf(text[5], META_TEXT, "%016" PRIx64, s->config);
    snprintf(text[6], META_TEXT, "%" PRId64, a ? a->step : s->step);
    snprintf(text[7], META_TEXT, "%" PRId64, s->losses);
    snprintf(text[8], META_TEXT, "%016" PRIx64, sum); /* its bits */
    for (int i = 0; i < META; i++)
        meta[i] = (io_pair){ keys[i], i == META - 1 ? s->trained : text[i] };
}

static pe_status get_bits(uint64_t *out, const io_safetensors *st, const char *key, const char *name, pe_error *err)
{
    static const char digits[] = "0123456789abcdef";
    const char *text;
    pe_status s = io_safetensors_text(&text, st, key, name, err);
    if (s != PE_OK)
        return s;
    if (strlen(text) != 16 || strspn(text, digits) != 16)
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s; needs 16 digits of base 16", name, key, text);
    *out = 0;
    for (int i = 0; i < 16; i++)
        *out = *out << 4 | (uint64_t)(strchr(digits, text[i]) - digits);
    return PE_OK;
}

static pe_status get_spec(checkpoint_state *out, const io_safetensors *st, const char *name, pe_error *err)
{
    const char *text;
    pe_status s = io_safetensors_text(&text, st, "spec", name, err);
    if (s != PE_OK)
        return s;
    if (strlen(text) >= sizeof out->trained)
        return io_fail(err, PE_ERR_FORMAT, "%s: spec has %zu bytes; needs less than %zu", name, strlen(text),
                       sizeof out->trained);
    strcpy(out->trained, text);
    return PE_OK;
}

static pe_status get_state(checkpoint_state *out, int64_t *adam_step, const io_safetensors *st, const char *name,
                           pe_error *err)
{
    uint64_t sum = 0;
    pe_status s = io_safetensors_whole(&out->step, st, "step", name, err);
    if (s == PE_OK)
        s = get_bits(&out->seed, st, "seed", name, err);
    if (s == PE_OK)
        s = io_safetensors_real(&out->seconds, st, "seconds", name, err);
    if (s == PE_OK)
        s = io_safetensors_whole(&out->log_size, st, "log_size", name, err);
    if (s == PE_OK)
        s = get_bits(&out->config, st, "config", name, err);
    if (s == PE_OK)
        s = io_safetensors_whole(adam_step, st, "adam_step", name, err);
    if (s == PE_OK)
        s = get_spec(out, st, name, err);
    if (s == PE_OK)
        s = io_safetensors_whole(&out->losses, st, "losses", name, err);
    if (s == PE_OK)
        s = get_bits(&sum, st, "loss_sum", name, err);
    memcpy(&out->loss_sum, &sum, sizeof sum);
    return s;
}

/* ---------------------------------------------------------------- saving */

static pe_status save_parts(const char *path, model *m, const adam *a, const checkpoint_state *s, pe_error *err)
{
    char text[META][META_TEXT];
    io_pair meta[META];
    int count = part_count(m, a);
    part *parts = calloc((size_t)count, sizeof *parts);
    io_tensor *tensors = calloc((size_t)count, sizeof *tensors);
    pe_status bad = PE_OK;
    if (!parts || !tensors)
        bad = io_fail(err, PE_ERR_NOMEM, "%s: no memory for the names of %d tensors", path, count);
    for (int i = 0; bad == PE_OK && i < count; i++) {
        parts[i] = part_at(m, a, i);
        tensors[i] = (io_tensor){ .name = parts[i].name, .bytes = (const uint8_t *)parts[i].data };
        tensors[i].type = io_type_of(MODEL_TYPE);
        tensors[i].rank = parts[i].shape->rank;
        memcpy(tensors[i].shape, parts[i].shape->shape, sizeof parts[i].shape->shape);
    }
    put_state(meta, text, s, a);
    if (bad == PE_OK)
        bad = io_safetensors_save(path, tensors, (size_t)count, meta, META, err);
    free(tensors);
    free(parts);
    return bad;
}

pe_status checkpoint_save(const char *folder, model *m, const adam *a, const checkpoint_state *s, int keep,
                          pe_error *err)
{
    char path[1100];
    pe_status bad = checkpoint_path(path, sizeof path, folder, s->step, err);
    if (bad != PE_OK)
        return bad;
    bad = save_parts(path, m, a, s, err);
    if (bad == PE_OK)
        checkpoint_remove_old(folder, s->step, keep);
    return bad;
}

/* ---------------------------------------------------------------- loading */

static pe_status find_part(const io_tensor **out, const io_safetensors *st, const part *p, const char *name,
                           pe_error *err)
{
    const io_tensor *t = io_safetensors_find(st, p->name);
    if (!t)
        return io_fail(err, PE_ERR_FORMAT, "%s: has no tensor %s", name, p->name);
    bool same = t->type == io_type_of(MODEL_TYPE) && t->rank == p->shape->rank;
    for (int i = 0; same && i < t->rank; i++)
        same = t->shape[i] == p->shape->shape[i];
    if (!same)
        return io_fail(err, PE_ERR_SHAPE, "%s: %s has another type or shape than in this model", name, p->name);
    *out = t;
    return PE_OK;
}

/* First looks at all, then copies all. */
static pe_status take_parts(const io_safetensors *st, model *m, adam *a, const char *name, pe_error *err)
{
    const io_tensor *t = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < part_count(m, a); i++) {
            part p = part_at(m, a, i);
            pe_status s = find_part(&t, st, &p, name, err);
            if (s != PE_OK)
                return s;
            if (pass)
                memcpy(p.data, t->bytes, t->size);
        }
    return PE_OK;
}

/* step: of its name; -1: any. */
static pe_status check_state(const checkpoint_state *s, int64_t adam_step, const checkpoint_wanted *want, int64_t step,
                             const char *name, pe_error *err)
{
    pe_error why = { 0 };
    if (s->config != want->config)
        return io_fail(err, PE_ERR_FORMAT, "%s: is of a run with other settings (%016" PRIx64 ", not %016" PRIx64 ")",
                       name, s->config, want->config);
    if (!isfinite(s->loss_sum))
        return io_fail(err, PE_ERR_FORMAT, "%s: loss_sum is not finite", name);
    if (step >= 0 && s->step != step)
        return io_fail(err, PE_ERR_FORMAT, "%s: is of step %" PRId64 ", not what its name says", name, s->step);
    if (adam_step != s->step)
        return io_fail(err, PE_ERR_FORMAT, "%s: adam_step is %" PRId64 "; needs %" PRId64 ", its step", name, adam_step,
                       s->step);
    if (s->losses > s->step)
        return io_fail(err, PE_ERR_FORMAT, "%s: losses is %" PRId64 "; needs %" PRId64 ", its step, or less", name,
                       s->losses, s->step);
    if (want->steps && s->step > want->steps)
        return io_fail(err, PE_ERR_FORMAT, "%s: is of step %" PRId64 "; the run has %" PRId64, name, s->step,
                       want->steps);
    pe_status bad = want->log ? lab_log_check(want->log, s->log_size, &why) : PE_OK;
    return bad == PE_OK ? PE_OK : io_fail(err, bad, "%s: %s", name, why.text);
}

static pe_status take_tensors(const io_safetensors *st, model *m, adam *a, checkpoint_state *out,
                              const checkpoint_wanted *want, int64_t step, const char *name, pe_error *err)
{
    checkpoint_state state = { 0 };
    int64_t adam_step = 0;
    pe_status s = get_state(&state, &adam_step, st, name, err);
    if (s == PE_OK)
        s = check_state(&state, adam_step, want, step, name, err);
    if (s == PE_OK)
        s = take_parts(st, m, a, name, err);
    if (s != PE_OK)
        return s;
    if (a)
        a->step = adam_step;
    *out = state;
    return PE_OK;
}

static pe_status parse(io_bytes *file, model *m, adam *a, checkpoint_state *s, const checkpoint_wanted *want,
                       int64_t step, pe_error *err)
{
    const char *name = file->name;
    io_safetensors *st = NULL;
    pe_status bad = io_safetensors_check_seal(file, err);
    if (bad == PE_OK)
        bad = io_safetensors_parse(&st, file, err);
    if (bad == PE_OK)
        bad = take_tensors(st, m, a, s, want, step, name, err);
    io_safetensors_free(st);
    io_bytes_free(file);
    return bad;
}

pe_status checkpoint_parse(io_bytes *file, model *m, adam *a, checkpoint_state *s, uint64_t config, pe_error *err)
{
    return parse(file, m, a, s, &(checkpoint_wanted){ .config = config }, -1, err);
}

static pe_status load_step(const char *folder, int64_t step, model *m, adam *a, checkpoint_state *out,
                           const checkpoint_wanted *want, pe_error *err)
{
    char path[1100], name[CHECKPOINT_NAME_MAX];
    io_bytes file;
    checkpoint_name(name, step);
    pe_status s = checkpoint_path(path, sizeof path, folder, step, err);
    if (s == PE_OK)
        s = io_read_file(&file, path, IO_CAP_DATA, err);
    if (s != PE_OK)
        return s;
    file.name = name;
    return parse(&file, m, a, out, want, step, err);
}

static void pass_over(char *skipped, size_t cap, const char *why)
{
    size_t used = strlen(skipped);
    int length = snprintf(skipped + used, cap - used, "%s%s", used ? "; " : "", why);
    if (length >= 0 && (size_t)length >= cap - used && cap > sizeof "...")
        io_end_with_dots(skipped, cap);
}

pe_status checkpoint_newest(const char *folder, model *m, adam *a, checkpoint_state *s, const checkpoint_wanted *want,
                            bool *found, char *skipped, size_t cap, pe_error *err)
{
    int64_t *steps;
    size_t count;
    char none[1];
    pe_error why = { 0 };
    *found = false;
    skipped = cap ? skipped : none;
    cap = cap ? cap : sizeof none;
    skipped[0] = '\0';
    pe_status bad = checkpoint_list(&steps, &count, folder, err);
    for (size_t i = 0; bad == PE_OK && !*found && i < count; i++) {
        pe_status one = load_step(folder, steps[i], m, a, s, want, &why);
        *found = one == PE_OK;
        if (one == PE_ERR_NOMEM) /* the file may be good */
            bad = io_fail(err, one, "%s", why.text);
        else if (one != PE_OK)
            pass_over(skipped, cap, why.text);
    }
    free(steps);
    return bad;
}

/* SPDX-License-Identifier: MIT
 *
 * The setup of a race: its list of specs, which can be trained, which entries share a training, how many steps fit the
 * time. */
#include "io/checked.h"
#include "io/io.h"
#include "io/json_out.h"
#include "lab/race.h"
#include "lab/specs.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which encodings take part: from the command line or from a sweep's file. */

#define SLUG 40 /* letters of a name that its folder keeps */

static bool slug_is_taken(const lab_setup *s, const char *slug)
{
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].slug, slug))
            return true;
    return false;
}

/* The name in characters that every file system allows, different from all earlier ones. */
static void make_slug(lab_entry *e, const lab_setup *s)
{
    char base[SLUG + 1];
    int n = 0;
    for (const char *c = e->name; *c && n < SLUG; c++, n++)
        base[n] = isalnum((unsigned char)*c) || (*c == '.' && n) ? *c : '-';
    base[n] = 0;
    snprintf(e->slug, sizeof e->slug, "%s", base);
    for (int i = 2; slug_is_taken(s, e->slug); i++)
        snprintf(e->slug, sizeof e->slug, "%s-%d", base, i);
}

pe_status race_add_entry(lab_setup *s, const char *name, const char *spec, pe_error *err)
{
    lab_entry e = { 0 };
    if (s->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_SPEC, "%.60s is one encoding too many: a race takes %d", name, LAB_ENTRIES_MAX);
    if (!*spec || !*name)
        return io_fail(err, PE_ERR_SPEC, "an encoding of the list is empty; needs a spec such as rope or alibi");
    if (*name == '-') /* programs would take the folder's name for an option */
        return io_fail(err, PE_ERR_SPEC, "%.60s starts with -; a name starts with a letter or a digit", name);
    if (strlen(spec) >= sizeof e.spec)
        return io_fail(err, PE_ERR_SPEC, "%.60s... has %zu characters; a spec of a race has %zu at most", spec,
                       strlen(spec), sizeof e.spec - 1);
    snprintf(e.spec, sizeof e.spec, "%s", spec);
    if ((size_t)snprintf(e.name, sizeof e.name, "%s", name) >= sizeof e.name)
        io_end_with_dots(e.name, sizeof e.name);
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].name, e.name))
            return io_fail(err, PE_ERR_SPEC, "%s is there twice; a name stands for one encoding", e.name);
    make_slug(&e, s);
    s->entry[s->entries++] = e;
    return PE_OK;
}

/* key=value, which goes on with the spec before the comma. */
static bool goes_on(const char *word)
{
    size_t n = strcspn(word, "=:,+");
    return word[n] == '=';
}

void race_next_word(char out[RACE_WORD], const char **at)
{
    const char *end = *at + strcspn(*at, ",");
    while (*end && goes_on(end + 1))
        end += 1 + strcspn(end + 1, ",");
    snprintf(out, RACE_WORD, "%.*s", (int)(end - *at < RACE_WORD ? end - *at : RACE_WORD - 1), *at);
    *at = *end ? end + 1 : NULL;
}

pe_status race_add_list(lab_setup *s, const char *list, pe_error *err)
{
    char spec[RACE_WORD];
    for (const char *at = list; at;) {
        race_next_word(spec, &at);
        TRY(race_add_entry(s, spec, spec, err));
    }
    return PE_OK;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n && strchr(" \t\r", text[n - 1]))
        text[--n] = 0;
    return text;
}

/* "name = spec" has its = before any colon; "rope:theta=10000" has not. */
static pe_status add_line(lab_setup *s, char *line, pe_error *err)
{
    line[strcspn(line, "#")] = 0;
    line = trim(line);
    if (!*line)
        return PE_OK;
    char *mark = line + strcspn(line, "=:");
    if (*mark != '=')
        return race_add_entry(s, line, line, err);
    *mark = 0;
    return race_add_entry(s, trim(line), trim(mark + 1), err);
}

pe_status race_add_file(race_asked *out, const char *path, pe_error *err)
{
    lab_setup *s = &out->setup;
    io_bytes file;
    int number = 0;
    pe_error why = { 0 };
    TRY(io_read_file(&file, path, IO_CAP_TEXT, err));
    if (strlen((char *)file.data) < file.size) { /* lines after it would be lost */
        io_bytes_free(&file);
        return io_fail(err, PE_ERR_FORMAT, "%s: a byte of it is 0; needs text", path);
    }
    pe_status status = PE_OK;
    for (char *line = (char *)file.data; line && !status; number++) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        int before = s->entries;
        status = add_line(s, line, &why);
        if (s->entries > before)
            out->line[before] = number + 1;
        line = end ? end + 1 : NULL;
    }
    io_bytes_free(&file);
    out->sweep = path;
    return status ? io_fail(err, status, "%s: line %d: %s", path, number, why.text) : PE_OK;
}

/* What was asked, looked at before anything starts; and what follows from it. */

static pe_status check_axes(const race *r, const model *m, pe_error *err)
{
    int64_t axes = pe_encoding_axes(model_encoding(m)), there = lab_data_axes(r->data);
    if (axes <= 1 || axes == there)
        return PE_OK;
    return io_fail(err, PE_ERR_UNSUITED,
                   "wants %" PRId64 " coordinates of each token; %s has %" PRId64 "; try --data grid", axes,
                   r->results.setup.data, there);
}

/* What follows from what was asked, as the model says. */
static void fill_in(lab_setup *s, const model *m)
{
    const model_config *c = model_settings(m);
    s->kv_heads = c->kv_heads;
    s->hidden = c->hidden;
    snprintf(s->kernels, sizeof s->kernels, "%s", pe_encoding_kernels(model_encoding(m)));
}

/* The spec as asked, at the length of the training. */
static pe_status check_spec(const lab_setup *s, const lab_entry *e, pe_error *err)
{
    pe_shape shape = { s->heads, s->kv_heads, s->width / s->heads, s->width };
    pe_encoding *own;
    char *here = lab_spec_at(e->spec, s->train_length, s->train_length, s->causal);
    pe_status status =
        here ? pe_encoding_new(&own, here, shape, err) : io_fail(err, PE_ERR_NOMEM, "no memory to check %s", e->name);
    free(here);
    if (!status)
        pe_encoding_free(own);
    return status;
}

/* One pass at the length of the training, with the numbers a training begins with: what cannot serve it is refused now,
 * and not after others have trained. */
static pe_status check_pass(const race *r, model *m, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    lab_batch b;
    TRY(lab_batch_new(&b, r->data, LAB_TRAIN, 1, s->train_length, err));
    lab_data_train(r->data, &b, s->seed[0], 0);
    model_init(m, s->seed[0]);
    model_batch batch = race_batch(m, &b);
    real *losses = calloc((size_t)s->train_length, sizeof *losses);
    pe_status status = losses ? model_losses(m, &batch, losses, NULL, err)
                              : io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " losses", s->train_length);
    free(losses);
    lab_batch_free(&b);
    return status;
}

static pe_status fill_trained(const lab_setup *s, lab_entry *e, pe_error *err)
{
    char *trained = lab_spec_trained(e->spec, s->train_length, s->causal);
    size_t size = trained ? strlen(trained) : 0;
    snprintf(e->trained, sizeof e->trained, "%s", trained ? trained : "");
    free(trained);
    if (!size || size >= sizeof e->trained)
        return io_fail(err, PE_ERR_NOMEM, "no room for the spec that %s is trained with", e->name);
    return PE_OK;
}

/* The spec that is trained, and a model with it. */
static pe_status check_entry(race *r, lab_entry *e, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    model *m;
    TRY(check_spec(s, e, err));
    if (!e->dropped)
        TRY(fill_trained(s, e, err));
    model_config c = race_model(s);
    TRY(model_new(&m, &c, e->trained, r->pool, err));
    fill_in(s, m);
    pe_status status = check_axes(r, m, err);
    if (!status)
        status = race_set_rates(r, e, m, err);
    if (!status && e->dropped && model_use(m, e->spec, NULL))
        status = io_fail(err, PE_ERR_UNSUITED, "%s is joined to the embedding, so it cannot be dropped", e->trained);
    if (!status)
        status = check_pass(r, m, err);
    model_free(m);
    return status;
}

/* A name may come from a file, and is printed. */
static pe_status check_name(const lab_entry *e, pe_error *err)
{
    unsigned code;
    for (const char *at = e->name; *at;) {
        int n = out_character(at, &code);
        if (!n || out_is_order(code))
            return io_fail(err, PE_ERR_SPEC, "the name %s has a character that is none; needs text in UTF-8", e->name);
        at += n;
    }
    return PE_OK;
}

static int64_t tokens_of_a_step(const lab_setup *s)
{
    int64_t tokens;
    return io_mul_i64(&tokens, s->batch, s->train_length) ? tokens : INT64_MAX;
}

/* The files of a folder to resume are untrusted: their numbers are checked like those of the command line. */
static pe_status check_numbers(const lab_setup *s, pe_error *err)
{
    const struct {
        const char *name;
        int64_t value, min, max;
    } numbers[] = {
        { "layers", s->layers, 1, 1024 },
        { "width", s->width, 1, 65536 },
        { "heads", s->heads, 1, 4096 },
        { "kv-heads", s->kv_heads, 0, 4096 },
        { "hidden", s->hidden, 0, 1 << 20 },
        { "train-length", s->train_length, 16, 1 << 20 },
        { "batch", s->batch, 1, 65536 },
        { "tokens of a step", tokens_of_a_step(s), 16, 1 << 26 },
        { "steps", s->steps, s->minutes > 0 ? 0 : 1, INT64_C(1) << 31 },
        { "warmup", s->warmup, 0, INT64_C(1) << 40 },
        { "test-tokens", s->test_tokens, 1, INT64_C(1) << 40 },
        { "the number of seeds", s->seeds, 1, LAB_SEEDS_MAX },
        { "the number of encodings", s->entries, 1, LAB_ENTRIES_MAX },
        { "the number of test lengths", s->tests, 1, LAB_TESTS_MAX },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < numbers[i].min || numbers[i].value > numbers[i].max)
            return io_fail(err, PE_ERR_RANGE, "%s is %" PRId64 "; needs %" PRId64 " to %" PRId64, numbers[i].name,
                           numbers[i].value, numbers[i].min, numbers[i].max);
    if (s->width % s->heads)
        return io_fail(err, PE_ERR_SHAPE,
                       "width is %" PRId64 " and heads are %" PRId64 "; needs a multiple of the heads", s->width,
                       s->heads);
    return PE_OK;
}

/* Lengths that the source has, each once, in order. */
static pe_status check_lengths(race *r, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    int kept = 0;
    s->train_length = lab_data_length(r->data, s->train_length);
    for (int i = 0; i < s->tests; i++) {
        int64_t length = lab_data_length(r->data, s->test[i]);
        if (s->test[i] < 16 || s->test[i] > 1 << 20)
            return io_fail(err, PE_ERR_RANGE, "a test length is %" PRId64 "; needs 16 to 1048576", s->test[i]);
        if (lab_data_windows(r->data, length) < 1)
            return io_fail(err, PE_ERR_RANGE,
                           "there is no window of %" PRId64 " tokens to test on (%s); needs a longer text", length,
                           s->data);
        int at = kept;
        while (at > 0 && s->test[at - 1] >= length)
            at--;
        if (at < kept && s->test[at] == length)
            continue;
        memmove(&s->test[at + 1], &s->test[at], (size_t)(kept - at) * sizeof s->test[0]);
        s->test[at] = length;
        kept++;
    }
    s->tests = kept;
    return PE_OK;
}

/* Which one of them is meant, if that is not said already. */
static pe_status check_one(race *r, int index, pe_error *err)
{
    lab_entry *e = &r->results.setup.entry[index];
    int line = r->asked.line[index];
    char place[300] = "";
    pe_error why = { 0 };
    pe_status status = check_name(e, &why);
    if (!status)
        status = check_entry(r, e, &why);
    if (!status)
        return PE_OK;
    if (line)
        snprintf(place, sizeof place, "%.250s: line %d: ", r->asked.sweep, line);
    bool named = !strncmp(why.text, e->name, strlen(e->name));
    return io_fail(err, status, "%s%s%s%s", place, named ? "" : e->name, named ? "" : ": ", why.text);
}

pe_status race_check(race *r, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    TRY(check_numbers(s, err));
    TRY(check_lengths(r, err));
    for (int i = 0; i < s->entries; i++) {
        TRY(check_one(r, i, err));
        if (i == s->entries - 1 && !r->asked.resume)
            TRY(race_add_dropped(r, err)); /* which may be more entries, to be checked too */
    }
    return race_check_rates(r, err);
}

/* The trainings: one for each trained spec and seed, and its fingerprint. */

model_config race_model(const lab_setup *s)
{
    return (model_config){ .vocab = s->vocab,
                           .embed_scale = sqrt((double)s->width), /* tokens as large as the codes added to them */
                           .layers = s->layers,
                           .width = s->width,
                           .heads = s->heads,
                           .kv_heads = s->kv_heads,
                           .hidden = s->hidden,
                           .causal = s->causal };
}

bool race_shares(const lab_setup *s, int entry, const race_training *t)
{
    return lab_trained_alike(&s->entry[entry], &s->entry[t->entry]);
}

const char *race_spec_at(char out[400], const lab_setup *s, int entry, int64_t length)
{
    char *spec = lab_spec_at(s->entry[entry].spec, s->train_length, length, s->causal);
    snprintf(out, 400, "%s", spec ? spec : "");
    free(spec);
    return spec ? out : NULL;
}

int64_t race_steps(const lab_setup *s, const race_training *t)
{
    return s->entry[t->entry].dropped ? s->entry[t->entry].dropped : s->steps;
}

static uint64_t hash_text(uint64_t hash, const char *text) /* FNV-1a */
{
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

uint64_t race_fingerprint(const lab_setup *s, const race_training *t)
{
    char text[1200];
    const lab_entry *e = &s->entry[t->entry];
    snprintf(text, sizeof text,
             "%s seed %" PRIu64 " data %" PRIx64 " model %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
             " %" PRId64 " %d schedule %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %a %a %a",
             e->trained, t->seed, s->data_fingerprint, s->layers, s->width, s->heads, s->kv_heads, s->hidden, s->vocab,
             s->causal, s->train_length, s->batch, s->steps, s->warmup, s->rate, s->decay, s->clip);
    uint64_t hash = hash_text(0xcbf29ce484222325u, text);
    for (int i = 0; i < e->tensors; i++) {
        snprintf(text, sizeof text, " %s %a %a", e->tensor[i].name, e->tensor[i].rate, e->tensor[i].decay);
        hash = hash_text(hash, text);
    }
    snprintf(text, sizeof text, " dropped %" PRId64, e->dropped);
    return e->dropped ? hash_text(hash, text) : hash;
}

bool race_trains_first(const lab_setup *s, int entry)
{
    for (int i = 0; i < entry; i++)
        if (lab_trained_alike(&s->entry[i], &s->entry[entry]))
            return false;
    return true;
}

void race_training_folder(race_training *t, const char *folder, const lab_setup *s)
{
    snprintf(t->folder, sizeof t->folder, "%s/%s-%" PRIu64, folder, s->entry[t->entry].slug, t->seed);
}

/* Seed by seed, so that the first has a full table early. */
pe_status race_plan(race *r, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    size_t most = (size_t)s->entries * (size_t)s->seeds;
    r->training = calloc(most, sizeof *r->training);
    r->results.run = calloc(most, sizeof *r->results.run);
    if (!r->training || !r->results.run)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %zu trainings", most);
    for (int k = 0; k < s->seeds; k++)
        for (int i = 0; i < s->entries; i++) {
            if (!race_trains_first(s, i))
                continue;
            race_training *t = &r->training[r->trainings];
            *t = (race_training){ .entry = i, .seed = s->seed[k] };
            race_training_folder(t, r->asked.folder, s);
            r->results.run[r->trainings] = (lab_run){ .entry = i, .seed = s->seed[k], .folder = strdup(t->folder) };
            r->results.runs = ++r->trainings;
            if (!r->results.run[r->trainings - 1].folder)
                return io_fail(err, PE_ERR_NOMEM, "no memory for %zu trainings", most);
        }
    return PE_OK;
}

/* Minutes into steps, once: some steps of every model and some windows of every length, timed on this machine.
 * Later nothing depends on time any more. */

#define TIMED 3     /* steps, after one that warms up */
#define TOKENS 2048 /* of a test, unless a window is longer */
#define SPARE 0.04  /* of the time: checkpoints, and what is slower later */
#define REPORT 2.   /* seconds */
#define STEPS_MIN 10

/* Seconds that this training's tests will take in all. */
static pe_status time_tests(double *seconds, race *r, model *m, int training, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    int64_t tokens = s->test_tokens;
    pe_status status = PE_OK;
    for (int k = 0; k < s->tests && !status; k++) {
        lab_test_line line;
        bool done;
        int64_t windows = race_windows(r, s->test[k]);
        s->test_tokens = tokens < TOKENS ? tokens : TOKENS;
        status =
            race_test(&line, &done, r, m, (screen_now){ training, k, r->training[training].entry, 0, 0, 0, 0 }, err);
        s->test_tokens = tokens;
        if (!status && done && line.windows)
            *seconds += line.seconds * (double)windows / (double)line.windows;
    }
    return status;
}

static int sharers(const race *r, int training)
{
    int count = 0;
    for (int i = 0; i < r->results.setup.entries; i++)
        count += race_shares(&r->results.setup, i, &r->training[training]);
    return count;
}

static pe_status time_training(race *r, int training, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    model *m = NULL;
    double step = 0, tests = 0;
    pe_status status = race_time_steps(&step, &m, r, training, TIMED, err);
    if (!status)
        status = time_tests(&tests, r, m, training, err);
    model_free(m);
    bool dropped = s->entry[r->training[training].entry].dropped;
    s->step_seconds += !dropped ? step : r->asked.drop_steps ? 0 : step / 10;
    s->test_seconds += tests * sharers(r, training) + (dropped ? step * (double)r->asked.drop_steps : 0);
    return status;
}

static void record(lab_setup *s, int trainings, double took)
{
    snprintf(s->calibration, sizeof s->calibration,
             "%.3g minutes: calibration took %.3g s; one step of each of %d models takes %.3g s and the tests of one "
             "seed %.3g s, so %d seed%s %lld steps each",
             s->minutes, took, trainings, s->step_seconds, s->test_seconds, s->seeds, s->seeds == 1 ? " gets" : "s get",
             (long long)s->steps);
}

/* The minutes that the smallest race takes, with as much again of what the clock may vary by. */
static pe_status too_few(const lab_setup *s, double took, pe_error *err)
{
    double train = STEPS_MIN * s->step_seconds * s->seeds, tests = s->test_seconds * s->seeds;
    double needed = (took + (train + tests + REPORT) / (1 - SPARE)) * (1 + SPARE) / 60;
    return io_fail(err, PE_ERR_RANGE,
                   "%.3g minutes are too few: calibration took %.3g s, %d steps of each model take %.3g s, the tests "
                   "%.3g s, the report up to %.3g s; needs %.2f minutes, or fewer encodings, seeds or test tokens",
                   s->minutes, took, STEPS_MIN, train, tests, REPORT, ceil(100 * needed) / 100);
}

pe_status race_calibrate(race *r, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    int models = r->trainings / s->seeds;
    double begin = io_seconds();
    screen_say(r->screen, "calibration: how many steps %.3g minutes are on this machine", s->minutes);
    s->step_seconds = s->test_seconds = 0;
    for (int i = 0; i < models && !race_asked_to_stop(r); i++)
        TRY(time_training(r, i, err));
    if (r->stopped)
        return PE_OK;
    double took = io_seconds() - begin;
    double left = (60 * s->minutes - took) * (1 - SPARE) - REPORT - s->test_seconds * s->seeds;
    double steps = floor(left / (s->step_seconds * s->seeds));
    if (!(steps >= STEPS_MIN))
        return too_few(s, took, err);
    s->steps = (int64_t)(steps < 1e9 ? steps : 1e9);
    record(s, models, took);
    screen_say(r->screen, "%s", s->calibration);
    return PE_OK;
}

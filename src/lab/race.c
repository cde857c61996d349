/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* realpath */
#include "lab/race.h"
#include "lab/report.h"

#include "io/json_out.h"
#include "model/gemm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files that a race needs to be resumed: race.json has the settings, source.json says where the data came from. */

static void out_list(json_out *j, const char *key, const char *const *item, int count)
{
    out_open(j, key, '[');
    for (int i = 0; i < count; i++) {
        char *whole = realpath(item[i], NULL); /* it may be resumed from elsewhere */
        out_text(j, NULL, whole ? whole : item[i]);
        free(whole);
    }
    out_close(j, ']');
}

static pe_status write_source(FILE *to, const void *with, pe_error *err)
{
    const lab_source *s = with;
    (void)err;
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_text(&j, "name", s->name);
    out_list(&j, "files", s->file, s->files);
    out_list(&j, "tests", s->test, s->tests);
    out_bool(&j, "masked", s->masked);
    out_close(&j, '}');
    return PE_OK;
}

/* Under a name of its own first, and never in place of another one's: the race is what the first says. */
static pe_status save_setup(const race *r, bool *first, pe_error *err)
{
    char path[RACE_FOLDER + 20], temp[RACE_FOLDER + 60], *text = race_setup_text(&r->results.setup);
    snprintf(path, sizeof path, "%s/race.json", r->asked.folder);
    snprintf(temp, sizeof temp, "%s.%ld-0.tmp", path, (long)getpid());
    if (!text)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for it", path);
    io_span bytes = { text, strlen(text) };
    pe_status s = io_write_file(temp, &bytes, 1, err);
    if (!s)
        s = io_keep_file(temp, bytes, path, err);
    *first = !s || access(path, F_OK);
    unlink(temp);
    free(text);
    return s && *first ? s : io_sync_folder_of(path, err);
}

static pe_status race_save(const race *r, bool *first, pe_error *err)
{
    TRY(io_make_file(r->asked.folder, "source.json", write_source, &r->asked.source, err));
    return save_setup(r, first, err); /* last: with it the race exists */
}

/* A copy of the text in the race's room; NULL: full. */
static const char *keep_text(race *r, size_t *used, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > sizeof r->texts - *used)
        return NULL;
    char *at = memcpy(r->texts + *used, text, size);
    *used += size;
    return at;
}

static pe_status read_list(race *r, const char **item, int *count, int most, const io_node *root, const char *key,
                           size_t *used, pe_error *err)
{
    io_node list;
    const char *text;
    TRY(io_json_array(&list, root, key, IO_REQUIRED, err));
    for (io_node child = { 0 }; io_json_next(&child, &list);) {
        TRY(io_json_string(&text, &child, NULL, IO_REQUIRED, err));
        if (*count == most || !(item[*count] = keep_text(r, used, text)))
            return io_fail(err, PE_ERR_FORMAT, "%s/source.json: %s has too many files", r->asked.folder, key);
        ++*count;
    }
    return PE_OK;
}

static pe_status read_source(race *r, const io_node *root, pe_error *err)
{
    lab_source *s = &r->asked.source;
    const char *name;
    size_t used = 0;
    *s = (lab_source){ .file = r->file, .test = r->test };
    TRY(io_json_string(&name, root, "name", IO_REQUIRED, err));
    if (!(s->name = keep_text(r, &used, name)))
        return io_fail(err, PE_ERR_FORMAT, "%s/source.json: name is too long", r->asked.folder);
    TRY(io_json_bool(&s->masked, root, "masked", IO_REQUIRED, err));
    TRY(read_list(r, r->file, &s->files, RACE_FILES, root, "files", &used, err));
    return read_list(r, r->test, &s->tests, RACE_FILES, root, "tests", &used, err);
}

/* its source.json is a race's */
static bool race_is_source(const char *folder)
{
    char path[RACE_FOLDER + 20];
    io_node root = { 0 }, list;
    const char *name;
    bool masked;
    snprintf(path, sizeof path, "%s/source.json", folder);
    bool ours = !io_json_load(&root, path, NULL) && !io_json_string(&name, &root, "name", IO_REQUIRED, NULL) &&
                !io_json_bool(&masked, &root, "masked", IO_REQUIRED, NULL) &&
                !io_json_array(&list, &root, "files", IO_REQUIRED, NULL) &&
                !io_json_array(&list, &root, "tests", IO_REQUIRED, NULL);
    io_json_free(&root);
    return ours;
}

static pe_status race_load(race *r, pe_error *err)
{
    char path[RACE_FOLDER + 20];
    io_node root = { 0 };
    TRY(lab_read_setup(&r->results.setup, r->asked.folder, err));
    snprintf(path, sizeof path, "%s/source.json", r->asked.folder);
    TRY(io_json_load(&root, path, err));
    pe_status status = read_source(r, &root, err);
    io_json_free(&root);
    return status;
}

bool race_asked_to_stop(race *r)
{
    if (r->asked.stop && *r->asked.stop)
        r->stopped = true;
    return r->stopped;
}

double race_work(const lab_setup *s, int64_t tokens, int64_t length)
{
    return (double)tokens * (1 + (double)length / (12 * (double)s->width));
}

void race_skip(race *r, double work)
{
    r->worked += work;
    r->worked_before += work;
}

pe_status race_new_model(model **out, const race *r, const race_training *t, pe_error *err)
{
    model_config c = race_model(&r->results.setup);
    const lab_entry *e = &r->results.setup.entry[t->entry];
    TRY(model_new(out, &c, e->dropped ? e->spec : e->trained, r->pool, err));
    model_init(*out, t->seed);
    for (int i = 0; i < e->tensors; i++)
        model_train(*out, e->tensor[i].name, e->tensor[i].rate, e->tensor[i].decay);
    return PE_OK;
}

model_batch race_batch(const model *m, const lab_batch *b)
{
    bool line = pe_encoding_axes(model_encoding(m)) != b->axes; /* the encoding has one axis: tokens are in a row */
    return (model_batch){ .token = b->token,
                          .target = b->target,
                          .at = line ? pe_positions_run(1, b->length, 0)
                                     : pe_positions_of(b->at, PE_I64, 1, b->length, b->axes),
                          .sequences = b->sequences,
                          .length = b->length };
}

/* "text: 7 files, test 1342-0.txt" */
static void describe(lab_setup *s, const lab_source *from)
{
    const char *last = from->tests ? strrchr(from->test[0], '/') : NULL;
    snprintf(s->data, sizeof s->data, "%s%s", from->name, from->masked ? ", masked" : "");
    if (from->files)
        snprintf(s->data, sizeof s->data, "%s: %d file%s%s%.200s%s%s", from->name, from->files,
                 from->files == 1 ? "" : "s", from->tests ? ", test " : ", the last tenth of each is the test",
                 from->tests ? last ? last + 1 : from->test[0] : "", from->tests > 1 ? " and others" : "",
                 from->masked ? ", masked" : "");
}

static void fill_in(race *r)
{
    lab_setup *s = &r->results.setup;
    describe(s, &r->asked.source);
    snprintf(s->kind, sizeof s->kind, "race");
    lab_set_machine(s);
    s->threads = r->pool->workers;
    s->data_fingerprint = lab_data_fingerprint(r->data);
    s->data_size = lab_data_size(r->data);
    s->vocab = lab_data_vocab(r->data);
    s->causal = lab_data_causal(r->data);
}

static pe_status open_data(race *r, pe_error *err)
{
    const lab_setup *s = &r->results.setup;
    TRY(lab_data_open(&r->data, &r->asked.source, err));
    bool same = lab_data_fingerprint(r->data) == s->data_fingerprint && lab_data_vocab(r->data) == s->vocab &&
                lab_data_causal(r->data) == s->causal;
    if (r->asked.resume && !same)
        return io_fail(err, PE_ERR_FORMAT, "%s: the data (%s) is not what it was when this race began", r->asked.folder,
                       s->data);
    if (!r->asked.resume)
        fill_in(r);
    return PE_OK;
}

pe_status race_open(race **out, const race_asked *asked, pe_error *err)
{
    race *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a race");
    r->asked = *asked;
    r->results.setup = asked->setup;
    if (!asked->shared)
        r->asked.shards = 1;
    if (!(asked->silence > 0))
        r->asked.silence = LAB_SILENCE;
    gemm_start();
    pe_status status = pe_pool_new(&r->pool, asked->threads, err);
    if (!status && asked->resume)
        status = race_load(r, err);
    if (!status)
        status = open_data(r, err);
    if (!status)
        status = race_check(r, err);
    if (!status)
        status = race_plan(r, err);
    if (status) {
        race_free(r);
        return status;
    }
    *out = r;
    return PE_OK;
}

/* Files of a race whose race.json is gone would be taken for files of this race. */
static pe_status check_trainings(const race *r, pe_error *err)
{
    for (int i = 0; i < r->trainings; i++)
        if (!access(r->training[i].folder, F_OK))
            return io_fail(err, PE_ERR_IO,
                           "%s is there, but no race.json that says what it is: remove it, or take "
                           "another folder",
                           r->training[i].folder);
    return PE_OK;
}

/* A race that began here before is for --resume. Without a race.json no file here is a race's, but a source.json that
 * was written just before it. */
static pe_status check_folder(const race *r, pe_error *err)
{
    char path[RACE_FOLDER + 20];
    snprintf(path, sizeof path, "%s/race.json", r->asked.folder);
    if (access(path, F_OK)) {
        TRY(lab_folder_lacks(r->asked.folder, "race.json", err)); /* a link to nothing */
        TRY(check_trainings(r, err));
        TRY(race_is_source(r->asked.folder) ? PE_OK : lab_folder_lacks(r->asked.folder, "source.json", err));
        return lab_report_lacks(r->asked.folder, err);
    }
    return io_fail(err, PE_ERR_SPEC, "%s has a race already: go on with --resume, or take another folder",
                   r->asked.folder);
}

/* A grid has only square lengths. */
static void say_lengths(const race *r)
{
    const lab_setup *s = &r->results.setup, *asked = &r->asked.setup;
    bool kept = s->train_length == asked->train_length;
    char text[16 * LAB_TESTS_MAX] = "";
    for (int i = 0; i < asked->tests; i++)
        kept = kept && lab_data_length(r->data, asked->test[i]) == asked->test[i];
    for (int i = 0; i < s->tests; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRId64, i ? ", " : "", s->test[i]);
    if (!kept)
        screen_say(r->screen, "%s has not every length: trained at %" PRId64 ", tested at %s", s->data, s->train_length,
                   text);
}

static pe_status race_begin(race *r, pe_error *err)
{
    bool first = false;
    say_lengths(r);
    if (r->results.setup.minutes > 0)
        TRY(race_calibrate(r, err));
    if (r->stopped)
        return PE_OK;
    race_fill_dropped(r);
    TRY(race_save(r, &first, err));
    r->saved = true;
    return first ? PE_OK : race_join(r, err);
}

static pe_status resume_alone(race *r, pe_error *err)
{
    TRY(race_load_lines(r, err));
    return race_is_alone(r, err);
}

static void open_screen(race *r)
{
    r->begin = io_seconds();
    r->screen = screen_new(r->asked.show, r->asked.show_json, r->results.language);
    screen_say(r->screen, "race in %s", r->asked.folder);
    if (r->recovered)
        screen_say(r->screen, "a lock of a process that is gone was taken over");
    if (gemm_missing())
        race_warn(r, "%s", gemm_missing());
    else if (!gemm_is_fast())
        screen_say(r->screen, "matrix products: %s", gemm_name());
}

pe_status race_start(race *r, pe_error *err)
{
    const race_asked *a = &r->asked;
    bool found = a->resume && a->shared;
    TRY(lab_folder_new(a->folder, err));
    if (!found)
        TRY(race_hold_folder(r, &found, err));
    if (!found && !r->stopped)
        TRY(a->resume ? resume_alone(r, err) : check_folder(r, err));
    if (r->stopped)
        return PE_OK;
    open_screen(r);
    r->saved = found || a->resume;
    if (found && !a->resume)
        TRY(race_join(r, err));
    if (!r->saved)
        TRY(race_begin(r, err));
    if (a->shared)
        lab_lock_release(&r->lock);
    return PE_OK;
}

static double own_work(const race *r)
{
    double work = 0;
    for (int i = 0; i < r->trainings; i++)
        work += race_is_own(r, i) ? race_training_work(r, i) : 0;
    return work;
}

/* Nobody needs a lock any more. */
static void remove_locks(race *r)
{
    for (int i = 0; i < r->trainings; i++) {
        lab_lock_remove(r->training[i].folder);
        lab_folder_tidy(r->training[i].folder, 0);
    }
    lab_lock_release(&r->lock);
    lab_lock_remove(r->asked.folder);
    lab_folder_tidy(r->asked.folder, r->asked.silence); /* others may be writing reports */
}

/* A training that another process took over is no failure; one that failed, where others go on, is none yet. */
static pe_status train_next(race *r, int training, pe_error *err)
{
    pe_error why = { 0 };
    pe_status s = race_train(r, training, &why);
    bool lost = s && !lab_lock_held(&r->held);
    lab_lock_release(&r->held);
    if (lost)
        race_warn(r, "%s", why.text);
    if (!s || lost || (s == PE_ERR_RANGE && r->asked.shared))
        return PE_OK;
    return io_fail(err, s, "%s", why.text);
}

static pe_status train_all(race *r, pe_error *err)
{
    for (int next = 0; r->saved && !race_asked_to_stop(r);) {
        TRY(race_next(&next, r, err));
        if (next < 0)
            break;
        TRY(train_next(r, next, err));
    }
    return PE_OK;
}

/* What all processes have done by now. */
static pe_status look_back(race *r, pe_error *err)
{
    TRY(race_load_lines(r, err));
    TRY(lab_find_missing(&r->results, err));
    if (r->saved && !lab_missing(&r->results))
        remove_locks(r);
    for (int i = 0; i < r->trainings && r->asked.shared; i++)
        if (r->results.run[i].state == LAB_RUN_FAILED)
            return io_fail(err, PE_ERR_RANGE, "%s", r->results.run[i].failure.why);
    return PE_OK;
}

pe_status race_run(race *r, pe_error *err)
{
    r->work = own_work(r);
    r->worked = r->worked_before = 0;
    r->begin = io_seconds();
    pe_status s = train_all(r, err), back = look_back(r, s ? NULL : err);
    return s ? s : back;
}

void race_free(race *r)
{
    if (!r)
        return;
    screen_free(r->screen);
    bool begun = r->saved || !r->lock.number;
    lab_lock_release(&r->held);
    lab_lock_release(&r->lock);
    if (!begun)
        lab_lock_remove(r->asked.folder);
    lab_results_free(&r->results);
    lab_data_free(r->data);
    pe_pool_free(r->pool);
    free(r->training);
    free(r);
}

/* SPDX-License-Identifier: MIT
 *
 * Results from their folders or files: lists that grow, the lines of a log, one folder, several as one race. */
#include "base/try.h"
#include "io/io.h"
#include "lab/results.h"
#include "lab/results_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Results in memory: lists that grow, and what is found in them. */

/* Room for one more behind count elements: doubles at powers of two, so that no capacity is kept. */
static void *grow(void *list, int count, size_t size)
{
    size_t wanted = count ? (size_t)count * 2 : 1;
    if (count & (count - 1))
        return list;
    return count < 1 << 28 ? realloc(list, wanted * size) : NULL;
}

pe_status lab_keep_train(lab_run *run, const lab_train_line *l, pe_error *err)
{
    lab_train_line *more = grow(run->train, run->trains, sizeof *more);
    if (!more)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %d lines of the log", run->trains + 1);
    run->train = more;
    run->train[run->trains++] = *l;
    return PE_OK;
}

pe_status lab_keep_test(lab_results *r, const lab_test_line *l, pe_error *err)
{
    lab_test_line *more = grow(r->test, r->tests, sizeof *more);
    if (!more)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %d tests", r->tests + 1);
    r->test = more;
    r->test[r->tests++] = *l;
    return PE_OK;
}

lab_test_line *lab_find_test(const lab_results *r, int entry, uint64_t seed, int64_t length)
{
    for (int i = 0; i < r->tests; i++)
        if (r->test[i].entry == entry && r->test[i].seed == seed && r->test[i].length == length)
            return &r->test[i];
    return NULL;
}

/* ---------------------------------------------------------------- a run's log, line by line */

static int results_entry(const lab_setup *s, const char *name)
{
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].name, name))
            return i;
    return -1;
}

static bool has_seed(const lab_setup *s, uint64_t seed)
{
    for (int i = 0; i < s->seeds; i++)
        if (s->seed[i] == seed)
            return true;
    return false;
}

static bool has_length(const lab_setup *s, int64_t length)
{
    for (int i = 0; i < s->tests; i++)
        if (s->test[i] == length)
            return true;
    return false;
}

static pe_status add_train(lab_run *run, const io_node *line, pe_error *err)
{
    lab_train_line l = { 0 };
    pe_status s = fields_read(&l, record_train.field, record_train.count, line, err);
    if (s)
        return s;
    return lab_keep_train(run, &l, err);
}

/* Refuses values that no writer of ours writes, though each number is within its range. */
static pe_status check_test(const lab_setup *s, const lab_test_line *l, const io_node *line, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    if (!has_seed(s, l->seed))
        return io_fail(err, PE_ERR_FORMAT, "%s has seed %" PRIu64 ", which race.json has not",
                       io_json_place(place, line), l->seed);
    if (!has_length(s, l->length))
        return io_fail(err, PE_ERR_FORMAT, "%s has length %" PRId64 ", which race.json has not",
                       io_json_place(place, line), l->length);
    for (int i = 0; i < LAB_DISTANCES; i++)
        if (l->right[i] > l->asked[i])
            return io_fail(err, PE_ERR_FORMAT, "%s has %" PRId64 " right answers of %" PRId64 " asked",
                           io_json_place(place, line), l->right[i], l->asked[i]);
    if (l->right_all > l->asked_all)
        return io_fail(err, PE_ERR_FORMAT, "%s has %" PRId64 " right answers of %" PRId64 " asked",
                       io_json_place(place, line), l->right_all, l->asked_all);
    return PE_OK;
}

static pe_status add_test(lab_results *r, const io_node *line, pe_error *err)
{
    lab_test_line l = { 0 };
    const char *name;
    char place[IO_JSON_PLACE_MAX];
    pe_status s = io_json_string(&name, line, "entry", IO_REQUIRED, err);
    if (!s)
        s = fields_read(&l, record_test.field, record_test.count, line, err);
    if (s)
        return s;
    l.entry = results_entry(&r->setup, name);
    if (l.entry < 0)
        return io_fail(err, PE_ERR_FORMAT, "%s has entry %s, which race.json has not", io_json_place(place, line),
                       name);
    if ((s = check_test(&r->setup, &l, line, err)))
        return s;
    lab_test_line *same = lab_find_test(r, l.entry, l.seed, l.length);
    if (!same)
        return lab_keep_test(r, &l, err);
    *same = l;
    return PE_OK;
}

/* Where the line of a file that holds many runs belongs. */
static pe_status find_run(int *run, const lab_results *r, const io_node *line, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    const char *name;
    int64_t seed;
    TRY(io_json_string(&name, line, "entry", IO_REQUIRED, err));
    TRY(io_json_int(&seed, line, "seed", IO_REQUIRED, (io_int_range){ 0, INT64_MAX }, err));
    int entry = results_entry(&r->setup, name);
    for (*run = 0; *run < r->runs; ++*run)
        if (entry >= 0 && lab_trained_alike(&r->setup.entry[r->run[*run].entry], &r->setup.entry[entry]) &&
            r->run[*run].seed == (uint64_t)seed)
            return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%s is of %s with seed %" PRId64 ", which the setup has not",
                   io_json_place(place, line), name, seed);
}

static pe_status add_line(lab_results *r, int run, const io_node *line, pe_error *err)
{
    const char *kind;
    TRY(io_json_string(&kind, line, "line", IO_REQUIRED, err));
    if (!strcmp(kind, "test"))
        return add_test(r, line, err);
    bool train = !strcmp(kind, "train"), failure = !strcmp(kind, "failure"), end = !strcmp(kind, "run");
    if (run == RESULTS_NO_RUN || !(train || failure || end))
        return PE_OK;
    if (run == RESULTS_ALL_RUNS)
        TRY(find_run(&run, r, line, err));
    if (train)
        return add_train(&r->run[run], line, err);
    if (failure)
        return fields_read(&r->run[run].failure, record_failure.field, record_failure.count, line, err);
    r->run[run].ended = true;
    return fields_read(&r->run[run].end, record_run.field, record_run.count, line, err);
}

pe_status results_read_lines(lab_results *r, int run, const char *path, io_span text, pe_error *err)
{
    const char *at = text.data, *end = at + text.size, *stop;
    char name[1300];
    pe_status s = PE_OK;
    for (int n = 1; !s && at < end && (stop = memchr(at, '\n', (size_t)(end - at))); n++, at = stop + 1) {
        io_node line;
        snprintf(name, sizeof name, "%s:%d", path, n);
        s = io_json_parse(&line, name, at, (size_t)(stop - at), err);
        if (s)
            continue;
        s = add_line(r, run, &line, err);
        io_json_free(&line);
    }
    return s;
}

/* Its bytes of this moment: the process that writes it may be adding lines. */
static pe_status read_now(char **out, const io_file *f, pe_error *err)
{
    if (f->size > IO_CAP_TEXT)
        return io_fail(err, PE_ERR_RANGE, "%s: has %" PRIu64 " bytes; at most %zu are read", f->name, f->size,
                       IO_CAP_TEXT);
    if (!(*out = malloc((size_t)f->size + 1)))
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its %" PRIu64 " bytes", f->name, f->size);
    return f->size ? io_file_read(*out, f, 0, (size_t)f->size, err) : PE_OK;
}

pe_status lab_read_log(lab_results *r, int run, const char *path, pe_error *err)
{
    struct stat there;
    io_file f;
    char *text = NULL;
    if (stat(path, &there))
        return PE_OK;
    TRY(io_file_open(&f, path, err));
    pe_status s = read_now(&text, &f, err);
    if (!s)
        s = results_read_lines(r, run, path, (io_span){ text, (size_t)f.size }, err);
    free(text);
    io_file_close(&f);
    return s;
}

/* ---------------------------------------------------------------- several folders as one race */

static pe_status add_entry(lab_setup *all, const lab_entry *e, const char *folder, pe_error *err)
{
    int i = results_entry(all, e->name);
    if (i >= 0 && !strcmp(all->entry[i].trained, e->trained) && !lab_trained_alike(&all->entry[i], e))
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is trained with other rates than in a folder before it", folder,
                       e->name);
    if (i >= 0 && (strcmp(all->entry[i].spec, e->spec) || strcmp(all->entry[i].trained, e->trained)))
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s trained as %s, and %s trained as %s in a folder before it",
                       folder, e->name, e->spec, e->trained, all->entry[i].spec, all->entry[i].trained);
    if (i >= 0)
        return PE_OK;
    if (all->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "%s: more than %d entries in all", folder, LAB_ENTRIES_MAX);
    all->entry[all->entries++] = *e;
    return PE_OK;
}

/* Into a sorted list of numbers, each once. False: no room. */
static bool add_length(lab_setup *all, int64_t length)
{
    int i = all->tests;
    for (int n = 0; n < all->tests; n++)
        if (all->test[n] == length)
            return true;
    if (i == LAB_TESTS_MAX)
        return false;
    for (; i > 0 && all->test[i - 1] > length; i--)
        all->test[i] = all->test[i - 1];
    all->test[i] = length;
    all->tests++;
    return true;
}

static bool add_seed(lab_setup *all, uint64_t seed)
{
    for (int n = 0; n < all->seeds; n++)
        if (all->seed[n] == seed)
            return true;
    if (all->seeds == LAB_SEEDS_MAX)
        return false;
    all->seed[all->seeds++] = seed;
    return true;
}

static void add_command(lab_setup *all, const char *command)
{
    size_t used = strlen(all->command);
    int n = snprintf(all->command + used, sizeof all->command - used, "\n%s", command);
    if (n >= (int)(sizeof all->command - used))
        io_end_with_dots(all->command, sizeof all->command);
}

static pe_status results_unite(lab_setup *all, const lab_setup *one, const char *const *folder, int index,
                               pe_error *err)
{
    char a[600], b[600];
    const field *f = fields_differ(record_setup.field, record_setup.count, all, one, a, b, sizeof a);
    if (f)
        return io_fail(err, PE_ERR_FORMAT, "%s and %s cannot be compared: %s is %s in one and %s in the other",
                       folder[0], folder[index], f->name, a, b);
    pe_status s = PE_OK;
    for (int i = 0; i < one->entries && !s; i++)
        s = add_entry(all, &one->entry[i], folder[index], err);
    bool room = true;
    for (int i = 0; i < one->tests; i++)
        room = room && add_length(all, one->test[i]);
    for (int i = 0; i < one->seeds; i++)
        room = room && add_seed(all, one->seed[i]);
    if (!s && !room)
        s = io_fail(err, PE_ERR_FORMAT, "%s: more than %d lengths or %d seeds in all", folder[index], LAB_TESTS_MAX,
                    LAB_SEEDS_MAX);
    if (!s)
        add_command(all, one->command);
    return s;
}

/* Folders of runs: race.json, and the logs of all it names. */

#define PATH_ROOM 1200

static pe_status path_in(char out[PATH_ROOM], const char *folder, const char *name, pe_error *err)
{
    int n = snprintf(out, PATH_ROOM, "%s/%s", folder, name);
    return n < PATH_ROOM ? PE_OK : io_fail(err, PE_ERR_IO, "%s: a path of %d bytes is too long", folder, n);
}

/* ---------------------------------------------------------------- race.json */

/* The slug becomes a path. */
static pe_status check_slug(const char *slug, const io_node *at, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    bool good = slug[0] && slug[0] != '.';
    for (const char *s = slug; *s; s++)
        good = good && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *s);
    return good ? PE_OK
                : io_fail(err, PE_ERR_FORMAT, "%s: slug is %s; needs letters, digits, - _ and ., the last not first",
                          io_json_place(place, at), slug);
}

static pe_status read_tensors(lab_entry *e, const io_node *at, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    io_node list;
    if (!io_json_get(&list, at, "tensors")) /* a folder of posenc 0.1 */
        return PE_OK;
    TRY(io_json_array(&list, at, "tensors", IO_REQUIRED, err));
    for (io_node child = { 0 }; io_json_next(&child, &list); e->tensors++) {
        if (e->tensors == LAB_TENSORS_MAX)
            return io_fail(err, PE_ERR_FORMAT, "%s has more than %d tensors", io_json_place(place, at),
                           LAB_TENSORS_MAX);
        TRY(fields_read(&e->tensor[e->tensors], record_tensor.field, record_tensor.count, &child, err));
    }
    return PE_OK;
}

static pe_status read_entry(lab_setup *s, const io_node *at, pe_error *err)
{
    char place[IO_JSON_PLACE_MAX];
    if (s->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "%s is one entry too many; at most %d", io_json_place(place, at),
                       LAB_ENTRIES_MAX);
    lab_entry *e = &s->entry[s->entries];
    pe_status status = fields_read(e, record_entry.field, record_entry.count, at, err);
    if (!status)
        status = check_slug(e->slug, at, err);
    if (!status)
        status = read_tensors(e, at, err);
    if (status)
        return status;
    if (results_entry(s, e->name) >= 0)
        return io_fail(err, PE_ERR_FORMAT, "%s: the name %s is there before", io_json_place(place, at), e->name);
    s->entries++;
    return PE_OK;
}

pe_status results_read_setup(lab_setup *out, const io_node *root, pe_error *err)
{
    io_node list;
    pe_status s = fields_read(out, record_setup.field, record_setup.count, root, err);
    if (!s && strcmp(out->kind, "race") && strcmp(out->kind, "eval"))
        s = io_fail(err, PE_ERR_FORMAT, "%s: kind is %s; needs race or eval", root->key, out->kind);
    if (!s)
        s = io_json_array(&list, root, "entries", IO_REQUIRED, err);
    for (io_node child = { 0 }; !s && io_json_next(&child, &list);)
        s = read_entry(out, &child, err);
    return s;
}

pe_status lab_read_setup(lab_setup *out, const char *folder, pe_error *err)
{
    char path[PATH_ROOM];
    io_node root = { 0 };
    memset(out, 0, sizeof *out);
    pe_status s = path_in(path, folder, "race.json", err);
    if (!s)
        s = io_json_load(&root, path, err);
    if (!s)
        s = results_read_setup(out, &root, err);
    io_json_free(&root);
    if (s)
        memset(out, 0, sizeof *out);
    return s;
}

/* ---------------------------------------------------------------- logs */

static int find_place(const lab_results *r, int entry, uint64_t seed)
{
    for (int i = 0; i < r->runs; i++)
        if (r->run[i].entry == entry && r->run[i].seed == seed)
            return i;
    return -1;
}

void lab_run_free(lab_run *run)
{
    free(run->train);
    free(run->folder);
}

/* Where one training with one seed is kept: made where it is new, emptied where a folder before had it. -1: no memory.
 */
static int place_run(lab_results *r, int entry, uint64_t seed)
{
    int at = find_place(r, entry, seed);
    if (at < 0 && r->runs == LAB_ENTRIES_MAX * LAB_SEEDS_MAX)
        return -1;
    lab_run *more = at < 0 ? realloc(r->run, ((size_t)r->runs + 1) * sizeof *more) : r->run;
    if (!more)
        return -1;
    r->run = more;
    if (at < 0)
        at = r->runs++;
    else
        lab_run_free(&r->run[at]);
    r->run[at] = (lab_run){ .entry = entry, .seed = seed };
    return at;
}

static int first_trained(const lab_setup *s, const lab_entry *e)
{
    for (int i = 0; i < s->entries; i++)
        if (lab_trained_alike(&s->entry[i], e))
            return i;
    return -1;
}

/* Places of all runs of a folder or a file, seed by seed as a race trains. */
static pe_status place_runs(lab_results *r, const lab_setup *one, const char *from, pe_error *err)
{
    for (int k = 0; k < one->seeds && !lab_is_eval(one); k++)
        for (int e = 0; e < one->entries; e++)
            if (first_trained(one, &one->entry[e]) == e &&
                place_run(r, first_trained(&r->setup, &one->entry[e]), one->seed[k]) < 0)
                return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its runs", from);
    return PE_OK;
}

static pe_status read_run(lab_results *r, const lab_setup *one, int entry, uint64_t seed, const char *folder,
                          pe_error *err)
{
    char path[PATH_ROOM], name[120];
    const lab_entry *e = &one->entry[entry];
    int run = find_place(r, first_trained(&r->setup, e), seed);
    snprintf(name, sizeof name, "%s-%" PRIu64, e->slug, seed);
    TRY(path_in(path, folder, name, err));
    if (!(r->run[run].folder = malloc(strlen(path) + 1)))
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its name", path);
    strcpy(r->run[run].folder, path);
    TRY(path_in(path, r->run[run].folder, "log.jsonl", err));
    return lab_read_log(r, run, path, err);
}

static pe_status read_folder(lab_results *r, const lab_setup *one, const char *folder, pe_error *err)
{
    char path[PATH_ROOM];
    TRY(path_in(path, folder, "log.jsonl", err));
    TRY(lab_read_log(r, RESULTS_NO_RUN, path, err));
    for (int k = 0; k < one->seeds && !lab_is_eval(one); k++)
        for (int i = 0; i < one->entries; i++)
            if (first_trained(one, &one->entry[i]) == i)
                TRY(read_run(r, one, i, one->seed[k], folder, err));
    return PE_OK;
}

/* ---------------------------------------------------------------- a report's results.jsonl */

static bool is_file(const char *path)
{
    struct stat there;
    return !stat(path, &there) && S_ISREG(there.st_mode);
}

/* Its first line is what race.json is to a folder. */
static pe_status read_first_line(lab_setup *out, const char *path, pe_error *err)
{
    char name[1300];
    io_bytes file;
    io_node root = { 0 };
    TRY(io_read_file(&file, path, IO_CAP_TEXT, err));
    const char *text = (const char *)file.data, *stop = file.size ? memchr(text, '\n', file.size) : NULL;
    snprintf(name, sizeof name, "%s:1", path);
    pe_status s = stop ? io_json_parse(&root, name, text, (size_t)(stop - text), err)
                       : io_fail(err, PE_ERR_FORMAT, "%s has no line; needs a folder of a race, or its results.jsonl",
                                 path);
    if (!s)
        s = results_read_setup(out, &root, err);
    io_json_free(&root);
    io_bytes_free(&file);
    return s;
}

pe_status lab_read_results(lab_results *out, const char *const *from, int count, pe_error *err)
{
    pe_status s = PE_OK;
    memset(out, 0, sizeof *out);
    lab_setup *one = calloc(count > 0 ? (size_t)count : 1, sizeof *one);
    if (!one)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings of %d folders", count);
    for (int i = 0; i < count && !s; i++)
        s = is_file(from[i]) ? read_first_line(&one[i], from[i], err) : lab_read_setup(&one[i], from[i], err);
    if (!s)
        out->setup = one[0];
    for (int i = 1; i < count && !s; i++)
        s = results_unite(&out->setup, &one[i], from, i, err);
    for (int i = 0; i < count && !s; i++) {
        s = place_runs(out, &one[i], from[i], err);
        if (!s)
            s = is_file(from[i]) ? lab_read_log(out, RESULTS_ALL_RUNS, from[i], err)
                                 : read_folder(out, &one[i], from[i], err);
    }
    free(one);
    if (s)
        lab_results_free(out);
    return s;
}

void lab_results_free(lab_results *r)
{
    for (int i = 0; i < r->runs; i++)
        lab_run_free(&r->run[i]);
    free(r->run);
    free(r->test);
    memset(r, 0, sizeof *r);
}

/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 10 s; needs: lab wrap wrapio wrapclock
 *
 * Several processes at one race: whatever happens to whichever of them at whatever moment, the race comes to the bits
 * of one process. POSENC_SCHEDULES=100 runs so many schedules; POSENC_FIRST is the number of the first. */
#include "base/random.h"
#include "lab/race.h"
#include "lab/report.h"

#include <limits.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "io_test.h"

#define PROCESSES_MAX 8
#define SILENCE 0.4 /* seconds; on a slow machine it passes for processes that live, which is one more fault */

/* ---------------------------------------------------------------- clocks that differ */

static struct {
    double ahead, rate; /* seconds; of this clock to the machine's; 0: the same */
} skew;

time_t __real_time(time_t *);
int __real_clock_gettime(clockid_t, struct timespec *);
time_t __wrap_time(time_t *);
int __wrap_clock_gettime(clockid_t, struct timespec *);

time_t __wrap_time(time_t *out)
{
    time_t t = __real_time(NULL) + (time_t)skew.ahead;
    if (out)
        *out = t;
    return t;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    int rc = __real_clock_gettime(id, out);
    if (skew.rate > 0) {
        double t = skew.ahead + ((double)out->tv_sec + 1e-9 * (double)out->tv_nsec) * skew.rate;
        out->tv_sec = (time_t)t;
        out->tv_nsec = (long)((t - floor(t)) * 1e9);
    }
    return rc;
}

/* ---------------------------------------------------------------- a process of a race */

/* What may happen to it. */
typedef struct fate {
    int shard, shards;    /* 0 of 0: alone */
    const char *machine;  /* NULL: this one */
    double ahead, rate;   /* of its clock */
    long die;             /* in front of this call; 0: not */
    long full[CALL_COUNT]; /* this call of a kind finds the disk full; 0: none does */
    long size;            /* of files, at most; 0: as they come */
    bool resume;
    const char *show; /* file of what it says; NULL: none */
} fate;

static char at[160]; /* the race's folder */

static pe_status ask(race_asked *out, const fate *f, pe_error *why)
{
    lab_setup *s = &out->setup;
    *out = (race_asked){ .source = { .name = "copy" },
                         .checkpoint_every = 7,
                         .keep = 2,
                         .threads = 1,
                         .shared = f->shards > 0,
                         .shard = f->shard,
                         .shards = f->shards,
                         .silence = SILENCE,
                         .resume = f->resume,
                         .drop = "learned",
                         .drop_steps = 15 };
    snprintf(out->folder, sizeof out->folder, "%s", at);
    if (f->resume)
        return PE_OK;
    s->layers = 1;
    s->width = s->train_length = 16;
    s->heads = 2;
    s->batch = 2;
    s->steps = 40;
    s->warmup = 5;
    s->rate = 0.01;
    s->decay = 0.1;
    s->clip = 1;
    s->test_tokens = 64;
    s->tests = s->seeds = 2;
    s->test[0] = 16;
    s->test[1] = 32;
    s->seed[0] = 1;
    s->seed[1] = 2;
    return race_add_list(s, "rope,learned,alibi", why);
}

static pe_status work(const fate *f, pe_error *why)
{
    static race_asked asked;
    race *r = NULL;
    TRY(ask(&asked, f, why));
    asked.show = f->show ? fopen(f->show, "w") : NULL;
    TRY(race_open(&r, &asked, why));
    pe_status s = race_start(r, why);
    if (s == PE_OK)
        s = race_run(r, why);
    if (s == PE_OK && !lab_missing(&r->results))
        s = lab_report_write(at, &r->results, why);
    race_free(r);
    if (asked.show)
        fclose(asked.show);
    return s;
}

static pid_t start(const fate *f)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    setenv("POSENC_BLAS", "none", 1);
    if (f->machine)
        setenv("POSENC_MACHINE", f->machine, 1);
    skew.ahead = f->ahead;
    skew.rate = f->rate;
    play.die = f->die;
    memcpy(play.fail_call, f->full, sizeof play.fail_call);
    if (f->size) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ (rlim_t)f->size, (rlim_t)f->size });
    }
    pe_status s = work(f, &err);
    if (s)
        fprintf(stderr, "%s\n", err.text);
    _exit(s == PE_OK ? 0 : s == PE_ERR_IO ? 4 : 1);
}

/* ---------------------------------------------------------------- what a race comes to */

static const char *const training[] = { "rope-1",  "learned-1", "alibi-1", "learned-dropped-1",
                                        "rope-2",  "learned-2", "alibi-2", "learned-dropped-2" };

typedef struct outcome {
    char *log[COUNT(training)];
    io_bytes last[COUNT(training)]; /* checkpoint */
    char *table;
} outcome;

/* Without the numbers behind these keys, which are the clock's. */
static char *without_clock(char *text)
{
    static const char *const keys[] = { "\"seconds\": ", "\"tokens_per_second\": ", "\"log_size\":\"" };
    for (size_t i = 0; i < COUNT(keys); i++)
        for (char *s = text; (s = strstr(s, keys[i]));) {
            s += strlen(keys[i]);
            size_t n = strcspn(s, ",}\"");
            memmove(s, s + n, strlen(s + n) + 1);
        }
    return text;
}

static char *read_text(const char *name)
{
    char path[400];
    io_bytes b;
    snprintf(path, sizeof path, "%s/%s", at, name);
    expect(name, io_read_file(&b, path, IO_CAP_TEXT, &err), PE_OK, &err);
    return (char *)b.data;
}

/* results.csv without its column of seconds, the tenth. */
static char *table_without_clock(char *text)
{
    char *out = text, *in = text;
    for (int column = 0; *in; in++) {
        column = *in == '\n' ? 0 : column + (*in == ',');
        if (column != 9 || *in == ',')
            *out++ = *in;
    }
    *out = 0;
    return text;
}

static outcome read_outcome(void)
{
    outcome o = { 0 };
    for (size_t i = 0; i < COUNT(training); i++) {
        char name[300];
        snprintf(name, sizeof name, "%s/log.jsonl", training[i]);
        o.log[i] = without_clock(read_text(name));
        snprintf(name, sizeof name, "%s/%s/step-%08d.safetensors", at, training[i], strstr(training[i], "dropped") ? 15 : 40);
        expect(name, io_read_file(&o.last[i], name, IO_CAP_DATA, &err), PE_OK, &err);
    }
    o.table = table_without_clock(read_text("results.csv"));
    return o;
}

static void free_outcome(outcome *o)
{
    for (size_t i = 0; i < COUNT(training); i++) {
        free(o->log[i]);
        io_bytes_free(&o->last[i]);
    }
    free(o->table);
}

/* Behind the header, which says seconds. */
static io_span tensors(const io_bytes *file)
{
    uint64_t size;
    memcpy(&size, file->data, sizeof size);
    assert_true(size < file->size - 8);
    return (io_span){ file->data + 8 + size, file->size - 8 - (size_t)size };
}

static void must_equal(const outcome *got, const outcome *wanted)
{
    for (size_t i = 0; i < COUNT(training); i++) {
        io_span a = tensors(&got->last[i]), b = tensors(&wanted->last[i]);
        assert_string_equal(got->log[i], wanted->log[i]);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
    }
    assert_string_equal(got->table, wanted->table);
}

/* No lock and nothing half written is left in the folder, which has folders; removes what there is, if told. */
static void must_be_tidy(const char *path, bool clear)
{
    char name[600];
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        struct stat st;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || lstat(name, &st))
            continue;
        if (!clear && (!strncmp(e->d_name, "lock-", 5) || strstr(e->d_name, ".tmp")))
            fail_msg("left behind: %s", name);
        if (S_ISDIR(st.st_mode))
            must_be_tidy(name, clear);
        else if (clear)
            unlink(name);
    }
    closedir(d);
    if (clear)
        rmdir(path);
}

static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static outcome straight;

static void go_straight(void)
{
    snprintf(at, sizeof at, "%s/straight", folder);
    assert_int_equal(wait_for(start(&(fate){ 0 })), 0);
    straight = read_outcome();
    must_be_tidy(at, false);
    must_be_tidy(at, true);
    snprintf(at, sizeof at, "%s/shared", folder);
}

/* ---------------------------------------------------------------- a schedule */

typedef struct process {
    pid_t id; /* 0: none */
    bool faulty, stopped;
} process;

typedef struct schedule {
    uint64_t random;
    int processes, faults; /* faults that are left */
    process p[PROCESSES_MAX];
    int killed, full, reports;
} schedule;

static uint32_t below(schedule *s, uint32_t n)
{
    return (uint32_t)(random_next(&s->random) % n);
}

static fate draw_fate(schedule *s)
{
    static const char *const machine[] = { NULL, "this", "that", "other" };
    fate f = { .shards = s->processes };
    f.shard = (int)below(s, (uint32_t)s->processes); /* two may have the same */
    f.machine = machine[below(s, COUNT(machine))];
    f.ahead = below(s, 2) ? (double)below(s, 100000000) : 0;
    f.rate = 0.8 + below(s, 5) / 10.;
    if (s->faults > 0 && below(s, 2)) {
        f.die = below(s, 3) ? 1 + below(s, 600) : 0;
        if (!f.die && below(s, 2))
            f.size = 1 + below(s, 60000);
        else if (!f.die)
            f.full[below(s, 2) ? CALL_WRITE : CALL_FSYNC] = 1 + below(s, 60);
    }
    return f;
}

static void start_process(schedule *s, process *p)
{
    fate f = draw_fate(s);
    p->faulty = f.full[CALL_WRITE] || f.full[CALL_FSYNC] || f.size;
    s->faults -= f.die || p->faulty;
    p->stopped = false;
    p->id = start(&f);
}

/* A process may end, be killed, or find the disk full if it was made to; nothing else may happen. */
static void reap(schedule *s, process *p)
{
    int status;
    if (!p->id || waitpid(p->id, &status, WNOHANG) != p->id)
        return;
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool full = WIFEXITED(status) && WEXITSTATUS(status) == 4 && p->faulty;
    if (!killed && !full && status)
        fail_msg("a process ended with %x", (unsigned)status);
    s->killed += killed;
    s->full += full;
    p->id = 0;
}

static void disturb(schedule *s, process *p)
{
    if (!p->id)
        return;
    if (p->stopped && below(s, 16)) /* so long that it is taken for dead */
        return;
    if (p->stopped) {
        kill(p->id, SIGCONT);
        p->stopped = false;
    } else if (s->faults > 0 && !below(s, 12)) {
        bool stop = below(s, 2);
        kill(p->id, stop ? SIGSTOP : SIGKILL);
        p->stopped = stop;
        s->faults--;
    }
}

/* A report made at any moment is of what is there; it is an error only before there is a race. */
static void report(schedule *s)
{
    static lab_results r;
    const char *one = at;
    char path[300];
    snprintf(path, sizeof path, "%s/race.json", at);
    if (access(path, F_OK) || below(s, 8))
        return;
    expect("results", lab_read_results(&r, &one, 1, &err), PE_OK, &err);
    assert_int_equal(r.runs, COUNT(training));
    lab_results_free(&r);
    s->reports++;
}

/* The lock of a process whose machine is gone: of the race's folder before there is a race, then of a training's. */
static void plant(schedule *s, bool begun)
{
    char path[400], text[200];
    snprintf(path, sizeof path, "%s/race.json", at);
    if (begun && access(path, F_OK))
        return;
    snprintf(path, sizeof path, "%s/%s", at, begun ? training[below(s, COUNT(training))] : ".");
    expect("folder", lab_folder_new(path, &err), PE_OK, &err);
    strcat(path, "/lock-1");
    snprintf(text, sizeof text, "held %u on gone since 2031-01-01T00:00:00Z machine gone silence %g beat 0000000017\n",
             1 + below(s, 30000), SILENCE);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666); /* someone may have it already */
    if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        fail_msg("%s cannot be written", path);
    if (fd >= 0)
        close(fd);
}

static bool any_alive(const schedule *s)
{
    bool any = false;
    for (int i = 0; i < s->processes; i++)
        any = any || s->p[i].id;
    return any;
}

/* The folder as it is after all that happened: one that nothing happens to does what is missing, one that is alone
 * finds nothing to do. */
static void must_be_as_straight(void)
{
    assert_int_equal(wait_for(start(&(fate){ .shards = 3, .machine = "last" })), 0);
    assert_int_equal(wait_for(start(&(fate){ .resume = true })), 0);
    outcome o = read_outcome();
    must_equal(&o, &straight);
    free_outcome(&o);
    must_be_tidy(at, false);
    must_be_tidy(at, true);
}

static void run_schedule(uint64_t number)
{
    schedule s = { .random = number };
    s.processes = 2 + (int)below(&s, PROCESSES_MAX - 1);
    s.faults = (int)below(&s, 25);
    int budget = s.faults;
    if (!below(&s, 3))
        plant(&s, false);
    for (int i = 0; i < s.processes; i++)
        start_process(&s, &s.p[i]);
    while (any_alive(&s)) {
        nanosleep(&(struct timespec){ 0, (long)below(&s, 12000000) }, NULL);
        for (int i = 0; i < s.processes; i++)
            reap(&s, &s.p[i]);
        disturb(&s, &s.p[below(&s, (uint32_t)s.processes)]);
        report(&s);
        process *p = &s.p[below(&s, (uint32_t)s.processes)];
        if (!p->id && s.faults > 0) /* it comes back */
            start_process(&s, p);
        if (!below(&s, 40))
            plant(&s, true);
    }
    must_be_as_straight();
    print_message("schedule %llu: %d processes, %d faults, %d killed, %d found the disk full, %d reports\n",
                  (unsigned long long)number, s.processes, budget - s.faults, s.killed, s.full, s.reports);
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---------------------------------------------------------------- claims */

TEST(without_faults_each_training_is_trained_once)
{
    pid_t child[6];
    char name[COUNT(child)][200];
    int taken = 0;
    snprintf(at, sizeof at, "%s/once", folder);
    for (int i = 0; i < (int)COUNT(child); i++) {
        snprintf(name[i], sizeof name[i], "%s/said-%d", folder, i);
        child[i] = start(&(fate){ .shard = i, .shards = 4, .show = name[i] });
    }
    for (size_t i = 0; i < COUNT(child); i++) {
        io_bytes b;
        assert_int_equal(wait_for(child[i]), 0);
        expect("said", io_read_file(&b, name[i], IO_CAP_TEXT, &err), PE_OK, &err);
        for (char *s = (char *)b.data; (s = strstr(s, "takes ")); s++)
            taken++;
        io_bytes_free(&b);
        unlink(name[i]);
    }
    assert_int_equal(taken, COUNT(training));
    must_be_tidy(at, true);
}

TEST(random_schedules_come_to_the_bits_of_one_process)
{
    uint64_t first = number_of("POSENC_FIRST", 1), count = number_of("POSENC_SCHEDULES", 5);
    go_straight();
    for (uint64_t i = first; i < first + count; i++)
        run_schedule(i);
    free_outcome(&straight);
}

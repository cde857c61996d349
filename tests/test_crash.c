/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 4 s; needs: lab wrap wrapio
 *
 * kill -9 at any moment: the run goes on from its folder, and its last checkpoint and its log are the bytes of a run
 * that nothing stopped. */
#include "run_case.h"

#include "lab/checkpoint.h"

#include <sys/wait.h>
#include <time.h>

#include "io_test.h"

#define KILLS 200

/* ---------------------------------------------------------------- a run, as a process has it */

static char at[160]; /* the run's folder */

static const char *in_run(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", at, name);
    return path;
}

static pe_status keep(model *m, adam *a, lab_log *log, checkpoint_state *s, pe_error *why)
{
    s->step = a->step;
    s->seconds = 0.25 * (double)a->step; /* not of a clock, so that whole files can be compared */
    pe_status bad = lab_log_sync(log, &s->log_size, why);
    return bad == PE_OK ? checkpoint_save(at, m, a, s, 2, why) : bad;
}

static pe_status train(model *m, adam *a, lab_log *log, checkpoint_state *s, int64_t steps, pe_error *why)
{
    pe_status bad = PE_OK;
    while (bad == PE_OK && a->step < steps) {
        double loss;
        char text[40];
        bad = run_step(m, a, &loss, why);
        io_print_real(text, sizeof text, loss);
        fprintf(log->to, "{\"step\":%lld,\"loss\":%s}\n", (long long)a->step, text);
        if (a->step % 3 == 0)
            fflush(log->to); /* some of what comes after a checkpoint is in the file */
        if (bad == PE_OK && (a->step % 5 == 0 || a->step == steps))
            bad = keep(m, a, log, s, why);
    }
    return bad;
}

static pe_status resume(int64_t steps, pe_error *why)
{
    model *m = NULL;
    adam a = { 0 };
    lab_log log = { 0 };
    lab_lock lock = { 0 };
    checkpoint_state s = { .seed = 5, .config = RUN_CONFIG, .trained = "t5:buckets=8" };
    lab_watch watch = { 0 };
    bool found = false;
    char skipped[300] = "";
    pe_status bad = lab_folder_new(at, why);
    if (bad == PE_OK)
        bad = lab_lock_take(&lock, &watch, at, LAB_SILENCE, why);
    if (bad == PE_OK && watch.state != LAB_LOCK_TAKEN)
        bad = lab_lock_refuse(&watch, at, why);
    if (bad == PE_OK)
        bad = run_model(&m, &a, s.seed, why);
    if (bad == PE_OK)
        bad = checkpoint_newest(at, m, &a, &s, &RUN_WANTED, &found, skipped, sizeof skipped, why);
    if (bad == PE_OK && found)
        checkpoint_remove_old(at, s.step, 2);
    if (bad == PE_OK && skipped[0]) /* a kill leaves nothing that has to be passed over */
        bad = io_fail(why, PE_ERR_FORMAT, "%s", skipped);
    if (bad == PE_OK)
        bad = lab_log_open(&log, in_run("log.jsonl"), found ? s.log_size : 0, why);
    if (bad == PE_OK)
        bad = train(m, &a, &log, &s, steps, why);
    lab_log_close(&log);
    adam_free(&a);
    model_free(m);
    lab_lock_release(&lock);
    if (bad == PE_OK)
        lab_lock_remove(at);
    return bad;
}

static pid_t start(int64_t steps, long die)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    play.die = die;
    pe_status bad = resume(steps, &err);
    if (bad != PE_OK)
        fprintf(stderr, "%s\n", err.text);
    _exit(bad == PE_OK ? 0 : 1);
}

/* True: it came to its end; false: it was killed. Nothing else may happen. */
static bool ended(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return false;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return true;
}

/* ---------------------------------------------------------------- what is left of it */

static io_bytes straight_log, straight_last; /* of a run that nothing stopped */

static void read_run(io_bytes *log, io_bytes *last, int64_t steps)
{
    char name[64];
    snprintf(name, sizeof name, "step-%08lld.safetensors", (long long)steps);
    expect("log", io_read_file(log, in_run("log.jsonl"), IO_CAP_DATA, &err), PE_OK, &err);
    expect("last", io_read_file(last, in_run(name), IO_CAP_DATA, &err), PE_OK, &err);
}

static void clear_run(void)
{
    char path[600];
    DIR *d = opendir(at);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        snprintf(path, sizeof path, "%s/%s", at, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(at);
}

static void go_straight(int64_t steps)
{
    snprintf(at, sizeof at, "%s/straight", folder);
    assert_true(ended(start(steps, 0)));
    read_run(&straight_log, &straight_last, steps);
    clear_run();
    snprintf(at, sizeof at, "%s/killed", folder);
}

/* The log and two checkpoints; no lock, nothing half written. */
static void must_be_tidy(void)
{
    DIR *d = opendir(at);
    int checkpoints = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        size_t length = strlen(e->d_name);
        bool one = length > 12 && strcmp(e->d_name + length - 12, ".safetensors") == 0;
        checkpoints += one;
        if (!one && e->d_name[0] != '.')
            assert_string_equal(e->d_name, "log.jsonl");
    }
    closedir(d);
    assert_int_equal(checkpoints, 2);
}

static void must_be_as_straight(int64_t steps)
{
    io_bytes log, last;
    read_run(&log, &last, steps);
    assert_int_equal(log.size, straight_log.size);
    assert_memory_equal(log.data, straight_log.data, log.size);
    assert_int_equal(last.size, straight_last.size);
    assert_memory_equal(last.data, straight_last.data, last.size);
    must_be_tidy();
    io_bytes_free(&log);
    io_bytes_free(&last);
    clear_run();
}

static void forget(void)
{
    io_bytes_free(&straight_log);
    io_bytes_free(&straight_last);
}

/* ---------------------------------------------------------------- claims */

/* Wherever in the steps, the log, a save or the start of a process it falls; nothing is claimed of when. */
TEST(a_run_killed_at_random_moments_comes_to_the_same_bits)
{
    int64_t steps = 60;
    int kills = 0, runs = 0;
    uint64_t seed = 88172645463325252u;
    go_straight(steps);
    for (bool done = false; kills < KILLS || !done;) {
        pid_t child = start(steps, 0);
        if (kills < KILLS) {
            nanosleep(&(struct timespec){ 0, (long)(random_next(&seed) % 12000000) }, NULL);
            kill(child, SIGKILL);
        }
        done = ended(child);
        kills += !done;
        if (done) {
            must_be_as_straight(steps);
            runs++;
        }
    }
    print_message("%d kills, %d runs\n", kills, runs);
    forget();
}

/* One process for each write, fsync, close, rename and read of a run with three checkpoints. */
TEST(a_run_killed_before_any_call_comes_to_the_same_bits)
{
    int64_t steps = 12;
    long die = 1;
    go_straight(steps);
    for (bool done = false; !done; die++) {
        done = ended(start(steps, die));
        if (!done)
            assert_true(ended(start(steps, 0)));
        must_be_as_straight(steps);
    }
    assert_true(die > 60);
    print_message("%ld calls\n", die - 2);
    forget();
}

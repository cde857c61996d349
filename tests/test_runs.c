/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab wrap wrapio
 *
 * Runs that last: locks, checkpoints and logs, on disks that fill up, fail and lose bits. */
#include "run_case.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "io_test.h"

/* ---------------------------------------------------------------- a run at some step */

typedef struct run {
    model *m;
    adam a;
    checkpoint_state s;
} run;

static run start(uint64_t seed)
{
    run r = { .s = { .seed = seed, .config = RUN_CONFIG, .seconds = 1.0 / 3, .log_size = 77, .trained = "t5" } };
    r.s.loss_sum = -1.0 / 7;
    r.s.losses = 3;
    double loss;
    expect("model", run_model(&r.m, &r.a, seed, &err), PE_OK, &err);
    expect("step", run_step(r.m, &r.a, &loss, &err), PE_OK, &err); /* so that moments are not 0 */
    return r;
}

static void end(run *r)
{
    adam_free(&r->a);
    model_free(r->m);
}

static size_t bytes_of(const run *r)
{
    return (size_t)model_count(r->m) * sizeof(real);
}

static void must_equal(const run *x, const run *y)
{
    assert_memory_equal(model_weights(x->m), model_weights(y->m), bytes_of(x));
    assert_memory_equal(x->a.first, y->a.first, bytes_of(x));
    assert_memory_equal(x->a.second, y->a.second, bytes_of(x));
    assert_int_equal(x->a.step, y->a.step);
}

static void save(run *r, int64_t step, int keep)
{
    r->s.step = r->a.step = step;
    expect("save", checkpoint_save(folder, r->m, &r->a, &r->s, keep, &err), PE_OK, &err);
}

static char skipped[600];

/* The step of the newest good one, -1: none. */
static int64_t newest(run *into)
{
    bool found;
    expect("newest",
           checkpoint_newest(folder, into->m, &into->a, &into->s, &RUN_WANTED, &found, skipped, sizeof skipped, &err),
           PE_OK, &err);
    return found ? into->s.step : -1;
}

static const char *file_of(int64_t step)
{
    char name[64];
    snprintf(name, sizeof name, "step-%08lld.safetensors", (long long)step);
    return in_folder(name);
}

static bool there(int64_t step)
{
    return access(file_of(step), F_OK) == 0;
}

static long size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (long)st.st_size;
}

/* ---------------------------------------------------------------- checkpoints */

TEST(a_checkpoint_comes_back_bit_for_bit)
{
    run x = start(~(uint64_t)0), y = start(2);
    assert_int_equal(newest(&y), -1);
    save(&x, 123456789012, 2);
    assert_int_equal(newest(&y), 123456789012);
    assert_string_equal(skipped, "");
    must_equal(&x, &y);
    assert_true(y.s.seed == ~(uint64_t)0 && y.s.config == RUN_CONFIG && y.s.log_size == 77);
    assert_true(y.s.seconds == 1.0 / 3 && y.s.loss_sum == -1.0 / 7 && y.s.losses == 3);
    assert_string_equal(y.s.trained, "t5");
    end(&x);
    end(&y);
    empty_folder();
}

/* Any reader of safetensors finds the weights by their names and shapes. */
TEST(weights_are_there_by_name)
{
    run x = start(1), y = start(2), z = start(2);
    io_safetensors *st;
    bool found;
    save(&x, 5, 1);
    expect("load", load_safetensors(&st, file_of(5), &err), PE_OK, &err);
    assert_int_equal(io_safetensors_count(st), 3 * model_tensor_count(x.m));
    const io_tensor *t = io_safetensors_find(st, "embed");
    const model_tensor *embed = model_tensor_find(x.m, "embed");
    assert_true(t && t->type == IO_F32 && t->rank == 2 && t->shape[0] == RUN_VOCAB && t->shape[1] == 16);
    assert_memory_equal(t->bytes, model_weights(x.m) + embed->offset, t->size);
    t = io_safetensors_find(st, "adam.second.embed");
    assert_non_null(t);
    assert_memory_equal(t->bytes, x.a.second + embed->offset, t->size);
    io_safetensors_free(st);
    expect("weights alone", checkpoint_save(folder, x.m, NULL, &x.s, 1, &err), PE_OK, &err);
    assert_int_equal(newest(&y), -1); /* one that cannot be trained on is not taken for one that can */
    assert_non_null(strstr(skipped, "step-00000005.safetensors: has no tensor adam.first."));
    must_equal(&y, &z);
    expect("alone", checkpoint_newest(folder, y.m, NULL, &y.s, &RUN_WANTED, &found, NULL, 0, &err), PE_OK, &err);
    assert_true(found);
    assert_memory_equal(model_weights(x.m), model_weights(y.m), bytes_of(&x));
    end(&x);
    end(&y);
    end(&z);
    empty_folder();
}

TEST(the_last_few_are_kept)
{
    run x = start(1);
    put_file(in_folder("step-1.safetensors"), "mine", 4);
    put_file(in_folder("step-00000003.safetensors.bak"), "mine", 4);
    save(&x, 90, 3); /* of a future that was given up */
    for (int64_t step = 10; step <= 60; step += 10)
        save(&x, step, 3);
    assert_true(!there(30) && there(40) && there(50) && there(60) && there(90));
    assert_int_equal(entries_in_folder(), 6);
    save(&x, 70, -5);
    assert_true(!there(60) && there(70));
    end(&x);
    empty_folder();
}

static void must_be_old_and_whole(run *y, const run *old, int64_t step)
{
    int64_t got = newest(y);
    if (got != step)
        fail_msg("step %lld, not %lld: %s", (long long)got, (long long)step, skipped);
    must_equal(y, old);
}

TEST(any_failed_call_leaves_the_older_ones_as_they_were)
{
    static const call calls[] = { CALL_WRITE, CALL_FSYNC, CALL_CLOSE, CALL_RENAME };
    static const int errors[] = { ENOSPC, EIO, EDQUOT };
    run old = start(1), new = start(2), y = start(3);
    save(&old, 10, 1);
    for (size_t c = 0; c < COUNT(calls); c++)
        for (long nth = 1, failed = 1; failed; nth++) {
            new.s.step = 20;
            play.error = errors[(size_t)nth % COUNT(errors)];
            play.fail_call[calls[c]] = nth;
            pe_status s = checkpoint_save(folder, new.m, &new.a, &new.s, 1, &err);
            failed = s != PE_OK;
            assert_true(failed || nth > 1);
            play.fail_call[calls[c]] = 0;
            assert_true(!failed || (s == PE_ERR_IO && strstr(err.text, strerror(play.error))));
            assert_true(!failed || strstr(err.text, "step-00000020.safetensors"));
            if (failed && there(20)) /* the folder's fsync: the new one is there, the old one was not removed */
                assert_true(calls[c] == CALL_FSYNC && nth == 2 && there(10));
            unlink(file_of(20));
            if (failed) {
                must_be_old_and_whole(&y, &old, 10);
                assert_int_equal(entries_in_folder(), 1);
            }
            save(&old, 10, 1);
        }
    play.stuck = true;
    assert_int_equal(checkpoint_save(folder, new.m, &new.a, &new.s, 1, NULL), PE_ERR_IO);
    play.stuck = false;
    must_be_old_and_whole(&y, &old, 10);
    play.slow = 1000; /* short and interrupted calls lose nothing */
    save(&new, 20, 1);
    must_be_old_and_whole(&y, &new, 20);
    end(&old);
    end(&new);
    end(&y);
    empty_folder();
}

static run shared;

static pe_status load_again(pe_error *why)
{
    bool found;
    return checkpoint_newest(folder, shared.m, &shared.a, &shared.s, &RUN_WANTED, &found, skipped, sizeof skipped, why);
}

/* A checkpoint that there was no memory to look at is not passed over: it may be the good one. */
TEST(memory_that_runs_out_is_reported)
{
    shared = start(1);
    for (int64_t step = 1; step <= 3; step++)
        save(&shared, step, 3);
    any_failed_allocation_of(load_again, "load");
    shared.s.step = 3; /* once removing old ones has no memory, they stay: the save is good */
    for (long k = 1; k < 12; k++) {
        faults_reset();
        heap.fail = k;
        pe_status s = checkpoint_save(folder, shared.m, &shared.a, &shared.s, 3, &err);
        heap.fail = 0;
        assert_true(s == PE_OK || s == PE_ERR_NOMEM);
        assert_int_equal(heap.live, 0);
        assert_int_equal(entries_in_folder(), 3);
    }
    end(&shared);
    empty_folder();
}

/* ---------------------------------------------------------------- damaged ones */

/* From its end to its start, at every byte of the header, at both ends of every tensor, and between. */
TEST(a_cut_checkpoint_is_passed_over)
{
    run old = start(1), new = start(2), y = start(3);
    save(&old, 10, 2);
    save(&new, 20, 2);
    io_safetensors *st;
    expect("load", load_safetensors(&st, file_of(20), &err), PE_OK, &err);
    long data = size_of(file_of(20));
    for (size_t i = 0; i < io_safetensors_count(st); i++)
        data = (long)io_safetensors_at(st, i)->offset < data ? (long)io_safetensors_at(st, i)->offset : data;
    for (long size = size_of(file_of(20)) - 1; size >= 0; size--) {
        bool edge = size <= 300 || (size < data && size % 7 == 0) || size % 997 == 0 || size == data;
        for (size_t i = 0; i < io_safetensors_count(st) && !edge; i++)
            edge = labs((long)io_safetensors_at(st, i)->offset - size) <= 1;
        if (!edge)
            continue;
        assert_int_equal(truncate(file_of(20), size), 0);
        must_be_old_and_whole(&y, &old, 10);
        assert_non_null(strstr(skipped, "step-00000020.safetensors: is cut: it has "));
    }
    io_safetensors_free(st);
    end(&old);
    end(&new);
    end(&y);
    empty_folder();
}

TEST(a_changed_bit_anywhere_is_seen)
{
    run old = start(1), new = start(2), y = start(3);
    io_bytes b;
    save(&old, 10, 2);
    save(&new, 20, 2);
    expect("read", io_read_file(&b, file_of(20), IO_CAP_DATA, &err), PE_OK, &err);
    uint64_t x = 1;
    for (int i = 0; i < 400; i++) {
        size_t bit = (size_t)(random_next(&x) >> 20) % (8 * (i % 2 ? b.size : 3000)); /* one half of them in the header */
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        put_file(file_of(20), b.data, b.size);
        must_be_old_and_whole(&y, &old, 10);
        assert_non_null(strstr(skipped, "step-00000020.safetensors: "));
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    put_file(file_of(20), b.data, b.size);
    must_be_old_and_whole(&y, &new, 20);
    io_bytes_free(&b);
    end(&old);
    end(&new);
    end(&y);
    empty_folder();
}

TEST(what_does_not_belong_is_passed_over_and_said)
{
    run x = start(1), y = start(2), z = start(2);
    save(&x, 10, 9);
    x.s.config ^= 1;
    save(&x, 20, 9);
    x.s.config ^= 1;
    char from[200];
    snprintf(from, sizeof from, "%s", file_of(10));
    assert_int_equal(link(from, file_of(30)), 0); /* a name that lies */
    assert_int_equal(mkdir(file_of(40), 0700), 0);
    put_file(file_of(50), "", 0);
    assert_int_equal(newest(&y), 10);
    x.a.step = 10;
    must_equal(&x, &y);
    static const char *const said[] = { "step-00000050.safetensors: is cut: it has 0 bytes", "is a folder",
                                        "step-00000030.safetensors: is of step 10, not what its name says",
                                        "step-00000020.safetensors: is of a run with other settings" };
    for (size_t i = 0; i < COUNT(said); i++)
        if (!strstr(skipped, said[i]))
            fail_msg("not said: %s in %s", said[i], skipped);
    unlink(file_of(10));
    adam_free(&y.a);
    model_free(y.m);
    y = start(2);
    assert_int_equal(newest(&y), -1); /* and the model is as it was */
    must_equal(&y, &z);
    char little[20];
    bool found;
    checkpoint_newest(folder, y.m, &y.a, &y.s, &RUN_WANTED, &found, little, sizeof little, &err);
    assert_string_equal(little + 16, "...");
    end(&x);
    end(&y);
    end(&z);
    empty_folder();
}

/* A checkpoint past the end of the run, or whose log was lost or cut: an older one serves. */
TEST(a_checkpoint_without_its_log_is_passed_over_and_said)
{
    run x = start(1), y = start(2);
    char log[200];
    bool found;
    snprintf(log, sizeof log, "%s", in_folder("log.jsonl"));
    checkpoint_wanted want = { .config = RUN_CONFIG, .steps = 30, .log = log };
    const struct {
        int64_t step, log_size;
    } saved[] = { { 10, 4 }, { 20, 6 }, { 30, 100 }, { 40, 0 } };
    for (size_t i = 0; i < COUNT(saved); i++) {
        x.s.log_size = saved[i].log_size;
        save(&x, saved[i].step, 9);
    }
    put_file(log, "one\ntwo\n", 8);
    expect("cut", checkpoint_newest(folder, y.m, &y.a, &y.s, &want, &found, skipped, sizeof skipped, &err), PE_OK, &err);
    assert_true(found && y.s.step == 10 && y.a.step == 10);
    static const char *const said[] = { "step-00000040.safetensors: is of step 40; the run has 30",
                                        "has 8 bytes; the checkpoint goes with its first 100",
                                        "no line ends at byte 6" };
    for (size_t i = 0; i < COUNT(said); i++)
        if (!strstr(skipped, said[i]))
            fail_msg("not said: %s in %s", said[i], skipped);
    unlink(log);
    expect("lost", checkpoint_newest(folder, y.m, &y.a, &y.s, &want, &found, skipped, sizeof skipped, &err), PE_OK,
           &err);
    assert_false(found);
    end(&x);
    end(&y);
    empty_folder();
}

/* Sealed by someone, and still not what it should be. */
TEST(wrong_contents_are_passed_over_and_said)
{
    static const struct {
        io_pair pair;
        const char *said;
    } cases[] = {
        { { "step", "-1" }, "step is -1; needs a whole number from 0 on" },
        { { "step", "99999999999999999999" }, "step is 9" },
        { { "step", NULL }, "its metadata has no step" },
        { { "seed", "12" }, "seed is 12; needs 16 digits of base 16" },
        { { "config", "C0FFEE0123456789" }, "config is C" },
        { { "seconds", "nan" }, "seconds is nan; needs a number from 0 on" },
        { { "seconds", "-1" }, "seconds is -1" },
        { { "seconds", "" }, "seconds is ;" },
        { { "log_size", "1e3" }, "log_size is 1e3" },
        { { "adam_step", " 1" }, "adam_step is  1" },
        { { "adam_step", "11" }, "adam_step is 11; needs 10, its step" },
        { { "adam_step", "9223372036854775807" }, "adam_step is 9223372036854775807; needs 10" },
        { { "losses", "11" }, "losses is 11; needs 10, its step, or less" },
        { { "losses", "9223372036854775807" }, "losses is 9223372036854775807; needs 10" },
        { { "spec", NULL }, "no spec" },
        { { "losses", "-1" }, "losses is -1" },
        { { "loss_sum", "1.5" }, "loss_sum is 1.5" },
        { { "loss_sum", "7ff0000000000000" }, "loss_sum is not finite" },
        { { "seconds", "1.5" }, "has no tensor embed" },
    };
    run y = start(2);
    for (size_t c = 0; c < COUNT(cases); c++) {
        io_pair meta[] = { { "step", "10" },
                           { "seed", "0000000000000001" },
                           { "config", "c0ffee0123456789" },
                           { "seconds", "1" },
                           { "log_size", "0" },
                           { "adam_step", "10" },
                           { "losses", "0" },
                           { "loss_sum", "0000000000000000" },
                           { "spec", "alibi" } };
        size_t count = 0;
        for (size_t i = 0; i < COUNT(meta); i++) {
            if (strcmp(meta[i].key, cases[c].pair.key) == 0)
                meta[i] = cases[c].pair;
            if (meta[i].value)
                meta[count++] = meta[i];
        }
        expect("save", io_safetensors_save(file_of(10), NULL, 0, meta, count, &err), PE_OK, &err);
        assert_int_equal(newest(&y), -1);
        if (!strstr(skipped, cases[c].said))
            fail_msg("not said: %s in %s", cases[c].said, skipped);
    }
    end(&y);
    empty_folder();
}

/* ---------------------------------------------------------------- the fuzzer's */

static pe_status save_smallest(int64_t width, uint64_t config, bool alone)
{
    run x = { .s = { .step = 1, .config = config, .seconds = 0.5, .trained = "none" } };
    expect("model", run_smallest(&x.m, &x.a, width, &err), PE_OK, &err);
    x.a.step = x.s.step;
    pe_status s = checkpoint_save(folder, x.m, alone ? NULL : &x.a, &x.s, 1, &err);
    end(&x);
    return s;
}

/* fuzz/corpus/checkpoint holds what the names say, as the model has its tensors now; POSENC_WRITE_CORPUS=fuzz/corpus
 * writes it. */
TEST(the_fuzzers_seeds_are_what_they_should_be)
{
    static const struct {
        const char *name;
        int64_t width;
        uint64_t config;
        bool alone, cut, changed;
        pe_status want;
    } seeds[] = {
        { "valid", 4, RUN_CONFIG, false, false, false, PE_OK },
        { "cut", 4, RUN_CONFIG, false, true, false, PE_ERR_FORMAT },
        { "changed", 4, RUN_CONFIG, false, false, true, PE_ERR_FORMAT },
        { "weights-alone", 4, RUN_CONFIG, true, false, false, PE_ERR_FORMAT },
        { "other-settings", 4, 2, false, false, false, PE_ERR_FORMAT },
        { "other-shape", 2, RUN_CONFIG, false, false, false, PE_ERR_SHAPE },
    };
    const char *to = getenv("POSENC_WRITE_CORPUS");
    run y = { 0 };
    expect("model", run_smallest(&y.m, &y.a, 4, &err), PE_OK, &err);
    for (size_t i = 0; i < COUNT(seeds); i++) {
        char path[300];
        io_bytes b;
        assert_int_equal(save_smallest(seeds[i].width, seeds[i].config, seeds[i].alone), PE_OK);
        expect("read", io_read_file(&b, file_of(1), IO_CAP_DATA, &err), PE_OK, &err);
        b.size -= seeds[i].cut ? 5 : 0;
        b.data[b.size / 2] ^= seeds[i].changed;
        snprintf(path, sizeof path, "%.200s/checkpoint/%s", to ? to : "fuzz/corpus", seeds[i].name);
        if (to)
            put_file(path, b.data, b.size);
        io_bytes_free(&b);
        expect(path, io_read_file(&b, path, 8192, &err), PE_OK, &err);
        expect(path, checkpoint_parse(&b, y.m, &y.a, &y.s, RUN_CONFIG, &err), seeds[i].want, &err);
    }
    end(&y);
    empty_folder();
}

/* ---------------------------------------------------------------- disks */

/* In a child: a file may grow to so many bytes and no further, which the system tells as EFBIG. */
static int with_file_limit(size_t limit, int (*work)(void))
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ limit, limit });
        _exit(work());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int save_fails(void)
{
    shared.s.step = 20;
    pe_status s = checkpoint_save(folder, shared.m, &shared.a, &shared.s, 1, &err);
    return s == PE_ERR_IO && strstr(err.text, "cannot be written: ") ? 0 : 1;
}

static int log_fails(void)
{
    lab_log log;
    int64_t size;
    if (lab_log_open(&log, in_folder("log.jsonl"), -1, &err))
        return 1;
    for (int i = 0; i < 3000; i++)
        fputs("{\"step\":1}\n", log.to);
    pe_status first = lab_log_sync(&log, &size, &err), again = lab_log_sync(&log, &size, NULL);
    return first == PE_ERR_IO && again == PE_ERR_IO && strstr(err.text, "log.jsonl: cannot be written: ") ? 0 : 2;
}

TEST(a_full_disk_is_said_and_costs_nothing_old)
{
    run y = start(2);
    shared = start(1);
    save(&shared, 10, 1);
    long size = size_of(file_of(10));
    for (long limit = 0; limit < size; limit += limit < 64 ? 9 : size / 9) {
        assert_int_equal(with_file_limit((size_t)limit, save_fails), 0);
        must_be_old_and_whole(&y, &shared, 10);
        assert_int_equal(entries_in_folder(), 1);
    }
    assert_int_equal(with_file_limit(100, log_fails), 0);
    end(&shared);
    end(&y);
    empty_folder();
}

TEST(a_folder_that_cannot_be_written_is_said)
{
    run x = start(1);
    lab_lock lock;
    lab_watch seen = { 0 };
    lab_log log;
    expect("made", lab_folder_new("/proc/posenc/run", &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "/proc/posenc: cannot be made: "));
    expect("save", checkpoint_save("/proc/self", x.m, &x.a, &x.s, 1, &err), PE_ERR_IO, &err);
    expect("lock", lab_lock_take(&lock, &seen, "/proc/self", LAB_SILENCE, &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "/proc/self/lock-1: cannot be opened: "));
    lab_lock_release(&lock);
    expect("log", lab_log_open(&log, "/proc/self/log", -1, &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "/proc/self/log: cannot be opened: "));
    put_file(in_folder("file"), "x", 1);
    expect("file", lab_folder_new(in_folder("file/x"), &err), PE_ERR_IO, &err);
    if (geteuid() != 0) {
        assert_int_equal(mkdir(in_folder("closed"), 0500), 0);
        expect("save", checkpoint_save(path_text, x.m, &x.a, &x.s, 1, &err), PE_ERR_IO, &err);
        expect("lock", lab_lock_take(&lock, &seen, path_text, LAB_SILENCE, &err), PE_ERR_IO, &err);
    }
    end(&x);
    empty_folder();
}

/* ---------------------------------------------------------------- the lock */

TEST(a_folder_and_those_above_it_are_made)
{
    char path[200];
    snprintf(path, sizeof path, "%s/a//b/c/", folder);
    expect("new", lab_folder_new(path, &err), PE_OK, &err);
    expect("again", lab_folder_new(path, &err), PE_OK, &err);
    assert_int_equal(rmdir(path), 0);
    rmdir(in_folder("a/b"));
    rmdir(in_folder("a"));
    expect("none", lab_folder_new("", &err), PE_ERR_RANGE, &err);
    put_file(in_folder("file"), "x", 1);
    expect("file", lab_folder_new(path_text, &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "is a file; needs a folder"));
    empty_folder();
}

static lab_watch watch;

/* The lock of the test's folder. */
static lab_lock_state take_lock(lab_lock *l)
{
    expect("take", lab_lock_take(l, &watch, folder, LAB_SILENCE, &err), PE_OK, &err);
    return watch.state;
}

static lab_lock_state look(void)
{
    expect("look", lab_lock_look(&watch, folder, &err), PE_OK, &err);
    return watch.state;
}

static void clear_lock(void)
{
    lab_lock_remove(folder);
    assert_int_equal(entries_in_folder(), 0);
    watch = (lab_watch){ 0 };
}

TEST(a_lock_has_one_owner)
{
    lab_lock a, b;
    char pid[40];
    assert_int_equal(take_lock(&a), LAB_LOCK_TAKEN);
    assert_false(watch.left);
    assert_int_equal(take_lock(&b), LAB_LOCK_HELD);
    expect("twice", lab_lock_refuse(&watch, folder, &err), PE_ERR_IO, &err);
    snprintf(pid, sizeof pid, "is held by process %ld on ", (long)getpid());
    assert_non_null(strstr(err.text, pid));
    assert_non_null(strstr(err.text, "Z; wait for it, stop it, or take another folder"));
    lab_lock_release(&b);
    assert_true(lab_lock_held(&a));
    lab_lock_release(&a);
    lab_lock_release(&a);
    assert_int_equal(entries_in_folder(), 1); /* released: what it was stays, until nobody needs it */
    assert_int_equal(take_lock(&b), LAB_LOCK_TAKEN);
    assert_false(watch.left);
    lab_lock_release(&b);
    clear_lock();
    lab_lock none = { 0 };
    lab_lock_release(&none); /* and stdin stays open */
    assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
}

TEST(any_failed_call_leaves_no_lock)
{
    lab_lock a;
    play.fail_call[CALL_WRITE] = 1;
    expect("full", lab_lock_take(&a, &watch, folder, LAB_SILENCE, &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "lock-1: cannot be written: No space left on device"));
    assert_int_equal(entries_in_folder(), 0);
    play.fail_call[CALL_FSYNC] = 1;
    expect("sync", lab_lock_take(&a, &watch, folder, LAB_SILENCE, &err), PE_ERR_IO, &err);
    assert_int_equal(entries_in_folder(), 0);
    play.slow = 3;
    assert_int_equal(take_lock(&a), LAB_LOCK_TAKEN);
    play.slow = 0;
    lab_lock_release(&a);
    clear_lock();
}

/* What a child does between take and release is seen by no other: O_EXCL fails where two are inside. */
static int compete(void)
{
    lab_lock l;
    char inside[160];
    snprintf(inside, sizeof inside, "%s/inside", folder);
    for (int got = 0; got < 10;) {
        if (lab_lock_take(&l, &watch, folder, LAB_SILENCE, NULL) || watch.state != LAB_LOCK_TAKEN)
            continue;
        int fd = open(inside, O_CREAT | O_EXCL, 0600);
        if (fd < 0 || watch.left)
            return 1;
        close(fd);
        unlink(inside);
        lab_lock_release(&l);
        got++;
    }
    return 0;
}

static void compete_all(void)
{
    pid_t child[6];
    for (size_t i = 0; i < COUNT(child); i++)
        if ((child[i] = fork()) == 0)
            _exit(compete());
    for (size_t i = 0; i < COUNT(child); i++) {
        int status = -1;
        waitpid(child[i], &status, 0);
        assert_int_equal(status, 0);
    }
    clear_lock();
}

TEST(processes_that_compete_come_one_by_one)
{
    compete_all();
    play.error = EPERM; /* as a file system without hard links says */
    play.no_links = true;
    compete_all();
}

/* A child that holds the lock; it ends when it is killed. machine: where it seems to be; NULL: here. silence: its own. */
static pid_t hold(const char *machine, double silence)
{
    char ready;
    int line[2];
    lab_lock l;
    assert_int_equal(pipe(line), 0);
    pid_t child = fork();
    if (child == 0) {
        if (machine)
            setenv("POSENC_MACHINE", machine, 1);
        lab_lock_take(&l, &watch, folder, silence, NULL);
        if (write(line[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(line[0], &ready, 1), 1);
    close(line[0]);
    close(line[1]);
    return child;
}

static void end_holder(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

TEST(a_dead_owners_lock_is_taken_over_and_said)
{
    lab_lock l;
    char name[80];
    pid_t child = hold(NULL, LAB_SILENCE);
    assert_int_equal(take_lock(&l), LAB_LOCK_HELD);
    snprintf(name, sizeof name, "process %ld on ", (long)child);
    assert_non_null(strstr(watch.owner, name));
    end_holder(child);
    snprintf(name, sizeof name, "report.html.%ld-0.tmp", (long)child);
    put_file(in_folder(name), "x", 1);
    snprintf(name, sizeof name, "report.html.%ld-0.tmp", (long)getppid()); /* alive: not ours to remove */
    put_file(in_folder(name), "x", 1);
    assert_int_equal(take_lock(&l), LAB_LOCK_TAKEN);
    assert_true(watch.left);
    assert_int_equal(entries_in_folder(), 3);
    assert_int_equal(access(in_folder(name), F_OK), 0);
    lab_lock_release(&l);
    empty_folder();
    watch = (lab_watch){ 0 };
}

/* At once, as often as it takes to fall into one tick of the disk's clock. */
TEST(what_was_left_just_now_is_removed)
{
    char name[80];
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    snprintf(name, sizeof name, "report.html.%ld-0.tmp", (long)child);
    for (int i = 0; i < 100; i++) {
        put_file(in_folder(name), "x", 1);
        lab_folder_tidy(folder, 0);
        assert_int_equal(entries_in_folder(), 0);
    }
}

static void wait_while(lab_lock_state state)
{
    while (look() == state)
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
}

/* Its process id is that of another process here, or of none: only what the file says in time counts. */
TEST(an_owner_on_another_machine_lives_while_its_lock_changes)
{
    lab_lock l;
    pid_t child = hold("elsewhere", 2);
    assert_int_equal(take_lock(&l), LAB_LOCK_UNSURE);
    wait_while(LAB_LOCK_UNSURE);
    assert_int_equal(watch.state, LAB_LOCK_HELD);
    end_holder(child);
    assert_int_not_equal(look(), LAB_LOCK_FREE);
    wait_while(LAB_LOCK_HELD);
    assert_int_equal(watch.state, LAB_LOCK_UNSURE); /* for less than its silence it may live */
    wait_while(LAB_LOCK_UNSURE);
    assert_int_equal(watch.state, LAB_LOCK_FREE);
    assert_true(watch.left);
    assert_int_equal(take_lock(&l), LAB_LOCK_TAKEN);
    lab_lock_release(&l);
    clear_lock();
}

TEST(an_owner_that_stood_still_finds_that_it_lost_its_lock)
{
    lab_lock l, other;
    setenv("POSENC_MACHINE", "elsewhere", 1);
    expect("take", lab_lock_take(&l, &watch, folder, 0.5, &err), PE_OK, &err);
    unsetenv("POSENC_MACHINE");
    assert_true(lab_lock_held(&l));
    watch = (lab_watch){ .number = 1, .since = io_seconds() - 60, .owner = "it" };
    io_bytes b;
    expect("text", io_read_file(&b, in_folder("lock-1"), 1000, &err), PE_OK, &err);
    snprintf(watch.text, sizeof watch.text, "%s", (char *)b.data); /* seen a minute ago; beats are 25 ms apart */
    io_bytes_free(&b);
    if (take_lock(&other) == LAB_LOCK_TAKEN) {
        assert_false(lab_lock_held(&l));
        assert_true(lab_lock_held(&other));
    }
    lab_lock_release(&l); /* which frees nothing */
    if (other.number)
        assert_int_equal(look(), LAB_LOCK_HELD);
    lab_lock_release(&other);
    clear_lock();
}

TEST(a_file_that_is_no_lock_is_refused_and_stays)
{
    lab_lock l;
    static const char *const text[] = { "mine", "held 1 on a\n", "lost 1 on a since b machine c silence 60 beat 0000000000\n",
                                        "held 1 on a since b machine c silence 0 beat 0000000000\n",
                                        "held 1 on a since b machine c silence 60 beat 0000000000\nx" };
    for (size_t i = 0; i < COUNT(text); i++) {
        put_file(in_folder("lock-1"), text[i], strlen(text[i]));
        expect(text[i], lab_lock_take(&l, &watch, folder, LAB_SILENCE, &err), PE_ERR_IO, &err);
        assert_non_null(strstr(err.text, "lock-1: is there, and no lock of posenc's"));
        assert_int_equal(entries_in_folder(), 1);
    }
    empty_folder();
    assert_int_equal(symlink("nowhere", in_folder("lock-1")), 0);
    expect("link", lab_lock_take(&l, &watch, folder, LAB_SILENCE, &err), PE_ERR_IO, &err);
    empty_folder();
    watch = (lab_watch){ 0 };
}

/* As a process leaves it that takes a lock while another one removes its files. */
TEST(a_lock_is_removed_whole_though_files_are_missing)
{
    static const char text[] = "free 1 on a since b machine c silence 60 beat 0000000000\n";
    put_file(in_folder("lock-2"), text, strlen(text));
    put_file(in_folder("lock-11"), "", 0); /* one that died before it had a text */
    put_file(in_folder("lock-12"), "mine", 4);
    put_file(in_folder("lock-2x"), text, strlen(text));
    lab_lock_remove(folder);
    assert_true(access(in_folder("lock-2"), F_OK) && access(in_folder("lock-11"), F_OK));
    assert_true(!access(in_folder("lock-12"), F_OK) && !access(in_folder("lock-2x"), F_OK));
    empty_folder();
}

/* ---------------------------------------------------------------- the log */

static void log_holds(const char *text)
{
    io_bytes b;
    expect("log", io_read_file(&b, in_folder("log"), 100000, &err), PE_OK, &err);
    assert_string_equal((char *)b.data, text);
    io_bytes_free(&b);
}

TEST(a_log_goes_on_where_the_checkpoint_stood)
{
    lab_log log;
    int64_t size = -1;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("log"));
    expect("new", lab_log_open(&log, path, -1, &err), PE_OK, &err);
    fputs("one\n", log.to);
    expect("sync", lab_log_sync(&log, &size, &err), PE_OK, &err);
    assert_int_equal(size, 4);
    fputs("two\nthr", log.to);
    lab_log_close(&log);
    lab_log_close(&log);
    log_holds("one\ntwo\nthr");
    expect("whole lines", lab_log_open(&log, path, -1, &err), PE_OK, &err);
    fputs("4\n", log.to);
    expect("sync", lab_log_sync(&log, &size, &err), PE_OK, &err);
    assert_int_equal(size, 10);
    lab_log_close(&log);
    log_holds("one\ntwo\n4\n");
    expect("between", lab_log_open(&log, path, 5, &err), PE_ERR_FORMAT, &err);
    assert_non_null(strstr(err.text, "no line ends at byte 5"));
    expect("past", lab_log_open(&log, path, 11, &err), PE_ERR_FORMAT, &err);
    assert_non_null(strstr(err.text, "has 10 bytes; the checkpoint goes with its first 11"));
    log_holds("one\ntwo\n4\n");
    expect("cut", lab_log_open(&log, path, 4, &err), PE_OK, &err);
    play.fail_call[CALL_FSYNC] = 1;
    play.error = EIO;
    expect("fsync", lab_log_sync(&log, &size, &err), PE_ERR_IO, &err);
    lab_log_close(&log);
    log_holds("one\n");
    expect("all", lab_log_open(&log, path, 0, &err), PE_OK, &err);
    for (int i = 0; i < 9000; i++)
        putc('x', log.to);
    lab_log_close(&log);
    expect("no line", lab_log_open(&log, path, -1, &err), PE_OK, &err);
    lab_log_close(&log);
    log_holds("");
    char link[200];
    snprintf(link, sizeof link, "%s", in_folder("link"));
    assert_int_equal(symlink(path, link), 0);
    expect("link", lab_log_open(&log, link, -1, &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "is a symbolic link"));
    expect("folder", lab_log_open(&log, folder, -1, &err), PE_ERR_IO, &err);
    expect("device", lab_log_open(&log, "/dev/null", -1, &err), PE_ERR_IO, &err);
    empty_folder();
}

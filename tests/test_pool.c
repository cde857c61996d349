/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: threads wrap wrapthreads inside
 *
 * A pool runs every job once, on workers whose numbers no two jobs share at the same time; the library's own, or one
 * that the caller fills in. */
#define _GNU_SOURCE /* CPU_COUNT */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/pool.h"
#include "heap.h"
#include "test.h"

enum { WORKERS = 8, JOBS = 5000 };

static int creations_until_failure; /* > 0: this many threads from now, one cannot be started */
static int locks_until_failure;     /* the same for locks                                      */

/* Threads begin when the gate is open. */
static atomic_bool gate = true;
static struct held {
    void *(*f)(void *);
    void *arg;
} held[8];

static void *begin_at_gate(void *arg)
{
    const struct held *h = arg;
    while (!atomic_load(&gate))
        sched_yield();
    return h->f(h->arg);
}

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*f)(void *), void *arg)
{
    if (creations_until_failure > 0 && --creations_until_failure == 0)
        return EAGAIN;
    static int holding;
    if (atomic_load(&gate))
        return __real_pthread_create(thread, attr, f, arg);
    struct held *h = &held[holding++ % 8];
    *h = (struct held){ f, arg };
    return __real_pthread_create(thread, attr, begin_at_gate, h);
}

static bool lock_fails(void)
{
    return locks_until_failure > 0 && --locks_until_failure == 0;
}

int __real_pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int __wrap_pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);

int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr)
{
    return lock_fails() ? ENOMEM : __real_pthread_mutex_init(lock, attr);
}

int __real_pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);
int __wrap_pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    return lock_fails() ? EAGAIN : __real_pthread_cond_init(cond, attr);
}

/* ------------------------------------------------ what jobs note; cmocka's asserts belong to the main thread */

static struct notes {
    atomic_int runs[JOBS];
    atomic_int busy[WORKERS];
    atomic_int out_of_range, shared;
    atomic_llong total;
    int workers;
} notes;

static void note(void *arg, int64_t n, int worker)
{
    struct notes *x = arg;
    bool inside = worker >= 0 && worker < x->workers && n >= 0 && n < JOBS;
    atomic_fetch_add(&x->out_of_range, !inside);
    if (!inside)
        return;
    atomic_fetch_add(&x->shared, atomic_exchange(&x->busy[worker], 1));
    atomic_fetch_add(&x->runs[n], 1);
    if (n % 64 == 0)
        sched_yield(); /* so that workers meet */
    atomic_store(&x->busy[worker], 0);
}

static void add_up(void *arg, int64_t n, int worker)
{
    (void)worker;
    atomic_fetch_add((atomic_llong *)arg, n + 1);
}

static void each_job_runs_once(const pe_pool *pool, int64_t count)
{
    memset(&notes, 0, sizeof notes);
    notes.workers = pool->workers;
    pool->run(pool->self, note, &notes, count);
    for (int64_t n = 0; n < JOBS; n++)
        if (atomic_load(&notes.runs[n]) != (n < count))
            fail_msg("%d workers, %d jobs: job %d ran %d times", pool->workers, (int)count, (int)n, atomic_load(&notes.runs[n]));
    assert_int_equal(atomic_load(&notes.out_of_range), 0);
    assert_int_equal(atomic_load(&notes.shared), 0);
}

/* ------------------------------------------------ the library's own */

TEST(every_job_runs_once_and_no_two_share_a_worker)
{
    static const int64_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 100, JOBS };
    for (int workers = 1; workers <= WORKERS; workers++) {
        pe_pool *pool = pool_of(workers);
        assert_int_equal(pool->workers, workers);
        for (int round = 0; round < 5; round++)
            for (int i = 0; i < COUNT(counts); i++)
                each_job_runs_once(pool, counts[i]);
        give_back_to(0);
    }
}

TEST(many_tiny_calls_lose_nothing)
{
    enum { CALLS = 100000 };
    pe_pool *pool = pool_of(3);
    atomic_llong total = 0;
    long made = heap.made;
    for (int i = 0; i < CALLS; i++)
        pool->run(pool->self, add_up, &total, 2);
    assert_int_equal(heap.made, made); /* and allocate nothing */
    assert_true(atomic_load(&total) == 3LL * CALLS);
}

TEST(a_million_jobs_in_one_call_all_run)
{
    const int64_t count = 1000003;
    pe_pool *pool = pool_of(4);
    atomic_llong total = 0;
    pool->run(pool->self, add_up, &total, count);
    assert_true(atomic_load(&total) == count * (count + 1) / 2);
}

static void note_order(void *arg, int64_t n, int worker)
{
    int64_t *order = arg;
    order[1 + order[0]++] = worker ? -1 : n;
}

/* Who calls does what is left, in rising order, and waits for nobody who has no job. */
TEST(a_call_ends_without_threads_that_have_not_come)
{
    static int64_t order[1 + JOBS];
    atomic_store(&gate, false);
    pe_pool *pool = pool_of(4);
    alarm(60); /* a hang ends */
    for (int round = 0; round < 3; round++) {
        order[0] = 0;
        pool->run(pool->self, note_order, order, 100);
        assert_int_equal(order[0], 100);
        for (int64_t n = 0; n < 100; n++)
            assert_int_equal(order[1 + n], n);
    }
    alarm(0);
    atomic_store(&gate, true);
    each_job_runs_once(pool, JOBS); /* and then they come */
}

/* What jobs wrote is there when run returns, without a lock of the caller's. */
static void fill_in(void *arg, int64_t n, int worker)
{
    (void)worker;
    ((int64_t *)arg)[n] = 3 * n;
}

TEST(results_are_seen_when_run_returns)
{
    static int64_t out[JOBS];
    pe_pool *pool = pool_of(4);
    for (int round = 0; round < 50; round++) {
        memset(out, 0, sizeof out);
        pool->run(pool->self, fill_in, out, JOBS);
        for (int64_t n = 0; n < JOBS; n++)
            assert_true(out[n] == 3 * n);
    }
}

TEST(pools_come_and_go)
{
    for (int i = 0; i < 300; i++) {
        pe_pool *pool = pool_of(1 + i % WORKERS);
        if (i % 3)
            each_job_runs_once(pool, i % 10);
        give_back_to(0); /* also before any thread has begun */
    }
    pe_pool_free(NULL);
}

TEST(the_number_of_workers_is_checked)
{
    static const int wrong[] = { -1, INT32_MIN, 1025, INT32_MAX };
    for (int i = 0; i < COUNT(wrong); i++) {
        pe_pool *pool = (pe_pool *)(void *)&err;
        assert_refused(pe_pool_new(&pool, wrong[i], &err), PE_ERR_RANGE, "workers is ");
        assert_null(pool);
    }
    pe_pool *pool = pool_of(0);
    assert_true(pool->workers >= 1 && pool->workers <= 1024);
    atomic_llong total = 0;
    pool->run(pool->self, add_up, &total, 10);
    assert_true(atomic_load(&total) == 55);
}

/* ------------------------------------------------ the process it lives in */

/* A child has the memory of the pool and none of its threads. */
TEST(a_forked_child_does_the_work_itself)
{
    for (int round = 0; round < 20; round++) { /* sometimes a thread holds the lock at the fork */
        pe_pool *pool = pool_of(4);
        if (round % 2)
            each_job_runs_once(pool, 100);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            atomic_llong total = 0;
            alarm(60); /* a hang ends */
            pool->run(pool->self, add_up, &total, 100);
            pool->run(pool->self, add_up, &total, 1);
            pe_pool_free(pool);
            _exit(atomic_load(&total) == 5051 ? 0 : 1);
        }
        int status = -1;
        assert_true(waitpid(child, &status, 0) == child);
        assert_int_equal(status, 0);
        each_job_runs_once(pool, 100); /* the parent's is as it was */
        give_back_to(0);
    }
}

static struct masks {
    atomic_int met;
    sigset_t of[2];
} masks;

/* Both workers are inside at the same time, so that each notes its own. */
static void note_mask(void *arg, int64_t n, int worker)
{
    struct masks *m = arg;
    (void)n;
    pthread_sigmask(SIG_SETMASK, NULL, &m->of[worker]);
    atomic_fetch_add(&m->met, 1);
    while (atomic_load(&m->met) < 2)
        sched_yield();
}

TEST(threads_of_a_pool_take_no_signals)
{
    static const int theirs[] = { SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE, SIGHUP };
    sigset_t now;
    pe_pool *pool = pool_of(2);
    pool->run(pool->self, note_mask, &masks, 2);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int i = 0; i < COUNT(theirs); i++) {
        assert_false(sigismember(&masks.of[0], theirs[i]));
        assert_true(sigismember(&masks.of[1], theirs[i]));
        assert_false(sigismember(&now, theirs[i]));
    }
    assert_false(sigismember(&masks.of[1], SIGSEGV)); /* a fault is heard where it happens */
}

TEST(one_worker_per_cpu_that_may_be_used)
{
#if defined __linux__
    cpu_set_t all, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pe_pool *pool = pool_of(0);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(pool->workers, 1);
#endif
}

/* ------------------------------------------------ what cannot be had */

TEST(a_lock_that_cannot_be_made_is_reported)
{
    size_t live = heap.live;
    for (int n = 1; n <= 3; n++) {
        pe_pool *pool = (pe_pool *)(void *)&err;
        locks_until_failure = n;
        assert_refused(pe_pool_new(&pool, WORKERS, &err), PE_ERR_NOMEM, "locks");
        assert_int_equal(locks_until_failure, 0);
        assert_null(pool);
        assert_true(heap.live == live);
    }
    pool_of(WORKERS); /* and then it can */
}

TEST(a_thread_that_does_not_start_is_reported)
{
    size_t live = heap.live;
    for (int n = 1; n < WORKERS; n++) {
        pe_pool *pool = (pe_pool *)(void *)&err;
        creations_until_failure = n;
        assert_refused(pe_pool_new(&pool, WORKERS, &err), PE_ERR_NOMEM, "thread");
        assert_int_equal(creations_until_failure, 0);
        assert_null(pool);
        assert_true(heap.live == live);
    }
    pool_of(WORKERS); /* and then it can */
}

TEST(memory_that_is_not_there_is_reported)
{
    size_t live = heap.live;
    for (long n = 1;; n++) {
        pe_pool *pool = (pe_pool *)(void *)&err;
        heap.made = 0;
        heap.fail = n;
        pe_status s = pe_pool_new(&pool, 4, &err);
        bool reached = heap.made >= n;
        heap.fail = 0;
        if (!reached) {
            assert_int_equal(s, PE_OK);
            pe_pool_free(pool);
            assert_true(n > 1 && heap.live == live);
            return;
        }
        assert_int_equal(s, PE_ERR_NOMEM);
        assert_null(pool);
        assert_true(heap.live == live);
    }
}

/* ------------------------------------------------ the caller's own */

static void run_backwards(void *self, pe_job job, void *arg, int64_t count)
{
    ++*(int *)self;
    for (int64_t n = count - 1; n >= 0; n--)
        job(arg, n, (int)(n % 3));
}

TEST(a_callers_pool_is_used_as_it_is)
{
    int calls = 0;
    pe_pool own = { &calls, 3, run_backwards };
    assert_ok(check_pool(&own, &err));
    each_job_runs_once(&own, JOBS);
    memset(&notes, 0, sizeof notes);
    notes.workers = pool_workers(&own);
    pool_run(&own, note, &notes, 7);
    assert_int_equal(calls, 2);
    for (int n = 0; n < 7; n++)
        assert_int_equal(atomic_load(&notes.runs[n]), 1);
}

TEST(without_a_pool_the_caller_does_the_work)
{
    memset(&notes, 0, sizeof notes);
    notes.workers = pool_workers(NULL);
    assert_int_equal(notes.workers, 1);
    pool_run(NULL, note, &notes, 9);
    for (int n = 0; n < 9; n++)
        assert_int_equal(atomic_load(&notes.runs[n]), 1);
    assert_int_equal(atomic_load(&notes.out_of_range), 0);
    assert_ok(check_pool(NULL, &err));
}

TEST(a_half_filled_pool_is_refused)
{
    int calls = 0;
    const pe_pool wrong[] = { { &calls, 0, run_backwards }, { &calls, -1, run_backwards }, { &calls, INT32_MAX, run_backwards }, { &calls, 3, NULL } };
    for (int i = 0; i < COUNT(wrong); i++)
        assert_int_equal(check_pool(&wrong[i], &err), PE_ERR_RANGE);
    assert_int_equal(check_pool((const pe_pool *)(const void *)((const char *)wrong + 1), &err), PE_ERR_ALIGN);
}

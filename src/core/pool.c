/* SPDX-License-Identifier: MIT
 *
 * The library's own pool: threads that take the next job from a counter, and sleep between calls. */
#if !defined _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, pthread_sigmask */
#endif
#include "core/door.h"
#include "core/pool.h"

#if defined __wasm__ || defined POSENC_NO_THREADS

pe_status pe_pool_new(pe_pool **out, int workers, pe_error *err)
{
    (void)workers;
    CHECK_POINTER(pe_pool *, out, "out, the address of a pe_pool pointer,");
    *out = NULL;
    return pe_fail(err, PE_ERR_UNSUITED, "this build has no threads; pass NULL for a pool");
}

void pe_pool_free(pe_pool *pool)
{
    (void)pool;
}

#else

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#if defined __linux__
#include <sched.h>
#endif

#define WORKERS_MAX 1024
#define SPINS 2000 /* before a thread sleeps: calls often follow each other within microseconds */
#define WAKES 2    /* that each one makes who is awake: so many rounds of waking as the logarithm of the threads */
#define KINDS 8    /* of jobs whose length is remembered */

typedef struct seat { /* of one thread */
    struct threads *t;
    int worker;
    pthread_t thread;
} seat;

/* A call is over when its jobs are, whoever did them: no thread is waited for that has none. job, arg and count stay as
 * they are until then, and are read by those only who have taken a job. */
typedef struct threads {
    pe_pool pool;
    pid_t owner; /* whose threads these are: a child of fork has none of them, and a lock that may be held for ever */
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    bool stop;
    pe_job job;
    void *arg;
    int64_t count;
    atomic_llong left, pending; /* jobs that nobody has taken, and that are not done */
    atomic_int asleep;          /* threads */
    atomic_bool waits;          /* the caller sleeps too */
    int started;
    atomic_llong woken;   /* ns: when a call last woke a thread; 0: it has come, or there is none to come */
    atomic_llong latency; /* ns from then until it takes a job, smoothed: work shorter than that is not split */
    struct {
        pe_job job;
        int64_t ns; /* that the first job of its last call took */
    } kind[KINDS];
    int kinds;
    seat seat[]; /* of workers 1, 2, ...: worker 0 is whoever calls */
} threads;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Wakes some of those that sleep, if there are jobs for them. */
static void wake_some(threads *t)
{
    int64_t jobs = (int64_t)atomic_load(&t->left), wakes = jobs < WAKES ? jobs : WAKES;
    if (wakes <= 0 || !atomic_load(&t->asleep))
        return;
    pthread_mutex_lock(&t->lock);
    for (int64_t i = 0; i < wakes; i++)
        pthread_cond_signal(&t->start);
    pthread_mutex_unlock(&t->lock);
}

/* The next job, in rising order; -1: there is none. */
static int64_t take_job(threads *t)
{
    long long left = atomic_load(&t->left);
    while (left > 0)
        if (atomic_compare_exchange_weak(&t->left, &left, left - 1))
            return t->count - (int64_t)left;
    return -1;
}

static void jobs_done(threads *t, int64_t jobs)
{
    if (jobs == 0 || atomic_fetch_sub(&t->pending, jobs) != jobs || !atomic_load(&t->waits))
        return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->end);
    pthread_mutex_unlock(&t->lock);
}

static void take_jobs(threads *t, int worker)
{
    int64_t n, done = 0;
    for (; (n = take_job(t)) >= 0; done++)
        t->job(t->arg, n, worker);
    jobs_done(t, done);
}

/* Sleeps until there is a job; false: the pool ends. */
static bool sleep_until_job(threads *t)
{
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1);
    while (atomic_load(&t->left) <= 0 && !t->stop)
        pthread_cond_wait(&t->start, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    long long woken = stop ? 0 : atomic_exchange(&t->woken, 0);
    if (woken) /* the first to come */
        atomic_store(&t->latency, (3 * atomic_load(&t->latency) + now_ns() - woken) / 4);
    return !stop;
}

static void *work(void *arg)
{
    const seat *s = arg;
    threads *t = s->t;
    for (;;) {
        for (int i = 0; i < SPINS && atomic_load(&t->left) <= 0; i++)
            ;
        if (atomic_load(&t->left) <= 0) {
            if (!sleep_until_job(t))
                return NULL;
            wake_some(t);
        }
        take_jobs(t, s->worker);
    }
}

/* What the first job of the last call of this kind took; -1: not known. */
static int64_t kind_length(const threads *t, pe_job job)
{
    for (int i = 0; i < (t->kinds < KINDS ? t->kinds : KINDS); i++)
        if (t->kind[i].job == job)
            return t->kind[i].ns;
    return -1;
}

static void kind_note(threads *t, pe_job job, int64_t ns)
{
    int at = 0;
    while (at < t->kinds && at < KINDS && t->kind[at].job != job)
        at++;
    if (at == KINDS) /* the oldest goes */
        at = t->kinds++ % KINDS;
    else if (at == t->kinds)
        t->kinds++;
    t->kind[at].job = job;
    t->kind[at].ns = ns;
}

/* Whether so many jobs more take longer than a thread takes to come, or have done so already. */
static bool pays(const threads *t, int64_t ns, int64_t jobs, int64_t spent)
{
    int64_t latency = (int64_t)atomic_load(&t->latency);
    return ns < 0 || ns > latency / jobs || spent > latency;
}

static void wake_at(threads *t, int64_t now)
{
    atomic_store(&t->woken, atomic_load(&t->asleep) ? now : 0);
    wake_some(t);
}

/* The caller's share. As long as nobody was woken, each job tells it whether to. */
static void take_own_jobs(threads *t, int64_t start, bool woke)
{
    int64_t n, done = 0, left, now;
    for (; (n = take_job(t)) >= 0; done++) {
        t->job(t->arg, n, 0);
        left = (int64_t)atomic_load(&t->left);
        if (done && (woke || left <= 0))
            continue;
        now = now_ns();
        if (!done)
            kind_note(t, t->job, now - start);
        if (!woke && left > 0 && pays(t, (now - start) / (done + 1), left, now - start)) {
            wake_at(t, now);
            woke = true;
        }
    }
    if (!woke) { /* the latency is believed a little less, so that it is measured again some day */
        int64_t latency = (int64_t)atomic_load(&t->latency);
        atomic_store(&t->latency, latency - latency / 64);
    }
    jobs_done(t, done);
}

static void wait_for_jobs(threads *t)
{
    for (int i = 0; i < SPINS && atomic_load(&t->pending); i++)
        ;
    if (!atomic_load(&t->pending))
        return;
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->waits, true);
    while (atomic_load(&t->pending))
        pthread_cond_wait(&t->end, &t->lock);
    atomic_store(&t->waits, false);
    pthread_mutex_unlock(&t->lock);
}

/* Threads are woken at once where such jobs were long enough, or are not known. Those that are awake help in any case. */
static void run_threads(void *self, pe_job job, void *arg, int64_t count)
{
    threads *t = self;
    if (getpid() != t->owner || count < 2) {
        pool_run(NULL, job, arg, count);
        return;
    }
    t->job = job;
    t->arg = arg;
    t->count = count;
    atomic_store(&t->pending, count);
    atomic_store(&t->left, count);
    int64_t start = now_ns();
    bool wake = pays(t, kind_length(t, job), count - 1, 0);
    if (wake)
        wake_at(t, start);
    take_own_jobs(t, start, wake);
    wait_for_jobs(t);
}

static bool start_worker(threads *t, int worker)
{
    seat *s = &t->seat[worker - 1];
    s->t = t;
    s->worker = worker;
    bool fine = !pthread_create(&s->thread, NULL, work, s);
    t->started += fine;
    return fine;
}

/* Signals are for the caller's threads; but a fault in a job is still heard by whoever handles faults. Returns the
 * number of threads. */
static int start_all(threads *t, int count)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    sigset_t most, before;
    sigfillset(&most);
    for (int i = 0; i < COUNT_OF(faults); i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    while (t->started < count && start_worker(t, t->started + 1))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return t->started;
}

/* False: the system has no more locks. */
static bool make_locks(threads *t)
{
    if (pthread_mutex_init(&t->lock, NULL))
        return false;
    if (!pthread_cond_init(&t->start, NULL)) {
        if (!pthread_cond_init(&t->end, NULL))
            return true;
        pthread_cond_destroy(&t->start);
    }
    pthread_mutex_destroy(&t->lock);
    return false;
}

/* That this process may use. */
static int count_cpus(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
#if defined __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))
        cpus = CPU_COUNT(&set);
#endif
    return cpus < 1 ? 1 : cpus > WORKERS_MAX ? WORKERS_MAX : (int)cpus;
}

pe_status pe_pool_new(pe_pool **out, int workers, pe_error *err)
{
    CHECK_POINTER(pe_pool *, out, "out, the address of a pe_pool pointer,");
    *out = NULL;
    if (workers == 0)
        workers = count_cpus();
    if (workers < 0 || workers > WORKERS_MAX)
        return pe_fail(err, PE_ERR_RANGE, "workers is %d; needs 0 (one per CPU) to %d", workers, WORKERS_MAX);
    threads *t = calloc(1, sizeof *t + (size_t)(workers - 1) * sizeof *t->seat);
    if (!t)
        return pe_fail(err, PE_ERR_NOMEM, "no memory for a pool of %d workers", workers);
    t->pool = (pe_pool){ t, workers, run_threads };
    t->owner = getpid();
    if (!make_locks(t)) {
        free(t);
        return pe_fail(err, PE_ERR_NOMEM, "could not make the locks of a pool of %d workers", workers);
    }
    int started = start_all(t, workers - 1);
    if (started < workers - 1) {
        pe_pool_free(&t->pool);
        return pe_fail(err, PE_ERR_NOMEM, "could not start thread %d of %d", started + 1, workers - 1);
    }
    *out = &t->pool;
    return pe_pass(err);
}

void pe_pool_free(pe_pool *pool)
{
    if (!pool)
        return;
    threads *t = pool->self;
    if (getpid() != t->owner) { /* nobody to wake or to wait for */
        free(t);
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->start);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->started; i++)
        pthread_join(t->seat[i].thread, NULL);
    pthread_cond_destroy(&t->start);
    pthread_cond_destroy(&t->end);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

#endif

void pool_run(const pe_pool *pool, pe_job job, void *arg, int64_t count)
{
    if (pool && count > 1)
        pool->run(pool->self, job, arg, count);
    else
        for (int64_t n = 0; n < count; n++)
            job(arg, n, 0);
}

int pool_workers(const pe_pool *pool)
{
    return pool ? pool->workers : 1;
}

pe_status check_pool(const pe_pool *pool, pe_error *err)
{
    if (!pool)
        return PE_OK;
    if ((uintptr_t)pool % _Alignof(pe_pool))
        return pe_fail(err, PE_ERR_ALIGN, "the pool is not aligned to its struct");
    if (!pool->run || pool->workers < 1 || pool->workers > 1 << 20)
        return pe_fail(err, PE_ERR_RANGE, "the pool has %d workers%s; needs 1 or more, and a run", pool->workers,
                       pool->run ? "" : " and no run");
    return PE_OK;
}

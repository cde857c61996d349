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
#include <unistd.h>
#if defined __linux__
#include <sched.h>
#endif

#define WORKERS_MAX 1024
#define SPINS 2000 /* before a thread sleeps: calls often follow each other within microseconds */

typedef struct seat { /* of one thread */
    struct threads *t;
    int worker;
    pthread_t thread;
} seat;

typedef struct threads {
    pe_pool pool;
    pid_t owner; /* whose threads these are: a child of fork has none of them, and a lock that may be held for ever */
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    atomic_uint round; /* calls so far */
    bool stop;
    pe_job job;
    void *arg;
    int64_t count;
    atomic_llong next;  /* the next job         */
    atomic_int running; /* threads not yet done */
    int started;
    seat seat[]; /* of workers 1, 2, ...: worker 0 is whoever calls */
} threads;

static void take_jobs(threads *t, int worker)
{
    for (;;) {
        int64_t n = (int64_t)atomic_fetch_add(&t->next, 1);
        if (n >= t->count)
            return;
        t->job(t->arg, n, worker);
    }
}

/* Waits for a call after the one seen; false: the pool ends. */
static bool await(threads *t, unsigned *seen)
{
    for (int i = 0; i < SPINS && atomic_load(&t->round) == *seen; i++)
        ;
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->round) == *seen && !t->stop)
        pthread_cond_wait(&t->start, &t->lock);
    *seen = atomic_load(&t->round);
    bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return !stop;
}

static void *work(void *arg)
{
    const seat *s = arg;
    threads *t = s->t;
    unsigned seen = 0;
    while (await(t, &seen)) {
        take_jobs(t, s->worker);
        if (atomic_fetch_sub(&t->running, 1) == 1) {
            pthread_mutex_lock(&t->lock);
            pthread_cond_signal(&t->end);
            pthread_mutex_unlock(&t->lock);
        }
    }
    return NULL;
}

static void run_threads(void *self, pe_job job, void *arg, int64_t count)
{
    threads *t = self;
    if (getpid() != t->owner) {
        pool_run(NULL, job, arg, count);
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->job = job;
    t->arg = arg;
    t->count = count;
    atomic_store(&t->next, 0);
    atomic_store(&t->running, t->started);
    atomic_fetch_add(&t->round, 1);
    pthread_cond_broadcast(&t->start);
    pthread_mutex_unlock(&t->lock);
    take_jobs(t, 0);
    for (int i = 0; i < SPINS && atomic_load(&t->running); i++)
        ;
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->running))
        pthread_cond_wait(&t->end, &t->lock);
    pthread_mutex_unlock(&t->lock);
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

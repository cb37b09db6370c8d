/*
 * Pool of threads that spin briefly for the next job, then sleep.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "libargus/base/thread.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>

#include "libargus/argus.h"
#include "libargus/base/mem.h"

#if defined(__x86_64__)
#define PAUSE() __asm__ volatile("pause")
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() ((void)0)
#endif

enum {
    SPIN = 4000, /* about 50 us: longer than the gap between two stages */
    DEPTH = 2,   /* a job, and one that an item of it runs */
};

/* A job that a thread is running, and others may help with. */
typedef struct Job {
    AgPoolFn fn;
    void *arg;
    int n_item;
    int all;            /* items run even if the work is cancelled */
    atomic_int next;    /* next item to hand out */
    atomic_int open;    /* there may be items; fn, arg and n_item can be read */
    atomic_int helpers; /* threads that are inside */
    atomic_int waits;   /* its owner wants to know when there are no helpers */
} Job;

struct AgPool {
    int n_thread;
    pthread_t thread[AG_MAX_THREADS];
    struct Worker {
        AgPool *pool;
        int index;
    } worker[AG_MAX_THREADS];
    Job job[DEPTH][AG_MAX_THREADS]; /* of each thread, the outer ones first */
    int depth[AG_MAX_THREADS];      /* jobs that a thread is running; only its own */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint news;     /* changes when a job is opened, or what a thread may wait for */
    atomic_int sleepers;  /* threads that wait for that to happen */
    const atomic_int *cancel;
    atomic_int quit;
};

static _Thread_local int self; /* index of this thread in its pool; 0 outside */

static int cancelled(const AgPool *p)
{
    return p->cancel && atomic_load_explicit(p->cancel, memory_order_relaxed);
}

static void work(AgPool *p, Job *j)
{
    for (;;) {
        int item = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (item >= j->n_item)
            return;
        if (j->all || !cancelled(p))
            j->fn(j->arg, item, self);
    }
}

/* All threads see everything written before. */
static void tell(AgPool *p)
{
    atomic_fetch_add(&p->news, 1);
    if (atomic_load(&p->sleepers)) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Wait for news other than those seen; @return the newest. */
static unsigned wait_for_news(AgPool *p, unsigned seen)
{
    for (int i = 0; i < SPIN && atomic_load_explicit(&p->news, memory_order_acquire) == seen; i++)
        PAUSE();
    if (atomic_load_explicit(&p->news, memory_order_acquire) == seen) {
        pthread_mutex_lock(&p->lock);
        atomic_fetch_add(&p->sleepers, 1);
        while (atomic_load(&p->news) == seen)
            pthread_cond_wait(&p->wake, &p->lock);
        atomic_fetch_sub(&p->sleepers, 1);
        pthread_mutex_unlock(&p->lock);
    }
    return atomic_load_explicit(&p->news, memory_order_acquire);
}

/* Either this thread is counted before the owner looks, or it finds the job closed. */
static void help(AgPool *p, Job *j)
{
    if (!atomic_load_explicit(&j->open, memory_order_relaxed))
        return;
    atomic_fetch_add(&j->helpers, 1);
    if (atomic_load(&j->open))
        work(p, j);
    if (atomic_fetch_sub(&j->helpers, 1) == 1 && atomic_load(&j->waits))
        tell(p);
}

/* Those who are in an item of the first thread's job leave its other items alone. */
static void help_all(AgPool *p, int in_item)
{
    for (int d = 0; d < DEPTH; d++)
        for (int i = d == 0 && in_item; i < p->n_thread; i++)
            help(p, &p->job[d][i]);
}

static void *worker_main(void *arg)
{
    struct Worker *w = arg;
    AgPool *p = w->pool;

    self = w->index;
    for (unsigned seen = 0; (seen = wait_for_news(p, seen)), !atomic_load(&p->quit);)
        help_all(p, 0);
    return NULL;
}

/* Until those who help with a closed job are done. If they run jobs, help them. */
static void wait_for_helpers(AgPool *p, Job *j, int outer)
{
    for (int i = 0; !outer && i < SPIN && atomic_load_explicit(&j->helpers, memory_order_acquire);
         i++)
        PAUSE();
    if (!atomic_load_explicit(&j->helpers, memory_order_acquire))
        return;
    atomic_store(&j->waits, 1);
    for (unsigned seen = atomic_load(&p->news); atomic_load(&j->helpers);
         seen = wait_for_news(p, seen))
        if (outer)
            help_all(p, 1);
    atomic_store(&j->waits, 0);
}

static void run(AgPool *p, int n_item, AgPoolFn fn, void *arg, int all)
{
    if (!p || p->n_thread == 1 || n_item <= 1) {
        for (int i = 0; i < n_item && (all || !p || !cancelled(p)); i++)
            fn(arg, i, p ? self : 0);
        return;
    }
    assert(p->depth[self] < DEPTH);
    int depth = p->depth[self]++;
    Job *j = &p->job[depth][self];
    j->fn = fn;
    j->arg = arg;
    j->n_item = n_item;
    j->all = all;
    atomic_store_explicit(&j->next, 0, memory_order_relaxed);
    atomic_store(&j->open, 1);
    tell(p);
    work(p, j);
    atomic_store(&j->open, 0);
    wait_for_helpers(p, j, self == 0 && depth == 0);
    p->depth[self]--;
}

void ag_pool_run(AgPool *p, int n_item, AgPoolFn fn, void *arg)
{
    run(p, n_item, fn, arg, 0);
}

void ag_pool_run_all(AgPool *p, int n_item, AgPoolFn fn, void *arg)
{
    run(p, n_item, fn, arg, 1);
}

void ag_pool_set(AgPool *p, atomic_int *v, int value)
{
    atomic_store(v, value);
    if (p)
        tell(p);
}

void ag_pool_wait(AgPool *p, const atomic_int *v, int least)
{
    if (!p)
        return;
    for (unsigned seen = atomic_load(&p->news); atomic_load(v) < least;
         seen = wait_for_news(p, seen))
        help_all(p, 1);
}

void ag_pool_set_cancel(AgPool *p, const atomic_int *flag)
{
    p->cancel = flag;
}

int ag_pool_threads(const AgPool *p)
{
    return p ? p->n_thread : 1;
}

int ag_thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(thread, NULL, fn, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

int ag_pool_open(AgPool **out, int n_thread)
{
    AgPool *p = ag_calloc(1, sizeof(*p));

    *out = NULL;
    if (!p)
        return ARGUS_ERR(ENOMEM);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->n_thread = 1;
    int err = 0;
    while (p->n_thread < n_thread && !err) {
        int i = p->n_thread;
        p->worker[i].pool = p;
        p->worker[i].index = i;
        err = ag_thread_start(&p->thread[i], worker_main, &p->worker[i]);
        if (!err)
            p->n_thread++;
    }
    if (err) {
        ag_pool_close(&p);
        return ARGUS_ERR(err);
    }
    *out = p;
    return 0;
}

void ag_pool_close(AgPool **pp)
{
    AgPool *p = *pp;

    if (!p)
        return;
    atomic_store(&p->quit, 1);
    tell(p);
    for (int i = 1; i < p->n_thread; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    ag_free(p);
    *pp = NULL;
}

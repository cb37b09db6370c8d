/*
 * Pool of threads that spin briefly for the next job, then sleep.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "libargus/base/thread.h"

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

enum { SPIN = 4000 }; /* about 50 us: longer than the gap between two stages */

struct AgPool {
    int n_thread;
    pthread_t thread[AG_MAX_THREADS];
    struct Worker {
        AgPool *pool;
        int index;
    } worker[AG_MAX_THREADS];

    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    atomic_uint job;   /* number of the current job; workers wait for it to change */
    atomic_int next;   /* next item to hand out */
    atomic_int busy;   /* workers that have not finished the current job */
    const atomic_int *cancel;
    int quit;
    int n_item;
    AgPoolFn fn;
    void *arg;
};

static int cancelled(const AgPool *p)
{
    return p->cancel && atomic_load_explicit(p->cancel, memory_order_relaxed);
}

static void work(AgPool *p, int thread)
{
    for (;;) {
        int item = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (item >= p->n_item)
            return;
        if (!cancelled(p))
            p->fn(p->arg, item, thread);
    }
}

static void *worker_main(void *arg)
{
    struct Worker *w = arg;
    AgPool *p = w->pool;
    unsigned seen = 0;

    for (;;) {
        for (int i = 0; i < SPIN && atomic_load_explicit(&p->job, memory_order_acquire) == seen;
             i++)
            PAUSE();
        if (atomic_load_explicit(&p->job, memory_order_acquire) == seen) {
            pthread_mutex_lock(&p->lock);
            while (atomic_load(&p->job) == seen)
                pthread_cond_wait(&p->wake, &p->lock);
            pthread_mutex_unlock(&p->lock);
        }
        seen = atomic_load_explicit(&p->job, memory_order_acquire);
        if (p->quit)
            return NULL;
        work(p, w->index);
        if (atomic_fetch_sub_explicit(&p->busy, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&p->lock);
            pthread_cond_signal(&p->idle);
            pthread_mutex_unlock(&p->lock);
        }
    }
}

/* Publishes a job; all workers see everything written before. */
static void publish(AgPool *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add_explicit(&p->job, 1, memory_order_release);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

void ag_pool_run(AgPool *p, int n_item, AgPoolFn fn, void *arg)
{
    if (!p || p->n_thread == 1 || n_item <= 1) {
        for (int i = 0; i < n_item && !(p && cancelled(p)); i++)
            fn(arg, i, 0);
        return;
    }
    p->fn = fn;
    p->arg = arg;
    p->n_item = n_item;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store_explicit(&p->busy, p->n_thread - 1, memory_order_relaxed);
    publish(p);
    work(p, 0);
    for (int i = 0; i < SPIN && atomic_load_explicit(&p->busy, memory_order_acquire); i++)
        PAUSE();
    if (atomic_load_explicit(&p->busy, memory_order_acquire)) {
        pthread_mutex_lock(&p->lock);
        while (atomic_load_explicit(&p->busy, memory_order_acquire))
            pthread_cond_wait(&p->idle, &p->lock);
        pthread_mutex_unlock(&p->lock);
    }
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
    pthread_cond_init(&p->idle, NULL);
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
    p->quit = 1;
    publish(p);
    for (int i = 1; i < p->n_thread; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    ag_free(p);
    *pp = NULL;
}

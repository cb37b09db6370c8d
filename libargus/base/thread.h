/*
 * Threads; one pool of them per context. Work is cut into items; each item is done
 * by exactly one thread in one order, so results never depend on how many
 * threads there are.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_THREAD_H
#define AG_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "libargus/base/common.h"

#define AG_MAX_THREADS 64

typedef struct AgPool AgPool;

/* A thread that signals don't go to: they are for the host's own. @return 0 or errno. */
int ag_thread_start(pthread_t *thread, void *(*fn)(void *), void *arg);

/* n_thread in 1..AG_MAX_THREADS, the caller of ag_pool_run included.
 * @return 0 or ARGUS_ERR(errno). */
int ag_pool_open(AgPool **out, int n_thread);
void ag_pool_close(AgPool **p);
int ag_pool_threads(const AgPool *p);

/* Call fn(arg, item, thread) for every item in 0..n_item-1, on the calling
 * thread and on those of the pool that are free, and return when all are done. Items are
 * handed out in rising order. One thread may use a pool, as thread 0; an item may run
 * items itself, which threads that find no other ones help with, but those may not.
 * p may be NULL: everything runs on the caller. */
typedef void (*AgPoolFn)(void *arg, int item, int thread);
void ag_pool_run(AgPool *p, int n_item, AgPoolFn fn, void *arg);

/* The same for items that run items and may need something of earlier ones: all of them are
 * run, also when cancelled (what they run is skipped then, so they end soon). Set a number
 * that later items wait for; wait until it is at least that, helping with what runs meanwhile.
 * Earlier items are under way, or done where one thread runs them all. */
void ag_pool_run_all(AgPool *p, int n_item, AgPoolFn fn, void *arg);
void ag_pool_set(AgPool *p, atomic_int *v, int value);
void ag_pool_wait(AgPool *p, const atomic_int *v, int least);

/* While *flag is not 0, items are skipped instead of run: how a cancelled call
 * drains fast. Whoever sets it must throw the results away. */
void ag_pool_set_cancel(AgPool *p, const atomic_int *flag);

#endif /* AG_BASE_THREAD_H */

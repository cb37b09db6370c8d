/*
 * Checked sizes and aligned memory.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _DEFAULT_SOURCE
#include "libargus/base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Pages of this size where the system has them, for what is half of one or more: the
 * activations of a stage are read from end to end, and looking up 4 KiB pages took 2 to
 * 3 % of its time; taking them one by one was a tenth of the time to open a model. */
enum { HUGE_PAGE = 2 << 20 };

static _Thread_local int64_t n_alloc;
static atomic_long fail_after = -1;

void ag_mem_fail_after(long n)
{
    atomic_store(&fail_after, n);
}

int64_t ag_mem_count(void)
{
    return n_alloc;
}

/* Counts an allocation; 1 if a test wants this one to fail. */
static int must_fail(void)
{
    n_alloc++;
    if (atomic_load_explicit(&fail_after, memory_order_relaxed) < 0)
        return 0;
    long left = atomic_fetch_sub(&fail_after, 1);
    if (left == 0)
        atomic_store(&fail_after, 0); /* from then on all fail */
    return left <= 0;
}

size_t ag_mul(size_t a, size_t b)
{
    if (a == SIZE_MAX || b == SIZE_MAX || (b && a > SIZE_MAX / b))
        return SIZE_MAX;
    return a * b;
}

size_t ag_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

void *ag_malloc(size_t size)
{
    int large = size >= HUGE_PAGE / 2;
    void *p;

    if (size > SIZE_MAX / 2 || must_fail())
        return NULL;
#ifndef __SANITIZE_ADDRESS__ /* which is to see what is written behind the block */
    if (large)
        size = AG_ALIGN_UP(size, (size_t)HUGE_PAGE);
#endif
    if (posix_memalign(&p, large ? HUGE_PAGE : AG_ALIGN, size ? size : 1))
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        madvise(p, size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return p;
}

void *ag_calloc(size_t n, size_t size)
{
    size_t total = ag_mul(n, size);
    void *p = ag_malloc(total);

    if (p)
        memset(p, 0, total);
    return p;
}

void *ag_realloc(void *p, size_t old_size, size_t new_size)
{
    void *q = ag_malloc(new_size);

    if (!q)
        return NULL;
    if (p)
        memcpy(q, p, AG_MIN(old_size, new_size));
    free(p);
    return q;
}

void ag_free(void *p)
{
    free(p);
}

char *ag_strndup(const char *s, size_t n)
{
    char *p = ag_malloc(ag_add(n, 1));

    if (p) {
        memcpy(p, s, n);
        p[n] = 0;
    }
    return p;
}

char *ag_strdup(const char *s)
{
    return ag_strndup(s, strlen(s));
}

void *ag_vm_alloc(size_t size)
{
    if (!size || size > SIZE_MAX / 2 || must_fail())
        return NULL;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
}

void ag_vm_free(void *p, size_t size)
{
    if (p)
        munmap(p, size);
}

/*
 * Checked sizes and aligned memory.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_MEM_H
#define AG_BASE_MEM_H

#include "libargus/base/common.h"

/* Product of two sizes, SIZE_MAX when it does not fit. SIZE_MAX stays. */
size_t ag_mul(size_t a, size_t b);
size_t ag_add(size_t a, size_t b);

/* AG_ALIGN-aligned, contents undefined; NULL for SIZE_MAX or no memory.
 * Free with ag_free(). All of the library's allocations go through here:
 * ag_mem_fail_after makes the n-th one and all later ones fail in tests
 * (negative: never), and ag_mem_count counts those of the calling thread. */
void *ag_malloc(size_t size);
void *ag_calloc(size_t n, size_t size);
void *ag_realloc(void *p, size_t old_size, size_t new_size);
void ag_free(void *p);
char *ag_strdup(const char *s);
char *ag_strndup(const char *s, size_t n);

/* Address space of size bytes, zeroed, that takes real memory only where it
 * is written to. NULL on failure. Release with ag_vm_free(p, size). */
void *ag_vm_alloc(size_t size);
void ag_vm_free(void *p, size_t size);

void ag_mem_fail_after(long n);
int64_t ag_mem_count(void);

#endif /* AG_BASE_MEM_H */

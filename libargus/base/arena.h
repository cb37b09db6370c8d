/*
 * One planned allocation. The same carve function runs twice: with a NULL base
 * it measures, with memory it places.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_ARENA_H
#define AG_BASE_ARENA_H

#include "libargus/base/mem.h"

typedef struct AgArena {
    unsigned char *base; /* NULL while measuring */
    size_t used;         /* bytes; SIZE_MAX after an overflow */
    size_t size;         /* bytes at base */
} AgArena;

/* n * size bytes, AG_ALIGN-aligned; NULL while measuring or past the end. */
static inline void *ag_arena_take(AgArena *a, size_t n, size_t size)
{
    size_t bytes = ag_mul(n, size), at = a->used;

    bytes = bytes > SIZE_MAX - AG_ALIGN ? SIZE_MAX : AG_ALIGN_UP(bytes, (size_t)AG_ALIGN);
    a->used = ag_add(at, bytes);
    return a->base && a->used <= a->size ? a->base + at : NULL;
}

#define AG_TAKE(arena, type, n) ((type *)ag_arena_take((arena), (size_t)(n), sizeof(type)))

#endif /* AG_BASE_ARENA_H */

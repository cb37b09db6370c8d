/*
 * Macros that every file may use, and the only compiler extensions.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_COMMON_H
#define AG_BASE_COMMON_H

#include <stddef.h>
#include <stdint.h>

#define AG_ALIGN 64 /* alignment of all tensors and work buffers, bytes */

#define AG_ALIGN_UP(x, a) (((x) + (a)-1) / (a) * (a))
#define AG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define AG_MAX(a, b) ((a) > (b) ? (a) : (b))
#define AG_CLIP(x, lo, hi) AG_MIN(AG_MAX(x, lo), hi)
#define AG_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__GNUC__)
#define AG_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define AG_ALIGNED(n) __attribute__((aligned(n)))
#define AG_NOINLINE __attribute__((noinline))
#define AG_INLINE static inline __attribute__((always_inline))
#define AG_LIKELY(x) __builtin_expect(!!(x), 1)
#define AG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define AG_PREFETCH(p) __builtin_prefetch(p)
#define AG_PREFETCH_L2(p) __builtin_prefetch(p, 0, 2)
/* The sums in register x are made in the order written: compilers turn chains of
 * integer additions into trees, and run out of registers. */
#if defined(__aarch64__)
#define AG_KEEP_ORDER(x) __asm__ volatile("" : "+w"(x))
#else
#define AG_KEEP_ORDER(x) __asm__("" : "+v"(x))
#endif
/* p is kept in a register, as it is: compilers would count from another pointer. */
#define AG_KEEP_POINTER(p) __asm__("" : "+r"(p))
#define AG_UNROLL _Pragma("GCC unroll 32") /* the loop that follows, whole if it is short */
#else
#define AG_PRINTF(fmt, first)
#define AG_ALIGNED(n) _Alignas(n)
#define AG_NOINLINE
#define AG_INLINE static inline
#define AG_LIKELY(x) (x)
#define AG_UNLIKELY(x) (x)
#define AG_PREFETCH(p) ((void)(p))
#define AG_PREFETCH_L2(p) ((void)(p))
#define AG_KEEP_ORDER(x) ((void)(x))
#define AG_KEEP_POINTER(p) ((void)(p))
#define AG_UNROLL
#endif

/* Exact times: products of three 31-bit numbers and a 64-bit one do not need
 * more. GCC and Clang have it on all 64-bit targets. */
__extension__ typedef __int128 AgI128;

/* Type of a stored number; AG_Q8: packed by dsp/q8.h. */
typedef enum AgDtype { AG_BF16, AG_F32, AG_F16, AG_Q8 } AgDtype;

static inline size_t ag_dtype_size(AgDtype t)
{
    return t == AG_F32 ? 4 : t == AG_Q8 ? 1 : 2;
}

#endif /* AG_BASE_COMMON_H */

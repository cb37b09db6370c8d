/*
 * checkasm: every kernel of every tier against plain C or double arithmetic.
 *
 * A check of one function reads:
 *
 *     declare_func(void, float *, int);
 *     if (check_func(new->act.gelu, ref->act.gelu, "act.gelu")) {
 *         for (size ...) {
 *             fill the inputs
 *             call_ref(a, n);
 *             call_new(b, n);
 *             compare, fail("n=%d ...") on a difference
 *         }
 *         bench_new(b, 4096);
 *         report();
 *     }
 *
 * check_func is true once for each function of each tier; a tier that inherits
 * a function from the tier below is not checked again.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_CHECKASM_H
#define AG_TESTS_CHECKASM_H

#include "libargus/dsp/dsp.h"

typedef void (*CkFn)(void);

#define declare_func(ret, ...) \
    typedef ret FuncType(__VA_ARGS__); \
    FuncType *func_ref = NULL, *func_new = NULL

/* The functions are remembered for call_ref, call_new and bench_new. */
#define check_func(new_fn, ref_fn, ...) \
    (func_new = (new_fn), func_ref = (ref_fn), (void)func_ref, \
     ck_check((CkFn)func_new, __VA_ARGS__))
/* For tests that compare with plain C and nothing else: never true for plain C. */
#define check_same(new_fn, ref_fn, ...) \
    ((new_fn) != (ref_fn) && check_func(new_fn, ref_fn, __VA_ARGS__))
#define call_ref(...) func_ref(__VA_ARGS__)
#define call_new(...) func_new(__VA_ARGS__)
/* Times the call; work: numbers or operations it does, for the rate. */
#define bench_new(work, ...) \
    do { \
        for (ck_bench_begin(); ck_bench_more();) \
            func_new(__VA_ARGS__); \
        ck_bench_end(work); \
    } while (0)
#define fail ck_fail
#define report ck_report

int ck_check(CkFn fn, const char *fmt, ...) AG_PRINTF(2, 3);
void ck_fail(const char *fmt, ...) AG_PRINTF(1, 2); /* counted once; printed for the first few */
void ck_report(void);
/* A test without a function pointer: true if it was asked for. */
int ck_test(const char *fmt, ...) AG_PRINTF(1, 2);

void ck_bench_begin(void);
int ck_bench_more(void);
void ck_bench_end(double work);

/* Pseudo-random numbers from the printed seed. */
uint32_t ck_rand(void);
int ck_below(int n);                        /* 0..n-1 */
float ck_float(float lo, float hi);
void ck_floats(float *p, int n, float lo, float hi);
/* n stored numbers: bit patterns of values in -2..2 with every kind of
 * exponent among them, subnormals and zeros too; no infinity, no NaN. */
void ck_stored(void *p, AgDtype type, int n);
double ck_widen(const void *p, AgDtype type, ptrdiff_t i);

/* Memory of n bytes that ends at a page nobody may touch, at `align` from it:
 * reading past the end crashes, and the crash is reported. Slots 0..15 are
 * reused; contents are undefined. */
void *ck_input(int slot, size_t n);
/* The same, 64-byte aligned at the start: up to 63 bytes may be read past n. */
void *ck_aligned(int slot, size_t n);
/* Memory of n bytes with a guard of 64 bytes on both sides, at `shift` bytes
 * from 64-byte alignment; filled with NaN. */
void *ck_output(int slot, size_t n, int shift);
/* 1 if the guards of the slot's output are as they were. */
int ck_guards(int slot);

/* Threads' scratch for drivers. */
typedef struct CkExec {
    AgExec x;
    AgPool *pool;
    void *mem;
} CkExec;
void ck_exec_open(CkExec *e, const AgDsp *dsp, int threads);
void ck_exec_close(CkExec *e);

/* ref: plain C; dsp: the tier under test. */
void check_act(const AgDsp *ref, const AgDsp *dsp);
void check_attn(const AgDsp *ref, const AgDsp *dsp);
void check_convert(const AgDsp *ref, const AgDsp *dsp);
void check_matmul(const AgDsp *ref, const AgDsp *dsp);
void check_norm(const AgDsp *ref, const AgDsp *dsp);
void check_q8(const AgDsp *ref, const AgDsp *dsp);
void check_resample(const AgDsp *ref, const AgDsp *dsp);
void check_rope(const AgDsp *ref, const AgDsp *dsp);
void check_vec(const AgDsp *ref, const AgDsp *dsp);
/* Whole drivers of a tier. */
void check_drivers(const AgDsp *dsp);
void check_attn_driver(const AgDsp *dsp);

#endif /* AG_TESTS_CHECKASM_H */

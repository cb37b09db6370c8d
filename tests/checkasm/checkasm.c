/*
 * checkasm: options, tiers, memory with guards, timing, counting.
 *
 *     checkasm [--bench] [--test=NAME] [SEED]
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "tests/checkasm/checkasm.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/peak.h"
#include "libargus/dsp/scalar.h"

enum { SLOTS = 16, SEEN = 512, GUARD = 64 };
static const size_t ARENA = (size_t)64 << 20; /* bytes of a slot, address space only */

static struct {
    uint32_t seed;
    uint64_t state;
    int bench;
    const char *only;  /* --test */
    const char *tier;
    char name[64];     /* test that runs */
    int failures;      /* of it */
    int passed, failed;
    CkFn seen[SEEN];   /* functions that were checked */
    int n_seen;
    unsigned char *slot[SLOTS];
    struct {
        unsigned char *data;
        size_t size;
    } out[SLOTS];
    double start, best;
    long batch, left;
    int rounds;
} ck;

/* ------------------------------------------------------------------------ */
/* Counting                                                                  */

static int wanted(void)
{
    return !ck.only || strstr(ck.name, ck.only);
}

int ck_check(CkFn fn, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(ck.name, sizeof(ck.name), fmt, ap);
    va_end(ap);
    for (int i = 0; i < ck.n_seen; i++)
        if (ck.seen[i] == fn)
            return 0;
    if (ck.n_seen < SEEN)
        ck.seen[ck.n_seen++] = fn;
    ck.failures = 0;
    return wanted();
}

int ck_test(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(ck.name, sizeof(ck.name), fmt, ap);
    va_end(ap);
    ck.failures = 0;
    return wanted();
}

void ck_fail(const char *fmt, ...)
{
    va_list ap;

    if (ck.failures++ < 3) {
        printf("FAILED %s %s: ", ck.tier, ck.name);
        va_start(ap, fmt);
        vprintf(fmt, ap);
        va_end(ap);
        putchar('\n');
    }
}

void ck_report(void)
{
    if (ck.failures)
        ck.failed++;
    else
        ck.passed++;
    if (!ck.bench)
        printf("%-7s %-28s %s\n", ck.tier, ck.name, ck.failures ? "FAILED" : "ok");
}

/* ------------------------------------------------------------------------ */
/* Timing                                                                    */

void ck_bench_begin(void)
{
    ck.rounds = 0;
    ck.best = 1e30;
    ck.batch = 1;
    ck.left = 1;
    ck.start = ag_clock();
}

/* Batches grow to about 2 ms, then the best of 10 counts. */
int ck_bench_more(void)
{
    if (!ck.bench)
        return 0;
    if (ck.left-- > 0)
        return 1;
    double t = ag_clock() - ck.start;
    if (t < 0.002 && ck.rounds == 0) {
        ck.batch *= 2;
    } else {
        ck.best = AG_MIN(ck.best, t / (double)ck.batch);
        ck.rounds++;
    }
    ck.left = ck.batch - 1;
    ck.start = ag_clock();
    return ck.rounds < 10;
}

void ck_bench_end(double work)
{
    if (ck.bench)
        printf("%-7s %-28s %12.1f ns %10.3f G/s\n", ck.tier, ck.name, ck.best * 1e9,
               work / ck.best * 1e-9);
}

/* ------------------------------------------------------------------------ */
/* Numbers                                                                   */

uint32_t ck_rand(void)
{
    ck.state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    uint64_t z = ck.state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

int ck_below(int n)
{
    return (int)(ck_rand() % (uint32_t)n);
}

float ck_float(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(ck_rand() >> 8) * 0x1p-24f);
}

void ck_floats(float *p, int n, float lo, float hi)
{
    for (int i = 0; i < n; i++)
        p[i] = ck_float(lo, hi);
}

void ck_stored(void *p, AgDtype type, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t r = ck_rand(), kind = r >> 28, bits;
        float f = ck_float(-2, 2);
        memcpy(&bits, &f, sizeof(bits));
        if (type == AG_F32) {
            memcpy((char *)p + 4 * i, &bits, 4);
            continue;
        }
        uint16_t h = (uint16_t)(bits >> 16);
        if (type == AG_F16) /* sign, exponent 8..15, any fraction */
            h = (uint16_t)((r & 0x83FF) | (8u + (r >> 16) % 8u) << 10);
        if (kind == 0)
            h = (uint16_t)(r & 0x8003); /* subnormal or zero */
        else if (kind == 1 && type == AG_BF16)
            h = (uint16_t)(r & 0xBFFF); /* any exponent below 1 */
        memcpy((char *)p + 2 * i, &h, 2);
    }
}

double ck_widen(const void *p, AgDtype type, ptrdiff_t i)
{
    if (type == AG_BF16)
        return ag_load_bf16(p, i);
    return type == AG_F16 ? ag_load_f16(p, i) : ag_load_f32(p, i);
}

/* ------------------------------------------------------------------------ */
/* Memory                                                                    */

static void crashed(int sig)
{
    static const char text[] = "checkasm: touched memory outside its arguments: ";
    ssize_t n = write(1, text, sizeof(text) - 1);

    (void)sig;
    n += write(1, ck.tier, strlen(ck.tier));
    n += write(1, " ", 1);
    n += write(1, ck.name, strlen(ck.name));
    n += write(1, "\n", 1);
    _exit(n > 0 ? 1 : 2);
}

static unsigned char *slot(int i)
{
    if (!ck.slot[i]) {
        long page = sysconf(_SC_PAGESIZE);
        void *p = mmap(NULL, ARENA + (size_t)page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED || mprotect((char *)p + ARENA, (size_t)page, PROT_NONE)) {
            perror("checkasm: mmap");
            exit(1);
        }
        ck.slot[i] = p;
    }
    return ck.slot[i];
}

void *ck_input(int i, size_t n)
{
    return slot(i) + ARENA - n;
}

void *ck_aligned(int i, size_t n)
{
    return slot(i) + ARENA - AG_ALIGN_UP(n, (size_t)64);
}

void *ck_output(int i, size_t n, int shift)
{
    unsigned char *p = slot(i) + 1024 + shift;
    const float nan = NAN;

    memset(p - GUARD, 0xA5, n + 2 * GUARD);
    for (size_t j = 0; j + sizeof(nan) <= n; j += sizeof(nan))
        memcpy(p + j, &nan, sizeof(nan));
    ck.out[i].data = p;
    ck.out[i].size = n;
    return p;
}

int ck_guards(int i)
{
    const unsigned char *p = ck.out[i].data;

    for (int j = 0; j < GUARD; j++)
        if (p[j - GUARD] != 0xA5 || p[ck.out[i].size + (size_t)j] != 0xA5)
            return 0;
    return 1;
}

void ck_exec_open(CkExec *e, const AgDsp *dsp, int threads)
{
    AgArena a = {0};

    memset(e, 0, sizeof(*e));
    if (ag_pool_open(&e->pool, threads) < 0)
        abort();
    ag_exec_carve(&e->x, &a, dsp, e->pool);
    e->mem = ag_malloc(a.used);
    if (!e->mem)
        abort();
    memset(e->mem, 0xFF, a.used); /* NaN: nothing may be read that was not written */
    a.base = e->mem;
    a.size = a.used;
    a.used = 0;
    ag_exec_carve(&e->x, &a, dsp, e->pool);
}

void ck_exec_close(CkExec *e)
{
    ag_pool_close(&e->pool);
    ag_free(e->mem);
}

/* ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    unsigned flags; /* all are needed */
} tiers[] = {
    {"c", 0},
#if ARCH_X86_64
    {"avx2", ARGUS_CPU_AVX2},
    {"avxvnni", ARGUS_CPU_AVX2 | ARGUS_CPU_AVX_VNNI},
    {"avx512", ARGUS_CPU_AVX2 | ARGUS_CPU_AVX512},
    {"vnni", ARGUS_CPU_AVX2 | ARGUS_CPU_AVX512 | ARGUS_CPU_AVX512_VNNI},
#elif ARCH_AARCH64
    {"neon", ARGUS_CPU_NEON},
    {"dotprod", ARGUS_CPU_NEON | ARGUS_CPU_DOTPROD},
#endif
};

static int usage(FILE *to, int status)
{
    fputs("usage: checkasm [--bench] [--test=NAME] [SEED]\n"
          "  --bench      time the functions too\n"
          "  --test=NAME  only tests whose name contains NAME, like matmul.tile\n",
          to);
    return status;
}

static void run_tier(const AgDsp *ref, unsigned flags)
{
    AgDsp dsp;

    ag_dsp_init(&dsp, flags);
    check_act(ref, &dsp);
    check_attn(ref, &dsp);
    check_convert(ref, &dsp);
    check_matmul(ref, &dsp);
    check_norm(ref, &dsp);
    check_q8(ref, &dsp);
    check_resample(ref, &dsp);
    check_rope(ref, &dsp);
    check_vec(ref, &dsp);
    check_drivers(&dsp);
    check_attn_driver(&dsp);
}

int main(int argc, char **argv)
{
    struct sigaction crash = {.sa_handler = crashed};
    unsigned have = argus_cpu_flags();
    AgDsp ref;
    int skipped = 0;

    ck.seed = (uint32_t)time(NULL) ^ (uint32_t)getpid() << 16;
    for (int i = 1; i < argc; i++) {
        char *end;
        if (!strcmp(argv[i], "--help"))
            return usage(stdout, 0);
        if (!strcmp(argv[i], "--bench")) {
            ck.bench = 1;
        } else if (!strncmp(argv[i], "--test=", 7)) {
            ck.only = argv[i] + 7;
        } else {
            ck.seed = (uint32_t)strtoul(argv[i], &end, 0);
            if (!*argv[i] || *end)
                return usage(stderr, 2);
        }
    }
    sigaction(SIGSEGV, &crash, NULL);
    sigaction(SIGBUS, &crash, NULL);
    printf("checkasm: seed %" PRIu32 "\n", ck.seed);
    ag_dsp_init(&ref, 0);
    for (size_t i = 0; i < AG_COUNT(tiers); i++) {
        ck.tier = tiers[i].name;
        if ((have & tiers[i].flags) != tiers[i].flags) {
            printf("SKIP checkasm, tier %s: not on this machine\n", ck.tier);
            skipped++;
            continue;
        }
        ck.state = ck.seed;
        run_tier(&ref, tiers[i].flags);
    }
    printf("checkasm: %d passed, %d failed, %d skipped\n", ck.passed, ck.failed, skipped);
    return ck.failed || !ck.passed;
}

/*
 * Instruction sets and usable cores.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "libargus/base/cpu.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "libargus/base/common.h"

#if ARCH_X86_64
#include <cpuid.h>

static uint64_t xgetbv0(void)
{
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

unsigned argus_cpu_flags(void)
{
    unsigned a, b, c, d, flags = 0, max = __get_cpuid_max(0, NULL);

    if (max < 7)
        return 0;
    __cpuid(1, a, b, c, d);
    int fma = c >> 12 & 1, osxsave = c >> 27 & 1, f16c = c >> 29 & 1;
    if (!osxsave)
        return 0;
    uint64_t xcr = xgetbv0();
    __cpuid_count(7, 0, a, b, c, d);
    unsigned b7 = b, c7 = c;
    if ((xcr & 6) == 6 && fma && f16c && (b7 >> 5 & 1) && (b7 >> 8 & 1)) /* AVX2, BMI2 */
        flags |= ARGUS_CPU_AVX2;
    if ((flags & ARGUS_CPU_AVX2) && (xcr & 0xE6) == 0xE6 && (b7 >> 16 & 1) /* F */
        && (b7 >> 17 & 1) && (b7 >> 30 & 1) && (b7 >> 31 & 1)) {           /* DQ BW VL */
        flags |= ARGUS_CPU_AVX512;
        if (c7 >> 11 & 1)
            flags |= ARGUS_CPU_AVX512_VNNI;
    }
    __cpuid_count(7, 1, a, b, c, d);
    if ((flags & ARGUS_CPU_AVX2) && (a >> 4 & 1))
        flags |= ARGUS_CPU_AVX_VNNI;
    return flags;
}
#elif ARCH_AARCH64
#include <sys/auxv.h>

unsigned argus_cpu_flags(void)
{
    unsigned long hwcap = getauxval(AT_HWCAP), hwcap2 = getauxval(AT_HWCAP2);
    unsigned flags = 0;

    if (!(hwcap & 1UL << 1)) /* asimd */
        return 0;
    flags |= ARGUS_CPU_NEON;
    if (hwcap & 1UL << 20) /* asimddp */
        flags |= ARGUS_CPU_DOTPROD;
    if (hwcap2 & 1UL << 13)
        flags |= ARGUS_CPU_I8MM;
    if (hwcap2 & 1UL << 14)
        flags |= ARGUS_CPU_BF16;
    return flags;
}
#else
unsigned argus_cpu_flags(void)
{
    return 0;
}
#endif

int ag_cpu_parse_quota(const char *text)
{
    char *end;
    long quota = strtol(text, &end, 10);

    if (end == text || quota <= 0) /* "max" */
        return 0;
    long period = strtol(end, NULL, 10);
    if (period <= 0)
        period = 100000;
    return (int)AG_MIN((quota + period - 1) / period, 4096);
}

/* Cores the process's cgroup (v2, then v1) allows, 0 = no limit known. */
static int cgroup_cores(void)
{
    char line[512], path[640], text[64];
    int cores = 0;
    FILE *f = fopen("/proc/self/cgroup", "re");

    if (!f)
        return 0;
    while (!cores && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::", 3))
            continue;
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", line + 3);
        FILE *q = fopen(path, "re");
        if (!q)
            q = fopen("/sys/fs/cgroup/cpu.max", "re");
        if (q) {
            if (fgets(text, sizeof(text), q))
                cores = ag_cpu_parse_quota(text);
            fclose(q);
        }
    }
    fclose(f);
    if (!cores && (f = fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "re"))) {
        if (fgets(text, sizeof(text), f))
            cores = ag_cpu_parse_quota(text);
        fclose(f);
    }
    return cores;
}

int argus_cpu_count(void)
{
    cpu_set_t set;
    int n = 0, quota = cgroup_cores();

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        n = CPU_COUNT(&set);
    if (n < 1)
        n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (quota > 0)
        n = AG_MIN(n, quota);
    return AG_MAX(n, 1);
}

static const struct {
    const char *name;
    unsigned mask;
} tiers[] = {
    {"c", 0},
    {"avx2", ARGUS_CPU_AVX2},
    {"avx512", ARGUS_CPU_AVX2 | ARGUS_CPU_AVX512},
    {"vnni", ARGUS_CPU_AVX2 | ARGUS_CPU_AVX512 | ARGUS_CPU_AVX512_VNNI},
    {"avxvnni", ARGUS_CPU_AVX2 | ARGUS_CPU_AVX_VNNI},
    {"neon", ARGUS_CPU_NEON},
    {"dotprod", ARGUS_CPU_NEON | ARGUS_CPU_DOTPROD},
    {"all", ARGUS_CPU_ALL},
};

int argus_cpu_mask(const char *name, unsigned *mask)
{
    char *end;

    for (size_t i = 0; i < AG_COUNT(tiers); i++) {
        if (!strcmp(name, tiers[i].name)) {
            *mask = tiers[i].mask;
            return 0;
        }
    }
    errno = 0;
    unsigned long v = strtoul(name, &end, 0);
    if (!*name || *name == '-' || *end || errno || v > UINT32_MAX)
        return ARGUS_ERR(EINVAL);
    *mask = (unsigned)v;
    return 0;
}

const char *argus_cpu_tier(unsigned mask)
{
    unsigned have = argus_cpu_flags() & mask;

    if (HAVE_AVX512 && (have & ARGUS_CPU_AVX512))
        return "avx512";
    if (HAVE_AVX2 && (have & ARGUS_CPU_AVX2))
        return "avx2";
    if (HAVE_NEON && (have & ARGUS_CPU_NEON))
        return "neon";
    return "c";
}

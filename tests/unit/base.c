/*
 * Unit tests of libargus/base.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libargus/base/arena.h"
#include "libargus/base/buf.h"
#include "libargus/base/cpu.h"
#include "libargus/base/file.h"
#include "libargus/base/thread.h"

static void sizes(void)
{
    CU_ASSERT_EQUAL(ag_mul(3, 4), 12);
    CU_ASSERT_EQUAL(ag_mul(SIZE_MAX / 2, 3), SIZE_MAX);
    CU_ASSERT_EQUAL(ag_mul(SIZE_MAX, 0), SIZE_MAX);
    CU_ASSERT_EQUAL(ag_add(SIZE_MAX, 1), SIZE_MAX);
    CU_ASSERT_PTR_NULL(ag_malloc(SIZE_MAX));
    CU_ASSERT_PTR_NULL(ag_calloc(SIZE_MAX / 2, 4));
}

static void arena(void)
{
    AgArena a = {0};
    _Alignas(AG_ALIGN) static unsigned char mem[256];

    CU_ASSERT_PTR_NULL(AG_TAKE(&a, float, 3));
    CU_ASSERT_PTR_NULL(AG_TAKE(&a, char, 65));
    CU_ASSERT_EQUAL(a.used, 64 + 128);
    AgArena b = {mem, 0, 192};
    CU_ASSERT_PTR_EQUAL(AG_TAKE(&b, float, 3), mem);
    CU_ASSERT_PTR_EQUAL(AG_TAKE(&b, char, 65), mem + 64);
    CU_ASSERT_PTR_NULL(AG_TAKE(&b, char, 1));
    AG_TAKE(&a, double, SIZE_MAX / 4);
    CU_ASSERT_EQUAL(a.used, SIZE_MAX);
}

static void fixed(void)
{
    static const struct {
        double v;
        int decimals;
        const char *text;
    } t[] = {
        {0, 3, "0.000"},     {1.0005, 3, "1.001"}, {-0.0004, 3, "0.000"}, {-2.5, 1, "-2.5"},
        {12345.678, 0, "12346"}, {0.9999, 3, "1.000"}, {NAN, 3, "null"}, {HUGE_VAL, 2, "null"},
    };
    AgBuf b = {0};

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        ag_buf_clear(&b);
        ag_buf_fixed(&b, t[i].v, t[i].decimals);
        CU_ASSERT_STRING_EQUAL(b.data, t[i].text);
    }
    ag_buf_free(&b);
}

static void quota(void)
{
    CU_ASSERT_EQUAL(ag_cpu_parse_quota("max 100000\n"), 0);
    CU_ASSERT_EQUAL(ag_cpu_parse_quota("100000 100000\n"), 1);
    CU_ASSERT_EQUAL(ag_cpu_parse_quota("150000 100000\n"), 2);
    CU_ASSERT_EQUAL(ag_cpu_parse_quota("50000"), 1);
    CU_ASSERT_EQUAL(ag_cpu_parse_quota("-1"), 0);
    CU_ASSERT(argus_cpu_count() >= 1);
}

static void cpumask(void)
{
    unsigned m = 1;

    CU_ASSERT_EQUAL(argus_cpu_mask("c", &m), 0);
    CU_ASSERT_EQUAL(m, 0);
    CU_ASSERT_EQUAL(argus_cpu_mask("0x3", &m), 0);
    CU_ASSERT_EQUAL(m, 3);
    CU_ASSERT_EQUAL(argus_cpu_mask("sse9", &m), ARGUS_ERR(EINVAL));
    CU_ASSERT_EQUAL(argus_cpu_mask("", &m), ARGUS_ERR(EINVAL));
    CU_ASSERT_EQUAL(argus_cpu_mask("-1", &m), ARGUS_ERR(EINVAL));
    CU_ASSERT_STRING_EQUAL(argus_cpu_tier(0), "c");
}

static void count_item(void *arg, int item, int thread)
{
    (void)thread;
    ((int *)arg)[item]++;
}

static void pool(void)
{
    for (int n = 1; n <= 4; n++) {
        AgPool *p;
        CU_ASSERT_EQUAL_FATAL(ag_pool_open(&p, n), 0);
        CU_ASSERT_EQUAL(ag_pool_threads(p), n);
        int seen[97] = {0}, bad = 0;
        for (int round = 1; round <= 500; round++) {
            ag_pool_run(p, 97, count_item, seen);
            for (int i = 0; i < 97; i++)
                bad += seen[i] != round;
        }
        CU_ASSERT_EQUAL(bad, 0);
        ag_pool_close(&p);
        CU_ASSERT_PTR_NULL(p);
    }
}

typedef struct Nested {
    AgPool *pool;
    int seen[5][23];
    atomic_int bad;
} Nested;

static void inner(void *arg, int item, int thread)
{
    (void)thread;
    ((int *)arg)[item]++;
}

static void outer(void *arg, int item, int thread)
{
    Nested *n = arg;

    for (int round = 1; round <= 3; round++) {
        ag_pool_run(n->pool, 23, inner, n->seen[item]);
        for (int i = 0; i < 23; i++)
            if (n->seen[item][i] % 3 != round % 3) /* all done on return */
                atomic_fetch_add(&n->bad, 1);
    }
    if (thread < 0 || thread >= ag_pool_threads(n->pool))
        atomic_fetch_add(&n->bad, 1);
}

/* Items that are jobs; threads without an item of their own help with those. */
static void pool_nested(void)
{
    for (int k = 1; k <= 6; k++) {
        Nested n = {0};
        CU_ASSERT_EQUAL_FATAL(ag_pool_open(&n.pool, k), 0);
        for (int round = 0; round < 300; round++)
            ag_pool_run(n.pool, 1 + round % 5, outer, &n);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 23; j++)
                if (n.seen[i][j] != 3 * 60 * (5 - i))
                    atomic_fetch_add(&n.bad, 1);
        CU_ASSERT_EQUAL(n.bad, 0);
        ag_pool_close(&n.pool);
    }
}

static void files(void)
{
    AgBlob b;

    ag_messages_clear();
    CU_ASSERT_EQUAL(ag_file_map(&b, "/nonexistent/x", ag_test_log()), ARGUS_ERR(ENOENT));
    CU_ASSERT(ag_message_has("/nonexistent/x"));
    CU_ASSERT_EQUAL(ag_file_read(&b, ag_test_dir(), 100, ag_test_log()), ARGUS_ERR(EISDIR));
    CU_ASSERT_EQUAL(ag_file_read(&b, ag_source_path("LICENSE"), 10, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("expected at most 10 bytes"));
    CU_ASSERT_EQUAL_FATAL(ag_file_map(&b, ag_source_path("LICENSE"), ag_test_log()), 0);
    CU_ASSERT(b.size > 100 && !memcmp(b.data, "BSD", 3));
    ag_blob_free(&b);
}

static void errors(void)
{
    char buf[100];

    CU_ASSERT_STRING_EQUAL(argus_strerror(ARGUS_ERR_CANCELLED, buf, sizeof(buf)), "cancelled");
    CU_ASSERT_STRING_EQUAL(argus_strerror(ARGUS_ERR(ENOENT), buf, sizeof(buf)),
                           "No such file or directory");
    CU_ASSERT_STRING_EQUAL(argus_strerror(ARGUS_ERR(ENOENT), NULL, 0), "unknown error");
}

void ag_tests_base(void)
{
    static const AgTest tests[] = {
        {"sizes", sizes}, {"arena", arena},   {"fixed", fixed}, {"quota", quota},
        {"cpumask", cpumask}, {"pool", pool}, {"pool_nested", pool_nested},
        {"files", files}, {"errors", errors},
        {NULL, NULL},
    };
    ag_suite("base", tests);
}

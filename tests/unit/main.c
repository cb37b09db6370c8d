/*
 * Runs the unit tests: unit [SUITE...]. Exit status 1 if one fails.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _XOPEN_SOURCE 700
#include "tests/unit/unit.h"

#include <CUnit/Basic.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

static unsigned n_skip; /* tests that could not be done, or not wholly */
static char messages[16384], dir[64];

void ag_suite(const char *name, const AgTest *tests)
{
    CU_pSuite s = CU_add_suite(name, NULL, NULL);

    for (; s && tests->name; tests++)
        if (!CU_add_test(s, tests->name, tests->fn))
            s = NULL;
    if (!s) {
        fprintf(stderr, "can't register suite %s: %s\n", name, CU_get_error_msg());
        exit(2);
    }
}

void ag_skip(const char *what, const char *why)
{
    static CU_pTest last;

    if (CU_get_current_test() != last) /* a test counts once */
        n_skip++;
    last = CU_get_current_test();
    printf("\n    SKIP %s: %s\n    ", what, why);
}

static void keep(void *opaque, int level, const char *message)
{
    size_t n = strlen(messages), m = strlen(message);

    (void)opaque;
    (void)level;
    if (n + m + 2 < sizeof(messages)) {
        memcpy(messages + n, message, m);
        messages[n + m] = '\n';
        messages[n + m + 1] = 0;
    }
}

const ArgusLogger *ag_test_log(void)
{
    static const ArgusLogger log = {keep, NULL};
    return &log;
}

const char *ag_messages(void)
{
    return messages;
}

int ag_message_has(const char *text)
{
    if (strstr(messages, text))
        return 1;
    printf("\n    no message has \"%s\"; messages: %s", text, messages);
    return 0;
}

void ag_messages_clear(void)
{
    messages[0] = 0;
}

const char *ag_test_data(void)
{
    const char *d = getenv("ARGUS_TEST_DATA");
    return d && *d ? d : NULL;
}

const char *ag_source_path(const char *file)
{
    static char path[8][4096];
    static int at;
    char *p = path[at++ & 7];

    snprintf(p, sizeof(path[0]), "%s/%s", ARGUS_SOURCE_DIR, file);
    return p;
}

const char *ag_test_dir(void)
{
    if (!dir[0]) {
        snprintf(dir, sizeof(dir), "%s", "/tmp/argus-unit-XXXXXX");
        if (!mkdtemp(dir)) {
            perror("mkdtemp");
            exit(2);
        }
    }
    return dir;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

int main(int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
#define ADD(name) ag_tests_##name();
    AG_SUITES(ADD)
    CU_basic_set_mode(CU_BRM_VERBOSE);
    unsigned failed = 0, run = 0; /* CUnit counts each run of a suite from 0 */
    if (argc > 1) {
        for (int i = 1; i < argc; i++) {
            CU_pSuite s = CU_get_suite(argv[i]);
            if (!s) {
                fprintf(stderr, "no such suite: %s\n", argv[i]);
                return 2;
            }
            CU_basic_run_suite(s);
            failed += CU_get_number_of_tests_failed();
            run += CU_get_number_of_tests_run();
        }
    } else {
        CU_basic_run_tests();
        failed = CU_get_number_of_tests_failed();
        run = CU_get_number_of_tests_run();
    }
    CU_cleanup_registry();
    if (dir[0])
        nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    unsigned passed = run > failed + n_skip ? run - failed - n_skip : 0; /* skipped is not passed */
    printf("unit: %u passed, %u failed, %u skipped\n", passed, failed, n_skip);
    return failed != 0;
}

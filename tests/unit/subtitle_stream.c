/*
 * Unit tests of writers and their streams: files on disk, errors, memory that
 * runs out. Names that begin with V are cases of public bug reports.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/memio.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libargus/base/mem.h"

static int file_write(void *opaque, const void *data, size_t size)
{
    return fwrite(data, 1, size, opaque) == size ? 0 : ARGUS_ERR(EIO);
}

static int file_flush(void *opaque)
{
    return fflush(opaque) ? ARGUS_ERR(errno) : 0;
}

static int file_seek(void *opaque, int64_t offset)
{
    return fseek(opaque, (long)offset, SEEK_SET) ? ARGUS_ERR(errno) : 0;
}

static void v20_file_on_disk(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/track.json", ag_test_dir());
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    ArgusStream io = {file_write, file_flush, file_seek, f};
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_JSON);
    ArgusWriter *w = NULL;
    CU_ASSERT_EQUAL_FATAL(argus_writer_open(&w, &s, &io), 0);
    for (size_t i = 0; i <= 50; i++) { /* another reader finds a whole document each time */
        json_error_t e;
        json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
        CU_ASSERT_PTR_NOT_NULL(j);
        CU_ASSERT_EQUAL(json_array_size(json_object_get(j, "segments")), i);
        json_decref(j);
        ArgusCue c = mem_cue((int64_t)i * 1000, (int64_t)i * 1000 + 1000,
                             i % 3 ? "text" : "a \"long\" one\n");
        CU_ASSERT_EQUAL(argus_writer_cue(w, &c), 0);
    }
    argus_writer_close(&w);
    fclose(f);
}

static void errors_once(void)
{
    for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
        for (int merged = 0; merged < 2; merged++) {
            ArgusWriterSettings s = mem_settings(f);
            s.merge = merged;
            ArgusWriter *w = mem_open(&s, &mem_file);
            mem.fail_write = mem.n_write + 2; /* the second cue finds the disk full */
            int errors = 0, writes = 0;
            for (int i = 0; i < 6; i++) {
                char text[2] = {(char)('a' + i), 0};
                ArgusCue c = mem_cue(i * 1000, i * 1000 + 1000, text);
                int err = argus_writer_cue(w, &c);
                CU_ASSERT(err == 0 || err == ARGUS_ERR(ENOSPC));
                errors += err < 0;
                if (err < 0)
                    writes = mem.n_write;
            }
            CU_ASSERT_EQUAL(errors, 1);
            CU_ASSERT_EQUAL(argus_writer_finish(w), ARGUS_ERR(ENOSPC)); /* what became of it all */
            CU_ASSERT_EQUAL(mem.n_write, writes);                       /* never tried again */
            argus_writer_close(&w);
        }
    }
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_VTT);
    ArgusWriter *w = NULL;
    memset(&mem, 0, sizeof(mem));
    mem.fail_write = 1;
    CU_ASSERT_EQUAL(argus_writer_open(&w, &s, &mem_pipe), ARGUS_ERR(ENOSPC));
    CU_ASSERT_PTR_NULL(w);
    s.format = ARGUS_FORMAT_JSON;
    w = mem_open(&s, &mem_file);
    mem.fail_seek = 1;
    CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[0]), ARGUS_ERR(ESPIPE));
    CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[1]), 0);
    CU_ASSERT_EQUAL(argus_writer_finish(w), ARGUS_ERR(ESPIPE));
    argus_writer_close(&w);
}

static void bad_settings(void)
{
    ArgusWriter *w = NULL;
    ArgusStream none = {0};

    for (int i = 0; i < 7; i++) {
        ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
        if (i == 0)
            s.format = ARGUS_FORMAT_AUTO;
        if (i == 1)
            s.format = ARGUS_FORMAT_FFMETA + 1;
        if (i == 2)
            s.wrap = -1;
        if (i == 3)
            s.lines = -1;
        if (i == 4)
            s.merge = 2;
        if (i == 5)
            s.wrap = 10001;
        CU_ASSERT_EQUAL(argus_writer_open(&w, &s, i == 6 ? &none : &mem_pipe), ARGUS_ERR(EINVAL));
    }
    argus_writer_close(&w); /* NULL is fine */
}

static void strings_are_copied(void)
{
    char model[] = "tiny", prompt[] = "Why?";
    ArgusDecoding d;
    ArgusWriterSettings s = mem_json_settings(ARGUS_FORMAT_JSON, &d);

    s.model = model;
    s.prompt = prompt;
    ArgusWriter *w = mem_open(&s, &mem_file);
    memset(model, 'x', 4);
    memset(prompt, 'x', 4);
    d.max_tokens = 9;
    CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[0]), 0);
    argus_writer_close(&w);
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"model\": \"tiny\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"prompt\": \"Why?\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"decode\": \"greedy-64\""));
}

/* Every allocation fails once: no crash, no leak, ENOMEM, and what is on disk
 * stays whole. */
static void out_of_memory(void)
{
    for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
        int done = 0;
        for (long n = 0; n < 200 && !done; n++) {
            ArgusDecoding d;
            ArgusWriterSettings s = mem_json_settings(f, &d);
            ArgusWriter *w = NULL;
            s.wrap = 10;
            s.merge = 1;
            memset(&mem, 0, sizeof(mem));
            ag_mem_fail_after(n);
            int err = argus_writer_open(&w, &s, &mem_file), bad = err;
            for (size_t i = 0; w && i < 3; i++)
                if ((err = argus_writer_cue(w, &mem_three[i])) < 0)
                    bad = err;
            if (w && argus_writer_finish(w) < 0)
                bad = argus_writer_finish(w);
            ag_mem_fail_after(-1);
            CU_ASSERT(bad == 0 || bad == ARGUS_ERR(ENOMEM));
            if (w && f == ARGUS_FORMAT_JSON)
                json_decref(mem_parse(mem.data, mem.size));
            argus_writer_close(&w);
            done = bad == 0;
        }
        CU_ASSERT(done);
    }
    ag_mem_fail_after(0);
    CU_ASSERT_PTR_NULL(argus_cue_json(&mem_three[0], NULL));
    ag_mem_fail_after(-1);
}

void ag_tests_subtitle_stream(void)
{
    static const AgTest tests[] = {
        {"V20 file on disk", v20_file_on_disk},
        {"errors are handed on once", errors_once},
        {"settings out of range", bad_settings},
        {"settings are copied", strings_are_copied},
        {"out of memory", out_of_memory},
        {NULL, NULL},
    };

    ag_suite("subtitle_stream", tests);
}

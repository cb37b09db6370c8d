/*
 * Helpers of the writers' tests. See memio.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/memio.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

Mem mem;

static int mem_write(void *opaque, const void *data, size_t size)
{
    Mem *m = opaque;

    m->n_write++;
    if (m->fail_write && m->n_write >= m->fail_write)
        return ARGUS_ERR(ENOSPC);
    if (m->at + size >= sizeof(m->data))
        return ARGUS_ERR(EFBIG);
    memcpy(m->data + m->at, data, size);
    m->at += size;
    if (m->at > m->size)
        m->size = m->at;
    m->data[m->size] = 0;
    return 0;
}

static int mem_flush(void *opaque)
{
    ((Mem *)opaque)->n_flush++;
    return 0;
}

static int mem_seek(void *opaque, int64_t offset)
{
    Mem *m = opaque;

    m->n_seek++;
    if (m->fail_seek)
        return ARGUS_ERR(ESPIPE);
    m->at = (size_t)offset;
    return 0;
}

const ArgusStream mem_file = {mem_write, mem_flush, mem_seek, &mem};
const ArgusStream mem_pipe = {mem_write, mem_flush, NULL, &mem};

ArgusWriter *mem_open(const ArgusWriterSettings *s, const ArgusStream *io)
{
    ArgusWriter *w = NULL;

    memset(&mem, 0, sizeof(mem));
    CU_ASSERT_EQUAL_FATAL(argus_writer_open(&w, s, io), 0);
    return w;
}

ArgusWriterSettings mem_settings(int format)
{
    ArgusWriterSettings s;

    argus_writer_default_settings(&s);
    s.format = format;
    return s;
}

ArgusCue mem_cue(int64_t start_ms, int64_t end_ms, const char *text)
{
    return (ArgusCue){.start = start_ms, .end = end_ms, .time_base = {1, 1000}, .n_frame = 8,
                      .n_token = 11, .mean_logprob = -0.027268, .text = text, .choice = -1};
}

/* All cues through one writer; the bytes are in mem. */
void mem_write_all(const ArgusWriterSettings *s, const ArgusStream *io, const ArgusCue *c, size_t n)
{
    ArgusWriter *w = mem_open(s, io);

    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(argus_writer_cue(w, &c[i]), 0);
    CU_ASSERT_EQUAL(argus_writer_finish(w), 0);
    argus_writer_close(&w);
    CU_ASSERT_PTR_NULL(w);
}

void mem_expect(const char *text)
{
    CU_ASSERT_STRING_EQUAL(mem.data, text);
    if (strcmp(mem.data, text))
        printf("\n--- found\n%s\n--- expected\n%s\n---", mem.data, text);
}

json_t *mem_parse(const char *data, size_t size)
{
    json_error_t e;
    json_t *j = json_loadb(data, size, JSON_REJECT_DUPLICATES, &e);

    if (!j)
        printf("\n    %s at line %d of %.*s", e.text, e.line, (int)size, data);
    CU_ASSERT_PTR_NOT_NULL(j);
    return j;
}

const ArgusCue mem_three[3] = {
    {.start = 0, .end = 4000, .time_base = {1, 1000}, .n_frame = 8, .n_token = 11,
     .mean_logprob = -0.027268, .text = "A red square moves to the right.", .choice = -1},
    {.start = 4000, .end = 8000, .time_base = {1, 1000}, .window = 1, .n_frame = 8, .n_token = 6,
     .finish = ARGUS_FINISH_LENGTH, .text = "SMPTE colour bars.", .choice = -1},
    {.start = 8000, .end = 3725678, .time_base = {1, 1000}, .window = 2, .n_frame = 3, .n_token = 7,
     .finish = ARGUS_FINISH_STRING, .text = "The text reads HELLO.", .choice = -1},
};

ArgusWriterSettings mem_json_settings(int format, ArgusDecoding *d)
{
    ArgusWriterSettings s = mem_settings(format);

    argus_decoding_default(d);
    d->max_tokens = 64;
    s.model = "argus-tiny";
    s.sha256 = "00ff";
    s.fps = (ArgusRational){2, 1};
    s.decoding = d;
    return s;
}

void mem_expect_segments(size_t n, const char *text)
{
    json_t *j = mem_parse(mem.data, mem.size), *segments = json_object_get(j, "segments");

    CU_ASSERT_EQUAL(json_array_size(segments), n);
    json_t *last = n ? json_array_get(segments, n - 1) : NULL;
    if (last && text)
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(last, "text")), text);
    json_decref(j);
}

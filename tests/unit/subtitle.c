/*
 * Unit tests of the writers: the bytes of every format, times, layout. Names
 * that begin with A, S or V are cases of public bug reports.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _DEFAULT_SOURCE
#include "tests/unit/memio.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/base/buf.h"
#include "libargus/subtitle_json.h"
#include "libargus/track_sampler.h"

static void s9_s11_srt(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);

    mem_write_all(&s, &mem_pipe, mem_three, 3);
    mem_expect("1\n00:00:00,000 --> 00:00:04,000\nA red square moves to the right.\n\n"
                "2\n00:00:04,000 --> 00:00:08,000\nSMPTE colour bars.\n\n"
                "3\n00:00:08,000 --> 01:02:05,678\nThe text reads HELLO.\n\n");
    CU_ASSERT_EQUAL(mem.n_flush, 4); /* open, and each cue */
}

static void srt_long(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
    ArgusCue c = mem_cue(359999999, 3600000000 * 100, "late");

    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("1\n99:59:59,999 --> 100000:00:00,000\nlate\n\n");
}

static void vtt(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_VTT);

    mem_write_all(&s, &mem_pipe, mem_three, 2);
    mem_expect("WEBVTT\n\n"
                "00:00:00.000 --> 00:00:04.000\nA red square moves to the right.\n\n"
                "00:00:04.000 --> 00:00:08.000\nSMPTE colour bars.\n\n");

    ArgusDecoding d;
    argus_decoding_default(&d);
    d.max_tokens = 64;
    s.model = "argus-tiny";
    s.sha256 = "0123";
    s.prompt = "What\n\nis --> this?";
    s.fps = (ArgusRational){60000, 2002};
    s.decoding = &d;
    mem_write_all(&s, &mem_pipe, mem_three, 1);
    mem_expect("WEBVTT\n\nNOTE\nargus: " ARGUS_VERSION_STRING "\nmodel: argus-tiny\nsha256: 0123\n"
                "prompt: What is -> this?\ndecode: greedy-64\nfps: 30000/1001\nwindow: 8\n\n"
                "00:00:00.000 --> 00:00:04.000\nA red square moves to the right.\n\n");
}

static void txt(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_TXT);
    ArgusCue c[3] = {mem_three[0], mem_cue(-1255, 12345675, "a\nb"), mem_cue(99999995, 200000000,
                                                                             "x")};

    mem_write_all(&s, &mem_pipe, c, 3);
    mem_expect("[    0.00 -     4.00] A red square moves to the right.\n"
                "[   -1.26 - 12345.68] a b\n"
                "[100000.00 - 200000.00] x\n");
}

static void ffmeta(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_FFMETA);
    ArgusCue c[2] = {mem_cue(0, 4000, "a=b; #1 \\ end"), mem_cue(4000, 5500, "two\nlines")};

    mem_write_all(&s, &mem_pipe, c, 2);
    mem_expect(";FFMETADATA1\n"
                "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=4000\ntitle=a\\=b\\; \\#1 \\\\ end\n"
                "[CHAPTER]\nTIMEBASE=1/1000\nSTART=4000\nEND=5500\ntitle=two lines\n");
}


#define TAIL                                                                               \
    "  \"words\": null,\n  \"speakers\": null,\n"                                          \
    "  \"argus\": { \"version\": \"" ARGUS_VERSION_STRING "\", \"model\": \"argus-tiny\", " \
    "\"sha256\": \"00ff\", \"prompt\": null, \"decode\": \"greedy-64\", \"fps\": \"2/1\", " \
    "\"window\": 8 }\n}\n"
#define FIRST                                                                              \
    "{ \"start\": 0.000, \"end\": 4.000, \"text\": \"A red square moves to the right.\", "  \
    "\"confidence\": 0.9731, \"window\": 0, \"frames\": 8, \"tokens\": 11, \"finish\": \"stop\""
#define SECOND                                                                             \
    "{ \"start\": 4.000, \"end\": 8.000, \"text\": \"SMPTE colour bars.\", "                \
    "\"confidence\": 1.0000, \"window\": 1, \"frames\": 8, \"tokens\": 6, \"finish\": \"length\""

static void json_layout(void)
{
    static const char *const text[3] = {
        "{\n  \"language\": null,\n  \"segments\": [],\n" TAIL,
        "{\n  \"language\": null,\n  \"segments\": [\n    " FIRST " }\n  ],\n" TAIL,
        "{\n  \"language\": null,\n  \"segments\": [\n    " FIRST " },\n    " SECOND
        " }\n  ],\n" TAIL,
    };
    ArgusDecoding d;
    ArgusWriterSettings s = mem_json_settings(ARGUS_FORMAT_JSON, &d);

    for (int pipe = 0; pipe < 3; pipe++) {
        for (size_t n = 0; n < 3; n++) {
            ArgusWriter *w = mem_open(&s, pipe ? &mem_pipe : &mem_file);
            for (size_t i = 0; i < n; i++) {
                if (!pipe)
                    mem_expect(text[i]); /* whole at every moment */
                CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[i]), 0);
            }
            if (!pipe)
                mem_expect(text[n]);
            CU_ASSERT_EQUAL(argus_writer_finish(w), 0);
            mem_expect(text[n]);
            CU_ASSERT_EQUAL(argus_writer_finish(w), 0); /* twice does no harm */
            mem_expect(text[n]);
            if (pipe)
                CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[0]), ARGUS_ERR(EINVAL));
            argus_writer_close(&w);
        }
    }
    /* a pipe whose seek fails is a pipe */
    memset(&mem, 0, sizeof(mem));
    mem.fail_seek = 1;
    ArgusWriter *w = NULL;
    CU_ASSERT_EQUAL_FATAL(argus_writer_open(&w, &s, &mem_file), 0);
    CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[0]), 0);
    CU_ASSERT_EQUAL(argus_writer_finish(w), 0);
    argus_writer_close(&w);
    mem_expect(text[1]);
    CU_ASSERT_EQUAL(mem.n_seek, 1);
}

static void json_goes_on_after_finish(void)
{
    ArgusDecoding d;
    ArgusWriterSettings s = mem_json_settings(ARGUS_FORMAT_JSON, &d);
    ArgusWriter *w = mem_open(&s, &mem_file);

    /* a graph that is rebuilt in mid-stream finishes, then brings more cues */
    CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[0]), 0);
    CU_ASSERT_EQUAL(argus_writer_finish(w), 0);
    CU_ASSERT_EQUAL(argus_writer_cue(w, &mem_three[1]), 0);
    argus_writer_close(&w);
    mem_expect("{\n  \"language\": null,\n  \"segments\": [\n    " FIRST " },\n    " SECOND
                " }\n  ],\n" TAIL);
}

static void jsonl(void)
{
    ArgusDecoding d;
    ArgusWriterSettings s = mem_json_settings(ARGUS_FORMAT_JSONL, &d);
    const char *origin = ", \"version\": \"" ARGUS_VERSION_STRING "\", \"model\": \"argus-tiny\", "
                         "\"sha256\": \"00ff\", \"prompt\": null, \"decode\": \"greedy-64\", "
                         "\"fps\": \"2/1\", \"window_size\": 8 }";
    char text[2048], *one;

    mem_write_all(&s, &mem_pipe, mem_three, 2);
    snprintf(text, sizeof(text), "%s%s\n%s%s\n", FIRST, origin, SECOND, origin);
    mem_expect(text);
    one = argus_cue_json(&mem_three[0], &s);
    snprintf(text, sizeof(text), "%s%s", FIRST, origin);
    CU_ASSERT_STRING_EQUAL(one, text);
    json_decref(mem_parse(one, strlen(one)));
    argus_free(one);
    one = argus_cue_json(&mem_three[0], NULL);
    CU_ASSERT_STRING_EQUAL(one, FIRST " }");
    argus_free(one);
}

/* The name of the video comes first, and only where the writer was told one. */
static void source(void)
{
    static const int kinds[] = {ARGUS_FORMAT_JSON, ARGUS_FORMAT_JSONL, ARGUS_FORMAT_SRT,
                                ARGUS_FORMAT_TXT};
    static const char *const begin[] = {"{\n  \"video\": \"a\\\"b.mp4\",\n  \"language\": null,\n",
                                        "{ \"video\": \"a\\\"b.mp4\", \"start\": 0.000, ", "1\n",
                                        "["};
    char name[] = "a\"b.mp4";

    for (size_t i = 0; i < AG_COUNT(kinds); i++) {
        ArgusWriterSettings s = mem_settings(kinds[i]);
        s.source = name;
        mem_write_all(&s, &mem_pipe, mem_three, 3);
        CU_ASSERT(!strncmp((const char *)mem.data, begin[i], strlen(begin[i])));
    }
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_JSONL);
    s.source = name;
    char *one = argus_cue_json(&mem_three[0], &s);
    CU_ASSERT(one && !strncmp(one, begin[1], strlen(begin[1])));
    argus_free(one);
}

static void choices(void)
{
    ArgusCue c = mem_cue(0, 1000, "yes");

    c.choice = 1;
    c.choice_prob = 0.93;
    char *one = argus_cue_json(&c, NULL);
    json_t *j = mem_parse(one, strlen(one));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(j, "choice")), 1);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(j, "prob")), 0.93);
    json_decref(j);
    argus_free(one);
}

static void still(void)
{
    int ids[2] = {5, 6};
    ArgusCaption c = {.text = (char[]){"A \"cat\"."}, .ids = ids, .n_id = 2,
                      .mean_logprob = -INFINITY,
                      .finish = ARGUS_FINISH_EMPTY, .choice = -1};
    char *one = argus_caption_json(&c, "dir/a \\ b.png", "What?", NULL);

    CU_ASSERT_STRING_EQUAL(one, "{ \"image\": \"dir/a \\\\ b.png\", \"text\": \"A \\\"cat\\\".\", "
                           "\"confidence\": 0.0000, \"tokens\": 2, \"finish\": \"empty\", "
                           "\"model\": null, \"prompt\": \"What?\" }");
    argus_free(one);
    c.mean_logprob = NAN;
    one = argus_caption_json(&c, NULL, NULL, NULL);
    json_t *j = mem_parse(one, strlen(one));
    CU_ASSERT(json_is_null(json_object_get(j, "confidence")));
    CU_ASSERT(json_is_null(json_object_get(j, "prompt")));
    json_decref(j);
    argus_free(one);
}

static void decode_keys(void)
{
    AgBuf b = {0};
    ArgusDecoding d;

    argus_decoding_default(&d);
    d.max_tokens = 64;
    ag_decode_key(&b, &d, ARGUS_PRECISION_EXACT);
    CU_ASSERT_STRING_EQUAL(b.data, "greedy-64");
    d.temperature = 0.7;
    d.seed = 42;
    d.top_k = 40;
    d.top_p = 0.9;
    d.repetition_penalty = 1.1;
    ag_buf_clear(&b);
    ag_decode_key(&b, &d, ARGUS_PRECISION_EXACT);
    CU_ASSERT_STRING_EQUAL(b.data, "sampled-64-t0.7-seed42-k40-p0.9-rp1.1");
    d.temperature = 2;
    d.seed = UINT64_MAX;
    d.top_k = 0;
    d.top_p = 1;
    d.repetition_penalty = 1;
    ag_buf_clear(&b);
    ag_decode_key(&b, &d, ARGUS_PRECISION_EXACT);
    CU_ASSERT_STRING_EQUAL(b.data, "sampled-64-t2-seed18446744073709551615");
    d.n_choice = 3;
    ag_buf_clear(&b);
    ag_decode_key(&b, &d, ARGUS_PRECISION_EXACT);
    CU_ASSERT_STRING_EQUAL(b.data, "choices-3");
    d.n_choice = 0;
    d.temperature = 0;
    ag_buf_clear(&b);
    ag_decode_key(&b, &d, ARGUS_PRECISION_Q8);
    CU_ASSERT_STRING_EQUAL(b.data, "greedy-64-q8");
    ag_buf_free(&b);
}

static void formats_by_name(void)
{
    static const struct {
        const char *name;
        int format;
    } t[] = {
        {"srt", ARGUS_FORMAT_SRT}, {"a.srt", ARGUS_FORMAT_SRT}, {"/x.y/A.SRT", ARGUS_FORMAT_SRT},
        {"a.b.vtt", ARGUS_FORMAT_VTT}, {"webvtt", ARGUS_FORMAT_VTT}, {"c.json", ARGUS_FORMAT_JSON},
        {"c.jsonl", ARGUS_FORMAT_JSONL}, {"x.ndjson", ARGUS_FORMAT_JSONL}, {".txt",
                                                                            ARGUS_FORMAT_TXT},
        {"m.ffmeta", ARGUS_FORMAT_FFMETA}, {"auto", ARGUS_FORMAT_AUTO},
        {"http://h/a.json?x=y.srt", ARGUS_FORMAT_JSON}, {"what?.vtt", ARGUS_FORMAT_VTT},
        {"a.auto", -1}, {"", -1}, {"-", -1}, {"a.mp4", -1}, {"/tmp/srt", -1}, {"a.srt/b", -1},
        {"a.srt ", -1}, {"srtx", -1}, {"a.", -1},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        int f = argus_format_find(t[i].name);
        CU_ASSERT_EQUAL(f, t[i].format < 0 ? ARGUS_ERR(EINVAL) : t[i].format);
        if (f != t[i].format && t[i].format >= 0)
            printf("\n    %s", t[i].name);
    }
    CU_ASSERT_EQUAL(argus_format_find(NULL), ARGUS_ERR(EINVAL));
    for (int i = 0; i <= ARGUS_FORMAT_FFMETA; i++)
        CU_ASSERT_EQUAL(argus_format_find(argus_format_name(i)), i);
    CU_ASSERT_PTR_NULL(argus_format_name(ARGUS_FORMAT_FFMETA + 1));
    CU_ASSERT_PTR_NULL(argus_format_name(-1));
}

/* ------------------------------------------------------------------------ */
/* Times                                                                     */

static void time_ms(void)
{
    CU_ASSERT_EQUAL(argus_time_ms(0, (ArgusRational){1, 25}, 0), 0);
    CU_ASSERT_EQUAL(argus_time_ms(1, (ArgusRational){1, 3}, 0), 333);
    CU_ASSERT_EQUAL(argus_time_ms(2, (ArgusRational){1, 3}, 0), 667);
    CU_ASSERT_EQUAL(argus_time_ms(1, (ArgusRational){1, 2000}, 0), 1);   /* half, up */
    CU_ASSERT_EQUAL(argus_time_ms(-1, (ArgusRational){1, 2000}, 0), -1); /* half, down */
    CU_ASSERT_EQUAL(argus_time_ms(-1, (ArgusRational){1, 2001}, 0), 0);
    CU_ASSERT_EQUAL(argus_time_ms(1, (ArgusRational){1, 4000}, 250),
                    1); /* one rounding of the sum */
    CU_ASSERT_EQUAL(argus_time_ms(90000, (ArgusRational){1, 90000}, -1500000), -500);
    CU_ASSERT_EQUAL(argus_time_ms(1001, (ArgusRational){1, 30000}, 0), 33);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MAX, (ArgusRational){1, 1000}, 0), INT64_MAX);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MAX, (ArgusRational){INT32_MAX, 1}, INT64_MAX), INT64_MAX);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MIN + 1, (ArgusRational){INT32_MAX, 1}, 0), INT64_MIN + 1);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MAX, (ArgusRational){1, INT32_MAX}, 0), 4294967298000);
    CU_ASSERT_EQUAL(argus_time_ms(ARGUS_NOPTS, (ArgusRational){1, 25}, 0), ARGUS_NOPTS);
    CU_ASSERT_EQUAL(argus_time_ms(5, (ArgusRational){1, 0}, 0), ARGUS_NOPTS);
    CU_ASSERT_EQUAL(ag_time_round(7, (ArgusRational){1, 1000}, 0, 100), 1);
    CU_ASSERT_EQUAL(ag_time_round(4, (ArgusRational){1, 1000}, 999, 100), 0); /* not 5 ms first */
}

static void v9_below_zero(void)
{
    ArgusCue c[4] = {mem_cue(-2000, -500, "gone"), mem_cue(-500, 0, "gone too"), mem_cue(-1, 500,
                                                                                         "clamped"),
                     mem_cue(500, 1000, "whole")};
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);

    mem_write_all(&s, &mem_pipe, c, 4);
    mem_expect("1\n00:00:00,000 --> 00:00:00,500\nclamped\n\n"
               "2\n00:00:00,500 --> 00:00:01,000\nwhole\n\n");
    s.format = ARGUS_FORMAT_VTT;
    mem_write_all(&s, &mem_pipe, c, 4);
    mem_expect("WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nclamped\n\n"
               "00:00:00.500 --> 00:00:01.000\nwhole\n\n");
    s.format = ARGUS_FORMAT_JSON;
    mem_write_all(&s, &mem_file, c, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"start\": -2.000, \"end\": -0.500"));
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"start\": -0.001, \"end\": 0.500"));
    s.format = ARGUS_FORMAT_FFMETA;
    mem_write_all(&s, &mem_pipe, c, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "START=0\nEND=500\ntitle=clamped\n"));
    CU_ASSERT_PTR_NULL(strchr(mem.data, '-'));
}

static void offset(void)
{
    ArgusCue c = mem_cue(0, 1001, "x");

    c.time_base = (ArgusRational){1, 30000};
    c.offset_us = 1400000;
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("1\n00:00:01,400 --> 00:00:01,433\nx\n\n");
}

static void s14_same_times(void)
{
    /* k * 1001/30000 s: thirds of milliseconds everywhere */
    for (int64_t k = 1; k < 200; k += 7) {
        ArgusCue c = mem_cue(k * 1001, (k + 3) * 1001, "x");
        c.time_base = (ArgusRational){1, 30000};
        int64_t a = argus_time_ms(c.start, c.time_base, 0), b = argus_time_ms(c.end, c.time_base,
                                                                              0);
        char text[128];
        for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
            ArgusWriterSettings s = mem_settings(f);
            mem_write_all(&s, &mem_file, &c, 1);
            if (f == ARGUS_FORMAT_TXT) {
                snprintf(text, sizeof(text), "[%8.2f - %8.2f]", (double)(k * 1001) / 30000,
                         (double)((k + 3) * 1001) / 30000);
            } else if (f == ARGUS_FORMAT_FFMETA) {
                snprintf(text, sizeof(text), "START=%d\nEND=%d\n", (int)a, (int)b);
            } else if (f >= ARGUS_FORMAT_JSON) {
                snprintf(text, sizeof(text), "\"start\": %d.%03d, \"end\": %d.%03d,",
                         (int)(a / 1000),
                         (int)(a % 1000), (int)(b / 1000), (int)(b % 1000));
            } else {
                char p = f == ARGUS_FORMAT_SRT ? ',' : '.';
                snprintf(text, sizeof(text), "00:00:%02d%c%03d --> 00:00:%02d%c%03d",
                         (int)(a / 1000), p,
                         (int)(a % 1000), (int)(b / 1000), p, (int)(b % 1000));
            }
            CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, text));
        }
    }
}

static void s8_bad_times(void)
{
    ArgusCue bad[] = {mem_cue(1000, 1000, "x"), mem_cue(1000, 999, "x"), mem_cue(ARGUS_NOPTS, 5,
                                                                                 "x"),
                      mem_cue(0, 5, "x"), mem_cue(0, 5, "x")};

    bad[3].time_base.den = 0;
    bad[4].time_base.num = -1;
    for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
        ArgusWriterSettings s = mem_settings(f);
        ArgusWriter *w = mem_open(&s, &mem_file);
        size_t before = mem.size;
        for (size_t i = 0; i < AG_COUNT(bad); i++)
            CU_ASSERT_EQUAL(argus_writer_cue(w, &bad[i]), ARGUS_ERR(EINVAL));
        CU_ASSERT_EQUAL(mem.size, before);
        CU_ASSERT_EQUAL(argus_writer_finish(w), 0);
        argus_writer_close(&w);
    }
    /* too short for a millisecond: JSON has it, a player could not show it */
    ArgusCue c = mem_cue(100, 101, "x");
    c.time_base.den = 90000;
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("");
}

static void v7_empty_stream(void)
{
    static const char *const text[] = {
        [ARGUS_FORMAT_SRT] = "", [ARGUS_FORMAT_VTT] = "WEBVTT\n\n", [ARGUS_FORMAT_JSONL] = "",
        [ARGUS_FORMAT_TXT] = "", [ARGUS_FORMAT_FFMETA] = ";FFMETADATA1\n",
    };

    for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
        ArgusWriterSettings s = mem_settings(f);
        mem_write_all(&s, &mem_file, NULL, 0);
        if (f == ARGUS_FORMAT_JSON)
            mem_expect_segments(0, NULL);
        else
            mem_expect(text[f]);
    }
}

/* ------------------------------------------------------------------------ */
/* Layout                                                                    */

static void merge(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
    ArgusCue c[] = {mem_cue(0, 1000, "a"), mem_cue(1000, 2000, "a "), mem_cue(2000, 3000, "b"),
                    mem_cue(3500, 4000, "b"),
                    mem_cue(4000, 4500, ""), mem_cue(4500, 5000, "b"), mem_cue(0, 500, "b")};

    s.merge = 1;
    ArgusWriter *w = mem_open(&s, &mem_pipe);
    for (size_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(argus_writer_cue(w, &c[i]), 0);
    mem_expect(""); /* one window late */
    CU_ASSERT_EQUAL(argus_writer_cue(w, &c[2]), 0);
    mem_expect("1\n00:00:00,000 --> 00:00:02,000\na\n\n");
    for (size_t i = 3; i < AG_COUNT(c); i++)
        CU_ASSERT_EQUAL(argus_writer_cue(w, &c[i]), 0);
    CU_ASSERT_EQUAL(argus_writer_finish(w), 0);
    argus_writer_close(&w);
    /* not across a gap, an empty cue, or a turn of time */
    mem_expect("1\n00:00:00,000 --> 00:00:02,000\na\n\n2\n00:00:02,000 --> 00:00:03,000\nb\n\n"
                "3\n00:00:03,500 --> 00:00:04,000\nb\n\n4\n00:00:04,500 --> 00:00:05,000\nb\n\n"
                "5\n00:00:00,000 --> 00:00:00,500\nb\n\n");
    s.format = ARGUS_FORMAT_TXT;
    mem_write_all(&s, &mem_pipe, c, 2);
    mem_expect("[    0.00 -     2.00] a\n");
    s.format = ARGUS_FORMAT_JSON; /* keeps windows */
    mem_write_all(&s, &mem_file, c, 2);
    mem_expect_segments(2, "a ");
    s.format = ARGUS_FORMAT_VTT;
    w = mem_open(&s, &mem_pipe);
    argus_writer_cue(w, &c[0]);
    argus_writer_close(&w); /* without finish: the held cue is not written, not leaked */
    mem_expect("WEBVTT\n\n");
}

static void wrapped_formats(void)
{
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
    ArgusCue c = mem_cue(0, 1000, "A <red> square\nmoves to the right.");

    s.wrap = 20;
    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("1\n00:00:00,000 --> 00:00:01,000\nA <red> square\nmoves to the right.\n\n");
    s.wrap = 12; /* of the caption, not of its escapes */
    s.lines = 2;
    s.format = ARGUS_FORMAT_VTT;
    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n"
               "A &lt;red&gt; square\nmoves to the right.\n\n");
}

/* A locale with a decimal comma: an installed one, else one made here. */
static const char *comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    char command[4096];

    for (size_t i = 0; i < AG_COUNT(names); i++)
        if (setlocale(LC_ALL, names[i]))
            return names[i];
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             ag_test_dir());
    if (system(command) || setenv("LOCPATH", ag_test_dir(), 1))
        return NULL;
    return setlocale(LC_ALL, names[0]);
}

static void a3_locale(void)
{
    if (!comma_locale()) {
        ag_skip("numbers in a locale with a decimal comma", "none is installed or can be made");
        return;
    }
    CU_ASSERT_STRING_EQUAL(localeconv()->decimal_point, ",");
    json_layout();
    txt();
    decode_keys();
    setlocale(LC_ALL, "C");
}

void ag_tests_subtitle(void)
{
    static const AgTest tests[] = {
        {"S9 S11 srt", s9_s11_srt},
        {"srt past 99 hours", srt_long},
        {"vtt", vtt},
        {"txt", txt},
        {"ffmeta", ffmeta},
        {"json, byte for byte, at every moment", json_layout},
        {"json goes on after finish", json_goes_on_after_finish},
        {"jsonl", jsonl},
        {"source", source},
        {"choices", choices},
        {"a still's json", still},
        {"decode keys", decode_keys},
        {"formats by name", formats_by_name},
        {"milliseconds, rounded once", time_ms},
        {"V9 times below zero", v9_below_zero},
        {"offset", offset},
        {"S14 same times in all formats", s14_same_times},
        {"S8 times that can't be", s8_bad_times},
        {"V7 empty stream", v7_empty_stream},
        {"merge", merge},
        {"wrap in formats", wrapped_formats},
        {"A3 decimal comma", a3_locale},
        {NULL, NULL},
    };

    ag_suite("subtitle", tests);
}

/*
 * Unit tests of captions that would break a file: clean-up, escapes, line
 * breaks. Names that begin with S are cases of public bug reports.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/memio.h"

#include <stdio.h>
#include <string.h>

#include "libargus/base/utf8.h"
#include "libargus/subtitle_text.h"

static void clean(void)
{
    static const char *const t[][2] = {
        {"plain", "plain"},
        {"  a  b\t c ", "a b c"},
        {"A\n\nB", "A B"},
        {"A\r\n\r\nB\r", "A B"},
        {"A\xE2\x80\xA8\xE2\x80\xA9"
         "B", "A B"},                                 /* U+2028 U+2029 */
        {"A\xC2\x85"
         "B\x01\x1B[0m\x7F", "A B [0m"},              /* U+0085, C0, DEL */
        {"a --> b", "a -> b"},
        {"a -----> b --->", "a -> b ->"},
        {"a --\x01> b", "a -- > b"},
        {"<b> & \"x\" \\", "<b> & \"x\" \\"},
        {"\xFFzu\xC3 \xED\xA0\x80",
         "\xEF\xBF\xBDzu\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"na\xC3\xAFve \xF0\x9F\x90\xB1", "na\xC3\xAFve \xF0\x9F\x90\xB1"},
        {"", ""}, {" \n\t ", ""}, {"\xC2\xA0 \xE2\x80\x8B\xE3\x80\x80\xEF\xBB\xBF", ""},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        AgBuf b = {0};
        ag_buf_str(&b, "--");
        ag_subtitle_clean(&b, t[i][0]);
        CU_ASSERT_STRING_EQUAL(b.data + 2, t[i][1]);
        ag_buf_free(&b);
    }
}

static void s2_blank_lines(void)
{
    static const char *const nasty[] = {"A\n\nB", "A\r\n\r\nB", "A\r\rB", "\n\nA\n \nB\n\n",
                                        "A\xE2\x80\xA8\xE2\x80\xA8"
                                        "B"};

    for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
        for (size_t i = 0; i < AG_COUNT(nasty); i++) {
            for (int wrap = 0; wrap < 3; wrap++) {
                ArgusWriterSettings s = mem_settings(f);
                ArgusCue c[2] = {mem_cue(0, 1000, nasty[i]), mem_cue(1000, 2000, nasty[i])};
                s.wrap = wrap;
                mem_write_all(&s, &mem_file, c, 2);
                const char *a = strchr(mem.data, 'A');
                while (f <= ARGUS_FORMAT_VTT && a && *a != 'B') /* between A and B */
                    CU_ASSERT(strncmp(a++, "\n\n", 2) != 0);
                CU_ASSERT_PTR_NULL(strchr(mem.data, '\r'));
                CU_ASSERT_PTR_NULL(strstr(mem.data, "\n\n\n"));
                CU_ASSERT_PTR_NULL(strstr(mem.data, "\xE2\x80\xA8"));
            }
        }
    }
}

static void s4_markup(void)
{
    ArgusCue c = mem_cue(0, 1000, "Tom & Jerry 1 < 2 <b> --> &lt;");
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_VTT);

    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n"
                "Tom &amp; Jerry 1 &lt; 2 &lt;b&gt; -&gt; &amp;lt;\n\n");
    s.format = ARGUS_FORMAT_SRT;
    mem_write_all(&s, &mem_pipe, &c, 1);
    mem_expect("1\n00:00:00,000 --> 00:00:01,000\nTom & Jerry 1 < 2 <b> -> &lt;\n\n");
    s.format = ARGUS_FORMAT_JSONL;
    mem_write_all(&s, &mem_pipe, &c, 1);
    json_t *j = mem_parse(mem.data, mem.size);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(j, "text")), c.text);
    json_decref(j);
}


static void s5_json_strings(void)
{
    static const char *const nasty[] = {
        "\"", "\\", "a\tb", "a\nb\n\n", "\x01\x1F", "\x7F", "</script>",
            "\xE2\x80\xA8 \xE2\x80\xA9",
        "\xC2\x85", "\b\f\r", "\\u0041\\", "\xF0\x9F\x90\xB1", "\"}]}", "", "{\"a\": [null]}",
    };
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_JSON);
    s.prompt = "\"\\\n\x01";
    s.model = "m\"";
    ArgusWriter *w = mem_open(&s, &mem_file);

    mem_expect_segments(0, NULL);
    for (size_t i = 0; i < AG_COUNT(nasty); i++) {
        ArgusCue c = mem_cue((int64_t)i, (int64_t)i + 1, nasty[i]);
        CU_ASSERT_EQUAL(argus_writer_cue(w, &c), 0);
        mem_expect_segments(i + 1, nasty[i]);
    }
    ArgusCue c = mem_cue(100, 200, "\xFF-\xC3");
    CU_ASSERT_EQUAL(argus_writer_cue(w, &c), 0);
    mem_expect_segments(AG_COUNT(nasty) + 1, "\xEF\xBF\xBD-\xEF\xBF\xBD");
    argus_writer_close(&w);
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"\\u007f\"")); /* readable in a terminal */
    json_t *j = mem_parse(mem.data, mem.size);
    json_t *argus = json_object_get(j, "argus");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(argus, "prompt")), s.prompt);
    CU_ASSERT(json_is_null(json_object_get(argus, "decode")));
    json_decref(j);
}

static void s13_empty(void)
{
    ArgusCue c[4] = {mem_cue(0, 1000, ""), mem_cue(1000, 2000, " \n\xC2\xA0"), mem_cue(2000, 3000,
                                                                                       "x"),
                     mem_cue(3000, 4000, NULL)};

    c[0].finish = ARGUS_FINISH_EMPTY;
    for (int f = ARGUS_FORMAT_SRT; f <= ARGUS_FORMAT_FFMETA; f++) {
        ArgusWriterSettings s = mem_settings(f);
        mem_write_all(&s, &mem_file, c, 4);
        if (f == ARGUS_FORMAT_SRT)
            mem_expect("1\n00:00:02,000 --> 00:00:03,000\nx\n\n");
        else if (f == ARGUS_FORMAT_TXT)
            mem_expect("[    2.00 -     3.00] x\n");
        else if (f == ARGUS_FORMAT_JSON)
            mem_expect_segments(4, "");
    }
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_JSON);
    mem_write_all(&s, &mem_file, c, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"finish\": \"empty\""));
}

/* ------------------------------------------------------------------------ */
/* Line breaks                                                               */

static void wrap_table(void)
{
    static const struct {
        int cols, lines;
        const char *text, *out;
    } t[] = {
        {0, 2, "A red square moves to the right.", "A red square moves to the right."},
        {32, 0, "A red square moves to the right.", "A red square moves to the right."},
        {31, 0, "A red square moves to the right.", "A red square moves\nto the right."},
        {12, 0, "A red square moves to the right.", "A red square\nmoves to the\nright."},
        {12, 2, "A red square moves to the right.", "A red square moves\nto the right."},
        {12, 1, "A red square moves to the right.", "A red square moves to the right."},
        {20, 0, "one two three four five six", "one two three\nfour five six"},
        {4, 0, "abcdefghij k", "abcd\nefgh\nij k"},
        {1, 0, "ab c", "a\nb\nc"},
        {6, 0, "\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xB8\x96\xE7\x95\x8C", /* four wide characters */
         "\xE4\xBD\xA0\xE5\xA5\xBD\n\xE4\xB8\x96\xE7\x95\x8C"},
        {3, 0, "ae\xCC\x81" "bc", "ae\xCC\x81" "b\nc"}, /* an accent takes no column */
        {5, 0, "", ""},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        AgBuf b = {0};
        ag_subtitle_wrap(&b, t[i].text, t[i].cols, t[i].lines);
        CU_ASSERT_STRING_EQUAL(b.data, t[i].out);
        if (b.data && strcmp(b.data, t[i].out))
            printf("\n    %zu: %s", i, b.data);
        ag_buf_free(&b);
    }
}

static uint64_t seed = 88172645463325252u;

static int rnd(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)(seed % (uint64_t)n);
}

/* Narrowest width at which words of these lengths fit into n lines, by trying
 * every way to break. */
static int best(const int *len, int n_word, int n_line)
{
    int sum = len[0], result = 1 << 30;

    if (n_line == 1) {
        for (int i = 1; i < n_word; i++)
            sum += 1 + len[i];
        return sum;
    }
    for (int i = 1; i < n_word; i++) {
        int rest = best(len + i, n_word - i, n_line - 1), w = AG_MAX(sum, rest);
        result = AG_MIN(result, w);
        sum += 1 + len[i];
    }
    return result;
}

static void wrap_is_balanced(void)
{
    int bad = 0;

    for (int round = 0; round < 3000; round++) {
        int len[7], n = 1 + rnd(7), cols = 10 + rnd(20);
        char text[128] = "", back[128];
        for (int i = 0; i < n; i++) {
            len[i] = 1 + rnd(9);
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s", i ? " " : "",
                     len[i],
                     "abcdefghi");
        }
        AgBuf b = {0};
        ag_subtitle_wrap(&b, text, cols, 0);
        int lines = 1, width = 0, used = 0;
        snprintf(back, sizeof(back), "%s", b.data);
        for (char *p = back; *p; p++) {
            used = *p == '\n' ? 0 : used + 1;
            width = AG_MAX(width, used);
            lines += *p == '\n';
            *p = *p == '\n' ? ' ' : *p;
        }
        bad += strcmp(back, text) != 0;                        /* nothing lost */
        bad += width > cols;
        bad += lines > 1 && best(len, n, lines - 1) <= cols;   /* no line too many */
        bad += width != best(len, n, lines);                   /* as even as can be */
        ag_buf_free(&b);
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* ------------------------------------------------------------------------ */
/* All together                                                              */

/* Any bytes at all: as many cues come out as went in, each of the shape that
 * readers look for, and JSON parses after every one. */
static void random_captions(void)
{
    static const char *const bits[] = {"-->", "\n", "\r\n", "\n\n", "1",
                                       "00:00:01,000 --> 00:00:02,000",
                                       "<b>", "&", "\xE2\x80\xA8", "\xC2\x85", "\xFF",
                                           "\xF0\x9F\x90\xB1",
                                       "\"", "\\", "\x01", " ", "NOTE", "WEBVTT", "-", ">", "word",
                                           "\t"};
    ArgusWriterSettings s[3] = {mem_settings(ARGUS_FORMAT_SRT), mem_settings(ARGUS_FORMAT_VTT),
                                mem_settings(ARGUS_FORMAT_JSON)};
    int bad = 0;

    for (int round = 0; round < 300; round++) {
        for (int f = 0; f < 3; f++) {
            int n = 1 + rnd(6), shown = 0;
            s[f].wrap = rnd(2) * rnd(30);
            s[f].lines = rnd(3);
            ArgusWriter *w = mem_open(&s[f], &mem_file);
            for (int i = 0; i < n; i++) {
                AgBuf text = {0}, seen = {0};
                for (int k = rnd(12); k >= 0; k--)
                    ag_buf_str(&text, bits[rnd(AG_COUNT(bits))]);
                ag_subtitle_clean(&seen, text.data);
                shown += seen.size > 0;
                bad += seen.data && (strstr(seen.data, "-->") != NULL || strchr(seen.data,
                                                                                '\n') != NULL);
                ArgusCue c = mem_cue(i * 1000, i * 1000 + 1000, text.data);
                CU_ASSERT_EQUAL(argus_writer_cue(w, &c), 0);
                if (f == 2)
                    mem_expect_segments((size_t)i + 1, NULL);
                bad += ag_utf8_valid(mem.data, mem.size) != mem.size;
                ag_buf_free(&text);
                ag_buf_free(&seen);
            }
            argus_writer_close(&w);
            int arrows = 0, blanks = 0;
            for (const char *p = mem.data; *p; p++) {
                arrows += !strncmp(p, "-->", 3);
                blanks += !strncmp(p, "\n\n", 2);
            }
            if (f < 2)
                bad += arrows != shown || blanks != shown + f;
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

void ag_tests_subtitle_text(void)
{
    static const AgTest tests[] = {
        {"clean-up", clean},
        {"S2 blank lines in captions", s2_blank_lines},
        {"S4 markup in captions", s4_markup},
        {"S5 json strings", s5_json_strings},
        {"S13 empty captions", s13_empty},
        {"wrap by example", wrap_table},
        {"wrap is balanced", wrap_is_balanced},
        {"random captions", random_captions},
        {NULL, NULL},
    };

    ag_suite("subtitle_text", tests);
}

/*
 * JSON of cues and captions. See subtitle_json.h; doc/track.md has the fields.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/subtitle_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libargus/base/utf8.h"

/* One character of len bytes. */
static void put_escaped(AgBuf *b, uint32_t c, const char *s, int len)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *p = c < 0x80 ? strchr(from, (int)c) : NULL;

    if (p)
        ag_buf_printf(b, "\\%c", to[p - from]);
    else if (c == AG_UTF8_BAD)
        ag_buf_str(b, "\xEF\xBF\xBD"); /* U+FFFD */
    else if (c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029)
        ag_buf_printf(b, "\\u%04x", (unsigned)c); /* the last two end a line in JavaScript */
    else
        ag_buf_add(b, s, (size_t)len);
}

void ag_json_string(AgBuf *b, const char *s)
{
    if (!s) {
        ag_buf_str(b, "null");
        return;
    }
    size_t n = strlen(s);
    ag_buf_char(b, '"');
    while (n) {
        uint32_t c;
        int len = ag_utf8_next(s, n, &c);
        put_escaped(b, c, s, len);
        s += len;
        n -= (size_t)len;
    }
    ag_buf_char(b, '"');
}

/* Milliseconds as seconds. */
static void put_seconds(AgBuf *b, int64_t ms)
{
    uint64_t v = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;

    ag_buf_printf(b, "%s%" PRIu64 ".%03" PRIu64, ms < 0 ? "-" : "", v / 1000, v % 1000);
}

void ag_put_rational(AgBuf *b, ArgusRational r)
{
    int x = r.num, y = r.den;

    while (y) { /* greatest common divisor */
        int t = x % y;
        x = y;
        y = t;
    }
    x = x ? x : 1;
    ag_buf_printf(b, "%d/%d", r.num / x, r.den / x);
}

/* A number as short as it can be: 0.7, 40, 1.25; nine decimals at most. */
static void put_short(AgBuf *b, double v)
{
    ag_buf_fixed(b, v, 9);
    while (b->size && b->data[b->size - 1] == '0')
        b->data[--b->size] = 0;
    if (b->size && b->data[b->size - 1] == '.')
        b->data[--b->size] = 0;
}

static void put_decoding(AgBuf *b, const ArgusDecoding *d)
{
    if (d->n_choice) {
        ag_buf_printf(b, "choices-%d", d->n_choice);
        return;
    }
    ag_buf_printf(b, "%s-%d", d->temperature > 0 ? "sampled" : "greedy", d->max_tokens);
    if (d->temperature > 0) {
        ag_buf_str(b, "-t");
        put_short(b, d->temperature);
        ag_buf_printf(b, "-seed%" PRIu64, d->seed);
        if (d->top_k > 0)
            ag_buf_printf(b, "-k%d", d->top_k);
        if (d->top_p < 1) {
            ag_buf_str(b, "-p");
            put_short(b, d->top_p);
        }
    }
    if (d->repetition_penalty != 1) {
        ag_buf_str(b, "-rp");
        put_short(b, d->repetition_penalty);
    }
}

void ag_decode_key(AgBuf *b, const ArgusDecoding *d, int precision)
{
    put_decoding(b, d);
    if (precision != ARGUS_PRECISION_EXACT) {
        ag_buf_str(b, "-");
        ag_buf_str(b, argus_precision_name(precision));
    }
}

/* What the model said, and how sure it was. */
static void put_answer(AgBuf *b, const char *text, double mean_logprob)
{
    ag_buf_str(b, "\"text\": ");
    ag_json_string(b, text ? text : "");
    ag_buf_str(b, ", \"confidence\": ");
    ag_buf_fixed(b, exp(mean_logprob), 4);
}

static void put_choice(AgBuf *b, int choice, double prob)
{
    if (choice < 0)
        return;
    ag_buf_printf(b, ", \"choice\": %d, \"prob\": ", choice);
    ag_buf_fixed(b, prob, 4);
}

void ag_json_segment(AgBuf *b, const ArgusCue *cue)
{
    ag_buf_str(b, "\"start\": ");
    put_seconds(b, argus_time_ms(cue->start, cue->time_base, cue->offset_us));
    ag_buf_str(b, ", \"end\": ");
    put_seconds(b, argus_time_ms(cue->end, cue->time_base, cue->offset_us));
    ag_buf_str(b, ", ");
    put_answer(b, cue->text, cue->mean_logprob);
    ag_buf_printf(b,
                  ", \"window\": %" PRId64 ", \"frames\": %d, \"tokens\": %d, \"finish\": \"%s\"",
                  cue->window, cue->n_frame, cue->n_token, argus_finish_name(cue->finish));
    put_choice(b, cue->choice, cue->choice_prob);
}

void ag_json_source(AgBuf *b, const ArgusWriterSettings *s, const char *separator)
{
    if (!s->source)
        return;
    ag_buf_str(b, "\"video\": ");
    ag_json_string(b, s->source);
    ag_buf_str(b, separator);
}

const char *ag_cue_prompt(const ArgusCue *cue, const ArgusWriterSettings *s)
{
    if (!cue->prompt)
        return s->prompt;
    return *cue->prompt ? cue->prompt : NULL;
}

void ag_json_origin(AgBuf *b, const ArgusWriterSettings *s, const char *prompt, const char *decode,
                    const char *window)
{
    ag_buf_str(b, "\"version\": ");
    ag_json_string(b, ARGUS_VERSION_STRING);
    ag_buf_str(b, ", \"model\": ");
    ag_json_string(b, s->model);
    ag_buf_str(b, ", \"sha256\": ");
    ag_json_string(b, s->sha256);
    ag_buf_str(b, ", \"prompt\": ");
    ag_json_string(b, prompt);
    ag_buf_str(b, ", \"decode\": ");
    ag_json_string(b, decode);
    ag_buf_str(b, ", \"fps\": \"");
    ag_put_rational(b, s->fps);
    ag_buf_printf(b, "\", \"%s\": %d", window, s->window);
}

char *argus_cue_json(const ArgusCue *cue, const ArgusWriterSettings *s)
{
    AgBuf b = {0}, key = {0};

    ag_buf_str(&b, "{ ");
    if (s)
        ag_json_source(&b, s, ", ");
    ag_json_segment(&b, cue);
    if (s) {
        if (s->decoding)
            ag_decode_key(&key, s->decoding, s->precision);
        ag_buf_str(&b, ", ");
        ag_json_origin(&b, s, ag_cue_prompt(cue, s), key.data, "window_size");
    }
    ag_buf_str(&b, " }");
    b.failed |= key.failed;
    ag_buf_free(&key);
    return ag_buf_detach(&b);
}

char *argus_caption_json(const ArgusCaption *c, const char *image, const char *prompt,
                         const ArgusModel *model)
{
    ArgusModelInfo info = {0};
    AgBuf b = {0};

    if (model)
        argus_model_info(model, &info);
    ag_buf_str(&b, "{ \"image\": ");
    ag_json_string(&b, image);
    ag_buf_str(&b, ", ");
    put_answer(&b, c->text, c->mean_logprob);
    ag_buf_printf(&b, ", \"tokens\": %d, \"finish\": \"%s\"", c->n_id,
                  argus_finish_name(c->finish));
    put_choice(&b, c->choice, c->choice_prob);
    ag_buf_str(&b, ", \"model\": ");
    ag_json_string(&b, info.name);
    ag_buf_str(&b, ", \"prompt\": ");
    ag_json_string(&b, prompt);
    ag_buf_str(&b, " }");
    return ag_buf_detach(&b);
}

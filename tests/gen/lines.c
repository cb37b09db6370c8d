/*
 * Lines of text that are hard on a tokenizer. With AG_LINES_MAIN this is a program
 * that writes all of them to stdout, each after its length in 4 bytes (little-endian),
 * lines first, then sweeps: tests/gen/tokenizer_refs.py reads that.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/gen/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "libargus/base/utf8.h"

static const char *const special[] = {
    "<image>", "<end_of_utterance>", "<|im_start|>", "<|im_end|>", "<row_1_col_2>",
    "<row_1_col_9>", "<row_6_col_6>", "<global-img>", "<fake_token_around_image>",
    "<|endoftext|>", "<row_", "<", "<|", "image>", "<reponame>", "<repo_name>",
    "<|reserved_special_token_8|>", "<|reserved_special_token_87|>",
};
static const char *const blank[] = {
    " ", " ", " ", "  ", "   ", "\n", "\n\n", "\n\n\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000",
    "\xC2\x85", "\v", "\f", "\x1c", "\x1f", "\u180e", "\u200b", "\ufeff", "\u2028", "\u2029",
    "\u202f",
};
static const char *const tail[] = {
    "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'RE", "'", "''", "\u2019s", "'\u00e9",
    "'st", "'v",
};
static const char *const word[] = {
    "the", "Hello", "world", "A", "red", "square", "MOVES", "na\u00efve", "stra\u00dfe",
    "to the right.", "\u041f\u0440\u0438\u0432\u0435\u0442", "\u65e5\u672c\u8a9e",
    "\u3053\u3093\u306b\u3061\u306f", "\ud55c\uad6d\uc5b4", "\u0645\u0631\u062d\u0628\u0627",
    "\u05e9\u05dc\u05d5\u05dd", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0e44\u0e17\u0e22",
    "\ufb01", "\u01c4", "\u0130", "e\u0301", "aaaaaaaaaaaaaaaaaaaaaaaaa", "def", "return",
    "==", "!=", "->", "::", "...", "\u2014", "\u201c", "\u20ac", "$", "#", "@", "\\", "\"",
    "{", "}", "<br>", "&amp;", "--", "_", "User:", "Assistant:",
};
static const char *const odd[] = {
    "\U0001F600", "\U0001F468\u200D\U0001F469\u200D\U0001F467", "\U0001F1E9\U0001F1EA",
    "\U0001F44D\U0001F3FD", "\u2764\ufe0f", "\u2603", "\U0001D49C", "\U0001D7D8", "\u00bd",
    "\u2167", "\u0663", "\u00b2", "\u2460", "\u4e00", "\u3007", "\u32bf", "\U00011136",
    "\u1369", "\u07c1", "\U00010D42", "\U00016D71", "\U00011F51", "\uA7CB", "\U00010D50",
    "\U0001E4D0", "\U000323A0", "0", "1", "2", "9", "42", "2024", "3.14", "1,000", "00:15",
    "0x1F", "1e-5", "4\u00bd m\u00b2",
};

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(next(state) % n);
}

static void put(AgBuf *out, uint32_t c)
{
    char s[4];

    ag_buf_add(out, s, (size_t)ag_utf8_write(c, s));
}

/* Code points, the low ones more often. */
static void any_char(AgBuf *out, uint64_t *r)
{
    static const uint32_t top[] = {0x300, 0x300, 0x300, 0x3000, 0x3000, 0x3000, 0x3000, 0x20000,
                                   0x20000, 0x110000};
    uint32_t c = below(r, top[below(r, AG_COUNT(top))]);

    put(out, c >= 0xD800 && c < 0xE000 ? 'x' : c);
}

#define ADD(list) ag_buf_str(out, list[below(&r, AG_COUNT(list))])

void ag_gen_line(AgBuf *out, int i)
{
    uint64_t r = (uint64_t)i * 1000003 + 17;
    uint32_t n = below(&r, 20);

    while (n--) {
        switch (below(&r, 12)) {
        case 0: ADD(special); break;
        case 1: ADD(blank); break;
        case 2: ADD(tail); break;
        case 3: case 4: ADD(word); break;
        case 5: case 6: ADD(odd); break;
        case 7: any_char(out, &r); break;
        case 8:
            for (uint32_t k = below(&r, 8); k; k--)
                any_char(out, &r);
            break;
        case 9:
            if (!below(&r, 8))
                ag_buf_char(out, (char)(0x80 + below(&r, 0x80)));
            break;
        default: ag_buf_char(out, ' ');
        }
    }
}

void ag_gen_sweep(AgBuf *out, int i)
{
    static const uint32_t begin[] = {0x40000, 0x50000, 0x60000, 0x70000, 0x80000, 0x90000, 0xA0000,
                                     0xB0000, 0xC0000, 0xD0000, 0xF0000, 0x100000};
    uint32_t first = i < 64   ? (uint32_t)i << 12
                     : i < 80 ? 0xE0000 + ((uint32_t)(i - 64) << 12)
                              : begin[i - 80];

    for (uint32_t c = first; c < first + 4096; c++) {
        if (c >= 0xD800 && c < 0xE000)
            continue;
        ag_buf_char(out, 'x');
        put(out, c);
        ag_buf_char(out, '.');
        put(out, c);
        ag_buf_char(out, ' ');
        put(out, c);
        ag_buf_char(out, '1');
    }
}

#ifdef AG_LINES_MAIN
int main(void)
{
    AgBuf b = {0};

    for (int i = 0; i < AG_GEN_N_LINE + AG_GEN_N_SWEEP; i++) {
        ag_buf_clear(&b);
        if (i < AG_GEN_N_LINE)
            ag_gen_line(&b, i);
        else
            ag_gen_sweep(&b, i - AG_GEN_N_LINE);
        for (int k = 0; k < 4; k++)
            putchar((int)(b.size >> 8 * k & 255));
        if (fwrite(b.data, 1, b.size, stdout) != b.size)
            return 1;
    }
    ag_buf_free(&b);
    return fflush(stdout) != 0;
}
#endif

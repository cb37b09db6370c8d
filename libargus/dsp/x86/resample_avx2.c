/*
 * Resampling with AVX2. Exact, modulo 2^32 like the plain C.
 *
 * A 32-bit coefficient k is cut into two signed words, k = h * 65536 + l, and
 * two neighbouring inputs are multiplied at once: pmaddwd gives
 * p0 * l0 + p1 * l1 and p0 * h0 + p1 * h1, and the second sum is shifted left
 * by 16 at the end. This is twice as fast as 32-bit products.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <string.h>

#include "libargus/dsp/x86/x86.h"

#define PRECISION 22

/* Sums of the lower and of the upper words of the coefficients. */
typedef struct Sum {
    __m256i low, high;
} Sum;

AG_INLINE void add_products(Sum *s, __m256i pixels, __m256i low, __m256i high)
{
    s->low = _mm256_add_epi32(s->low, _mm256_madd_epi16(pixels, low));
    s->high = _mm256_add_epi32(s->high, _mm256_madd_epi16(pixels, high));
}

AG_INLINE __m256i total(Sum s)
{
    return _mm256_add_epi32(s.low, _mm256_slli_epi32(s.high, 16));
}

/* h is rounded, since l is signed. */
AG_INLINE __m256i upper_words(__m256i k, __m256i shuffle)
{
    return _mm256_shuffle_epi8(_mm256_add_epi32(k, _mm256_set1_epi32(0x8000)), shuffle);
}

/* --- horizontal: four taps of one output pixel a step, R G B - in four lanes */

typedef struct Masks {
    __m256i pixels;    /* bytes of pixels 0 1 | 2 3 to words r0 r1 g0 g1 b0 b1 - - */
    __m256i low, high; /* words of coefficients 0 1 | 2 3, four times */
} Masks;

AG_INLINE Masks masks(void)
{
    return (Masks){
        .pixels = _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,
                                   6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1),
        .low = _mm256_setr_epi8(0, 1, 4, 5, 0, 1, 4, 5, 0, 1, 4, 5, 0, 1, 4, 5,
                                8, 9, 12, 13, 8, 9, 12, 13, 8, 9, 12, 13, 8, 9, 12, 13),
        .high = _mm256_setr_epi8(2, 3, 6, 7, 2, 3, 6, 7, 2, 3, 6, 7, 2, 3, 6, 7,
                                 10, 11, 14, 15, 10, 11, 14, 15, 10, 11, 14, 15, 10, 11, 14, 15),
    };
}

/* Four taps of each of `rows` rows, in_step bytes apart. */
AG_INLINE void step(Sum *s, const Masks *m, const uint8_t *p, ptrdiff_t in_step, __m128i coefs,
                    const int rows)
{
    __m256i k = _mm256_broadcastsi128_si256(coefs);
    __m256i low = _mm256_shuffle_epi8(k, m->low), high = upper_words(k, m->high);

    for (int y = 0; y < rows; y++, p += in_step) {
        __m256i v = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
        add_products(&s[y], _mm256_shuffle_epi8(v, m->pixels), low, high);
    }
}

AG_INLINE __m128i lanes_added(Sum s)
{
    __m256i sum = total(s);
    return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

/* One output pixel: R G B - as sums. end: past the last byte of the row. */
static __m128i pixel(const Masks *m, const uint8_t *p, const uint8_t *end, const int32_t *coef,
                     int count)
{
    static const int32_t first[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    Sum s = {_mm256_setzero_si256(), _mm256_setzero_si256()};

    for (int i = 0; i < count; i += 4, p += 12) {
        int n = AG_MIN(count - i, 4);
        uint8_t part[16] = {0};
        memcpy(part, p, (size_t)AG_MIN(end - p, 16));
        __m128i there = _mm_loadu_si128((const __m128i *)(first + 4 - n));
        step(&s, m, part, 0, _mm_maskload_epi32(coef + i, there), 1);
    }
    return lanes_added(s);
}

/* Input and coefficients of one output pixel. */
typedef struct Tap {
    const uint8_t *p;
    const int32_t *coef;
    int count;
} Tap;

AG_INLINE void whole_step(Sum *s, const Masks *m, Tap t, int i, ptrdiff_t in_step, const int rows)
{
    step(s, m, t.p + i * 3, in_step, _mm_loadu_si128((const __m128i *)(t.coef + i)), rows);
}

/* Coefficients past the count are none: 0 instead. */
AG_INLINE void masked_step(Sum *s, const Masks *m, Tap t, int i, ptrdiff_t in_step, const int rows)
{
    __m128i there = _mm_cmpgt_epi32(_mm_set1_epi32(t.count - i), _mm_setr_epi32(0, 1, 2, 3));
    __m128i k = _mm_and_si128(_mm_loadu_si128((const __m128i *)(t.coef + i)), there);

    step(s, m, t.p + i * 3, in_step, k, rows);
}

/* An output pixel of each of `rows` rows, in_step bytes apart, as sums in sum[0] and sum[4]:
 * coefficients are spread once. The caller made sure that whole vectors can be read. */
AG_INLINE void pixels(__m128i *sum, const Masks *m, Tap t, ptrdiff_t in_step, const int rows)
{
    Sum s[2];
    int i = 0;

    for (int y = 0; y < rows; y++)
        s[y] = (Sum){_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (; i + 4 <= t.count; i += 4)
        whole_step(s, m, t, i, in_step, rows);
    if (i < t.count)
        masked_step(s, m, t, i, in_step, rows);
    for (int y = 0; y < rows; y++)
        sum[4 * y] = lanes_added(s[y]);
}

AG_INLINE __m128i rounded(__m128i sum)
{
    return _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(1 << (PRECISION - 1))), PRECISION);
}

/* Bytes R G B of four pixels, twelve of them. */
AG_INLINE __m128i packed(const __m128i s[4])
{
    const __m128i pack = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m128i a = _mm_packs_epi32(rounded(s[0]), rounded(s[1]));
    __m128i b = _mm_packs_epi32(rounded(s[2]), rounded(s[3]));

    return _mm_shuffle_epi8(_mm_packus_epi16(a, b), pack);
}

static int max_lane(__m256i v)
{
    int32_t a[8], most = 0;

    _mm256_storeu_si256((__m256i *)a, v);
    for (int i = 0; i < 8; i++)
        most = a[i] > most ? a[i] : most;
    return most;
}

/* Largest count, and the end of the input: largest lo + count. */
static void extent(const int *lo, const int *count, int w, int *most, int *end)
{
    __m256i c = _mm256_setzero_si256(), e = c;
    int x = 0;

    for (; x + 8 <= w; x += 8) {
        __m256i n = _mm256_loadu_si256((const __m256i *)(count + x));
        c = _mm256_max_epi32(c, n);
        n = _mm256_add_epi32(n, _mm256_loadu_si256((const __m256i *)(lo + x)));
        e = _mm256_max_epi32(e, n);
    }
    *most = max_lane(c);
    *end = max_lane(e);
    for (; x < w; x++) {
        *most = count[x] > *most ? count[x] : *most;
        *end = lo[x] + count[x] > *end ? lo[x] + count[x] : *end;
    }
}

AG_INLINE Tap tap(const uint8_t *in, const int *lo, const int *count, const int32_t *coef,
                      int n_coef, int x)
{
    return (Tap){in + (ptrdiff_t)lo[x] * 3, coef + (ptrdiff_t)x * n_coef, count[x]};
}

/* Up to where whole vectors can be read. */
typedef struct Limits {
    int in_table; /* last output pixel, for its coefficients */
    int far;      /* last first input, for its pixels */
    int end;      /* of the input, in pixels */
} Limits;

AG_INLINE void horiz_rows(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step,
                          const Masks *m, const Limits *l, int w, const int *lo, const int *count,
                          const int32_t *coef, int n_coef, const int rows)
{
    const __m128i far = _mm_set1_epi32(l->far);
    int x = 0;

    for (; x + 3 <= l->in_table; x += 4) {
        __m128i sum[2 * 4]; /* four pixels of each row */

        if (_mm_movemask_epi8(_mm_cmpgt_epi32(_mm_loadu_si128((const __m128i *)(lo + x)), far)))
            break;
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            pixels(sum + j, m, tap(in, lo, count, coef, n_coef, x + j), in_step, rows);
        for (int y = 0; y < rows; y++) {
            __m128i rgb = packed(sum + 4 * y);
            int tail = _mm_extract_epi32(rgb, 2);
            _mm_storel_epi64((__m128i *)(out + y * out_step + x * 3), rgb);
            memcpy(out + y * out_step + x * 3 + 8, &tail, 4);
        }
    }
    for (; x < w; x++) {
        Tap t = tap(in, lo, count, coef, n_coef, x);
        for (int y = 0; y < rows; y++) {
            const uint8_t *end = in + y * in_step + (ptrdiff_t)l->end * 3;
            __m128i s = pixel(m, t.p + y * in_step, end, t.coef, t.count);
            int rgb = _mm_cvtsi128_si32(packed((__m128i[4]){s, s, s, s}));
            memcpy(out + y * out_step + x * 3, &rgb, 3);
        }
    }
}

static void horiz(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step, int rows,
                  int w, const int *lo, const int *count, const int32_t *coef, int n_coef)
{
    const Masks m = masks();
    Limits l;
    int y = 0, most;

    /* Steps read whole vectors: coefficients up to reach, and of the pixels one and a byte
     * more. Where that would go past the table or the row, the careful way is taken. */
    extent(lo, count, w, &most, &l.end);
    int reach = most > 0 ? (most + 3) / 4 * 4 : 4;
    l.in_table = w - (reach + n_coef - 1) / n_coef; /* last pixel that may reach */
    l.far = l.end - reach - 2;
    for (; y + 2 <= rows; y += 2, in += 2 * in_step, out += 2 * out_step)
        horiz_rows(out, out_step, in, in_step, &m, &l, w, lo, count, coef, n_coef, 2);
    if (y < rows)
        horiz_rows(out, out_step, in, in_step, &m, &l, w, lo, count, coef, n_coef, 1);
}

/* --- vertical: two rows a step, 16 columns in two vectors */

/* Coefficients of rows i and i + 1, the second 0 at an odd end, as words side by side. */
AG_INLINE __m256i pair(const int32_t *coef, int i, int count)
{
    int64_t two = (uint32_t)coef[i];

    if (i + 1 < count)
        memcpy(&two, coef + i, 8);
    return _mm256_set1_epi64x(two);
}

AG_INLINE void columns(Sum s[2], const uint8_t *p, const uint8_t *q, __m256i low, __m256i high)
{
    __m128i a = _mm_loadu_si128((const __m128i *)p), b = _mm_loadu_si128((const __m128i *)q);

    add_products(&s[0], _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b)), low, high);
    add_products(&s[1], _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b)), low, high);
}

AG_INLINE void store(uint8_t *out, const Sum s[2])
{
    const __m256i half = _mm256_set1_epi32(1 << (PRECISION - 1));
    __m256i a = _mm256_srai_epi32(_mm256_add_epi32(total(s[0]), half), PRECISION);
    __m256i b = _mm256_srai_epi32(_mm256_add_epi32(total(s[1]), half), PRECISION);
    /* packing works within lanes: put the quarters in order afterwards */
    __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);

    _mm_storeu_si128((__m128i *)out, _mm_packus_epi16(_mm256_castsi256_si128(words),
                                                      _mm256_extracti128_si256(words, 1)));
}

/* 16 * n columns, n = 1 or 2. */
AG_INLINE void block(uint8_t *out, const uint8_t *in, ptrdiff_t stride, int count,
                         const int32_t *coef, int n)
{
    const __m256i low_mask = _mm256_set1_epi32(0x05040100);
    const __m256i high_mask = _mm256_set1_epi32(0x07060302);
    const __m256i zero = _mm256_setzero_si256();
    Sum s[2][2] = {{{zero, zero}, {zero, zero}}, {{zero, zero}, {zero, zero}}};

    for (int i = 0; i < count; i += 2, in += 2 * stride) {
        __m256i k = pair(coef, i, count), low = _mm256_shuffle_epi8(k, low_mask);
        __m256i high = upper_words(k, high_mask);
        const uint8_t *next = i + 1 < count ? in + stride : in;

        for (int j = 0; j < n; j++)
            columns(s[j], in + 16 * j, next + 16 * j, low, high);
    }
    for (int j = 0; j < n; j++)
        store(out + 16 * j, s[j]);
}

static void vert(uint8_t *out, const uint8_t *in, ptrdiff_t stride, int count, const int32_t *coef,
                 int n)
{
    int x = 0;

    for (; x + 32 <= n; x += 32)
        block(out + x, in + x, stride, count, coef, 2);
    for (; x + 16 <= n; x += 16)
        block(out + x, in + x, stride, count, coef, 1);
    if (x < n && n >= 16) { /* the last ones once more, with their neighbours */
        block(out + n - 16, in + n - 16, stride, count, coef, 1);
        return;
    }
    for (; x < n; x++) {
        uint32_t sum = 1u << (PRECISION - 1);
        for (int i = 0; i < count; i++)
            sum += in[x + i * stride] * (uint32_t)coef[i];
        int32_t v = (int32_t)sum >> PRECISION;
        out[x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

void ag_resample_init_avx2(AgResampleDsp *dsp)
{
    dsp->horiz = horiz;
    dsp->vert = vert;
}

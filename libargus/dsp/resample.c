/*
 * Pillow's LANCZOS resampling of 8-bit pictures: filter tables, plain C
 * kernels, and the driver that runs both passes over bands of output rows.
 *
 *     in [in_h, in_w, 3] -> rows [band, out_w, 3] -> out [out_h, out_w, 3]
 *
 * Follows Pillow 13.0 (libImaging/Resample.c): filter weights are doubles,
 * normalised, then rounded to 22 fraction bits; each pass rounds to 8 bits.
 * The first pass is the horizontal one, unless the height shrinks by more
 * pixels than twice what the width loses (Pillow before 12.2 never turned the
 * order round).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/resample.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/base/mem.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/x86/x86.h"

#define PRECISION 22
#define SUPPORT 3.0          /* half width of the filter, in the coarser pixels */
#define BAND 64              /* output rows of one item */
#define MAX_COEF (1 << 21)   /* numbers in the horizontal table; more columns come in turns */

/* One dimension's filter: output pixel o is made from `count` inputs from `lo` on. */
typedef struct Filter {
    int n_in, n_out;
    double scale, inv_stretch, support;
    int n_coef; /* most inputs of an output */
} Filter;

typedef struct Resample {
    const AgResampleDsp *dsp;
    uint8_t *out;
    const uint8_t *in;
    ptrdiff_t in_stride;
    Filter h, v;
    int vertical_first;
    /* Horizontal table of the columns in turn, first_col .. first_col + n_col - 1. */
    int first_col, n_col;
    int *lo, *count;  /* [n_col] */
    int32_t *coef;    /* [n_col, h.n_coef] */
    /* Of each thread: */
    size_t rows_size; /* bytes of rows[] */
    uint8_t *rows;    /* [n_thread, rows_size] rows between the passes */
    double *weight;   /* [n_thread, n_weight] */
    int32_t *vcoef;   /* [n_thread, v.n_coef] */
    int n_weight;
} Resample;

static inline uint8_t clip8(uint32_t sum)
{
    int32_t v = (int32_t)sum >> PRECISION;
    return (uint8_t)AG_CLIP(v, 0, 255);
}

/* Sums are unsigned: a foreign table may overflow, and all tiers must then
 * wrap alike. */
static void horiz_row(uint8_t *out, const uint8_t *in, int w, const int *lo, const int *count,
                      const int32_t *coef, int n_coef)
{
    for (int x = 0; x < w; x++, coef += n_coef, out += 3) {
        const uint8_t *p = in + (ptrdiff_t)lo[x] * 3;
        uint32_t r = 1u << (PRECISION - 1), g = r, b = r;

        for (int i = 0; i < count[x]; i++, p += 3) {
            uint32_t k = (uint32_t)coef[i];
            r += p[0] * k;
            g += p[1] * k;
            b += p[2] * k;
        }
        out[0] = clip8(r);
        out[1] = clip8(g);
        out[2] = clip8(b);
    }
}

static void horiz_c(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step,
                    int rows, int w, const int *lo, const int *count, const int32_t *coef,
                    int n_coef)
{
    for (int y = 0; y < rows; y++)
        horiz_row(out + y * out_step, in + y * in_step, w, lo, count, coef, n_coef);
}

static void vert_c(uint8_t *out, const uint8_t *in, ptrdiff_t stride, int count,
                   const int32_t *coef, int n)
{
    for (int x = 0; x < n; x++) {
        const uint8_t *p = in + x;
        uint32_t sum = 1u << (PRECISION - 1);

        for (int i = 0; i < count; i++, p += stride)
            sum += *p * (uint32_t)coef[i];
        out[x] = clip8(sum);
    }
}

void ag_resample_init(AgResampleDsp *dsp, unsigned cpu)
{
    dsp->horiz = horiz_c;
    dsp->vert = vert_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_resample_init_avx2(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_resample_init_neon(dsp);
#endif
    (void)cpu;
}

static double sinc(double x)
{
    if (x == 0.0)
        return 1.0;
    x *= 3.14159265358979323846;
    return sin(x) / x;
}

static double lanczos(double x)
{
    return x >= -SUPPORT && x < SUPPORT ? sinc(x) * sinc(x / SUPPORT) : 0.0;
}

/* The float of n_in is Pillow's: its source box is in floats. */
static Filter filter_of(int n_in, int n_out)
{
    double scale = (double)(float)n_in / n_out, stretch = scale < 1.0 ? 1.0 : scale;

    return (Filter){
        .n_in = n_in,
        .n_out = n_out,
        .scale = scale,
        .inv_stretch = 1.0 / stretch,
        .support = SUPPORT * stretch,
        .n_coef = (int)ceil(SUPPORT * stretch) * 2 + 1,
    };
}

static int first_input(const Filter *f, int o)
{
    int lo = (int)((o + 0.5) * f->scale - f->support + 0.5);
    return AG_MAX(lo, 0);
}

static int end_input(const Filter *f, int o)
{
    int hi = (int)((o + 0.5) * f->scale + f->support + 0.5);
    return AG_MIN(hi, f->n_in);
}

/* Coefficients of output o into coef; weight is working memory, both [n_coef]. */
static void coefs_of(const Filter *f, int o, double *weight, int32_t *coef, int *lo, int *count)
{
    double centre = (o + 0.5) * f->scale, sum = 0.0;
    int first = first_input(f, o), n = end_input(f, o) - first;

    for (int i = 0; i < n; i++) {
        weight[i] = lanczos((i + first - centre + 0.5) * f->inv_stretch);
        sum += weight[i];
    }
    for (int i = 0; i < n; i++) {
        double w = sum != 0.0 ? weight[i] / sum : weight[i];
        coef[i] = (int32_t)((w < 0 ? -0.5 : 0.5) + w * (1 << PRECISION));
    }
    *lo = first;
    *count = n;
}

static void table_item(void *arg, int item, int thread)
{
    Resample *s = arg;
    int end = AG_MIN((item + 1) * BAND, s->n_col);

    for (int x = item * BAND; x < end; x++)
        coefs_of(&s->h, s->first_col + x, s->weight + (size_t)thread * (size_t)s->n_weight,
                 s->coef + (size_t)x * (size_t)s->h.n_coef, &s->lo[x], &s->count[x]);
}

static void horiz(const Resample *s, uint8_t *out, ptrdiff_t out_step, const uint8_t *in,
                  int rows)
{
    if (s->lo) {
        s->dsp->horiz(out, out_step, in, s->in_stride, rows, s->n_col, s->lo, s->count, s->coef,
                      s->h.n_coef);
        return;
    }
    for (int y = 0; y < rows; y++)
        memcpy(out + y * out_step, in + y * s->in_stride, (size_t)s->n_col * 3);
}

/* The item's output rows, in the columns in turn. */
static void band_item(void *arg, int item, int thread)
{
    const Resample *s = arg;
    double *weight = s->weight + (size_t)thread * (size_t)s->n_weight;
    int32_t *coef = s->vcoef + (size_t)thread * (size_t)s->v.n_coef;
    uint8_t *rows = s->rows + (size_t)thread * s->rows_size;
    ptrdiff_t row_size = (ptrdiff_t)s->n_col * 3, out_stride = (ptrdiff_t)s->h.n_out * 3;
    uint8_t *out = s->out + (ptrdiff_t)item * BAND * out_stride + (ptrdiff_t)s->first_col * 3;
    int y = item * BAND, end = AG_MIN(y + BAND, s->v.n_out), lo, count;

    if (s->v.n_in == s->v.n_out) {
        horiz(s, out, out_stride, s->in + y * s->in_stride, end - y);
        return;
    }
    if (s->vertical_first) {
        for (; y < end; y++, out += out_stride) {
            coefs_of(&s->v, y, weight, coef, &lo, &count);
            s->dsp->vert(rows, s->in + lo * s->in_stride, s->in_stride, count, coef,
                         s->h.n_in * 3);
            horiz(s, out, 0, rows, 1);
        }
        return;
    }
    /* Without a horizontal pass the input's rows are read in place. */
    int first = first_input(&s->v, y), last = end_input(&s->v, end - 1);
    const uint8_t *src = s->in + first * s->in_stride;
    ptrdiff_t stride = s->in_stride;

    if (s->lo) {
        horiz(s, rows, row_size, src, last - first);
        stride = row_size;
        src = rows;
    }
    for (; y < end; y++, out += out_stride) {
        coefs_of(&s->v, y, weight, coef, &lo, &count);
        s->dsp->vert(out, src + (lo - first) * stride, stride, count, coef, (int)row_size);
    }
}

/* Bytes that one thread needs between the passes. */
static size_t rows_between(const Resample *s)
{
    int most = 0;

    if (s->v.n_in == s->v.n_out)
        return 0;
    if (s->vertical_first)
        return ag_mul((size_t)s->h.n_in, 3);
    if (s->h.n_in == s->h.n_out)
        return 0;
    for (int y = 0; y < s->v.n_out; y += BAND) {
        int end = AG_MIN(y + BAND, s->v.n_out);
        int n = end_input(&s->v, end - 1) - first_input(&s->v, y);
        most = AG_MAX(most, n);
    }
    return ag_mul(ag_mul((size_t)s->n_col, 3), (size_t)most);
}

static int allocate(Resample *s, size_t n_thread)
{
    size_t n_col = (size_t)s->n_col, n_coef = (size_t)s->h.n_coef;

    s->rows_size = AG_ALIGN_UP(rows_between(s), (size_t)AG_ALIGN);
    if (s->rows_size) {
        s->rows = ag_malloc(ag_mul(n_thread, s->rows_size));
        if (!s->rows)
            return ARGUS_ERR(ENOMEM);
    }
    if (s->h.n_in != s->h.n_out) {
        s->lo = ag_calloc(n_col, sizeof(*s->lo));
        s->count = ag_calloc(n_col, sizeof(*s->count));
        s->coef = ag_calloc(ag_mul(n_col, n_coef), sizeof(*s->coef));
        if (!s->lo || !s->count || !s->coef)
            return ARGUS_ERR(ENOMEM);
    }
    s->n_weight = AG_MAX(s->h.n_coef, s->v.n_coef);
    s->weight = ag_calloc(n_thread, ag_mul((size_t)s->n_weight, sizeof(*s->weight)));
    s->vcoef = ag_calloc(n_thread, ag_mul((size_t)s->v.n_coef, sizeof(*s->vcoef)));
    return s->weight && s->vcoef ? 0 : ARGUS_ERR(ENOMEM);
}

int ag_resample(AgExec *x, uint8_t *out, int out_w, int out_h, const uint8_t *in, int in_w,
                int in_h, ptrdiff_t in_stride)
{
    AgResampleDsp plain;
    AgPool *pool = x ? x->pool : NULL;
    Resample s = {.out = out, .in = in, .in_stride = in_stride};
    int err, n_band = (out_h + BAND - 1) / BAND;

    assert(in_w > 0 && in_h > 0 && out_w > 0 && out_h > 0);
    if (x) {
        s.dsp = &x->dsp->resample;
    } else {
        ag_resample_init(&plain, 0);
        s.dsp = &plain;
    }
    s.h = filter_of(in_w, out_w);
    s.v = filter_of(in_h, out_h);
    s.vertical_first = in_h > out_h && (int64_t)in_h - out_h > 2 * ((int64_t)in_w - out_w);
    s.n_col = in_w == out_w ? out_w : AG_CLIP(MAX_COEF / s.h.n_coef, 1, out_w);
    err = allocate(&s, x ? (size_t)x->n_thread : 1);
    for (; err >= 0 && s.first_col < out_w; s.first_col += s.n_col) {
        s.n_col = AG_MIN(s.n_col, out_w - s.first_col);
        if (s.lo)
            ag_pool_run(pool, (s.n_col + BAND - 1) / BAND, table_item, &s);
        ag_pool_run(pool, n_band, band_item, &s);
    }
    ag_free(s.rows);
    ag_free(s.lo);
    ag_free(s.count);
    ag_free(s.coef);
    ag_free(s.weight);
    ag_free(s.vcoef);
    return err;
}

/*
 * JPEG files through libjpeg's encoder.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "tools/formula.h"
#include "tests/gen/pictures.h"

enum { MAX_SCANS = 760 };

/* [height, width, components]; the fourth component is another scene's red. */
static uint8_t *pixels_of(const AgGenJpeg *s)
{
    size_t n = (size_t)s->width * (size_t)s->height;
    uint8_t *rgb = malloc(n * 3), *k = malloc(n * 3), *out = malloc(n * 4);

    if (!rgb || !k || !out)
        abort();
    ag_formula_image(rgb, s->width, s->height, s->scene, 0);
    ag_formula_image(k, s->width, s->height, s->scene + 1, 0);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < s->components; c++)
            out[i * (size_t)s->components + (size_t)c] = c < 3 ? rgb[i * 3 + (size_t)c] : k[i * 3];
    for (size_t i = 0; i < n && !s->scene; i++) {
        int left = (int)(i % (size_t)s->width) < s->width / 2;
        out[i * 3] = left ? 255 : 0;
        out[i * 3 + 1] = 0;
        out[i * 3 + 2] = left ? 0 : 255;
    }
    free(rgb);
    free(k);
    return out;
}

/* `n` scans: the DC ones, then one coefficient of one component at a time, its
 * upper bits first. */
static void many_scans(struct jpeg_compress_struct *c, jpeg_scan_info *scans, int n)
{
    int at = 0;

    scans[at++] = (jpeg_scan_info){.comps_in_scan = 3, .component_index = {0, 1, 2}};
    for (int low = 3; low >= 0; low--)
        for (int k = 1; k < 64; k++)
            for (int i = 0; i < 3 && at < n; i++)
                scans[at++] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Ss = k,
                                               .Se = k, .Ah = low == 3 ? 0 : low + 1, .Al = low};
    c->scan_info = scans;
    c->num_scans = at;
}

static void set_colours(struct jpeg_compress_struct *c, const AgGenJpeg *s)
{
    static const J_COLOR_SPACE in[] = {0, JCS_GRAYSCALE, 0, JCS_RGB, JCS_CMYK};

    c->input_components = s->components;
    c->in_color_space = in[s->components];
    jpeg_set_defaults(c);
    if (s->components == 3 && !s->transform)
        jpeg_set_colorspace(c, JCS_RGB);
    else if (s->components == 4)
        jpeg_set_colorspace(c, s->transform ? JCS_YCCK : JCS_CMYK);
}

void ag_gen_jpeg(AgBuf *out, const AgGenJpeg *s)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    static jpeg_scan_info scans[MAX_SCANS];
    unsigned char *bytes = NULL;
    unsigned long n = 0;
    uint8_t *pixels = pixels_of(s);

    c.err = jpeg_std_error(&errors); /* ends the program: our own pictures are not at fault */
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &n);
    c.image_width = (JDIMENSION)s->width;
    c.image_height = (JDIMENSION)s->height;
    set_colours(&c, s);
    jpeg_set_quality(&c, 90, TRUE);
    c.comp_info[0].h_samp_factor = s->h;
    c.comp_info[0].v_samp_factor = s->v;
    if (s->components == 4) { /* K is as fine as the first */
        c.comp_info[3].h_samp_factor = s->h;
        c.comp_info[3].v_samp_factor = s->v;
    }
    c.arith_code = s->arithmetic ? TRUE : FALSE;
    c.restart_in_rows = s->restart;
    if (s->progressive > 1)
        many_scans(&c, scans, s->progressive);
    else if (s->progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    if (s->app1)
        jpeg_write_marker(&c, JPEG_APP0 + 1, (const JOCTET *)s->app1, (unsigned)s->app1_size);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row = pixels + (size_t)c.next_scanline * (size_t)(s->width * s->components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    ag_buf_add(out, bytes, n);
    free(bytes);
    free(pixels);
}

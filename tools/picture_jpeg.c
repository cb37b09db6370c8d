/*
 * JPEG pictures through libjpeg-turbo: slow-integer DCT and smooth
 * upsampling, its defaults, which are Pillow's too. Other settings give other
 * pixels and so other captions.
 *
 * libjpeg leaves by longjmp on errors. Everything it may leave behind is in
 * Jpeg, so that ag_pic_jpeg can clean up.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "tools/picture_priv.h"

#define MAX_SCANS 500 /* a progressive file of a few KB can ask for hours of work */

typedef struct Jpeg {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf leave;
    int code;                     /* why it left: enum of jerror.h, or 0 = our own reason */
    char text[JMSG_LENGTH_MAX];   /* message of the error, or of the first warning */
    int n_warning;                /* truncation aside */
    int truncated;
    uint8_t *row;                 /* CMYK: one row, 4 bytes a pixel */
    const AgPicFile *f;
} Jpeg;

static void on_error(j_common_ptr c)
{
    Jpeg *j = c->client_data;

    j->code = c->err->msg_code;
    c->err->format_message(c, j->text);
    longjmp(j->leave, 1);
}

static void on_message(j_common_ptr c, int level)
{
    Jpeg *j = c->client_data;

    if (level >= 0) /* a trace */
        return;
    if (c->err->msg_code == JWRN_JPEG_EOF)
        j->truncated = 1;
    else if (!j->n_warning++)
        c->err->format_message(c, j->text);
}

static void on_progress(j_common_ptr c)
{
    Jpeg *j = c->client_data;

    if (j->d.input_scan_number <= MAX_SCANS)
        return;
    j->code = 0;
    snprintf(j->text, sizeof(j->text), "expected at most %d scans, found more", MAX_SCANS);
    longjmp(j->leave, 1);
}

/* Inverted CMYK, which is what all writers since Photoshop store, to RGB by
 * Pillow's formula: (255 - C) * (255 - K) / 255, rounded. */
static void from_cmyk(uint8_t *out, const uint8_t *in, int n)
{
    for (; n > 0; n--, in += 4, out += 3) {
        for (int c = 0; c < 3; c++) {
            int t = (255 - in[c]) * in[3] + 128;
            out[c] = (uint8_t)(in[3] - ((t >> 8) + t) / 256);
        }
    }
}

/* What libjpeg may or may not read, by its version: 12 bits, lossless and
 * hierarchical files. Refused here, so that the same happens everywhere. */
static int check_process(const AgPicFile *f)
{
    const uint8_t *p = f->data;

    for (size_t i = 2; i + 5 <= f->size && p[i] == 0xFF;) {
        unsigned m = p[i + 1];
        if (m < 0xC0 || m == 0xD8 || m == 0xFF) /* fill bytes and markers without contents */
            i += m == 0xFF ? 1 : 2;
        else if (m > 0xCF || m == 0xC4 || m == 0xC8 || m == 0xCC)
            i += 2 + ((size_t)p[i + 2] << 8 | p[i + 3]);
        else if ((m & 3) == 3 || (m >= 0xC5 && m <= 0xC7) || m >= 0xCD)
            return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported JPEG: expected a baseline or "
                               "progressive one, found a lossless or hierarchical one (SOF%u)",
                               m - 0xC0);
        else if (p[i + 4] != 8)
            return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported JPEG: expected 8 bits a "
                               "sample, found %d", p[i + 4]);
        else
            break;
        if (m == 0xD9 || m == 0xDA)
            break;
    }
    return 0;
}

static int find_orientation(const Jpeg *j)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
    int exif = 0, from_xmp = 0;

    for (jpeg_saved_marker_ptr m = j->d.marker_list; m; m = m->next) {
        if (m->data_length >= 6 && !memcmp(m->data, "Exif\0", 6) && !exif)
            exif = ag_exif_orientation(m->data, m->data_length);
        else if (m->data_length > sizeof(xmp) && !memcmp(m->data, xmp, sizeof(xmp)))
            from_xmp = ag_xmp_orientation(m->data + sizeof(xmp), m->data_length - sizeof(xmp));
    }
    return exif ? exif : from_xmp;
}

static void decode_rows(Jpeg *j, AgPic *out)
{
    while (j->d.output_scanline < j->d.output_height) {
        uint8_t *to = out->rgb + (size_t)j->d.output_scanline * (size_t)out->width * 3;
        JSAMPROW row = j->row ? j->row : to;

        jpeg_read_scanlines(&j->d, &row, 1);
        if (j->row)
            from_cmyk(to, j->row, out->width);
    }
}

/* Leaves by longjmp on libjpeg's errors; returns ours, which have been told. */
static int decode(Jpeg *j, AgPic *out, int *orientation)
{
    const AgPicFile *f = j->f;
    int err;

    jpeg_create_decompress(&j->d);
    j->d.client_data = j; /* create cleared the rest, and may have failed before */
    j->d.progress = &j->progress;
    jpeg_mem_src(&j->d, f->data, (unsigned long)f->size);
    jpeg_save_markers(&j->d, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&j->d, TRUE);
    if (j->d.num_components != 1 && j->d.num_components != 3 && j->d.num_components != 4)
        return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported JPEG: expected 1, 3 or 4 "
                           "components, found %d", j->d.num_components);
    err = ag_pic_alloc(out, j->d.image_width, j->d.image_height, f);
    if (err < 0)
        return err;
    j->d.out_color_space = JCS_RGB;
    if (j->d.num_components == 4) {
        j->d.out_color_space = JCS_CMYK;
        j->row = malloc((size_t)out->width * 4);
        if (!j->row)
            return ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
    }
    *orientation = find_orientation(j);
    jpeg_start_decompress(&j->d);
    decode_rows(j, out);
    jpeg_finish_decompress(&j->d); /* reads to the end marker, and so sees that it is missing */
    return 0;
}

static int fail(const Jpeg *j)
{
    const AgPicFile *f = j->f;
    int unsupported = j->code == JERR_SOF_UNSUPPORTED || j->code == JERR_BAD_PRECISION ||
                      j->code == JERR_ARITH_NOTIMPL || j->code == JERR_CONVERSION_NOTIMPL;

    if (j->code == JERR_OUT_OF_MEMORY)
        return ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
    if (unsupported)
        return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported JPEG: %s", j->text);
    return ag_pic_fail(f, ARGUS_ERR_FORMAT, "%s JPEG: %s", j->truncated ? "truncated" : "damaged",
                       j->text);
}

int ag_pic_jpeg(AgPic *out, int *orientation, const AgPicFile *f)
{
    Jpeg *j;
    int err = check_process(f);

    if (err < 0)
        return err;
    j = calloc(1, sizeof(*j));
    if (!j)
        return ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
    j->f = f;
    j->d.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = on_error;
    j->errors.emit_message = on_message;
    j->progress.progress_monitor = on_progress;
    j->d.client_data = j; /* kept by jpeg_create_decompress */
    err = setjmp(j->leave) ? fail(j) : decode(j, out, orientation);
    jpeg_destroy_decompress(&j->d);
    if (err >= 0 && j->truncated && !f->o->lenient)
        err = ag_pic_fail(f, ARGUS_ERR_FORMAT, "truncated JPEG: the file ends after %zu bytes, "
                          "before the picture does (--lenient takes what is there)", f->size);
    else if (err >= 0 && j->truncated)
        ag_pic_warn(f, "truncated JPEG: what is missing of the picture is grey");
    else if (err >= 0 && j->n_warning)
        ag_pic_warn(f, "JPEG: %s", j->text);
    free(j->row);
    free(j);
    return err;
}

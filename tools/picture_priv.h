/*
 * Shared by the picture decoders.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_PICTURE_PRIV_H
#define AG_TOOLS_PICTURE_PRIV_H

#include "tools/picture.h"
#include "tools/say.h"

/* One file on its way to pixels. */
typedef struct AgPicFile {
    const char *name;
    const uint8_t *data;
    size_t size;
    const AgPicOptions *o;
    const ArgusLogger *log;
} AgPicFile;

/* One line to the file's logger, after its name. ag_pic_fail gives err back. */
int ag_pic_fail(const AgPicFile *f, int err, const char *fmt, ...) AG_SAY_FORMAT(3, 4);
void ag_pic_warn(const AgPicFile *f, const char *fmt, ...) AG_SAY_FORMAT(2, 3);

/* Decoders give the stored picture and its orientation, 1..8; 0 if it has
 * none. On failure out->rgb is theirs to free. */
int ag_pic_jpeg(AgPic *out, int *orientation, const AgPicFile *f);
int ag_pic_png(AgPic *out, int *orientation, const AgPicFile *f);

/* Memory for a picture after a check of its size, zeroed. Errors are told. */
int ag_pic_alloc(AgPic *out, uint64_t width, uint64_t height, const AgPicFile *f);

/* Orientation of an EXIF block ("Exif\0\0" before the TIFF header or not);
 * 0 if it can't be found. */
int ag_exif_orientation(const uint8_t *data, size_t size);
/* Orientation of an XMP packet; 0 if it has none. */
int ag_xmp_orientation(const uint8_t *data, size_t size);
/* Turn and mirror to orientation 1. 0 and values past 8 leave it as it is. */
int ag_pic_orient(AgPic *p, int orientation);

#endif /* AG_TOOLS_PICTURE_PRIV_H */

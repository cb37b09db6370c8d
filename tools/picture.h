/*
 * Picture files -> RGB pixels, as Pillow's open, exif_transpose and
 * convert("RGB") give them: what transformers' load_image does.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_PICTURE_H
#define AG_TOOLS_PICTURE_H

#include "libargus/argus.h"

enum AgPicAlpha {
    AG_PIC_ALPHA_DROP,  /* colours as stored, as the reference does */
    AG_PIC_ALPHA_WHITE, /* laid over white */
    AG_PIC_ALPHA_BLACK, /* laid over black */
};

struct AgPic;
struct AgPicFile;

typedef struct AgPicOptions {
    int lenient; /* 1: a truncated file is a warning, what is missing stays grey or black */
    int alpha;   /* enum AgPicAlpha */
    /* Decoder for what is neither JPEG nor PNG, see picture_priv.h; returns 1 if
     * it does not know it either. NULL = none. */
    int (*other)(struct AgPic *out, int *orientation, const struct AgPicFile *f);
    int (*stopped)(void); /* told to stop, so what was read may not be all of it; or NULL */
} AgPicOptions;

typedef struct AgPic {
    uint8_t *rgb; /* [height, width, 3], malloc'ed */
    int width, height;
} AgPic;

/* Read the file at path, "-" for stdin, and decode it. The kind is told by its
 * content, not by its name.
 * @return 0; ARGUS_ERR(errno) of a failed open or read; ARGUS_ERR_FORMAT for
 * a damaged, truncated or oversized picture; ARGUS_ERR_UNSUPPORTED for what
 * this program can't read. Each failure has been told to log, with the name,
 * but for ARGUS_ERR(EINTR): it was told to stop while it waited. */
int ag_pic_load(AgPic *out, const char *path, const AgPicOptions *o,
                    const ArgusLogger *log);

/* The same for bytes in memory; name is for messages. */
int ag_pic_decode(AgPic *out, const char *name, const uint8_t *data, size_t size,
                      const AgPicOptions *o, const ArgusLogger *log);

void ag_pic_free(AgPic *p);

#endif /* AG_TOOLS_PICTURE_H */

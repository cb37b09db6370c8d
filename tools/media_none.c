/*
 * In place of media.c where libavformat was not found.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tools/media.h"

/* The picture loader tells what it is, and that it can't be read. */
int ag_media_kind(const char *path)
{
    (void)path;
    return AG_MEDIA_PICTURE;
}

const char *ag_media_missing(void)
{
    return "this program was built without libavformat";
}

int ag_media_open(AgMedia **m, const char *path, const AgMediaOptions *o)
{
    (void)m;
    (void)o;
    ag_say(ARGUS_LOG_ERROR, "%s: unsupported: a video, and this program was built without "
           "libavformat", path);
    return ARGUS_ERR_UNSUPPORTED;
}

void ag_media_close(AgMedia **m) { *m = NULL; }
void ag_media_info(const AgMedia *m, AgMediaInfo *info) { (void)m; *info = (AgMediaInfo){0}; }
int ag_media_next(AgMedia *m, AgMediaFrame *f) { (void)m; (void)f; return 0; }
int64_t ag_media_end(const AgMedia *m) { (void)m; return ARGUS_NOPTS; }
int ag_media_failed(AgMedia *m) { (void)m; return 1; }

int ag_media_pixels(AgMedia *m, ArgusImage *image, ArgusRational *sar)
{
    (void)m;
    (void)image;
    (void)sar;
    return ARGUS_ERR_UNSUPPORTED;
}

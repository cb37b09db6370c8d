/*
 * Opens libav's libraries when the first video, or picture of a kind that only
 * they know, is read.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#define AG_AV_OWN_NAMES
#include "tools/media_load.h"

#include <pthread.h>

#include "tools/library.h"

AgAv ag_av;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static AgLibraryFailure failure; /* empty if all is there */

/* In the order of who needs whom. */
enum { AVUTIL, AVCODEC, AVFORMAT, SWSCALE, N_LIBRARY };

static const char *const libraries[N_LIBRARY] = {
    [AVUTIL] = AG_LIBRARY("avutil", LIBAVUTIL_VERSION_MAJOR),
    [AVCODEC] = AG_LIBRARY("avcodec", LIBAVCODEC_VERSION_MAJOR),
    [AVFORMAT] = AG_LIBRARY("avformat", LIBAVFORMAT_VERSION_MAJOR),
    [SWSCALE] = AG_LIBRARY("swscale", LIBSWSCALE_VERSION_MAJOR),
};

static void load(void)
{
    void *handle[N_LIBRARY];

    for (int i = 0; i < N_LIBRARY; i++)
        handle[i] = ag_library_open(libraries[i], &failure);
#define FIND(lib, name) ag_library_find(handle[lib], #name, &ag_av.name, &failure);
    AG_AV_FUNCTIONS(FIND)
}

const char *ag_av_load(void)
{
    pthread_once(&once, load);
    return failure.text[0] ? failure.text : NULL;
}

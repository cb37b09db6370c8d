/*
 * Opens libav's libraries when the first video, or picture of a kind that only
 * they know, is read.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#define AG_AV_OWN_NAMES
#include "tools/media_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

AgAv ag_av;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512]; /* empty if all is there */

#define NUMBER_(n) #n
#define NUMBER(n) NUMBER_(n)
#ifdef __APPLE__
#define LIBRARY(name, version) "lib" name "." NUMBER(version) ".dylib"
#else
#define LIBRARY(name, version) "lib" name ".so." NUMBER(version)
#endif

/* In the order of who needs whom. */
enum { AVUTIL, AVCODEC, AVFORMAT, SWSCALE, N_LIBRARY };

static const char *const libraries[N_LIBRARY] = {
    [AVUTIL] = LIBRARY("avutil", LIBAVUTIL_VERSION_MAJOR),
    [AVCODEC] = LIBRARY("avcodec", LIBAVCODEC_VERSION_MAJOR),
    [AVFORMAT] = LIBRARY("avformat", LIBAVFORMAT_VERSION_MAJOR),
    [SWSCALE] = LIBRARY("swscale", LIBSWSCALE_VERSION_MAJOR),
};

/* A data pointer is copied into a function pointer, which C has no cast for and
 * POSIX promises to work. */
static void find(void *library, const char *name, void *function)
{
    void *p = library ? dlsym(library, name) : NULL;

    if (!p && !failure[0])
        snprintf(failure, sizeof(failure), "%s", dlerror());
    memcpy(function, &p, sizeof(p));
}

static void load(void)
{
    void *handle[N_LIBRARY];

    for (int i = 0; i < N_LIBRARY; i++) {
        handle[i] = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (!handle[i] && !failure[0])
            snprintf(failure, sizeof(failure), "%s", dlerror());
    }
    if (failure[0])
        return;
#define FIND(lib, name) find(handle[lib], #name, &ag_av.name);
    AG_AV_FUNCTIONS(FIND)
}

const char *ag_av_load(void)
{
    pthread_once(&once, load);
    return failure[0] ? failure : NULL;
}

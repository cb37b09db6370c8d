/*
 * See library.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void note(AgLibraryFailure *why)
{
    const char *text = dlerror();

    if (!why->text[0])
        snprintf(why->text, sizeof(why->text), "%s", text ? text : "unknown error");
}

void *ag_library_open(const char *file, AgLibraryFailure *why)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);

    if (!library)
        note(why);
    return library;
}

/* A data pointer is copied into a function pointer, which C has no cast for and
 * POSIX promises to work. */
void ag_library_find(void *library, const char *name, void *function, AgLibraryFailure *why)
{
    void *p = library ? dlsym(library, name) : NULL;

    if (library && !p)
        note(why);
    memcpy(function, &p, sizeof(p));
}

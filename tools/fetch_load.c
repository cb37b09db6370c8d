/*
 * Opens libcurl when a download begins.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define AG_CURL_OWN_NAMES
#include "tools/fetch_load.h"

#include "tools/library.h"

AgCurl ag_curl;

const char *ag_curl_load(void)
{
    static AgLibraryFailure failure;
    void *library = ag_library_open(AG_LIBRARY("curl", 4), &failure); /* the only one since 2006 */

#define FIND(name) ag_library_find(library, #name, &ag_curl.name, &failure);
    AG_CURL_FUNCTIONS(FIND)
    return failure.text[0] ? failure.text : NULL;
}

/*
 * libcurl's functions, by way of pointers that are filled when a download begins: the
 * twenty-odd libraries that it brings take longer to load than a picture to be cut into
 * tiles. The names below stand for the pointers.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_FETCH_LOAD_H
#define AG_TOOLS_FETCH_LOAD_H

#define CURL_DISABLE_TYPECHECK /* would put a macro in place of the name */
#include <curl/curl.h>

#undef curl_easy_getinfo
#undef curl_easy_setopt

/* X(function) of all that is called */
#define AG_CURL_FUNCTIONS(X) \
    X(curl_easy_cleanup)     \
    X(curl_easy_getinfo)     \
    X(curl_easy_init)        \
    X(curl_easy_perform)     \
    X(curl_easy_reset)       \
    X(curl_easy_setopt)      \
    X(curl_easy_strerror)    \
    X(curl_global_cleanup)   \
    X(curl_global_init)

typedef struct AgCurl {
#define AG_CURL_POINTER(name) __typeof__(name) *name;
    AG_CURL_FUNCTIONS(AG_CURL_POINTER)
#undef AG_CURL_POINTER
} AgCurl;

extern AgCurl ag_curl;

/* Opens the library. To be called before any of the functions, by one thread.
 * @return NULL, or why it can't be done. */
const char *ag_curl_load(void);

#ifndef AG_CURL_OWN_NAMES
#define curl_easy_cleanup ag_curl.curl_easy_cleanup
#define curl_easy_getinfo ag_curl.curl_easy_getinfo
#define curl_easy_init ag_curl.curl_easy_init
#define curl_easy_perform ag_curl.curl_easy_perform
#define curl_easy_reset ag_curl.curl_easy_reset
#define curl_easy_setopt ag_curl.curl_easy_setopt
#define curl_easy_strerror ag_curl.curl_easy_strerror
#define curl_global_cleanup ag_curl.curl_global_cleanup
#define curl_global_init ag_curl.curl_global_init
#endif

#endif /* AG_TOOLS_FETCH_LOAD_H */

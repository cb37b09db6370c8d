/*
 * What the program says on stderr: "argus: ..." lines.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_SAY_H
#define AG_TOOLS_SAY_H

#include "libargus/argus.h"

#if defined(__GNUC__)
#define AG_SAY_FORMAT(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define AG_SAY_FORMAT(fmt, first)
#endif

/* Least important level that is still printed; ARGUS_LOG_INFO at the start. */
void ag_say_level(int level);

/* Called before each line that is printed; NULL = nothing. */
void ag_say_before(void (*before)(void));

/* One line; control characters in it (from file names) are shown as '?'. */
void ag_say(int level, const char *fmt, ...) AG_SAY_FORMAT(2, 3);

/* The same as a logger for the library. */
ArgusLogger ag_say_logger(void);

/* One line to a logger. Gives err back: return ag_tell(log, ARGUS_LOG_ERROR, err, ...). */
int ag_tell(const ArgusLogger *log, int level, int err, const char *fmt, ...)
    AG_SAY_FORMAT(4, 5);

#endif /* AG_TOOLS_SAY_H */

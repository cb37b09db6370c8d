/*
 * stdout: results, written as soon as they are there.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_OUTPUT_H
#define AG_TOOLS_OUTPUT_H

#include <stddef.h>

/* Add text to stdout; with one_line, line ends in it become blanks. */
void ag_out(const char *text, int one_line);
/* Add bytes as they are. */
void ag_out_bytes(const void *data, size_t size);
/* Write out what was added. @return 0; -1 if any write failed so far. The
 * first failure is told, unless the reader has gone away. */
int ag_out_flush(void);
/* The last flush and the close. @return as above. */
int ag_out_close(void);

#endif /* AG_TOOLS_OUTPUT_H */

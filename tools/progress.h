/*
 * How far a video is: a line on stderr that is written over again and again,
 * when that is a terminal.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_PROGRESS_H
#define AG_TOOLS_PROGRESS_H

#include <stdint.h>

/* Begin with a video of length_us microseconds, 0 if that is not known. With
 * quiet, or when stderr is no terminal, nothing is ever shown. */
void ag_progress_start(const char *name, int64_t length_us, int quiet);
/* Position in the video and cues so far; shown a few times a second. */
void ag_progress_show(int64_t position_us, int64_t n_cue);
/* Take the line away, before other text; the next show brings it back. */
void ag_progress_clear(void);
void ag_progress_end(void);

#endif /* AG_TOOLS_PROGRESS_H */

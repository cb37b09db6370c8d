/*
 * Text of a cue: clean-up and line breaks, for the formats that players read.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_SUBTITLE_TEXT_H
#define AG_SUBTITLE_TEXT_H

#include "libargus/base/buf.h"

/* Append text as one line that can't break a subtitle file: valid UTF-8, no
 * control character or line separator, no "-->", blanks single and none at the
 * ends. Appends nothing if nothing can be seen of it. */
void ag_subtitle_clean(AgBuf *out, const char *text);

/* Append a clean line, broken at blanks into as few lines as `cols` columns
 * allow, and then into the narrowest lines of that number. cols 0: no breaks. n_line > 0: at most
 * so many lines, which get wider than cols if they must; no text is lost. */
void ag_subtitle_wrap(AgBuf *out, const char *line, int cols, int n_line);

#endif /* AG_SUBTITLE_TEXT_H */

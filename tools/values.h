/*
 * Values of options that are neither whole nor real numbers.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_VALUES_H
#define AG_TOOLS_VALUES_H

#include "libargus/argus.h"

/* [-][HH:]MM:SS[.F], or [-]S[.F] with or without s, ms or us behind it, in
 * microseconds. @return 0, or -1 if it is not that or is beyond 10^9 s. */
int ag_value_time(const char *text, int64_t *us);
/* N, N/D or a decimal number such as 29.97; not negative.
 * @return 0, or -1 if it is not that. */
int ag_value_rational(const char *text, ArgusRational *out);

#endif /* AG_TOOLS_VALUES_H */

/*
 * What the program can do, one file per verb. Each returns the exit code.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_VERBS_H
#define AG_TOOLS_VERBS_H

#include "tools/options.h"

int ag_verb_caption(const AgCli *o);
int ag_verb_info(const AgCli *o);
int ag_verb_bench(const AgCli *o);
int ag_verb_models(const AgCli *o);

/* Open what o names. Failures have been told. */
int ag_open(ArgusModel **model, ArgusContext **ctx, const AgCli *o);

/* Signal that asked to stop, 0 if none did. From ag_stoppable() on, SIGINT and
 * SIGTERM only ask; a second one ends the program. ag_watch(): they cancel the
 * running call of ctx too. */
int ag_stopped(void);
void ag_stoppable(void);
void ag_watch(ArgusContext *ctx);

#endif /* AG_TOOLS_VERBS_H */

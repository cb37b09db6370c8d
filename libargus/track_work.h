/*
 * What the track has the engine do: encode shots, answer windows. Either at
 * once, in the call, or on a thread of its own, behind a queue of a few samples.
 * In both cases in the order it was asked for, so the answers are the same.
 *
 * The thread owns the context from ag_work_open() to ag_work_close(). What
 * libargus has to say meanwhile is kept and told by ag_work_relay(): a logger is
 * never called from a thread that its owner does not know.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TRACK_WORK_H
#define AG_TRACK_WORK_H

#include <stdatomic.h>

#include "libargus/track_sampler.h"
#include "libargus/track_shot.h"

enum { AG_MAX_QUEUE = 4096 }; /* samples */

/* What the model said about a window. */
typedef struct AgReply {
    char *text;
    int n_token, finish, choice;
    double mean_logprob, choice_prob;
} AgReply;

/* A window on its way to becoming a cue. */
typedef struct AgJob {
    struct AgJob *next;
    AgSpan span;    /* end is ARGUS_NOPTS until it is known */
    AgShot **shots; /* [span.n_frame], released when answered */
    char *prompt;   /* may be NULL */
    int same;       /* pictures and question are those of the job before */
    int err;        /* < 0: no reply */
    AgReply reply;
    atomic_int done; /* err and reply are there */
} AgJob;

typedef struct AgWork AgWork;

/* queue > 0: samples that may wait for the thread; 0: no thread. The strings
 * of s must outlive it. @return 0, ENOMEM, or what starting a thread gave. */
int ag_work_open(AgWork **out, ArgusContext *ctx, const ArgusTrackSettings *s);
/* What is under way is cancelled, what waits is not begun. */
void ag_work_close(AgWork **w);

/* Room for one more sample, and for the window that it may fill? */
int ag_work_room(AgWork *w);
/* Wait until there is. */
void ag_work_wait_room(AgWork *w);
/* Wait until all that was asked for is done. */
void ag_work_wait(AgWork *w);
/* Tell what the thread had to say. */
void ag_work_relay(AgWork *w);

/* Encode a shot. Without a thread: @return 0, ENOMEM, CANCELLED. With one it
 * takes a reference and always 0; a shot that fails is tried again by its window. */
int ag_work_encode(AgWork *w, AgShot *shot);
/* Answer a job; the caller keeps it, and looks at it once job->done. */
void ag_work_answer(AgWork *w, AgJob *job);
void ag_job_free(AgJob **job);

/* System turn, pictures, question. shots NULL: pictures of rows x cols tiles.
 * *parts is the caller's. @return 0 or ENOMEM. */
int ag_work_parts(const ArgusTrackSettings *s, AgShot *const *shots, int n, int rows, int cols,
                  const char *prompt, AgPromptPart **parts, size_t *n_part);

#endif /* AG_TRACK_WORK_H */

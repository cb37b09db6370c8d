/*
 * What the track has the engine do. See track_work.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "libargus/track_work.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "libargus/base/log.h"
#include "libargus/base/mem.h"
#include "libargus/base/thread.h"
#include "libargus/context.h"
#include "libargus/decode.h"
#include "libargus/encode.h"

/* One of both. */
typedef struct Task {
    AgShot *shot; /* a reference of the queue's own */
    AgJob *job;
} Task;

typedef struct Message {
    struct Message *next;
    int level;
    char text[];
} Message;

struct AgWork {
    ArgusContext *ctx;
    const ArgusTrackSettings *s;
    AgReply last;          /* to the job before; text NULL = none */
    AgDraft draft;         /* ids of the newest reply, for the next one; reuse only */

    /* with a thread */
    int threaded;
    pthread_t thread;
    pthread_mutex_t lock;  /* of all below */
    pthread_cond_t more;   /* there is something to do */
    pthread_cond_t less;   /* something was done */
    Task *ring;            /* [size] the first is the one under way */
    int size, at, n;
    int lost;              /* tasks that a cancel still applies to */
    int quit;
    ArgusLogger log;       /* the context's own */
    Message *first, **last_message;
};

/* ------------------------------------------------------------------------ */
/* Prompts and replies                                                       */

int ag_work_parts(const ArgusTrackSettings *s, AgShot *const *shots, int n, int rows, int cols,
                  const char *prompt, AgPromptPart **parts, size_t *n_part)
{
    AgPromptPart *p = ag_calloc((size_t)n + 4, sizeof(*p));
    size_t k = 0;

    *parts = p;
    if (!p)
        return ARGUS_ERR(ENOMEM);
    if (s->system) {
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TURN, .text = "system"};
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TEXT, .text = s->system};
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TURN, .text = "user"};
    }
    for (int i = 0; i < n; i++, k++) {
        p[k] = (AgPromptPart){.kind = ARGUS_PART_IMAGE, .rows = rows, .cols = cols};
        if (shots) {
            p[k].pic = shots[i]->pic;
            p[k].rows = p[k].pic->plan.rows;
            p[k].cols = p[k].pic->plan.cols;
        }
    }
    if (prompt)
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TEXT, .text = prompt};
    *n_part = k;
    return 0;
}

static void reply_free(AgReply *r)
{
    ag_free(r->text);
    *r = (AgReply){0};
}

static int reply_copy(AgReply *to, const AgReply *from)
{
    *to = *from;
    return from->text && !(to->text = ag_strdup(from->text)) ? ARGUS_ERR(ENOMEM) : 0;
}

void ag_job_free(AgJob **jp)
{
    AgJob *j = *jp;

    *jp = NULL;
    if (!j)
        return;
    if (j->shots)
        ag_shots_release(j->shots, j->span.n_frame);
    ag_free(j->shots);
    ag_free(j->prompt);
    reply_free(&j->reply);
    ag_free(j);
}

/* ------------------------------------------------------------------------ */
/* The work                                                                  */

static int ask(AgWork *w, AgJob *j)
{
    ArgusCaption c;
    AgPromptPart *parts = NULL;
    size_t n_part;
    int err = 0;

    for (int i = 0; i < j->span.n_frame && err == 0; i++)
        err = ag_caption_encode(w->ctx, &j->shots[i]->pic, 1);
    if (err == 0 && (err = ag_work_parts(w->s, j->shots, j->span.n_frame, 0, 0, j->prompt, &parts,
                                         &n_part)) < 0)
        ag_nomem(&w->ctx->log, "the prompt");
    if (err == 0)
        err = ag_caption_answer(w->ctx, parts, n_part, &w->s->decoding, &w->draft, NULL, NULL, &c);
    if (err == 0 && w->s->reuse && c.ids) {
        ag_free((void *)w->draft.ids);
        w->draft = (AgDraft){c.ids, c.n_id};
        c.ids = NULL;
    }
    if (err == 0) {
        j->reply = (AgReply){c.text, c.n_id, c.finish, c.choice, c.mean_logprob, c.choice_prob};
        c.text = NULL; /* the reply's now */
        argus_caption_free(&c);
    }
    ag_free(parts);
    return AG_MIN(err, 0);
}

/* Answer a job, and keep what the next one may share with it. */
static void answer(AgWork *w, AgJob *j)
{
    if (j->same && w->last.text) {
        j->err = reply_copy(&j->reply, &w->last);
        if (j->err < 0)
            ag_nomem(&w->ctx->log, "a caption");
        else
            ag_caption_stats(w->ctx)->n_caption_reused++;
    } else {
        j->err = ask(w, j);
        reply_free(&w->last);
        if (w->s->reuse && j->err == 0 && reply_copy(&w->last, &j->reply) < 0)
            reply_free(&w->last);
    }
    ag_shots_release(j->shots, j->span.n_frame);
    ag_free(j->shots);
    j->shots = NULL;
    atomic_store(&j->done, 1);
}

/* A job, or some shots, which are encoded together. What fails is tried again with the job. */
static void run(AgWork *w, const Task *tasks, int n)
{
    AgPicture *pics[AG_STREAMS];
    AgShot *shots[AG_STREAMS];

    if (tasks->job) {
        answer(w, tasks->job);
        return;
    }
    for (int i = 0; i < n; i++) {
        shots[i] = tasks[i].shot;
        pics[i] = shots[i]->pic;
    }
    ag_caption_encode(w->ctx, pics, n);
    ag_shots_release(shots, n);
}

/* ------------------------------------------------------------------------ */
/* The thread                                                                */

/* A cancel ends the task under way and all that wait behind it, then is over. */
static void note_cancel(AgWork *w)
{
    if (w->quit)
        return; /* it stays */
    if (!w->lost && atomic_load(&w->ctx->cancel))
        w->lost = w->n;
    if (w->lost && --w->lost == 0)
        atomic_store(&w->ctx->cancel, 0);
}

/* The next job, or shots that wait in a row. */
static int next_tasks(const AgWork *w, Task *t)
{
    int n = 0;

    do
        t[n] = w->ring[(w->at + n) % w->size];
    while (t[n++].shot && n < AG_MIN(w->n, (int)AG_STREAMS) && w->ring[(w->at + n) % w->size].shot);
    return n;
}

static void *work_main(void *arg)
{
    AgWork *w = arg;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->n && !w->quit)
            pthread_cond_wait(&w->more, &w->lock);
        if (!w->n)
            break;
        Task t[AG_STREAMS];
        int n = next_tasks(w, t);
        pthread_mutex_unlock(&w->lock);
        run(w, t, n);
        pthread_mutex_lock(&w->lock);
        for (int i = 0; i < n; i++) {
            note_cancel(w);
            w->at = (w->at + 1) % w->size;
            w->n--;
        }
        pthread_cond_broadcast(&w->less);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* The context's logger while there is a thread: its words wait for a relay. */
static void keep_message(void *opaque, int level, const char *text)
{
    AgWork *w = opaque;
    size_t size = strlen(text) + 1;

    if (!pthread_equal(pthread_self(), w->thread)) {
        w->log.callback(w->log.opaque, level, text);
        return;
    }
    Message *m = ag_malloc(sizeof(*m) + size);
    if (!m)
        return;
    m->next = NULL;
    m->level = level;
    memcpy(m->text, text, size);
    pthread_mutex_lock(&w->lock);
    *w->last_message = m;
    w->last_message = &m->next;
    pthread_mutex_unlock(&w->lock);
}

void ag_work_relay(AgWork *w)
{
    if (!w->threaded)
        return;
    pthread_mutex_lock(&w->lock);
    Message *m = w->first;
    w->first = NULL;
    w->last_message = &w->first;
    pthread_mutex_unlock(&w->lock);
    for (Message *next; m; m = next) {
        next = m->next;
        w->log.callback(w->log.opaque, m->level, m->text);
        ag_free(m);
    }
}

static int start(AgWork *w, int queue)
{
    w->size = 2 * queue; /* a sample, and the window it fills */
    w->ring = ag_calloc((size_t)w->size, sizeof(*w->ring));
    if (!w->ring)
        return ag_nomem(&w->s->logger, "a queue");
    w->last_message = &w->first;
    w->log = w->ctx->log;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_cond_init(&w->less, NULL);
    int err = ag_thread_start(&w->thread, work_main, w);
    if (err)
        return ag_fail(&w->s->logger, ARGUS_ERR(err), "can't start the track's thread");
    w->threaded = 1;
    if (w->log.callback)
        w->ctx->log = (ArgusLogger){keep_message, w};
    return 0;
}

int ag_work_open(AgWork **out, ArgusContext *ctx, const ArgusTrackSettings *s)
{
    AgWork *w = ag_calloc(1, sizeof(*w));

    *out = w;
    if (!w)
        return ag_nomem(&s->logger, "a track");
    w->ctx = ctx;
    w->s = s;
    int err = s->queue ? start(w, s->queue) : 0;
    if (err < 0)
        ag_work_close(out);
    return err;
}

void ag_work_close(AgWork **wp)
{
    AgWork *w = *wp;

    *wp = NULL;
    if (!w)
        return;
    if (w->threaded) {
        pthread_mutex_lock(&w->lock);
        w->quit = 1;
        atomic_store(&w->ctx->cancel, 1);
        pthread_cond_signal(&w->more);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        atomic_store(&w->ctx->cancel, 0);
        w->ctx->log = w->log;
        ag_work_relay(w);
    }
    if (w->ring) {
        pthread_mutex_destroy(&w->lock);
        pthread_cond_destroy(&w->more);
        pthread_cond_destroy(&w->less);
    }
    ag_free(w->ring);
    ag_free((void *)w->draft.ids);
    reply_free(&w->last);
    ag_free(w);
}

static void put(AgWork *w, Task t)
{
    pthread_mutex_lock(&w->lock);
    while (w->n == w->size) /* not where ag_work_room() was asked before */
        pthread_cond_wait(&w->less, &w->lock);
    if (!w->n && !w->lost)
        atomic_store(&w->ctx->cancel, 0); /* there was nothing to cancel */
    w->ring[(w->at + w->n++) % w->size] = t;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
}

int ag_work_room(AgWork *w)
{
    if (!w->threaded)
        return 1;
    pthread_mutex_lock(&w->lock);
    int room = w->size - w->n;
    pthread_mutex_unlock(&w->lock);
    return room >= 2;
}

/* Wait until at most n tasks are left. */
static void wait_for(AgWork *w, int n)
{
    if (!w->threaded)
        return;
    pthread_mutex_lock(&w->lock);
    while (w->n > n)
        pthread_cond_wait(&w->less, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void ag_work_wait_room(AgWork *w)
{
    wait_for(w, w->size - 2);
}

void ag_work_wait(AgWork *w)
{
    wait_for(w, 0);
}

int ag_work_encode(AgWork *w, AgShot *shot)
{
    if (!w->threaded)
        return ag_caption_encode(w->ctx, &shot->pic, 1);
    Task t = {0};
    ag_shots_hold(&t.shot, &shot, 1);
    put(w, t);
    return 0;
}

void ag_work_answer(AgWork *w, AgJob *job)
{
    if (w->threaded)
        put(w, (Task){.job = job});
    else
        answer(w, job);
}

/*
 * argus: captions for pictures, from the command line.
 *
 * The first argument may be a verb; without one the arguments are inputs.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tools/output.h"
#include "tools/say.h"
#include "tools/verbs.h"

static const struct {
    const char *name; /* NULL: no word */
    int verb;         /* enum AgVerb */
    int (*run)(const AgCli *o);
} verbs[] = {
    {"info", AG_VERB_INFO, ag_verb_info},
    {"bench", AG_VERB_BENCH, ag_verb_bench},
    {"models", AG_VERB_MODELS, ag_verb_models},
    {NULL, AG_VERB_CAPTION, ag_verb_caption},
};

static volatile sig_atomic_t stopped;
static ArgusContext *volatile watched;

static void on_signal(int number)
{
    stopped = number;
    if (watched)
        argus_cancel(watched);
}

int ag_stopped(void)
{
    return stopped;
}

void ag_stoppable(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction s = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, old;

    sigemptyset(&s.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &s, NULL); /* ignored ones stay ignored: background jobs */
}

void ag_watch(ArgusContext *ctx)
{
    watched = ctx;
    if (ctx)
        ag_stoppable();
}

int ag_open(ArgusModel **model, ArgusContext **ctx, const AgCli *o)
{
    ArgusModelSettings m;
    ArgusSettings s;
    int err;

    argus_model_default_settings(&m);
    m.logger = ag_say_logger();
    m.model = o->model;
    m.cpumask = o->cpumask;
    m.precision = o->precision;
    err = argus_model_open(model, &m);
    if (err < 0)
        return err;
    argus_default_settings(&s);
    s.logger = ag_say_logger();
    s.threads = o->threads;
    return argus_open(ctx, *model, &s);
}

/* A descriptor that was closed by the caller would be given to the next file
 * that is opened: results would go into it. In the place of standard input comes
 * one that can't be read, so that it does not pass for an empty file. */
static int standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) != -1)
            continue;
        if (fd == STDOUT_FILENO) {
            ag_say(ARGUS_LOG_ERROR, "standard output: %s", strerror(errno));
            return -1;
        }
        if (open("/dev/null", O_WRONLY) < 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t v = 0;
    AgCli o;
    int code;

    if (standard_streams() < 0)
        return AG_EXIT_FAILED;
    while (verbs[v].name && (argc < 2 || strcmp(argv[1], verbs[v].name)))
        v++;
    if (verbs[v].name) {
        argc--;
        argv++;
    }
    code = ag_cli_parse(&o, verbs[v].verb, argc, argv);
    if (code < 0)
        code = verbs[v].run(&o);
    ag_cli_free(&o);
    if (ag_out_close() < 0 && code == AG_EXIT_OK)
        code = AG_EXIT_FAILED;
    return ag_stopped() ? 128 + ag_stopped() : code;
}

/*
 * Downloads of models with libcurl: FILE.part grows, over as many connections as it
 * takes, is compared with the manifest, and becomes FILE. See fetch.h.
 *
 * What the server says is not trusted: a size other than the manifest's ends the
 * transfer at once, a range that does not begin where it was asked to is an error,
 * redirects are counted and lead to http(s) only.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _DEFAULT_SOURCE
#include "tools/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/fetch_load.h"
#include "tools/say.h"
#include "tools/verbs.h"

enum {
    MAX_REDIRECT = 8,
    MAX_IDLE_TRIES = 5, /* in a row that brought no byte */
    MAX_TRIES = 100,
    FIRST_PAUSE_MS = 250, /* doubled from try to try without progress */
    CONNECT_S = 30,
    STALL_S = 60,       /* without a byte: the connection is given up */
};

enum Outcome { DONE, AGAIN, WRONG, FAILED };

/* One file on its way. */
typedef struct Transfer {
    const ArgusManifestFile *f;
    CURL *curl;
    char url[2048], part[4096], name[4096];
    int fd;             /* of part, locked */
    int64_t begin;      /* bytes there when this connection began */
    int64_t have;       /* bytes there now */
    int begun;          /* a byte of the body has come */
    int64_t length, range_begin, range_total; /* of the response's head, -1 = not said */
    int write_errno;
    enum Outcome outcome;
    char reason[512], curl_error[CURL_ERROR_SIZE];
    int bar;            /* stderr is a terminal */
    double t0, drawn;   /* seconds: of this connection, of the bar */
} Transfer;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------ */
/* Progress                                                                   */

static void bar_clear(const Transfer *t)
{
    if (t->bar && t->drawn > 0)
        fprintf(stderr, "\r%79s\r", "");
}

static void bar_draw(Transfer *t)
{
    double now = seconds(), speed, left;
    char cells[21];

    if (!t->bar || now - t->drawn < 0.1 || !t->f->size)
        return;
    t->drawn = now;
    speed = (double)(t->have - t->begin) / (now - t->t0 + 1e-3);
    left = speed > 0 ? (double)(t->f->size - t->have) / speed : 0;
    if (left > 359999)
        left = 359999;
    for (int i = 0; i < 20; i++)
        cells[i] = i < t->have * 20 / t->f->size ? '#' : '-';
    cells[20] = 0;
    fprintf(stderr, "\r%-17.17s [%s] %3d%% %7.1f MiB %6.1f MiB/s %d:%02d:%02d", t->f->name, cells,
            (int)(t->have * 100 / t->f->size), (double)t->have / 1048576, speed / 1048576,
            (int)left / 3600, (int)left / 60 % 60, (int)left % 60);
}

/* ------------------------------------------------------------------------ */
/* What libcurl calls                                                         */

static size_t on_head(char *line, size_t size, size_t n, void *opaque)
{
    Transfer *t = opaque;
    char text[256];

    n *= size;
    snprintf(text, sizeof(text), "%.*s", (int)(n < 255 ? n : 255), line);
    if (!strncmp(text, "HTTP/", 5)) /* a head of its own for every redirect */
        t->length = t->range_begin = t->range_total = -1;
    else if (!strncasecmp(text, "Content-Length:", 15))
        t->length = strtoll(text + 15, NULL, 10);
    else if (!strncasecmp(text, "Content-Range:", 14)) {
        long long from, to, total;
        if (sscanf(text + 14, " bytes %lld-%lld/%lld", &from, &to, &total) == 3) {
            t->range_begin = from;
            t->range_total = total;
        }
    }
    return n;
}

static int wrong(Transfer *t, const char *what, int64_t found)
{
    t->outcome = WRONG;
    snprintf(t->reason, sizeof(t->reason), "expected %lld bytes, found %s%lld",
             (long long)t->f->size, what, (long long)found);
    return -1;
}

/* The head is complete: is this the file, and where does the body go? */
static int body_begins(Transfer *t)
{
    long code = 0;
    int64_t total;

    t->begun = 1;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    total = code == 206 ? t->range_total : t->length;
    if (total >= 0 && total != t->f->size)
        return wrong(t, "", total);
    if (code == 206) {
        if (t->range_begin == t->begin)
            return 0;
        t->outcome = WRONG;
        snprintf(t->reason, sizeof(t->reason),
                 "expected the bytes from %lld on, found those from %lld", (long long)t->begin,
                 (long long)t->range_begin);
        return -1;
    }
    t->begin = t->have = 0; /* the range was ignored */
    if (!ftruncate(t->fd, 0) && lseek(t->fd, 0, SEEK_SET) == 0)
        return 0;
    t->write_errno = errno;
    return -1;
}

static size_t on_body(char *data, size_t size, size_t n, void *opaque)
{
    Transfer *t = opaque;

    n *= size;
    if (!t->begun && body_begins(t) < 0)
        return 0;
    if ((int64_t)n > t->f->size - t->have) {
        wrong(t, "at least ", t->have + (int64_t)n);
        return 0;
    }
    for (size_t done = 0; done < n;) {
        ssize_t w = write(t->fd, data + done, n - done);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0) {
            t->write_errno = errno;
            return 0;
        }
        done += (size_t)w;
        t->have += w;
    }
    return n;
}

static int on_progress(void *opaque, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    Transfer *t = opaque;

    (void)a, (void)b, (void)c, (void)d;
    bar_draw(t);
    return ag_stopped();
}

/* ------------------------------------------------------------------------ */
/* One connection                                                             */

static const char *status_name(long code)
{
    static const struct {
        long code;
        const char *name;
    } names[] = {
        {401, " Unauthorized"}, {403, " Forbidden"}, {404, " Not Found"}, {410, " Gone"},
        {429, " Too Many Requests"}, {500, " Internal Server Error"}, {502, " Bad Gateway"},
        {503, " Service Unavailable"}, {504, " Gateway Timeout"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].code == code)
            return names[i].name;
    return "";
}

static enum Outcome judge_status(Transfer *t)
{
    long code = 0;

    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    snprintf(t->reason, sizeof(t->reason), "expected the file, found HTTP %ld%s", code,
             status_name(code));
    if (code == 416) { /* nothing at that place: begin again */
        if (t->begin == 0 || ftruncate(t->fd, 0))
            return FAILED;
        t->have = 0;
        return AGAIN;
    }
    return code == 408 || code == 429 || code >= 500 ? AGAIN : FAILED;
}

static enum Outcome judge(Transfer *t, CURLcode rc)
{
    if (t->outcome == WRONG)
        return WRONG;
    if (t->write_errno) {
        snprintf(t->reason, sizeof(t->reason), "can't write: %s", strerror(t->write_errno));
        return FAILED;
    }
    if (rc == CURLE_OK && !t->begun && body_begins(t) < 0) /* no byte came */
        return t->outcome == WRONG ? WRONG : FAILED;
    if (rc == CURLE_OK && t->have == t->f->size)
        return DONE;
    if (rc == CURLE_HTTP_RETURNED_ERROR)
        return judge_status(t);
    snprintf(t->reason, sizeof(t->reason), "expected %lld bytes, found the end after %lld: %s",
             (long long)t->f->size, (long long)t->have,
             rc == CURLE_OK ? "connection closed" : t->curl_error[0] ? t->curl_error
             : curl_easy_strerror(rc));
    switch (rc) {
    case CURLE_OK: case CURLE_PARTIAL_FILE: case CURLE_RECV_ERROR: case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING: case CURLE_OPERATION_TIMEDOUT: case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return AGAIN;
    case CURLE_TOO_MANY_REDIRECTS:
        snprintf(t->reason, sizeof(t->reason), "expected the file, found more than %d redirects",
                 MAX_REDIRECT);
        return FAILED;
    case CURLE_UNSUPPORTED_PROTOCOL:
        snprintf(t->reason, sizeof(t->reason), "expected an address of %s, found another kind",
                 strncmp(t->url, "https:", 6) ? "http or https" : "https");
        return FAILED;
    case CURLE_FILE_COULDNT_READ_FILE:
        snprintf(t->reason, sizeof(t->reason), "no such file");
        return FAILED;
    default:
        snprintf(t->reason, sizeof(t->reason), "%s", t->curl_error[0] ? t->curl_error
                 : curl_easy_strerror(rc));
        return rc == CURLE_COULDNT_CONNECT ? AGAIN : FAILED;
    }
}

/* A server of another kind must not send us to files, or from https to http. */
static void set_protocols(CURL *c, const char *url)
{
    int https = !strncmp(url, "https:", 6);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https,file");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
#else
    curl_easy_setopt(c, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE);
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS,
                     https ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

static enum Outcome connect_once(Transfer *t)
{
    CURL *c = t->curl;
    char range[32];

    curl_easy_reset(c);
    set_protocols(c, t->url);
    curl_easy_setopt(c, CURLOPT_URL, t->url);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "argus/" ARGUS_VERSION_STRING);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)MAX_REDIRECT);
    curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->curl_error);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    /* Not CURLOPT_RESUME_FROM, which fails where the server ignores ranges. A copy on
     * disk is read from its beginning. */
    if (t->have && strncmp(t->url, "file:", 5)) {
        snprintf(range, sizeof(range), "%lld-", (long long)t->have);
        curl_easy_setopt(c, CURLOPT_RANGE, range);
    }
    t->begin = t->have;
    t->begun = t->write_errno = 0;
    t->length = t->range_begin = t->range_total = -1;
    t->outcome = DONE;
    t->curl_error[0] = 0;
    t->t0 = seconds();
    return judge(t, curl_easy_perform(c));
}

/* ------------------------------------------------------------------------ */
/* One file                                                                   */

static int fail(const Transfer *t)
{
    bar_clear(t);
    ag_say(ARGUS_LOG_ERROR, "%s: %s", t->url, t->reason);
    return -1;
}

static void pause_ms(int ms)
{
    struct timespec s = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&s, NULL); /* a signal ends it */
}

/* Until the part is as long as the file. */
static int transfer(Transfer *t)
{
    int idle = 0;

    for (int n = 1; t->have < t->f->size || !t->f->size; n++) {
        int64_t before = t->have;
        enum Outcome o = connect_once(t);
        if (ag_stopped()) {
            bar_clear(t);
            ag_say(ARGUS_LOG_INFO, "%s: stopped after %lld of %lld bytes; the same command goes on",
                   t->part, (long long)t->have, (long long)t->f->size);
            return -1;
        }
        if (o == DONE)
            return 0;
        if (o == WRONG)
            unlink(t->part);
        idle = t->have > before ? 0 : idle + 1;
        if (o != AGAIN || idle == MAX_IDLE_TRIES || n == MAX_TRIES)
            return fail(t);
        bar_clear(t);
        ag_say(ARGUS_LOG_WARNING, "%s: %s; trying again", t->f->name, t->reason);
        pause_ms(FIRST_PAUSE_MS << (idle ? idle - 1 : 0));
    }
    return 0;
}

static int open_part(Transfer *t)
{
    struct stat st;

    t->fd = open(t->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (t->fd < 0 || fstat(t->fd, &st)) {
        ag_say(ARGUS_LOG_ERROR, "%s: can't write: %s", t->part, strerror(errno));
        return -1;
    }
    if (!S_ISREG(st.st_mode)) {
        ag_say(ARGUS_LOG_ERROR, "%s: expected a regular file, found another kind", t->part);
        return -1;
    }
    if (flock(t->fd, LOCK_EX | LOCK_NB)) {
        ag_say(ARGUS_LOG_ERROR, "%s: another program is fetching it", t->part);
        return -1;
    }
    t->have = st.st_size;
    if (t->have > t->f->size) { /* not of this file */
        t->have = 0;
        if (ftruncate(t->fd, 0)) {
            ag_say(ARGUS_LOG_ERROR, "%s: can't write: %s", t->part, strerror(errno));
            return -1;
        }
    }
    if (t->have)
        ag_say(ARGUS_LOG_INFO, "%s: going on after %lld bytes", t->f->name, (long long)t->have);
    lseek(t->fd, t->have, SEEK_SET);
    return 0;
}

/* The part is complete: is it the file? */
static int finish(Transfer *t)
{
    ArgusLogger log = ag_say_logger();

    bar_clear(t);
    if (fsync(t->fd)) {
        ag_say(ARGUS_LOG_ERROR, "%s: can't write: %s", t->part, strerror(errno));
        return -1;
    }
    if (argus_manifest_check(t->f, t->part, 1, &log) < 0) {
        ag_say(ARGUS_LOG_ERROR, "%s: not the file of the manifest: removed", t->url);
        unlink(t->part);
        return -1;
    }
    if (rename(t->part, t->name)) {
        ag_say(ARGUS_LOG_ERROR, "%s: can't rename to %s: %s", t->part, t->name, strerror(errno));
        return -1;
    }
    ag_say(ARGUS_LOG_INFO, "%s: %lld bytes, sha256 as expected", t->f->name, (long long)t->f->size);
    return 0;
}

static int fetch_file(CURL *c, const ArgusManifest *m, const ArgusManifestFile *f,
                      const char *base, const char *dir)
{
    Transfer t = {.f = f, .curl = c, .fd = -1, .bar = isatty(STDERR_FILENO)};
    int n, err = -1;

    n = snprintf(t.url, sizeof(t.url), "%s/%s/resolve/%s/%s", base, m->repo, m->revision, f->name);
    if (n >= (int)sizeof(t.url) ||
        snprintf(t.part, sizeof(t.part), "%s/%s.part", dir, f->name) >= (int)sizeof(t.part)) {
        ag_say(ARGUS_LOG_ERROR, "%s: address or path too long", f->name);
        return -1;
    }
    snprintf(t.name, sizeof(t.name), "%s/%s", dir, f->name);
    int state = argus_manifest_check(f, t.name, 1, NULL);
    if (state >= 0) {
        ag_say(ARGUS_LOG_INFO, "%s: there already", f->name);
        return 0;
    }
    if (state != ARGUS_ERR(ENOENT))
        ag_say(ARGUS_LOG_WARNING, "%s: not the file of the manifest; fetching it again", t.name);
    if (open_part(&t) >= 0) {
        err = transfer(&t) < 0 ? -1 : finish(&t);
        if (err < 0 && !t.have)
            unlink(t.part);
    }
    if (t.fd >= 0)
        close(t.fd);
    return err;
}

int ag_fetch(const ArgusManifest *m, const char *base, const char *dir)
{
    const char *why = ag_curl_load();
    int err = why || curl_global_init(CURL_GLOBAL_DEFAULT) ? -1 : 0;
    CURL *c = err ? NULL : curl_easy_init();

    if (!c) {
        ag_say(ARGUS_LOG_ERROR, "libcurl does not start: %s", why ? why : "it gives no reason");
        return -1;
    }
    signal(SIGPIPE, SIG_IGN); /* a connection that the server closed is an error like others */
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < m->n_file && err >= 0; i++)
            if (last == !strcmp(m->files[i].name, "config.json"))
                err = ag_stopped() ? -1 : fetch_file(c, m, &m->files[i], base, dir);
    curl_easy_cleanup(c);
    curl_global_cleanup();
    return err;
}

/*
 * A web server that misbehaves, for the tests of downloads.
 *
 *     httpd DIR MODE LOG
 *
 * listens on a free port of 127.0.0.1 and prints it, then answers GET for the files of
 * DIR, one connection after the other; of a path only the last part counts. Every
 * request adds a line to LOG: name, and the range asked for. It ends by itself after
 * 60 seconds, so that a failed test leaves nothing behind.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LIFETIME_S = 60, CUT = 30000, MAX_FILE = 1 << 20 };

/* What is wrong with it. All but the first three concern only data.bin. */
static const char *const modes[] = {
    "good",
    "redirect",    /* to the same name with /again/ in the path, three times */
    "slow",        /* 2000 bytes every tenth of a second */
    "cut",         /* 30000 bytes a connection */
    "cut-norange", /* the first connection is cut; ranges are ignored */
    "cut-other",   /* the first is cut; later ones send from the beginning as if asked to */
    "no-length",   /* no Content-Length; the first connection is cut */
    "empty",       /* the head, then nothing */
    "close",       /* not even a head */
    "bytes",       /* one byte is another */
    "shorter",     /* a whole file of 10 bytes less */
    "longer",      /* of 10 bytes more */
    "endless",     /* no length, and more than there should be */
    "404", "403", "416", "500",
    "500-once",    /* then good */
    "loop",        /* redirects to itself */
    "to-file",     /* redirects to file:///etc/hostname */
};

static unsigned char file[MAX_FILE];
static const char *dir, *mode, *log_name;
static int n_data; /* requests for data.bin so far */

static int is(const char *name)
{
    return !strcmp(mode, name);
}

static void die(const char *what)
{
    fprintf(stderr, "httpd: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int put(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0)
            return -1;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

static void head(int fd, const char *status, const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nConnection: close\r\n%s\r\n", status, more);
    put(fd, text, strlen(text));
}

static void redirect(int fd, const char *to)
{
    char more[512];

    snprintf(more, sizeof(more), "Location: %s\r\nContent-Length: 5\r\n", to);
    head(fd, "302 Found", more);
    put(fd, "moved", 5);
}

/* Bytes begin to end - 1 of the file, of which `total` is said to be the length. */
static void send_part(int fd, size_t begin, size_t end, size_t total, int ranged, int length)
{
    char more[256] = "";
    size_t n = 0;

    if (length)
        n = (size_t)snprintf(more, sizeof(more), "Content-Length: %zu\r\n", total - begin);
    if (ranged)
        snprintf(more + n, sizeof(more) - n, "Content-Range: bytes %zu-%zu/%zu\r\n", begin,
                 total - 1, total);
    head(fd, ranged ? "206 Partial Content" : "200 OK", more);
    for (size_t at = begin; is("slow") && at < end; at += 2000) {
        struct timespec t = {0, 100000000};
        nanosleep(&t, NULL);
        if (put(fd, file + at, end - at < 2000 ? end - at : 2000))
            return;
    }
    if (!is("slow"))
        put(fd, file + begin, end - begin);
}

static void send_file(int fd, const char *name, size_t size, size_t begin, int ranged)
{
    int data = !strcmp(name, "data.bin"), first = data && n_data++ == 0;
    int end = (int)size;

    if (data && (is("cut-norange") || is("no-length") || is("endless")))
        begin = 0, ranged = 0;
    if (data && is("bytes"))
        file[size / 2] ^= 1;
    if (data && is("close"))
        return;
    if (data && is("404"))
        head(fd, "404 Not Found", "Content-Length: 0\r\n");
    else if (data && is("403"))
        head(fd, "403 Forbidden", "Content-Length: 0\r\n");
    else if (data && is("416") && ranged)
        head(fd, "416 Range Not Satisfiable", "Content-Length: 0\r\n");
    else if (data && (is("500") || (is("500-once") && first)))
        head(fd, "500 Internal Server Error", "Content-Length: 0\r\n");
    else if (data && is("loop"))
        redirect(fd, "data.bin");
    else if (data && is("to-file"))
        redirect(fd, "file:///etc/hostname");
    else if (data && is("empty"))
        send_part(fd, begin, begin, size, ranged, 1);
    else if (data && is("shorter"))
        send_part(fd, begin, size - 10, size - 10, ranged, 1);
    else if (data && is("longer"))
        send_part(fd, begin, size + 10, size + 10, ranged, 1);
    else if (data && is("endless"))
        send_part(fd, 0, size + 10, size, 0, 0);
    else if (data && is("cut-other") && !first) {
        char more[128];
        snprintf(more, sizeof(more), "Content-Range: bytes 0-%d/%d\r\n", end - 1, end);
        head(fd, "206 Partial Content", more);
        put(fd, file, size);
    } else if (data && (is("cut") || (first && !strncmp(mode, "cut-", 4)) ||
                        (first && is("no-length"))))
        send_part(fd, begin, size - begin > CUT ? begin + CUT : size, size, ranged,
                  !is("no-length"));
    else
        send_part(fd, begin, size, size, ranged, !(data && is("no-length")));
}

static void answer(int fd, const char *request)
{
    char path[1024], name[256], full[2048];
    const char *range = strstr(request, "Range: bytes="), *slash;
    size_t begin = range ? strtoul(range + 13, NULL, 10) : 0, size;
    FILE *f = fopen(log_name, "a");

    if (sscanf(request, "GET %1023s", path) != 1 || !(slash = strrchr(path, '/')))
        return;
    snprintf(name, sizeof(name), "%.200s", slash + 1);
    if (!f || fprintf(f, range ? "%s from %zu\n" : "%s\n", name, begin) < 0 || fclose(f))
        die(log_name);
    if (is("redirect") && !strstr(path, "/again/again/again/")) {
        snprintf(full, sizeof(full), "/again%.800s", path);
        redirect(fd, full);
        return;
    }
    snprintf(full, sizeof(full), "%s/%s", dir, name);
    f = fopen(full, "rb");
    if (!f) {
        head(fd, "404 Not Found", "Content-Length: 0\r\n");
        return;
    }
    memset(file, 0, sizeof(file));
    size = fread(file, 1, sizeof(file) - 10, f);
    fclose(f);
    if (begin >= size && range)
        head(fd, "416 Range Not Satisfiable", "Content-Length: 0\r\n");
    else
        send_file(fd, name, size, begin, range != NULL);
}

static void serve(int fd)
{
    char request[8192];
    size_t n = 0;

    while (n < sizeof(request) - 1) {
        ssize_t r = read(fd, request + n, sizeof(request) - 1 - n);
        if (r <= 0)
            break;
        n += (size_t)r;
        request[n] = 0;
        if (strstr(request, "\r\n\r\n")) {
            answer(fd, request);
            break;
        }
    }
    shutdown(fd, SHUT_WR); /* let the peer read to the end before the socket goes */
    while (read(fd, request, sizeof(request)) > 0)
        ;
    close(fd);
}

int main(int argc, char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t n = sizeof(a);
    size_t known = 0;

    if (argc != 4) {
        fprintf(stderr, "usage: httpd DIR MODE LOG\n");
        return 2;
    }
    dir = argv[1];
    mode = argv[2];
    log_name = argv[3];
    while (known < sizeof(modes) / sizeof(modes[0]) && !is(modes[known]))
        known++;
    if (known == sizeof(modes) / sizeof(modes[0])) {
        fprintf(stderr, "httpd: %s: no such mode\n", mode);
        return 2;
    }
    alarm(LIFETIME_S);
    signal(SIGPIPE, SIG_IGN);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&a, n) || listen(s, 8) ||
        getsockname(s, (struct sockaddr *)&a, &n))
        die("socket");
    printf("%d\n", ntohs(a.sin_port));
    fclose(stdout); /* who reads the port sees the end */
    for (;;) {
        int fd = accept(s, NULL, NULL);
        if (fd >= 0)
            serve(fd);
    }
}

/*
 * Manifests read, checked and compared with files on disk.
 *
 *     {"name": "smolvlm-256m", "licence": "Apache-2.0",
 *      "repo": "ORG/NAME", "revision": "40 hexadecimal digits",   both null: not on the hub
 *      "files": [{"name": "config.json", "size": 7353, "sha256": "64 digits",
 *                 "needed": false}, ...]}                         absent: needed
 *
 * Names end up in paths and addresses, so only plain ones are taken. Nothing here opens a
 * network connection.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "libargus/model/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <config.h> /* the build's; with "" it would be model/config.h */
#include "libargus/base/file.h"
#include "libargus/base/mem.h"
#include "libargus/base/sha256.h"
#include "libargus/model/source.h"

#define SUFFIX ".json"
#define EMBEDDED "(embedded)/"
#define MAX_SIZE ((int64_t)1 << 40)

enum { MAX_TEXT = 1 << 20, CHUNK = 1 << 18 };

typedef struct Entry {
    ArgusManifest m;          /* its strings are root's */
    ArgusManifestFile *files; /* [m.n_file] */
    json_t *root;
} Entry;

struct ArgusManifests {
    Entry *entry; /* [n], by name */
    int n;
};

/* A text of 1 to max bytes out of letters, digits, '-', '_' and '.', not beginning with a point. */
static int is_plain(const char *s, size_t n, size_t max)
{
    if (n < 1 || n > max || *s == '.')
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
              (s[i] >= '0' && s[i] <= '9') || s[i] == '-' || s[i] == '_' || s[i] == '.'))
            return 0;
    return 1;
}

static int is_hex(const char *s, size_t n)
{
    return strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

static int is_repo(const char *s)
{
    const char *slash = strchr(s, '/');

    return slash && is_plain(s, (size_t)(slash - s), 128) &&
           is_plain(slash + 1, strlen(slash + 1), 128);
}

static int is_licence(const char *s)
{
    for (const char *p = s; *p; p++)
        if (*p < ' ' || *p > '~')
            return 0;
    return *s && strlen(s) <= 64;
}

/* jansson refuses a zero byte in a string, so strlen() is the whole of it. */
static const char *text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static int bad(const ArgusLogger *log, const char *path, const char *expected)
{
    return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected %s", path, expected);
}

static int read_file(ArgusManifestFile *f, const json_t *o, const char *path,
                     const ArgusLogger *log)
{
    const json_t *size = json_object_get(o, "size"), *needed = json_object_get(o, "needed");

    f->name = text(o, "name");
    f->sha256 = text(o, "sha256");
    if (!f->name || !is_plain(f->name, strlen(f->name), 128))
        return bad(log, path, "a plain name for every file");
    if (!json_is_integer(size) || json_integer_value(size) < 0 ||
        json_integer_value(size) > MAX_SIZE)
        return bad(log, path, "a size in bytes for every file");
    if (!f->sha256 || !is_hex(f->sha256, 64))
        return bad(log, path, "a sha256 of 64 lower-case hexadecimal digits for every file");
    if (needed && !json_is_boolean(needed))
        return bad(log, path, "true or false as needed");
    f->size = json_integer_value(size);
    f->needed = !needed || json_is_true(needed);
    return 0;
}

static int read_files(Entry *e, const char *path, const ArgusLogger *log)
{
    const json_t *list = json_object_get(e->root, "files");
    size_t n = json_array_size(list);

    if (n < 1 || n > AG_MAX_MANIFEST_FILE)
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected a list of 1 to %d files, found %zu",
                       path, AG_MAX_MANIFEST_FILE, n);
    e->files = ag_calloc(n, sizeof(*e->files));
    if (!e->files)
        return ag_nomem(log, path);
    for (size_t i = 0; i < n; i++) {
        int err = read_file(&e->files[i], json_array_get(list, i), path, log);
        if (err < 0)
            return err;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(e->files[k].name, e->files[i].name))
                return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected each file once, found %s twice",
                               path, e->files[i].name);
    }
    e->m.files = e->files;
    e->m.n_file = (int)n;
    return 0;
}

/* The file must be called as the model: what is looked up is what is read. */
static int read_entry(Entry *e, const char *path, const char *name, const ArgusLogger *log)
{
    ArgusManifest *m = &e->m;
    const json_t *repo = json_object_get(e->root, "repo");

    m->name = text(e->root, "name");
    m->licence = text(e->root, "licence");
    m->repo = text(e->root, "repo");
    m->revision = text(e->root, "revision");
    if (!m->name || strcmp(m->name, name))
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected the name %s, found %s", path, name,
                       m->name ? m->name : "none");
    if (!m->licence || !is_licence(m->licence))
        return bad(log, path, "a licence");
    if (m->repo ? !is_repo(m->repo) : repo && !json_is_null(repo))
        return bad(log, path, "ORG/NAME or null as repo");
    if (m->repo ? !m->revision || !is_hex(m->revision, 40) : m->revision != NULL)
        return bad(log, path, "a revision of 40 lower-case hexadecimal digits with a repo, "
                   "and none without");
    return read_files(e, path, log);
}

static void entry_free(Entry *e)
{
    json_decref(e->root);
    ag_free(e->files);
    *e = (Entry){0};
}

static int load(Entry *e, const char *path, const char *name, const ArgusLogger *log)
{
    json_error_t je;
    AgBlob b;
    int err = ag_file_read(&b, path, MAX_TEXT, log);

    *e = (Entry){0};
    if (err < 0)
        return err;
    e->root = json_loadb((const char *)b.data, b.size, JSON_REJECT_DUPLICATES, &je);
    ag_blob_free(&b);
    if (!e->root)
        err = ag_fail(log, ARGUS_ERR_FORMAT, "%s: line %d: %s", path, je.line, je.text);
    else if (!json_is_object(e->root))
        err = bad(log, path, "a JSON object");
    else
        err = read_entry(e, path, name, log);
    if (err < 0)
        entry_free(e);
    return err;
}

/* NAME of a directory entry NAME.json, or 0. */
static int manifest_name(const char *file, char *name, size_t size)
{
    size_t n = strlen(file), s = strlen(SUFFIX);

    if (n <= s || n - s >= size || strcmp(file + n - s, SUFFIX) || !is_plain(file, n - s, size))
        return 0;
    memcpy(name, file, n - s);
    name[n - s] = 0;
    return 1;
}

static int add(ArgusManifests *list, const char *dir, const char *file, const ArgusLogger *log)
{
    char name[128];
    int at = 0;

    if (!manifest_name(file, name, sizeof(name)))
        return 0;
    while (at < list->n && strcmp(list->entry[at].m.name, name) < 0)
        at++;
    if (at < list->n && !strcmp(list->entry[at].m.name, name))
        return 0;
    char *path = ag_path_join(dir, file);
    if (!path)
        return ag_nomem(log, "a path");
    int err = 0;
    if (ag_is_file(path)) {
        Entry e;
        if (list->n == AG_MAX_MANIFEST)
            err = ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected at most %d manifests", path,
                          AG_MAX_MANIFEST);
        else if ((err = load(&e, path, name, log)) >= 0) {
            memmove(&list->entry[at + 1], &list->entry[at], (size_t)(list->n - at) * sizeof(e));
            list->entry[at] = e;
            list->n++;
        }
    }
    ag_free(path);
    return err;
}

int ag_manifests_add(ArgusManifests *list, const char *dir, const ArgusLogger *log)
{
    DIR *d = opendir(dir);
    char buf[128];
    int err = 0;

    if (!d) {
        err = ARGUS_ERR(errno);
        if (err == ARGUS_ERR(ENOENT) || err == ARGUS_ERR(ENOTDIR))
            return 0;
        return ag_fail(log, err, "%s: can't list: %s", dir, argus_strerror(err, buf, sizeof(buf)));
    }
    for (const struct dirent *f; err >= 0 && (f = readdir(d));)
        err = add(list, dir, f->d_name, log);
    closedir(d);
    return err;
}

/* Directories of a list with colons. */
static int add_path(ArgusManifests *list, const char *p, const ArgusLogger *log)
{
    int err = 0;

    while (*p && err >= 0) {
        size_t n = strcspn(p, ":");
        char *dir = ag_strndup(p, n);
        err = !dir ? ag_nomem(log, "a path") : n ? ag_manifests_add(list, dir, log) : 0;
        ag_free(dir);
        p += n + (p[n] == ':');
    }
    return err;
}

/* Those of the program: of where it lies, of the prefix, of the source tree. */
static int add_own(ArgusManifests *list, const ArgusLogger *log)
{
    const char *tree = ag_source_tree();
    char *prefix = ag_source_prefix();
    int err = prefix ? ag_manifests_add(list, prefix, log) : 0;

    ag_free(prefix);
    if (err >= 0)
        err = ag_manifests_add(list, ARGUS_DATADIR "/argus/models", log);
    if (err >= 0 && tree)
        err = ag_manifests_add(list, tree, log);
    return err;
}

int argus_manifests_open(ArgusManifests **out, const ArgusLogger *log)
{
    const char *path = getenv("ARGUS_MANIFEST_PATH");
    ArgusManifests *list = ag_calloc(1, sizeof(*list));
    int err;

    *out = NULL;
    if (list)
        list->entry = ag_calloc(AG_MAX_MANIFEST, sizeof(*list->entry));
    if (!list || !list->entry) {
        ag_free(list);
        return ag_nomem(log, "manifests");
    }
    if (path && *path)
        err = add_path(list, path, log);
    else
        err = add_own(list, log);
    if (err < 0)
        argus_manifests_close(&list);
    *out = list;
    return err < 0 ? err : 0;
}

void argus_manifests_close(ArgusManifests **lp)
{
    ArgusManifests *list = *lp;

    *lp = NULL;
    if (!list)
        return;
    for (int i = 0; i < list->n; i++)
        entry_free(&list->entry[i]);
    ag_free(list->entry);
    ag_free(list);
}

int argus_manifests_count(const ArgusManifests *list)
{
    return list->n;
}

const ArgusManifest *argus_manifests_get(const ArgusManifests *list, int index)
{
    return index >= 0 && index < list->n ? &list->entry[index].m : NULL;
}

const ArgusManifest *argus_manifests_find(const ArgusManifests *list, const char *name)
{
    for (int i = 0; i < list->n; i++)
        if (!strcmp(list->entry[i].m.name, name))
            return &list->entry[i].m;
    return NULL;
}

int argus_model_find(const char *model, char **path, const ArgusLogger *log)
{
    AgSource s;
    int err = ag_source_find(&s, model, log);

    *path = NULL;
    if (err < 0)
        return err;
    *path = s.path;
    s.path = NULL;
    ag_source_free(&s);
    return 0;
}

/* ------------------------------------------------------------------------ */
/* A file against its line of the manifest                                    */

static int wrong_size(const ArgusManifestFile *f, const char *path, int64_t found,
                      const ArgusLogger *log)
{
    return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected %lld bytes, found %lld", path,
                   (long long)f->size, (long long)found);
}

static int same_hash(const ArgusManifestFile *f, const char *path, AgSha256 *s,
                     const ArgusLogger *log)
{
    char found[65];

    ag_sha256_hex(s, found);
    if (strcmp(found, f->sha256))
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected sha256 %s, found %s", path, f->sha256,
                       found);
    return 0;
}

static int check_linked_in(const ArgusManifestFile *f, const char *path, int content,
                           const ArgusLogger *log)
{
    char here[] = "(embedded)";
    AgSource src = {here, here, 1};
    AgSha256 s;
    AgBlob b;
    int err = ag_source_open(&b, &src, path + strlen(EMBEDDED), 1, log);

    if (err < 0)
        return err;
    if ((int64_t)b.size != f->size)
        return wrong_size(f, path, (int64_t)b.size, log);
    ag_sha256_init(&s);
    ag_sha256_add(&s, b.data, b.size);
    return content ? same_hash(f, path, &s, log) : 0;
}

/* Read, not mapped: a file that shrinks meanwhile is an error, not a signal. */
static int hash_fd(AgSha256 *s, int fd, const char *path, int64_t *total, const ArgusLogger *log)
{
    unsigned char *chunk = ag_malloc(CHUNK);
    char buf[128];
    int err = 0;

    *total = 0;
    if (!chunk)
        return ag_nomem(log, path);
    for (;;) {
        ssize_t n = read(fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            err = ARGUS_ERR(errno);
            err = ag_fail(log, err, "%s: can't read: %s", path,
                          argus_strerror(err, buf, sizeof(buf)));
        }
        if (n <= 0)
            break;
        ag_sha256_add(s, chunk, (size_t)n);
        *total += n;
    }
    ag_free(chunk);
    return err;
}

int argus_manifest_check(const ArgusManifestFile *f, const char *path, int content,
                         const ArgusLogger *log)
{
    struct stat st;
    AgSha256 s;
    int64_t total;
    char buf[128];
    int err, fd;

    if (!strncmp(path, EMBEDDED, strlen(EMBEDDED)))
        return check_linked_in(f, path, content, log);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe would wait */
    if (fd < 0 || fstat(fd, &st)) {
        err = ARGUS_ERR(errno);
        if (fd >= 0)
            close(fd);
        if (err == ARGUS_ERR(ENOENT))
            return err;
        return ag_fail(log, err, "%s: can't open: %s", path, argus_strerror(err, buf, sizeof(buf)));
    }
    ag_sha256_init(&s);
    if (!S_ISREG(st.st_mode))
        err = ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected a regular file, found another kind",
                      path);
    else if (st.st_size != f->size)
        err = wrong_size(f, path, st.st_size, log);
    else if (!content)
        err = 0;
    else if ((err = hash_fd(&s, fd, path, &total, log)) >= 0)
        err = total != f->size ? wrong_size(f, path, total, log) : same_hash(f, path, &s, log);
    close(fd);
    return err;
}

/*
 * argus models: what models are known, which of them are here, whether their files are
 * as published; and, only when asked to, downloads.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "tools/fetch.h"
#include "tools/output.h"
#include "tools/say.h"
#include "tools/verbs.h"

enum { PATH_SIZE = 4096 };

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

static int64_t total_size(const ArgusManifest *m)
{
    int64_t n = 0;

    for (int i = 0; i < m->n_file; i++)
        n += m->files[i].size;
    return n;
}

/* cached: all that is needed is there and has the right size. */
static const char *state_of(const ArgusManifest *m, const char *where)
{
    char path[PATH_SIZE];

    if (!where)
        return "missing";
    for (int i = 0; i < m->n_file; i++) {
        snprintf(path, sizeof(path), "%s/%s", where, m->files[i].name);
        if (m->files[i].needed && argus_manifest_check(&m->files[i], path, 0, NULL) < 0)
            return "incomplete";
    }
    return strcmp(where, "(embedded)") ? "cached" : "embedded";
}

/* ------------------------------------------------------------------------ */
/* List                                                                       */

static void print_row(const ArgusManifest *m, const char *state, const char *where)
{
    char line[PATH_SIZE + 256];

    snprintf(line, sizeof(line), "%-13s %-13s %7.1f MiB  %-10s  %s\n", m->name, m->licence,
             (double)total_size(m) / 1048576, state, where ? where : "-");
    ag_out(line, 0);
}

static void json_string(const char *s)
{
    char code[8];

    if (!s) {
        ag_out("null", 0);
        return;
    }
    ag_out("\"", 0);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            snprintf(code, sizeof(code), "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            snprintf(code, sizeof(code), "\\u%04x", *s);
        else
            snprintf(code, sizeof(code), "%c", *s);
        ag_out(code, 0);
    }
    ag_out("\"", 0);
}

static void json_member(const char *key, const char *value)
{
    ag_out(", \"", 0);
    ag_out(key, 0);
    ag_out("\": ", 0);
    json_string(value);
}

static void print_json(const ArgusManifest *m, const char *state, const char *where)
{
    char size[48];

    ag_out("{\"name\": ", 0);
    json_string(m->name);
    json_member("licence", m->licence);
    json_member("repo", m->repo);
    json_member("revision", m->revision);
    snprintf(size, sizeof(size), ", \"size\": %lld", (long long)total_size(m));
    ag_out(size, 0);
    json_member("state", state);
    json_member("where", where);
    ag_out("}\n", 0);
}

static int list_models(const AgCli *o, const ArgusManifests *list)
{
    if (!o->json)
        ag_out("NAME          LICENCE              SIZE  STATE       WHERE\n", 0);
    for (int i = 0; i < argus_manifests_count(list); i++) {
        const ArgusManifest *m = argus_manifests_get(list, i);
        char *where;
        int err = argus_model_find(m->name, &where, NULL);
        if (err < 0 && err != ARGUS_ERR_NO_MODEL)
            return AG_EXIT_FAILED;
        (o->json ? print_json : print_row)(m, state_of(m, where), where);
        argus_free(where);
    }
    return AG_EXIT_OK;
}

/* ------------------------------------------------------------------------ */
/* Verify                                                                     */

static int verify_in(const ArgusManifest *m, const char *dir)
{
    ArgusLogger log = ag_say_logger();
    char line[256], path[PATH_SIZE];
    int n_bad = 0;

    snprintf(line, sizeof(line), "%s, licence %s, in ", m->name, m->licence);
    ag_out(line, 0);
    ag_out(dir, 1);
    ag_out("\n", 0);
    for (int i = 0; i < m->n_file; i++) {
        const ArgusManifestFile *f = &m->files[i];
        if (snprintf(path, sizeof(path), "%s/%s", dir, f->name) >= (int)sizeof(path)) {
            ag_say(ARGUS_LOG_ERROR, "%s: path too long", dir);
            return AG_EXIT_FAILED;
        }
        int err = argus_manifest_check(f, path, 1, &log);
        int missing = err == ARGUS_ERR(ENOENT);
        if (missing && f->needed)
            ag_say(ARGUS_LOG_ERROR, "%s: expected %lld bytes, found no such file", path,
                   (long long)f->size);
        snprintf(line, sizeof(line), "%-25s %11lld  %s\n", f->name, (long long)f->size,
                 !err ? "ok" : !missing ? "WRONG" : f->needed ? "MISSING"
                 : "not there, not needed");
        ag_out(line, 0);
        ag_out_flush(); /* a gigabyte takes its time */
        n_bad += err < 0 && (!missing || f->needed);
    }
    snprintf(line, sizeof(line), "%s: ", m->name);
    ag_out(line, 0);
    snprintf(line, sizeof(line), n_bad ? "%d of %d files are not as published\n"
             : "all needed files are as published\n", n_bad, m->n_file);
    ag_out(line, 0);
    return n_bad ? AG_EXIT_FAILED : AG_EXIT_OK;
}

static int verify(const AgCli *o, const ArgusManifest *m)
{
    ArgusLogger log = ag_say_logger();
    char *where;

    if (o->n_input)
        return verify_in(m, o->inputs[0]);
    if (argus_model_find(m->name, &where, &log) < 0)
        return AG_EXIT_FAILED;
    int code = verify_in(m, where);
    argus_free(where);
    return code;
}

/* ------------------------------------------------------------------------ */
/* Fetch                                                                      */

#if CONFIG_CURL
static int make_dirs(char *path)
{
    for (char *p = path + 1;; p++) {
        char c = *p;
        if (c && c != '/')
            continue;
        *p = 0;
        if (mkdir(path, 0777) && errno != EEXIST) {
            ag_say(ARGUS_LOG_ERROR, "%s: can't make the directory: %s", path, strerror(errno));
            return -1;
        }
        *p = c;
        if (!c)
            return 0;
    }
}

/* Where a fetched model goes, made with its parents. */
static int data_dir(char *dir, size_t size, const char *name)
{
    const char *data = env("XDG_DATA_HOME"), *home = env("HOME");
    int n;

    if (!data && !home) {
        ag_say(ARGUS_LOG_ERROR, "expected a directory in HOME or XDG_DATA_HOME, found neither");
        return -1;
    }
    n = snprintf(dir, size, "%s%s/argus/models/%s", data ? data : home,
                 data ? "" : "/.local/share", name);
    if (n >= (int)size) {
        ag_say(ARGUS_LOG_ERROR, "%s: path too long", data ? data : home);
        return -1;
    }
    return make_dirs(dir);
}

static int fetch(const AgCli *o, const ArgusManifest *m)
{
    const char *from = o->base_url ? o->base_url : env("ARGUS_BASE_URL");
    char base[1024], dir[PATH_SIZE];
    int n = snprintf(base, sizeof(base), "%s", from ? from : AG_HUB);

    if (!m->repo) {
        ag_say(ARGUS_LOG_ERROR, "%s: expected a model of the hub, found one that comes with argus",
               m->name);
        return AG_EXIT_FAILED;
    }
    while (n > 0 && n < (int)sizeof(base) && base[n - 1] == '/')
        base[--n] = 0;
    if (n >= (int)sizeof(base) || (strncmp(base, "http://", 7) && strncmp(base, "https://", 8) &&
                                   strncmp(base, "file:///", 8))) {
        ag_say(ARGUS_LOG_ERROR, "%s: expected http://, https:// or file:///, found '%s'",
               o->base_url ? "--base-url" : "ARGUS_BASE_URL", base);
        return AG_EXIT_USAGE;
    }
    if (data_dir(dir, sizeof(dir), m->name) < 0)
        return AG_EXIT_FAILED;
    ag_say(ARGUS_LOG_INFO, "%s: licence %s; %.1f MiB from %s/%s to %s", m->name, m->licence,
           (double)total_size(m) / 1048576, base, m->repo, dir);
    ag_stoppable();
    if (ag_fetch(m, base, dir) < 0)
        return AG_EXIT_FAILED;
    ag_say(ARGUS_LOG_INFO, "%s: complete", m->name);
    return AG_EXIT_OK;
}
#else
static int fetch(const AgCli *o, const ArgusManifest *m)
{
    ag_say(ARGUS_LOG_ERROR, "%s: this program was built without libcurl and can't fetch; put the "
           "files of %s/%s, revision %s, into a directory", m->name,
           o->base_url ? o->base_url : AG_HUB, m->repo ? m->repo : "?",
           m->revision ? m->revision : "?");
    return AG_EXIT_FAILED;
}
#endif

int ag_verb_models(const AgCli *o)
{
    const char *name = o->fetch ? o->fetch : o->verify;
    ArgusLogger log = ag_say_logger();
    ArgusManifests *list;
    int code;

    if (argus_manifests_open(&list, &log) < 0)
        return AG_EXIT_FAILED;
    const ArgusManifest *m = name ? argus_manifests_find(list, name) : NULL;
    if (!argus_manifests_count(list)) {
        ag_say(ARGUS_LOG_ERROR, "no manifests: expected some in %s, or in the directories of "
               "ARGUS_MANIFEST_PATH", env("ARGUS_MANIFEST_PATH") ? env("ARGUS_MANIFEST_PATH")
               : ARGUS_DATADIR "/argus/models");
        code = AG_EXIT_FAILED;
    } else if (name && !m) {
        ag_say(ARGUS_LOG_ERROR, "%s: no such model; argus models lists them", name);
        code = AG_EXIT_FAILED;
    } else {
        code = o->fetch ? fetch(o, m) : o->verify ? verify(o, m) : list_models(o, list);
    }
    argus_manifests_close(&list);
    return code;
}

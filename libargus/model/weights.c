/*
 * safetensors: 8 bytes of header length (little-endian), a JSON header that
 * gives each tensor's dtype, shape and byte range, then the bytes. The file is
 * mapped and the tensors are used where they lie.
 *
 * The file is untrusted. The header's length is checked before the header is
 * looked at, and every tensor's range is checked against its shape, against its
 * neighbours and against the file before anybody gets a pointer.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "libargus/model/weights.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libargus/base/buf.h"
#include "libargus/base/mem.h"
#include "libargus/base/sha256.h"

#define SINGLE "model.safetensors"
#define INDEX "model.safetensors.index.json"
#define MAX_HEADER 100000000 /* bytes, as the reference reader has it */
#define MAX_FILE 1000
#define MAX_LISTED 12        /* names in one message */

enum { UNUSABLE = -1, REFUSED = -2 }; /* beside enum AgDtype */

/* Integers may lie in a file beside the weights (old buffers such as
 * position_ids); a weight may not have such a type. */
static const struct {
    const char *name;
    int size, type;
} dtypes[] = {
    {"BF16", 2, AG_BF16},   {"F32", 4, AG_F32},     {"F16", 2, AG_F16},     {"BOOL", 1, UNUSABLE},
    {"U8", 1, UNUSABLE},    {"I8", 1, UNUSABLE},    {"U16", 2, UNUSABLE},   {"I16", 2, UNUSABLE},
    {"U32", 4, UNUSABLE},   {"I32", 4, UNUSABLE},   {"U64", 8, UNUSABLE},   {"I64", 8, UNUSABLE},
};

typedef struct Entry {
    AgTensor t;
    int usable, asked;
    const char *dtype_name;
    uint64_t begin, end; /* in the data part of its file */
} Entry;

struct AgWeights {
    AgBlob *file;
    int n_file, cap_file;
    Entry *entry; /* sorted by name once open */
    int n_entry, cap_entry;
    int64_t n_byte, n_param;
    char *where;  /* path for messages */
    AgBuf missing, wrong;
    int n_missing, n_wrong, n_unusable;
    AgSha256 sha, times;
    char fingerprint[65], stamp[65];
};

/* A place in a file that is being read, for messages. */
typedef struct File {
    const char *name;
    const ArgusLogger *log;
} File;

static int looks_like(const AgBlob *b, const char *text)
{
    size_t i = 0, n = strlen(text);

    while (i < b->size && isspace(b->data[i]))
        i++;
    for (size_t k = 0; k < n; k++)
        if (i + k >= b->size || tolower(b->data[i + k]) != text[k])
            return 0;
    return 1;
}

/* Length of the JSON header, checked, without allocating anything. */
static int header_size(const AgBlob *b, const File *f, size_t *size)
{
    uint64_t n = 0;

    if (!b->size)
        return ag_fail(f->log, ARGUS_ERR_FORMAT, "%s: expected weights, found an empty file",
                       f->name);
    if (looks_like(b, "version https://git-lfs"))
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: expected weights, found a Git LFS pointer: the "
                       "file itself was not downloaded; run "
                       "\"git lfs pull\" in its repository, or \"argus models --fetch\"",
                       f->name);
    if (looks_like(b, "<!doctype") || looks_like(b, "<html") || looks_like(b, "<?xml"))
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: expected weights, found a web page: the download "
                       "went wrong (log-in page, wrong address); download the file again",
                       f->name);
    if (b->size < 8)
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: incomplete: expected at least 8 bytes, found %zu", f->name, b->size);
    for (int i = 7; i >= 0; i--)
        n = n << 8 | b->data[i];
    if (n < 2 || n > MAX_HEADER)
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: not a safetensors file: expected a header of 2 to "
                       "%d bytes, found %" PRIu64, f->name, MAX_HEADER, n);
    if (n > b->size - 8)
        return ag_fail(f->log, ARGUS_ERR_FORMAT, "%s: incomplete: expected more than %" PRIu64
                       " bytes (header of %" PRIu64 "), found %zu", f->name, n + 8, n, b->size);
    if (b->data[8] != '{')
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: not a safetensors file: expected a header that "
                       "begins with {, found byte 0x%02X", f->name, b->data[8]);
    *size = (size_t)n;
    return 0;
}

static int non_negative(const json_t *v, uint64_t *out)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return 0;
    *out = (uint64_t)json_integer_value(v);
    return 1;
}

/* dtype, shape and range of one tensor, each against the others. */
static int parse_entry(Entry *e, const char *name, const json_t *v, const File *f)
{
    const json_t *shape = json_object_get(v, "shape"), *range = json_object_get(v, "data_offsets");
    const char *dtype = json_string_value(json_object_get(v, "dtype"));
    size_t k = 0, n_dim = json_array_size(shape);
    uint64_t n = 1;

    if (!dtype || !json_is_array(shape) || json_array_size(range) != 2 ||
        !non_negative(json_array_get(range, 0), &e->begin) ||
        !non_negative(json_array_get(range, 1), &e->end) ||
        e->end < e->begin)
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: tensor %s: expected dtype, shape and two rising data_offsets", f->name,
                       name);
    while (k < AG_COUNT(dtypes) && strcmp(dtype, dtypes[k].name))
        k++;
    if (k == AG_COUNT(dtypes))
        return ag_fail(f->log, ARGUS_ERR_UNSUPPORTED,
                       "%s: tensor %s: expected BF16, F32 or F16, found dtype %s", f->name,
                       name, dtype);
    for (size_t i = 0; i < n_dim; i++) {
        uint64_t d;
        if (!non_negative(json_array_get(shape, i), &d) || (d && n > (UINT64_MAX >> 4) / d))
            return ag_fail(f->log, ARGUS_ERR_FORMAT,
                           "%s: tensor %s: expected a shape of sizes that fit into memory",
                           f->name, name);
        n *= d;
        if (i < 4)
            e->t.dim[i] = (int64_t)d;
    }
    if (n * (uint64_t)dtypes[k].size != e->end - e->begin)
        return ag_fail(f->log, ARGUS_ERR_FORMAT,
                       "%s: tensor %s: expected %" PRIu64 " bytes for its "
                       "shape, found a range of %" PRIu64, f->name, name,
                       n * (uint64_t)dtypes[k].size, e->end - e->begin);
    e->t.n_dim = (int)AG_MIN(n_dim, (size_t)INT32_MAX);
    e->usable = dtypes[k].type >= 0 && n_dim <= 4;
    e->t.dtype = e->usable ? (AgDtype)dtypes[k].type : AG_F32;
    e->dtype_name = dtypes[k].name;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const Entry *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Entry *)a)->t.name, ((const Entry *)b)->t.name);
}

/* The ranges must follow each other without gap and fill the file, whose data
 * part begins at byte head. */
static int check_places(Entry *e, int n, uint64_t head, uint64_t size, const File *f)
{
    uint64_t at = 0;

    qsort(e, (size_t)n, sizeof(*e), by_place);
    for (int i = 0; i < n; i++) {
        if (e[i].begin != at)
            return ag_fail(f->log, ARGUS_ERR_FORMAT,
                           "%s: tensor %s: expected to begin at byte %" PRIu64
                           " of the data, where the one before ends; found %" PRIu64, f->name,
                           e[i].t.name, at, e[i].begin);
        at = e[i].end;
    }
    if (at != size - head)
        return ag_fail(f->log, ARGUS_ERR_FORMAT, "%s: %sexpected %" PRIu64 " bytes, found %" PRIu64,
                       f->name, at > size - head ? "incomplete: " : "", at + head, size);
    for (int i = 0; i < n; i++) {
        size_t unit = e[i].usable ? ag_dtype_size(e[i].t.dtype) : 1;
        if ((head + e[i].begin) % unit)
            return ag_fail(f->log, ARGUS_ERR_UNSUPPORTED, "%s: tensor %s: expected to begin at a "
                           "multiple of %zu bytes, found %" PRIu64, f->name, e[i].t.name, unit,
                           head + e[i].begin);
    }
    return 0;
}

static int grow(void **p, int *cap, int need, size_t size)
{
    int more = AG_MAX(need, *cap * 2);
    void *q = need <= *cap ? *p : ag_realloc(*p, (size_t)*cap * size, ag_mul((size_t)more, size));

    if (!q)
        return 0;
    if (need > *cap)
        *cap = more;
    *p = q;
    return 1;
}

/* Entries of one header, appended to w->entry. */
static int add_entries(AgWeights *w, json_t *header, const AgBlob *b, uint64_t head, const File *f)
{
    size_t n = json_object_size(header);
    int first = w->n_entry, err;
    const char *name;
    json_t *v;

    if (n > INT32_MAX / 4 ||
        !grow((void **)&w->entry, &w->cap_entry, first + (int)n, sizeof(*w->entry)))
        return ag_nomem(f->log, f->name);
    json_object_foreach(header, name, v) {
        Entry *e = &w->entry[w->n_entry];
        if (!strcmp(name, "__metadata__"))
            continue;
        *e = (Entry){0};
        if ((err = parse_entry(e, name, v, f)) < 0)
            return err;
        if (!(e->t.name = ag_strdup(name)))
            return ag_nomem(f->log, f->name);
        w->n_entry++;
    }
    err = check_places(w->entry + first, w->n_entry - first, head, b->size, f);
    for (int i = first; i < w->n_entry && err >= 0; i++) {
        Entry *e = &w->entry[i];
        int64_t count = 1;
        for (int k = 0; k < AG_MIN(e->t.n_dim, 4); k++)
            count *= e->t.dim[k];
        e->t.data = b->data + head + e->begin;
        w->n_param += e->usable ? count : 0;
    }
    return err;
}

static void add_stamp(AgWeights *w, const AgBlob *blob, const char *path)
{
    uint64_t v[3] = {blob->size, 0, 0};
    struct stat st;

    if (blob->kind == AG_BLOB_MAPPED && stat(path, &st) == 0) {
        v[1] = (uint64_t)st.st_mtim.tv_sec;
        v[2] = (uint64_t)st.st_mtim.tv_nsec;
    }
    ag_sha256_add(&w->times, v, sizeof(v));
}

/* Reads the header of one file. Takes the blob, also on failure. */
static int add_file(AgWeights *w, const AgSource *src, const char *file, AgBlob *blob,
                    const ArgusLogger *log)
{
    char name[1024];
    File f = {ag_source_name(src, file, name, sizeof(name)), log};
    json_error_t e;
    size_t n = 0;
    int err;

    if (!grow((void **)&w->file, &w->cap_file, w->n_file + 1, sizeof(*w->file))) {
        ag_blob_free(blob);
        return ag_nomem(log, name);
    }
    w->file[w->n_file++] = *blob;
    if ((err = header_size(blob, &f, &n)) < 0)
        return err;
    ag_sha256_add(&w->sha, blob->data + 8, n);
    add_stamp(w, blob, name);
    w->n_byte += (int64_t)blob->size;
    json_t *header = json_loadb((const char *)blob->data + 8, n, JSON_REJECT_DUPLICATES, &e);
    if (!header && json_error_code(&e) == json_error_out_of_memory)
        return ag_nomem(log, name);
    if (!header && json_error_code(&e) == json_error_duplicate_key)
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected each tensor once, found a %s", name,
                       e.text);
    if (!header)
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected a JSON header, found: %s (byte %d)",
                       name, e.text, e.position);
    err = add_entries(w, header, blob, n + 8, &f);
    json_decref(header);
    return err;
}

/* Shard names come from a file: they must stay inside the model's directory. */
static int safe_name(const char *s)
{
    return *s && *s != '.' && !strchr(s, '/') && !strchr(s, '\\');
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The shards that an index names, each once, in order of their names. */
static int add_shards(AgWeights *w, const AgSource *src, const json_t *map, const char *name,
                       const ArgusLogger *log)
{
    const char **file = ag_malloc(ag_mul(json_object_size(map) + 1, sizeof(*file)));
    int n = 0, err = 0;
    AgBlob blob;
    const char *key;
    json_t *v;

    if (!file)
        return ag_nomem(log, name);
    json_object_foreach((json_t *)(uintptr_t)map, key, v) {
        const char *s = json_string_value(v);
        if (!s || !safe_name(s)) {
            err = ag_fail(log, ARGUS_ERR_FORMAT,
                          "%s: tensor %s: expected the name of a file in the same "
                          "directory, found %s", name, key, s ? s : "no string");
            break;
        }
        file[n++] = s;
    }
    qsort(file, (size_t)n, sizeof(*file), compare_strings);
    for (int i = 0; i < n && err >= 0; i++) {
        if (i && !strcmp(file[i], file[i - 1]))
            continue;
        if (w->n_file == MAX_FILE)
            err = ag_fail(log, ARGUS_ERR_UNSUPPORTED, "%s: expected at most %d files, found more",
                          name, MAX_FILE);
        else if ((err = ag_source_open(&blob, src, file[i], 0, log)) >= 0)
            err = add_file(w, src, file[i], &blob, log);
    }
    ag_free(file);
    return err;
}

static int add_index(AgWeights *w, const AgSource *src, const AgBlob *b, const ArgusLogger *log)
{
    char name[1024];
    json_error_t e;
    json_t *root = json_loadb((const char *)b->data, b->size, JSON_REJECT_DUPLICATES, &e);
    const json_t *map = json_object_get(root, "weight_map");
    int err;

    ag_source_name(src, INDEX, name, sizeof(name));
    if (!root && json_error_code(&e) == json_error_out_of_memory)
        err = ag_nomem(log, name);
    else if (!root)
        err = ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected JSON, found: %s (line %d)", name, e.text,
                      e.line);
    else if (!json_object_size(map))
        err = ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected a weight_map with entries, found none",
                      name);
    else
        err = add_shards(w, src, map, name, log);
    json_decref(root);
    return err;
}

/* Sorts by name; a name in two shards is an error. */
static int sort_entries(AgWeights *w, const ArgusLogger *log)
{
    if (w->n_entry)
        qsort(w->entry, (size_t)w->n_entry, sizeof(*w->entry), by_name);
    for (int i = 1; i < w->n_entry; i++)
        if (!strcmp(w->entry[i].t.name, w->entry[i - 1].t.name))
            return ag_fail(log, ARGUS_ERR_FORMAT,
                           "%s: expected each tensor once, found %s in two files", w->where,
                           w->entry[i].t.name);
    return 0;
}

int ag_weights_open(AgWeights **out, const AgSource *src, const ArgusLogger *log)
{
    char name[1024];
    AgBlob blob;
    AgWeights *w = ag_calloc(1, sizeof(*w));
    int err;

    *out = NULL;
    if (!w || !(w->where = ag_strdup(ag_source_name(src, SINGLE, name, sizeof(name))))) {
        ag_weights_close(&w);
        return ag_nomem(log, "weights");
    }
    ag_sha256_init(&w->sha);
    ag_sha256_init(&w->times);
    err = ag_source_open(&blob, src, SINGLE, 1, log);
    if (err >= 0) {
        err = add_file(w, src, SINGLE, &blob, log);
    } else if (err == ARGUS_ERR(ENOENT)) {
        err = ag_source_open(&blob, src, INDEX, 1, log);
        if (err >= 0) {
            err = add_index(w, src, &blob, log);
            ag_blob_free(&blob);
        } else if (err == ARGUS_ERR(ENOENT)) {
            err = ag_fail(log, ARGUS_ERR_NO_MODEL, "%s: incomplete: expected " SINGLE " or " INDEX
                          ", found neither; download the weights", src->path);
        }
    }
    if (err >= 0)
        err = sort_entries(w, log);
    if (err < 0) {
        ag_weights_close(&w);
        return err;
    }
    ag_sha256_hex(&w->sha, w->fingerprint);
    ag_sha256_hex(&w->times, w->stamp);
    *out = w;
    return 0;
}

void ag_weights_close(AgWeights **wp)
{
    AgWeights *w = *wp;

    if (!w)
        return;
    for (int i = 0; i < w->n_entry; i++)
        ag_free((char *)(uintptr_t)w->entry[i].t.name);
    for (int i = 0; i < w->n_file; i++)
        ag_blob_free(&w->file[i]);
    ag_free(w->entry);
    ag_free(w->file);
    ag_free(w->where);
    ag_buf_free(&w->missing);
    ag_buf_free(&w->wrong);
    ag_free(w);
    *wp = NULL;
}

static Entry *find(const AgWeights *w, const char *name)
{
    Entry key = {.t.name = name};

    return w->n_entry ? bsearch(&key, w->entry, (size_t)w->n_entry, sizeof(key), by_name) : NULL;
}

static void add_shape(AgBuf *b, const int64_t *dim, int n)
{
    ag_buf_char(b, '[');
    for (int i = 0; i < AG_MIN(n, 4); i++)
        ag_buf_printf(b, "%s%" PRId64, i ? ", " : "", dim[i]);
    ag_buf_str(b, n > 4 ? ", ...]" : "]");
}

/* Adds ", " between the names of a list and stops it at MAX_LISTED. */
static int list_goes_on(AgBuf *b, int n)
{
    if (n == MAX_LISTED)
        ag_buf_str(b, ", ...");
    else if (n && n < MAX_LISTED)
        ag_buf_str(b, ", ");
    return n < MAX_LISTED;
}

const AgTensor *ag_weights_get(AgWeights *w, const char *name, int64_t d0, int64_t d1, int64_t d2,
                               int64_t d3)
{
    const int64_t want[4] = {d0, d1, d2, d3};
    Entry *e = find(w, name);
    int n = 0, same;

    while (n < 4 && want[n] >= 0)
        n++;
    if (!e) {
        if (list_goes_on(&w->missing, w->n_missing))
            ag_buf_str(&w->missing, name);
        w->n_missing++;
        return NULL;
    }
    e->asked = 1;
    same = e->t.n_dim == n;
    for (int i = 0; i < n && same; i++)
        same = e->t.dim[i] == want[i];
    if (same && e->usable)
        return &e->t;
    if (list_goes_on(&w->wrong, w->n_wrong)) {
        ag_buf_printf(&w->wrong, "%s expected ", name);
        if (same) {
            ag_buf_printf(&w->wrong, "BF16, F32 or F16, found %s", e->dtype_name);
        } else {
            add_shape(&w->wrong, want, n);
            ag_buf_str(&w->wrong, ", found ");
            add_shape(&w->wrong, e->t.dim, e->t.n_dim);
        }
    }
    w->n_wrong++;
    w->n_unusable += same;
    return NULL;
}

int ag_weights_has(const AgWeights *w, const char *name)
{
    return find(w, name) != NULL;
}

int ag_weights_check(AgWeights *w, const ArgusLogger *log)
{
    AgBuf extra = {0};
    int n_extra = 0, err = 0;

    if (w->missing.failed || w->wrong.failed)
        return ag_nomem(log, "messages");
    if (w->n_missing || w->n_wrong)
        return ag_fail(log, w->n_wrong && w->n_wrong == w->n_unusable && !w->n_missing
                       ? ARGUS_ERR_UNSUPPORTED : ARGUS_ERR_FORMAT,
                       "%s: %d tensors missing%s%s; %d tensors of another shape or type%s%s",
                       w->where, w->n_missing, w->n_missing ? ": " : "",
                       w->n_missing ? w->missing.data : "", w->n_wrong, w->n_wrong ? ": " : "",
                       w->n_wrong ? w->wrong.data : "");
    for (int i = 0; i < w->n_entry; i++) {
        if (w->entry[i].asked)
            continue;
        if (list_goes_on(&extra, n_extra))
            ag_buf_str(&extra, w->entry[i].t.name);
        n_extra++;
    }
    if (n_extra && ag_buf_ok(&extra))
        ag_log(log, ARGUS_LOG_WARNING, "%s: %d tensors are not used: %s", w->where, n_extra,
               extra.data);
    if (!ag_buf_ok(&extra))
        err = ag_nomem(log, "messages");
    ag_buf_free(&extra);
    return err;
}

int64_t ag_weights_bytes(const AgWeights *w)
{
    return w->n_byte;
}

int64_t ag_weights_params(const AgWeights *w)
{
    return w->n_param;
}

const char *ag_weights_fingerprint(const AgWeights *w)
{
    return w->fingerprint;
}

const char *ag_weights_stamp(const AgWeights *w)
{
    return w->stamp;
}

/*
 * Small model folders for tests, whole or broken in one place.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/gen/modelgen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "libargus/base/mem.h"
#include "tests/unit/unit.h"

static void die(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(2);
}

const char *ag_gen_dir(const char *name)
{
    static char path[8][1024];
    static int at;
    char *p = path[at++ & 7];
    int n = snprintf(p, sizeof(path[0]), "%s/%s", ag_test_dir(), name);

    if (n < 0 || n >= (int)sizeof(path[0]))
        die(name, "too long");
    for (char *s = p + strlen(ag_test_dir()) + 1; s;) {
        s = strchr(s, '/');
        if (s)
            *s = 0;
        if (mkdir(p, 0777) && errno != EEXIST)
            die(p, strerror(errno));
        if (s)
            *s++ = '/';
    }
    return p;
}

void ag_gen_write(const char *dir, const char *file, const void *data, size_t n)
{
    char path[2048];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f))
        die(path, strerror(errno));
}

void ag_gen_text(const char *dir, const char *file, const char *text)
{
    ag_gen_write(dir, file, text, strlen(text));
}

void ag_gen_tiny(const char *dir, const char *file, const char *from, const char *to)
{
    char name[256];
    AgBlob b;
    AgBuf out = {0};

    snprintf(name, sizeof(name), "models/argus-tiny/%s", file);
    if (ag_file_read(&b, ag_source_path(name), SIZE_MAX / 4, NULL) < 0)
        die(name, "can't read");
    if (from) {
        const char *text = (const char *)b.data, *hit = strstr(text, from);
        if (!hit || strstr(hit + 1, from))
            die(name, hit ? "more than one place to edit" : "no place to edit");
        ag_buf_add(&out, text, (size_t)(hit - text));
        ag_buf_str(&out, to);
        ag_buf_str(&out, hit + strlen(from));
    } else {
        ag_buf_add(&out, b.data, b.size);
    }
    ag_gen_write(dir, file, out.data, out.size);
    ag_buf_free(&out);
    ag_blob_free(&b);
}

static void add_u64(AgBuf *b, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        ag_buf_char(b, (char)(n >> 8 * i));
}

/* One tensor: its entry in the new header, its bytes after the others. */
static void add_tensor(AgBuf *header, AgBuf *data, const char *name, json_t *t,
                       const unsigned char *from, int f32)
{
    const json_t *range = json_object_get(t, "data_offsets");
    size_t begin = (size_t)json_integer_value(json_array_get(range, 0));
    size_t end = (size_t)json_integer_value(json_array_get(range, 1)), at = data->size;
    char *shape = json_dumps(json_object_get(t, "shape"), JSON_COMPACT);

    if (!shape || strcmp(json_string_value(json_object_get(t, "dtype")), "BF16"))
        die(name, "expected BF16");
    if (!f32)
        ag_buf_add(data, from + begin, end - begin);
    for (size_t i = begin; f32 && i < end; i += 2) {
        const char wide[4] = {0, 0, (char)from[i], (char)from[i + 1]};
        ag_buf_add(data, wide, 4);
    }
    ag_buf_printf(header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                  header->size ? "," : "{", name, f32 ? "F32" : "BF16", shape, at, data->size);
    free(shape);
}

void ag_gen_tiny_weights(const char *dir, const char *drop, int f32)
{
    static const char file[] = "model.safetensors";
    AgBuf header = {0}, data = {0}, all = {0};
    uint64_t n = 0;
    const char *name;
    int dropped = !drop;
    json_t *t;
    AgBlob b;

    if (ag_file_read(&b, ag_source_path("models/argus-tiny/model.safetensors"), SIZE_MAX / 4,
                     NULL) < 0)
        die(file, "can't read");
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)b.data[i] << 8 * i;
    json_t *old = json_loadb((const char *)b.data + 8, (size_t)n, 0, NULL);
    json_object_foreach(old, name, t) {
        if (drop && !strcmp(name, drop))
            dropped = 1;
        else if (strcmp(name, "__metadata__"))
            add_tensor(&header, &data, name, t, b.data + 8 + n, f32);
    }
    if (!dropped)
        die(drop, "no such tensor");
    ag_buf_char(&header, '}');
    while (header.size % 8)
        ag_buf_char(&header, ' ');
    add_u64(&all, header.size);
    ag_buf_add(&all, header.data, header.size);
    ag_buf_add(&all, data.data, data.size);
    if (!ag_buf_ok(&header) || !ag_buf_ok(&data) || !ag_buf_ok(&all))
        die(file, "out of memory");
    ag_gen_write(dir, file, all.data, all.size);
    json_decref(old);
    ag_buf_free(&header);
    ag_buf_free(&data);
    ag_buf_free(&all);
    ag_blob_free(&b);
}

void ag_gen_safetensors(const char *dir, const char *file, int64_t length, const char *header,
                        size_t n_data)
{
    AgBuf b = {0};
    size_t pad = length < 0 ? (8 - strlen(header) % 8) % 8 : 0;
    uint64_t n = length < 0 ? strlen(header) + pad : (uint64_t)length;

    add_u64(&b, n);
    ag_buf_str(&b, header);
    ag_buf_add(&b, "       ", pad);
    for (size_t i = 0; i < n_data; i++)
        ag_buf_char(&b, (char)(i % 251));
    if (!ag_buf_ok(&b))
        die(file, "out of memory");
    ag_gen_write(dir, file, b.data, b.size);
    ag_buf_free(&b);
}

AgSource ag_gen_source(const char *dir)
{
    AgSource s = {ag_strdup("test"), ag_strdup(dir), 0};

    if (!s.name || !s.path)
        die(dir, "out of memory");
    return s;
}

/*
 * Writes test pictures: mkpictures DIR [NAME...], all of them without a name.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <stdio.h>
#include <string.h>

#include "tests/gen/pictures.h"

static int write_one(const char *dir, const char *name)
{
    AgBuf b = {0};
    char path[4096];
    FILE *f = NULL;
    int bad = ag_gen_picture(&b, name) < 0 || !ag_buf_ok(&b);

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!bad)
        f = fopen(path, "wb");
    if (f && b.size)
        bad = fwrite(b.data, 1, b.size, f) != b.size;
    if (!f || fclose(f) || bad) {
        fprintf(stderr, "mkpictures: can't make %s\n", path);
        bad = 1;
    }
    ag_buf_free(&b);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: mkpictures DIR [NAME...]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        bad |= write_one(argv[1], argv[i]);
    for (size_t i = 0; argc == 2 && ag_gen_picture_name(i); i++)
        bad |= write_one(argv[1], ag_gen_picture_name(i));
    return bad;
}

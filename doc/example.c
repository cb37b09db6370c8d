/*
 * A whole program with libargus: describe one picture.
 *
 *     cc -o example example.c $(pkg-config --cflags --libs libargus)
 *     ./example picture.ppm "What colour is it?"
 *
 * It reads binary PPM, since the library takes pixels and opens no pictures.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libargus/argus.h>

static void print_message(void *opaque, int level, const char *message)
{
    (void)opaque;
    if (level <= ARGUS_LOG_WARNING)
        fprintf(stderr, "%s\n", message);
}

/* Pixels of a binary PPM with 8 bits a channel, NULL if it is none. */
static unsigned char *read_ppm(const char *path, ArgusImage *image)
{
    FILE *f = fopen(path, "rb");
    unsigned char *pixels = NULL;
    int w = 0, h = 0;

    if (f && fscanf(f, "P6 %d %d 255", &w, &h) == 2 && fgetc(f) != EOF && w > 0 && h > 0 &&
        w <= 16384 && h <= 16384) {
        size_t size = (size_t)w * (size_t)h * 3;
        pixels = malloc(size);
        if (pixels && fread(pixels, 1, size, f) != size) {
            free(pixels);
            pixels = NULL;
        }
    }
    if (f)
        fclose(f);
    image->data = pixels;
    image->width = w;
    image->height = h;
    image->stride = (ptrdiff_t)w * 3;
    image->format = ARGUS_RGB24;
    return pixels;
}

int main(int argc, char **argv)
{
    ArgusModelSettings model_settings;
    ArgusSettings settings;
    ArgusModel *model = NULL;
    ArgusContext *ctx = NULL;
    ArgusRequest request;
    ArgusCaption caption;
    ArgusImage image;
    ArgusPart parts[2] = {{ARGUS_PART_IMAGE, NULL, &image}, {ARGUS_PART_TEXT, NULL, NULL}};
    unsigned char *pixels;
    char text[128];
    int err;

    if (argc < 2 || !(pixels = read_ppm(argv[1], &image))) {
        fprintf(stderr, "usage: example PICTURE.ppm [QUESTION]\n");
        return 2;
    }

    /* $ARGUS_MODEL, else smolvlm-256m if it can be found, else the model in the library. */
    argus_model_default_settings(&model_settings);
    model_settings.logger.callback = print_message;
    argus_default_settings(&settings);
    settings.logger.callback = print_message;
    err = argus_model_open(&model, &model_settings);
    if (err >= 0)
        err = argus_open(&ctx, model, &settings);
    argus_model_close(&model); /* the context holds its own reference */

    if (err >= 0) {
        argus_request_default(&request);
        request.parts = parts;
        request.n_part = 1;
        if (argc > 2) {
            parts[1].text = argv[2];
            request.n_part = 2;
        }
        err = argus_describe(ctx, &request, &caption);
        if (err >= 0) {
            printf("%s\n", caption.text);
            argus_caption_free(&caption);
        }
    }
    if (err < 0)
        fprintf(stderr, "failed: %s\n", argus_strerror(err, text, sizeof(text)));
    argus_close(&ctx);
    free(pixels);
    return err < 0;
}

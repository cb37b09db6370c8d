/*
 * argus info: version, kernels, model, memory.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tools/media.h"
#include "tools/output.h"
#include "tools/verbs.h"

static void print(const char *key, const char *value)
{
    char line[1200];

    snprintf(line, sizeof(line), "%-13s %s\n", key, value);
    ag_out(line, 0);
}

static void print_cpu(unsigned mask)
{
    static const struct {
        unsigned flag;
        const char *name;
    } sets[] = {
        {ARGUS_CPU_AVX2, "avx2"}, {ARGUS_CPU_AVX512, "avx512"},
        {ARGUS_CPU_AVX512_VNNI, "avx512-vnni"}, {ARGUS_CPU_AVX_VNNI, "avx-vnni"},
        {ARGUS_CPU_NEON, "neon"}, {ARGUS_CPU_DOTPROD, "dotprod"},
        {ARGUS_CPU_I8MM, "i8mm"}, {ARGUS_CPU_BF16, "bf16"},
    };
    char text[256];
    size_t n;

    snprintf(text, sizeof(text), "%s kernels, %d usable cores; found:", argus_cpu_tier(mask),
             argus_cpu_count());
    n = strlen(text);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (argus_cpu_flags() & sets[i].flag)
            n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", sets[i].name);
    if (!argus_cpu_flags())
        snprintf(text + n, sizeof(text) - n, " none");
    print("cpu", text);
}

/* Libraries that other kinds need are looked for when they are needed: say which of them
 * is not there. */
static void print_kinds(void)
{
    const char *missing = ag_media_missing();
    char text[640];

    snprintf(text, sizeof(text), "%s; %s%s",
             CONFIG_JPEG && CONFIG_PNG ? "JPEG, PNG" : CONFIG_JPEG ? "JPEG" : CONFIG_PNG ? "PNG"
             : "no JPEG, no PNG",
             missing ? "no videos: " : "videos and other pictures by libavformat",
             missing ? missing : "");
    print("reads", text);
}

static void print_model(const ArgusModel *model, const ArgusContext *ctx)
{
    ArgusModelInfo m;
    ArgusStats s;
    char text[512];

    argus_model_info(model, &m);
    argus_stats(ctx, &s);
    print("model", m.name);
    print("path", m.path);
    print("sha256", m.sha256);
    snprintf(text, sizeof(text), "%.1f million", (double)m.n_params / 1e6);
    print("parameters", text);
    snprintf(text, sizeof(text), "%d layers of %d; tiles of %dx%d pixels, %d tokens each",
             m.n_vis_layer, m.d_vis, m.tile_size, m.tile_size, m.tokens_per_tile);
    print("vision", text);
    snprintf(text, sizeof(text), "%d layers of %d; %d words, context of %d tokens", m.n_txt_layer,
             m.d_txt, m.vocab, m.n_pos);
    print("text", text);
    if (m.precision != ARGUS_PRECISION_EXACT) {
        snprintf(text, sizeof(text), "%s, %.1f MiB weights of their own%s",
                 argus_precision_name(m.precision), (double)m.q8_bytes / 1048576,
                 m.q8_mapped ? " (mapped file)" : "");
        print("precision", text);
    }
    snprintf(text, sizeof(text), "%.1f MiB weights%s, %.1f MiB working memory and the pictures",
             (double)m.mapped_bytes / 1048576, strcmp(m.path, "(embedded)") ? " (mapped file)" : "",
             (double)s.anon_bytes / 1048576);
    print("memory", text);
    if (m.is_tiny)
        print("note", "knows drawn scenes and test patterns only");
}

int ag_verb_info(const AgCli *o)
{
    ArgusModel *model = NULL;
    ArgusContext *ctx = NULL;
    int err;

    print("argus", argus_version_string());
    print("configured", *argus_configuration() ? argus_configuration() : "(no options)");
    print_kinds();
    print_cpu(o->cpumask);
    ag_out_flush();
    err = ag_open(&model, &ctx, o);
    if (err >= 0)
        print_model(model, ctx);
    argus_close(&ctx);
    argus_model_close(&model);
    return ag_out_flush() < 0 || err < 0 ? AG_EXIT_FAILED : AG_EXIT_OK;
}

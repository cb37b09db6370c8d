/*
 * Stage numbers against a reference. See stages.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/parity/stages.h"

#include <math.h>
#include <string.h>

/* Sums of one relative RMS error. */
typedef struct Rms {
    double diff, ref;
} Rms;

/* Add recorded values against ours; a list longer than n is an error of its own. */
static void add_values(Rms *r, const json_t *list, const float *ours, int n)
{
    const json_t *v;
    size_t i;

    if (json_array_size(list) > (size_t)n)
        r->diff = INFINITY;
    json_array_foreach(list, i, v) {
        double ref = json_number_value(v);
        if (i < (size_t)n) {
            r->diff += (ours[i] - ref) * (ours[i] - ref);
            r->ref += ref * ref;
        }
    }
}

static double rms(const Rms *r)
{
    return r->ref > 0 ? sqrt(r->diff / r->ref) : INFINITY;
}

static void worse(AgStages *s, int stage, double error)
{
    if (!(error <= s->error[stage])) /* NAN is worse than anything */
        s->error[stage] = error;
}

/* {mean, std, first[, last]} of [rows, cols]. */
static double layer_error(const json_t *ref, const float *data, int rows, int cols)
{
    double n = (double)rows * cols, mean = 0, var = 0, error, e;
    double ref_mean = json_number_value(json_object_get(ref, "mean"));
    double ref_std = json_number_value(json_object_get(ref, "std"));
    Rms r = {0};

    for (int64_t i = 0; i < (int64_t)rows * cols; i++)
        mean += data[i];
    mean /= n;
    for (int64_t i = 0; i < (int64_t)rows * cols; i++)
        var += (data[i] - mean) * (data[i] - mean);
    add_values(&r, json_object_get(ref, "first"), data, cols);
    add_values(&r, json_object_get(ref, "last"), data + (int64_t)(rows - 1) * cols, cols);
    error = rms(&r);
    if (!((e = fabs(mean - ref_mean) / ref_std) <= error))
        error = e;
    if (!((e = fabs(sqrt(var / n) - ref_std) / ref_std) <= error))
        error = e;
    return error;
}

static void compare_values(AgStages *s, int stage, const char *first, const char *last,
                           const float *data, int rows, int cols)
{
    Rms r = {0};

    add_values(&r, json_object_get(s->c->stages, first), data, cols);
    if (last)
        add_values(&r, json_object_get(s->c->stages, last), data + (int64_t)(rows - 1) * cols,
                   cols);
    worse(s, stage, rms(&r));
}

/* Layers report in order, once each; later tiles and passes are passed over. */
static void compare_layer(AgStages *s, int stage, const char *field, int layer, const float *data,
                          int rows, int cols)
{
    const json_t *ref = json_object_get(s->c->stages, field);

    if (json_is_array(ref))
        ref = json_array_get(ref, (size_t)layer);
    if (ref && (unsigned)layer == s->seen[stage])
        worse(s, stage, layer_error(ref, data, rows, cols));
}

static void compare_logits(AgStages *s, const float *data, int n)
{
    const json_t *v;
    size_t i;
    double d;
    Rms sums = {0};

    s->logit = 0;
    json_array_foreach(s->c->top_ids, i, v) {
        int pair = json_is_array(v);
        json_int_t id = json_integer_value(pair ? json_array_get(v, 0) : v);
        double ref = json_number_value(pair ? json_array_get(v, 1)
                                            : json_array_get(s->c->top_logits, i));
        d = id >= 0 && id < n ? fabs(data[id] - ref) : INFINITY;
        if (!(d <= s->logit))
            s->logit = d;
        sums.diff += d * d;
        sums.ref += ref * ref;
    }
    if (s->c->logits && s->c->n_logit != (size_t)n)
        s->logit = INFINITY;
    for (i = 0; s->c->logits && i < s->c->n_logit && i < (size_t)n; i++) {
        d = fabs((double)data[i] - s->c->logits[i]);
        if (!(d <= s->logit))
            s->logit = d;
        sums.diff += d * d;
        sums.ref += (double)s->c->logits[i] * s->c->logits[i];
    }
    if (s->c->logits || s->c->top_ids) /* of choices none are stored */
        s->logit_rms = rms(&sums);
}

static void on_stage(void *opaque, const char *stage, int layer, const float *data, int rows,
                     int cols)
{
    static const char *const names[AG_N_STAGE] = {"patch_embedding", "embeddings", "vision_layer",
                                                  "connector", "text_embedding", "text_layer"};
    AgStages *s = opaque;
    int i = 0;

    if (s->digest)
        ag_sha256_add(&s->sha, data, (size_t)rows * (size_t)cols * sizeof(*data));
    if (!strcmp(stage, "logits")) {
        if (!(s->logit >= 0))
            compare_logits(s, data, cols);
        return;
    }
    while (i < AG_N_STAGE && strcmp(stage, names[i]))
        i++;
    if (i == AG_N_STAGE || !s->c->stages)
        return;
    if (i == AG_STAGE_VISION)
        compare_layer(s, i, "vision_layers", layer, data, rows, cols);
    else if (i == AG_STAGE_TEXT)
        compare_layer(s, i, "text_layers", layer, data, rows, cols);
    else if (i == AG_STAGE_TOKEN)
        compare_layer(s, i, "text_embedding", 0, data, rows, cols);
    else if (!s->seen[i] && i == AG_STAGE_CONNECTOR)
        compare_values(s, i, "connector_first", "connector_last", data, rows, cols);
    else if (!s->seen[i])
        compare_values(s, i, names[i], NULL, data, rows, cols);
    s->seen[i]++;
}

/* Layers that the reference has of a stage, 0 if none. */
static unsigned expected(const AgRefCase *c, int stage)
{
    static const char *const fields[AG_N_STAGE] = {"patch_embedding", "embeddings", "vision_layers",
                                                   "connector_first", "text_embedding",
                                                   "text_layers"};
    const json_t *ref = json_object_get(c->stages, fields[stage]);

    if (stage == AG_STAGE_VISION || stage == AG_STAGE_TEXT)
        return (unsigned)json_array_size(ref);
    return ref != NULL;
}

void ag_stages_init(AgStages *s, const AgRefCase *c, int digest)
{
    *s = (AgStages){.c = c, .digest = digest, .logit = c->top_ids ? -1 : NAN,
                    .logit_rms = NAN};
    for (int i = 0; i < AG_N_STAGE; i++)
        s->error[i] = expected(c, i) ? 0 : NAN;
    ag_sha256_init(&s->sha);
}

AgTap ag_stages_tap(AgStages *s)
{
    return (AgTap){.fn = on_stage, .opaque = s};
}

void ag_stages_finish(AgStages *s)
{
    for (int i = 0; i < AG_N_STAGE; i++)
        if (s->seen[i] < expected(s->c, i))
            s->error[i] = -1;
}

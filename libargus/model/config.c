/*
 * Reading and checking of config.json, preprocessor_config.json and
 * generation_config.json. Defaults are those of the classes Idefics3Config,
 * Idefics3VisionConfig, LlamaConfig and Idefics3ImageProcessor in transformers
 * 4.54.0 (the SmolVLM classes have the same).
 *
 * These files are untrusted: a number that passes here can be multiplied and
 * allocated without a second thought, so the ranges are narrow.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/model/config.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define MAX_WIDTH 16384    /* of a hidden layer */
#define MAX_LAYER 512
#define MAX_HEAD 256
#define MAX_VOCAB 1000000
#define MAX_POS 1000000
#define MAX_EDGE 4096      /* the processor's own cap on a picture's side */
#define MAX_GRID 6         /* <row_r_col_c> markers exist for 1..6 */
#define MAX_TILE_TOKEN 16384

/* One JSON object that is being read. The first problem sticks. */
typedef struct Reader {
    const json_t *obj;  /* NULL: the object is absent, defaults are used */
    const char *file;   /* for messages */
    const char *prefix; /* "vision_config." or "" */
    const ArgusLogger *log;
    int err;
} Reader;

static Reader sub(const Reader *r, const char *key, const char *prefix)
{
    Reader s = *r;
    const json_t *v = json_object_get(r->obj, key);

    s.prefix = prefix;
    s.obj = json_is_object(v) ? v : NULL;
    if (v && !json_is_object(v) && !json_is_null(v) && s.err >= 0)
        s.err = ag_fail(r->log, ARGUS_ERR_FORMAT, "%s: %s%s: expected an object", r->file,
                        r->prefix, key);
    return s;
}

/* A number of any spelling: 512, 512.0, 5.12e2. */
static int number(Reader *r, const char *key, double def, double *out)
{
    const json_t *v = json_object_get(r->obj, key);

    *out = def;
    if (r->err < 0 || !v || json_is_null(v))
        return 0;
    if (!json_is_number(v)) {
        r->err = ag_fail(r->log, ARGUS_ERR_FORMAT, "%s: %s%s: expected a number", r->file,
                         r->prefix, key);
        return 0;
    }
    *out = json_number_value(v);
    return 1;
}

static int integer(Reader *r, const char *key, int def, int lo, int hi)
{
    double d;

    number(r, key, def, &d);
    if (r->err < 0)
        return def;
    if (d >= lo && d <= hi && d == floor(d))
        return (int)d;
    r->err = ag_fail(r->log, ARGUS_ERR_FORMAT,
                     "%s: %s%s: expected an integer from %d to %d, found %.17g", r->file,
                     r->prefix, key, lo, hi, d);
    return def;
}

static double real(Reader *r, const char *key, double def, double lo, double hi)
{
    double d;

    number(r, key, def, &d);
    if (r->err >= 0 && !(d >= lo && d <= hi)) {
        r->err = ag_fail(r->log, ARGUS_ERR_FORMAT,
                         "%s: %s%s: expected a number from %g to %g, found %g", r->file, r->prefix,
                         key, lo, hi, d);
        return def;
    }
    return d;
}

static int boolean(Reader *r, const char *key, int def)
{
    const json_t *v = json_object_get(r->obj, key);

    if (r->err < 0 || !v || json_is_null(v))
        return def;
    if (!json_is_boolean(v)) {
        r->err = ag_fail(r->log, ARGUS_ERR_FORMAT, "%s: %s%s: expected true or false", r->file,
                         r->prefix, key);
        return def;
    }
    return json_is_true(v);
}

/* The string must be absent or one of two. */
static void word(Reader *r, const char *key, const char *a, const char *b)
{
    const json_t *v = json_object_get(r->obj, key);
    const char *s = json_is_string(v) ? json_string_value(v) : NULL;

    if (r->err < 0 || !v || json_is_null(v) || (s && (!strcmp(s, a) || (b && !strcmp(s, b)))))
        return;
    r->err = ag_fail(r->log, s ? ARGUS_ERR_UNSUPPORTED : ARGUS_ERR_FORMAT,
                     "%s: %s%s: expected %s%s%s, found %s", r->file, r->prefix, key, a,
                     b ? " or " : "", b ? b : "", s ? s : "something else than a string");
}

/* A switch that the engine can't follow when it has another value. */
static void must_be(Reader *r, const char *key, int value)
{
    if (boolean(r, key, value) != value && r->err >= 0)
        r->err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED, "%s: %s%s: only %s is supported", r->file,
                         r->prefix, key, value ? "true" : "false");
}

static void fault(Reader *r, int err, const char *what, int expected, int found)
{
    if (r->err >= 0)
        r->err = ag_fail(r->log, err, "%s: %s%s: expected %d, found %d", r->file, r->prefix, what,
                         expected, found);
}

static void multiple(Reader *r, const char *what, int value, const char *of, int unit)
{
    if (r->err >= 0 && value % unit)
        r->err = ag_fail(r->log, ARGUS_ERR_FORMAT,
                         "%s: %s%s: expected a multiple of %s = %d, found %d", r->file, r->prefix,
                         what, of, unit, value);
}

static void head_dim(Reader *r, int dim)
{
    if (r->err >= 0 && (dim < 16 || dim > 128 || dim % 8))
        r->err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED,
                         "%s: %shead_dim: expected a multiple of 8 from 16 to 128, found %d",
                         r->file, r->prefix, dim);
}

static int read_vision(AgConfig *c, Reader *r)
{
    c->d_vis = integer(r, "hidden_size", 1152, 1, MAX_WIDTH);
    c->d_vis_ff = integer(r, "intermediate_size", 3072, 1, 4 * MAX_WIDTH);
    c->n_vis_layer = integer(r, "num_hidden_layers", 12, 1, MAX_LAYER);
    c->n_vis_head = integer(r, "num_attention_heads", 16, 1, MAX_HEAD);
    c->tile = integer(r, "image_size", 224, 1, MAX_EDGE);
    c->patch = integer(r, "patch_size", 32, 1, MAX_EDGE);
    c->vis_eps = (float)real(r, "layer_norm_eps", 1e-6, 1e-12, 1);
    int channels = integer(r, "num_channels", 3, 1, MAX_WIDTH);
    word(r, "hidden_act", "gelu_pytorch_tanh", NULL);
    if (channels != 3)
        fault(r, ARGUS_ERR_UNSUPPORTED, "num_channels", 3, channels);
    multiple(r, "hidden_size", c->d_vis, "num_attention_heads", c->n_vis_head);
    multiple(r, "image_size", c->tile, "patch_size", c->patch);
    head_dim(r, c->d_vis / c->n_vis_head);
    c->n_patch = (c->tile / c->patch) * (c->tile / c->patch);
    if (r->err >= 0 && c->n_patch > MAX_TILE_TOKEN)
        r->err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED,
                         "%s: %spatch_size: expected at most %d patches a tile, found %d",
                         r->file, r->prefix, MAX_TILE_TOKEN, c->n_patch);
    return r->err;
}

static int read_text(AgConfig *c, Reader *r, int top_tied)
{
    const json_t *scaling = json_object_get(r->obj, "rope_scaling");

    /* LlamaConfig has eps 1e-6; without a text_config the family sets 1e-5 itself. */
    c->txt_eps = (float)real(r, "rms_norm_eps", r->obj ? 1e-6 : 1e-5, 1e-12, 1);
    c->d_txt = integer(r, "hidden_size", 4096, 1, MAX_WIDTH);
    c->d_ff = integer(r, "intermediate_size", 11008, 1, 4 * MAX_WIDTH);
    c->n_layer = integer(r, "num_hidden_layers", 32, 1, MAX_LAYER);
    c->n_head = integer(r, "num_attention_heads", 32, 1, MAX_HEAD);
    c->n_kv = integer(r, "num_key_value_heads", c->n_head, 1, MAX_HEAD);
    c->vocab = integer(r, "vocab_size", 32000, 1, MAX_VOCAB);
    c->n_pos = integer(r, "max_position_embeddings", 2048, 1, MAX_POS);
    c->rope_theta = real(r, "rope_theta", 10000, 1, 1e12);
    c->tie_embeddings = boolean(r, "tie_word_embeddings", top_tied);
    word(r, "hidden_act", "silu", NULL);
    word(r, "model_type", "llama", "vllama3");
    must_be(r, "attention_bias", 0);
    must_be(r, "mlp_bias", 0);
    must_be(r, "qk_layer_norms", 0);
    must_be(r, "use_resampler", 0);
    must_be(r, "rope_interleaved", 0);
    if (r->err >= 0 && scaling && !json_is_null(scaling))
        r->err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED,
                         "%s: %srope_scaling: expected null, found a value", r->file,
                         r->prefix);
    if (!json_is_integer(json_object_get(r->obj, "head_dim")) &&
        !json_is_real(json_object_get(r->obj, "head_dim")))
        multiple(r, "hidden_size", c->d_txt, "num_attention_heads", c->n_head);
    c->head_dim = integer(r, "head_dim", c->d_txt / c->n_head, 1, MAX_WIDTH);
    head_dim(r, c->head_dim);
    multiple(r, "num_attention_heads", c->n_head, "num_key_value_heads", c->n_kv);
    return r->err;
}

/* Connector: what the vision tower gives must fold into whole tokens. */
static int read_connector(AgConfig *c, Reader *r)
{
    c->shuffle = integer(r, "scale_factor", 2, 1, 64);
    c->image_token_id = integer(r, "image_token_id", 128257, 0, MAX_VOCAB);
    if (r->err >= 0)
        multiple(r, "vision_config.image_size / patch_size", c->tile / c->patch, "scale_factor",
                 c->shuffle);
    c->n_img_tok = c->n_patch / (c->shuffle * c->shuffle);
    if (r->err >= 0 && c->image_token_id >= c->vocab)
        r->err = ag_fail(r->log, ARGUS_ERR_FORMAT,
                         "%s: image_token_id: expected an id below vocab_size = %d, found %d",
                         r->file, c->vocab, c->image_token_id);
    return r->err;
}

/* mean or std: three numbers, or one for all. */
static void triple(Reader *r, const char *key, float out[3], double lo)
{
    const json_t *v = json_object_get(r->obj, key);
    int ok = 1;

    for (int i = 0; i < 3; i++)
        out[i] = 0.5f;
    if (r->err < 0 || !v || json_is_null(v))
        return;
    ok = json_is_number(v) || (json_is_array(v) && json_array_size(v) == 3);
    for (size_t i = 0; ok && i < 3; i++) {
        const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;
        double d = json_number_value(x);
        ok = json_is_number(x) && d >= lo && d <= 1000;
        out[i] = (float)d;
    }
    if (!ok)
        r->err = ag_fail(r->log, ARGUS_ERR_FORMAT, "%s: %s: expected 3 numbers from %g to 1000",
                         r->file, key, lo);
}

static int read_processor(AgConfig *c, Reader *r)
{
    Reader size = sub(r, "size", "size."), most = sub(r, "max_image_size", "max_image_size.");

    r->err = AG_MIN(size.err, most.err);
    size.err = most.err = r->err;
    /* A file without the key means four tiles on the long side, as the class has it. */
    c->longest_edge = integer(&size, "longest_edge", AG_MIN(4 * c->tile, MAX_EDGE), 1, MAX_EDGE);
    most.err = size.err;
    int tile = integer(&most, "longest_edge", c->tile, 1, MAX_EDGE);
    if (tile != c->tile && most.err >= 0)
        most.err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED,
                           "%s: max_image_size.longest_edge: expected "
                           "%d, the vision_config.image_size of config.json, found %d", r->file,
                           c->tile, tile);
    r->err = most.err;
    c->do_split = boolean(r, "do_image_splitting", 1);
    c->rescale = real(r, "rescale_factor", 1 / 255., 1e-6, 1);
    triple(r, "image_mean", c->mean, 0);
    triple(r, "image_std", c->std, 1e-6);
    int resample = integer(r, "resample", 1, 0, 5);
    if (resample != 1)
        fault(r, ARGUS_ERR_UNSUPPORTED, "resample", 1, resample);
    must_be(r, "do_resize", 1);
    must_be(r, "do_rescale", 1);
    must_be(r, "do_normalize", 1);
    if (r->err >= 0 && c->longest_edge > MAX_GRID * c->tile)
        r->err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED,
                         "%s: size.longest_edge: expected at most %d "
                         "tiles of %d pixels, found %d pixels", r->file, MAX_GRID, c->tile,
                         c->longest_edge);
    return r->err;
}

int ag_config_add_stop(AgConfig *c, int id)
{
    for (int i = 0; i < c->n_stop; i++)
        if (c->stop_id[i] == id)
            return 0;
    if (c->n_stop == AG_MAX_STOP)
        return ARGUS_ERR_UNSUPPORTED;
    c->stop_id[c->n_stop++] = id;
    return 0;
}

/* Ids of eos_token_id: an integer or a list. The last place of stop_id is kept
 * for <end_of_utterance>. @return 1 if the key says something. */
static int read_eos(AgConfig *c, Reader *r)
{
    const json_t *v = json_object_get(r->obj, "eos_token_id");
    size_t n = json_is_array(v) ? json_array_size(v) : 1;

    if (r->err < 0 || !v || json_is_null(v) || !n)
        return 0;
    if (n >= AG_MAX_STOP) {
        r->err = ag_fail(r->log, ARGUS_ERR_UNSUPPORTED,
                         "%s: %seos_token_id: expected at most %d ids, found %zu", r->file,
                         r->prefix, AG_MAX_STOP - 1, n);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;
        double d = json_is_number(x) ? json_number_value(x) : -1;
        if (!(d >= 0 && d < c->vocab && d == floor(d))) {
            r->err = ag_fail(r->log, ARGUS_ERR_FORMAT, "%s: %seos_token_id: expected ids below "
                             "vocab_size = %d, found %g", r->file, r->prefix, c->vocab, d);
            return 1;
        }
        ag_config_add_stop(c, (int)d);
    }
    return 1;
}

/* Parses a file of the model. @return 0 and *root; ENOENT quietly if it is
 * optional and absent. name receives the path for messages. */
static int parse(json_t **root, const AgSource *src, const char *file, int optional, char *name,
                 size_t size, const ArgusLogger *log)
{
    AgBlob b;
    json_error_t e;
    int err = ag_source_open(&b, src, file, optional, log);

    ag_source_name(src, file, name, size);
    *root = NULL;
    if (err < 0)
        return err;
    *root = json_loadb((const char *)b.data, b.size, 0, &e);
    ag_blob_free(&b);
    if (!*root && json_error_code(&e) == json_error_out_of_memory)
        return ag_nomem(log, name);
    if (!*root)
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected JSON, found: %s (line %d, column %d)",
                       name, e.text, e.line, e.column);
    if (!json_is_object(*root)) {
        json_decref(*root);
        *root = NULL;
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected a JSON object", name);
    }
    return 0;
}

/* eos of generation_config.json, else of config.json, else of its text_config. */
static int read_stop(AgConfig *c, const AgSource *src, Reader *top, Reader *text)
{
    char name[1024];
    json_t *root;
    int err = parse(&root, src, "generation_config.json", 1, name, sizeof(name), top->log);

    if (err < 0 && err != ARGUS_ERR(ENOENT))
        return err;
    Reader gen = {root, name, "", top->log, 0};
    if (!read_eos(c, &gen) && !read_eos(c, top))
        read_eos(c, text);
    json_decref(root);
    return AG_MIN(gen.err, AG_MIN(top->err, text->err));
}

static int read_all(AgConfig *c, const AgSource *src, const json_t *root, const char *name,
                    const ArgusLogger *log)
{
    Reader top = {root, name, "", log, 0};
    char file[1024];
    json_t *pre;

    if (!json_object_get(root, "model_type"))
        return ag_fail(log, ARGUS_ERR_UNSUPPORTED,
                       "%s: model_type: expected idefics3 or smolvlm, found none", name);
    word(&top, "model_type", "idefics3", "smolvlm");
    int tied = boolean(&top, "tie_word_embeddings", 0);
    Reader vision = sub(&top, "vision_config", "vision_config.");
    Reader text = sub(&top, "text_config", "text_config.");
    int err = AG_MIN(vision.err, text.err);
    if (err < 0 || (err = read_vision(c, &vision)) < 0 || (err = read_text(c, &text, tied)) < 0 ||
        (err = read_connector(c, &top)) < 0 || (err = read_stop(c, src, &top, &text)) < 0)
        return err;
    err = parse(&pre, src, "preprocessor_config.json", 1, file, sizeof(file), log);
    if (err < 0 && err != ARGUS_ERR(ENOENT))
        return err;
    Reader proc = {pre, file, "", log, 0};
    err = read_processor(c, &proc);
    json_decref(pre);
    return err;
}

int ag_config_load(AgConfig *c, const AgSource *src, const ArgusLogger *log)
{
    char name[1024];
    json_t *root;
    AgConfig all = {0};
    int err = parse(&root, src, "config.json", 0, name, sizeof(name), log);

    if (err == ARGUS_ERR(ENOENT))
        return ARGUS_ERR_NO_MODEL;
    if (err < 0)
        return err;
    err = read_all(&all, src, root, name, log);
    json_decref(root);
    if (err >= 0)
        *c = all;
    return AG_MIN(err, 0);
}

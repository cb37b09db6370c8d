/*
 * libargus: describe pictures and video with a small vision-language model
 * (SmolVLM family) on an ordinary CPU.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 *
 * Two seams. argus_describe() takes pixels and text and gives a caption.
 * ArgusTrack takes the times of a stream's frames, says which of them it wants
 * to see, and gives timed captions (cues) in order. ArgusWriter turns cues
 * into the bytes of a subtitle or JSON file.
 *
 * Objects and their lifetimes:
 *
 *     ArgusModel   weights and tokenizer, read-only, shared by contexts
 *     ArgusContext one caller's working memory and threads, holds a model
 *     ArgusTrack   one stream, holds a context
 *     ArgusWriter  one output file, needs none of the others
 *     ArgusCaptioner closed captions of one stream, needs none of the others
 *
 * Conventions. Every function that returns int gives >= 0 for success and a
 * negative code for failure: ARGUS_ERR(errno value) or one of ArgusError. The
 * library never prints, never exits; what went wrong, with the name of the
 * file, what was expected and what was found, goes to the logger that the
 * caller passed. Strings are UTF-8. Output pointers are written on success
 * only unless said otherwise. The x_close() functions take the address of the
 * handle, accept NULL handles and set them to NULL.
 */
#ifndef ARGUS_H
#define ARGUS_H

#include <stddef.h>
#include <stdint.h>

#include "version.h"

#if defined(__GNUC__) && __GNUC__ >= 4
#define ARGUS_API __attribute__((visibility("default")))
#else
#define ARGUS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------ */
/* Errors and messages                                                       */

/** Negative code of an errno value, as ARGUS_ERR(ENOMEM). */
#define ARGUS_ERR(e) (-(e))

/** Codes that errno has no word for. */
enum ArgusError {
    ARGUS_ERR_FORMAT = -0x10001,      /**< a file is damaged, cut, or not what it should be */
    ARGUS_ERR_UNSUPPORTED = -0x10002, /**< valid, but of a kind this build can't handle */
    ARGUS_ERR_BUDGET = -0x10003,      /**< prompt and answer do not fit into the context */
    ARGUS_ERR_CANCELLED = -0x10004,   /**< argus_cancel() was called */
    ARGUS_ERR_NO_MODEL = -0x10005,    /**< no model of that name or at that place */
};

/** What a code means, in static memory for ArgusError codes and in @p buf for
 *  errno codes. Thread-safe. @return buf or a static string, never NULL. */
ARGUS_API const char *argus_strerror(int err, char *buf, size_t size);

enum ArgusLogLevel {
    ARGUS_LOG_ERROR,
    ARGUS_LOG_WARNING,
    ARGUS_LOG_INFO,
    ARGUS_LOG_DEBUG,
};

/** Where messages go. @p message is one line without a newline. It may be
 *  called from any thread the object uses. A NULL callback drops messages. */
typedef struct ArgusLogger {
    void (*callback)(void *opaque, int level, const char *message);
    void *opaque;
} ArgusLogger;

/** ARGUS_VERSION_INT of the library in use. */
ARGUS_API unsigned argus_version(void);
ARGUS_API const char *argus_version_string(void);
/** Options the library was configured with, for bug reports. */
ARGUS_API const char *argus_configuration(void);

/* ------------------------------------------------------------------------ */
/* CPU                                                                       */

/** Instruction sets that kernels exist for. AVX2 means AVX2, FMA, BMI2;
 *  AVX512 means F, BW, DQ, VL. NEON and what follows it are AArch64's; I8MM and
 *  BF16 (its 16-bit products) are only reported: no kernel uses them. */
enum ArgusCpu {
    ARGUS_CPU_AVX2 = 1 << 0,
    ARGUS_CPU_AVX512 = 1 << 1,
    ARGUS_CPU_AVX512_VNNI = 1 << 2,
    ARGUS_CPU_AVX_VNNI = 1 << 3,
    ARGUS_CPU_NEON = 1 << 8,
    ARGUS_CPU_DOTPROD = 1 << 9,
    ARGUS_CPU_I8MM = 1 << 10,
    ARGUS_CPU_BF16 = 1 << 11,
};
#define ARGUS_CPU_ALL (~0u)

/** Instruction sets found on this machine. Thread-safe. */
ARGUS_API unsigned argus_cpu_flags(void);
/** Cores this process may use (affinity mask and cgroup quota), >= 1. */
ARGUS_API int argus_cpu_count(void);
/** Mask of a name: "c", "avx2", "avx512", "neon", "all" or a number.
 *  @return 0 and *mask, or ARGUS_ERR(EINVAL). */
ARGUS_API int argus_cpu_mask(const char *name, unsigned *mask);
/** Name of the kernel tier that a mask leads to on this machine: "c", "avx2"... */
ARGUS_API const char *argus_cpu_tier(unsigned mask);

/** What the machine can do at best, for benchmarks: floating-point operations
 *  a second in registers with the instruction sets of @p mask, and bytes a
 *  second read from memory, on @p threads threads, in a fraction of a second.
 *  @p mean (may be NULL): what it did on average, less where others are busy too. 0 on failure. */
ARGUS_API double argus_peak_flops(unsigned mask, int threads, double *mean);
ARGUS_API double argus_peak_bandwidth(unsigned mask, int threads, double *mean);

/* ------------------------------------------------------------------------ */
/* Model                                                                     */

/** Weights, configuration and tokenizer. Immutable once open: any number of
 *  threads and contexts may use one model. */
typedef struct ArgusModel ArgusModel;

/** How products with weights are computed. */
enum ArgusPrecision {
    ARGUS_PRECISION_EXACT, /**< float32: the reference's tokens (default) */
    /** int8 weights and inputs of all layers and of the head: faster, half the
     *  memory, words may differ. The weights are made when a model is opened for
     *  the first time and kept in $ARGUS_CACHE_DIR, $XDG_CACHE_HOME/argus or
     *  ~/.cache/argus; without a cache (the first is "", or none can be written)
     *  they are made each time and take memory. */
    ARGUS_PRECISION_Q8,
};

/** "exact" or "q8". */
ARGUS_API const char *argus_precision_name(int precision);

typedef struct ArgusModelSettings {
    ArgusLogger logger;
    /** Directory, or name to look up; NULL or "" = $ARGUS_MODEL, else
     *  smolvlm-256m if it can be found, else the embedded argus-tiny. */
    const char *model;
    /** Instruction sets that may be used, ARGUS_CPU_ALL by default. */
    unsigned cpumask;
    /** Patch positions of the vision tower: 0 as trained (default), 1 shifted as
     *  computed by transformers 4.55.0 to 4.57.6; to compare with texts made
     *  by those versions. */
    int shifted_positions;
    int precision; /**< enum ArgusPrecision */
} ArgusModelSettings;

ARGUS_API void argus_model_default_settings(ArgusModelSettings *s);

/**
 * Open a model. A model that is open already (same real path, same settings)
 * is shared: the same object comes back with one reference more. Thread-safe.
 *
 * @return 0; ARGUS_ERR_NO_MODEL if nothing was found (the message lists where
 *         it was looked for); ARGUS_ERR_FORMAT for damaged, cut or foreign
 *         files; ARGUS_ERR_UNSUPPORTED for another architecture or data type;
 *         ARGUS_ERR(ENOMEM) or the errno of a failed open/read.
 */
ARGUS_API int argus_model_open(ArgusModel **model, const ArgusModelSettings *s);
/** Give a reference back; the last one frees. Contexts hold their own. */
ARGUS_API void argus_model_close(ArgusModel **model);

typedef struct ArgusModelInfo {
    const char *name;       /**< name or last part of the path; lives as long as the model */
    const char *path;       /**< real path, or "(embedded)" */
    const char *sha256;     /**< of the weights' header, 64 hex digits: a fingerprint */
    const char *cpu_tier;   /**< kernels in use */
    int64_t n_params;
    int64_t mapped_bytes;   /**< weights, file-backed; those of the cache too */
    int d_vis, n_vis_layer, d_txt, n_txt_layer, vocab;
    int tile_size;          /**< side of a tile in pixels */
    int tokens_per_tile;    /**< image tokens of one tile, without markers */
    int n_pos;              /**< longest prompt plus answer, in tokens */
    int is_tiny;            /**< 1 for argus-tiny: knows drawn scenes only */
    int precision;          /**< enum ArgusPrecision */
    int64_t q8_bytes;       /**< int8 weights; 0 = none */
    int q8_mapped;          /**< 1 = they are in the cache, part of mapped_bytes; 0 = in memory */
} ArgusModelInfo;

ARGUS_API void argus_model_info(const ArgusModel *model, ArgusModelInfo *info);

/** Where argus_model_open() would take a model from, without opening it: a real
 *  path or "(embedded)" in *path, to be freed with argus_free(). The folder need
 *  not be complete. @return 0, ARGUS_ERR_NO_MODEL, ARGUS_ERR(ENOMEM). */
ARGUS_API int argus_model_find(const char *model, char **path, const ArgusLogger *log);

/* ------------------------------------------------------------------------ */
/* Manifests: models that are known, whether they are here or not            */

typedef struct ArgusManifestFile {
    const char *name;   /**< without a directory; letters, digits, - _ . */
    int64_t size;       /**< bytes */
    const char *sha256; /**< 64 lower-case hexadecimal digits */
    int needed;         /**< 0 = libargus does not read it */
} ArgusManifestFile;

typedef struct ArgusManifest {
    const char *name;
    const char *licence;
    const char *repo;     /**< ORG/NAME on the Hugging Face hub; NULL = not there */
    const char *revision; /**< commit, 40 hexadecimal digits; NULL without repo */
    const ArgusManifestFile *files; /**< n_file of them */
    int n_file;
} ArgusManifest;

/** The manifests, sorted by name; immutable, any number of threads may read. */
typedef struct ArgusManifests ArgusManifests;

/** Read all manifests (NAME.json): of $ARGUS_MANIFEST_PATH (directories separated by colons)
 *  when it is set, else of share/argus/models beside the program's bin/ and below the prefix
 *  and, for a program in its build tree, of the sources. The first of a name counts.
 *  @return 0; ARGUS_ERR_FORMAT for a bad manifest; ARGUS_ERR(ENOMEM), the errno of a read. */
ARGUS_API int argus_manifests_open(ArgusManifests **list, const ArgusLogger *log);
ARGUS_API void argus_manifests_close(ArgusManifests **list);
ARGUS_API int argus_manifests_count(const ArgusManifests *list);
/** One of them, owned by the list; NULL if index or name lead nowhere. */
ARGUS_API const ArgusManifest *argus_manifests_get(const ArgusManifests *list, int index);
ARGUS_API const ArgusManifest *argus_manifests_find(const ArgusManifests *list, const char *name);

/** Compare the file at @p path ("(embedded)/NAME": linked in) with its line of a
 *  manifest: the size, and with @p content the sha256 too. @return 0;
 *  ARGUS_ERR(ENOENT) without a message if there is none; ARGUS_ERR_FORMAT if it
 *  differs (the message says expected and found); the errno of a failed read. */
ARGUS_API int argus_manifest_check(const ArgusManifestFile *file, const char *path, int content,
                                   const ArgusLogger *log);

/* ------------------------------------------------------------------------ */
/* Context                                                                   */

/** Working memory and threads of one caller. One thread at a time may use a
 *  context; argus_cancel() may be called from any thread. */
typedef struct ArgusContext ArgusContext;

typedef struct ArgusSettings {
    ArgusLogger logger;
    int threads; /**< 0 = argus_cpu_count(), else 1..64 */
} ArgusSettings;

ARGUS_API void argus_default_settings(ArgusSettings *s);
/** Open a context on a model and take a reference to it.
 *  @return 0, ARGUS_ERR(EINVAL), ARGUS_ERR(ENOMEM), or the errno of thread creation. */
ARGUS_API int argus_open(ArgusContext **ctx, ArgusModel *model, const ArgusSettings *s);
ARGUS_API void argus_close(ArgusContext **ctx);
/** Make a running call return ARGUS_ERR_CANCELLED soon; the next call starts
 *  afresh. On a context whose track has a queue: all that waits in it ends so.
 *  Safe in any thread and in a signal handler. */
ARGUS_API void argus_cancel(ArgusContext *ctx);

/** Totals since the context was opened. Exact, so that tests can assert them. */
typedef struct ArgusStats {
    int64_t n_caption;         /**< prompts answered */
    int64_t n_tile;            /**< tiles that went through the vision tower */
    int64_t n_tile_reused;     /**< tiles whose embedding was known already */
    int64_t n_caption_reused;  /**< windows whose caption was known already */
    int64_t n_prompt;          /**< prompt tokens prefilled */
    int64_t n_prompt_reused;   /**< prompt tokens found in the KV cache */
    int64_t n_token;           /**< tokens generated */
    int64_t n_token_drafted;   /**< of these, tokens that the caption before had too and that
                                    cost no pass of their own */
    int64_t n_forward;         /**< forward passes of the text tower after prefill */
    int64_t n_alloc_decode;    /**< allocations inside the token loop: always 0 */
    int64_t us_preprocess, us_vision, us_prefill, us_decode; /**< wall time, microseconds */
    int64_t anon_bytes;        /**< working memory held by the context now */
    int64_t flops_vision, flops_prefill, flops_decode; /**< of matrix products and attention,
                                    a multiply-add is two; the same for any thread count */
    int64_t bytes_decode;      /**< weights and cache that the forward passes read */
} ArgusStats;

ARGUS_API void argus_stats(const ArgusContext *ctx, ArgusStats *stats);

/* ------------------------------------------------------------------------ */
/* One caption                                                               */

enum ArgusPixelFormat {
    ARGUS_RGB24, /**< R, G, B bytes */
    ARGUS_RGBA,  /**< R, G, B, A bytes; A is ignored, as the reference does */
    ARGUS_GRAY8, /**< one byte, used for all three channels */
};

/** Decoded pixels, owned by the caller. */
typedef struct ArgusImage {
    const uint8_t *data;  /**< top left pixel */
    ptrdiff_t stride;     /**< bytes from one row to the next; may be negative */
    int width, height;    /**< 1.. ; width * height <= 178956970 */
    int format;           /**< enum ArgusPixelFormat */
} ArgusImage;

enum ArgusPartKind {
    ARGUS_PART_TEXT,  /**< text, verbatim; never searched for special tokens */
    ARGUS_PART_IMAGE, /**< a picture */
    ARGUS_PART_TURN,  /**< begins a turn; text = role: "system", "user", "assistant" */
};

/** A prompt is an ordered list of parts. If the first part is not a TURN, a
 *  user turn is begun. An assistant turn for the answer is appended. */
typedef struct ArgusPart {
    int kind;                /**< enum ArgusPartKind */
    const char *text;        /**< TEXT, TURN */
    const ArgusImage *image; /**< IMAGE */
} ArgusPart;

enum ArgusFinish {
    ARGUS_FINISH_STOP,   /**< the model ended its answer */
    ARGUS_FINISH_LENGTH, /**< max_tokens reached */
    ARGUS_FINISH_STRING, /**< a stop string appeared */
    ARGUS_FINISH_EMPTY,  /**< the model ended at once: no text */
};

/** "stop", "length", "string" or "empty". */
ARGUS_API const char *argus_finish_name(int finish);

/** How an answer is decoded. All defaults from argus_decoding_default(). */
typedef struct ArgusDecoding {
    int max_tokens;           /**< [1, n_pos]; default 256 */
    int seeded;               /**< 1 = seed is set; sampling is refused without it */
    uint64_t seed;
    double temperature;       /**< [0, 100]; 0 = greedy */
    int top_k;                /**< [0, vocab]; 0 = off */
    double top_p;             /**< (0, 1]; 1 = off */
    double repetition_penalty;/**< (0, 100]; 1 = off */
    const char *const *stop;  /**< n_stop strings that end the answer; they are cut off */
    int n_stop;
    const char *const *choices; /**< n_choice answers to choose from; no free decoding */
    int n_choice;
} ArgusDecoding;

ARGUS_API void argus_decoding_default(ArgusDecoding *d);
/** Check ranges without a model. Messages name the option, the range and the
 *  value. @return 0 or ARGUS_ERR(EINVAL). */
ARGUS_API int argus_decoding_check(const ArgusDecoding *d, const ArgusLogger *log);

typedef struct ArgusRequest {
    const ArgusPart *parts;
    size_t n_part;
    int split;              /**< 1 = tiles and global view (default), 0 = one tile a picture */
    ArgusDecoding decoding;
    /** Called for each token with the text that became valid UTF-8 with it
     *  (maybe ""). A return value other than 0 cancels. May be NULL. */
    int (*on_token)(void *opaque, int id, const char *text);
    void *opaque;
} ArgusRequest;

ARGUS_API void argus_request_default(ArgusRequest *r);

/** An answer. Free with argus_caption_free(). */
typedef struct ArgusCaption {
    char *text;           /**< valid UTF-8, leading blank trimmed, special tokens dropped */
    int *ids;             /**< n_id generated ids, the end token included */
    float *logprobs;      /**< log-probability of each id */
    int n_id;
    double mean_logprob;  /**< over ids; 0 if there are none */
    int finish;           /**< enum ArgusFinish */
    int n_prompt;         /**< prompt tokens */
    int n_tile;           /**< tiles in the prompt */
    int choice;           /**< index of the chosen answer, -1 without choices */
    double choice_prob;   /**< its probability among the choices */
} ArgusCaption;

/**
 * Answer one prompt. The pictures are read during the call only.
 *
 * The budget (prompt tokens + max_tokens <= n_pos) is checked before any
 * picture is looked at.
 *
 * @return 0; ARGUS_ERR(EINVAL) for a bad request; ARGUS_ERR_BUDGET;
 *         ARGUS_ERR_CANCELLED; ARGUS_ERR(ENOMEM).
 */
ARGUS_API int argus_describe(ArgusContext *ctx, const ArgusRequest *r, ArgusCaption *out);
ARGUS_API void argus_caption_free(ArgusCaption *c);

/* ------------------------------------------------------------------------ */
/* Track: frames' times -> samples -> windows -> cues                        */

/**
 * One stream. One thread at a time.
 *
 * By default the calls do the work: argus_track_push() encodes the picture, the
 * sample that fills a window pays for its caption. With ArgusTrackSettings.queue a
 * thread of the track does it, in the same order and with the same results, while
 * the caller reads the next frames; argus_track_wants() waits when the queue is
 * full. From argus_track_open() to argus_track_close() the context then is the
 * track's: only argus_cancel() may be called on it, and argus_stats() after
 * argus_track_wait(). The logger is still called from the caller's thread alone.
 */
typedef struct ArgusTrack ArgusTrack;

typedef struct ArgusRational {
    int num, den;
} ArgusRational;

/** No time known. The value libav uses. */
#define ARGUS_NOPTS INT64_MIN

/** Where a track stopped, for one that goes on with the same stream. */
typedef struct ArgusTrackPosition {
    int valid;      /**< 0 = begin afresh: then nothing else counts */
    int64_t origin; /**< time of tick 0, ARGUS_NOPTS before the first */
    int64_t tick;   /**< number of the next tick */
    int64_t last;   /**< time of the last frame, ARGUS_NOPTS before the first */
    int64_t end;    /**< end of the last cue if no sample may come before it, or ARGUS_NOPTS */
    int64_t window; /**< number of the next window */
    int64_t sample; /**< samples taken */
} ArgusTrackPosition;

typedef struct ArgusTrackSettings {
    ArgusLogger logger;
    ArgusRational time_base;  /**< unit of all pts, seconds = pts * num / den */
    ArgusRational frame_rate; /**< nominal; 0/1 if unknown */
    ArgusRational fps;        /**< samples a second; 0/1 = every frame; default 1/1 */
    int window;               /**< samples a caption, >= 1; default 8 */
    int hop;                  /**< samples from one window to the next; 0 = window */
    int max_frames;           /**< stop sampling after so many; 0 = no limit */
    int64_t offset_us;        /**< added to all cue times */
    int split;                /**< 0 (default) one tile a frame, 1 as stills */
    int reuse;                /**< 1 (default): equal tiles and windows are not computed again */
    const char *prompt;       /**< question, NULL = plain captioning */
    const char *system;       /**< system turn, NULL = none */
    ArgusDecoding decoding;   /**< max_tokens 64 by default */
    int queue;                /**< samples that may wait for a thread that encodes and
                                   answers; 0 (default): the calls do it themselves */
    int live;                 /**< 1: argus_track_wants() never waits; samples for which the
                                   queue has no room are left out and counted */
    ArgusTrackPosition from;  /**< go on from there, in the same time_base; not valid by default */
} ArgusTrackSettings;

ARGUS_API void argus_track_default_settings(ArgusTrackSettings *s);
/** Check ranges without a model. @return 0 or ARGUS_ERR(EINVAL), message names
 *  the option, the range and the value. */
ARGUS_API int argus_track_check(const ArgusTrackSettings *s);

/** Open a track. @p ctx must outlive it; a context may serve several tracks
 *  in turn, one with a queue at a time. @return 0, ARGUS_ERR(EINVAL), ARGUS_ERR_BUDGET
 *  if a full window does not fit into the context, ARGUS_ERR(ENOMEM), or the errno of
 *  thread creation. */
ARGUS_API int argus_track_open(ArgusTrack **track, ArgusContext *ctx, const ArgusTrackSettings *s);
ARGUS_API void argus_track_close(ArgusTrack **track);

/**
 * Announce the next frame. Frames come in stream order, each once.
 *
 * @param pts      its time, or ARGUS_NOPTS (then counted from the last known
 *                 time at frame_rate)
 * @param duration its duration in time_base units, 0 if unknown
 * @return 1 if its pixels are wanted: argus_track_push() must follow;
 *         0 if not; < 0 on error.
 */
ARGUS_API int argus_track_wants(ArgusTrack *track, int64_t pts, int64_t duration);
/** Hand over the pixels of the frame that was just wanted. They are read
 *  during the call only. @p sar: sample aspect ratio to stretch to square,
 *  0/1 or 1/1 for none. */
ARGUS_API int argus_track_push(ArgusTrack *track, const ArgusImage *image, ArgusRational sar);
/** End of the stream, or of an enabled span, at @p end (ARGUS_NOPTS: unknown):
 *  closes the open window. The track can go on afterwards. */
ARGUS_API int argus_track_flush(ArgusTrack *track, int64_t end);
/** Change the question from the next window on. */
ARGUS_API int argus_track_set_prompt(ArgusTrack *track, const char *prompt);

/** A timed caption. The strings belong to the track and live until the next
 *  call on it. */
typedef struct ArgusCue {
    int64_t start, end;      /**< time_base units, end > start, offset not applied */
    ArgusRational time_base;
    int64_t offset_us;       /**< to be added; writers do */
    int64_t window;          /**< 0-based number of the window */
    int n_frame;             /**< samples in it */
    int n_token;
    double mean_logprob;
    int finish;              /**< enum ArgusFinish */
    const char *text;        /**< one caption; may be "" */
    const char *prompt;      /**< the question, "" = none; NULL: the writer's */
    int choice;              /**< -1 without choices */
    double choice_prob;
} ArgusCue;

/** Next finished cue. @return 1 and *cue, 0 if there is none yet, < 0 if the
 *  caption failed (the window is lost, the track goes on). */
ARGUS_API int argus_track_poll(ArgusTrack *track, ArgusCue *cue);
/** Cues whose times are known and that wait only for their text; 0 without a queue. */
ARGUS_API int argus_track_pending(const ArgusTrack *track);
/** Wait until the track's thread has done all it was given: argus_track_poll()
 *  then gives every cue that can be known. At once without a queue. */
ARGUS_API void argus_track_wait(ArgusTrack *track);

/** First pts of the window that is open (samples taken, cue not yet given),
 *  or ARGUS_NOPTS. Frames before it will not get another cue. */
ARGUS_API int64_t argus_track_open_start(const ArgusTrack *track);
/** Where the track is, after argus_track_flush(). */
ARGUS_API void argus_track_position(const ArgusTrack *track, ArgusTrackPosition *pos);
/** Samples taken so far. */
ARGUS_API int64_t argus_track_samples(const ArgusTrack *track);
/** Samples left out so far for want of room in the queue (live only). */
ARGUS_API int64_t argus_track_dropped(const ArgusTrack *track);

/** Milliseconds of a time, rounded half away from zero once, exactly. */
ARGUS_API int64_t argus_time_ms(int64_t pts, ArgusRational time_base, int64_t offset_us);

/* ------------------------------------------------------------------------ */
/* Writer: cues -> bytes                                                     */

/** One output. One thread at a time. */
typedef struct ArgusWriter ArgusWriter;

enum ArgusFormat {
    ARGUS_FORMAT_AUTO, /**< by the extension of the name */
    ARGUS_FORMAT_SRT,
    ARGUS_FORMAT_VTT,
    ARGUS_FORMAT_JSON,
    ARGUS_FORMAT_JSONL,
    ARGUS_FORMAT_TXT,
    ARGUS_FORMAT_FFMETA,
};

/** Format of a name ("srt") or of a path's extension ("a.srt").
 *  @return enum ArgusFormat, or ARGUS_ERR(EINVAL). */
ARGUS_API int argus_format_find(const char *name_or_path);
/** Names of all formats in order, NULL after the last. */
ARGUS_API const char *argus_format_name(int format);

/** Where bytes go. The functions return >= 0 or a negative error code, which
 *  the writer hands on. */
typedef struct ArgusStream {
    int (*write)(void *opaque, const void *data, size_t size);
    int (*flush)(void *opaque);                   /**< may be NULL */
    int (*seek)(void *opaque, int64_t offset);    /**< from the start; NULL for pipes */
    void *opaque;
} ArgusStream;

typedef struct ArgusWriterSettings {
    int format;               /**< enum ArgusFormat, not AUTO */
    int wrap;                 /**< columns a line, 0 = one line */
    int lines;                /**< lines a cue, 0 = no limit */
    int merge;                /**< 1 = join neighbours with equal text (SRT, VTT, TXT) */
    const char *model;        /**< provenance, may be NULL */
    const char *sha256;
    const char *prompt;
    ArgusRational fps;
    int window;
    const ArgusDecoding *decoding; /**< for the decode key; may be NULL */
    int precision;            /**< enum ArgusPrecision, for the decode key */
    const char *source;       /**< the video's name, "video" in JSON; NULL = not said */
} ArgusWriterSettings;

ARGUS_API void argus_writer_default_settings(ArgusWriterSettings *s);
/** Open and write the head. @return 0, ARGUS_ERR(EINVAL/ENOMEM), or the
 *  stream's error. */
ARGUS_API int argus_writer_open(ArgusWriter **w, const ArgusWriterSettings *s,
                                const ArgusStream *io);
/** Write one cue and flush: the output is complete and valid afterwards. */
ARGUS_API int argus_writer_cue(ArgusWriter *w, const ArgusCue *cue);
/** Write what is still due. @return 0 or the first error of the stream. */
ARGUS_API int argus_writer_finish(ArgusWriter *w);
/** Free, without writing. */
ARGUS_API void argus_writer_close(ArgusWriter **w);

/** One JSON object for a still's caption (malloc'd, free with argus_free()),
 *  keys image, text, confidence, tokens, finish, model, prompt. NULL if memory
 *  ran out. */
ARGUS_API char *argus_caption_json(const ArgusCaption *c, const char *image, const char *prompt,
                                   const ArgusModel *model);
/** One JSON object for a cue, as a line of jsonl without the newline. */
ARGUS_API char *argus_cue_json(const ArgusCue *cue, const ArgusWriterSettings *s);
ARGUS_API void argus_free(void *p);

/* ------------------------------------------------------------------------ */
/* Closed captions: texts -> CEA-608 byte pairs                              */

/** Closed captions of one stream: CEA-608, field 1, channel CC1, pop-on (loaded
 *  unseen, then shown at once). At most 4 rows of 32 characters, cut at a word;
 *  letters and signs that CEA-608 has not are transliterated, or are a "?". The
 *  caller sends one pair at a time, at most 30 a second; a caption of 32
 *  characters takes 24 pairs, one of 4 full rows 78 and more. One thread at a
 *  time. */
typedef struct ArgusCaptioner ArgusCaptioner;

/** @return 0 or ARGUS_ERR(ENOMEM). */
ARGUS_API int argus_captioner_open(ArgusCaptioner **t);
ARGUS_API void argus_captioner_close(ArgusCaptioner **t);
/** Load and show a text from the next pair on, instead of what is still to be
 *  sent. A text without visible characters clears the screen. */
ARGUS_API void argus_captioner_text(ArgusCaptioner *t, const char *text);
/** Clear the screen from the next pair on, instead of what is still to be sent. */
ARGUS_API void argus_captioner_clear(ArgusCaptioner *t);
/** Pairs to be sent until the last text is shown; 0 = it is, or was cleared. */
ARGUS_API int argus_captioner_loading(const ArgusCaptioner *t);
/** The next two bytes, with odd parity; 0x80 0x80 when nothing is to be sent.
 *  @return 1 or, for those, 0. */
ARGUS_API int argus_captioner_next(ArgusCaptioner *t, uint8_t pair[2]);

#ifdef __cplusplus
}
#endif

#endif /* ARGUS_H */

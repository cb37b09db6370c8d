/*
 * libav's functions, by way of pointers that are filled when an input needs them.
 *
 * Loading libavcodec and the hundred libraries that it brings takes as long as
 * opening a model. A program that describes a JPEG never pays for it: nothing of
 * libav is linked, ag_av_load() opens the libraries of the version whose headers
 * were compiled. The names below stand for the pointers, so that the sources read
 * as any other user of libav.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_MEDIA_LOAD_H
#define AG_TOOLS_MEDIA_LOAD_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* X(library, function) of all that is called */
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 100) /* 6.1 */
#define AG_AV_SIDE_DATA(X) X(AVCODEC, av_packet_side_data_get)
#else
#define AG_AV_SIDE_DATA(X) X(AVFORMAT, av_stream_get_side_data)
#endif
#define AG_AV_FUNCTIONS(X)                    \
    X(AVUTIL, av_dict_get)                    \
    X(AVUTIL, av_frame_alloc)                 \
    X(AVUTIL, av_frame_free)                  \
    X(AVUTIL, av_frame_get_side_data)         \
    X(AVUTIL, av_frame_unref)                 \
    X(AVUTIL, av_free)                        \
    X(AVUTIL, av_freep)                       \
    X(AVUTIL, av_get_pix_fmt_name)            \
    X(AVUTIL, av_color_transfer_name)         \
    X(AVUTIL, av_log_set_callback)            \
    X(AVUTIL, av_malloc)                      \
    X(AVUTIL, av_opt_set_int)                 \
    X(AVUTIL, av_pix_fmt_desc_get)            \
    X(AVUTIL, av_rescale_q)                   \
    X(AVUTIL, av_strdup)                      \
    X(AVUTIL, av_strerror)                    \
    X(AVCODEC, av_packet_alloc)               \
    X(AVCODEC, av_packet_free)                \
    X(AVCODEC, av_packet_unref)               \
    X(AVCODEC, avcodec_alloc_context3)        \
    X(AVCODEC, avcodec_find_decoder)          \
    X(AVCODEC, avcodec_flush_buffers)         \
    X(AVCODEC, avcodec_free_context)          \
    X(AVCODEC, avcodec_get_name)              \
    X(AVCODEC, avcodec_open2)                 \
    X(AVCODEC, avcodec_parameters_to_context) \
    X(AVCODEC, avcodec_receive_frame)         \
    X(AVCODEC, avcodec_send_packet)           \
    X(AVFORMAT, av_guess_frame_rate)          \
    X(AVFORMAT, av_guess_sample_aspect_ratio) \
    X(AVFORMAT, av_probe_input_buffer2)       \
    X(AVFORMAT, av_read_frame)                \
    X(AVFORMAT, avformat_alloc_context)       \
    X(AVFORMAT, avformat_close_input)         \
    X(AVFORMAT, avformat_find_stream_info)    \
    X(AVFORMAT, avformat_open_input)          \
    X(AVFORMAT, avformat_seek_file)           \
    X(AVFORMAT, avio_alloc_context)           \
    X(AVFORMAT, avio_closep)                  \
    X(AVFORMAT, avio_context_free)            \
    X(AVFORMAT, avio_open)                    \
    X(SWSCALE, sws_alloc_context)             \
    X(SWSCALE, sws_freeContext)               \
    X(SWSCALE, sws_getCoefficients)           \
    X(SWSCALE, sws_getColorspaceDetails)      \
    X(SWSCALE, sws_init_context)              \
    X(SWSCALE, sws_isSupportedInput)          \
    X(SWSCALE, sws_scale)                     \
    X(SWSCALE, sws_setColorspaceDetails)      \
    AG_AV_SIDE_DATA(X)

typedef struct AgAv {
#define AG_AV_POINTER(lib, name) __typeof__(name) *name;
    AG_AV_FUNCTIONS(AG_AV_POINTER)
#undef AG_AV_POINTER
} AgAv;

extern AgAv ag_av;

/* Opens the libraries, once; any thread. To be called before any of the
 * functions. @return NULL, or why it can't be done. */
const char *ag_av_load(void);

#ifndef AG_AV_OWN_NAMES
#define av_dict_get ag_av.av_dict_get
#define av_frame_alloc ag_av.av_frame_alloc
#define av_frame_free ag_av.av_frame_free
#define av_frame_get_side_data ag_av.av_frame_get_side_data
#define av_frame_unref ag_av.av_frame_unref
#define av_free ag_av.av_free
#define av_freep ag_av.av_freep
#define av_get_pix_fmt_name ag_av.av_get_pix_fmt_name
#define av_color_transfer_name ag_av.av_color_transfer_name
#define av_log_set_callback ag_av.av_log_set_callback
#define av_malloc ag_av.av_malloc
#define av_opt_set_int ag_av.av_opt_set_int
#define av_pix_fmt_desc_get ag_av.av_pix_fmt_desc_get
#define av_rescale_q ag_av.av_rescale_q
#define av_strdup ag_av.av_strdup
#define av_strerror ag_av.av_strerror
#define av_packet_alloc ag_av.av_packet_alloc
#define av_packet_free ag_av.av_packet_free
#define av_packet_unref ag_av.av_packet_unref
#define avcodec_alloc_context3 ag_av.avcodec_alloc_context3
#define avcodec_find_decoder ag_av.avcodec_find_decoder
#define avcodec_flush_buffers ag_av.avcodec_flush_buffers
#define avcodec_free_context ag_av.avcodec_free_context
#define avcodec_get_name ag_av.avcodec_get_name
#define avcodec_open2 ag_av.avcodec_open2
#define avcodec_parameters_to_context ag_av.avcodec_parameters_to_context
#define avcodec_receive_frame ag_av.avcodec_receive_frame
#define avcodec_send_packet ag_av.avcodec_send_packet
#define av_guess_frame_rate ag_av.av_guess_frame_rate
#define av_guess_sample_aspect_ratio ag_av.av_guess_sample_aspect_ratio
#define av_probe_input_buffer2 ag_av.av_probe_input_buffer2
#define av_read_frame ag_av.av_read_frame
#define avformat_alloc_context ag_av.avformat_alloc_context
#define avformat_close_input ag_av.avformat_close_input
#define avformat_find_stream_info ag_av.avformat_find_stream_info
#define avformat_open_input ag_av.avformat_open_input
#define avformat_seek_file ag_av.avformat_seek_file
#define avio_alloc_context ag_av.avio_alloc_context
#define avio_closep ag_av.avio_closep
#define avio_context_free ag_av.avio_context_free
#define avio_open ag_av.avio_open
#define sws_alloc_context ag_av.sws_alloc_context
#define sws_freeContext ag_av.sws_freeContext
#define sws_getCoefficients ag_av.sws_getCoefficients
#define sws_getColorspaceDetails ag_av.sws_getColorspaceDetails
#define sws_init_context ag_av.sws_init_context
#define sws_isSupportedInput ag_av.sws_isSupportedInput
#define sws_scale ag_av.sws_scale
#define sws_setColorspaceDetails ag_av.sws_setColorspaceDetails
#define av_packet_side_data_get ag_av.av_packet_side_data_get
#define av_stream_get_side_data ag_av.av_stream_get_side_data
#endif

#endif /* AG_TOOLS_MEDIA_LOAD_H */

FATE_ARGUS-$(call ALLYES, TESTSRC_FILTER NULL_MUXER WRAPPED_AVFRAME_ENCODER PIPE_PROTOCOL) += fate-filter-argus-srt
fate-filter-argus-srt: CMD = ffmpeg -lavfi "testsrc=s=320x240:r=25:d=5,argus=model=argus-tiny:fps=2:window=8:out=-" -f null -

FATE_ARGUS-$(call ALLYES, TESTSRC_FILTER COLOR_FILTER CONCAT_FILTER METADATA_FILTER NULL_MUXER WRAPPED_AVFRAME_ENCODER PIPE_PROTOCOL) += fate-filter-argus-late
fate-filter-argus-late: CMD = ffmpeg -lavfi "testsrc=s=320x240:r=10:d=2[a];color=red:s=320x240:r=10:d=2,setsar=1[b];[a][b]concat,argus=model=argus-tiny:fps=2:window=4:attach=late,metadata=print:key=lavfi.argus.caption:file=-" -f null -

FATE_ARGUS-$(call ALLYES, TESTSRC_FILTER METADATA_FILTER NULL_MUXER WRAPPED_AVFRAME_ENCODER PIPE_PROTOCOL) += fate-filter-argus-window
fate-filter-argus-window: CMD = ffmpeg -lavfi "testsrc=s=320x240:r=5:d=3,argus=model=argus-tiny:fps=2:window=4,metadata=print:key=lavfi.argus.end:file=-" -f null -

FATE_ARGUS-$(call ALLYES, TESTSRC_FILTER FRAMEMD5_MUXER RAWVIDEO_ENCODER PIPE_PROTOCOL) += fate-filter-argus-frames
fate-filter-argus-frames: CMD = framemd5 -lavfi "testsrc=s=161x121:r=5:d=2,argus=model=argus-tiny:window=1"

FATE_ARGUS-$(call ALLYES, TESTSRC_FILTER NULL_MUXER WRAPPED_AVFRAME_ENCODER PIPE_PROTOCOL) += fate-filter-argus-txt
fate-filter-argus-txt: CMD = ffmpeg -lavfi "testsrc=s=320x240:r=30:d=1.6,argus=model=argus-tiny:fps=5:window=3:out=-:format=txt" -f null -

FATE_FILTER-$(CONFIG_ARGUS_FILTER) += $(FATE_ARGUS-yes)
fate-filter-argus: $(FATE_ARGUS-yes)


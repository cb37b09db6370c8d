# Videos and other media in the argus program: clips from the ffmpeg that tools/ffmpeg.sh
# built, compared with the filter in it. Skipped without that, or without libavformat.

FATE_MEDIA := formats h264 hevc vp9 mjpeg outputs options times part rates rotate streams \
    damaged stop several refused closed stills progress

FATE_TESTS += $(FATE_MEDIA:%=media-%)
$(FATE_MEDIA:%=fate-media-%): fate-media-%: $(CLI) $(B)/tests/gen/mkpictures
	$(FATE_RUN) media-$* $(S)/tests/fate/media.sh $(B) $*

# vf_argus in the ffmpeg that tools/ffmpeg.sh built; skipped when there is none.

FATE_FILTER := mission transcode json burnt times clock sampling pixels convert rotate window attach hold sei seicodec seihevc cc cccodec \
    out stdout recipes empty options repeats live help timeline nopts command warnings reinit instances stop errors full hardware patch

FATE_TESTS += $(FATE_FILTER:%=filter-%)
$(FATE_FILTER:%=fate-filter-%): fate-filter-%:
	$(FATE_RUN) filter-$* $(S)/tests/fate/filter.sh $(B) $*

# vf_argus in the ffmpeg that tools/ffmpeg.sh built; skipped when there is none.

FATE_FILTER := mission sampling pixels convert rotate window attach sei seicodec cc cccodec out recipes empty options timeline nopts command \
    warnings reinit stop errors patch

FATE_TESTS += $(FATE_FILTER:%=filter-%)
$(FATE_FILTER:%=fate-filter-%): fate-filter-%:
	$(FATE_RUN) filter-$* $(S)/tests/fate/filter.sh $(B) $*

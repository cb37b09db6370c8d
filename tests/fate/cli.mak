# The argus program.

FATE_CLI := help version info captions windows several prompts json stream stdin \
    decoding sampling pictures lenient alpha usage values one-bad models full closed \
    pipe interrupt stats warning threads structure files replace

FATE_TESTS += $(FATE_CLI:%=cli-%)
$(FATE_CLI:%=fate-cli-%): fate-cli-%: $(CLI) $(B)/tests/gen/mkpictures
	$(FATE_RUN) cli-$* $(S)/tests/fate/cli.sh $(B) $*

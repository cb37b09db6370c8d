# make check-real: the same program and the same checks, with what is in the repository.

FATE_REAL := tiny other-model no-model
FATE_TESTS += $(FATE_REAL:%=real-%)
$(FATE_REAL:%=fate-real-%): fate-real-%: $(B)/tests/real/real
	$(FATE_RUN) real-$* $(S)/tests/fate/real.sh $(B) $*

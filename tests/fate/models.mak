# argus models, with a web server on loopback.

FATE_MODELS := list place verify usage good resume norange other-place no-length wrong-bytes wrong-size \
    status retry redirect mirror interrupt part repair bar

$(B)/tests/gen/httpd: $(B)/tests/gen/httpd.o
	$(SAY) LD tests/gen/httpd
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

FATE_TESTS += $(FATE_MODELS:%=models-%)
$(FATE_MODELS:%=fate-models-%): fate-models-%: $(CLI) $(B)/tests/gen/httpd
	$(FATE_RUN) models-$* $(S)/tests/fate/models.sh $(B) $*

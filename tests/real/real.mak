# The published SmolVLM-256M-Instruct against published facts: make check-real MODEL=DIR.

$(B)/tests/real/real.o: FLAGS = $(LIB_CFLAGS)
$(B)/tests/real/real: $(B)/tests/real/real.o $(LIB_A)
	$(SAY) LD tests/real/real
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# Without MODEL nothing was checked, so that is no success.
check-real: $(B)/tests/real/real
	$(Q)$(S)/tests/real/run.sh $(B) "$(MODEL)"
.PHONY: check-real

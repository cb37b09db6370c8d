# Parity with Hugging Face: make parity [SETS="argus-tiny synth-tiny synth-256m"]; further sets
# are prompts-argus-tiny, prompts-synth-tiny, choices-argus-tiny, shifted-argus-tiny, synth-500m.
# [CASES="still_640x480 ..."] [PRECISION=q8] [PARITY_FLAGS="--threads 2 --cpumask c"].

PROMPT_SETS := prompts-argus-tiny choices-argus-tiny shifted-argus-tiny prompts-synth-tiny
TINY_SETS := argus-tiny synth-tiny $(PROMPT_SETS)
SETS ?= $(TINY_SETS) synth-256m
CASES ?=
PARITY_FLAGS ?=
PRECISION ?= exact

PARITY_OBJ := $(patsubst %,$(B)/tests/%.o,parity/parity parity/refs parity/stages) $(B)/tools/formula.o
$(patsubst %,$(B)/tests/parity/%.o,parity refs stages): FLAGS = $(LIB_CFLAGS)
$(B)/tests/parity/parity: $(PARITY_OBJ) $(PICTURE_OBJ) $(LIB_A)
	$(SAY) LD tests/parity/parity
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PICTURE_LIBS) $(LIBS)

$(B)/tests/gen/synth_checkpoint: $(B)/tests/gen/synth_checkpoint.o
	$(SAY) LD tests/gen/synth_checkpoint
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lm

parity: $(B)/tests/parity/parity $(B)/tests/gen/synth_checkpoint
	$(Q)SETS="$(SETS)" CASES="$(CASES)" TARGET_EXEC="$(TARGET_EXEC)" \
	    $(S)/tests/parity/run.sh $(B) --precision $(PRECISION) $(PARITY_FLAGS)

# The same bits with 1, 2, 3 threads, the same ids with every kernel tier; [TIERS=avx2],
# [CASES="text-3 ..."]: only these.
TIERS ?=
threads: $(B)/tests/parity/parity
	$(Q)TIERS="$(TIERS)" CASES="$(CASES)" TARGET_EXEC="$(TARGET_EXEC)" $(S)/tests/parity/threads.sh $(B)
.PHONY: parity threads

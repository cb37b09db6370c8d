# FATE: what the programs print, against fate-refs/.
#
#   make fate             all tests; the last line is the sum
#   make fate-NAME        one
#   make fate-list        their names
#   GEN=1                 write the references; look at the difference before you commit it
#   THREADS=N CPUMASK=c   run the program with these; the same text must come out
#
# A file of tests/fate/ adds its names to FATE_TESTS and has a rule for each
# fate-NAME that ends with $(FATE_RUN) NAME COMMAND.

FATE_TESTS :=
FATE_RUN = $(Q)GEN="$(GEN)" THREADS="$(THREADS)" CPUMASK="$(CPUMASK)" TARGET_EXEC="$(TARGET_EXEC)" $(S)/tests/fate-run.sh $(B)

MKPICTURES_OBJ := $(filter-out %/modelgen.o %/lines.o,$(GEN_OBJ)) $(B)/tools/formula.o \
    $(B)/tests/gen/mkpictures.o
$(B)/tests/gen/mkpictures: $(MKPICTURES_OBJ) $(LIB_A)
	$(SAY) LD tests/gen/mkpictures
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(JPEG_LIBS) $(LIBS)

include $(wildcard $(S)/tests/fate/*.mak)

fate:
	$(Q)rm -f $(B)/tests/fate/*.result
	$(Q)FATE_ALL=1 $(MAKE) --no-print-directory $(FATE_TESTS:%=fate-%)
	$(Q)$(S)/tests/fate-run.sh $(B) --sum

fate-list:
	@printf '%s\n' $(FATE_TESTS)

.PHONY: fate fate-list $(FATE_TESTS:%=fate-%)

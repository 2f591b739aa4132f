# The examples use only the public header and library, like a user's program.
EXAMPLES  := $(patsubst %.c,$(B)/%,$(wildcard examples/*.c))

$(B)/examples/%: examples/%.c $(wildcard include/*.h) libordernet.so
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) -std=c11 $(WARN) $(CFLAGS) $(SAN) -Iinclude $< -L. -lordernet -o $@

CHECKS    += check-examples
check-examples: $(EXAMPLES)
	@B=$(B) sh tests/examples.sh

.PHONY: check-examples

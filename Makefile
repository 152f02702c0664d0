# SPDX-License-Identifier: GPL-2.0-only
# kdefer: see what the Linux kernel has put off. `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
MANDIR  ?= $(PREFIX)/share/man
STATIC  ?= 1
B       := build

CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
STRIP   ?= strip
PKG_CONFIG ?= pkg-config

WARN    := -Wall -Wextra -Wshadow
CFLAGS  ?= -O2 -g
LIBS    := libbpf libelf zlib
CURSES  := ncursesw
CPPFLAGS += -D_GNU_SOURCE -DKDEFER_VERSION=\"$(VERSION)\" -Isrc -I$(B) $(shell $(PKG_CONFIG) --cflags $(LIBS) 2>/dev/null)
LDLIBS  += $(shell $(PKG_CONFIG) $(if $(filter 1,$(STATIC)),--static) --libs $(LIBS) $(CURSES) 2>/dev/null) -lm
LDFLAGS += $(if $(filter 1,$(STATIC)),-static)
ARCH_INCLUDE := /usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -I$(ARCH_INCLUDE) -Ibpf $(WARN) -Wno-unused-parameter

# Quiet by default; V=1 shows the commands.
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n' $(1) $(2))

BPF_SRC  := $(wildcard bpf/*.bpf.c)
BPF_HDR  := $(wildcard bpf/*.h) vmlinux/kernel.h
SKELS    := $(BPF_SRC:bpf/%.bpf.c=$(B)/%.skel.h)
LIB_SRC  := $(wildcard src/*.c)
TOOL_SRC := $(wildcard tools/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/%.o)
MAN      := $(wildcard man/*.8)

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all run check check-long fuzz install uninstall clean dist deps deps-test help vm vm-shell bench-cost

all: $(B)/kdefer
	@:

help:
	@echo 'make            build $(B)/kdefer (one static file; STATIC=0 for a dynamic one; V=1 shows commands)'
	@echo 'make run        install what is missing, build, watch RCU callbacks for five seconds'
	@echo 'make check      install what is missing, build, run all tests (real kernels included, ~10 minutes)'
	@echo 'make check-long the same and what takes longer'
	@echo 'make fuzz       ten minutes of made inputs for each reader'
	@echo 'make deps       install what the build needs; deps-test: what the tests need'
	@echo 'make install    to $$(DESTDIR)$$(PREFIX) (PREFIX=$(PREFIX)); make uninstall'
	@echo 'make dist       $(B)/dist: stripped program, man pages, checksums'
	@echo 'make bench-cost what watching costs, in instructions for each callback'
	@echo "make vm KERNEL=6.12 CMD='uname -r'   run a command in a virtual machine; make vm-shell KERNEL=6.12"
	@echo 'make clean      remove $(B)'

# --- build -----------------------------------------------------------------------------------------

$(B)/kdefer: $(TOOL_OBJ) $(B)/libkdefer.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_OBJ) $(B)/libkdefer.a $(LDLIBS)

$(B)/libkdefer.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# Skeletons have to be there; which objects include which of them, the compiler notes.
$(LIB_OBJ) $(TOOL_OBJ): $(B)/%.o: %.c Makefile | $(SKELS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) $(WERROR) -MMD -MP -c -o $@ $<

$(B)/%.bpf.o: bpf/%.bpf.c $(BPF_HDR) Makefile
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(WERROR) -c -o $(@:.o=.full.o) $<
	$(Q)$(BPFTOOL) gen object $@ $(@:.o=.full.o) # without DWARF, which is half of it
	$(Q)rm -f $(@:.o=.full.o)

$(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

-include $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)

# Descriptions of the usual terminals, for hosts that have none.
TERMINALS := xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 vt220 rxvt

$(B)/terminfo.h: Makefile
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q){ echo 'static const struct { const char *name, *entry; } built_in[] = {'; \
		for t in $(TERMINALS); do entry=$$(infocmp -Q2 $$t | grep -v '^#' | tr -d '\n') && [ -n "$$entry" ] || exit 1; \
		echo "{ \"$$t\", \"$$entry\" },"; done; echo '};'; } > $@

$(B)/src/terminal.o: $(B)/terminfo.h

# Test programs: those of unprivileged groups here, those for guests in tests/vm/build-helpers.

$(B)/tests/unit/%: tests/unit/%.c $(wildcard tests/unit/*.h tools/*.[ch]) $(B)/libkdefer.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) -Itools $(CFLAGS) $(WARN) $(WERROR) -o $@ $< $(B)/libkdefer.a \
		$(LDFLAGS) -lcmocka -lm $(LDLIBS)

$(B)/tests/fuzz/%: tests/fuzz/fuzz_%.c $(B)/libkdefer.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer $(WARN) -o $@ $< $(B)/libkdefer.a $(LDFLAGS) $(LDLIBS)

$(B)/tests/make_capture: tests/golden/make_capture.c $(wildcard tests/golden/*.h) $(B)/libkdefer.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< $(B)/libkdefer.a $(LDFLAGS) $(LDLIBS)

$(B)/tests/make_top: tests/tui/make_top.c tests/golden/maker.h $(B)/libkdefer.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< $(B)/libkdefer.a $(LDFLAGS) $(LDLIBS)

$(B)/tests/draw: tests/tui/draw.c $(B)/libkdefer.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< $(B)/libkdefer.a $(LDFLAGS) $(LDLIBS)

$(B)/tests/fields: tests/contract/fields.c $(B)/libkdefer.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< $(B)/libkdefer.a $(LDFLAGS) $(LDLIBS)

# --- what it needs ---------------------------------------------------------------------------------

BUILD_PKGS := gcc libc6-dev clang llvm libbpf-dev libelf-dev zlib1g-dev libncurses-dev ncurses-base \
	      ncurses-bin bpftool pkg-config
TEST_PKGS  := libcmocka-dev python3 qemu-system-x86 cpio busybox-static bpftrace xz-utils zstd clang-format \
	      shellcheck mandoc tmux
VM_PKGS    := python3 qemu-system-x86 cpio busybox-static xz-utils zstd

# $(1): packages. Root, and the network, only when one is missing.
install_missing = @missing=; for p in $(1); do \
	dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	[ -z "$$missing" ] || { echo "installing:$$missing"; sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing > /dev/null; }

deps:
	$(call install_missing,$(BUILD_PKGS))

deps-test: deps
	$(call install_missing,$(TEST_PKGS))

deps-vm: deps
	$(call install_missing,$(VM_PKGS))

# --- run, test -------------------------------------------------------------------------------------
# The sub-make starts only when everything is installed, since pkg-config is asked when make reads this file.

run: deps
	@$(MAKE) --no-print-directory all
	@tests/vm/run-here $(B)/kdefer || [ $$? -ne 5 ] || $(MAKE) --no-print-directory run-vm

run-vm: deps-vm
	@tests/vm/run-in-guest $(B)/kdefer

check: deps-test
	@$(MAKE) --no-print-directory all
	@tests/run

check-long: deps-test
	@$(MAKE) --no-print-directory all
	@LONG=1 tests/run

fuzz: deps-test
	@SECONDS_EACH=600 tests/fuzz/run

KERNEL ?= 6.12
vm: deps-vm
	@$(MAKE) --no-print-directory all
	@tests/vm/guest --kernel $(KERNEL) --add $(B)/kdefer:/usr/bin/kdefer -- "$(CMD)"

vm-shell: deps-vm
	@$(MAKE) --no-print-directory all
	@tests/vm/guest --kernel $(KERNEL) --add $(B)/kdefer:/usr/bin/kdefer --shell

bench-cost: deps-test
	@$(MAKE) --no-print-directory all
	@tests/vm/bench-cost

# --- install, dist ---------------------------------------------------------------------------------

install: all
	install -D -m 755 $(B)/kdefer $(DESTDIR)$(SBINDIR)/kdefer
	for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(MANDIR)/man8/$${m##*/} || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(SBINDIR)/kdefer $(MAN:man/%=$(DESTDIR)$(MANDIR)/man8/%)

DIST := $(B)/dist/kdefer-$(VERSION)
dist:
	@$(MAKE) --no-print-directory STATIC=1 all
	$(Q)rm -rf $(B)/dist && mkdir -p $(DIST)/man
	$(Q)install -m 755 $(B)/kdefer $(DIST)/kdefer && $(STRIP) $(DIST)/kdefer
	$(Q)cp $(MAN) $(DIST)/man/ && cp README.md LICENSE $(DIST)/
	$(Q)cd $(B)/dist && tar -cf - --sort=name --owner=0 --group=0 --mtime=@0 kdefer-$(VERSION) | gzip -9n > kdefer-$(VERSION).tar.gz
	$(Q)cd $(B)/dist && sha256sum kdefer-$(VERSION).tar.gz kdefer-$(VERSION)/kdefer > SHA256SUMS
	@echo '$(B)/dist:' && cat $(B)/dist/SHA256SUMS

clean:
	rm -rf $(B)

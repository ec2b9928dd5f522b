# SPDX-License-Identifier: GPL-2.0-only
# before-after: workloads, comparator and tests, one non-recursive Makefile.
#
#   make            build/cases/*, build/compare and build/history
#   make run        run the cases on this box and print the tables      (root)
#   make check      unit, golden, harness and smoke tests               (root)
#   make check-long the end-to-end tests that take too long for every change (root)
#   make nightly    tonight's kernel against the last good night's: CONFIG=ci/nightly/nightly.conf
#   make bench      the suite's own speed, as ratios in one run         (root)
#   make lint       shellcheck, clang-format, cppcheck
#   make install    PREFIX, DESTDIR
#
# DEV=1 builds into build/dev with -Werror, strict warnings, ASan and UBSan.

CC ?= gcc
CLANG ?= clang
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
BUILD := build

WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes
CFLAGS ?= -O2 -g
ifeq ($(DEV),1)
BUILD := build/dev
WARN += -Werror -Wshadow -Wformat=2 -Wundef -Wvla -Wpointer-arith -Wcast-qual -Wwrite-strings \
	-Wold-style-definition -Wmissing-declarations -Wredundant-decls -Wduplicated-cond \
	-Wlogical-op -Wimplicit-fallthrough
CFLAGS := -O1 -g
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

# The hash of what decides how a workload measures: records of two different hashes do not compare.
MEASURE_SRC := $(sort $(wildcard cases/*.c lib/case/*.[ch] lib/sys/*.[ch]))

# V=1 shows the commands.
ifneq ($(V),1)
Q := @
say = @printf '  %-3s %s\n' $(1) $@
endif

have = $(shell $(PKG_CONFIG) --exists $(1) && echo y)
ifneq ($(MAKECMDGOALS),clean)
$(foreach p,jansson zlib,$(if $(call have,$(p)),,$(error $(p) is missing: sh ci/setup.sh)))
endif

CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -iquote lib -iquote $(BUILD)
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) $(SANITIZE) -pthread
JANSSON_LIBS := $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null)
GSL_LIBS := $(shell $(PKG_CONFIG) --libs gsl 2>/dev/null)
FUSE_CFLAGS := $(shell $(PKG_CONFIG) --cflags fuse3 2>/dev/null)
FUSE_LIBS := $(shell $(PKG_CONFIG) --libs fuse3 2>/dev/null)
CASE_LIBS := $(FUSE_LIBS) $(JANSSON_LIBS) $(shell $(PKG_CONFIG) --libs zlib 2>/dev/null)

CASES_ALL := $(patsubst cases/%.c,%,$(wildcard cases/*.c))
# A case that needs an optional library is dropped by name where the library is missing.
CASES_fuse3 := shadow-entries
ifneq ($(call have,fuse3),y)
DROPPED := $(filter $(CASES_fuse3),$(CASES_ALL))
$(if $(DROPPED),$(info fuse3 is missing: without $(DROPPED) (sh ci/setup.sh installs it)))
SYS_DROPPED := lib/sys/fuse_server.c
UNIT_DROPPED := tests/unit/test_fuse_server.c
endif
# libyaml reads what stress-ng writes.
YAML_LIBS := $(shell $(PKG_CONFIG) --libs yaml-0.1 2>/dev/null)
ifneq ($(call have,yaml-0.1),y)
$(info libyaml is missing: without dirty-reclaim (sh ci/setup.sh installs it))
DROPPED += dirty-reclaim
SYS_DROPPED += lib/sys/stressng.c
UNIT_DROPPED += tests/unit/test_stressng.c
endif
CASE_LIBS += $(YAML_LIBS)
CASE_NAMES := $(filter-out $(DROPPED),$(CASES_ALL))

CASE_SRC := $(wildcard lib/case/*.c) $(filter-out $(SYS_DROPPED),$(wildcard lib/sys/*.c))
COMPARE_SRC := $(filter-out lib/compare/main.c,$(wildcard lib/compare/*.c))
HISTORY_SRC := $(filter-out lib/history/main.c,$(wildcard lib/history/*.c))
UNIT_SRC := $(filter-out $(UNIT_DROPPED),$(wildcard tests/unit/test_*.c))
HARNESS_SRC := $(wildcard tests/harness/*.c)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
CASE_BINS := $(CASE_NAMES:%=$(BUILD)/cases/%)
HARNESS_BINS := $(HARNESS_SRC:tests/harness/%.c=$(BUILD)/tests/harness/%)
UNIT_BINS := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)
COMPARE_BIN := $(if $(wildcard lib/compare/main.c),$(BUILD)/compare)

.PHONY: all
all: $(CASE_BINS) $(COMPARE_BIN) $(BUILD)/history

$(BUILD)/libcase.a: $(call obj,$(CASE_SRC))
$(BUILD)/libcompare.a: $(call obj,$(COMPARE_SRC))
$(BUILD)/lib%.a:
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

$(call obj,lib/case/environment.c): $(BUILD)/measure_hash.h
$(BUILD)/measure_hash.h: $(MEASURE_SRC)
	@mkdir -p $(@D)
	@cat $^ | sha256sum | { read -r sum _; printf '#define MEASURE_HASH "%.16s"\n' "$$sum"; } >$@.new
	@mv $@.new $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(FUSE_CFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Rebuild when the flags change, not only when a file does.
FLAGS := $(CC) $(CPPFLAGS) $(FUSE_CFLAGS) $(ALL_CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS)' | cmp -s - $@ || printf '%s\n' '$(FLAGS)' >$@

define LINK
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1)
endef
$(CASE_BINS): $(BUILD)/cases/%: $(BUILD)/obj/cases/%.o $(BUILD)/libcase.a
	$(call LINK,$(CASE_LIBS))
$(HARNESS_BINS): $(BUILD)/tests/harness/%: $(BUILD)/obj/tests/harness/%.o $(BUILD)/libcase.a
	$(call LINK,$(CASE_LIBS))
$(BUILD)/compare: $(BUILD)/obj/lib/compare/main.o $(BUILD)/libcompare.a
	$(call LINK,$(GSL_LIBS) $(JANSSON_LIBS) -lm)
$(UNIT_BINS): $(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libcase.a $(BUILD)/libhistory.a \
		$(BUILD)/libcompare.a
	$(call LINK,-lcmocka $(GSL_LIBS) $(CASE_LIBS) -lm)

# --- running ---

# make run CASES=a,b VARIANT='op=punch op=close,folio=pmd' SCALE=documented SIZE= RUNS= LABEL= RESULTS= NODE=
.PHONY: run
run: all
	@BEFORE_AFTER_BUILD=$(BUILD) ./run.sh $(if $(CASES),--case '$(CASES)') \
		$(if $(VARIANT),--variant '$(VARIANT)') $(if $(SCALE),--scale '$(SCALE)') \
		$(if $(SIZE),--size '$(SIZE)') $(if $(RUNS),--runs '$(RUNS)') \
		$(if $(LABEL),--label '$(LABEL)') $(if $(RESULTS),--results '$(RESULTS)') \
		$(if $(NODE),--node '$(NODE)')

# --- tests ---

.PHONY: check check-unit check-harness bench bench-by-hand lint
check: check-unit check-claims check-golden check-harness check-shadow check-pagecache check-reclaim \
	fuzz-smoke check-e2e

check-unit: $(UNIT_BINS)
	@set -e; for t in $(UNIT_BINS); do $$t; done

check-harness: all $(HARNESS_BINS)
	@BEFORE_AFTER_BUILD=$(BUILD) tests/harness/run.sh

bench: bench-by-hand bench-populate bench-pagecache bench-compare

bench-by-hand: all
	@BEFORE_AFTER_BUILD=$(BUILD) tests/bench/by-hand.sh

# pagecache-truncate: killed at random moments; samples a second and the share that is timed.
.PHONY: check-pagecache bench-pagecache
check-pagecache: all $(HARNESS_BINS)
	@BEFORE_AFTER_BUILD=$(BUILD) tests/harness/pagecache.sh

bench-pagecache: all
	@BEFORE_AFTER_BUILD=$(BUILD) tests/bench/pagecache.sh

# dirty-reclaim and truncate-neighbour: what is missing, whole runs, kill -9 at random moments.
.PHONY: check-reclaim
check-reclaim: all
	@BEFORE_AFTER_BUILD=$(BUILD) tests/harness/reclaim.sh

# --- shadow entries: the case where it is bad; how fast its state is made ---

.PHONY: check-shadow bench-populate
check-shadow: all
	@BEFORE_AFTER_BUILD=$(BUILD) tests/harness/shadow.sh

$(BUILD)/tests/bench/populate: $(BUILD)/obj/tests/bench/populate.o $(BUILD)/libcase.a
	$(call LINK,$(CASE_LIBS))
ifeq ($(call have,fuse3),y)
bench-populate: $(BUILD)/tests/bench/populate
	@run=$$(mktemp -d) && { BEFORE_AFTER_RUN_DIR=$$run $< || code=$$?; rm -r "$$run"; exit $$code; }
else
bench-populate:
	@echo 'bench-populate: skipped, fuse3 is missing'
endif

SHELL_SRC = $(shell git ls-files '*.sh' .ci/run 2>/dev/null || find . -name '*.sh' -not -path './build/*')
C_SRC = $(shell git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' -not -path './build/*')
lint:
	shellcheck $(SHELL_SRC)
	clang-format --dry-run -Werror $(C_SRC)
	cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 -Ilib -D_GNU_SOURCE \
		--enable=warning,performance,portability --suppress=missingInclude \
		$(filter %.c,$(filter-out tests/%,$(C_SRC)))

# --- installing ---

LIBEXEC := $(PREFIX)/libexec/before-after
CLAIMS := $(PREFIX)/share/before-after/cases
MANDIR := $(PREFIX)/share/man
COMPLETION := $(PREFIX)/share/bash-completion/completions
.PHONY: install
install: all
	install -d $(addprefix $(DESTDIR),$(LIBEXEC)/build/cases $(CLAIMS) $(PREFIX)/bin \
		$(MANDIR)/man1 $(MANDIR)/man5 $(COMPLETION))
	install -m 755 $(CASE_BINS) $(DESTDIR)$(LIBEXEC)/build/cases
	install -m 755 $(BUILD)/compare $(BUILD)/history $(DESTDIR)$(LIBEXEC)/build
	install -m 755 run.sh $(DESTDIR)$(LIBEXEC)
	install -m 644 $(foreach c,$(CASE_NAMES),$(wildcard cases/$(c).*.json)) $(DESTDIR)$(CLAIMS)
	ln -sfn ../../share/before-after/cases $(DESTDIR)$(LIBEXEC)/cases
	install -m 644 docs/man/*.1 $(DESTDIR)$(MANDIR)/man1
	install -m 644 docs/man/*.5 $(DESTDIR)$(MANDIR)/man5
	install -m 644 ci/completion/before-after $(DESTDIR)$(COMPLETION)
	ln -sf before-after $(DESTDIR)$(COMPLETION)/before-after-compare
	ln -sf before-after $(DESTDIR)$(COMPLETION)/before-after-history
	ln -sf ../libexec/before-after/run.sh $(DESTDIR)$(PREFIX)/bin/before-after
	ln -sf ../libexec/before-after/build/compare $(DESTDIR)$(PREFIX)/bin/before-after-compare
	ln -sf ../libexec/before-after/build/history $(DESTDIR)$(PREFIX)/bin/before-after-history

# --- kernels and boots (ci/): the guest's init, make kernel, make ab, make check-e2e -------------
# Static: it is the first process of a guest that may lack everything else. No sanitizers there.
GUEST_INIT := build/ci/init
$(GUEST_INIT): ci/guest/init.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -D_GNU_SOURCE -static -o $@ $< -ljansson

# Also for ab: ENGINE BOOTS BASE CASES VARIANT SCALE SIZE RUNS CPUS MEMORY SWAP OUT GATE LOOKS;
# SETTLE=1 looks until nothing is inconclusive, FRESH=1 begins again, LOCKS=1 is a lock boot.
# ci/ab.sh --help has the rest.
BEFORE ?= base
ab_option = $(if $($(2)),--$(1) '$($(2))')
AB_ARGS = --before '$(BEFORE)' --after '$(AFTER)' $(call ab_option,base,BASE) $(call ab_option,boots,BOOTS) \
	$(call ab_option,case,CASES) $(call ab_option,variant,VARIANT) $(call ab_option,scale,SCALE) \
	$(call ab_option,size,SIZE) $(call ab_option,runs,RUNS) $(call ab_option,engine,ENGINE) \
	$(call ab_option,cpus,CPUS) $(call ab_option,memory,MEMORY) $(call ab_option,swap,SWAP) \
	$(call ab_option,out,OUT) $(call ab_option,gate,GATE) $(call ab_option,looks,LOOKS) \
	$(if $(SETTLE),--until-settled) $(if $(FRESH),--fresh) $(if $(LOCKS),--locks)
.PHONY: kernel ab check-e2e check-long
kernel: $(GUEST_INIT)
	@ci/build-kernel.sh $(if $(ENGINE),--engine '$(ENGINE)') $(if $(SOURCE),--source '$(SOURCE)') $(foreach p,$(PATCHES),--patch '$(p)')
ab: all $(GUEST_INIT)
	@ci/ab.sh $(AB_ARGS)
SHMEM_MODEL := build/tests/e2e/shmem_model
$(SHMEM_MODEL): tests/e2e/shmem_model.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -D_GNU_SOURCE -o $@ $<
check-e2e: all $(GUEST_INIT) $(SHMEM_MODEL)
	tests/e2e/run.sh
# Every treatment, User-Mode Linux, a series tried with times: too long for every change.
check-long: all $(GUEST_INIT) $(SHMEM_MODEL)
	tests/e2e/run.sh long

# --- every night (ci/nightly.sh): make nightly CONFIG=ci/nightly/nightly.conf ----------------------
.PHONY: nightly check-nightly
nightly: all $(GUEST_INIT)
	@ci/nightly.sh $(if $(CONFIG),--config '$(CONFIG)') $(if $(DATE),--date '$(DATE)')
# Settings, the examples for timers and CI, and nights that end before a kernel is built.
check: check-nightly
check-nightly: all $(GUEST_INIT)
	@tests/integrations/nightly.sh

# --- which commit it was (ci/bisect.sh, docs/bisect.md) -------------------------------------------
# make bisect GOOD=v6.12 BAD=HEAD GIT=~/linux CASES=shmem-truncate VARIANT=op=punch,folio=4k; also METRIC
# THRESHOLD FROM (its --base) FIRST_PARENT=1, and of ab's ENGINE BOOTS SCALE SIZE RUNS CPUS MEMORY SWAP FRESH
BISECT_ARGS = '$(GOOD)' '$(BAD)' --case '$(CASES)' $(call ab_option,git,GIT) $(call ab_option,variant,VARIANT) \
	$(call ab_option,metric,METRIC) $(call ab_option,threshold,THRESHOLD) $(call ab_option,base,FROM) \
	$(call ab_option,engine,ENGINE) $(call ab_option,boots,BOOTS) $(call ab_option,scale,SCALE) \
	$(call ab_option,size,SIZE) $(call ab_option,runs,RUNS) $(call ab_option,cpus,CPUS) \
	$(call ab_option,memory,MEMORY) $(call ab_option,swap,SWAP) \
	$(if $(FIRST_PARENT),--first-parent) $(if $(FRESH),--fresh)
.PHONY: bisect check-bisect
bisect: all $(GUEST_INIT)
	@ci/bisect.sh $(BISECT_ARGS)
# With stand-ins for building and booting; check-e2e bisects four real kernels too, check-long sixteen.
check-bisect: all $(GUEST_INIT)
	@tests/e2e/bisect.sh stand-ins

# ci/try.sh and what it is refused, with stand-ins too; check-long tries a real series.
.PHONY: check-try
check: check-try
check-try: all $(GUEST_INIT)
	@tests/e2e/try.sh stand-ins

# --- the comparator (lib/compare): check-compare, bench-compare, compare, trust, fuzz --------------
COMPARE_UNITS := $(filter %/test_stats %/test_verdict %/test_units %/test_input %/test_table,$(UNIT_BINS))
.PHONY: check-compare check-golden check-claims bench-compare compare trust fuzz fuzz-smoke
check-compare: check-claims check-golden $(COMPARE_UNITS)
	@set -e; for t in $(COMPARE_UNITS); do $$t; done

check-golden: $(COMPARE_BIN) $(BUILD)/history
	@tests/golden/run.sh $(COMPARE_BIN)
	@tests/golden/kunit.sh
	@$(COMPARE_BIN) --trust --repetitions 2000 >$(BUILD)/trust.log || \
		{ cat $(BUILD)/trust.log; exit 1; }
	@tail -n 3 $(BUILD)/trust.log

# Every claim against what its case says of itself.
check-claims: $(COMPARE_BIN) $(CASE_BINS)
	@set -e; for c in $(CASE_NAMES); do \
		$(BUILD)/cases/$$c --describe >$(BUILD)/$$c.describe.json; \
		for f in cases/$$c.*.json; do \
			if [ -e "$$f" ]; then \
				$(COMPARE_BIN) --check-claims $(BUILD)/$$c.describe.json "$$f"; \
				echo "ok - claim $$f"; \
			fi; \
		done; \
	done

bench-compare: $(COMPARE_BIN)
	@tests/bench/compare.sh $(COMPARE_BIN)

# make compare BEFORE=results/base AFTER=results/patched [FORMAT=text] [GATE=reproduced]
compare: $(COMPARE_BIN)
	@$(COMPARE_BIN) $(if $(FORMAT),--format $(FORMAT)) $(if $(GATE),--gate $(GATE)) \
		$(if $(FORCE_COMPARE),--force) "$(BEFORE)" "$(AFTER)"

trust: $(COMPARE_BIN)
	@$(COMPARE_BIN) --trust

# libFuzzer comes with clang. fuzz-smoke is a minute in all and leaves the corpus alone; fuzz is an hour,
# FUZZ_SECONDS a target, and merges what is new into the corpus.
FUZZ_SRC := $(filter-out $(if $(filter dirty-reclaim,$(DROPPED)),tests/fuzz/fuzz_stressng.c),$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BINS := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
FUZZ_SECONDS ?= 400
FUZZ_RUN = -timeout=60 -rss_limit_mb=1024
FUZZ_RUN += -artifact_prefix=build/fuzz/crash-
have_fuzzer = $(shell echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n){(void)d;(void)n;return 0;}' | \
	$(CLANG) -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null && echo y)
FUZZ_CFLAGS = -std=gnu11 -O1 -g -fno-sanitize-recover=undefined $(CPPFLAGS) $(FUSE_CFLAGS)
FUZZ_OBJS := $(patsubst %.c,build/fuzz/obj/%.o,$(COMPARE_SRC) $(HISTORY_SRC))
# Of the cases' library what a target reads with; an archive gives no more.
FUZZ_CASE_OBJS := $(CASE_SRC:%.c=build/fuzz/obj/%.o)
.SECONDARY: $(FUZZ_OBJS) # make would take them for intermediate, and remove them
build/fuzz/libcase.a: $(FUZZ_CASE_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^
build/fuzz/obj/lib/case/environment.o: $(BUILD)/measure_hash.h
build/fuzz/obj/%.o: %.c $(wildcard lib/*/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<
build/fuzz/%: tests/fuzz/%.c $(FUZZ_OBJS) build/fuzz/libcase.a
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined -o $@ $^ \
		$(GSL_LIBS) $(CASE_LIBS) -lm -pthread
fuzz-smoke:
	@$(if $(call have_fuzzer),$(MAKE) --no-print-directory fuzz-run SECONDS_A_TARGET=7 KEEP=,\
		echo "ok - fuzz # SKIP no clang with libFuzzer")
fuzz:
	@$(MAKE) --no-print-directory fuzz-run SECONDS_A_TARGET=$(FUZZ_SECONDS) KEEP=1
.PHONY: fuzz-run
fuzz-run: $(FUZZ_BINS)
	@set -e; for t in $(FUZZ_BINS:build/fuzz/fuzz_%=%); do \
		new=$$(mktemp -d build/fuzz/new.XXXXXX); \
		build/fuzz/fuzz_$$t $(FUZZ_RUN) -max_total_time=$(SECONDS_A_TARGET) -max_len=8192 \
			$$new tests/fuzz/corpus/$$t >build/fuzz/$$t.log 2>&1 || \
			{ cat build/fuzz/$$t.log; exit 1; }; \
		echo "ok - fuzz $$t: $(SECONDS_A_TARGET) s, $$(sed -n 's/^#\([0-9]*\)[[:space:]]*DONE/\1 executions,/p' \
			build/fuzz/$$t.log | tr -s ' ')"; \
		if [ -n "$(KEEP)" ]; then \
			build/fuzz/fuzz_$$t -merge=1 tests/fuzz/corpus/$$t $$new \
				>>build/fuzz/$$t.log 2>&1; \
		fi; \
		rm -rf "$$new"; \
	done

# --- where kernel people already run tests (ci/kselftest, ci/lkp, ci/lava, ci/tmt): docs/integrations.md

.PHONY: install-kselftest deb
deb:
	@ci/debian/build.sh

install-kselftest: all
	@BEFORE_AFTER_BUILD=$(BUILD) ci/kselftest/install.sh '$(DEST)'

# What is missing in a case, or of one, said to whoever adds it; the template is held to the same.
TEMPLATE := $(BUILD)/tests/template/template
DECLARATIONS := $(CASE_NAMES:%=$(BUILD)/tests/declarations/%) $(BUILD)/tests/declarations/template
DECLARATION_OBJS := $(call obj,tests/integrations/declaration.c) $(BUILD)/libcase.a $(BUILD)/libcompare.a
$(TEMPLATE): $(call obj,tests/template/template.c) $(BUILD)/libcase.a
	$(call LINK,$(CASE_LIBS))
$(BUILD)/tests/declarations/template: $(call obj,tests/template/template.c) $(DECLARATION_OBJS)
	$(call LINK,$(GSL_LIBS) $(CASE_LIBS) -lm)
$(CASE_NAMES:%=$(BUILD)/tests/declarations/%): $(BUILD)/tests/declarations/%: $(BUILD)/obj/cases/%.o \
		$(DECLARATION_OBJS)
	$(call LINK,$(GSL_LIBS) $(CASE_LIBS) -lm)
.PHONY: check-cases check-integrations check-integrations-long
check-cases: $(DECLARATIONS) $(TEMPLATE) $(COMPARE_BIN)
	@CC="$(CC)" BEFORE_AFTER_BUILD=$(BUILD) BEFORE_AFTER_LIBS="$(SANITIZE) $(GSL_LIBS) $(CASE_LIBS) -lm -pthread" \
		tests/integrations/cases.sh

check-integrations: all check-cases $(GUEST_INIT)
	@BEFORE_AFTER_BUILD=$(BUILD) tests/integrations/run.sh kselftest lkp lava tmt install
check: check-integrations
# The layout in a guest, and the Debian package, where lintian and debhelper are.
check-long: check-integrations-long
check-integrations-long: all check-cases $(GUEST_INIT)
	@BEFORE_AFTER_LONG=1 BEFORE_AFTER_BUILD=$(BUILD) tests/integrations/run.sh kselftest debian

# --- tests/hostile: kills, faults, bad places -----------------------------------------------------

# The cases, with every system call that the project's own code makes going through a wrapper.
FAULT_SRC := tests/hostile/fault.c
WRAPPED := $(shell sed -n 's/^WRAP[A-Z]*.//p' $(FAULT_SRC) | cut -d , -f 1) close syscall
FAULT_BINS := $(CASE_NAMES:%=$(BUILD)/tests/hostile/%)
$(FAULT_BINS): $(BUILD)/tests/hostile/%: $(BUILD)/obj/cases/%.o $(call obj,$(FAULT_SRC)) $(BUILD)/libcase.a
	$(call LINK,$(WRAPPED:%=-Wl$(comma)--wrap=%) $(CASE_LIBS))
comma := ,

HOSTILE_TOOLS := $(BUILD)/tests/hostile/attacker $(if $(call have,fuse3),$(BUILD)/tests/hostile/slowfs)
$(BUILD)/tests/hostile/slowfs: $(call obj,tests/hostile/slowfs.c)
	$(call LINK,$(FUSE_LIBS))
$(BUILD)/tests/hostile/attacker: tests/hostile/attacker.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -o $@ $<

.PHONY: check-hostile check-hostile-long
check-hostile: all $(HARNESS_BINS) $(FAULT_BINS) $(HOSTILE_TOOLS)
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/kills.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/faults.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/paths.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/data.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/mbox.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/places.sh
check: check-hostile
check-hostile-long: all $(HARNESS_BINS) $(FAULT_BINS) $(HOSTILE_TOOLS) $(GUEST_INIT)
	@KILLS=200 BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/kills.sh
	@FAULTS=all BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/faults.sh
	@RACES=60 BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/paths.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/guests.sh
	@BEFORE_AFTER_BUILD=$(BUILD) tests/hostile/clock.sh
check-long: check-hostile-long

# --- nights and their history (lib/history): docs/history.md ---------------------------------------
$(BUILD)/libhistory.a: $(call obj,$(HISTORY_SRC))
$(BUILD)/history: $(BUILD)/obj/lib/history/main.o $(BUILD)/libhistory.a $(BUILD)/libcompare.a
	$(call LINK,$(GSL_LIBS) $(JANSSON_LIBS) -lm)
# How soon a change is seen, and how often one that is not there: the tables of docs/history.md.
$(BUILD)/tests/bench/changes: $(BUILD)/obj/tests/bench/changes.o $(BUILD)/libhistory.a
	$(call LINK,$(GSL_LIBS) -lm)
.PHONY: trust-history
trust-history: $(BUILD)/tests/bench/changes
	@$<

.PHONY: clean FORCE
FORCE:
clean:
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# The lab: Xen in QEMU. See tests/lab/README.md.
# SPDX-License-Identifier: LGPL-2.1-or-later
.PHONY: demo demo-run check-lab check-lab-selftest lab-shell lab-tools

LAB_BIN := $(O)/lab/bin
LAB_WORKLOAD := page table memory clocks console churn vcpus main
LAB_CFLAGS := -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE

$(LAB_BIN)/workload: $(LAB_WORKLOAD:%=tests/lab/workload/%.c) $(wildcard tests/lab/workload/*.h)
	@mkdir -p $(@D)
	$(CC) $(LAB_CFLAGS) -static -pthread -s -o $@ $(filter %.c,$^)

$(LAB_BIN)/lab-report: tests/lab/dom0/report.c
	@mkdir -p $(@D)
	$(CC) $(LAB_CFLAGS) -static -s -o $@ $<

$(LAB_BIN)/lab-probe: tests/lab/dom0/probe.c
	@mkdir -p $(@D)
	$(CC) $(LAB_CFLAGS) -o $@ $< -lxenctrl

$(LAB_BIN)/killat: tests/lab/tools/killat.c
	@mkdir -p $(@D)
	$(CC) $(LAB_CFLAGS) -static -s -o $@ $<
LAB_PROGRAMS += $(LAB_BIN)/killat

lab-tools: $(LAB_BIN)/workload $(LAB_BIN)/lab-report $(LAB_BIN)/lab-probe

.PHONY: run-lab-runner
run-lab-runner:
	timeout 60 python3 -B tests/lab/runner/test_runner.py
CHECK_UNIT += run-lab-runner

# What scenarios use of ours: whatever parts there are. LAB_PROGRAMS: test programs for Dom0, named by other parts.
LAB_WANTS := lab-tools $(ALL) $(LAB_PROGRAMS) $(if $(wildcard drivers/rules.mk),module)
LAB_RUN := LAB_PROGRAMS='$(LAB_PROGRAMS)' LAB_BUILD=$(abspath $(O)) python3 -B tests/lab/runner/lab.py

# The module for the kernels besides the base's that the run asks for: $(call lab-modules,ARGUMENTS)
lab-modules = for kernel in $$($(LAB_RUN) --kernels $(1)); do \
	  tree=$$(XENFERRY_BUILD=$(abspath $(O)) packaging/kernel-tree $$kernel) && \
	  $(MAKE) module KDIR="$$tree" && $(MAKE) module INJECT=y KDIR="$$tree" || exit 1; done

# The build of the module that can be told to fail.
.PHONY: module-inject
module-inject: module
	$(MAKE) module INJECT=y

# How many boots at a time: JOBS=1, or as many as the machine has room for.
JOBS := auto
check-lab: packages-lab $(LAB_WANTS) module-inject	## scenarios in Xen under QEMU (ONLY=PATTERN: some of them)
	@$(call lab-modules,--only '$(ONLY)')
	$(LAB_RUN) --jobs '$(JOBS)' --only '$(ONLY)'

# The lab itself: scenarios that must fail are seen to fail, each for its own reason.
check-lab-selftest: packages-lab lab-tools	## the lab notices what it has to notice
	LAB_SETTLE=3 LAB_SLACK=20 LAB_SILENCE=30 LAB_PATIENCE=1 $(LAB_RUN) --scenarios tests/lab/selftest --result selftest.json --only '$(ONLY)'

lab-shell: packages-lab $(LAB_WANTS)	## a prompt in Dom0, everything loaded (SETTINGS='dom0=pvh module=ours')
	@$(call lab-modules,--shell $(SETTINGS))
	$(LAB_RUN) --shell $(SETTINGS)

# In two steps: on a fresh machine the second one must look for packages anew.
demo: packages-lab	## a guest migrates with ours and with stock: a report (as root, under 10 minutes)
	$(MAKE) demo-run
# FAULT=page alters one page of the guest after its arrival: the demonstration must then fail.
demo-run: $(LAB_WANTS)
	LAB_FAULT='$(FAULT)' $(LAB_RUN:lab.py=demo.py)

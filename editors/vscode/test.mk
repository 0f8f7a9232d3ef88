# The VS Code extension's tests; the repository's Makefile includes this.

EDITOR_TESTS += vscode-test
EDITOR_BENCHES += vscode-bench

VSCODE     := editors/vscode
VSCODE_OUT := $(CURDIR)/$(VSCODE)/out
VSCODE_WORKBENCHES := $(patsubst $(VSCODE)/test/workbench/%.test.mjs,vscode-workbench-%,$(wildcard $(VSCODE)/test/workbench/*.test.mjs))
# What the tests in the editors are told.
VSCODE_ENV := RALPH_EDITORS_CACHE=$(CACHE)/editors RALPH_LSP=$(VSCODE_OUT)/ralph-lsp RALPH_CACHE=$(CACHE)

# The suites, each with editors of its own, the longest first. They wait more than they
# work, so several run at a time; what one says comes in one piece.
VSCODE_RUNS := vscode-host-1.139 $(VSCODE_WORKBENCHES) vscode-host-1.100 vscode-workbench-1.100 vscode-unit

.PHONY: vscode-test
vscode-test: vscode-package ## the VS Code extension, in the real VS Code
	@$(MAKE) --no-print-directory --keep-going --output-sync=target -j2 $(VSCODE_RUNS)

# The lock file says what is installed.
$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	@cd $(VSCODE) && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

.PHONY: vscode-unit
vscode-unit: $(VSCODE)/node_modules/.package-lock.json
	@cd $(VSCODE) && npm test --silent

# Alone: it builds what the others run.
.PHONY: vscode-package
vscode-package: $(VSCODE)/node_modules/.package-lock.json
	@cd $(VSCODE) && node ../../tools/editors/vscode-quiet.mjs test/package.test.mjs

.PHONY: vscode-fetch
vscode-fetch: $(VSCODE)/node_modules/.package-lock.json
	@for version in 1.139 1.100; do \
		RALPH_EDITORS_CACHE=$(CACHE)/editors tools/editors/get-vscode.sh --with-chromium $$version >/dev/null; \
	done

.PHONY: vscode-editors
vscode-editors: vscode-fetch
	@go build -ldflags '-s -w' -o $(VSCODE_OUT)/ ./cmd/ralph-lsp ./fleet/cmd/ralph-fleet
	@cd $(VSCODE) && node scripts/build.mjs

# Version 1.139 has all tests; 1.100, the oldest that runs here, one for each part of
# its interface that the extension uses: those with @oldest in their title.
.PHONY: vscode-host-1.139 vscode-host-1.100
vscode-host-1.100: export RALPH_TEST_GREP := @oldest
vscode-host-1.139 vscode-host-1.100: vscode-host-%: vscode-editors
	@cd $(VSCODE) && $(VSCODE_ENV) test/host/run.sh $*

.PHONY: $(VSCODE_WORKBENCHES) vscode-workbench-1.100
$(VSCODE_WORKBENCHES): vscode-workbench-%: vscode-editors agents
	@cd $(VSCODE) && RALPH_VSCODE=1.139 $(VSCODE_ENV) node ../../tools/editors/vscode-quiet.mjs test/workbench/$*.test.mjs

vscode-workbench-1.100: vscode-editors
	@cd $(VSCODE) && RALPH_VSCODE=1.100 $(VSCODE_ENV) node ../../tools/editors/vscode-quiet.mjs test/workbench/loop.test.mjs

.PHONY: vscode-bench
vscode-bench: vscode-editors
	@cd $(VSCODE) && RALPH_BENCH=1 RALPH_VSCODE=1.139 $(VSCODE_ENV) node ../../tools/editors/vscode-quiet.mjs test/workbench/large.test.mjs | grep ' in VS Code'

# The VS Code extension's tests; the repository's Makefile includes this.

EDITOR_TESTS += vscode-test
EDITOR_FETCHES += vscode-fetch
EDITOR_BENCHES += vscode-bench

VSCODE     := editors/vscode
VSCODE_OUT := $(CURDIR)/$(VSCODE)/out
# What the tests in the editors are told.
VSCODE_ENV := RALPH_EDITORS_CACHE=$(CACHE)/editors RALPH_LSP=$(VSCODE_OUT)/ralph-lsp RALPH_CACHE=$(CACHE)

.PHONY: vscode-test
vscode-test: vscode-unit vscode-host vscode-workbench ## the VS Code extension, in the real VS Code

# The lock file says what is installed.
$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	@cd $(VSCODE) && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

.PHONY: vscode-unit
vscode-unit: $(VSCODE)/node_modules/.package-lock.json
	@cd $(VSCODE) && npm test --silent
	@cd $(VSCODE) && node ../../tools/editors/vscode-quiet.mjs test/package.test.mjs

.PHONY: vscode-fetch
vscode-fetch: $(VSCODE)/node_modules/.package-lock.json
	@for version in 1.139 1.100; do \
		RALPH_EDITORS_CACHE=$(CACHE)/editors tools/editors/get-vscode.sh --with-chromium $$version >/dev/null; \
	done

.PHONY: vscode-editors
vscode-editors: vscode-fetch
	@CGO_ENABLED=0 go build -trimpath -o $(VSCODE_OUT)/ralph-lsp ./cmd/ralph-lsp
	@cd $(VSCODE) && node scripts/build.mjs

# Version 1.139 has all tests; 1.100, the oldest that runs here, one for each part of
# its interface that the extension uses: those with @oldest in their title.
.PHONY: vscode-host
vscode-host: vscode-editors
	@cd $(VSCODE) && failed=0; \
	$(VSCODE_ENV) test/host/run.sh 1.139 || failed=1; \
	RALPH_TEST_GREP=@oldest $(VSCODE_ENV) test/host/run.sh 1.100 || failed=1; \
	exit $$failed

.PHONY: vscode-workbench
vscode-workbench: vscode-editors agents
	@cd $(VSCODE) && failed=0; \
	RALPH_VSCODE=1.139 $(VSCODE_ENV) node ../../tools/editors/vscode-quiet.mjs test/workbench/*.test.mjs || failed=1; \
	RALPH_VSCODE=1.100 $(VSCODE_ENV) node ../../tools/editors/vscode-quiet.mjs test/workbench/loop.test.mjs || failed=1; \
	exit $$failed

.PHONY: vscode-bench
vscode-bench: vscode-editors
	@cd $(VSCODE) && RALPH_BENCH=1 RALPH_VSCODE=1.139 $(VSCODE_ENV) node ../../tools/editors/vscode-quiet.mjs test/workbench/flood.test.mjs test/workbench/large.test.mjs | grep ' in VS Code'

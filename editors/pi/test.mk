# The pi extension: its types against the pinned pi, and its unit tests. e2e drives it in
# the real pi (e2e/inside_test.go).

EDITOR_TESTS += pi-test

PI_NODE = $(firstword $(wildcard $(CACHE)/agents/node-*/node_modules/.bin/node))

.PHONY: pi-test
pi-test: agents editors/vscode/node_modules/.package-lock.json ## the pi extension's types and unit tests
	@cd editors/pi && $(PI_NODE) ../vscode/node_modules/typescript/bin/tsc --noEmit
	@cd editors/pi && $(PI_NODE) ../../tools/editors/vscode-quiet.mjs test/*.test.ts

# Quiet on success, loud on failure. What the targets need besides Go, a C
# compiler, node with npm, make and git is installed into .cache.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# What make knows is divided by spaces: it would write, and clean, beside this folder.
ifneq ($(words $(CURDIR)),1)
ifneq ($(filter-out build help,$(MAKECMDGOALS)),)
$(error the path of this checkout has a space, "$(CURDIR)": make can only build there. Move it to a path without one)
endif
endif

CACHE    := $(CURDIR)/.cache
FUZZTIME ?= 20s
E2E      ?= on

STATICCHECK_VERSION := v0.8.2
STATICCHECK := $(CACHE)/tools/staticcheck-$(STATICCHECK_VERSION)
# One processor each, for macOS and Windows: what a release builds for the other has the same files and types.
PLATFORMS   := darwin/arm64 linux/arm64 windows/amd64

# A checkout that belongs to another user must build too: git refuses to
# describe it, and Go would fail to stamp the binary.
# All is built as releases are, without cgo and without the checkout's path: what one part compiles
# is there for the others, and for other checkouts. Only the race detector needs cgo.
export GOFLAGS += -buildvcs=false -trimpath
export CGO_ENABLED := 0
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Tests of all rooms; make vet has what go vet says of them. RESULTS shows what failed, and keeps how long tests took.
GO_TEST := go test -json -vet=off -timeout 30m
RESULTS := go run ./internal/test/results
# Prints the figures, and why there are none.
FIGURES := { grep -vE '^(goos|goarch|pkg|cpu|PASS|ok) ?' || true; }

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

.PHONY: build
build: ## the programs, as bin/ralph-lsp and bin/ralph-fleet
	@go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./cmd/...

# Each editor adds its tests and figures; EDITORS=off leaves them out, loudly.
EDITOR_TESTS :=
EDITOR_BENCHES :=
-include editors/*/test.mk
include release/release.mk

# The parts of make test. Each is run whatever becomes of the others, and what it says comes in one piece. They run in
# two lanes, as editors are waited for more than they compute. A part fetches what it misses: agents and editors come
# while the other lane computes.
CHECKS  := format vet staticcheck tidy cross release-check
EDITING := $(if $(filter off,$(EDITORS)),editors,$(EDITOR_TESTS))

.PHONY: test
test: ## everything (E2E=off leaves the real agents out, EDITORS=off the real editors, WINDOWS=off Wine)
	@logs=$$(mktemp -d); \
	lane() { for part in "$$@"; do \
		TIMEFORMAT="$$part %0R %0U %0S"; \
		{ time $(MAKE) --no-print-directory --keep-going $$part >$$logs/$$part 2>&1; } 2>>$$logs/.took || echo $$part >>$$logs/.failed; \
		cat $$logs/$$part; \
	done; }; export RALPH_TEST_TIMES=$$logs/.tests; \
	set -m; lane $(EDITING) </dev/null & beside=$$!; set +m; \
	trap 'kill -- -$$beside 2>/dev/null || true; rm -rf $$logs' EXIT; \
	lane $(CHECKS) unit windows e2e </dev/null; wait $$beside; \
	echo "make test took $$SECONDS s; of each part, seconds and those of processors:" $$(awk '{ print $$1, $$2 "/" $$3 + $$4 }' $$logs/.took); \
	echo "the slowest tests:" $$(sort -rn $$logs/.tests | awk 'NR <= 8 { print $$3, $$1 }'); \
	if [ -e $$logs/.failed ]; then echo "*** make test: FAILED:" $$(cat $$logs/.failed) >&2; exit 1; fi

.PHONY: editors
ifeq ($(EDITORS),off)
editors:
	@echo "*** EDITORS=off: the real editors (Neovim, VS Code) were NOT tested ***" >&2
else
editors: $(EDITOR_TESTS) ## the plugins in the real editors
endif

.PHONY: check
check: $(CHECKS) ## formatting, vet, staticcheck, go.mod, other platforms, how releases are made

.PHONY: format
format:
	@folders=$$(go list -tags e2e -f '{{.Dir}}' ./...); \
	unformatted=$$(gofmt -l $$folders); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

# vet is the first to compile what others use, and staticcheck would collect its heap twice as often as Go does.
SELDOM := GOGC=200

.PHONY: vet
vet:
	@$(SELDOM) go vet -tags e2e,smoke ./...

.PHONY: staticcheck
staticcheck: $(STATICCHECK)
	@$(SELDOM) $(STATICCHECK) -tags e2e ./...

$(STATICCHECK):
	@mkdir -p $(@D)/install
	@GOBIN=$(@D)/install go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	@mv $(@D)/install/staticcheck $@

.PHONY: tidy
tidy:
	@go mod tidy -diff

.PHONY: cross
cross:
	@GOGC=400 go run ./internal/test/crosscheck $(PLATFORMS)

# The race detector makes tests up to five times slower, and finds something only where things happen at
# once. Rooms where neither code nor tests do so are tested without it (alone), and so are those of SELDOM_TOGETHER,
# which are the command line and walls, but for the tests of what does (TOGETHER).
SELDOM_TOGETHER := ./cmd/ralph-lsp ./sandbox
ALONE := rooms=$$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | grep -vxE '$(CURDIR)/(cmd/ralph-lsp|sandbox)'); \
	alone=$$(for room in $$rooms; do \
		grep -qsE --exclude='*bench_test.go' '^[[:space:]]*(defer )?go [a-z]|\.Go\(|AfterFunc|[^a-z](sync|atomic)\.|t\.Parallel\(' $$room/*.go || echo $$room; done); \
	others=$$(grep -vxF "$$alone" <<<"$$rooms")
TOGETHER := Answered|CtrlZ|IsEnding|TestALogin|CommandLine/^(once|watch|control)$$

# The tests of large amounts and of many kills, in files that are built without the race
# detector: it finds no more in them than in the others. Those of rooms that are alone run there.
BULK := files=$$(grep -lsE '^//go:build .*!race' $$(sed 's|$$|/*_test.go|' <<<"$$others")); \
	packages=$$(dirname $$files | sort -u); \
	tests=$$(sed -n 's/^func \(Test[A-Za-z0-9_]*\)(t .*/\1/p' $$files | paste -sd '|')

# Walls are tested with bubblewrap, the system's or one of .cache. SANDBOX=off leaves these
# tests out where it can't work, loudly; else what it can't do fails.
ifeq ($(SANDBOX),off)
.PHONY: bubblewrap
bubblewrap:
	@echo "*** SANDBOX=off: tests of walls are left out where bubblewrap doesn't work ***" >&2
else ifeq ($(shell uname),Linux)
export RALPH_TEST_SANDBOX := required
ifeq ($(shell command -v bwrap),)
export PATH := $(CACHE)/editors/bwrap/bookworm/usr/bin:$(PATH)
endif
.PHONY: bubblewrap
bubblewrap:
	@command -v bwrap >/dev/null || { mkdir -p $(CACHE); RALPH_EDITORS_CACHE=$(CACHE)/editors tools/editors/get-debian.sh bookworm usr/bin/bwrap bubblewrap >/dev/null 2>$(CACHE)/bubblewrap.log || { cat $(CACHE)/bubblewrap.log >&2; exit 1; }; }
else
.PHONY: bubblewrap
bubblewrap:
endif

# Many tests wait for processes, so one package more than processors is at work; those that take
# longest are first, or one of them would be alone at the end.
AT_ONCE := $(shell echo $$((1 + $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))
LONGEST := $(addprefix $(CURDIR)/,server loop/engine changes fleet backends)

# Heaps of tests are small: collecting them less often saves a tenth under the race detector.
RACE := GORACE=atexit_sleep_ms=0 GOGC=400 CGO_ENABLED=1 $(GO_TEST) -race -p $(AT_ONCE)

# A room whose tests run loops without a home of their own (internal/test/testhome) can keep nothing, and fails.
unit race quick: export RALPH_STATE_DIR := /dev/null

.PHONY: unit
unit: bubblewrap ## the tests that need nothing installed; what happens at once, under the race detector
	@$(ALONE); failed=; \
	$(RACE) $(LONGEST) $$others | $(RESULTS) || failed=1; \
	$(RACE) -run '$(TOGETHER)' $(SELDOM_TOGETHER) | $(RESULTS) || failed=1; \
	$(GO_TEST) -p $(AT_ONCE) $(SELDOM_TOGETHER) $$alone | $(RESULTS) || failed=1; \
	$(BULK); $(GO_TEST) -p $(AT_ONCE) -run "^($$tests)$$" $$packages | $(RESULTS) || failed=1; \
	[ -z "$$failed" ]

.PHONY: race
race: bubblewrap ## all of them under the race detector, but for those of large amounts
	@$(RACE) $(LONGEST) ./... | $(RESULTS)

# The rooms that differ from origin's main, or from HEAD where there is none, and those that import them. Rooms that take
# longest to test (UNHURRIED) are left to make unit where only what they import differs.
UNHURRIED := /(backends|cmd/ralph-lsp|fleet|server)$$
.PHONY: quick
quick: bubblewrap ## the tests of what differs from main, and of most who import that, without the race detector
	@base=$$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || echo HEAD); \
	changed=$$({ git diff --name-only $$base; git ls-files --others --exclude-standard; } | sed 's|/testdata/.*|/|; s|[^/]*$$||; s|^|$(CURDIR)/|; s|/$$||' | sort -u); \
	rooms=$$(go list -f '{{.Dir}} {{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | awk -v changed="$$changed" ' \
		BEGIN { n = split(changed, dirs, "\n"); for (i = 1; i <= n; i++) isChanged[dirs[i]] = 1 } \
		{ imports[$$2] = $$0; if ($$1 in isChanged) rooms[$$2] = 1 } \
		END { for (p in imports) { n = split(imports[p], f, " "); for (i = 2; i <= n; i++) if (f[i] in rooms) { print (p in rooms ? "changed" : "imports"), p; break } } }'); \
	left=$$(awk '$$1 == "imports" && $$2 ~ "$(UNHURRIED)" { print $$2 }' <<<"$$rooms"); \
	rooms=$$(awk 'NF && !($$1 == "imports" && $$2 ~ "$(UNHURRIED)") { print $$2 }' <<<"$$rooms"); \
	if [ -z "$$rooms" ]; then echo "no room differs from $$base"; else echo "testing" $$rooms; go test -json -vet=off -timeout 10m -p $(AT_ONCE) $$rooms | $(RESULTS); fi; \
	[ -z "$$left" ] || echo "left to make unit:" $$left

.PHONY: soak
soak: ## tests that kill processes at random moments, at ten times as many of them
	@RALPH_TEST_KILLS=150 $(GO_TEST) -count=1 -run '^Test(A)?Kill(ed)?AtAnyMoment$$' ./changes ./worktree | $(RESULTS)

.PHONY: agents
agents: ## installs the pinned agents that e2e runs
	@go run ./internal/test/agents/install

# What sandbox-runtime needs besides bubblewrap, for the tests that run it.
.PHONY: sandbox-tools
sandbox-tools:
ifneq ($(SANDBOX),off)
ifeq ($(shell uname),Linux)
	@mkdir -p $(CACHE); for tool in socat:socat rg:ripgrep; do \
		RALPH_EDITORS_CACHE=$(CACHE)/editors tools/editors/get-debian.sh bookworm usr/bin/$${tool%:*} $${tool#*:} >/dev/null 2>$(CACHE)/sandbox-tools.log || { cat $(CACHE)/sandbox-tools.log >&2; exit 1; }; \
	done
endif
endif

.PHONY: clients
clients:
	@mkdir -p $(CACHE); for suite in forky trixie; do \
		RALPH_EDITORS_CACHE=$(CACHE)/editors tools/editors/get-debian.sh $$suite usr/bin/hx hx >/dev/null 2>$(CACHE)/clients.log || { cat $(CACHE)/clients.log >&2; exit 1; }; \
	done

.PHONY: e2e
ifeq ($(E2E),off)
e2e:
	@echo "*** E2E=off: the real agents (pi, claude) were NOT tested ***" >&2
else
e2e: agents clients sandbox-tools bubblewrap ## the program with the real agents, against a scripted model
	@$(GO_TEST) -tags e2e -count=1 -p 2 -parallel 3 ./e2e/... | $(RESULTS)
endif

# The program of Windows, by the system's Wine or by that of .cache. make test fetches none.
SMOKE := IFS=$$'\t' read -r wine prefix <<<"$$found"; \
	RALPH_WINE=$$wine WINEPREFIX=$$prefix WINEDEBUG=-all go test -tags smoke -count=1 -parallel 2 -timeout 15m ./e2e/windows

.PHONY: windows
windows:
ifeq ($(WINDOWS),off)
	@echo "*** WINDOWS=off: the program of Windows was NOT run ***" >&2
else
	@if found=$$(tools/windows/wine.sh --here $(CACHE)); then $(SMOKE); \
	else echo "*** no Wine: the program of Windows was NOT run (make windows-smoke fetches Wine) ***" >&2; fi
endif

.PHONY: windows-smoke
windows-smoke: ## the program of Windows by Wine, which is put into .cache where there is none: who survives its ends?
	@found=$$(tools/windows/wine.sh $(CACHE)); $(SMOKE)

.PHONY: bench
bench: bubblewrap ## how fast it is, as ratios (docs/PERFORMANCE.md)
	@go test -run '^$$' -bench 'Decode/.*/(scan|ours)' -benchtime 20x -count 3 ./stream/decode | $(FIGURES)
	@go test -run '^$$' -bench 'Decode/.*/encoding' -benchtime 1x ./stream/decode | $(FIGURES)
	@go test -run '^$$' -bench '^Benchmark(IterationGap|Handle|Turn)$$' ./loop/engine | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkTake$$' -benchtime 20x ./changes | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkCommit$$' -benchtime 10x ./worktree | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkFeed$$' ./server/feed | $(FIGURES)
	@go test -run '^$$' -bench '^Benchmark(Initialize|Reaper|Runs)$$' -benchtime 1x ./cmd/ralph-lsp | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkWalls$$' -benchtime 1x ./sandbox | $(FIGURES)
	@go test -tags e2e -run '^$$' -bench . -benchtime 1x -timeout 1h ./e2e/sidecar | $(FIGURES)
	@go test -run '^$$' -bench '^Benchmark(Iteration|Cancel)$$' -benchtime 1000x ./fleet/natsbus | $(FIGURES)
	@go test -run '^$$' -bench List -benchtime 3x ./fleet/natsbus | $(FIGURES)
	@go test -run '^$$' -bench 'Ledger/50_' -benchtime 1000x ./fleet/natsbus | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkFleet$$' -benchtime 1x ./fleet/natsbus | $(FIGURES)
	@go test -tags e2e -run '^$$' -bench . -benchtime 1x -timeout 1h ./e2e/fleet | $(FIGURES)
	@go test -tags e2e -run '^$$' -bench Live -benchtime 1x -timeout 1h ./e2e | $(FIGURES)
	@go test -run '^$$' -bench . -benchtime 3x ./history ./registry | $(FIGURES)
ifneq ($(EDITORS),off)
	@for part in $(EDITOR_BENCHES); do $(MAKE) --no-print-directory $$part; done
endif

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

.PHONY: clean
clean: ## removes what was built and installed
	@chmod -R u+w $(CACHE) 2>/dev/null || true
	@rm -rf bin dist $(CACHE)

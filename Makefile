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
# All modules are those of this checkout's go.work, with which no -mod of the user's goes together.
unexport GOWORK
export GOFLAGS := $(filter-out -mod=%,$(GOFLAGS)) -buildvcs=false -trimpath
export CGO_ENABLED := 0
VERSION := $(shell git describe --tags --match 'v[0-9]*' --always --dirty 2>/dev/null || echo dev)

# The modules of go.work: ralph-lsp, and ralph-fleet next door, which alone has a bus.
ALL := ./... ./fleet/...

# Tests of rooms, by go test; make vet has what go vet says of them. A run that fails says at its end why.
GO_TEST := go run ./internal/test/results -timeout 30m
# How an editor's tests say that they are run alone.
export RALPH_TEST_ALONE = make $@

# Prints the figures, and why there are none.
FIGURES := { grep -vE '^(goos|goarch|pkg|cpu|PASS|ok) ?' || true; }

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

.PHONY: build
build: ## the programs, as bin/ralph-lsp and bin/ralph-fleet
	@go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./cmd/... ./fleet/cmd/...

# Each editor adds its tests and figures; EDITORS=off leaves them out, loudly.
EDITOR_TESTS :=
EDITOR_BENCHES :=
-include editors/*/test.mk
include fleet/test.mk
include tools/release/release.mk

# All of ralph-lsp's Go tests but those of real agents and clients (e2e).
.PHONY: test
test: ## ralph-lsp's Go tests with stand-ins, without the race detector; it fetches Go modules, nothing else
	@$(GO_TEST) -p $(AT_ONCE) $(LONGEST) ./...

# The parts of make ci. Each is run whatever becomes of the others, and what it says comes in one piece; why they
# failed is said at the very end. They run in two lanes, as editors are waited for more than they compute. A part
# fetches what it misses: agents and editors come while the other lane computes.
CHECKS := format vet staticcheck tidy cross release-check
COMPUTING := $(CHECKS) test fleet-test race night windows e2e
EDITING := $(if $(filter off,$(EDITORS)),editors,$(EDITOR_TESTS))

.PHONY: ci
ci: ## everything (E2E=off leaves the real agents out, EDITORS=off the real editors, WINDOWS=off Wine, SANDBOX=off walls)
	@logs=$$(mktemp -d); touch $$logs/.tests; \
	lane() { for part in "$$@"; do \
		TIMEFORMAT="$$part %0R %0U %0S"; \
		{ time RALPH_TEST_FELL=$$logs/$$part.fell $(MAKE) --no-print-directory --keep-going $$part >$$logs/$$part 2>&1; } 2>>$$logs/.took || { echo $$part >>$$logs/.failed; tools/ci/again.sh $$logs/$$part.fell || true; }; \
		cat $$logs/$$part; \
	done; }; export RALPH_TEST_TIMES=$$logs/.tests SANDBOX=$(or $(SANDBOX),required); \
	set -m; lane $(EDITING) </dev/null & beside=$$!; set +m; \
	trap 'kill -- -$$beside 2>/dev/null || true; rm -rf $$logs' EXIT; \
	lane $(COMPUTING) </dev/null; wait $$beside; \
	echo "make ci took $$SECONDS s; of each part, seconds and those of processors:" $$(awk '{ print $$1, $$2 "/" $$3 + $$4 }' $$logs/.took); \
	echo "the slowest tests:" $$(sort -rn $$logs/.tests | awk 'NR <= 8 { print $$3, $$1 }'); \
	[ -e $$logs/.failed ] || exit 0; \
	for part in $$(cat $$logs/.failed); do \
		if [ -s $$logs/$$part.fell ]; then cat $$logs/$$part.fell; \
		else echo "*** FAILED: make $$part"; { grep -v '^make' $$logs/$$part || true; } | tail -n 8; fi | sed -n '1,'$$((17 / $$(wc -l <$$logs/.failed)))p; \
	done >&2; \
	echo "*** make ci: FAILED:" $$(cat $$logs/.failed) >&2; exit 1

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
	@folders=$$(go list -tags e2e,soak -f '{{.Dir}}' $(ALL)); \
	unformatted=$$(gofmt -l $$folders); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

# vet is the first to compile what others use, and staticcheck would collect its heap twice as often as Go does.
SELDOM := GOGC=200

.PHONY: vet
vet:
	@$(SELDOM) go vet -tags e2e,smoke,soak $(ALL)

.PHONY: staticcheck
staticcheck: $(STATICCHECK)
	@$(SELDOM) $(STATICCHECK) -tags e2e,soak $(ALL)

$(STATICCHECK):
	@mkdir -p $(@D)/install
	@GOBIN=$(@D)/install go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	@mv $(@D)/install/staticcheck $@

.PHONY: tidy
tidy:
	@GOWORK=off go mod tidy -diff
	@fleet/tidy.sh -diff

.PHONY: cross
cross:
	@GOGC=400 go run ./internal/test/crosscheck $(PLATFORMS) $(ALL)

# Walls are tested with bubblewrap. make test does without where it can't work, and says so; where SANDBOX is "required"
# such tests fail, as in make ci, whose bubblewrap is the system's or one of .cache. SANDBOX=off does without anywhere.
ifeq ($(shell uname),Linux)
ifeq ($(shell command -v bwrap),)
export PATH := $(CACHE)/editors/bwrap/bookworm/usr/bin:$(PATH)
endif
endif
.PHONY: bubblewrap
ifeq ($(SANDBOX),off)
bubblewrap:
	@echo "*** SANDBOX=off: tests of walls are left out where bubblewrap doesn't work ***" >&2
else ifeq ($(shell uname),Linux)
race night e2e bench: export RALPH_TEST_SANDBOX := required
bubblewrap:
	@command -v bwrap >/dev/null || { mkdir -p $(CACHE); RALPH_EDITORS_CACHE=$(CACHE)/editors tools/editors/get-debian.sh bookworm usr/bin/bwrap bubblewrap >/dev/null 2>$(CACHE)/bubblewrap.log || { cat $(CACHE)/bubblewrap.log >&2; exit 1; }; }
ifeq ($(SANDBOX),required)
test fleet-test: export RALPH_TEST_SANDBOX := required
test fleet-test: bubblewrap
endif
else
bubblewrap:
endif

# Many tests wait for processes, so one package more than processors is at work; those that take
# longest are first, or one of them would be alone at the end.
AT_ONCE := $(shell echo $$((1 + $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))
LONGEST := $(addprefix $(CURDIR)/,server loop/engine sandbox cmd/ralph-lsp workspace/changes backends)

# A room whose tests run loops without a home of their own (internal/test/testhome) can keep nothing, and fails.
test fleet-test race quick: export RALPH_STATE_DIR := /dev/null

# The race detector makes tests up to five times slower, and finds something only where things happen at once: in the
# rooms of this list, which internal/test/archtest holds against their code. Of RACES_IN_PART only the tests of what does
# are run with it: the rest are of the command line, of walls and of gits, which are other processes.
RACES := backends backends/acp backends/reaper cmd/internal/top cmd/internal/window \
	fleet fleet/child fleet/client fleet/cmd/ralph-fleet fleet/ledger fleet/metrics fleet/natsbus fleet/submitter \
	history internal/accept internal/awake internal/control internal/git internal/notify internal/regular internal/terminal \
	keeper keeper/client keeper/door \
	loop/engine loop/engine/executor loop/engine/inbox loop/engine/presence loop/engine/sentry loop/engine/snapshots loop/start loop/verify \
	loopstate loopstate/journal loopstate/registry \
	server server/acp server/acp/rpc server/ahp server/documents server/feed server/findings \
	server/folders server/mcp server/rpc server/session server/stdio server/transcript server/turns service
RACES_IN_PART := cmd/ralph-lsp sandbox workspace/changes workspace/worktree
TOGETHER := EachIteration|ReadWhileOthers|ManyUnknown|UndoOfSome|OneAtATime|CommitOfASnapshot|LandingBrings|AtOnce|WithChanges|Answered|CtrlZ|IsEnding|TestALogin|CommandLine/^(once|watch|control)$$

# Heaps of tests are small: collecting them less often saves a tenth under the race detector.
RACE := GORACE=atexit_sleep_ms=0 GOGC=400 $(GO_TEST) -race -p $(AT_ONCE)

.PHONY: race
race: bubblewrap ## the rooms where things happen at once, under the race detector; but for tests of large amounts
	@failed=; \
	$(RACE) $(addprefix ./,$(RACES)) || failed=1; \
	$(RACE) -run '$(TOGETHER)' $(addprefix ./,$(RACES_IN_PART)) || failed=1; \
	[ -z "$$failed" ]

# The rooms that differ from origin's main, or from HEAD where there is none, and those that import them. Rooms that take
# longest to test (UNHURRIED) are left to make test where only what they import differs.
UNHURRIED := /(backends|cmd/ralph-lsp|fleet|server)$$
.PHONY: quick
quick: ## the tests of what differs from main, and of most who import that, without the race detector
	@base=$$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || echo HEAD); \
	changed=$$({ git diff --name-only $$base; git ls-files --others --exclude-standard; } | sed 's|/testdata/.*|/|; s|[^/]*$$||; s|^|$(CURDIR)/|; s|/$$||' | sort -u); \
	rooms=$$(go list -f '{{.Dir}} {{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' $(ALL) | awk -v changed="$$changed" ' \
		BEGIN { n = split(changed, dirs, "\n"); for (i = 1; i <= n; i++) isChanged[dirs[i]] = 1 } \
		{ imports[$$2] = $$0; if ($$1 in isChanged) rooms[$$2] = 1 } \
		END { for (p in imports) { n = split(imports[p], f, " "); for (i = 2; i <= n; i++) if (f[i] in rooms) { print (p in rooms ? "changed" : "imports"), p; break } } }'); \
	left=$$(awk '$$1 == "imports" && $$2 ~ "$(UNHURRIED)" { print $$2 }' <<<"$$rooms"); \
	rooms=$$(awk 'NF && !($$1 == "imports" && $$2 ~ "$(UNHURRIED)") { print $$2 }' <<<"$$rooms"); \
	if [ -z "$$rooms" ]; then echo "no room differs from $$base"; else echo "testing" $$rooms; $(GO_TEST) -p $(AT_ONCE) $$rooms; fi; \
	[ -z "$$left" ] || echo "left to make test:" $$left

# Loops of 600 iterations, long enough to see what grows with them; and one of 200 that has weather of each kind.
.PHONY: night
night: bubblewrap ## whether an iteration costs the same at the end of a short night, and whether one with weather is told as it was
	@$(GO_TEST) -tags soak -count=1 -run '^TestANight(OfWeather)?$$' ./e2e/soak

# A night prints what it costs; so this is no quiet target.
.PHONY: soak
soak: ## before a release: nights of 10,000 iterations, kills at random moments, floods, many loops. An hour
	@RALPH_TEST_KILLS=150 $(GO_TEST) -count=1 -run '^Test(A)?Kill(ed)?AtAnyMoment$$' ./workspace/changes ./workspace/worktree
	@RALPH_SOAK_ITERATIONS=10000 go test -tags soak -count=1 -v -timeout 4h ./e2e/soak | grep --line-buffered -v '^=== '

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
	@$(GO_TEST) -tags e2e -count=1 -p 2 -parallel 3 ./e2e/... ./fleet/e2e
endif

# The program of Windows, by the system's Wine or by that of .cache. make ci fetches none.
SMOKE := IFS=$$'\t' read -r wine prefix <<<"$$found"; \
	RALPH_WINE=$$wine WINEPREFIX=$$prefix WINEDEBUG=-all $(GO_TEST) -tags smoke -count=1 -parallel 2 -timeout 15m ./e2e/windows

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
	@go test -run '^$$' -bench '^BenchmarkTake$$' -benchtime 20x ./workspace/changes | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkLongLoop$$' -benchtime 1x ./workspace/changes | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkCommit$$' -benchtime 10x ./workspace/worktree | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkFeed$$' ./server/feed | $(FIGURES)
	@go test -run '^$$' -bench '^Benchmark(Initialize|Reaper|Runs)$$' -benchtime 1x ./cmd/ralph-lsp | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkWalls$$' -benchtime 1x ./sandbox | $(FIGURES)
	@go test -tags e2e -run '^$$' -bench . -benchtime 1x -timeout 1h ./e2e/sidecar | $(FIGURES)
	@$(MAKE) --no-print-directory fleet-bench
	@go test -tags e2e -run '^$$' -bench Live -benchtime 1x -timeout 1h ./e2e | $(FIGURES)
	@go test -run '^$$' -bench . -benchtime 3x ./history ./loopstate/registry | $(FIGURES)
ifneq ($(EDITORS),off)
	@for part in $(EDITOR_BENCHES); do $(MAKE) --no-print-directory $$part; done
endif

# Without a bound Go makes what it finds interesting smaller for a minute each, in which it tries nothing new.
.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@for package in $$(go list $(ALL)); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package; \
		done; \
	done

.PHONY: clean
clean: ## removes what was built and installed
	@chmod -R u+w $(CACHE) 2>/dev/null || true
	@rm -rf bin dist $(CACHE)

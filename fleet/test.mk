# The tests of ralph-fleet, a module of its own; the repository's Makefile includes this, and has what looks at both modules.

.PHONY: fleet-test
fleet-test: ## ralph-fleet's Go tests: a bus, workers and commands, on loopback
	@$(GO_TEST) -p $(AT_ONCE) $(addprefix $(CURDIR)/,fleet fleet/natsbus) ./fleet/...

.PHONY: fleet-bench
fleet-bench:
	@go test -run '^$$' -bench '^Benchmark(Iteration|Cancel)$$' -benchtime 1000x ./fleet/natsbus | $(FIGURES)
	@go test -run '^$$' -bench List -benchtime 3x ./fleet/natsbus | $(FIGURES)
	@go test -run '^$$' -bench 'Ledger/50_' -benchtime 1000x ./fleet/natsbus | $(FIGURES)
	@go test -run '^$$' -bench '^BenchmarkFleet$$' -benchtime 1x ./fleet/natsbus | $(FIGURES)
	@go test -tags e2e -run '^$$' -bench . -benchtime 1x -timeout 1h ./fleet/e2e | $(FIGURES)

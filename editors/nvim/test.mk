# The Neovim plugin in the real editors. What it needs is fetched into
# .cache/editors: Neovim 0.10 and 0.12, luacheck and stylua. The real agents come
# from .cache/agents.

EDITOR_TESTS += nvim-test
EDITOR_BENCHES += nvim-bench

.PHONY: nvim-test
nvim-test: ## the Neovim plugin in Neovim 0.10 and 0.12
	@editors/nvim/tests/all.sh

.PHONY: nvim-bench
nvim-bench:
	@RALPH_BENCH=1 editors/nvim/tests/all.sh flood:

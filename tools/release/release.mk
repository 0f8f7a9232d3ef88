# Releases; the repository's Makefile includes this. docs/RELEASING.md says what they are.

GORELEASER := $(CACHE)/tools/goreleaser-v2.15.0
CYCLONEDX  := $(CACHE)/tools/cyclonedx-gomod-v1.9.0
ACTIONLINT := $(CACHE)/tools/actionlint-v1.7.7

$(GORELEASER): TOOL := github.com/goreleaser/goreleaser/v2
$(CYCLONEDX):  TOOL := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
$(ACTIONLINT): TOOL := github.com/rhysd/actionlint/cmd/actionlint

# goreleaser takes five minutes to build, once.
$(GORELEASER) $(CYCLONEDX) $(ACTIONLINT): $(CACHE)/tools/%:
	@mkdir -p $(@D)/install
	@GOBIN=$(@D)/install go install $(TOOL)@v$(lastword $(subst -v, ,$*))
	@mv $(@D)/install/$(firstword $(subst -v, ,$*)) $@

.PHONY: release
release release-test: export GORELEASER := $(GORELEASER)
release release-test: export CYCLONEDX := $(CYCLONEDX)
release: $(GORELEASER) $(CYCLONEDX) editors/vscode/node_modules/.package-lock.json ## all that a release has, in dist/; publishes nothing
	@tools/release/make.sh

# Minutes, as it installs each package and builds all of it twice more. WAYS=... walks some.
.PHONY: release-test
release-test: $(GORELEASER) $(CYCLONEDX) agents
	@tools/release/test.sh

# What can be known in seconds. goreleaser's own word is added where it has been built.
.PHONY: release-check
release-check: $(ACTIONLINT)
	@$(ACTIONLINT) -no-color
	@for script in tools/release/*.sh; do bash -n $$script; done; for script in tools/release/*.mjs tools/release/npm/*.js; do node --check $$script; done
	@! [ -e $(GORELEASER) ] || $(GORELEASER) check --quiet --config tools/release/goreleaser.yaml

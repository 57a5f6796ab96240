# make help lists the targets.
export PATH := $(PATH):/usr/local/go/bin
SHELL := /bin/bash

# Stamp the revision only where git can tell it: a source archive has none.
VCS := $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo true || echo false)
FUZZTIME ?= 10s
COUNT ?= 10

.PHONY: help build demo test race fuzz lint conformance client generated check bench-compare clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

build: ## bin/gnocco
	CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/gnocco ./cmd/gnocco

demo: build ## serve on port 8041 with this machine's figures coming in; FOR=30s to stop by itself
	./bin/gnocco demo $(if $(FOR),--for $(FOR))

test: ## all tests
	@set -o pipefail; go test -json ./... | go run ./tools/testsum

race: ## the tests of what runs concurrently, with the race detector (needs a C compiler)
	@set -o pipefail; CGO_ENABLED=1 go test -race -short -json ./storage/... ./metricd/... ./api/... ./correlate/... ./internal/... ./cmd/... | go run ./tools/testsum

fuzz: ## every fuzz target for FUZZTIME (10s)
	tools/fuzz.sh $(FUZZTIME)

lint: ## format, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...

conformance: build ## Gnocchi's functional tests against bin/gnocco
	tools/conformance.sh

client: build ## Gnocchi's command-line client against bin/gnocco
	tests/conformance/client.sh

generated: ## generated files are what their sources say
	tools/generated.sh

check: lint test race fuzz conformance generated ## what CI runs

bench-compare: ## benchmarks of this tree against REF, by turns
	@test -n "$(REF)" || { echo "usage: make bench-compare REF=main [PACKAGES=./carbonara] [COUNT=10]"; exit 2; }
	tools/bench-compare.sh "$(REF)" "$(COUNT)" $(PACKAGES)

clean: ## remove what was built
	rm -rf bin

# make help lists the targets.
export PATH := $(PATH):/usr/local/go/bin
SHELL := /bin/bash

# Stamp the revision only where git can tell it: a source archive has none.
VCS := $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo true || echo false)
FUZZTIME ?= 10s
COUNT ?= 10

.PHONY: help build kernels demo test race modules fuzz lint conformance conformance-newest differential client generated check bench-compare clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

build: ## bin/gnocco, bin/metricd
	CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/ ./cmd/gnocco ./cmd/metricd

kernels: ## gpu/kernels/kernels.ptx from its sources (needs clang++-19)
	gpu/kernels/build.sh

demo: build ## serve on port 8041 with this machine's figures coming in; FOR=30s to stop by itself
	./bin/gnocco demo $(if $(FOR),--for $(FOR))

test: ## all tests
	@set -o pipefail; go test -json ./... | go run ./tools/testsum

race: ## the tests of what runs concurrently, with the race detector (needs a C compiler)
	@set -o pipefail; CGO_ENABLED=1 go test -race -short -json ./storage/... ./metricd/... ./api/... ./correlate/... ./internal/... ./gpu/... ./cmd/... | go run ./tools/testsum

modules: ## the tests of the modules beside: files of deploy/ against their readers' schemas, claims against an etcd server
	cd deploy/check && go vet ./...
	cd tests/etcd && go vet ./...
	@set -o pipefail; for module in deploy/check tests/etcd; do (cd $$module && go test -json ./...) || exit; done | go run ./tools/testsum

fuzz: ## every fuzz target for FUZZTIME (10s)
	tools/fuzz.sh $(FUZZTIME)

lint: ## format, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	go vet ./...
	go vet -tags nogpu ./gpu/... ./cmd/gnocco
	go tool staticcheck ./...

conformance: build ## Gnocchi's functional tests against bin/gnocco, each answer held to openapi.yaml
	tools/conformance.sh

conformance-newest: build ## the same tests of a newer release: REPO=checkout of Gnocchi
	@test -n "$(REPO)" || { echo "usage: make conformance-newest REPO=DIR, a checkout of Gnocchi"; exit 2; }
	KNOWN=/dev/null GABBITS="$(REPO)/gnocchi/tests/functional/gabbits" tools/conformance.sh

differential: build ## the same requests to a real Gnocchi and to bin/gnocco, compared
	tools/differential.sh

client: build ## Gnocchi's command-line client against bin/gnocco
	tests/conformance/client.sh

generated: ## generated files are what their sources say
	tools/generated.sh

check: lint test race modules fuzz conformance generated ## what CI runs

bench-compare: ## benchmarks of this tree against REF, by turns
	@test -n "$(REF)" || { echo "usage: make bench-compare REF=main [PACKAGES=./carbonara] [COUNT=10]"; exit 2; }
	tools/bench-compare.sh "$(REF)" "$(COUNT)" $(PACKAGES)

clean: ## remove what was built
	rm -rf bin

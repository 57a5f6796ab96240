# make help lists the targets.
export PATH := $(PATH):/usr/local/go/bin
SHELL := /bin/bash
# One build for everything: with equal flags, programs and tests share each compiled package, in any folder. Only the race
# detector has a second one, and needs a C compiler.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# Stamp the revision only where git can tell it: a source archive has none.
VCS := $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo true || echo false)
FUZZTIME ?= 10s
COUNT ?= 10
SHORT ?= -short

# `make lint` vets, tests too. The limit is for a test that hangs: two busy cores take an hour for all.
TEST = go test -json -vet=off -timeout 60m -p $(shell expr $$(nproc) + 2)
SUM = go run ./tools/testsum
# Suites cover the product's module and these modules of their own. There is no go.work: decision 88 says why.
MODULES = . bench cmd/gnocco-client cmd/gnocco-correlate cmd/gnocco-import tests/prometheus tests/console
# $(call each,COMMAND) runs a command in each of them, and fails if one of them did.
each = status=0; for module in $(MODULES); do (cd $$module && $(1)) || status=1; done; (exit $$status)

ARM64 = $(TEST) -tags nogpu -short -exec qemu-aarch64-static

# What starts goroutines or guards what they share. Tests of cmd/gnocco start processes, in which nothing looks for races,
# and its package fsck starts no goroutines.
RACE = $(shell grep -rlE --include='*.go' '^[[:space:]]*(defer )?go [a-zA-Z]|"sync|Parallel|errgroup' ./api ./cluster ./correlate ./gpu \
	./ingest ./internal ./metricd ./query ./rules ./statsd ./storage | grep -v ^./internal/lint/ | xargs -n 1 dirname | sort -u)
# Long tests of one goroutine, or of what others look at as well: the detector has nothing to find there.
ALONE = ^TestCPU$$/^(shapes|exact|scales|symmetry)$$|^Test(Doors|CompressedBodies|LargeAnswersAreCompressed|ManyUnreadableLines|Exact|ScriptedExpressionsAreLikeTheEngine|Resampler(Sizes|Rows|Ends|Levels|Golden)|HistoryOfRules|AnswersOfAnyPolicyAtAnyAge|GroupsOf(Histograms|Counters)AreLikeMeasures|NativeHistogramsAreAnsweredAsByPrometheus|RedundancyOfFleets|PushedLabelsAreSmall|ChurnIsBounded|ArchiveContent|EmptyMessages|TimeTellsNoUsers|BitsDependOnTheValuesOnly|Correlator(Lags|Sizes)|Unpack|Calibrate|BadInput|BadInputOfAnyOperation|ErrorsAreBounded|SimulationFindsBrokenRules|CountsOfMany|ZonedCalendar|AnswersAtAnyAgeAndRange|Dashboards(AtAnyAge|OfAnyPolicy)|HistogramsOfGroupsAreExactOrSaySo|ReplicasAreOneScraper|ReplicasTakeTheRoomOfOne)$$

.PHONY: help build programs compile migrate backup dist site bench correlate kernels demo test race long arm64 modules fuzz lint conformance conformance-newest differential client generated perf check bench-compare clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

build: migrate ## bin/gnocco, bin/metricd, and what lies beside: bin/gnocco-client, bin/gnocco-import, bin/gnocco-migrate
	go build -ldflags=-w -buildvcs=$(VCS) -o bin/ ./cmd/gnocco ./cmd/metricd
	@for module in gnocco-client gnocco-import; do (cd cmd/$$module && go build -ldflags=-w -buildvcs=$(VCS) -o ../../bin/ .) || exit; done

migrate: ## bin/gnocco-migrate, which copies a Gnocchi, reads gnocchi.conf and has the names of its programs
	cd cmd/gnocco-migrate && go build -ldflags=-w -buildvcs=$(VCS) -o ../../bin/gnocco-migrate .

dist: ## dist/: Debian packages, archives, a container image, lists of what is inside, checksums (docs/how-to/install.md)
	cd tools/dist && go run .

site: ## dist/site/: the pages of docs/ as HTML, with navigation and search
	cd tools/dist && go run ./site

bench: build ## bin/gnocco-bench, which measures bin/gnocco
	cd bench && go build -buildvcs=$(VCS) -o ../bin/ ./cmd/gnocco-bench

correlate: ## bin/gnocco-correlate, which correlates the columns of files (docs/how-to/correlate.md)
	cd cmd/gnocco-correlate && go build -ldflags=-w -buildvcs=$(VCS) -o ../../bin/ .

backup: ## bin/gnocco-backup, for buckets of S3 and encryption (docs/how-to/back-up.md)
	cd cmd/gnocco-backup && go build -ldflags=-w -buildvcs=$(VCS) -o ../../bin/ .

kernels: ## gpu/kernels/kernels.ptx from its sources, and all their tests, for minutes (needs clang++-19)
	gpu/kernels/build.sh
	go test -count=1 -timeout 60m ./gpu/device ./gpu/resample ./gpu/correlate -kernels.all

demo: build ## serve on port 8041 with this machine's figures coming in; FOR=30s to stop by itself
	./bin/gnocco demo $(if $(FOR),--for $(FOR))

# As tests/testprogram builds them: what tests run is linked before the first test's time begins.
programs:
	@mkdir -p bin/test
	@go build -ldflags='-s -w' -o bin/test/ ./cmd/gnocco ./cmd/metricd
	@cd bench && go build -ldflags='-s -w' -o ../bin/test/ ./cmd/gnocco-bench
	@for module in cmd/gnocco-client cmd/gnocco-correlate cmd/gnocco-import cmd/gnocco-migrate; do (cd $$module && go build -ldflags='-s -w' -o ../../bin/test/ .) || exit; done

compile: ## every package and its tests, for the build cache; nothing is linked, which no cache keeps
	@$(call each,go list -export -test ./... >/dev/null)

# First those of whole programs, which wait, while others compute.
test: programs ## the tests of every package; what takes minutes with fewer rounds, unless SHORT= is given, as in CI
	@set -o pipefail; export PROGRAMS_ARE_BUILT=1; { $(call each,$(TEST) $(SHORT) $$(ls -d tests 2>/dev/null | sed 's|.*|./&/...|') ./...); } | $(SUM)

race: ## the tests of what runs concurrently, with the race detector (needs a C compiler)
	@set -o pipefail; export CGO_ENABLED=1; { $(TEST) -race -short -skip '$(ALONE)' $(RACE) && (cd cmd/gnocco-correlate && \
		$(TEST) -race -short ./csv) && cd cmd/gnocco-import && $(TEST) -race -short ./internal/csvimport; } | $(SUM)

long: ## hundreds of rounds of what is random, for hours, with a line in docs/explain/long-runs.md; ONLY="chaos damage" SCALE=0.1
	tools/long.sh

arm64: ## what clients read has the same bits on arm64: nothing is fused, tests of series, stores and histories by qemu-aarch64-static
	tools/fused.sh
	tools/fused.sh ./metricd ./ingest ./storage/... ./query/...
	@set -o pipefail; export GOARCH=arm64 CGO_ENABLED=0; { $(ARM64) ./carbonara/... ./correlate/... ./storage/... ./query/aggregates ./tests/metamorphic && \
		cd cmd/gnocco-correlate && $(ARM64) ./csv; } | GOARCH= $(SUM)

modules: ## the tests of the modules beside: files of deploy/ against their readers' schemas, claims against an etcd server, migration, backups in a bucket, packages; a cluster on shared file systems, those installed
	cd deploy/check && go vet ./...
	cd tests/etcd && go vet ./...
	cd tests/opentelemetry && go vet ./...
	cd cmd/gnocco-migrate && go vet ./...
	cd cmd/gnocco-backup && go vet ./...
	cd tools/dist && go vet ./...
	@set -o pipefail; for module in deploy/check tests/etcd tests/opentelemetry cmd/gnocco-migrate cmd/gnocco-backup tools/dist; do (cd $$module && $(TEST) -parallel 4 ./...) || exit; done | $(SUM)
	@set -o pipefail; $(TEST) ./tests/disks -disks local,gluster,ceph | $(SUM)

fuzz: ## every fuzz target for FUZZTIME (10s); BLIND=blind mutates without regard to what is reached, and compiles a quarter
	tools/fuzz.sh $(FUZZTIME) $(BLIND)

lint: ## format, vet, staticcheck, nothing fused on arm64, types of the console's sources, known vulnerabilities
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	$(call each,go vet ./...)
	cd tools/pinned && go vet ./...
	go vet -tags nogpu ./gpu/... ./cmd/gnocco
	staticcheck=$$(go -C tools/pinned tool -n staticcheck) && { $(call each,$$staticcheck ./...); }
	tools/fused.sh
	tools/types.sh
	tools/vulnerabilities.sh

conformance: programs ## Gnocchi's functional tests against bin/test/gnocco, each answer held to openapi.yaml
	tools/conformance.sh

conformance-newest: programs ## the same tests of a newer release: REPO=checkout of Gnocchi
	@test -n "$(REPO)" || { echo "usage: make conformance-newest REPO=DIR, a checkout of Gnocchi"; exit 2; }
	KNOWN=/dev/null GABBITS="$(REPO)/gnocchi/tests/functional/gabbits" tools/conformance.sh

differential: build ## the same requests to a real Gnocchi and to bin/gnocco, compared
	tools/differential.sh

client: build ## Gnocchi's command-line client against bin/gnocco
	tests/conformance/client.sh

generated: ## generated files are what their sources say
	tools/generated.sh

perf: ## central benchmarks, red if slower than the revision before: BASE=revision
	go run ./tools/perfgate $(if $(BASE),-base $(BASE))

check: SHORT =
check: lint test race modules conformance fuzz generated perf ## what CI runs

bench-compare: ## benchmarks of this tree against REF, by turns
	@test -n "$(REF)" || { echo "usage: make bench-compare REF=main [PACKAGES=./carbonara] [COUNT=10]"; exit 2; }
	tools/bench-compare.sh "$(REF)" "$(COUNT)" $(PACKAGES)

clean: ## remove what was built
	rm -rf bin dist

package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/gnocco-db/gnocco/bench"
	"github.com/gnocco-db/gnocco/bench/pattern"
	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/internal/loopback"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// programs holds gnocco and gnocco-bench, built from the tree.
var programs string

func TestMain(m *testing.M) {
	dir, err := testprogram.Build("gnocco", "gnocco-bench")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	os.Exit(m.Run())
}

// results runs a benchmark and returns its lines as benchstat reads them, by name.
func results(t *testing.T, f func(context.Context, bench.Options) error) map[string]*benchfmt.Result {
	t.Helper()
	t.Parallel() // much of the time is waiting
	var out bytes.Buffer
	options := bench.Options{Self: filepath.Join(programs, "gnocco-bench"), TempDir: t.TempDir(), Floor: true,
		Run: report.Run{Seed: 42, Report: report.New(&out)}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	fatal.If(t, f(ctx, options))
	found := make(map[string]*benchfmt.Result)
	for reader := benchfmt.NewReader(&out, t.Name()); reader.Scan(); {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			found[record.Name.String()] = record.Clone()
		case *benchfmt.SyntaxError:
			t.Errorf("not in Go's benchmark format: %v", record)
		}
	}
	left, err := os.ReadDir(options.TempDir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return found
}

// expectFigures checks that the result is there with figures that are more than zero.
func expectFigures(t *testing.T, found map[string]*benchfmt.Result, name string, units ...string) {
	t.Helper()
	result := found[name]
	if result == nil {
		var names []string
		for n := range found {
			names = append(names, n)
		}
		t.Fatalf("no result %s in\n%s", name, strings.Join(names, "\n"))
	}
	for _, unit := range units {
		if v, ok := result.Value(unit); !ok || v <= 0 {
			t.Errorf("%s: %s is %v", name, unit, v)
		}
	}
}

func TestIngest(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Ingest(ctx, o, bench.IngestOptions{Metrics: 50, Measures: 20_000,
			Shapes: []bench.Shape{{50, 1, 1}, {50, 1, 4}, {20, 60, 4}}})
	})
	for _, shape := range []string{"shape=50x1/connections=1", "shape=50x1/connections=4",
		"shape=20x60/connections=4"} {
		expectFigures(t, found, "Ingest/server=gnocco/"+shape, "measures/s-acked", "measures/s-visible",
			"cpu-s/Mmeasure-stopped", "MiB-rss", "B-sent/measure", "B-disk/measure", "B-allocated/measure", "s-reopen")
		expectFigures(t, found, "Ingest/server=floor/"+shape, "measures/s-acked", "cpu-s/Mmeasure-acked")
	}
}

func TestFreshness(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Freshness(ctx, o, bench.FreshnessOptions{Probes: 30, Metrics: 100, Measures: 30_000,
			Shape: bench.Shape{Metrics: 10, Measures: 10, Connections: 3}})
	})
	for _, load := range []string{"load=none", "load=half"} {
		expectFigures(t, found, "Freshness/server=gnocco/"+load, "ms-visible-p50", "ms-visible-p99", "ms-ack-p50")
	}
	expectFigures(t, found, "Freshness/server=gnocco/load=half", "measures/s-load")
}

func TestRead(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Read(ctx, o, bench.ReadOptions{Metrics: 4, Days: 2, Step: 30 * time.Second,
			For: 50 * time.Millisecond, States: []bench.State{bench.Restarted, bench.Loaded}})
	})
	for _, query := range []string{"groups=60/granularity=60", "groups=1440/granularity=60",
		"groups=48/granularity=3600"} {
		expectFigures(t, found, "Read/server=gnocco/"+query+"/connections=4", "ms-p50", "ms-p99", "requests/s",
			"x-floor-p50", "B/answer")
		for _, state := range []string{"load"} {
			expectFigures(t, found, "Read/server=gnocco/state="+state+"/"+query+"/connections=4",
				"ms-p50", "requests/s")
		}
		expectFigures(t, found, "Read/server=floor/"+query+"/connections=4", "ms-p50", "requests/s")
	}
}

func TestAggregates(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Aggregates(ctx, o, bench.AggregatesOptions{Metrics: []int{20, 70}, Groups: 100,
			For: 30 * time.Millisecond, Extra: true})
	})
	for _, metrics := range []int{20, 70} {
		for _, query := range []string{"mean/groups=60/find=ids", "mean/groups=60/find=search",
			"mean/groups=100/find=search", "mean-by-project/groups=100/find=search",
			"exact-mean/groups=100/find=search"} {
			expectFigures(t, found, fmt.Sprintf("Aggregates/server=gnocco/metrics=%d/query=%s/connections=1", metrics,
				query),
				"ms-p50", "ms-p99", "cpu-ms/request", "B/answer")
		}
	}
}

// Without other servers the figures of ours are told.
func TestPromQL(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.PromQL(ctx, o, bench.PromQLOptions{Prometheus: "no-such-program", Victoria: "no-such-program",
			Series: 8, Days: 1, Fleet: 30, Resources: 120, Rounds: 1, For: time.Millisecond})
	})
	for _, query := range []string{"month", "day", "fleet", "top10", "values"} {
		expectFigures(t, found, "PromQL/query="+query+"/server=gnocco", "cpu-ms/request", "ms/request")
	}
}

// The sum of the newest measures is checked before the first query.
func TestTSBS(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.TSBS(ctx, o, bench.TSBSOptions{SeriesOptions: bench.SeriesOptions{Connections: 2,
			Servers: []string{"gnocco-lines"}}, Hosts: 3, Hours: 1, For: time.Millisecond})
	})
	for _, query := range []string{"single-groupby-1-1-1", "single-groupby-5-8-1", "cpu-max-all-8", "double-groupby-all",
		"groupby-orderby-limit", "high-cpu-1", "high-cpu-all", "lastpoint"} {
		expectFigures(t, found, "TSBS/query="+query+"/server=gnocco-lines", "cpu-ms/request", "ms-p50", "ms-p99")
	}
	expectFigures(t, found, "TSBS/load/server=gnocco-lines", "cpu-s/Mmeasure-acked", "MiB-rss-loaded", "MiB-rss",
		"B/measure-disk")
}

// The answer about the mean is checked, while measures come in.
func TestMixed(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Mixed(ctx, o, bench.MixedOptions{SeriesOptions: bench.SeriesOptions{Connections: 2, Series: 120,
			Servers: []string{"gnocco-lines"}}, Days: 2, Writes: 1000, For: 20 * time.Millisecond})
	})
	for _, query := range []string{"mean", "sum-by", "top-10", "mean-of-100", "day", "month"} {
		expectFigures(t, found, "Mixed/query="+query+"/server=gnocco-lines", "cpu-ms/request", "ms-p50", "ms-p99",
			"ms-first", "requests/s", "cpu-ms/request-busy")
	}
	expectFigures(t, found, "Mixed/writes/server=gnocco-lines", "cpu-ms/s", "MiB-rss")
}

func TestDisk(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Disk(ctx, o, bench.DiskOptions{Metrics: 3, Patterns: []pattern.Pattern{pattern.Gauge},
			PerGroup: []int{1, 6}})
	})
	for _, perGroup := range []int{1, 6} {
		expectFigures(t, found, fmt.Sprintf("Disk/server=gnocco/pattern=gauge/measures-per-group=%d", perGroup),
			"B-disk/aggregate", "B-tables/aggregate", "B-splits/aggregate", "B-raw/measure")
	}
}

func TestIndex(t *testing.T) {
	found := results(t, func(ctx context.Context, options bench.Options) error {
		return bench.Index(ctx, options, bench.IndexOptions{Resources: 300, Batch: 70, Requests: 10})
	})
	name := "Index/server=gnocco/resources=300/op="
	expectFigures(t, found, name+"create/batch=70", "resources/s", "cpu-us/resource")
	expectFigures(t, found, name+"search-rack", "p50-ms", "p99-ms", "rows")
	expectFigures(t, found, name+"metrics-sort=name", "p50-ms", "p99-ms", "rows")
	expectFigures(t, found, name+"size", "MiB-resident", "B-disk/resource")
}

func TestMemory(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Memory(ctx, o, bench.MemoryOptions{Metrics: 100, Rate: 1000, For: time.Second,
			Every: 100 * time.Millisecond})
	})
	expectFigures(t, found, "Memory/server=gnocco/metrics=100/rate=1000", "MiB-rss-max", "MiB-rss-last", "B-rss/metric")
}

// Gnocco has to answer right, also after kill -9. A program that is missing is left out.
func TestFleet(t *testing.T) {
	found := results(t, func(ctx context.Context, o bench.Options) error {
		return bench.Fleet(ctx, o, bench.FleetOptions{Servers: []string{"gnocco-lines", "gnocco-json@again",
			"victoria=no-such-program"}, Metrics: 60,
			PerRequest: 40, Step: 2 * time.Second, For: 3 * time.Minute, Pack: 7, Past: true, Connections: 3,
			ReadEvery: time.Millisecond})
	})
	for _, server := range []string{"gnocco-lines", "gnocco-json@again"} {
		expectFigures(t, found, "Fleet/metrics=60/step=2s/server="+server, "cpu-s/Mmeasure", "MiB-rss",
			"B-disk-stopped", "s-restart-killed", "s-restart-stopped", "ms-write", "ms-one",
			"cpu-ms-hundred", "cpu-ms-fleet")
	}
	if len(found) != 2 {
		t.Errorf("%d results", len(found))
	}
}

// A server that never takes measures in, or answers wrongly, gives an error and no figure: here one that knows no
// metrics.
func TestServerThatAnswersWrongly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address, err := loopback.Free()
	fatal.If(t, err)
	served := make(chan error, 1)
	go func() { served <- bench.ServeFloor(ctx, address) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	err = bench.Ingest(ctx, bench.Options{URL: "http://" + address, Run: report.Run{Report: report.New(&out)}},
		bench.IngestOptions{Metrics: 2, Measures: 20,
			Shapes: []bench.Shape{{Metrics: 2, Measures: 10, Connections: 1}}})
	if err == nil || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

func TestFaultsAreToldAtOnce(t *testing.T) {
	err := bench.Ingest(t.Context(), bench.Options{PIDs: []int{1},
		Run: report.Run{Count: -1, Report: report.New(&bytes.Buffer{})}}, bench.IngestOptions{})
	if err == nil || !strings.Contains(err.Error(), "url") || !strings.Contains(err.Error(), "count") {
		t.Errorf("error is %v", err)
	}
}

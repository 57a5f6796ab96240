package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/bench"
	"github.com/gnocco-db/gnocco/bench/pattern"
	"github.com/gnocco-db/gnocco/bench/report"
)

// commonFlags are the flags of every benchmark.
type commonFlags struct {
	options bench.Options
	quiet   bool
}

func (f *commonFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.options.Binary, "gnocco", "",
		"the gnocco program to measure (default: gnocco beside this program, or in PATH)")
	flags.StringVar(&f.options.URL, "url", "", "measure the server at this URL, instead of starting gnocco serve")
	flags.IntSliceVar(&f.options.PIDs, "pids", nil,
		"with --url: the server's processes, whose CPU and memory are measured with that of their descendants")
	flags.StringSliceVar(&f.options.DataDirs, "data-dirs", nil,
		"with --url: the server's data folders, whose bytes are counted")
	flags.StringVar(&f.options.Name, "name", "", "name of the server in results (default: gnocco, or the URL's host)")
	flags.StringSliceVar(&f.options.ServeArgs, "serve-args", nil, "further flags for gnocco serve, separated by commas")
	flags.StringVar(&f.options.TempDir, "temp-dir", "", "folder for temporary data folders (default: the system's)")
	flags.StringVar(&f.options.User, "user", "admin", "user name of basic authentication")
	flags.StringVar(&f.options.Password, "password", "", "password of basic authentication")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "seed of the random values")
	flags.IntVar(&f.options.Count, "count", 1, "how often each benchmark is run")
	flags.BoolVar(&f.options.Percentiles, "percentiles", false,
		"add the methods median and 95pct to the archive policies")
	flags.BoolVar(&f.options.Floor, "floor", true, "also measure a server that does nothing but HTTP, for comparison")
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress on standard error")
}

// prepare completes the options when flags have been read.
func (f *commonFlags) prepare(cmd *cobra.Command) {
	f.options.Report = report.New(cmd.OutOrStdout())
	if !f.quiet {
		f.options.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	}
}

func newRoot() *cobra.Command {
	var flags commonFlags
	cmd := &cobra.Command{
		Use:   "gnocco-bench",
		Short: "Measure how fast a server is, and what it needs",
		Long: `Measure a server over HTTP: a "gnocco serve" on a temporary folder, which the command starts, or
with --url any server that speaks Gnocchi's REST API. Some benchmarks need no server: they say
so. Results are lines in the format of Go's benchmarks, which benchstat reads. A wrong answer
ends the run. docs/explain/benchmarks.md explains each figure.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Example: `  gnocco-bench ingest --count 5 >new.txt
  gnocco-bench all
  gnocco-bench read --url http://127.0.0.1:8041 --pids 1234 --name gnocchi`,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			flags.prepare(cmd)
			return nil
		},
	}
	flags.define(cmd.PersistentFlags())
	cmd.AddCommand(newIngest(&flags), newFreshness(&flags), newRead(&flags), newAggregates(&flags),
		newPromQL(&flags), newDisk(&flags), newMemory(&flags), newFleet(&flags),
		newRemoteWrite(&flags), newWays(&flags), newCardinality(&flags), newMixed(&flags), newCores(&flags),
		newTSBS(&flags), newWide(&flags), newArchive(&flags),
		newIndex(&flags), newCorrelate(&flags), newCluster(&flags), newGPU(&flags), newAll(&flags), newFloor())
	return cmd
}

func newIngest(flags *commonFlags) *cobra.Command {
	var what bench.IngestOptions
	var shapes []string
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "Measure how fast measures are accepted and become visible, and the CPU, memory and bytes they take",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.Shapes, err = bench.ParseShapes(shapes); err != nil {
				return err
			}
			return bench.Ingest(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "number of metrics")
	cmd.Flags().IntVar(&what.Measures, "measures", 3_600_000, "measures to send, in total")
	cmd.Flags().StringSliceVar(&shapes, "shape", []string{"10000x1@1", "10000x1@4", "100x60@4"},
		"what a request holds, as METRICSxMEASURES@CONNECTIONS (may be repeated)")
	return cmd
}

func newFreshness(flags *commonFlags) *cobra.Command {
	var what bench.FreshnessOptions
	var shape string
	cmd := &cobra.Command{
		Use:   "freshness",
		Short: "Measure the time from 202 until a measure is visible, idle and under load",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.Shape, err = bench.ParseShape(shape); err != nil {
				return err
			}
			return bench.Freshness(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Probes, "probes", 200, "measures that are sent and awaited, one by one")
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "number of metrics of the load")
	cmd.Flags().IntVar(&what.Measures, "measures", 9_000_000, "most measures of the load")
	cmd.Flags().StringVar(&shape, "shape", "100x60@3",
		"what a request of the load holds, as METRICSxMEASURES@CONNECTIONS")
	return cmd
}

const stateUsage = "state that a server of ours is asked in: restarted, operands, heads, load " +
	"(may be repeated; default all)"

func newRead(flags *commonFlags) *cobra.Command {
	var what bench.ReadOptions
	var states []string
	cmd := &cobra.Command{
		Use:   "read",
		Short: "Measure latency, rate and CPU of reading aggregates of one metric",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.States, err = bench.ParseStates(states); err != nil {
				return err
			}
			return bench.Read(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10, "number of metrics, which are read in turn")
	cmd.Flags().IntVar(&what.Days, "days", 30, "days of measures per metric")
	cmd.Flags().DurationVar(&what.Step, "step", 10*time.Second, "time between two measures of a metric")
	cmd.Flags().IntVar(&what.Connections, "connections", 4, "requests in flight at once")
	cmd.Flags().StringSliceVar(&states, "state", nil, stateUsage)
	cmd.Flags().DurationVar(&what.For, "for", 3*time.Second, "how long each query is repeated")
	return cmd
}

func newAggregates(flags *commonFlags) *cobra.Command {
	var what bench.AggregatesOptions
	var states []string
	cmd := &cobra.Command{
		Use:   "aggregates",
		Short: "Measure latency and CPU of aggregates across many metrics",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.States, err = bench.ParseStates(states); err != nil {
				return err
			}
			return bench.Aggregates(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntSliceVar(&what.Metrics, "metrics", []int{100, 1000},
		"how many metrics are aggregated; a run for each number")
	cmd.Flags().IntVar(&what.Groups, "groups", 1440, "groups of one minute per metric")
	cmd.Flags().IntVar(&what.Connections, "connections", 1, "requests in flight at once")
	cmd.Flags().StringSliceVar(&states, "state", nil, stateUsage)
	cmd.Flags().DurationVar(&what.For, "for", 3*time.Second, "how long each query is repeated")
	cmd.Flags().StringVar(&what.Protocol, "protocol", "gnocchi", "protocol of the server: gnocchi or victoriametrics")
	cmd.Flags().StringVar(&what.Query, "query", "", "only queries whose names contain this, such as top10")
	cmd.Flags().BoolVar(&what.Extra, "extra", true,
		"also send requests that Gnocchi does not know: PromQL, exact means")
	return cmd
}

func newPromQL(flags *commonFlags) *cobra.Command {
	var what bench.PromQLOptions
	cmd := &cobra.Command{
		Use:   "promql",
		Short: "Measure the CPU of queries in PromQL, beside Prometheus and VictoriaMetrics with the same series",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.PromQL(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().StringVar(&what.Prometheus, "prometheus", "",
		"the program Prometheus (default: prometheus in PATH; left out without one)")
	cmd.Flags().StringVar(&what.Victoria, "victoria", "",
		"the program VictoriaMetrics (default: victoria-metrics in PATH; left out without one)")
	cmd.Flags().DurationVar(&what.For, "for", time.Second, "how long each query is repeated in a round")
	cmd.Flags().IntVar(&what.Rounds, "rounds", 3, "rounds of all servers by turns, of which the least counts")
	cmd.Flags().IntVar(&what.Series, "series", 100, "series of many days")
	cmd.Flags().IntVar(&what.Days, "days", 30, "their days")
	cmd.Flags().IntVar(&what.Fleet, "fleet", 10_000, "series of an hour")
	cmd.Flags().IntVar(&what.Resources, "resources", 100_000,
		"series of one measure, each with a label's value of its own")
	return cmd
}

func newDisk(flags *commonFlags) *cobra.Command {
	var what bench.DiskOptions
	var patterns []string
	cmd := &cobra.Command{
		Use:   "disk",
		Short: "Measure bytes on disk per aggregate, and bytes written per measure",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range patterns {
				kind, err := pattern.Parse(name)
				if err != nil {
					return err
				}
				what.Patterns = append(what.Patterns, kind)
			}
			return bench.Disk(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 100, "number of metrics")
	cmd.Flags().IntVar(&what.Days, "days", 1, "days of measures per metric")
	cmd.Flags().StringSliceVar(&patterns, "pattern", []string{"constant", "counter", "gauge", "random"},
		"patterns of values; percentage and sparse are others")
	cmd.Flags().IntSliceVar(&what.PerGroup, "per-group", []int{1, 6}, "measures in a group of one minute")
	return cmd
}

func newMemory(flags *commonFlags) *cobra.Command {
	var what bench.MemoryOptions
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Measure resident memory while many metrics get measures at a steady rate",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Memory(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 100_000, "number of metrics")
	cmd.Flags().IntVar(&what.Rate, "rate", 10_000, "measures per second")
	cmd.Flags().DurationVar(&what.For, "for", 10*time.Minute, "how long measures are sent")
	cmd.Flags().DurationVar(&what.Every, "every", 10*time.Second, "time between two readings of memory")
	return cmd
}

func newAll(flags *commonFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "all",
		Short: "Run all benchmarks of a server, at a size that takes a few minutes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAll(cmd.Context(), flags.options)
		},
	}
}

// runAll runs what can be run; a benchmark that fails does not keep the others from running.
func runAll(ctx context.Context, options bench.Options) error {
	runs := []func() error{
		func() error { return bench.Ingest(ctx, options, bench.IngestOptions{}) },
		func() error { return bench.Freshness(ctx, options, bench.FreshnessOptions{}) },
		func() error { return bench.Read(ctx, options, bench.ReadOptions{States: bench.States}) },
		func() error {
			return bench.Aggregates(ctx, options, bench.AggregatesOptions{Extra: true, States: bench.States})
		},
		func() error { return bench.Disk(ctx, options, bench.DiskOptions{}) },
		func() error { return bench.Memory(ctx, options, bench.MemoryOptions{For: time.Minute}) },
	}
	var errs []error
	for _, run := range runs {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, run())
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// newFloor is the server that benchmarks start beside the one they measure.
func newFloor() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:    "floor",
		Short:  "Serve HTTP and do nothing, for comparison",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.ServeFloor(cmd.Context(), listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to listen on")
	return cmd
}

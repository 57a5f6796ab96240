package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gnocco/internal/bench"
)

// benchFlags are the flags of every benchmark.
type benchFlags struct {
	options bench.Options
	quiet   bool
}

func (f *benchFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.options.URL, "url", "", "measure the server at this URL, rather than a child `gnocco serve`")
	flags.IntSliceVar(&f.options.PIDs, "pids", nil, "processes of that server, whose CPU and memory count, with their descendants'")
	flags.StringSliceVar(&f.options.DataDirs, "data-dirs", nil, "folders of that server, to count bytes on disk")
	flags.StringVar(&f.options.Name, "name", "", "name of the server in results (default gnocco, or the URL's host)")
	flags.StringSliceVar(&f.options.ServeArgs, "serve-args", nil, "further flags of the child's serve, separated by commas")
	flags.StringVar(&f.options.TempDir, "temp-dir", "", "where the children's data folders are made, and removed")
	flags.StringVar(&f.options.User, "user", "admin", "user name of basic authentication")
	flags.StringVar(&f.options.Password, "password", "", "password of basic authentication")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "seed of the values sent")
	flags.IntVar(&f.options.Count, "count", 1, "repeat every benchmark so many times")
	flags.BoolVar(&f.options.Percentiles, "percentiles", false, "archive policies have the methods median and 95pct, too")
	flags.BoolVar(&f.options.Floor, "floor", true, "measure in the same run a server that does nothing but HTTP")
	flags.BoolVar(&f.quiet, "quiet", false, "do not tell on standard error what is being done")
}

// prepare completes the options when flags have been read.
func (f *benchFlags) prepare(cmd *cobra.Command) {
	f.options.Report = bench.NewReport(cmd.OutOrStdout())
	if !f.quiet {
		f.options.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	}
}

func newBench() *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast a server is, and how much it needs",
		Long: `Measure a server over HTTP: a child "gnocco serve" on a temporary folder, or with --url any
server that speaks Gnocchi's REST API. Results are lines in the format of Go's benchmarks,
for benchstat; wrong answers end the run. See docs/benchmarks.md for what each figure means.`,
		Example: `  gnocco bench ingest --count 5 >new.txt
  gnocco bench all
  gnocco bench read --url http://127.0.0.1:8041 --pids 1234 --name gnocchi`,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := applySettings(cmd); err != nil {
				return err
			}
			flags.prepare(cmd)
			return nil
		},
	}
	flags.define(cmd.PersistentFlags())
	cmd.AddCommand(newBenchIngest(&flags), newBenchFreshness(&flags), newBenchRead(&flags), newBenchAggregates(&flags), newBenchDisk(&flags),
		newBenchMemory(&flags), newBenchArchive(&flags), newBenchIndex(&flags),
		newBenchCorrelate(&flags), newBenchCluster(&flags), newBenchGPU(&flags), newBenchAll(&flags), newBenchFloor())
	return cmd
}

func newBenchIngest(flags *benchFlags) *cobra.Command {
	var what bench.IngestOptions
	var shapes []string
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "Measures per second until accepted and until visible, and CPU, memory and bytes for it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.Shapes, err = bench.ParseShapes(shapes); err != nil {
				return err
			}
			return bench.Ingest(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "metrics that measures are sent for")
	cmd.Flags().IntVar(&what.Measures, "measures", 3_600_000, "measures to send in all")
	cmd.Flags().StringSliceVar(&shapes, "shape", []string{"10000x1@1", "10000x1@4", "100x60@4"},
		"metrics x measures of each in one request @ connections")
	return cmd
}

func newBenchFreshness(flags *benchFlags) *cobra.Command {
	var what bench.FreshnessOptions
	var shape string
	cmd := &cobra.Command{
		Use:   "freshness",
		Short: "Time from 202 until a measure is visible, idle and under load",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if what.Shape, err = bench.ParseShape(shape); err != nil {
				return err
			}
			return bench.Freshness(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Probes, "probes", 200, "measures that are sent and looked for, one by one")
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "metrics of the load")
	cmd.Flags().IntVar(&what.Measures, "measures", 9_000_000, "measures of the load at most")
	cmd.Flags().StringVar(&shape, "shape", "100x60@3", "of the load: metrics x measures of each in one request @ connections")
	return cmd
}

func newBenchRead(flags *benchFlags) *cobra.Command {
	var what bench.ReadOptions
	cmd := &cobra.Command{
		Use:   "read",
		Short: "Latency, rate and CPU of reading aggregates of one metric",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Read(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10, "metrics asked in turn")
	cmd.Flags().IntVar(&what.Days, "days", 30, "days of measures of each")
	cmd.Flags().DurationVar(&what.Step, "step", 10*time.Second, "time between two measures of a metric")
	cmd.Flags().IntVar(&what.Connections, "connections", 4, "requests under way at once")
	cmd.Flags().DurationVar(&what.For, "for", 3*time.Second, "how long each query is repeated")
	return cmd
}

func newBenchAggregates(flags *benchFlags) *cobra.Command {
	var what bench.AggregatesOptions
	cmd := &cobra.Command{
		Use:   "aggregates",
		Short: "Latency and CPU of aggregates across many metrics, and of searches by value",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Aggregates(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntSliceVar(&what.Metrics, "metrics", []int{100, 1000}, "metrics aggregated; a run for each number")
	cmd.Flags().IntVar(&what.Groups, "groups", 1440, "groups of one minute that each has")
	cmd.Flags().IntVar(&what.Connections, "connections", 1, "requests under way at once")
	cmd.Flags().DurationVar(&what.For, "for", 3*time.Second, "how long each query is repeated")
	cmd.Flags().StringVar(&what.Protocol, "protocol", "gnocchi", "what the server speaks: gnocchi or victoriametrics")
	cmd.Flags().BoolVar(&what.Extra, "extra", true, "ask, too, what Gnocchi cannot be asked: exact means, many metrics by value")
	return cmd
}

func newBenchDisk(flags *benchFlags) *cobra.Command {
	var what bench.DiskOptions
	var patterns []string
	cmd := &cobra.Command{
		Use:   "disk",
		Short: "Bytes on disk per aggregate, and bytes written per measure",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range patterns {
				pattern, err := bench.ParsePattern(name)
				if err != nil {
					return err
				}
				what.Patterns = append(what.Patterns, pattern)
			}
			return bench.Disk(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 100, "metrics stored")
	cmd.Flags().IntVar(&what.Days, "days", 1, "days of measures of each")
	cmd.Flags().StringSliceVar(&patterns, "pattern", []string{"constant", "counter", "gauge", "random"},
		"how values run; also percentage and sparse")
	cmd.Flags().IntSliceVar(&what.PerGroup, "per-group", []int{1, 6}, "measures in a group of one minute")
	return cmd
}

func newBenchMemory(flags *benchFlags) *cobra.Command {
	var what bench.MemoryOptions
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Resident memory while many metrics are fed at a steady rate",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.Memory(cmd.Context(), flags.options, what)
		},
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 100_000, "metrics fed")
	cmd.Flags().IntVar(&what.Rate, "rate", 10_000, "measures per second")
	cmd.Flags().DurationVar(&what.For, "for", 10*time.Minute, "how long")
	cmd.Flags().DurationVar(&what.Every, "every", 10*time.Second, "time between two readings")
	return cmd
}

func newBenchAll(flags *benchFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "all",
		Short: "All benchmarks, of a size that takes a few minutes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchAll(cmd.Context(), flags.options)
		},
	}
}

// benchAll runs what can be run; a benchmark that fails does not keep the others from running.
func benchAll(ctx context.Context, options bench.Options) error {
	runs := []func() error{
		func() error { return bench.Ingest(ctx, options, bench.IngestOptions{}) },
		func() error { return bench.Freshness(ctx, options, bench.FreshnessOptions{}) },
		func() error { return bench.Read(ctx, options, bench.ReadOptions{}) },
		func() error { return bench.Aggregates(ctx, options, bench.AggregatesOptions{Extra: true}) },
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

// newBenchFloor is the server that benchmarks start beside the one they measure.
func newBenchFloor() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:    "floor",
		Short:  "Serve HTTP and do nothing: for comparison",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.ServeFloor(cmd.Context(), listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to listen on")
	return cmd
}

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/bench"
)

const coresUsage = "cores that servers run on, as taskset lists them (default: those of this program)"

func newSeries(flags *commonFlags, use, short string,
	run func(context.Context, bench.Options, bench.SeriesOptions) error) *cobra.Command {
	var what bench.SeriesOptions
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), flags.options, what)
		},
	}
	serversFlag(cmd, &what.Servers)
	cmd.Flags().IntVar(&what.Connections, "connections", 8, "requests at the same time")
	cmd.Flags().Int64Var(&what.MemoryLimit, "memory-limit", 16<<30, "bytes, of the servers that have such a setting")
	cmd.Flags().StringVar(&what.ServerCores, "server-cores", "", coresUsage)
	if use == "cardinality" {
		cmd.Flags().IntVar(&what.Series, "series", 1_000_000, "series to register")
	} else {
		cmd.Flags().IntVar(&what.Measures, "measures", 7_200_000, "measures of each shape")
	}
	if use == "ways" {
		cmd.Flags().StringVar(&what.Way, "way", "", "only these ways, separated by commas")
		cmd.Flags().StringVar(&what.Shape, "shape", "1000x1", "what a request holds, as SERIESxMEASURES")
	}
	return cmd
}

func newRemoteWrite(flags *commonFlags) *cobra.Command {
	return newSeries(flags, "remote-write",
		"Measure how servers take remote writes: 100 series with 60 measures, 2,000 and 10,000 with one", bench.RemoteWrite)
}

func newWays(flags *commonFlags) *cobra.Command {
	return newSeries(flags, "ways", "Measure how servers take the same measures by each protocol", bench.Ways)
}

func newCardinality(flags *commonFlags) *cobra.Command {
	return newSeries(flags, "cardinality",
		"Measure how servers take many new series, find them, and start again with them", bench.Cardinality)
}

func newMixed(flags *commonFlags) *cobra.Command {
	var what bench.MixedOptions
	cmd := &cobra.Command{
		Use:   "mixed",
		Short: "Measure queries in PromQL while measures come in by remote write",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return bench.Mixed(cmd.Context(), flags.options, what) },
	}
	serversFlag(cmd, &what.Servers)
	cmd.Flags().IntVar(&what.Series, "series", 10_000, "series of an hour")
	cmd.Flags().IntVar(&what.Days, "days", 30, "days of a hundred further series")
	cmd.Flags().IntVar(&what.Writes, "writes", 100_000, "measures a second into further series")
	cmd.Flags().IntVar(&what.Connections, "connections", 16, "requests at the same time")
	cmd.Flags().DurationVar(&what.For, "for", 10*time.Second,
		"how long each query is repeated, with one connection and with all")
	cmd.Flags().Int64Var(&what.MemoryLimit, "memory-limit", 16<<30, "bytes, of the servers that have such a setting")
	cmd.Flags().StringVar(&what.ServerCores, "server-cores", "", coresUsage)
	return cmd
}

func newTSBS(flags *commonFlags) *cobra.Command {
	var what bench.TSBSOptions
	cmd := &cobra.Command{
		Use:   "tsbs",
		Short: "Measure the fifteen queries of TSBS devops in PromQL, after a load by remote write",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return bench.TSBS(cmd.Context(), flags.options, what) },
	}
	serversFlag(cmd, &what.Servers)
	cmd.Flags().IntVar(&what.Hosts, "hosts", 1000, "hosts with ten fields each")
	cmd.Flags().IntVar(&what.Hours, "hours", 24, "hours of measures, one each ten seconds")
	cmd.Flags().StringVar(&what.Query, "query", "",
		"only queries whose names contain this; every-series asks for each value of a day, and is none of the fifteen")
	cmd.Flags().IntVar(&what.Connections, "connections", 8, "requests of the load at the same time")
	cmd.Flags().DurationVar(&what.For, "for", 5*time.Second, "how long each query is repeated")
	cmd.Flags().BoolVar(&what.Whole, "whole", false, "send whole numbers, as the suite does")
	cmd.Flags().BoolVar(&what.Restart, "restart", false, "ask all again of the server started anew, from its archives")
	cmd.Flags().Int64Var(&what.MemoryLimit, "memory-limit", 16<<30, "bytes, of the servers that have such a setting")
	cmd.Flags().StringVar(&what.ServerCores, "server-cores", "", coresUsage)
	return cmd
}

// serversFlag adds the flag of the servers that are measured one after the other.
func serversFlag(cmd *cobra.Command, servers *[]string) {
	cmd.Flags().StringSliceVar(servers, "server", nil,
		"server to run, as KIND[@LABEL][=PROGRAM] (may be repeated; default: gnocco-lines, victoria, prometheus)")
}

func newCores(flags *commonFlags) *cobra.Command {
	var what bench.CoresOptions
	cmd := &cobra.Command{
		Use:   "cores",
		Short: "Measure queries in PromQL on one core, on eight and on sixteen, with one client and with many",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return bench.Cores(cmd.Context(), flags.options, what) },
	}
	serversFlag(cmd, &what.Servers)
	cmd.Flags().IntSliceVar(&what.Cores, "cores", []int{1, 8, 16}, "how many cores the server gets, one start each")
	cmd.Flags().IntVar(&what.Series, "series", 10_000, "series of an hour")
	cmd.Flags().IntVar(&what.Idle, "idle", 200_000, "further series with one measure")
	cmd.Flags().IntVar(&what.Connections, "connections", 16, "requests at the same time")
	cmd.Flags().DurationVar(&what.For, "for", 2*time.Second,
		"how long each query is repeated, with one connection and with all")
	cmd.Flags().Int64Var(&what.MemoryLimit, "memory-limit", 16<<30, "bytes, of the servers that have such a setting")
	return cmd
}

func newWide(flags *commonFlags) *cobra.Command {
	var what bench.WideOptions
	cmd := &cobra.Command{
		Use:   "wide",
		Short: "Measure questions that read all values of many metrics, on the cores and on a card",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return bench.Wide(cmd.Context(), flags.options, what) },
	}
	cmd.Flags().IntVar(&what.Metrics, "metrics", 10_000, "number of metrics")
	cmd.Flags().IntVar(&what.Groups, "groups", 7*24*60, "groups of one minute per metric")
	cmd.Flags().StringSliceVar(&what.Engines, "gpu", []string{"off", "auto"}, "values of --gpu, one start each")
	cmd.Flags().StringVar(&what.Question, "question", "", "only questions whose names contain this, such as correlate")
	cmd.Flags().DurationVar(&what.For, "for", 2*time.Second, "how long each question is repeated")
	cmd.Flags().StringVar(&what.Profiles, "profiles", "", "folder for a CPU profile of the server for each question")
	return cmd
}

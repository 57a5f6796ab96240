package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/pairs"
	"github.com/gnocco-db/gnocco/cmd/shared/progress"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// correlateFlags are the flags of correlate.
type correlateFlags struct {
	remote        remote.Flags
	metrics       []string
	resourceType  string
	search, name  string
	aggregation   string
	granularity   string
	start, stop   string
	method        string
	maxLag        int
	neededOverlap float64
	selection     correlate.Selection
	format        string
	quiet         bool
}

func newCorrelate() *cobra.Command {
	var flags correlateFlags
	cmd := &cobra.Command{
		Use:   "correlate --url URL",
		Short: "Correlate all pairs of stored metrics",
		Long: `The server correlates the aggregates of stored metrics: those that --metric names, or those of the
resources that --search finds whose names match --name. The strongest pairs come first, one line a
pair: (ID,ID) r.

A constant metric has no coefficients. The columns of a CSV file are correlated by
gnocco-correlate, a program of its own.`,
		Example: `  gnocco correlate --url http://127.0.0.1:8041 --name 'cpu*' --aggregation mean --start -1d --min-abs 0.9`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%s: gnocco-correlate, a program of its own, correlates the columns of files "+
					"(docs/how-to/correlate.md); this command correlates stored metrics", args[0])
			}
			return flags.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	flags.remote.Define(f, "", "correlate stored metrics of the server at this address")
	f.StringSliceVar(&flags.metrics, "metric", nil, "ID of a stored metric (may be repeated)")
	f.StringVar(&flags.resourceType, "resource-type", "generic",
		"type of the resources whose metrics are correlated, unless --metric names them")
	f.StringVar(&flags.search, "search", "",
		"filter of these resources, such as: project_id = 'x' (default: all of them)")
	f.StringVar(&flags.name, "name", "*", "pattern that the metrics' names match")
	f.StringVar(&flags.aggregation, "aggregation", "mean", "aggregation method of the aggregates")
	f.StringVar(&flags.granularity, "granularity", "",
		"granularity of the aggregates (default: the finest that all metrics have)")
	series.DefineTime(f, &flags.start, "start", "", "correlate groups from this time on, such as -1d")
	series.DefineTime(f, &flags.stop, "stop", "", "correlate groups before this time")
	f.StringVar(&flags.method, "method", "pearson", "pearson (of the values), or spearman (of their ranks)")
	f.IntVar(&flags.maxLag, "lag", 0,
		"find for each pair the best shift of up to this many groups in either direction, and print it after r")
	f.Float64Var(&flags.neededOverlap, "needed-overlap", 0,
		"least percentage of groups that both metrics of a pair must have")
	f.Float64Var(&flags.selection.MinAbs, "min-abs", 0, "leave out pairs whose |r| is smaller")
	f.IntVar(&flags.selection.Top, "top", 0, "print only this many pairs, the strongest")
	f.IntVar(&flags.selection.TopPerColumn, "top-per-column", 0,
		"print only pairs that are among this many strongest of one of their metrics")
	f.StringVar(&flags.format, "format", "names", "output format: "+pairs.Formats)
	f.BoolVar(&flags.quiet, "quiet", false, "print no progress and no notes on standard error")
	return cmd
}

// check returns what is wrong with the flags.
func (flags *correlateFlags) check() error {
	switch {
	case flags.remote.URL == "":
		return errors.New("name the server by --url (gnocco-correlate, a program of its own, correlates files)")
	case flags.method != "pearson" && flags.method != "spearman":
		return fmt.Errorf("--method: %q is neither pearson nor spearman", flags.method)
	case !(flags.selection.MinAbs >= 0 && flags.selection.MinAbs <= 1):
		return errors.New("--min-abs must be between 0 and 1")
	case flags.selection.Top < 0 || flags.selection.TopPerColumn < 0:
		return errors.New("--top and --top-per-column must not be negative")
	case flags.maxLag < 0:
		return errors.New("--lag must not be negative")
	}
	return series.CheckSpan(flags.start, flags.stop)
}

// storedCorrelation is a server's answer.
type storedCorrelation struct {
	ID        string   `json:"id"`
	State     string   `json:"state"`
	Error     string   `json:"error"`
	Progress  float64  `json:"progress"`
	Groups    int      `json:"groups"`
	Metrics   int      `json:"metrics"`
	Constant  []string `json:"constant"`
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
	Pairs     []struct {
		X       string  `json:"x"`
		Y       string  `json:"y"`
		R       float64 `json:"r"`
		Lag     int     `json:"lag"`
		Overlap int64   `json:"overlap"`
	} `json:"pairs"`
	Next *int `json:"next"`
}

// body is the request that the flags describe.
func (flags *correlateFlags) body() map[string]any {
	body := map[string]any{
		"aggregation": flags.aggregation, "method": flags.method,
		"lag": flags.maxLag, "needed_overlap": flags.neededOverlap,
		"top": flags.selection.Top, "top_per_metric": flags.selection.TopPerColumn, "threshold": flags.selection.MinAbs,
	}
	if len(flags.metrics) > 0 {
		body["metrics"] = flags.metrics
	} else {
		body["resource_type"], body["name"] = flags.resourceType, flags.name
		if flags.search != "" {
			body["search"] = flags.search
		}
	}
	for key, value := range map[string]string{"granularity": flags.granularity, "start": flags.start, "stop": flags.stop} {
		if value != "" {
			body[key] = value
		}
	}
	return body
}

func (flags *correlateFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	if flags.quiet {
		stderr = io.Discard
	}
	server, err := flags.remote.Client()
	if err != nil {
		return err
	}
	started := time.Now()
	var answer storedCorrelation
	if err := server.Do(ctx, http.MethodPost, "/v1/correlations", flags.body(), &answer); err != nil {
		return err
	}
	path := "/v1/correlations/" + answer.ID
	defer func() { // nobody else knows that it is there, also where we were interrupted
		err = errors.Join(err, server.Do(context.WithoutCancel(ctx), http.MethodDelete, path, nil, nil))
	}()
	told := time.Now()
	for answer.State == "queued" || answer.State == "running" {
		if err := pause.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
		if err := server.Do(ctx, http.MethodGet, path, nil, &answer); err != nil {
			return err
		}
		if time.Since(told) >= progress.Interval {
			told = time.Now()
			fmt.Fprintf(stderr, "%s, %.0f %%\n", answer.State, 100*answer.Progress)
		}
	}
	if answer.State != "done" {
		return fmt.Errorf("the server failed: %s", answer.Error)
	}
	all := answer.Pairs
	for next := answer.Next; next != nil; {
		page := storedCorrelation{}
		if err := server.Do(ctx, http.MethodGet, fmt.Sprintf("%s?marker=%d", path, *next), nil, &page); err != nil {
			return err
		}
		all, next = append(all, page.Pairs...), page.Next
	}
	names := slices.Clone(answer.Constant)
	for _, p := range all {
		names = append(names, p.X, p.Y)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out, err := pairs.New(flags.format, stdout, names, flags.maxLag > 0)
	if err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	for _, p := range all {
		i, _ := slices.BinarySearch(names, p.X)
		j, _ := slices.BinarySearch(names, p.Y)
		if err := out.Write(correlate.Pair{I: i, J: j, R: p.R, Lag: p.Lag, Overlap: p.Overlap}); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	if answer.Groups == 0 {
		fmt.Fprintln(stderr, "none of the metrics has aggregates in this time")
	} else if len(answer.Constant) > 0 {
		fmt.Fprintf(stderr, "constant, so without coefficients: %s: %s\n",
			counted.Of(len(answer.Constant), "metric"), pairs.ShortList(answer.Constant))
	}
	if answer.Truncated {
		fmt.Fprintf(stderr, "the server kept only %s: narrow the request by --min-abs or --top\n",
			counted.Of(answer.Total, "pair"))
	}
	fmt.Fprintf(stderr, "correlated %s of %s in %.2f s\n",
		counted.Of(answer.Metrics, "metric"), counted.Of(answer.Groups, "group"), time.Since(started).Seconds())
	return nil
}

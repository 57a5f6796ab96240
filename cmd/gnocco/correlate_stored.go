package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/pairs"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// storedFlags are the flags of correlate that say which stored metrics are meant.
type storedFlags struct {
	remote        remoteFlags
	metrics       []string
	resourceType  string
	search, name  string
	aggregation   string
	granularity   string
	start, stop   string
	neededOverlap float64
}

func (s *storedFlags) define(f *pflag.FlagSet) {
	s.remote.define(f, "", "correlate stored metrics of the server at this address")
	f.StringSliceVar(&s.metrics, "metric", nil, "ID of a stored metric (may be repeated)")
	f.StringVar(&s.resourceType, "resource-type", "generic",
		"type of the resources whose metrics are correlated, unless --metric names them")
	f.StringVar(&s.search, "search", "", "filter of these resources, such as: project_id = 'x' (default: all of them)")
	f.StringVar(&s.name, "name", "*", "pattern that the metrics' names match")
	f.StringVar(&s.aggregation, "aggregation", "mean", "aggregation method of the aggregates")
	f.StringVar(&s.granularity, "granularity", "",
		"granularity of the aggregates (default: the finest that all metrics have)")
	f.StringVar(&s.start, "start", "", "correlate groups from this time on, such as -1d")
	f.StringVar(&s.stop, "stop", "", "correlate groups before this time")
	f.Float64Var(&s.neededOverlap, "needed-overlap", 0,
		"least percentage of groups that both metrics of a pair must have")
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
	s := &flags.stored
	body := map[string]any{
		"aggregation": s.aggregation, "method": flags.method,
		"lag": flags.options.MaxLag, "needed_overlap": s.neededOverlap,
		"top": flags.selection.Top, "top_per_metric": flags.selection.TopPerColumn, "threshold": flags.selection.MinAbs,
	}
	if len(s.metrics) > 0 {
		body["metrics"] = s.metrics
	} else {
		body["resource_type"], body["name"] = s.resourceType, s.name
		if s.search != "" {
			body["search"] = s.search
		}
	}
	for key, value := range map[string]string{"granularity": s.granularity, "start": s.start, "stop": s.stop} {
		if value != "" {
			body[key] = value
		}
	}
	return body
}

func (flags *correlateFlags) runStored(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if err := flags.complete(); err != nil {
		return err
	}
	if flags.plot != (plotFlags{}) {
		return errors.New("--heat-map and --scatter work on files only")
	}
	if flags.quiet {
		stderr = io.Discard
	}
	server, err := flags.stored.remote.client()
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
		if time.Since(told) >= plainInterval {
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
	out, err := pairs.New(flags.format, stdout, names, flags.options.MaxLag > 0)
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
	if len(answer.Constant) > 0 {
		fmt.Fprintf(stderr, "%d metrics are constant, so they have no coefficients: %s\n",
			len(answer.Constant), shortList(answer.Constant))
	}
	if answer.Truncated {
		fmt.Fprintf(stderr, "the server kept only these %d pairs: narrow the request by --min-abs or --top\n",
			answer.Total)
	}
	fmt.Fprintf(stderr, "correlated %d metrics of %d groups in %.2f s\n",
		answer.Metrics, answer.Groups, time.Since(started).Seconds())
	return nil
}

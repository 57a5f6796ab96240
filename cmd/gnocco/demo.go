package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/demo"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
)

func newDemo() *cobra.Command {
	var flags serverFlags
	var lasting time.Duration
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Serve, and collect this machine's own figures",
		Long: `Run a server, as the serve command does, and send it figures of this machine's cores, memory,
disks and network, every second and over HTTP. The metrics belong to a generic resource that is
named after the machine. When the demo is started again on the same folder, it continues them.`,
		Example: `  gnocco demo
  gnocco demo --for 30s --listen 127.0.0.1:9041 --data /tmp/demo`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if lasting > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, lasting)
				defer cancel()
			}
			return runDemo(ctx, &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.define(cmd.Flags(), shared.StateFolder("gnocco-demo"))
	cmd.Flags().DurationVar(&lasting, "for", 0, "stop after this time, such as 30s (default: never)")
	return cmd
}

func runDemo(ctx context.Context, flags *serverFlags, out, logs io.Writer) error {
	if mode := flags.options.Auth.Mode; mode != "basic" {
		return fmt.Errorf("--auth-mode %s: the demo sends as user admin without a password, "+
			"which only mode basic accepts", mode)
	}
	s, err := flags.start(ctx, logs)
	if err != nil {
		return orderly(ctx, err)
	}
	showConsole(out, s)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan error, 1)
	go func() {
		defer stop()
		sent <- demonstrate(ctx, s.URL(), flags, out, logs)
	}()
	err = flags.run(ctx, s)
	stop()
	return errors.Join(err, orderly(ctx, <-sent))
}

// demonstrate sends measures until ctx ends.
func demonstrate(ctx context.Context, address string, flags *serverFlags, out, logs io.Writer) error {
	logger, err := flags.log.Logger(logs)
	if err != nil {
		return err
	}
	c, err := client.New(address, client.Options{User: "admin"})
	if err != nil {
		return err
	}
	d, err := demo.New(ctx, demo.Options{Client: c, Logger: logger})
	if err != nil {
		return err
	}
	d.Run(ctx, func() { explain(out, d, c) })
	fmt.Fprintf(out, "\nsent %s of %s\n", counted.Of(d.Sent(), "measure"), counted.Of(len(d.Metrics()), "metric"))
	return nil
}

// explain says what there is to see, and how to see it.
func explain(out io.Writer, d *demo.Demo, c *client.Client) {
	metrics := d.Metrics()
	fmt.Fprintf(out, "\n%s of this machine, a measure every second (Ctrl-C ends it). "+
		"Look at the address above, or from another terminal:\n\n", counted.Of(len(metrics), "metric"))
	line := func(about, url string) { fmt.Fprintf(out, "  # %s\n  curl -s -u admin: '%s'\n", about, url) }
	line("the archive policies: aggregates, and how long they are kept", c.URL("/v1/archive_policy"))
	line("the metrics of resource "+d.Name(), d.MetricsURL())
	line("the load, second by second", d.MeasuresURL("load.1min", "granularity=1&start=-10s"))
	if core := slices.Index(metrics, "cpu0.percent"); core >= 0 {
		line("the busiest second of each minute, on the first core",
			d.MeasuresURL("cpu0.percent", "granularity=60&aggregation=max"))
	}
	line("the memory, as means of 10 seconds, regrouped to 5 minutes",
		d.MeasuresURL("memory.used.bytes", "granularity=10&resample=300"))
	if slices.Contains(metrics, "network.lo.sent.bytes") {
		line("bytes sent within the machine, by second",
			d.MeasuresURL("network.lo.sent.bytes", "granularity=1&aggregation=increase&start=-10s"))
	}
	line("what there is to process", c.URL("/v1/status"))
	fmt.Fprintln(out)
}

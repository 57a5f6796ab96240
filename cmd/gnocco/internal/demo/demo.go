package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// interval is the time between two readings, and the finest granularity of the archive policy.
const interval = time.Second

// policyName is the archive policy of the demo's metrics.
const policyName = "demo"

// policy keeps seconds for an hour, 10 seconds for a day and minutes for a month.
var policy = map[string]any{
	"name":                policyName,
	"aggregation_methods": []string{"mean", "min", "max", "count", "last", "increase"},
	"definition": []map[string]any{
		{"granularity": "1s", "timespan": "1h"},
		{"granularity": "10s", "timespan": "1 day"},
		{"granularity": "60s", "timespan": "30 days"},
	},
}

// Options of a Demo. Client is needed.
type Options struct {
	Client *client.Client
	Logger *slog.Logger // nil: discard
}

// Demo sends this machine's figures.
type Demo struct {
	client   *client.Client
	logger   *slog.Logger
	host     host
	name     string            // of the machine
	resource string            // its UUID
	metrics  map[string]string // UUIDs by name
	sent     int               // measures
}

// New creates the archive policy and the resource, named after the machine, unless they are there from an earlier run.
func New(ctx context.Context, options Options) (*Demo, error) {
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	d := &Demo{client: options.Client, logger: options.Logger}
	var err error
	if d.name, err = os.Hostname(); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	if err := d.client.EnsureArchivePolicy(ctx, policyName, policy); err != nil {
		return nil, fmt.Errorf("demo: archive policy: %w", err)
	}
	if d.resource, err = d.client.EnsureResource(ctx, d.name); err != nil {
		return nil, fmt.Errorf("demo: resource: %w", err)
	}
	// Some figures need two readings: this is the first.
	if _, err := d.host.read(); err != nil {
		d.logger.Warn("some figures cannot be read", "error", err)
	}
	return d, nil
}

// Run sends measures every second until ctx ends. ready is called once, when the first ones are sent; nil for nobody.
// A request that fails is logged, and the next one tried.
func (d *Demo) Run(ctx context.Context, ready func()) {
	for now := range pause.Ticks(ctx, interval) {
		if err := d.send(ctx, now); err != nil {
			if ctx.Err() == nil {
				d.logger.Error("measures not sent", "error", err)
			}
			continue
		}
		if ready != nil {
			ready()
			ready = nil
		}
	}
}

// Name returns the name of the machine, which is the resource's.
func (d *Demo) Name() string { return d.name }

// Metrics returns the names of the metrics, sorted.
func (d *Demo) Metrics() []string { return slices.Sorted(maps.Keys(d.metrics)) }

// Sent returns how many measures the server has accepted.
func (d *Demo) Sent() int { return d.sent }

// MetricsURL is where the metrics are listed.
func (d *Demo) MetricsURL() string {
	return d.client.URL("/v1/resource/generic/" + url.PathEscape(d.name) + "/metric")
}

// MeasuresURL is where a metric's aggregates are read.
func (d *Demo) MeasuresURL(metric, query string) string {
	return d.MetricsURL() + "/" + url.PathEscape(metric) + "/measures?" + query
}

// send reads the figures and sends them, creating the metrics that are new.
func (d *Demo) send(ctx context.Context, now time.Time) error {
	values, err := d.host.read()
	if len(values) == 0 {
		return err
	}
	if err := d.ensure(ctx, values); err != nil {
		return err
	}
	type measure struct {
		Timestamp string  `json:"timestamp"`
		Value     float64 `json:"value"`
	}
	timestamp := now.UTC().Format("2006-01-02T15:04:05.000000")
	batch := make(map[string][]measure, len(values))
	for name, value := range values {
		batch[d.metrics[name]] = []measure{{timestamp, value}}
	}
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	if err := d.client.SendMeasures(ctx, body); err != nil {
		return err
	}
	d.sent += len(values)
	return nil
}

// describe says that bytes and packets of disks and networks are counted since the machine started.
func describe(name string) client.NewMetric {
	metric := client.NewMetric{ArchivePolicy: policyName, Type: "gauge"}
	if strings.HasPrefix(name, "disk.") || strings.HasPrefix(name, "network.") {
		metric.Type = "counter"
	}
	return metric
}

func (d *Demo) ensure(ctx context.Context, values map[string]float64) error {
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool {
		return d.metrics[name] != ""
	})
	if len(unknown) == 0 {
		return nil
	}
	ids, err := d.client.EnsureMetrics(ctx, d.resource, unknown, describe)
	if err == nil {
		d.metrics = ids
	}
	return err
}

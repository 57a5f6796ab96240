package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// ClusterParts are what Cluster measures, in this order.
var ClusterParts = []string{"handover", "takeover", "stall", "ingest", "outage", "churn"}

// ClusterOptions say what Cluster does.
type ClusterOptions struct {
	Parts          []string // of ClusterParts; nil: all but churn, which takes minutes
	Metrics        int      // series of ingest and outage; 0: 10,000
	Measures       int      // of ingest, in all; 0: 3.6 million
	OutageMeasures int      // of outage; 0: as many
	Shapes         []Shape  // of ingest, the first also of outage; nil: 10000x1@4, 100x60@4
	Workers        []int    // numbers of metricd that ingest is measured with; nil: 1, 2, 3
	LeaseTTL       time.Duration
	LeaseSlack     time.Duration // with LeaseTTL, of stall: 0: 2 s and 1 s
	Churn          ChurnOptions
}

// EnsureDefaults fills in what was left zero.
func (o *ClusterOptions) EnsureDefaults() {
	if len(o.Parts) == 0 {
		o.Parts = ClusterParts[:len(ClusterParts)-1]
	}
	if o.Metrics == 0 {
		o.Metrics = 10_000
	}
	if o.Measures == 0 {
		o.Measures = 3_600_000
	}
	if o.OutageMeasures == 0 {
		o.OutageMeasures = o.Measures
	}
	if len(o.Shapes) == 0 {
		o.Shapes = []Shape{{10_000, 1, 4}, {100, 60, 4}}
	}
	if len(o.Workers) == 0 {
		o.Workers = []int{1, 2, 3}
	}
	if o.LeaseTTL == 0 {
		o.LeaseTTL = 2 * time.Second
	}
	if o.LeaseSlack == 0 {
		o.LeaseSlack = time.Second
	}
}

// Validate tells what is not to be measured.
func (o *ClusterOptions) Validate() error {
	for _, part := range o.Parts {
		if !slices.Contains(ClusterParts, part) {
			return fmt.Errorf("bench: cluster has no part %q", part)
		}
	}
	for _, n := range o.Workers {
		if n < 1 {
			return fmt.Errorf("bench: %d processes of metricd", n)
		}
	}
	return nil
}

// Cluster measures several processes on one folder, all on this machine: for how long sacks are not to be read when a
// metricd comes, leaves, is killed or stands still, what it costs to take and process measures in several processes
// rather than one, how fast a backlog is drained that came together while there was no metricd, and what clients of a
// large cluster notice of metricd that leave and join.
func Cluster(ctx context.Context, options Options, what ClusterOptions) error {
	if options.URL != "" {
		return fmt.Errorf("bench: cluster starts processes of its own")
	}
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	if err := what.Validate(); err != nil {
		return err
	}
	parts := map[string]func(context.Context, ClusterOptions) error{
		"handover": options.clusterHandover, "takeover": options.clusterTakeover, "stall": options.clusterStall,
		"ingest": options.clusterIngest, "outage": options.clusterOutage,
		"churn": options.clusterChurn,
	}
	for range options.Count {
		for _, part := range what.Parts {
			if err := parts[part](ctx, what); err != nil {
				return fmt.Errorf("bench: cluster: %s: %w", part, err)
			}
		}
	}
	return nil
}

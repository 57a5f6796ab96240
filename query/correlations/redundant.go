package correlations

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// RedundantGroup is metrics that say the same: one to keep, and those that correlate with it.
type RedundantGroup struct {
	Keep   int // column
	Others []RedundantMember
}

// RedundantMember is a metric that may be dropped.
type RedundantMember struct {
	Column  int
	R       float64
	Changes float64 // the coefficient of changes
	Lag     int     // groups by which it follows the one to keep
}

// Redundant partitions metrics: again and again, the metric that says the same as most others left is kept for them. So
// every metric to drop correlates with one that stays, which a mere chain of pairs would not give. Pairs whose changes
// do not correlate share a trend: they are returned by themselves, the strongest first.
func (j *Job) Redundant(threshold float64) (groups []RedundantGroup, trends []SharedTrend) {
	partners := make(map[int][]RedundantMember)
	for k, p := range j.pairs {
		changes := j.changes[k]
		switch {
		case p.Strength() < threshold:
		case !saysTheSame(&p, changes):
			trends = append(trends, SharedTrend{p, changes})
		default:
			partners[p.I] = append(partners[p.I], RedundantMember{p.J, p.R, changes, p.Lag})
			partners[p.J] = append(partners[p.J], RedundantMember{p.I, p.R, changes, -p.Lag})
		}
	}
	slices.SortStableFunc(trends, func(a, b SharedTrend) int { return cmp.Compare(b.Strength(), a.Strength()) })
	for {
		keep := -1
		for column := range j.Metrics { // in their order, so that equals give the same choice
			if len(partners[column]) > 0 && (keep < 0 || len(partners[column]) > len(partners[keep])) {
				keep = column
			}
		}
		if keep < 0 {
			return groups, trends
		}
		group := RedundantGroup{keep, partners[keep]}
		slices.SortFunc(group.Others, func(a, b RedundantMember) int { return cmp.Compare(a.Column, b.Column) })
		gone := map[int]bool{keep: true}
		for _, other := range group.Others {
			gone[other.Column] = true
		}
		for column, members := range partners {
			partners[column] = slices.DeleteFunc(slices.Clone(members), func(m RedundantMember) bool {
				return gone[m.Column]
			})
			if gone[column] || len(partners[column]) == 0 {
				delete(partners, column)
			}
		}
		groups = append(groups, group)
	}
}

// Saving is what a metric costs, as its archive has it now.
type Saving struct {
	Bytes          int64   `json:"bytes"`            // of its splits and raw series
	FinerBytes     int64   `json:"finer_bytes"`      // of those, without splits of the coarsest granularity
	MeasuresPerDay float64 `json:"measures_per_day"` // over the time of its coarsest granularity
}

// Add adds another metric.
func (s *Saving) Add(other Saving) {
	s.Bytes += other.Bytes
	s.FinerBytes += other.FinerBytes
	s.MeasuresPerDay += other.MeasuresPerDay
}

// Costs reads what metrics cost.
func (c *Jobs) Costs(ctx context.Context, metrics []*model.Metric, staleness *query.Staleness) ([]Saving, error) {
	costs := make([]Saving, len(metrics))
	reads := make([]model.Read, len(metrics))
	ids := make([]uuid.UUID, len(metrics))
	for i, metric := range metrics {
		ids[i] = metric.ID
		counts := []carbonara.Column{countOf(metric)}
		reads[i] = model.Read{Metric: metric, Granularity: slices.Max(metric.ArchivePolicy.Granularities()),
			Columns: counts, To: carbonara.MaxTimestamp}
	}
	sizes, err := c.reader.Archives.Sizes(ctx, ids, staleness)
	if err != nil {
		return nil, err
	}
	for i := range sizes {
		costs[i].Bytes = sizes[i].Total()
		costs[i].FinerBytes = costs[i].Bytes - sizes[i].Splits[reads[i].Granularity]
	}
	archives, err := c.reader.Archives.Prefetch(ctx, reads, staleness)
	if err != nil {
		return nil, err
	}
	var groups carbonara.Groups
	for i := range reads {
		read := &reads[i]
		if err := archives.Groups(ctx, *read, staleness, &groups); err != nil {
			return nil, err
		}
		costs[i].MeasuresPerDay = measuresPerDay(&groups, read.Columns[0], read.Granularity)
	}
	return costs, nil
}

// countOf returns the column that counts a metric's measures.
func countOf(metric *model.Metric) carbonara.Column {
	if slices.Contains(metric.ArchivePolicy.Plan().Columns, carbonara.ColumnCount) {
		return carbonara.ColumnCount
	}
	return carbonara.ColumnCount.Rate() // a policy of rates only: one measure less a metric
}

// measuresPerDay is the rate over the time that groups cover.
func measuresPerDay(groups *carbonara.Groups, count carbonara.Column, granularity time.Duration) float64 {
	n := groups.Len()
	if n == 0 {
		return 0
	}
	measures := 0.
	for _, c := range groups.Column(count) {
		if !math.IsNaN(c) {
			measures += c
		}
	}
	span := time.Duration(groups.Starts[n-1]-groups.Starts[0]) + granularity
	return measures * float64(24*time.Hour) / float64(span)
}

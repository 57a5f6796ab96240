package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// defaultRedundancy is the strength above which metrics are taken to say the same.
const defaultRedundancy = 0.99

// redundantGroup is metrics that say the same: one to keep, and those that correlate with it.
type redundantGroup struct {
	keep   int // column
	others []redundantMember
}

type redundantMember struct {
	column int
	r      float64
	lag    int // groups by which it follows the one to keep
}

// redundant partitions metrics: again and again, the metric that says the same as most others left is kept for them. So every
// metric to drop correlates with one that stays, which a mere chain of pairs would not give.
func (j *correlationJob) redundant(threshold float64) []redundantGroup {
	partners := make(map[int][]redundantMember)
	for _, p := range j.pairs {
		if p.Strength() >= threshold {
			partners[p.I] = append(partners[p.I], redundantMember{p.J, p.R, p.Lag})
			partners[p.J] = append(partners[p.J], redundantMember{p.I, p.R, -p.Lag})
		}
	}
	var groups []redundantGroup
	for {
		keep := -1
		for column := range j.metrics { // in their order, so that equals give the same choice
			if len(partners[column]) > 0 && (keep < 0 || len(partners[column]) > len(partners[keep])) {
				keep = column
			}
		}
		if keep < 0 {
			return groups
		}
		group := redundantGroup{keep, partners[keep]}
		slices.SortFunc(group.others, func(a, b redundantMember) int { return cmp.Compare(a.column, b.column) })
		gone := map[int]bool{keep: true}
		for _, other := range group.others {
			gone[other.column] = true
		}
		for column, members := range partners {
			partners[column] = slices.DeleteFunc(slices.Clone(members), func(m redundantMember) bool { return gone[m.column] })
			if gone[column] || len(partners[column]) == 0 {
				delete(partners, column)
			}
		}
		groups = append(groups, group)
	}
}

// saving is what a metric costs, as its archive has it now.
type saving struct {
	Bytes          int64   `json:"bytes"`            // of its splits and raw series
	FinerBytes     int64   `json:"finer_bytes"`      // of those, splits finer than its coarsest granularity, and the raw series
	MeasuresPerDay float64 `json:"measures_per_day"` // over the time of its coarsest granularity
}

func (s *saving) add(other saving) {
	s.Bytes, s.FinerBytes, s.MeasuresPerDay = s.Bytes+other.Bytes, s.FinerBytes+other.FinerBytes, s.MeasuresPerDay+other.MeasuresPerDay
}

type shownMember struct {
	Metric uuid.UUID `json:"metric"`
	Name   string    `json:"name"`
	R      float64   `json:"r"`
	Lag    int       `json:"lag"`
	saving
}

type shownGroup struct {
	Keep     uuid.UUID     `json:"keep"`
	KeepName string        `json:"keep_name"`
	Drop     []shownMember `json:"drop"`
	saving                 // of all to drop
}

// getRedundant groups a job's metrics that say the same, and tells what dropping or coarsening all but one of each would save.
func (a *api) getRedundant(w http.ResponseWriter, r *http.Request, who *Identity) error {
	job, err := a.correlations.find(param(r, "id"), ownerOf(who))
	if err != nil {
		return err
	}
	threshold := max(defaultRedundancy, job.selection.MinAbs)
	if query := r.URL.Query(); query.Has("threshold") {
		v, err := strconv.ParseFloat(query.Get("threshold"), 64)
		if err != nil || !(v > 0 && v <= 1) {
			return badArgument("threshold", "Must be a number above 0, and 1 at most")
		}
		threshold = v
	}
	job.mu.Lock()
	state, least := job.state, max(job.selection.MinAbs, job.weakest)
	job.mu.Unlock()
	if state != jobDone {
		return &Error{Status: http.StatusConflict, Detail: "The correlation is " + state}
	}
	if job.selection.TopPerColumn > 0 {
		return &Error{Status: http.StatusConflict, Detail: "The correlation has the strongest pairs of each metric only: ask for one without top_per_metric"}
	}
	if threshold < least {
		return badArgument("threshold", fmt.Sprintf("The result has no pairs below %v", least))
	}
	groups := job.redundant(threshold)
	var dropped []*model.Metric
	for _, group := range groups {
		for _, other := range group.others {
			dropped = append(dropped, job.metric(other.column))
		}
	}
	costs, err := a.costsOf(r.Context(), dropped)
	if err != nil {
		return err
	}
	answer := struct {
		Threshold float64      `json:"threshold"`
		Groups    []shownGroup `json:"groups"`
		saving
	}{Threshold: threshold, Groups: []shownGroup{}}
	for _, group := range groups {
		keep := job.metric(group.keep)
		shown := shownGroup{Keep: keep.ID, KeepName: keep.Name}
		for _, other := range group.others {
			metric := job.metric(other.column)
			shown.Drop = append(shown.Drop, shownMember{metric.ID, metric.Name, other.r, other.lag, costs[0]})
			shown.add(costs[0])
			costs = costs[1:]
		}
		answer.add(shown.saving)
		answer.Groups = append(answer.Groups, shown)
	}
	return writeJSON(w, http.StatusOK, answer)
}

// costsOf reads what metrics cost.
func (a *api) costsOf(ctx context.Context, metrics []*model.Metric) ([]saving, error) {
	costs := make([]saving, len(metrics))
	reads := make([]model.Read, len(metrics))
	ids := make([]uuid.UUID, len(metrics))
	for i, metric := range metrics {
		ids[i] = metric.ID
		reads[i] = model.Read{Metric: metric, Granularity: coarsestOf(metric), Columns: []carbonara.Column{countOf(metric)}, To: carbonara.MaxTimestamp}
	}
	if a.Sizes != nil {
		sizes, err := a.Sizes.Sizes(ctx, ids)
		if err != nil {
			return nil, err
		}
		for i := range sizes {
			costs[i].Bytes = sizes[i].Total()
			costs[i].FinerBytes = costs[i].Bytes - sizes[i].Splits[reads[i].Granularity]
		}
	}
	archives, err := a.prefetchReads(ctx, reads)
	if err != nil {
		return nil, err
	}
	var groups carbonara.Groups
	for i := range reads {
		read := &reads[i]
		if err := archives.Groups(ctx, *read, &groups); err != nil {
			return nil, err
		}
		costs[i].MeasuresPerDay = measuresPerDay(&groups, read.Columns[0], read.Granularity)
	}
	return costs, nil
}

func coarsestOf(metric *model.Metric) time.Duration {
	return slices.Max(metric.ArchivePolicy.Granularities())
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

package query

import (
	"cmp"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Operand is a metric that operations read, and how it was found.
type Operand struct {
	Metric      *model.Metric
	Reference   int // index into the operation's References
	Aggregation string
	Resource    *model.Resource // of the metric; nil if the metric was found by its ID, or no answer shows it
	Pattern     string          // by which the name was found; "" for an ID
}

// Name returns the metric's name within its resource, or its ID.
func (o *Operand) Name() string {
	if o.Pattern == "" {
		return o.Metric.ID.String()
	}
	return o.Metric.Name
}

// fromSketch reports whether the aggregates of o are read from sketches.
func fromSketch(o Operand) bool {
	policy := o.Metric.ArchivePolicy
	if !policy.Plan().HasSketch() {
		return false
	}
	method, err := carbonara.ParseMethod(o.Aggregation)
	return err == nil && policy.FromSketch(method)
}

// names returns the operands as errors show them.
func names(operands []Operand) [][2]string {
	names := make([][2]string, len(operands))
	for i := range operands {
		names[i] = [2]string{operands[i].Name(), operands[i].Aggregation}
	}
	return names
}

// lookupKeys is names, but for operands that were found by a pattern, which it shows.
func lookupKeys(operands []Operand) [][2]string {
	keys := names(operands)
	for i := range operands {
		if operands[i].Pattern != "" {
			keys[i][0] = operands[i].Pattern
		}
	}
	return keys
}

// CommonGranularities returns the granularities that all metrics have, coarsest first, or only the one asked for (0 for
// none). The error is an *UnaggregableError, or an *UnknownAggregationError for a metric without the aggregation.
func CommonGranularities(operands []Operand, asked time.Duration) ([]time.Duration, error) {
	granularities := []time.Duration{asked}
	if asked == 0 {
		counts := map[time.Duration]int{}
		for i := range operands {
			for _, granularity := range operands[i].Metric.ArchivePolicy.Granularities() {
				counts[granularity]++
			}
		}
		granularities = granularities[:0]
		for granularity, count := range counts {
			if count == len(operands) {
				granularities = append(granularities, granularity)
			}
		}
		if len(granularities) == 0 {
			return nil, &UnaggregableError{Reason: "No granularity match", Metrics: names(operands)}
		}
		slices.SortFunc(granularities, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	}
	var missing [][2]string
	for i := range operands {
		o := &operands[i]
		if method, err := carbonara.ParseMethod(o.Aggregation); err != nil ||
			!o.Metric.ArchivePolicy.Answers(method) {
			return nil, &UnknownAggregationError{o.Metric.ID, o.Aggregation}
		}
		if asked != 0 && !o.Metric.ArchivePolicy.HasGranularity(asked) {
			missing = append(missing, [2]string{o.Name(), o.Aggregation})
		}
	}
	if len(missing) > 0 {
		return nil, &UnaggregableError{"Granularities are missing", missing, asked}
	}
	return granularities, nil
}

package promql

import (
	"cmp"
	"errors"
	"slices"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
)

// ofSeries are the exemplars of a series.
type ofSeries struct {
	Series    labels.Labels `json:"seriesLabels"`
	Exemplars []exemplar    `json:"exemplars"`
}

type exemplar struct {
	Labels labels.Labels      `json:"labels"`
	Value  common.SampleValue `json:"value"`
	At     common.Time        `json:"timestamp"`
}

// exemplars answers with the exemplars of the series that an expression selects and the user sees.
func (a Handlers) exemplars(r *request) (*Answer, error) {
	start, end := r.Time("start", earliest), r.Time("end", latest)
	if end.Before(start) {
		r.refuse(invalid("end", errors.New("end timestamp must not be before start timestamp")))
	}
	expr := a.parseExpr(r)
	if r.fault != nil {
		return nil, r.fault
	}
	found := []*ofSeries{}
	span := exemplars.Span{Start: start.UnixMilli(), End: end.UnixMilli()}
	kept := a.ActivityOf(r.Context(), activity.Request{Exemplars: &span}).Exemplars
	if len(kept) == 0 {
		return &Answer{Data: found}, nil
	}
	seen := map[string]*ofSeries{} // by creator and labels
	keyOf := func(creator string, l labels.Labels) string { return creator + "\x00" + l.String() }
	for _, matchers := range parser.ExtractSelectors(expr) {
		series, err := a.Series.Select(r.Context(), r.sees, matchers...)
		if err != nil {
			return nil, err
		}
		for _, s := range series {
			shown := labels.NewBuilder(s.Labels).Del(model.LabelHistogram).Labels()
			if key := keyOf(s.Metric.Creator, shown); s.Metric.Labels != "" && seen[key] == nil {
				seen[key] = &ofSeries{Series: shown}
			}
		}
	}
	slices.SortStableFunc(kept, func(a, b exemplars.Exemplar) int { return cmp.Compare(a.Millis, b.Millis) })
	for i := range kept {
		e := &kept[i]
		s := seen[keyOf(e.Creator, labelsOf(e.Series))]
		if s == nil {
			continue
		}
		if s.Exemplars == nil {
			found = append(found, s)
		}
		one := exemplar{labelsOf(e.Labels), common.SampleValue(e.Value()), common.Time(e.Millis)}
		if !s.has(one) { // else sent twice
			s.Exemplars = append(s.Exemplars, one)
		}
	}
	slices.SortFunc(found, func(a, b *ofSeries) int { return labels.Compare(a.Series, b.Series) })
	return &Answer{Data: found}, nil
}

// has looks for an exemplar that is as late as the latest ones.
func (s *ofSeries) has(one exemplar) bool {
	for _, other := range slices.Backward(s.Exemplars) {
		switch {
		case other.At != one.At:
			return false
		case other.Value.Equal(one.Value) && labels.Equal(other.Labels, one.Labels):
			return true
		}
	}
	return false
}

func labelsOf(text []byte) labels.Labels {
	builder := labels.NewBuilder(labels.EmptyLabels())
	for name, value := range model.Labels(text).All() {
		builder.Set(name, value)
	}
	return builder.Labels()
}

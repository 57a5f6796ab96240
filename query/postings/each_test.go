package postings_test

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Each shows what Select returns, and knows when labels are distinct.
func TestEach(t *testing.T) {
	ctx, store := t.Context(), openIndex(t)
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	create(t, store, "one", "r1", "a", "b")
	other := pushedSeries(policy, "__name__", "x", "job", "a")
	other.Creator = "other"
	for _, m := range []*postings.Series{{Metric: pushedSeries(policy, "__name__", "x", "job", "a")}, {Metric: other},
		{Metric: pushedSeries(policy, "__name__", "x", "__type__", "gauge")},
		{Metric: pushedSeries(policy, "__name__", "y", "job", "a")}} {
		fatal.If(t, store.CreateMetric(ctx, m.Metric))
	}
	catalog := postings.New(store, postings.Options{Bytes: 64 << 20})
	f := func(name, value string, distinct, typed bool) {
		t.Helper()
		matcher := labels.MustNewMatcher(labels.MatchRegexp, name, value)
		found, err := catalog.Select(ctx, nil, matcher)
		fatal.If(t, err)
		var got, want []string
		for _, s := range found {
			want = append(want, s.Metric.ID.String()+s.Metric.ArchivePolicy.Name+s.Labels.String()+s.Labels.Get("__name__"))
		}
		var shown labels.Labels
		hasType := false
		are, err := catalog.Each(ctx, nil, 1, []*labels.Matcher{matcher}, func(s *postings.Found) error {
			s.OverwriteLabels(&shown)
			if !labels.Equal(shown, s.Labels()) || s.Pushed() != (shown.Get("resource_id") == "") {
				t.Errorf("%v, %v, pushed: %v", shown, s.Labels(), s.Pushed())
			}
			hasType = hasType || s.Has("__type__")
			got = append(got, s.ID().String()+s.Policy()+shown.String()+s.Name())
			return nil
		})
		fatal.If(t, err)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%v\nwant\n%v", got, want)
		}
		if are != distinct || hasType != typed {
			t.Errorf("%s=~%q: distinct: %v, with a type: %v", name, value, are, hasType)
		}
	}
	f("__name__", "y", true, false)
	f("__name__", "x", false, true) // of two creators
	f("__name__", "a|b", true, false)
	f("__name__", "a|y", false, false) // a pushed label may be an ID
	f("__type__", "gauge", true, true)
}

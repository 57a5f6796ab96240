package postings

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Deleted metrics are forgotten once they are more than 1,000, and more than the rest.
func TestHolesAreForgotten(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	catalog := New(store, Options{Bytes: 8 << 20})
	resource := func(metrics int) uuid.UUID {
		r := &model.Resource{ID: uuid.New(), Type: model.GenericType, Creator: "me"}
		r.OriginalID = r.ID.String()
		all := make([]*model.Metric, metrics)
		for i := range all {
			all[i] = &model.Metric{ID: uuid.New(), Name: fmt.Sprint("m", i), ArchivePolicy: policy, Creator: "me"}
		}
		fatal.If(t, store.CreateResource(t.Context(), r, all))
		return r.ID
	}
	f := func(wantSeries, wantGone int) {
		t.Helper()
		found, err := catalog.Select(t.Context(), nil)
		if err != nil || len(found) != wantSeries || catalog.state.gone != wantGone {
			t.Errorf("%d series, %d gone, %v; want %d, %d", len(found), catalog.state.gone, err, wantSeries, wantGone)
		}
	}
	drop := func(ids ...uuid.UUID) {
		if _, err := store.DeleteResources(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
	}
	first, second, third := resource(900), resource(300), resource(1300)
	f(2500, 0)
	drop(first)
	f(1600, 901) // not many
	drop(second)
	f(1300, 1202) // many, and less than half
	drop(third)
	f(0, 2503) // these are found now, and forgotten by the next change
	resource(5)
	f(5, 0)
}

// Series that come and go leave bounded memory behind, also that of their names.
func TestChurnIsBounded(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer store.Close()
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	catalog := New(store, Options{Bytes: 8 << 20})
	const live, rounds = 1000, 20
	var last []*model.Metric
	most := int64(0)
	for round := range rounds {
		series := make([]*model.Metric, live)
		for i := range series {
			labels := model.AppendLabel(nil, []byte("__name__"), []byte("m"))
			labels = model.AppendLabel(labels, []byte("pod"), []byte(fmt.Sprintf("pod-%02d-%04d", round, i)))
			series[i] = &model.Metric{Name: "m", Labels: model.Labels(labels), ArchivePolicy: policy, Creator: "me"}
		}
		fatal.If(t, store.CreateMetrics(t.Context(), series))
		for _, m := range last {
			fatal.If(t, store.DeleteMetric(t.Context(), m.ID))
		}
		last = series
		pods, err := catalog.Values(t.Context(), nil, "pod")
		if err != nil || len(pods) != live {
			t.Fatalf("round %d: %d pods, %v", round, len(pods), err)
		}
		s := catalog.state
		if n := len(s.metrics); n > 4*live || len(s.texts) > 4*live+20 || len(s.pushed.pairs) > 4*live {
			t.Fatalf("round %d: %d metrics, %d texts, %d pairs", round, n, len(s.texts), len(s.pushed.pairs))
		}
		if round < 4 {
			most = max(most, s.size())
		} else if s.size() > most {
			t.Errorf("round %d: %d bytes, more than %d at first", round, s.size(), most)
		}
	}
}

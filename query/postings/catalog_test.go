package postings_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func openIndex(t testing.TB) *index.Store {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, store.Close()) })
	kind, err := model.NewResourceType("host",
		[]*model.Attribute{{Name: "rack", Kind: model.KindString, MaxLength: 20}})
	fatal.If(t, err)
	fatal.If(t, store.CreateResourceType(t.Context(), kind))
	return store
}

func create(t testing.TB, store *index.Store, project, rack string, names ...string) *model.Resource {
	t.Helper()
	r := &model.Resource{ID: uuid.New(), Type: "host", Creator: "me", ProjectID: &project}
	r.OriginalID = "host of " + project
	r.Attributes.Set("rack", rack)
	p, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	var metrics []*model.Metric
	for _, name := range names {
		metrics = append(metrics, &model.Metric{ID: uuid.New(), Name: name, ArchivePolicy: p, Creator: "me", Unit: "B"})
	}
	fatal.If(t, store.CreateResource(t.Context(), r, metrics))
	return r
}

func move(t testing.TB, store *index.Store, id uuid.UUID, project, rack string) {
	t.Helper()
	_, err := store.UpdateResource(t.Context(), "host", id, carbonara.FromTime(time.Now()),
		func(r *model.Resource) (*index.MetricSet, error) {
			r.ProjectID = &project
			r.Attributes.Set("rack", rack)
			return nil, nil
		})
	fatal.If(t, err)
}

// The catalog says what the index says, after any change.
func TestCatalogFollows(t *testing.T) {
	ctx := context.Background()
	store := openIndex(t)
	catalog := postings.New(store, postings.Options{Bytes: 1 << 20})
	f := func(selector []*labels.Matcher, want ...string) {
		t.Helper()
		found, err := catalog.Select(ctx, nil, selector...)
		fatal.If(t, err)
		var got []string
		for _, s := range found {
			got = append(got, s.Labels.Get("project_id")+"/"+s.Labels.Get("rack")+"/"+s.Labels.Get("__name__"))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", selector, got, want)
		}
	}
	m := func(kind labels.MatchType, name, value string) []*labels.Matcher {
		return []*labels.Matcher{labels.MustNewMatcher(kind, name, value)}
	}
	equal := labels.MatchEqual
	a := create(t, store, "a", "r1", "cpu", "disk")
	f(m(equal, "__name__", "cpu"), "a/r1/cpu")
	b := create(t, store, "b", "r2", "cpu")
	f(m(equal, "__name__", "cpu"), "a/r1/cpu", "b/r2/cpu")
	f(m(equal, "unit", "B"), "a/r1/cpu", "a/r1/disk", "b/r2/cpu")
	f(m(equal, "archive_policy", "low"), "a/r1/cpu", "a/r1/disk", "b/r2/cpu")
	f(m(equal, "original_resource_id", "host of b"), "b/r2/cpu")
	f(m(equal, "resource_id", b.ID.String()), "b/r2/cpu")
	f(m(labels.MatchRegexp, "rack", "r1|r2|r3"), "a/r1/cpu", "a/r1/disk", "b/r2/cpu")
	f(m(labels.MatchNotRegexp, "rack", "r[2-9]"), "a/r1/cpu", "a/r1/disk")
	f(m(labels.MatchNotEqual, "project_id", "a"), "b/r2/cpu")
	f(m(equal, "nothing", ""), "a/r1/cpu", "a/r1/disk", "b/r2/cpu")
	f(m(equal, "nothing", "x"))
	f(append(m(equal, "rack", "r1"), m(equal, "__name__", "disk")...), "a/r1/disk")

	// Another project: a query for the old one finds nothing.
	move(t, store, a.ID, "c", "r9")
	f(m(equal, "project_id", "a"))
	f(m(equal, "project_id", "c"), "c/r9/cpu", "c/r9/disk")
	f(m(equal, "rack", "r1"))
	values, err := catalog.Values(ctx, nil, "project_id")
	fatal.If(t, err)
	if !slices.Equal(values, []string{"b", "c"}) {
		t.Errorf("values %q", values)
	}

	// Metrics and resources that go.
	disk, err := store.MetricOfResource(a.ID, "disk")
	fatal.If(t, err)
	fatal.If(t, store.DeleteMetric(ctx, disk.ID))
	f(m(equal, "__name__", "disk"))
	fatal.If(t, store.DeleteResource(ctx, "host", b.ID, nil))
	f(m(equal, "__name__", "cpu"), "c/r9/cpu")

	// A type that changes changes what its resources say.
	_, err = store.UpdateResourceType(ctx, "host", func(old *model.ResourceType) (*model.ResourceType, error) {
		return old.Update(nil)
	})
	fatal.If(t, err)
	f(m(equal, "__name__", "cpu"), "c//cpu")

	// Counts are those of the labels, also of labels that only selectors know.
	counts, err := catalog.Counts(ctx, nil, 10, time.Time{},
		[]string{"project_id", "unit", "__name__", "resource_id", "nothing"})
	fatal.If(t, err)
	want := &postings.Counts{Total: 1, Labels: []postings.LabelCount{{"project_id", 1, []postings.Count{{"c", 1}}},
		{"unit", 1, []postings.Count{{"B", 1}}}, {"__name__", 1, []postings.Count{{"cpu", 1}}},
		{"resource_id", 1, []postings.Count{{a.ID.String(), 1}}}}}
	if !reflect.DeepEqual(counts, want) {
		t.Errorf("counts %+v, want %+v", counts, want)
	}

	// A client finds no hidden metric by any label.
	nobody := func(postings.Candidate) bool { return false }
	for _, name := range []string{"__name__", "project_id", "metric_id", "resource_id", "unit"} {
		if values, err := catalog.Values(ctx, nobody, name); err != nil || len(values) > 0 {
			t.Errorf("%s: %q, %v", name, values, err)
		}
	}
	if counts, err := catalog.Counts(ctx, nobody, 10, time.Time{}, nil); err != nil || counts.Total > 0 ||
		len(counts.Labels) > 0 {
		t.Errorf("%+v, %v", counts, err)
	}
	if names, err := catalog.Names(ctx, nobody); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// The catalog follows many changes at once, even more than the index remembers.
func TestCatalogFollowsMany(t *testing.T) {
	store := openIndex(t)
	catalog := postings.New(store, postings.Options{Bytes: 64 << 20})
	count := func(want int) {
		t.Helper()
		s, err := catalog.Statistics(t.Context(), nil, 3)
		fatal.If(t, err)
		if s.Series != want {
			t.Errorf("%d series, want %d", s.Series, want)
		}
	}
	count(0)
	p, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	const many = 40_000
	for range 2 {
		metrics := make([]*model.Metric, many)
		for i := range metrics {
			metrics[i] = &model.Metric{ID: uuid.New(), Name: "m", ArchivePolicy: p, Creator: "me"}
		}
		fatal.If(t, store.CreateMetrics(t.Context(), metrics))
	}
	count(2 * many)

	small := postings.New(store, postings.Options{Bytes: 1 << 20})
	_, err = small.Names(t.Context(), nil)
	if !errors.Is(err, model.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "memory limit") {
		t.Errorf("too little memory: %v", err)
	}
}

// At 100,000 metrics each value is counted, not those of the first few.
func TestCountsOfMany(t *testing.T) {
	catalog := manyMetrics(t, 100_000, 100)
	counts, err := catalog.Counts(t.Context(), nil, 3, time.Time{}, nil)
	fatal.If(t, err)
	want := &postings.Counts{Total: 100_000, Labels: []postings.LabelCount{
		{"archive_policy", 1, []postings.Count{{"low", 100_000}}},
		{"original_resource_id", 1000, []postings.Count{{"host0", 100}, {"host1", 100}, {"host10", 100}}},
		{"project_id", 7, []postings.Count{{"p0", 14_300}, {"p1", 14_300}, {"p2", 14_300}}},
		{"rack", 10, []postings.Count{{"r0", 10_000}, {"r1", 10_000}, {"r2", 10_000}}},
		{"resource_type", 1, []postings.Count{{"host", 100_000}}},
	}}
	if !reflect.DeepEqual(counts, want) {
		t.Errorf("counts %+v, want %+v", counts, want)
	}
	some, err := catalog.Counts(t.Context(), nil, 3, time.Time{}, []string{"rack"},
		[]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "project_id", "p6")})
	fatal.If(t, err)
	if some.Total != 14_200 || some.Labels[0].Counts[0].Value != 1500 {
		t.Errorf("counts %+v", some)
	}
}

// Kept answers are valid for one question, for clients who see everything, and for the index as it is.
func TestCountsAreKept(t *testing.T) {
	store := openIndex(t)
	p, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	create := func(name, unit string) {
		t.Helper()
		fatal.If(t, store.CreateMetric(t.Context(), &model.Metric{ID: uuid.New(), Name: name, Unit: unit,
			ArchivePolicy: p, Creator: "me"}))
	}
	catalog := postings.New(store, postings.Options{Bytes: 256 << 20})
	count := func(sees postings.Sees, name string, want int) *postings.Counts {
		t.Helper()
		counts, err := catalog.Counts(t.Context(), sees, 5, time.Time{}, []string{"unit"},
			[]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "__name__", name)})
		fatal.If(t, err)
		if counts.Total != want {
			t.Errorf("%s: %d metrics, want %d", name, counts.Total, want)
		}
		return counts
	}
	create("cpu", "s")
	create("disk", "B")
	create("disk", "B")
	first := count(nil, "cpu", 1)
	count(nil, "disk", 2)
	if count(nil, "cpu", 1) != first {
		t.Error("the same question was counted again")
	}
	count(func(postings.Candidate) bool { return false }, "cpu", 0)
	create("cpu", "ms")
	if counts := count(nil, "cpu", 2); len(counts.Labels) != 1 || counts.Labels[0].Values != 2 {
		t.Errorf("after another metric: %+v", counts)
	}
}

// manyMetrics makes n metrics, so many of each host.
func manyMetrics(t testing.TB, n, each int) *postings.Catalog {
	store := openIndex(t)
	p, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	for host := range n / each {
		project := fmt.Sprintf("p%d", host%7)
		r := &model.Resource{ID: uuid.New(), Type: "host", Creator: "me", ProjectID: &project,
			OriginalID: fmt.Sprintf("host%d", host)}
		r.Attributes.Set("rack", fmt.Sprintf("r%d", host%10))
		metrics := make([]*model.Metric, each)
		for i := range metrics {
			metrics[i] = &model.Metric{ID: uuid.New(), Name: fmt.Sprintf("m%d", i), ArchivePolicy: p, Creator: "me"}
		}
		fatal.If(t, store.CreateResource(t.Context(), r, metrics))
	}
	return postings.New(store, postings.Options{Bytes: 256 << 20})
}

func BenchmarkCounts(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 1000
	}
	for _, each := range []int{2, 100} {
		b.Run(fmt.Sprintf("metrics=%d/each=%d", n, each), func(b *testing.B) {
			catalog := manyMetrics(b, n, each)
			named := []*labels.Matcher{labels.MustNewMatcher(labels.MatchNotEqual, "__name__", "")}
			_, err := catalog.Counts(b.Context(), nil, 50, time.Time{}, nil) // reads the index
			fatal.If(b, err)
			for b.Loop() {
				counts, err := catalog.Counts(b.Context(), nil, 50, time.Time{}, nil, named)
				fatal.If(b, err)
				if counts.Total != n {
					b.Fatalf("%d metrics", counts.Total)
				}
			}
		})
	}
}

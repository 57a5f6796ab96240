package postings_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// pushedSeries returns the metric of a series with labels, given by name and value. Names ascend.
func pushedSeries(policy *model.ArchivePolicy, list ...string) *model.Metric {
	var pushed []byte
	m := &model.Metric{ArchivePolicy: policy, Creator: "me"}
	for i := 0; i < len(list); i += 2 {
		pushed = model.AppendLabel(pushed, []byte(list[i]), []byte(list[i+1]))
		if list[i] == "__name__" {
			m.Name = list[i+1]
		}
	}
	m.Labels = model.Labels(pushed)
	return m
}

// Selectors find the series whose labels match, also after others were created and deleted. Both ways to list the
// values of a label agree.
func TestSelectorsAgainstLabels(t *testing.T) {
	ctx, store := t.Context(), openIndex(t)
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	following := postings.New(store, postings.Options{Bytes: 64 << 20})
	random := rand.New(rand.NewPCG(3, 4))
	var live []uuid.UUID
	var selectors [][]*labels.Matcher
	for _, name := range []string{"__name__", "job", "pod", "rack", "metric_id", "none"} {
		for _, value := range []string{"", "a", "p1", "p1|p2|x", "p.*", ".+", ".*", "[ab]", "r1|a"} {
			for kind := labels.MatchEqual; kind <= labels.MatchNotRegexp; kind++ {
				selectors = append(selectors, []*labels.Matcher{labels.MustNewMatcher(kind, name, value)})
			}
		}
	}
	for range 20 {
		first := selectors[random.IntN(len(selectors))][0]
		selectors = append(selectors, []*labels.Matcher{first, selectors[random.IntN(len(selectors))][0]})
	}
	show := func(c *postings.Catalog, matchers ...*labels.Matcher) (all []string) {
		t.Helper()
		found, err := c.Select(ctx, nil, matchers...)
		fatal.If(t, err)
		for _, s := range found {
			all = append(all, s.Labels.String())
		}
		slices.Sort(all)
		return all
	}
	for round := range 6 {
		create(t, store, fmt.Sprint("p", round), "r"+fmt.Sprint(round%2), "a", "b")
		for range 30 {
			list := []string{"__name__", string(rune('a' + random.IntN(3)))}
			for _, name := range []string{"job", "metric_id", "pod", "rack"} {
				if random.IntN(3) > 0 {
					list = append(list, name, []string{"a", "b", fmt.Sprint("p", random.IntN(20))}[random.IntN(3)])
				}
			}
			m := pushedSeries(policy, list...)
			if err := store.CreateMetric(ctx, m); err == nil { // else it is there
				live = append(live, m.ID)
			}
		}
		fresh := postings.New(store, postings.Options{Bytes: 64 << 20})
		all, err := following.Select(ctx, nil)
		fatal.If(t, err)
		for _, matchers := range selectors {
			var want []string
			for _, s := range all {
				if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
					value := s.Labels.Get(m.Name)
					if m.Name == "metric_id" && value == "" { // not shown
						value = s.Metric.ID.String()
					}
					return !m.Matches(value)
				}) {
					want = append(want, s.Labels.String())
				}
			}
			slices.Sort(want)
			if got := show(following, matchers...); !slices.Equal(got, want) {
				t.Fatalf("round %d, %s: %q, want %q", round, matchers, got, want)
			}
			if got := show(fresh, matchers...); !slices.Equal(got, want) {
				t.Fatalf("round %d, %s, read anew: %q, want %q", round, matchers, got, want)
			}
		}
		for _, name := range []string{"__name__", "job", "pod", "rack", "none", "metric_id"} {
			got, err := following.Values(ctx, nil, name)
			fatal.If(t, err)
			want, err := fresh.Values(ctx, func(postings.Candidate) bool { return true }, name)
			fatal.If(t, err)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d: values of %s %q, want %q", round, name, got, want)
			}
		}
		for range len(live) / 2 {
			at := random.IntN(len(live))
			fatal.If(t, store.DeleteMetric(ctx, live[at]))
			live = slices.Delete(live, at, at+1)
		}
	}
}

// manyPushed creates series like those of a fleet of pods, each with a label that no other has.
func manyPushed(t testing.TB, store *index.Store, from, n int) (ids []uuid.UUID) {
	t.Helper()
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	for n > 0 {
		metrics := make([]*model.Metric, min(n, 10_000))
		for i := range metrics {
			metrics[i] = pushedSeries(policy, "__name__", fmt.Sprint("m_", (from+i)%100), "instance",
				fmt.Sprintf("host-%d:9100", (from+i)/100%10_000), "job", "node", "pod", fmt.Sprintf("pod-%06x", from+i),
				"zone", fmt.Sprint("z", i%7))
		}
		fatal.If(t, store.CreateMetrics(t.Context(), metrics))
		for _, m := range metrics {
			ids = append(ids, m.ID)
		}
		from, n = from+len(metrics), n-len(metrics)
	}
	return ids
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// withoutFiles is an index that writes no file, which would be in memory.
type withoutFiles struct{ *index.Store }

func (withoutFiles) WriteDerived(string, func(io.Writer) error) error { return errors.ErrUnsupported }

// The labels of a pushed series take little memory, although each has one of its own.
func TestPushedLabelsAreSmall(t *testing.T) {
	const n, most = 50_000, 220
	store := openIndex(t)
	manyPushed(t, store, 0, n)
	catalog := postings.New(withoutFiles{store}, postings.Options{Bytes: 64 << 20})
	before := heap()
	_, err := catalog.Names(t.Context(), nil)
	fatal.If(t, err)
	if each := (heap() - before) / n; each > most {
		t.Errorf("%d bytes a series, more than %d", each, most)
	} else {
		t.Logf("%d bytes a series", each)
	}
	runtime.KeepAlive(catalog)
}

// BenchmarkPushed reads the labels of pushed series as after a restart, and asks for them.
func BenchmarkPushed(b *testing.B) {
	n := 200_000
	if testing.Short() {
		n = 1000
	}
	store := openIndex(b)
	manyPushed(b, store, 0, n)
	ctx := b.Context()
	name := func(kind labels.MatchType, name, value string) *labels.Matcher {
		return labels.MustNewMatcher(kind, name, value)
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			catalog := postings.New(store, postings.Options{Bytes: 1 << 30})
			_, err := catalog.Select(ctx, nil, name(labels.MatchEqual, "pod", "none"))
			fatal.If(b, err)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/series")
	})
	catalog := postings.New(store, postings.Options{Bytes: 1 << 30})
	for _, m := range []*labels.Matcher{name(labels.MatchEqual, "__name__", "m_1"),
		name(labels.MatchRegexp, "pod", "pod-00a.*"), name(labels.MatchRegexp, "__name__", ".+")} {
		b.Run("select="+m.String(), func(b *testing.B) {
			for b.Loop() {
				_, err := catalog.Select(ctx, nil, m)
				fatal.If(b, err)
			}
		})
	}
	b.Run("values=instance", func(b *testing.B) {
		for b.Loop() {
			_, err := catalog.Values(ctx, nil, "instance")
			fatal.If(b, err)
		}
	})
}

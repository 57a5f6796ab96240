package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// memorySource is a source in memory.
type memorySource struct {
	d        definitions
	archives map[uuid.UUID]*archived
	before   func() error // called before each archive is read
	reads    atomic.Int64
}

func (s *memorySource) definitions(context.Context) (*definitions, error) { return &s.d, nil }
func (s *memorySource) backlog(context.Context) (int, error)              { return 0, nil }
func (s *memorySource) changed(*model.Metric, time.Time) bool             { return true }
func (s *memorySource) close() error                                      { return nil }

func (s *memorySource) archive(_ context.Context, m *model.Metric, _ carbonara.Timestamp) (*archived, error) {
	s.reads.Add(1)
	if s.before != nil {
		if err := s.before(); err != nil {
			return nil, err
		}
	}
	if s.archives[m.ID] == nil {
		return nil, errGone
	}
	return s.archives[m.ID], nil
}

func newMemorySource(t *testing.T, resources int) *memorySource {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 52))
	s := &memorySource{archives: make(map[uuid.UUID]*archived)}
	s.d.policies = []*model.ArchivePolicy{policyOf(t, "six", "mean", "min", "max", "sum", "std", "count"),
		policyOf(t, "mean", "mean", "rate:mean")}
	s.d.rules = []*model.ArchivePolicyRule{{Name: "rule", MetricPattern: "*", ArchivePolicyName: "six"}}
	kind, err := model.NewResourceType("instance",
		[]*model.Attribute{{Name: "host", Kind: model.KindString, Required: true, MaxLength: 255}})
	fatal.If(t, err)
	s.d.types = []*model.ResourceType{kind}
	for i := range resources {
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, i))
		live := &model.Resource{ID: id, OriginalID: fmt.Sprint("r", i), Type: "instance", Creator: "someone",
			StartedAt: 1000, RevisionStart: 3000, Attributes: model.Values{{Name: "host", Value: "b"}}}
		end := carbonara.Timestamp(3000)
		past := *live
		past.RevisionStart, past.RevisionEnd, past.Attributes = 2000, &end, model.Values{{Name: "host", Value: "a"}}
		s.d.resources = append(s.d.resources, &resource{live, []*model.Resource{&past}})
		for n, p := range s.d.policies {
			m := &model.Metric{ID: uuid.NewSHA1(id, fmt.Append(nil, n)), Name: fmt.Sprint("metric ", n),
				Creator: "someone", ArchivePolicy: p, ResourceID: &id}
			s.d.metrics = append(s.d.metrics, m)
			measures := randomSeries(r, 100)
			s.archives[m.ID] = &archived{aggregates: aggregatesOf(t, p, measures)}
			if n == 0 {
				s.archives[m.ID].raw = &measures
			}
		}
	}
	return s
}

func runPass(t *testing.T, s source, path string) (counts, error) {
	t.Helper()
	target, err := openTarget(path, "memory", 4)
	fatal.If(t, err)
	p := &pass{source: s, target: target, workers: 3, out: io.Discard}
	if err := p.run(t.Context()); err != nil {
		return p.counts, errors.Join(err, target.flush(), target.close())
	}
	return p.counts, nil
}

// contents returns all that a folder has, as text.
func contents(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	store, err := index.Open(filepath.Join(path, "index", "e1"), index.Options{SkipDefaults: true})
	fatal.If(t, err)
	defer store.Close()
	var sacks []*archive.Store
	for sack := range 4 {
		s, err := archive.Open(filepath.Join(path, "sacks", fmt.Sprintf("%03d", sack), "e1"),
			archive.Options{ReadOnly: true})
		fatal.If(t, err)
		defer s.Close()
		sacks = append(sacks, s)
	}
	for _, p := range store.ArchivePolicies() {
		fmt.Fprintln(&out, p.Name, p.MethodNames(), p.Definition)
	}
	for _, r := range store.ArchivePolicyRules() {
		fmt.Fprintln(&out, *r)
	}
	err = store.EachRevision(t.Context(), model.GenericType, func(r *model.Resource) bool {
		fmt.Fprintln(&out, r.ID, r.OriginalID, r.Type, r.RevisionStart, r.Attributes)
		if r.RevisionEnd != nil {
			return true
		}
		metrics, err := store.MetricsOfResource(t.Context(), r.ID)
		if err != nil {
			t.Error(err)
		}
		for _, m := range metrics {
			fmt.Fprintln(&out, m.ID, m.Name, m.Creator)
			s := sacks[model.Sack(m.ID, 4)]
			for _, g := range m.ArchivePolicy.Granularities() {
				var groups carbonara.Groups
				groups.Reset(g, m.ArchivePolicy.Plan().Columns)
				corrupt, err := s.Groups(m.ID, g, 0, carbonara.MaxTimestamp, &groups)
				if err != nil || corrupt > 0 {
					t.Error(corrupt, err)
				}
				fmt.Fprintln(&out, groups)
			}
			timestamps, values, _, err := s.Raw(m.ID, nil, nil)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintln(&out, timestamps, values)
			partial, err := s.PartialGroups(m.ID)
			if err != nil {
				t.Error(err)
			}
			if partial != nil {
				fmt.Fprintln(&out, *partial)
			}
		}
		return true
	})
	fatal.If(t, err)
	return out.String()
}

// A pass that ends anywhere is continued by the next one, with the same result; no folder of the final name is there
// before.
func TestAPassThatWasCutShort(t *testing.T) {
	s := newMemorySource(t, 40)
	whole := filepath.Join(t.TempDir(), "whole")
	n, err := runPass(t, s, whole)
	if err != nil || n.Written != 80 || n.Resources != 40 || n.Revisions != 80 {
		t.Fatal(n, err)
	}
	want := contents(t, whole)
	r := rand.New(rand.NewPCG(3, 52))
	cut := errors.New("cut short")
	for range 5 {
		path := filepath.Join(t.TempDir(), "cut")
		for {
			if _, err := os.Stat(path); err == nil {
				t.Fatal("a folder that is not complete has its final name")
			}
			var left atomic.Int64
			left.Store(int64(1 + r.IntN(30)))
			s.before = func() error {
				if left.Add(-1) < 0 {
					return cut
				}
				return nil
			}
			_, err := runPass(t, s, path)
			if err == nil {
				break
			}
			if !errors.Is(err, cut) {
				t.Fatal(err)
			}
		}
		s.before = nil
		if got := contents(t, path); got != want {
			t.Fatal("another result than that of a whole pass")
		}
	}
}

// A second pass brings what is new and drops what is gone.
func TestSecondPass(t *testing.T) {
	s := newMemorySource(t, 10)
	path := filepath.Join(t.TempDir(), "data")
	if _, err := runPass(t, s, path); err != nil {
		t.Fatal(err)
	}
	gone := s.d.resources[0]
	s.d.resources = s.d.resources[1:]
	var kept []*model.Metric
	for _, m := range s.d.metrics {
		if *m.ResourceID != gone.live.ID {
			kept = append(kept, m)
		}
	}
	s.d.metrics = kept
	r := rand.New(rand.NewPCG(4, 52))
	for _, m := range kept[:4] {
		s.archives[m.ID].aggregates = aggregatesOf(t, m.ArchivePolicy, randomSeries(r, 150))
	}
	n, err := runPass(t, s, path)
	if err != nil || n.Dropped != 2 || n.Written != 18 {
		t.Fatalf("%+v %v", n, err)
	}
	got := contents(t, path)
	fresh := filepath.Join(t.TempDir(), "fresh")
	if _, err := runPass(t, s, fresh); err != nil {
		t.Fatal(err)
	}
	if want := contents(t, fresh); got != want {
		t.Error("a second pass gives another result than a first one")
	}
	fatal.If(t, os.Mkdir(filepath.Join(path, "claims"), 0o750))
	if _, err := openTarget(path, "memory", 4); err == nil {
		t.Error("a folder that was served is written")
	}
	if _, err := openTarget(fresh, "another", 4); err == nil {
		t.Error("a folder of another source is written")
	}
}

// The newest groups go on from their moments, but not from their percentiles, which stay as they are until then.
func TestPartialGroupsKnowNoPercentiles(t *testing.T) {
	s := newMemorySource(t, 1)
	p := policyOf(t, "percentiles", "count", "sum", "95pct", "median")
	s.d.policies = append(s.d.policies, p)
	m := s.d.metrics[0]
	m.ArchivePolicy = p
	s.archives[m.ID] = &archived{aggregates: aggregatesOf(t, p, randomSeries(rand.New(rand.NewPCG(5, 52)), 50))}
	path := filepath.Join(t.TempDir(), "data")
	if _, err := runPass(t, s, path); err != nil {
		t.Fatal(err)
	}
	store, err := archive.Open(filepath.Join(path, "sacks", fmt.Sprintf("%03d", model.Sack(m.ID, 4)), "e1"),
		archive.Options{ReadOnly: true})
	fatal.If(t, err)
	defer store.Close()
	partial, err := store.PartialGroups(m.ID)
	if err != nil || partial == nil || len(partial.Rows) != 2 {
		t.Fatal(partial, err)
	}
	for _, row := range partial.Rows {
		var groups carbonara.Groups
		groups.Reset(row.Granularity, p.Plan().Columns)
		if _, err := store.Groups(m.ID, row.Granularity, row.Starts[0], row.Starts[0]+1, &groups); err != nil {
			t.Fatal(err)
		}
		for i, c := range row.Columns {
			if carbonara.IsAbsent(row.Values[i][0]) != (c.Percentile() > 0) || carbonara.IsAbsent(groups.Column(c)[0]) {
				t.Errorf("%v: %s is %v in the partial group, %v in the archive", row.Granularity, c, row.Values[i][0],
					groups.Column(c)[0])
			}
		}
	}
}

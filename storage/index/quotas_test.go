package index_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Quotas stay over a restart. The index counts the series of a project from the stored keys, and then with each change.
// It refuses series beyond the quota, also of requests at the same time, and accepts one again after a deletion.
func TestSeriesQuota(t *testing.T) {
	ctx, fs := context.Background(), vfs.NewMem()
	open := func() *index.Store {
		t.Helper()
		s, err := index.Open("index", index.Options{FS: fs})
		fatal.If(t, err)
		return s
	}
	s := open()
	metric := func(creator string) *model.Metric {
		return &model.Metric{Name: "cpu", Creator: creator, ArchivePolicy: &model.ArchivePolicy{Name: "low"}}
	}
	first := metric("u:p")
	for _, m := range []*model.Metric{first, metric("v:p"), metric("w:q"), metric("p")} {
		fatal.If(t, s.CreateMetric(ctx, m))
	}
	fatal.If(t, errors.Join(s.PutQuota(ctx, "p", model.Quota{Series: 5}), s.PutQuota(ctx, "q", model.Quota{Series: 9}),
		s.DeleteQuota(ctx, "q"), s.Close()))
	s = open()
	defer s.Close()
	own, err := s.Quotas(ctx)
	if err != nil || len(own) != 1 || own["p"].Series != 5 {
		t.Fatalf("quotas %+v, %v", own, err)
	}
	s.BoundSeries(func(project string) int64 { return own[project].Series })
	count := func(want int64) {
		t.Helper()
		counts, err := s.SeriesOfProjects()
		if err != nil || counts["p"] != want || counts["q"] != 1 {
			t.Fatalf("%v, %v, want %d of p and 1 of q", counts, err, want)
		}
	}
	var all sync.WaitGroup
	refused := make(chan error, 20)
	for range 20 {
		all.Go(func() {
			if err := s.CreateMetric(ctx, metric("u:p")); err != nil {
				refused <- err
			}
		})
	}
	all.Wait()
	var over *model.QuotaError
	if err := <-refused; len(refused) != 17 || !errors.As(err, &over) || over.Most != 5 || over.After != 0 ||
		!strings.Contains(over.Error(), `the most are called "cpu" (1)`) {
		t.Errorf("%d more refused: %v", len(refused), err)
	}
	count(5)
	if err := s.CreateMetrics(ctx, []*model.Metric{metric("w:q"), metric("u:p")}); err == nil {
		t.Error("a metric of two is beyond the quota, and both were created")
	}
	count(5)
	fatal.If(t, errors.Join(s.DeleteMetric(ctx, first.ID), s.Expunge(ctx, first.ID)))
	count(4)
	if err := s.CreateMetric(ctx, metric("u:p")); err != nil {
		t.Error(err)
	}
	count(5)
}

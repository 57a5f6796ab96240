package index_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// someSeries are n series from one on.
func someSeries(from, n int) (series []*model.Metric, labels []model.Labels) {
	for i := range n {
		text := model.Labels(model.AppendLabel(nil, []byte("n"), []byte(fmt.Sprint(from+i))))
		series = append(series, &model.Metric{Name: "n", Creator: "me", Labels: text,
			ArchivePolicy: &model.ArchivePolicy{Name: "low"}})
		labels = append(labels, text)
	}
	return series, labels
}

// Labels that are there are never taken for new ones: of this opening, of an earlier one, nor such as come back.
func TestKnownLabels(t *testing.T) {
	const n = 2000 // more than the first table has room for
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	create := func(from int, want error) {
		t.Helper()
		series, labels := someSeries(from, n)
		if err := s.CreateMetrics(ctx, series); !errors.Is(err, want) {
			t.Errorf("series from %d: %v, want %v", from, err, want)
		}
		found, _, err := s.MetricsOfLabels(ctx, "me", labels)
		fatal.If(t, err)
		for i, m := range found {
			if m == nil || m.Labels != labels[i] {
				t.Fatalf("series %d is %+v", from+i, m)
			}
		}
	}
	create(0, nil)
	create(n, nil)
	create(0, model.ErrExists)
	closeStore(t, s)
	s = open(t, index.Options{FS: fs})
	create(2*n, nil)
	create(0, model.ErrExists)
	_, labels := someSeries(7, 1)
	found, _, err := s.MetricsOfLabels(ctx, "me", labels)
	fatal.If(t, err)
	fatal.If(t, s.DeleteMetric(ctx, found[0].ID))
	again, _ := someSeries(7, 1)
	fatal.If(t, s.CreateMetrics(ctx, again))
	create(0, model.ErrExists)
	closeStore(t, s)
}

// Of clients that create the same series at once, right after a start, one succeeds.
func TestLabelsOfConcurrentClients(t *testing.T) {
	fs := vfs.NewMem()
	for round := range 10 {
		s := open(t, index.Options{FS: fs})
		var clients sync.WaitGroup
		var created atomic.Int32
		for range 8 {
			clients.Go(func() {
				series, _ := someSeries(100*round, 100)
				if err := s.CreateMetrics(ctx, series); err == nil {
					created.Add(1)
				} else if !errors.Is(err, model.ErrExists) {
					t.Error(err)
				}
			})
		}
		clients.Wait()
		if n := created.Load(); n != 1 || s.CountMetrics() != 100*(round+1) {
			t.Errorf("round %d: %d clients created them, %d metrics", round, n, s.CountMetrics())
		}
		closeStore(t, s)
	}
}

// No two metrics of one creation have the same labels, wherever they stand and also beside one without labels.
func TestEqualLabelsInOneCreation(t *testing.T) {
	s := open(t, index.Options{})
	plain := &model.Metric{Name: "n", Creator: "me", ArchivePolicy: &model.ArchivePolicy{Name: "low"}}
	for _, first := range [][]*model.Metric{nil, {plain}} {
		series, _ := someSeries(0, 20)
		same, _ := someSeries(5, 1)
		if err := s.CreateMetrics(ctx, append(append(first, series...), same...)); !errors.Is(err, model.ErrExists) {
			t.Errorf("%d without labels: %v", len(first), err)
		}
	}
	if n := s.CountMetrics(); n != 0 {
		t.Errorf("%d metrics", n)
	}
}

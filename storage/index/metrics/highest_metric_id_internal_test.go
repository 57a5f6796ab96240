package metrics

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// testTable opens the metrics of a store, whose archive policies are the default ones.
func testTable(t *testing.T, fs vfs.FS) *Table {
	t.Helper()
	db, err := pebble.Open("index", &pebble.Options{FS: fs})
	fatal.If(t, err)
	policies := map[string]*model.ArchivePolicy{}
	for _, p := range model.DefaultArchivePolicies() {
		policies[p.Name] = p
	}
	logger, costs := slog.New(slog.DiscardHandler), keyspace.DefaultCosts
	s := NewTable(commits.NewLog(db, logger), logger,
		func() map[string]*model.ArchivePolicy { return policies }, &costs, 100)
	fatal.If(t, s.LoadLastMetric(time.Now()))
	return s
}

// An existing ID is found, in every way of its creation, also after a restart.
func TestMetricIDsAreUnique(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s := testTable(t, fs)
	policy := model.DefaultArchivePolicies()[0]
	first, second, third := model.NewMetricID(), model.NewMetricID(), model.NewMetricID()
	create := func(want error, ids ...[16]byte) {
		t.Helper()
		var metrics []*model.Metric
		for _, id := range ids {
			metrics = append(metrics, &model.Metric{ID: id, ArchivePolicy: policy})
		}
		if err := s.CreateMetrics(ctx, metrics); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	create(nil, second)
	create(model.ErrExists, second)
	create(nil, first) // made before, arrives after
	create(model.ErrExists, first)
	fatal.If(t, s.log.DB.Close())
	s = testTable(t, fs)
	if s.last.id != second || !s.last.isNew(third) {
		t.Errorf("the last is %s, want %s", s.last.id, second)
	}
	create(model.ErrExists, second)
	create(model.ErrExists, third, third)
	create(nil, third)
	made := []*model.Metric{{ArchivePolicy: policy}, {ArchivePolicy: policy}}
	fatal.If(t, s.CreateMetrics(ctx, made))
	if low, high := made[0].ID, made[1].ID; bytes.Compare(third[:], low[:]) >= 0 ||
		bytes.Compare(low[:], high[:]) >= 0 || s.last.id != high {
		t.Errorf("made %s and %s after %s, the last is %s", low, high, third, s.last.id)
	}
	create(model.ErrExists, made[0].ID)
	s.last.id = uuid.Max // as if another process's clock were ahead
	ahead := &model.Metric{ArchivePolicy: policy}
	fatal.If(t, s.CreateMetric(ctx, ahead))
	create(model.ErrExists, ahead.ID)
	fatal.If(t, s.log.DB.Close())
}

package index

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// An ID that is there is found to be, whichever way it got there and after a restart, too.
func TestMetricIDsAreUnique(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s, err := Open("index", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := s.ArchivePolicy("low")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open("index", Options{FS: fs}); err != nil {
		t.Fatal(err)
	}
	if s.last.id != second || !s.last.isNew(third) {
		t.Errorf("the last is %s, want %s", s.last.id, second)
	}
	create(model.ErrExists, second)
	create(model.ErrExists, third, third)
	create(nil, third)
	made := []*model.Metric{{ArchivePolicy: policy}, {ArchivePolicy: policy}}
	if err := s.CreateMetrics(ctx, made); err != nil {
		t.Fatal(err)
	}
	if low, high := made[0].ID, made[1].ID; bytes.Compare(third[:], low[:]) >= 0 ||
		bytes.Compare(low[:], high[:]) >= 0 || s.last.id != high {
		t.Errorf("made %s and %s after %s, the last is %s", low, high, third, s.last.id)
	}
	create(model.ErrExists, made[0].ID)
	s.last.id = uuid.Max // as if another process's clock were ahead
	ahead := &model.Metric{ArchivePolicy: policy}
	if err := s.CreateMetric(ctx, ahead); err != nil {
		t.Fatal(err)
	}
	create(model.ErrExists, ahead.ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

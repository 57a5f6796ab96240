package peer_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A step of a backfill does at another process what it does there, and says why it cannot be done.
func TestBackfill(t *testing.T) {
	o := startOther(t, 2)
	minute, hour := time.Minute, time.Hour
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &minute}, {Granularity: &hour}},
		[]string{"sum", "95pct"})
	if err == nil {
		err = o.Index.CreateArchivePolicy(t.Context(), policy)
	}
	fatal.If(t, err)
	create := func() uuid.UUID { // in sack 0
		t.Helper()
		id := uuid.New()
		for model.Sack(id, 2) != 0 {
			id = uuid.New()
		}
		m := &model.Metric{ID: id, Creator: "c", ArchivePolicy: policy}
		fatal.If(t, o.Index.CreateMetric(t.Context(), m))
		return id
	}
	live, history := create(), create()
	const week = 7 * 86_400
	const years = 52 * week
	o.post(t, live, week)
	o.post(t, live, 0) // dropped
	for _, second := range []int{-2 * years, -2*years + 1, -week, -week + 100, week + 1} {
		o.post(t, history, second)
	}
	fatal.If(t, o.client.Refresh(t.Context(), o.address, []int{0}))
	var done model.Backfilled
	var all []model.Backfilled
	for len(all) == 0 || done.Next > 0 && len(all) < 10 {
		if done, err = o.client.Backfill(t.Context(), o.address, live, history, done.Next); err != nil {
			t.Fatal(err)
		}
		all = append(all, done)
	}
	at := func(second int) carbonara.Timestamp {
		return (start + carbonara.Timestamp(second)*1e9).Floor(hour)
	}
	if len(all) != 2 || all[0].Moved != 1 || all[0].Next != at(-week) || all[1].Moved != 1 || all[1].Known != 0 ||
		!slices.Equal(all[1].Refused, []carbonara.Timestamp{at(week)}) {
		t.Errorf("%+v", all)
	}
	if again, err := o.client.Backfill(t.Context(), o.address, live, history, 0); err != nil || again.Known != 1 {
		t.Errorf("again: %+v, %v", again, err)
	}
	sums := o.Read(live, minute).Column(carbonara.ColumnSum)
	if want := []float64{-4*years + 1, -week, -week + 100, week}; !slices.Equal(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}

	var invalid *model.BackfillError
	other := o.newMetric(t)
	for model.Sack(other, 2) != 0 {
		other = o.newMetric(t)
	}
	_, err = o.client.Backfill(t.Context(), o.address, live, other, 0)
	if !errors.As(err, &invalid) || errors.Is(err, peer.ErrUnreachable) {
		t.Errorf("from a metric of another archive policy: %v", err)
	}
	_, err = o.client.Backfill(t.Context(), o.address, live, uuid.New(), 0)
	if !errors.As(err, &invalid) {
		t.Errorf("from a metric that does not exist: %v", err)
	}
	fatal.If(t, o.Metricd.CloseSack(t.Context(), 0))
	if _, err = o.client.Backfill(t.Context(), o.address, live, history, 0); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("where the sack is not held: %v", err)
	}
}

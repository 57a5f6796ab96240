package index_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Entries of the ledger come back in the order of their time, whole, after a restart, and a later state replaces an
// earlier one.
func TestLedger(t *testing.T) {
	ctx, fs := context.Background(), vfs.NewMem()
	open := func() *index.Store {
		t.Helper()
		s, err := index.Open("index", index.Options{FS: fs, SkipDefaults: true})
		fatal.If(t, err)
		return s
	}
	s := open()
	var want []*model.LedgerEntry
	for i := range 3 {
		e := &model.LedgerEntry{ID: uuid.Must(uuid.NewV7()), Who: "jd", Correction: i == 1, Selector: "metrics a",
			Metrics: []uuid.UUID{{1}, {byte(i)}},
			From:    5, To: carbonara.MaxTimestamp, Reason: "spike"}
		for range 2 {
			fatal.If(t, s.PutLedger(ctx, e))
			e.State = model.LedgerDone
			e.Done = model.Replaced{Metrics: 1, Before: 2, After: 3, Measures: 4, Bytes: -5, LostGroups: 6, Failed: 7}
		}
		want = append(want, e)
	}
	fatal.If(t, s.Close())
	s = open()
	defer s.Close()
	var got []*model.LedgerEntry
	list := func(after uuid.UUID, most int) {
		t.Helper()
		got = nil
		fatal.If(t, s.Ledger(ctx, after, func(e *model.LedgerEntry) bool {
			got = append(got, e)
			return len(got) < most
		}))
	}
	list(uuid.Nil, 10)
	if len(got) != 3 {
		t.Fatalf("%d entries", len(got))
	}
	for i, e := range got {
		if since := time.Since(e.At); since < 0 || since > time.Minute {
			t.Errorf("entry %d is of %v", i, e.At)
		}
		if e.At = want[i].At; e.ID != want[i].ID || e.Who != "jd" || e.Correction != (i == 1) || e.To != want[i].To ||
			e.From != 5 || e.Reason != "spike" || e.State != model.LedgerDone || e.Done.Bytes != -5 || e.Done.Failed != 7 ||
			!slices.Equal(e.Metrics, want[i].Metrics) {
			t.Errorf("%+v, want %+v", e, want[i])
		}
	}
	if list(want[0].ID, 1); len(got) != 1 || got[0].ID != want[1].ID {
		t.Errorf("after the first: %+v", got)
	}
}

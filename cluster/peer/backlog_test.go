package peer_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Measures that a process has brought over wait until its sack has processed them, and then no longer, although the
// process has asked for more before and got no answer.
func TestBacklogCountsWhatIsBroughtOver(t *testing.T) {
	o := startOther(t, 1)
	id := o.newMetric(t)
	fatal.If(t, o.Metricd.CloseSack(t.Context(), 0))
	var said bytes.Buffer
	source := peer.NewSource(o.client, o.address, o.Incoming.ID(), nil, slog.New(slog.NewTextHandler(&said, nil)))
	defer source.Close()
	source.Follow(0, 0)
	var records []incoming.Record
	for second := range 3 { // the second request says that the first record is here
		o.post(t, id, second)
		for len(records) <= second {
			select {
			case <-source.Ready(0):
			case <-time.After(2 * time.Minute):
				t.Fatal("no record comes")
			}
			var err error
			if records, err = source.Drain(0, 0, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
	}
	if b := o.Incoming.Backlog(); b.Measures != 3 {
		t.Errorf("%d measures wait, of 3 that are not processed", b.Measures)
	}
	held := make(chan struct{}, 8)
	o.held.Store(&held)
	<-held
	begun := time.Now()
	if _, err := source.Drain(0, records[2].Sequence, 1<<20); err != nil {
		t.Fatal(err)
	}
	for o.Incoming.Backlog().Measures > 0 {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("measures wait that are processed")
		}
		time.Sleep(time.Millisecond)
	}
	t.Logf("known after %v", time.Since(begun))
	if source.Close(); said.Len() > 0 { // a request ended by its timeout, and the next one told
		t.Error(said.String())
	}
}

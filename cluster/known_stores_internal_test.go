package cluster

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// knownTrial is a knownStores with the sources that it last told the workers.
type knownTrial struct {
	*knownStores
	told intake.Sources
	log  bytes.Buffer
}

func newKnownTrial() *knownTrial {
	k := new(knownTrial)
	k.knownStores = &knownStores{wait: time.Minute, complete: time.Now(), stores: make(map[string]*knownStore),
		tell: func(s intake.Sources) { k.told = s }, logger: slog.New(slog.NewTextHandler(&k.log, nil)),
		suspensions: prometheus.NewCounter(prometheus.CounterOpts{Name: "suspensions"})}
	return k
}

func (k *knownTrial) want(t *testing.T, complete bool, waited ...string) {
	t.Helper()
	slices.Sort(k.told.Waited)
	if k.told.Complete != complete || !slices.Equal(k.told.Waited, waited) {
		t.Errorf("told %+v, want %v %v", k.told, complete, waited)
	}
}

// A store that says nothing is waited for until the wait is over, and again when it is heard.
func TestSilentStoreIsSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKnownTrial()
		k.list([]string{"incoming/a", "incoming/b"}, time.Now())
		k.want(t, false)
		k.heard("incoming/a", "A", 0)
		k.want(t, false, "A")
		k.heard("incoming/b", "B", 0)
		k.want(t, true, "A", "B")
		k.heard("incoming/b", "B", time.Minute)
		k.want(t, true, "A", "B")
		k.heard("incoming/b", "B", time.Minute+1)
		k.want(t, true, "A")
		var count dto.Metric
		fatal.If(t, k.suspensions.Write(&count))
		if n := count.GetCounter().GetValue(); n != 1 || !slices.Equal(k.suspended(), []string{"incoming/b"}) ||
			!strings.Contains(k.log.String(), "silent") {
			t.Errorf("%v suspensions, of %v; log: %s", n, k.suspended(), k.log.String())
		}
		k.heard("incoming/b", "B", 0)
		k.want(t, true, "A", "B")
		if len(k.suspended()) > 0 {
			t.Errorf("%v stay suspended", k.suspended())
		}

		// A dead process's store that nobody adopts, and one that was never reached.
		k.unheard("incoming/b")
		k.list([]string{"incoming/a", "incoming/b", "incoming/c"}, time.Now())
		k.want(t, false, "A", "B")
		time.Sleep(time.Minute + 1)
		k.heard("incoming/a", "A", 0)
		k.want(t, true, "A")
		k.list([]string{"incoming/a"}, time.Now())
		k.want(t, true, "A")
	})
}

// A store counts from the moment that its process announces it, even if caches hide it from listings for a while; and
// until these show all, there may be others.
func TestAnnouncedStoreIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKnownTrial()
		k.complete = time.Now().Add(5 * time.Second)
		k.list([]string{"incoming/a"}, time.Now())
		k.heard("incoming/a", "A", 0)
		k.want(t, false, "A")
		time.Sleep(5 * time.Second)
		k.list([]string{"incoming/a"}, time.Now())
		k.want(t, true, "A")
		k.announce("incoming/b")
		k.want(t, false, "A")
		if names := k.list([]string{"incoming/a"}, time.Now()); !slices.Equal(names,
			[]string{"incoming/a", "incoming/b"}) {
			t.Errorf("listed %v", names)
		}
		k.heard("incoming/b", "B", 0)
		k.want(t, true, "A", "B")
		k.list([]string{"incoming/a", "incoming/b"}, time.Now())
		k.heard("incoming/b", "B", 0)
		if names := k.list([]string{"incoming/a"}, time.Now()); !slices.Equal(names, []string{"incoming/a"}) {
			t.Errorf("a store that was listed, and is gone, stays: %v", names)
		}
		k.want(t, true, "A")

		k.announce("incoming/c")
		k.want(t, false, "A")
		time.Sleep(time.Minute - 1)
		k.list([]string{"incoming/a"}, time.Now())
		k.want(t, false, "A")
		time.Sleep(time.Nanosecond)
		k.list([]string{"incoming/a"}, time.Now())
		k.want(t, true, "A")
	})
}

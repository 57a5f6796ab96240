package incoming_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// sent is one request as the workload knows it.
type sent struct {
	in      []int
	metrics []uuid.UUID // of each block
}

// workload sends requests from several clients, drains, acknowledges and flushes, until it is done or the store
// refuses. mu guards the facts that it knows for certain.
type workload struct {
	mu           sync.Mutex
	acked        []sent
	acknowledged [sacks]uint64
	highest      uint64 // sequence seen

	all []sent // also what was not acked
}

func (w *workload) run(t *testing.T, s *incoming.Store, seed uint64) {
	for round := range 3 {
		var wg sync.WaitGroup
		for client := range 3 {
			rng := rand.New(rand.NewPCG(seed, uint64(10*round+client)))
			wg.Go(func() {
				for range 3 {
					in := slices.DeleteFunc([]int{0, 1, 2, 3}, func(int) bool { return rng.IntN(2) == 0 })
					b, metrics := blocks(rng, 1+rng.IntN(50), in...)
					w.mu.Lock()
					w.all = append(w.all, sent{in, metrics})
					w.mu.Unlock()
					if err := s.Append(t.Context(), b); err != nil {
						return
					}
					w.mu.Lock()
					w.acked = append(w.acked, sent{in, metrics})
					w.mu.Unlock()
				}
			})
		}
		wg.Wait()
		if s.Failed() != nil {
			return
		}
		sack := round % sacks
		if last := s.Last(sack); round > 0 && last > 0 {
			w.mu.Lock()
			w.acknowledged[sack] = last
			w.highest = max(w.highest, last)
			w.mu.Unlock()
			if err := s.Acknowledge(sack, last); err != nil {
				return
			}
		}
	}
}

// known returns a copy of the facts that the workload knows.
func (w *workload) known() (acked []sent, acknowledged [sacks]uint64, highest uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.acked), w.acknowledged, w.highest
}

// verify opens the store on fs and compares it with the facts known when it crashed.
func (w *workload) verify(t *testing.T, fs vfs.FS, acked []sent, acknowledged [sacks]uint64, highest uint64) {
	t.Helper()
	s := open(t, incoming.Options{FS: fs})
	defer closeStore(t, s)
	var found [sacks]map[uuid.UUID]uint64
	deleted := func(sack int) bool { return acknowledged[sack] > 0 }
	for sack := range sacks {
		found[sack] = make(map[uuid.UUID]uint64)
		for _, r := range drain(t, s, sack, 0) {
			for _, id := range metricsOf(t, []incoming.Record{r}) {
				if _, twice := found[sack][id]; twice {
					t.Errorf("sack %d: %v twice", sack, id)
				}
				found[sack][id] = r.Sequence
			}
			highest = max(highest, r.Sequence)
		}
	}
	for _, r := range acked {
		for i, sack := range r.in {
			if _, ok := found[sack][r.metrics[i]]; !ok && !deleted(sack) {
				t.Errorf("sack %d: lost %v", sack, r.metrics[i])
			}
		}
	}
	w.mu.Lock()
	all := slices.Clone(w.all)
	w.mu.Unlock()
	known := [sacks]map[uuid.UUID]bool{}
	for i := range known {
		known[i] = make(map[uuid.UUID]bool)
	}
	for _, r := range all {
		there, missing := 0, 0
		for i, sack := range r.in {
			known[sack][r.metrics[i]] = true
			if _, ok := found[sack][r.metrics[i]]; ok {
				there++
			} else if !deleted(sack) {
				missing++
			}
		}
		if there > 0 && missing > 0 {
			t.Errorf("of a request %d blocks are there and %d are not", there, missing)
		}
	}
	for sack := range sacks {
		for id := range maps.Keys(found[sack]) {
			if !known[sack][id] {
				t.Errorf("sack %d: %v was never sent", sack, id)
			}
		}
		// Totals go on where they were.
		b, _ := blocks(rand.New(rand.NewPCG(1, uint64(sack))), 2, sack)
		before := s.Backlog().Sacks[sack]
		appendBlocks(t, s, b)
		if after := s.Backlog().Sacks[sack]; after.Measures != before.Measures+2 || after.Blocks != before.Blocks+1 {
			t.Errorf("sack %d: backlog %+v became %+v", sack, before, after)
		}
		if got := s.Last(sack); got <= highest {
			t.Errorf("sack %d: sequence %d after %d", sack, got, highest)
		}
	}
}

// A crash before the k-th write, for every k, loses the unsynced writes, or half of them.
func TestCrash(t *testing.T) {
	for _, unsynced := range []int{0, 50} {
		for k := 1; ; k++ {
			mem := vfs.NewCrashableMem()
			var w workload
			var mu sync.Mutex
			writes := 0
			var crashed *vfs.MemFS
			var acked []sent
			var acknowledged [sacks]uint64
			var highest uint64
			fs := inject(mem, func(op errorfs.Op) error {
				if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if writes++; writes == k {
					acked, acknowledged, highest = w.known()
					crashed = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced,
						RNG: rand.New(rand.NewPCG(1, uint64(k)))})
				}
				return nil
			})
			s := open(t, incoming.Options{FS: fs})
			w.run(t, s, uint64(k))
			fatal.If(t, s.DB().Flush())
			w.run(t, s, uint64(k)+1<<32)
			closeStore(t, s)
			if crashed == nil {
				t.Logf("%d writes", writes)
				break
			}
			w.verify(t, crashed, acked, acknowledged, highest)
			if t.Failed() {
				t.Fatalf("crash at write %d, %d %% of what was not synced is kept", k, unsynced)
			}
		}
	}
}

// The k-th write to the log fails, for every k, once or from then on. The store never acknowledges measures that a
// crash then takes away, and refuses all later ones.
func TestFailedWrite(t *testing.T) {
	for _, once := range []bool{true, false} {
		for k := 1; ; k++ {
			mem := vfs.NewCrashableMem()
			var mu sync.Mutex
			writes, armed, injected := 0, false, false
			fs := inject(mem, func(op errorfs.Op) error {
				if !isLog(op) || op.Kind.ReadOrWrite() != errorfs.OpIsWrite || op.Kind == errorfs.OpFileClose {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if !armed {
					return nil
				}
				if writes++; writes == k || writes > k && !once {
					injected = true
					return errorfs.ErrInjected
				}
				return nil
			})
			failures := make(chan error, 10)
			s := open(t, incoming.Options{FS: fs, Fail: func(err error) { failures <- err }})
			mu.Lock()
			armed = true
			mu.Unlock()
			var w workload
			w.run(t, s, uint64(k))

			acked, acknowledged, highest := w.known()
			b, _ := blocks(rand.New(rand.NewPCG(9, 9)), 1, 0)
			err := s.Append(t.Context(), b)
			mu.Lock()
			armed = false
			done := !injected
			mu.Unlock()
			if !done {
				if !errors.Is(err, incoming.ErrFailed) || len(failures) == 0 {
					t.Errorf("write %d failed; append: %v, %d reported", k, err, len(failures))
				}
				w.verify(t, mem.CrashClone(vfs.CrashCloneCfg{}), acked, acknowledged, highest)
			}
			s.Close() // its error is Pebble's, about the log
			if t.Failed() {
				t.Fatalf("failed at write %d, once: %v", k, once)
			}
			if done {
				t.Logf("%d writes", writes)
				break
			}
		}
	}
}

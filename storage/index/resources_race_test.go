package index_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Of creations of the same resource at the same time one succeeds, and of a batch all or nothing is there.
func TestCreationsAtTheSameTime(t *testing.T) {
	s := open(t, index.Options{MemTableSize: 256 << 10}) // some IDs are in tables
	defer closeStore(t, s)
	const clients, rounds = 4, 50
	var wg sync.WaitGroup
	won := make([][clients]bool, rounds)
	name := func(client, round int) string { return fmt.Sprint("of ", client, " in ", round) }
	for client := range clients {
		wg.Go(func() {
			for round := range won {
				m := newMetric("low")
				m.ID, m.Name = uuid.Nil, "cpu"
				err := s.CreateResources(ctx, []index.NewResource{
					{Resource: newResource(name(client, round)), Metrics: []*model.Metric{m}},
					{Resource: newResource(fmt.Sprint("contested in ", round))},
				})
				if won[round][client] = err == nil; !won[round][client] {
					wantIs(t, err, model.ErrExists)
				}
			}
		})
	}
	wg.Wait()
	for round, of := range won {
		winners := 0
		for client, isThere := range of {
			_, err := s.Resource(model.GenericType, newResource(name(client, round)).ID)
			if isThere {
				winners++
				fatal.If(t, err)
			} else {
				wantIs(t, err, model.ErrNotFound)
			}
		}
		if winners != 1 {
			t.Errorf("round %d: %d of %d creations succeeded", round, winners, clients)
		}
	}
	if n := s.CountMetrics(); n != rounds {
		t.Errorf("%d metrics, want %d", n, rounds)
	}
}

// Patches at the same time, while the type changes under them, each make one revision, and none undoes another.
func TestPatchesAtTheSameTime(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	fatal.If(t, s.CreateResourceType(ctx, hostType(t)))
	fatal.If(t, addAttribute(s, attribute("n", model.KindNumber, true, 0.0)))
	host := newHost("a", "here")
	host.Attributes = model.Values{{Name: "n", Value: 0.0}, {Name: "place", Value: "here"}}
	fatal.If(t, s.CreateResource(ctx, host, nil))
	const clients, patches = 4, 25
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range patches {
				_, err := s.UpdateResource(ctx, "host", host.ID, 5000,
					func(r *model.Resource) (*index.MetricSet, error) {
						n, _ := r.Attributes.Get("n")
						r.Attributes.Set("n", n.(float64)+1)
						return nil, nil
					})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range patches {
			if err := addAttribute(s, attribute(fmt.Sprint("x", i), model.KindBool, true, i%2 == 0)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range patches {
			if err := s.EachRevision(ctx, "host", func(r *model.Resource) bool { return r.ID == host.ID }); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	states, err := s.History(ctx, "host", host.ID)
	fatal.If(t, err)
	if len(states) != clients*patches+1 {
		t.Fatalf("%d states", len(states))
	}
	for i, r := range states {
		if n, _ := r.Attributes.Get("n"); n != float64(i) || len(r.Attributes) != 2+patches {
			t.Fatalf("state %d has %v of %d attributes", i, n, len(r.Attributes))
		}
		if i > 0 && *states[i-1].RevisionEnd != r.RevisionStart {
			t.Fatalf("state %d does not begin where the one before ends", i)
		}
	}
}

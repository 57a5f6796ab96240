package roster

import (
	"math/rand/v2"
	"testing"
)

// A Sequence is a map with a limit: it finds the last value of a key, also after other keys were replaced.
func TestSequenceIsAMap(t *testing.T) {
	const limit = 100
	s, random := NewSequence[int](limit), rand.New(rand.NewPCG(1, 2))
	put, found := map[int]int{}, 0
	for step := range 50_000 {
		i := random.IntN(3 * limit)
		if place := s.Find(key("", i), random.IntN(2*limit)); place >= 0 {
			found++
			if got, current := s.Get(place, 1); got != put[i] || !current {
				t.Fatalf("step %d: key %d has the value %d, current %t, want %d", step, i, got, current, put[i])
			}
		}
		s.Put(key("", i), 1, step)
		put[i] = step
		if len(s.entries) > limit {
			t.Fatalf("%d entries", len(s.entries))
		}
	}
	if found < 10_000 {
		t.Errorf("found %d of 50,000 keys, a third of which has room", found)
	}
	slots := 0
	for _, i := range s.slots {
		slots += min(int(i), 1)
	}
	if slots != limit {
		t.Errorf("%d slots are in use", slots)
	}
}

// Keys that come in one order stand in that order, and in a full table most of them stay.
func TestSequenceKeepsOrder(t *testing.T) {
	const limit, keys = 1000, 1010
	s := NewSequence[int](limit)
	hits := 0
	for range 20 {
		place := -1
		for i := range keys {
			next := s.Find(key("", i), place+1)
			if next == place+1 {
				hits++
			}
			if place = next; next < 0 {
				s.Put(key("", i), 1, i)
				place = s.Find(key("", i), 0)
			}
		}
	}
	if most := 19 * keys; hits < most*3/4 {
		t.Errorf("%d of %d keys stood behind the one before", hits, most)
	}
}

// The newest generation counts.
func TestSequenceGrowsNewer(t *testing.T) {
	s := NewSequence[int](10)
	for _, put := range []struct {
		value      int
		generation uint64
	}{{1, 1}, {3, 3}, {2, 2}} {
		s.Put(key("a", 0), put.generation, put.value)
	}
	if got, current := s.Get(s.Find(key("a", 0), 0), 3); got != 3 || !current {
		t.Errorf("got %d, current %t", got, current)
	}
	if _, current := s.Get(0, 4); current {
		t.Error("a value of generation 3 is current in 4")
	}
}

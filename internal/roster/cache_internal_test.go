package roster

import (
	"strconv"
	"testing"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

func key(name string, i int) keyhash.Hash { return keyhash.Of([]byte(name + strconv.Itoa(i))) }

// Senders name their metrics in turn. A cache that is too small for all of them still knows most of those that it has
// room for.
func TestCacheInTurn(t *testing.T) {
	const limit, names, rounds = 1000, 1500, 20
	c := Cache[string]{Limit: limit}
	hits := 0
	for round := range rounds {
		for i := range names {
			if value, ok := c.Get(key("", i)); ok {
				if hits++; value != strconv.Itoa(i) {
					t.Fatalf("%d has the value %q", i, value)
				}
				continue
			}
			c.Put(key("", i), strconv.Itoa(i))
		}
		if len(c.values) != limit || c.used != limit {
			t.Fatalf("round %d: %d names that cost %d, want %d", round, len(c.values), c.used, limit)
		}
	}
	if most := limit * (rounds - 1); hits < most*3/4 {
		t.Errorf("%d of %d names were known", hits, most)
	}
	for name := range c.values { // one that is known changes at once
		c.Put(name, "again")
		if value, _ := c.Get(name); value != "again" || len(c.values) != limit {
			t.Errorf("%d names, and one is still %q", len(c.values), value)
		}
		break
	}
	for i := range replaceEvery * limit * 10 { // others come and stay away: their names take all places in time
		c.Put(key("new", i%limit), "new")
	}
	found := 0
	for i := range limit {
		if _, ok := c.Get(key("new", i)); ok {
			found++
		}
	}
	if found < limit*3/4 {
		t.Errorf("%d of %d new names are known", found, limit)
	}
}

// Values cost what they say, also once they have changed.
func TestCacheCounts(t *testing.T) {
	c := Cache[int]{Limit: 10, Cost: func(v int) int { return v }}
	want := func(used, values int) {
		t.Helper()
		if c.used != used || len(c.values) != values {
			t.Fatalf("%d values cost %d, want %d and %d", len(c.values), c.used, values, used)
		}
	}
	c.Put(key("a", 0), 4)
	c.Put(key("b", 0), 5)
	want(9, 2)
	c.Put(key("a", 0), 3)
	want(8, 2)
	c.Put(key("a", 0), 8) // drops b
	want(8, 1)
	c.Delete(key("b", 0))
	want(8, 1)
	c.Delete(key("a", 0))
	want(0, 0)
	c.Put(key("c", 0), 10)
	c.Put(key("d", 0), 11)
	want(10, 1)
	c.Clear()
	want(0, 0)
	c.Put(key("d", 0), 9)
	want(9, 1)
}

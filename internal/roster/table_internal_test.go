package roster

import (
	"slices"
	"strconv"
	"testing"
)

// Lists that come again and again are remembered, as many as there is room for; those that came once are not.
func TestTableInTurn(t *testing.T) {
	const limit, size, lists, rounds = 1000, 10, 150, 200
	table := NewTable[int](limit)
	hits := 0
	for round := range rounds {
		for i := range lists {
			entries := slices.Repeat([]int{i}, size)
			if got, known := table.Get(key("", i), 1); known {
				if !slices.Equal(got, entries) {
					t.Fatalf("list %d has the entries %v", i, got)
				}
				if round >= rounds/2 {
					hits++
				}
			}
			table.Put(key("", i), 1, entries)
			once := key("once", round*lists+i)
			if table.Put(once, 1, entries); table.lists.used > 0 {
				if _, known := table.Get(once, 1); known {
					t.Fatal("a list that came once is known")
				}
			}
		}
		if n := len(table.lists.values); table.lists.used != size*n || table.lists.used > limit ||
			len(table.once.values) > limit/MinListed {
			t.Fatalf("round %d: %d entries in %d lists, %d lists came", round, table.lists.used, n,
				len(table.once.values))
		}
	}
	if most := limit / size * rounds / 2; hits < most*3/4 {
		t.Errorf("%d of %d lists were known", hits, most)
	}
}

// A list of more entries than there is room for drops no other, nor do lists that came a few times only.
func TestFullTableKeepsItsLists(t *testing.T) {
	const limit = 40
	table := NewTable[int](limit)
	put := func(name string, size, times int) {
		for range times {
			table.Put(key(name, 0), 1, make([]int, size))
		}
	}
	put("a", limit/2, 2)
	put("b", limit/2, 2)
	for _, more := range []struct {
		name        string
		size, times int
	}{{"long", limit + 1, 2 * replaceEvery}, {"new", limit, replaceEvery / 2}} {
		put(more.name, more.size, more.times)
		if n := len(table.lists.values); n != 2 || table.lists.used != limit {
			t.Errorf("after %s: %d lists of %d entries, want the two that fill the table", more.name, n, table.lists.used)
		}
	}
	for i := range limit { // full
		table.once.Put(key("full"+strconv.Itoa(i), 0), struct{}{})
	}
	table.once.refused = 0
	put("once", 4, 1)
	if _, came := table.once.Get(key("once", 0)); came || len(table.once.values) != limit/MinListed {
		t.Error("a list that came once takes the place of another at once")
	}
}

// A list has the entries of the newest generation, and nobody changes those that a reader has.
func TestTableGrowsNewer(t *testing.T) {
	table := NewTable[int](10)
	var read []int
	for _, put := range []struct {
		entry      int
		generation uint64
	}{{1, 1}, {1, 1}, {3, 3}, {2, 2}} {
		entries := []int{put.entry}
		table.Put(key("a", 0), put.generation, entries)
		entries[0] = -1
		if read == nil {
			read, _ = table.Get(key("a", 0), 1)
		}
	}
	if got, current := table.Get(key("a", 0), 3); !current || !slices.Equal(got, []int{3}) || read[0] != 1 {
		t.Errorf("got %v, current %t; read before %v", got, current, read)
	}
	if got, current := table.Get(key("a", 0), 4); current || !slices.Equal(got, []int{3}) {
		t.Errorf("of a later generation got %v, current %t", got, current)
	}
	table.Clear()
	if got, current := table.Get(key("a", 0), 3); current || got != nil {
		t.Errorf("after Clear got %v", got)
	}
	if table.Put(key("a", 0), 4, []int{4}); len(table.lists.values) != 1 {
		t.Error("a list that came before waits for another time after Clear")
	}
}

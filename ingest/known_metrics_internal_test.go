package ingest

import (
	"slices"
	"strconv"
	"testing"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// Senders name their metrics in turn. A cache that is too small for all of them still knows most of those that it has
// room for.
func TestKnownMetricsInTurn(t *testing.T) {
	const limit, names, rounds = 1000, 1500, 20
	k := newKnownMetrics(limit)
	hits := 0
	for round := range rounds {
		for i := range names {
			name := keyhash.Of([]byte(strconv.Itoa(i)))
			if k.byName[name] != nil {
				hits++
				continue
			}
			k.add(name, &model.Metric{Name: strconv.Itoa(i)})
		}
		if len(k.byName) != limit {
			t.Fatalf("round %d: %d names, want %d", round, len(k.byName), limit)
		}
	}
	if most := limit * (rounds - 1); hits < most*3/4 {
		t.Errorf("%d of %d names were known", hits, most)
	}
	metric := &model.Metric{Name: "again"}
	newName := func(i int) keyhash.Hash { return keyhash.Of([]byte("new" + strconv.Itoa(i))) }
	for name := range k.byName { // one that is known changes at once
		k.add(name, metric)
		if k.byName[name] != metric {
			t.Errorf("%x is still what it was", name)
		}
		break
	}
	for i := range placeEvery * limit * 10 { // others come and stay away: their names take all places in time
		k.add(newName(i%limit), metric)
	}
	found := 0
	for i := range limit {
		if k.byName[newName(i)] != nil {
			found++
		}
	}
	if found < limit*3/4 {
		t.Errorf("%d of %d new names are known", found, limit)
	}
}

// Lists that come again and again are remembered, as many as there is room for; those that came once are not.
func TestKnownListsInTurn(t *testing.T) {
	const limit, size, lists, rounds = 1000, 10, 150, 200
	k := newKnownMetrics(limit)
	hash := func(i int) []namedList { return []namedList{{keyhash.Of([]byte(strconv.Itoa(i))), 0, size}} }
	metrics := slices.Repeat([]*model.Metric{{}}, size)
	hits := 0
	for round := range rounds {
		for i := range lists {
			if _, known := k.lists[hash(i)[0].hash]; known && round >= rounds/2 {
				hits++
			}
			k.addLists(hash(i), metrics, 1)
			k.addLists(hash(-round*lists-i-1), metrics, 1) // comes once
		}
		if k.listed != size*len(k.lists) || k.listed > limit || len(k.once) > limit/minListed {
			t.Fatalf("round %d: %d metrics in %d lists, %d lists came once", round, k.listed, len(k.lists), len(k.once))
		}
	}
	if most := limit / size * rounds / 2; hits < most*3/4 {
		t.Errorf("%d of %d lists were known", hits, most)
	}
	for i := range lists {
		k.addLists(hash(i), slices.Repeat([]*model.Metric{nil}, size), 2)
	}
	for _, list := range k.lists {
		if list.generation != 1 {
			t.Fatal("a list has metrics that were not found")
		}
	}
}

// A list of more metrics than there is room for drops no other, nor do lists that came a few times only.
func TestFullTableKeepsItsLists(t *testing.T) {
	const limit = 10
	k := newKnownMetrics(limit)
	add := func(name string, size, times int) {
		metrics := slices.Repeat([]*model.Metric{{}}, size)
		for range times {
			k.addLists([]namedList{{keyhash.Of([]byte(name)), 0, size}}, metrics, 1)
		}
	}
	add("a", limit/2, 2)
	add("b", limit/2, 2)
	const often = 2 * placeEvery
	for _, more := range []struct {
		name        string
		size, times int
	}{{"long", limit + 1, often}, {"new", limit, placeEvery / 2}} {
		add(more.name, more.size, more.times)
		if len(k.lists) != 2 || k.listed != limit {
			t.Errorf("after %s: %d lists of %d metrics, want the two that fill the table", more.name, len(k.lists),
				k.listed)
		}
	}
	k.once = map[keyhash.Hash]struct{}{{1}: {}, {2}: {}} // full
	k.refused = 0
	add("once", 1, 1)
	if _, one := k.once[keyhash.Hash{1}]; len(k.once) != 2 || !one {
		t.Error("a list that came once takes the place of another at once")
	}
}

// A list is known as of the newest generation in which its metrics were found.
func TestKnownListsGrowNewer(t *testing.T) {
	k := newKnownMetrics(10)
	list := []namedList{{keyhash.Of([]byte("a")), 0, 1}}
	old, renewed := &model.Metric{Name: "old"}, &model.Metric{Name: "new"}
	for _, add := range []struct {
		metric     *model.Metric
		generation uint64
	}{{old, 1}, {old, 1}, {renewed, 3}, {old, 2}} {
		k.addLists(list, []*model.Metric{add.metric}, add.generation)
	}
	if got := k.lists[list[0].hash]; got.generation != 3 || got.metrics[0] != renewed {
		t.Errorf("got %q of generation %d", got.metrics[0].Name, got.generation)
	}
}

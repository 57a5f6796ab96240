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

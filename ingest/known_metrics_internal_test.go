package ingest

import (
	"strconv"
	"testing"

	"gnocco/model"
)

// Senders name their metrics in turn. A cache that is too small for all of them still knows most of those that it has room for.
func TestKnownMetricsInTurn(t *testing.T) {
	const limit, names, rounds = 1000, 1500, 20
	k := knownMetrics{limit: limit, byName: map[string]*model.Metric{}}
	hits := 0
	for round := range rounds {
		for i := range names {
			name := strconv.Itoa(i)
			if k.byName[name] != nil {
				hits++
				continue
			}
			k.add(name, &model.Metric{Name: name})
		}
		if len(k.byName) != limit {
			t.Fatalf("round %d: %d names, want %d", round, len(k.byName), limit)
		}
	}
	if most := limit * (rounds - 1); hits < most*3/4 {
		t.Errorf("%d of %d names were known", hits, most)
	}
	metric := &model.Metric{Name: "again"}
	for name := range k.byName { // one that is known changes at once
		k.add(name, metric)
		if k.byName[name] != metric {
			t.Errorf("%s is still what it was", name)
		}
		break
	}
	for i := range placeEvery * limit * 10 { // others come and stay away: their names take all places in time
		k.add("new"+strconv.Itoa(i%limit), metric)
	}
	found := 0
	for i := range limit {
		if k.byName["new"+strconv.Itoa(i)] != nil {
			found++
		}
	}
	if found < limit*3/4 {
		t.Errorf("%d of %d new names are known", found, limit)
	}
}

package cluster

import (
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Reads that differ by a threshold alone are two.
func TestPrefetchedThresholds(t *testing.T) {
	methods, err := carbonara.ParseMethods([]string{"share_above(90)", "share_above(95)", "share_below(90)"})
	fatal.If(t, err)
	keys := make(map[prefetchedKey]bool)
	for _, m := range methods {
		keys[keyOf(&model.Read{Metric: new(model.Metric), Columns: m.Columns()})] = true
	}
	if len(keys) != len(methods) {
		t.Errorf("%d keys of %d reads", len(keys), len(methods))
	}
}

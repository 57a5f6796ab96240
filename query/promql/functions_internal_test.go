package promql

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// Each function of the engine that ours replace or stand for exists: a renamed one would no longer be found.
func TestPatchedFunctionsExist(t *testing.T) {
	for _, name := range slices.AppendSeq(slices.Clone(countsAll), maps.Keys(overCounters)) {
		if parser.Functions[strings.TrimSuffix(name, ofGroups)] == nil {
			t.Errorf("the engine has no function %s", name)
		}
	}
}

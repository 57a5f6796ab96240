package promql

import (
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// Each function of the engine that ours replace or stand for exists: a renamed one would no longer be found.
func TestPatchedFunctionsExist(t *testing.T) {
	installFunctions()
	if len(plainCalls) != len(overCounters)+1 {
		t.Errorf("%d functions are replaced", len(plainCalls))
	}
	names := []string{"sum_over_time"}
	for name := range plainCalls {
		names = append(names, name)
	}
	for name := range overMoments {
		names = append(names, strings.TrimSuffix(name, ofGroups))
	}
	for _, name := range names {
		if parser.Functions[name] == nil {
			t.Errorf("the engine has no function %s", name)
		}
	}
	for name, call := range plainCalls {
		if call == nil {
			t.Errorf("the engine has no call of %s", name)
		}
	}
}

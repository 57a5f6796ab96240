package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A server that dies soon after it started, again and again, leaves of each store what the last one needs, and takes
// over all that was accepted. Each takeover makes an epoch, with a copy of the logs.
func TestCrashLoopLeavesLittle(t *testing.T) {
	starts := 12
	if testing.Short() {
		starts = 4
	}
	s := newServer(t)
	s.start()
	defer func() { s.kill() }()
	s.mustDo(http.MethodPost, "/v1/archive_policy",
		[]byte(`{"name": "loop", "definition": [{"granularity": 1}], "aggregation_methods": ["count"]}`),
		http.StatusCreated)
	var metric struct{ ID string }
	fatal.If(t, json.Unmarshal(s.mustDo(http.MethodPost, "/v1/metric", []byte(`{"archive_policy_name": "loop"}`),
		http.StatusCreated), &metric))
	for i := range starts {
		s.mustDo(http.MethodPost, "/v1/metric/"+metric.ID+"/measures",
			fmt.Appendf(nil, `[{"timestamp": %d, "value": 1}]`, firstSecond+i), http.StatusAccepted)
		s.kill()
		s.start()
		epochs, seen := map[string]int{}, map[string]bool{}
		for _, pattern := range []string{"index/e*", "incoming/*/e*", "sacks/*/e*"} {
			manifests, err := filepath.Glob(filepath.Join(s.data, pattern, "MANIFEST-*"))
			fatal.If(t, err)
			for _, manifest := range manifests {
				if epoch := filepath.Dir(manifest); !seen[epoch] {
					seen[epoch] = true
					epochs[filepath.Dir(epoch)]++
				}
			}
		}
		if len(epochs) < 18 {
			t.Fatalf("%d stores", len(epochs))
		}
		for store, n := range epochs {
			if n > 2 {
				t.Errorf("after %d starts: %d epochs of %s", i+2, n, store)
			}
		}
	}
	if counts := s.aggregates(metric.ID, "count", 1); len(counts) != starts {
		t.Errorf("%d of %d measures are there", len(counts), starts)
	}
}

package cluster_test

import (
	"net/http"
	"testing"
)

// Processes that start at once do not wait for each other.
func TestProcessesStartAtOnce(t *testing.T) {
	t.Parallel()
	h := host{data: t.TempDir(), address: "127.0.0.1"}
	var all []*process
	for _, role := range []string{"serve", "serve", "api", "metricd"} {
		all = append(all, h.launch(t, role))
	}
	for _, p := range all {
		p.awaitServing()
	}
	newMetrics(t, all[2], 1)
	for _, p := range all[:3] {
		p.mustDo(http.MethodGet, "/v1/archive_policy/cluster", "", http.StatusOK)
	}
	for _, p := range all {
		p.stop()
	}
}

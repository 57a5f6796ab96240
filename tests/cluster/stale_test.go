package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// A metricd that stands still keeps its sacks until its lease is over. A client that allows stale answers gets one
// before that, and the metricd, which goes on in time, does not notice.
func TestStaleWhileItStandsStill(t *testing.T) {
	data := t.TempDir()
	api, metricd := start(t, data, "api"), start(t, data, "metricd")
	id := newMetrics(t, api, 1)[0]
	post := func(second int) {
		api.mustDo(http.MethodPost, "/v1/metric/"+id+"/measures",
			fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond+second), http.StatusAccepted)
	}
	read := func() (status int, age string, rows string) {
		t.Helper()
		status, header, body, err := api.doWith(http.Header{"Cache-Control": {"max-stale=60"}}, http.MethodGet,
			"/v1/metric/"+id+"/measures?granularity=1&aggregation=sum", "")
		if err != nil {
			t.Fatal(err)
		}
		return status, header.Get("Age"), string(body)
	}
	post(0)
	aggregates(t, api, id, "sum")
	status, age, fresh := read()
	if status != http.StatusOK || age != "" || len(fresh) < 10 {
		t.Fatalf("fresh: %d, age %q, %s", status, age, fresh)
	}
	metricd.eventually("has its checkpoint", func() bool {
		return strings.Contains(string(metricd.mustDo(http.MethodGet, "/metrics", "", http.StatusOK)),
			"\ngnocco_metricd_pending_measures 0\n")
	})
	metricd.pause()
	status, age, rows := read()
	if err := metricd.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK || age == "" || rows != fresh {
		t.Errorf("stale: %d, age %q, %s, want %s", status, age, rows, fresh)
	}
	post(1)
	aggregates(t, api, id, "sum")
	api.eventually("answers what is fresh", func() bool {
		status, age, rows := read()
		return status == http.StatusOK && age == "" && len(rows) > len(fresh)
	})
	metricd.stop()
	api.stop()
}

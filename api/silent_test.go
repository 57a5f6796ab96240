package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// A sender is silent if none of its metrics has had a measure for a time; one that never sent is not listed.
func TestSilentSenders(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	f := func(resource, metric string, ago time.Duration) {
		t.Helper()
		s.call(t, "POST /v1/resource/generic", fmt.Sprintf(`{"id":%q}`, resource))
		s.want(t, "POST /v1/resource/generic/"+resource+"/metric", `{"`+metric+`":{"archive_policy_name":"p"}}`, http.StatusOK, "~")
		if ago > 0 {
			s.want(t, "POST /v1/resource/generic/"+resource+"/metric/"+metric+"/measures",
				fmt.Sprintf(`[{"timestamp":%d,"value":1}]`, time.Now().Add(-ago).Unix()), http.StatusAccepted, "~")
		}
	}
	f("cellar", "cold", 3*time.Hour)
	f("attic", "hot", 5*time.Hour)
	f("attic", "dry", 2*time.Hour)
	f("kitchen", "old", 5*time.Hour)
	f("kitchen", "new", time.Minute)
	f("garage", "never", 0)
	s.refreshAll(t, "foobar")
	s.want(t, "GET /v1/silent", "", http.StatusForbidden, "~")
	want := func(query string, silent int, names ...string) {
		t.Helper()
		var got struct {
			Senders, Silent int
			List            []struct {
				Resource string `json:"original_resource_id"`
				Metrics  int
			}
		}
		check(t, json.Unmarshal(s.call(t, "GET /v1/silent"+query, "", "user", "admin").Body.Bytes(), &got))
		var list []string
		for _, sender := range got.List {
			list = append(list, fmt.Sprintf("%s %d", sender.Resource, sender.Metrics))
		}
		if got.Senders != 4 || got.Silent != silent || fmt.Sprint(list) != fmt.Sprint(names) {
			t.Errorf("%s: %+v, want %d, %v", query, got, silent, names)
		}
	}
	want("", 2, "attic 2", "cellar 1")
	want("?for=9000", 1, "cellar 1")
	want("?limit=1", 2, "attic 2")
	s.want(t, "GET /api/v1/series_count?since="+fmt.Sprint(time.Now().Unix()-3600), "", http.StatusOK, `~"total":6`, "user", "admin")
	s.want(t, "GET /api/v1/series_count?since="+fmt.Sprint(time.Now().Unix()+3600), "", http.StatusOK, `~"total":0`, "user", "admin")
}

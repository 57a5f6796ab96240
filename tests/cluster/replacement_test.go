package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Deletions through either of two APIs take the measures that both accepted out, while the process that holds the sacks
// is killed again and again. Deletions that are answered with 200 stay, and take no other measures.
func TestDeletionsWhileProcessesAreKilled(t *testing.T) {
	data := t.TempDir()
	first, second := start(t, data, "api"), start(t, data, "api")
	worker := start(t, data, "metricd")
	first.mustDo(http.MethodPost, "/v1/archive_policy",
		`{"name": "p", "definition": [{"granularity": 60}, {"granularity": 3600}],
		"aggregation_methods": ["sum", "count", "max"], "back_window": 2}`, http.StatusCreated)
	const hour = 3600
	const metrics = 6
	var got, want [metrics]string
	for i := range got {
		got[i], want[i] = newMetricOf(t, first, "p"), newMetricOf(t, second, "p")
	}
	post := func(p *process, metric string, from, to int, has func(at int) bool) {
		t.Helper()
		var measures []string
		for at := from; at < to; at += 17 {
			if has == nil || has(at) {
				measures = append(measures, fmt.Sprintf(`{"timestamp": %d, "value": %d}`, firstSecond+at, at%1009))
			}
		}
		p.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures", "["+strings.Join(measures, ",")+"]",
			http.StatusAccepted)
	}
	apis := []*process{first, second}
	for i := range got {
		from, to := 40+60*(20+5*i), 40+60*(90+40*i) // deleted, on the minute: raw measures are gone in part
		without := func(at int) bool { return at < from || at >= to }
		for block := range 6 {
			post(apis[(i+block)%2], got[i], block*hour, (block+1)*hour, nil)
			post(apis[(i+block)%2], want[i], block*hour, (block+1)*hour, without)
		}
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(time.Duration(i*15) * time.Millisecond)
			worker.kill()
		}()
		body := fmt.Sprintf(`{"metrics": ["%s"], "start": %d, "stop": %d, "reason": "test"}`, got[i],
			firstSecond+from, firstSecond+to)
		status, _, answer, err := apis[i%2].do(http.MethodPost, "/v1/measures/delete", body)
		<-killed
		worker = start(t, data, "metricd")
		for deadline := time.Now().Add(patience); status != http.StatusOK && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
			status, _, answer, err = apis[i%2].do(http.MethodPost, "/v1/measures/delete", body)
		}
		var done struct{ Failed int }
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &done) != nil || done.Failed > 0 {
			t.Fatalf("metric %d: %d %s %v", i, status, answer, err)
		}
	}
	for i := range got {
		for _, method := range []string{"sum", "count", "max"} {
			query := "/measures?refresh=true&aggregation=" + method
			a := string(first.mustDo(http.MethodGet, "/v1/metric/"+got[i]+query, "", http.StatusOK))
			b := string(second.mustDo(http.MethodGet, "/v1/metric/"+want[i]+query, "", http.StatusOK))
			if a != b || strings.Count(b, "],") < 100 {
				t.Errorf("metric %d, %s: %.300s, want %.300s", i, method, a, b)
			}
		}
	}
	var entries []struct{ State, Reason string }
	if err := json.Unmarshal(second.mustDo(http.MethodGet, "/v1/ledger", "", http.StatusOK), &entries); err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, e := range entries {
		if e.State == "done" && e.Reason == "test" {
			done++
		}
	}
	if done < metrics {
		t.Errorf("the ledger has %d deletions that are done: %+v", done, entries)
	}
}

package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A backfill through an API reaches the metricd that holds the sack, also when another one takes it over between two
// steps. The archive is the one of a metric whose measures came in order.
func TestBackfillOfSeveralProcesses(t *testing.T) {
	data := t.TempDir()
	first, second := start(t, data, "api"), start(t, data, "api")
	worker := start(t, data, "metricd")
	first.mustDo(http.MethodPost, "/v1/archive_policy",
		`{"name": "p", "definition": [{"granularity": 60}, {"granularity": 3600}],
		"aggregation_methods": ["sum", "std", "last", "95pct"], "back_window": 0}`, http.StatusCreated)
	live, ordered := newMetricOf(t, first, "p"), newMetricOf(t, second, "p")
	post := func(p *process, metric string, from, to int) {
		t.Helper()
		var measures []string
		for at := from; at < to; at += 7 {
			measures = append(measures, fmt.Sprintf(`{"timestamp": %d, "value": %v}`, firstSecond+at, at*at%1009))
		}
		p.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures", "["+strings.Join(measures, ",")+"]",
			http.StatusAccepted)
	}
	const hour = 3600
	const year = 365 * 24 * hour
	periods := [][2]int{{-3 * year, -3*year + 3*hour}, {-year, -year + 2*hour}, {-10 * hour, -8 * hour}}
	post(first, live, 0, 2*hour)
	// Measures older than these are history once no measure can come that was accepted before them.
	first.eventually("settles the metric's measures", func() bool {
		var archive struct {
			Raw struct {
				KeptFrom *string `json:"kept_from"`
			}
		}
		err := json.Unmarshal(first.mustDo(http.MethodGet, "/v1/metric/"+live+"/archive?refresh=true", "", http.StatusOK),
			&archive)
		return err == nil && archive.Raw.KeptFrom != nil && *archive.Raw.KeptFrom > "2023-11-14"
	})
	var made struct{ ID string }
	if err := json.Unmarshal(second.mustDo(http.MethodPost, "/v1/metric/"+live+"/backfill", "", http.StatusCreated),
		&made); err != nil {
		t.Fatal(err)
	}
	for i, period := range periods {
		post([]*process{first, second}[i%2], made.ID, period[0], period[1])
		post(first, ordered, period[0], period[1])
	}
	post(first, ordered, 0, 2*hour)

	path := "/v1/metric/" + live + "/backfill/" + made.ID
	moved, steps := 0, 0
	for step := path; steps < 10; steps++ {
		status, header, answer, err := second.do(http.MethodPost, step, "")
		for deadline := time.Now().Add(patience); status == http.StatusServiceUnavailable &&
			header.Get("Retry-After") != "" && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
			status, header, answer, err = second.do(http.MethodPost, step, "")
		}
		var done struct {
			Moved   int
			Refused []string
			Next    *string
		}
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &done) != nil || len(done.Refused) > 0 {
			t.Fatalf("step %d: %d %s %v\n%s", steps, status, answer, err, second.log.String())
		}
		if moved += done.Moved; done.Next == nil {
			break
		}
		step = path + "?start=" + url.QueryEscape(*done.Next)
		if steps == 0 {
			worker.kill()
			worker = start(t, data, "metricd")
		}
	}
	// The seconds begin within an hour, so that each period has one hour more than its length.
	if steps != 2 || moved != 4+3+3 {
		t.Errorf("%d further steps moved %d blocks", steps, moved)
	}
	first.mustDo(http.MethodDelete, "/v1/metric/"+made.ID, "", http.StatusNoContent)
	for _, method := range []string{"sum", "std", "last", "95pct"} {
		query := "/measures?refresh=true&aggregation=" + method
		got := string(first.mustDo(http.MethodGet, "/v1/metric/"+live+query, "", http.StatusOK))
		want := string(second.mustDo(http.MethodGet, "/v1/metric/"+ordered+query, "", http.StatusOK))
		if got != want || strings.Count(want, "\n")+strings.Count(want, "],") < 500 {
			t.Errorf("%s: %d bytes differ from %d in order", method, len(got), len(want))
		}
	}
}

package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// History goes through an API to the metricd that holds the sack, also when another one takes it over between two
// requests. The archive is the one of a metric whose measures came in order.
func TestHistoryOfSeveralProcesses(t *testing.T) {
	data := t.TempDir()
	first, second := start(t, data, "api"), start(t, data, "api")
	worker := start(t, data, "metricd")
	first.mustDo(http.MethodPost, "/v1/archive_policy",
		`{"name": "p", "definition": [{"granularity": 60}, {"granularity": 3600}],
		"aggregation_methods": ["sum", "std", "last", "95pct"], "back_window": 0}`, http.StatusCreated)
	live, ordered := newMetricOf(t, first, "p"), newMetricOf(t, second, "p")
	measures := func(from, to int) string {
		var measures []string
		for at := from; at < to; at += 7 {
			measures = append(measures, fmt.Sprintf(`{"timestamp": %d, "value": %v}`, firstSecond+at, at*at%1009))
		}
		return "[" + strings.Join(measures, ",") + "]"
	}
	post := func(p *process, metric string, from, to int) {
		t.Helper()
		p.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures", measures(from, to), http.StatusAccepted)
	}
	const hour = 3600
	const year = 365 * 24 * hour
	post(first, live, 0, 2*hour)
	periods := [][2]int{{-3 * year, -3*year + 3*hour}, {-year, -year + 2*hour}, {-10 * hour, -8 * hour}}
	for _, period := range periods {
		post(first, ordered, period[0], period[1])
	}
	post(first, ordered, 0, 2*hour)
	put := func(p *process, period [2]int) (done struct{ Put, Known, Refused int }) {
		t.Helper()
		path, body := "/v1/metric/"+live+"/measures?where=empty", measures(period[0], period[1])
		status, header, answer, err := p.do(http.MethodPut, path, body)
		for deadline := time.Now().Add(patience); status == http.StatusServiceUnavailable &&
			header.Get("Retry-After") != "" && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
			status, header, answer, err = p.do(http.MethodPut, path, body)
		}
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &done) != nil || done.Refused > 0 {
			t.Fatalf("%d %s %v\n%s", status, answer, err, p.log.String())
		}
		return done
	}
	for i := len(periods) - 1; i >= 0; i-- {
		if done := put([]*process{first, second}[i%2], periods[i]); done.Put != (periods[i][1]-periods[i][0]+6)/7 {
			t.Errorf("period %d: %+v", i, done)
		}
		if i == 1 {
			worker.kill()
			worker = start(t, data, "metricd")
		}
	}
	if done := put(first, periods[1]); done.Put > 0 {
		t.Errorf("again: %+v", done)
	}
	for _, method := range []string{"sum", "std", "last", "95pct"} {
		query := "/measures?refresh=true&aggregation=" + method
		got := string(first.mustDo(http.MethodGet, "/v1/metric/"+live+query, "", http.StatusOK))
		want := string(second.mustDo(http.MethodGet, "/v1/metric/"+ordered+query, "", http.StatusOK))
		if got != want || strings.Count(want, "\n")+strings.Count(want, "],") < 500 {
			t.Errorf("%s: %d bytes differ from %d in order", method, len(got), len(want))
		}
	}
}

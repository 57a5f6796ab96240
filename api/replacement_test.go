package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// replacedAnswer is the answer of a deletion or correction.
type replacedAnswer struct {
	ID       *string
	Metrics  int
	Before   int `json:"groups_before"`
	After    int `json:"groups_after"`
	Measures int
	Bytes    int
	Lost     []struct {
		Metric      string `json:"metric_id"`
		Granularity float64
		Timestamp   string
	}
	Failed int
}

func (s *server) replaced(t *testing.T, request, body, user string) (a replacedAnswer) {
	t.Helper()
	w := s.want(t, request, body, http.StatusOK, "~backups", "user", user)
	check(t, json.Unmarshal(w.Body.Bytes(), &a))
	return a
}

const ledgerPolicy = `{"name":"p","back_window":0,` +
	`"definition":[{"granularity":60},{"granularity":3600}],"aggregation_methods":["sum","count"]}`

// Users who may delete a metric delete its measures, by ID and by search, with a dry run before. The ledger says so.
func TestDeleteMeasures(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", ledgerPolicy, "user", "admin")
	s.create(t, "/v1/resource/generic",
		`{"id":"r","metrics":{"a":{"archive_policy_name":"p"},"b":{"archive_policy_name":"p"}}}`, "user", "jd")
	for _, name := range []string{"a", "b"} {
		for _, body := range []string{`[{"timestamp":60,"value":1},{"timestamp":90,"value":2},{"timestamp":120,"value":4}]`,
			`[{"timestamp":7200,"value":8},{"timestamp":7260,"value":16}]`} {
			s.want(t, "POST /v1/resource/generic/r/metric/"+name+"/measures", body, http.StatusAccepted, "", "user", "jd")
		}
	}
	var shown struct{ ID string }
	check(t, json.Unmarshal(s.want(t, "GET /v1/resource/generic/r/metric/a", "", http.StatusOK, "~", "user",
		"jd").Body.Bytes(), &shown))
	path := "POST /v1/measures/delete"
	listed := `{"metrics":["` + shown.ID + `"],"start":60,"stop":120,"reason":"a spike"}`
	s.want(t, path, listed, http.StatusForbidden, "~", "user", "other")
	preview := s.replaced(t, path+"?dry_run=true", listed, "jd")
	if preview.ID != nil || preview.Metrics != 1 || preview.Before != 2 || preview.After != 1 {
		t.Errorf("a dry run: %+v", preview)
	}
	sums := func(name string) string {
		measures := "/measures?refresh=true&aggregation=sum&granularity=3600"
		return s.want(t, "GET /v1/resource/generic/r/metric/"+name+measures, "",
			http.StatusOK, "~", "user", "jd").Body.String()
	}
	if got := sums("a"); !strings.Contains(got, "3600.0, 7.0") {
		t.Errorf("after a dry run: %s", got)
	}
	done := s.replaced(t, path, listed, "jd")
	if done.ID == nil || done.Metrics != 1 || done.Before != 2 || done.After != 1 || len(done.Lost) > 0 {
		t.Errorf("%+v", done)
	}
	if a, b := sums("a"), sums("b"); !strings.Contains(a, "3600.0, 4.0") || !strings.Contains(b, "3600.0, 7.0") {
		t.Errorf("a: %s, b: %s", a, b)
	}
	// A search leaves out what the user has no right to.
	search := `{"search":{"=":{"id":"r"}},"names":["b"],"start":7230}`
	if none := s.replaced(t, path, search, "other"); none.Metrics != 0 {
		t.Errorf("of another's resource: %+v", none)
	}
	if found := s.replaced(t, path, search, "jd"); found.Metrics != 1 || found.Measures != 1 {
		t.Errorf("by search: %+v", found)
	}
	// A group that the range covers in part, and whose raw measures are gone, goes whole.
	lost := s.replaced(t, path, `{"search":{"=":{"id":"r"}},"names":["b"],"start":0,"stop":90}`, "jd")
	if len(lost.Lost) != 1 || lost.Lost[0].Granularity != 60 || lost.Lost[0].Timestamp != "1970-01-01T00:01:00+00:00" {
		t.Errorf("%+v", lost)
	}
	if b := sums("b"); !strings.Contains(b, "3600.0, 4.0") || !strings.Contains(b, "3600.0, 8.0") {
		t.Errorf("b: %s", b)
	}
	s.want(t, "GET /v1/ledger", "", http.StatusForbidden, "~", "user", "jd")
	var entries []struct {
		ID, User, Kind, Selector, Start, Reason, State string
		Stop                                           *string
		Metrics                                        int
		Before                                         int `json:"groups_before"`
	}
	check(t, json.Unmarshal(s.want(t, "GET /v1/ledger", "", http.StatusOK, "~", "user", "admin").Body.Bytes(), &entries))
	if len(entries) != 4 || entries[0].User != "jd" || entries[0].Kind != "deletion" || entries[0].Reason != "a spike" ||
		entries[0].Selector != "metrics "+shown.ID || entries[0].State != "done" || entries[0].Before != 2 ||
		*entries[0].Stop != "1970-01-01T00:02:00+00:00" || entries[2].Stop != nil ||
		entries[2].Selector != `search generic {"=":{"id":"r"}} names b` {
		t.Errorf("ledger: %+v", entries)
	}
	// A client repeats what was answered with 503, or not at all: the entries say so, on any page.
	first, last := entries[0].ID, entries[3].ID
	s.want(t, path, listed, http.StatusOK, "~", "user", "jd")
	s.want(t, path, strings.Replace(listed, "spike", "flood", 1), http.StatusOK, "~", "user", "jd")
	var more []struct{ Repeats *string }
	for _, page := range []string{"", "?marker=" + last} {
		w := s.want(t, "GET /v1/ledger"+page, "", http.StatusOK, "~", "user", "admin")
		check(t, json.Unmarshal(w.Body.Bytes(), &more))
		for i, e := range more {
			repeats := e.Repeats != nil && *e.Repeats == first
			if repeats != (i == len(more)-2) || !repeats && e.Repeats != nil {
				t.Errorf("page %q, entry %d repeats %v", page, i, e.Repeats)
			}
		}
	}
	w := s.want(t, "GET /v1/ledger?limit=1&marker="+entries[1].ID, "", http.StatusOK, "~"+entries[2].ID, "user", "admin")
	if !strings.Contains(w.Header().Get("Link"), "marker="+entries[2].ID) {
		t.Errorf("Link %q", w.Header().Get("Link"))
	}
}

// A correction replaces the measures of a range, of any age.
func TestCorrectMeasures(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", ledgerPolicy, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	path := "/v1/metric/" + id + "/measures"
	for _, body := range []string{`[{"timestamp":60,"value":1},{"timestamp":90,"value":2},{"timestamp":120,"value":4}]`,
		`[{"timestamp":7200,"value":8},{"timestamp":7260,"value":16}]`} {
		s.want(t, "POST "+path, body, http.StatusAccepted, "", "user", "jd")
	}
	s.want(t, "PUT "+path+"?start=60&stop=120", `[{"timestamp":60,"value":1}]`, http.StatusForbidden, "~", "user", "other")
	s.want(t, "PUT "+path+"?start=60&stop=120", `[{"timestamp":120,"value":1}]`, http.StatusBadRequest, "~outside the range",
		"user", "jd")
	s.want(t, "PUT "+path+"?start=80&stop=120", `[{"timestamp":90,"value":1}]`, http.StatusBadRequest,
		"~covers a part of the group", "user", "jd")
	s.replaced(t, "PUT "+path+"?start=60&stop=120", `[{"timestamp":61,"value":32},{"timestamp":61,"value":64}]`, "jd")
	s.replaced(t, "PUT "+path+"?start=7250&stop=7270&reason=unit", `[{"timestamp":7260,"value":128}]`, "jd")
	s.want(t, "GET "+path+"?aggregation=sum", "", http.StatusOK, `[["1970-01-01T00:00:00+00:00", 3600.0, 68.0], `+
		`["1970-01-01T02:00:00+00:00", 3600.0, 136.0], ["1970-01-01T00:01:00+00:00", 60.0, 64.0], `+
		`["1970-01-01T00:02:00+00:00", 60.0, 4.0], ["1970-01-01T02:00:00+00:00", 60.0, 8.0], `+
		`["1970-01-01T02:01:00+00:00", 60.0, 128.0]]`, "user", "jd")
	s.want(t, "GET /v1/ledger?metric="+id, "", http.StatusOK, `~"reason": "unit"`, "user", "admin")
	other := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	s.want(t, "GET /v1/ledger?metric="+other, "", http.StatusOK, "[]", "user", "admin")
	s.want(t, "GET /v1/ledger?metric="+other+"&metric="+id, "", http.StatusOK, `~"reason": "unit"`, "user", "admin")
	s.want(t, "GET /v1/ledger?metric=a", "", http.StatusBadRequest, "~Must be the ID of a metric", "user", "admin")
	s.want(t, "GET /v1/ledger", "", http.StatusOK, `~"kind": "correction"`, "user", "admin")
}

// Administrators delete series as Prometheus' API does: both ends count.
func TestDeleteSeries(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", ledgerPolicy, "user", "admin")
	s.create(t, "/v1/resource/generic", `{"id":"r","metrics":{"cpu":{"archive_policy_name":"p"}}}`, "user", "jd")
	s.want(t, "POST /v1/resource/generic/r/metric/cpu/measures",
		`[{"timestamp":60,"value":1},{"timestamp":90,"value":2},{"timestamp":120,"value":4}]`, http.StatusAccepted, "",
		"user", "jd")
	path := "POST /api/v1/admin/tsdb/delete_series?match[]=cpu&start=60&end=90"
	s.want(t, path, "", http.StatusForbidden, "~delete series", "user", "jd")
	s.want(t, "POST /api/v1/admin/tsdb/delete_series", "", http.StatusBadRequest, "~no match[]", "user", "admin")
	s.want(t, "POST /api/v1/admin/tsdb/delete_series?match[]=cpu&start=2&end=1", "", http.StatusBadRequest, "~end",
		"user", "admin")
	s.want(t, path, "", http.StatusNoContent, "", "user", "admin")
	s.want(t, "GET /v1/resource/generic/r/metric/cpu/measures?aggregation=sum&granularity=60", "", http.StatusOK,
		`[["1970-01-01T00:02:00+00:00", 60.0, 4.0]]`, "user", "jd")
}

// An end on the hour leaves the group that begins there, wherever its measures are gone. The answer names groups that
// lose measures outside the range.
func TestDeleteSeriesUpToAGroup(t *testing.T) {
	f := func(granularities, span, want, warning string) {
		t.Helper()
		s := newServer(t, nil)
		s.create(t, "/v1/archive_policy", `{"name":"p","back_window":0,"definition":[`+granularities+
			`],"aggregation_methods":["count","mean"]}`, "user", "admin")
		s.create(t, "/v1/resource/generic", `{"id":"r","metrics":{"cpu":{"archive_policy_name":"p"}}}`, "user", "jd")
		for hour := range 6 {
			var measures []string
			for minute := range 60 {
				measures = append(measures, fmt.Sprintf(`{"timestamp":%d,"value":1}`, 3600*hour+60*minute))
			}
			s.want(t, "POST /v1/resource/generic/r/metric/cpu/measures", "["+strings.Join(measures, ",")+"]",
				http.StatusAccepted, "", "user", "jd")
		}
		status, text := http.StatusNoContent, ""
		if warning != "" {
			status, text = http.StatusOK, "~"+warning
		}
		s.want(t, "POST /api/v1/admin/tsdb/delete_series?match[]=cpu&"+span, "", status, text, "user", "admin")
		w := s.want(t, "GET /v1/resource/generic/r/metric/cpu/measures?aggregation=count&granularity=3600", "",
			http.StatusOK, "~", "user", "jd")
		var rows [][3]any
		check(t, json.Unmarshal(w.Body.Bytes(), &rows))
		got := ""
		for _, row := range rows {
			got += fmt.Sprint(row[0].(string)[11:13], "=", row[2], " ")
		}
		if got != want {
			t.Errorf("%s, %s: %s, want %s", granularities, span, got, want)
		}
	}
	const hours, minutes = `{"granularity":3600}`, `{"granularity":60},{"granularity":3600}`
	for _, granularities := range []string{hours, minutes} {
		f(granularities, "start=3600&end=7200", "00=60 02=60 03=60 04=60 05=60 ", "")
		f(granularities, "start=3600&end=14400", "00=60 04=60 05=60 ", "")
		f(granularities, "start=7200&end=7200", "00=60 01=60 02=60 03=60 04=60 05=60 ", "")
		f(granularities, "start=14400&end=18000", "00=60 01=60 02=60 03=60 05=59 ", "") // its measures are there
	}
	f(minutes, "start=3600&end=9000", "00=60 02=30 03=60 04=60 05=60 ", "")
	f(hours, "start=3600&end=9000", "00=60 03=60 04=60 05=60 ", "1 group lost measures outside the range")
	f(hours, "start=5400&end=7200", "00=60 02=60 03=60 04=60 05=60 ", "1 group lost measures outside the range")
}

package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// An error answers a large body with a small one, for every content of the body, and says what it leaves out.
func TestErrorsAreBounded(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	s.create(t, "/v1/resource/generic", `{"id":"r"}`)
	ids := make([]string, 30_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("%08d-3c22-4d1d-8d1a-5d4f9d2b6c11", i)
	}
	list := `["` + strings.Join(ids[:20_000], `","`) + `"]`
	batch := `{"` + strings.Join(ids, `":[],"`) + `":[]}`
	long := strings.Repeat("x", 1_000_000)
	f := func(request, body string, status, most int, part string) {
		t.Helper()
		for _, accept := range []string{wantsJSON, "*/*"} {
			w := s.call(t, request, body, "Accept", accept)
			if w.Code != status || w.Body.Len() > most || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%.60s %.60s: %d, %d bytes as %s, want %d, %d at most, %q: %.300s", request, body, w.Code,
					w.Body.Len(), accept, status, most, part, w.Body)
			}
		}
	}
	const text, all = 40_000, 2_500_000
	f("POST /v1/batch/metrics/measures", batch, 400, text,
		"Unknown metrics: 00000000-3c22-4d1d-8d1a-5d4f9d2b6c11, 00000001-")
	f("POST /v1/batch/metrics/measures", batch, 400, text, " more")
	f("POST /v1/batch/resources/metrics/measures", `{"r":{"`+strings.Join(ids, `":[],"`)+`":[]}}`, 400, text,
		"Unknown metrics: ")
	f("POST /v1/batch/resources/metrics/measures?create_metrics=true", strings.ReplaceAll(batch, "[]", `{"m":[]}`), 400,
		all, "(the first ")
	f("POST /v1/correlations", `{"metrics":`+list+`}`, 404, all, "Unknown metrics")
	f("POST /v1/aggregates", `{"operations":"(metric (`+strings.Join(ids[:20_000], ` mean)(`)+` mean))"}`, 404,
		all, "Unknown metrics")
	f("POST /v1/aggregates", `{"operations":"(metric `+long+` mean)"}`, 400, all, "Invalid metric references")
	f("POST /v1/aggregates", `{"operations":["+", `+strings.Repeat("1, ", 100)+`"`+long+`"]}`, 400, text, "")
	f("POST /v1/metric", `{"`+long+`":1}`, 400, 3*text, "Invalid input")
	f("POST /v1/search/resource/generic", `{"=":{"`+long+`":1}}`, 400, text, "has no xxx")
	f("POST /v1/resource/generic", `{"id":"`+long+`"}`, 400, text, "")
	f("GET /v1/metric?limit=1&marker="+long, "", 400, text, "Invalid marker")
}

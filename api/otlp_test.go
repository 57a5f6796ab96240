package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
)

// Good points are stored, and the answer counts and names the others; faults have OTLP's form.
func TestOTLP(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Limits.NewSeries, o.MaxBodyBytes = 3, 1<<20 })
	post := func(status int, points, want string, headers ...string) {
		t.Helper()
		body := fmt.Sprintf(`{"resourceMetrics": [{"resource": {"attributes": [{"key": "service.name", "value":
			{"stringValue": "cart"}}]}, "scopeMetrics": [{"metrics": [%s]}]}]}`, points)
		for _, path := range []string{"/v1/metrics", "/api/v1/otlp/v1/metrics"} {
			s.want(t, "POST "+path, body, status, want,
				append([]string{"user", "jd", "Content-Type", "application/json"}, headers...)...)
		}
	}
	gauge := func(name string, at int) string {
		return fmt.Sprintf(`{"name": %q, "description": "d", "gauge": {"dataPoints": [{"timeUnixNano": "%d000000000", "asInt": "5"}]}}`, name, at)
	}
	post(200, gauge("a.b", 60), "{}")
	s.refreshAll(t, "jd")
	s.want(t, "GET /api/v1/query?time=100&query=a_b", "", 200, `~{"__name__":"a_b","job":"cart"},"value":[100,"5"]`, "user", "jd")
	s.want(t, "GET /api/v1/metadata", "", 200, `~{"a_b":[{"type":"gauge","help":"d"`, "user", "jd")
	post(200, gauge("late", 9000000000)+","+gauge("c", 60)+`,{"name": "e", "exponentialHistogram": {"aggregationTemporality": 2,
		"dataPoints": [{"scale": -9, "timeUnixNano": 1}, {"scale": -9, "timeUnixNano": 1}]}}`,
		`~{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"3 of 4 points refused, the others stored: e: histogram has an invalid schema`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="otlp",reason="exponential_histogram"} 4`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="otlp",reason="future"} 2`)
	post(401, "", `~{"code":16,"message":"Unauthorized"}`, "Authorization", "")
	post(200, "5", `~{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"1 of 1 point refused`)
	post(400, "[", `~{"code":3,"message":"The body could not be decoded: invalid character`)
	post(415, "", `~{"code":3,"message":"The Content-Type has to be`, "Content-Type", "text/plain")
	post(415, "", `~{"code":3,"message":"The Content-Encoding has to be`, "Content-Encoding", "br")
	post(413, strings.Repeat(" ", 1<<20), `~{"code":3,"message":"`)
	post(400, "", "~\x08\x03\x12", "Content-Type", "application/x-protobuf")
	post(429, gauge("x", 60)+","+gauge("y", 60), `~{"code":8,"message":"a project may begin 3 series in a minute`)
}

package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkAggregates evaluates operations on metrics whose measures no checkpoint has brought into the archive yet:
// each read aggregates them once more.
func BenchmarkAggregates(b *testing.B) {
	for _, size := range [][2]int{{100, 60}, {100, 1440}, {1000, 1000}} {
		metrics, groups := size[0], size[1]
		b.Run(fmt.Sprintf("metrics=%d/groups=%d", metrics, groups), func(b *testing.B) {
			benchmarkAggregates(b, metrics, groups)
		})
	}
}

func benchmarkAggregates(b *testing.B, metrics, groups int) {
	s := newServer(b, nil)
	s.create(b, "/v1/archive_policy", `{"name":"p","definition":[{"granularity":60}],"aggregation_methods":["mean"]}`,
		"user", "admin")
	var references []string
	for i := range metrics {
		resource := fmt.Sprintf(`{"id":"r%d","project_id":"p%d","metrics":{"m":{"archive_policy_name":"p"}}}`, i, i%10)
		s.create(b, "/v1/resource/generic", resource)
		var body strings.Builder
		for j := range groups {
			fmt.Fprintf(&body, `,{"timestamp":%d,"value":%d.%d}`, 1425652440+60*j, i%100, j%97)
		}
		s.want(b, fmt.Sprintf("POST /v1/resource/generic/r%d/metric/m/measures", i), "["+body.String()[1:]+"]", 202, "")
	}
	w := s.want(b, "POST /v1/aggregates?details=true",
		`{"resource_type":"generic","search":{},"operations":"(aggregate count (metric m mean))"}`, 200, "~")
	for _, part := range strings.Split(w.Body.String(), `"m": "`)[1:] {
		references = append(references, "("+part[:36]+" mean)")
	}
	s.want(b, "POST /v1/aggregation/resource/generic/metric/m?refresh=true", "", 200, "~")
	if len(references) != metrics {
		b.Fatalf("%d metrics", len(references))
	}
	byID := fmt.Sprintf(`{"operations":"(aggregate mean (metric %s))"}`, strings.Join(references, " "))
	search := func(operations string) string {
		return fmt.Sprintf(`{"resource_type":"generic","search":{},"operations":%q}`, operations)
	}
	for _, c := range []struct{ name, query, body string }{
		{"by=id/operation=mean", "", byID},
		{"by=name/operation=mean", "", search("(aggregate mean (metric m mean))")},
		{"by=group/operation=mean", "?groupby=project_id", search("(aggregate mean (metric m mean))")},
		{"by=name/operation=none", "", search("(metric m mean)")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "/v1/aggregates"+c.query, strings.NewReader(c.body))
				r.SetBasicAuth("foobar", "")
				r.Header.Set("Content-Type", "application/json")
				if n := s.serve(b, r, http.StatusOK); n < 30*groups {
					b.Fatalf("an answer of %d bytes", n)
				}
			}
		})
	}
}

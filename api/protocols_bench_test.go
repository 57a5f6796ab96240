package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// BenchmarkProtocols sends the same measures, one of each metric as a collecting agent does, by the ways in: a batch in
// JSON by the metrics' IDs, a remote write of Prometheus, lines of InfluxDB. Metrics and resources are there already.
func BenchmarkProtocols(b *testing.B) {
	const perResource = 100
	for _, metrics := range []int{100, 10_000} {
		s := newServer(b, func(o *api.Options) { o.Budget = budget.New(2<<30, nil) }) // as of 5 GiB in all
		s.rule(b)
		s.want(b, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
		var batch bytes.Buffer
		var series, lines []string
		for i := range metrics {
			name, host, value := fmt.Sprintf("node_cpu_seconds_%d",
				i%perResource), fmt.Sprintf("machine-%d.example.org:9100", i/perResource), float64(i)/7
			id := s.create(b, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "admin")
			fmt.Fprintf(&batch, `,"%s":[{"timestamp":1700000000.5,"value":%v}]`, id, value)
			series = append(series, fmt.Sprintf("%s %v 1700000000500 cpu=3,instance=%s,job=node,mode=idle",
				name, value, host))
			lines = append(lines, fmt.Sprintf("%s,cpu=3,host=%s,mode=idle value=%v 1700000000500000000",
				name, host, value))
		}
		send := func(protocol, path, body string, status int, headers ...string) {
			b.Run(fmt.Sprintf("protocol=%s/metrics=%d", protocol, metrics), func(b *testing.B) {
				request := func() *http.Request {
					r := httptest.NewRequest("POST", path, strings.NewReader(body))
					r.SetBasicAuth("admin", "")
					for i := 0; i < len(headers); i += 2 {
						r.Header.Set(headers[i], headers[i+1])
					}
					return r
				}
				s.serve(b, request(), status) // creates what is not there
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				began := cpuTime(b)
				for b.Loop() {
					s.serve(b, request(), status)
				}
				b.ReportMetric(float64((cpuTime(b)-began).Nanoseconds())/float64(b.N)/float64(metrics), "cpu-ns/measure")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(metrics), "ns/measure")
				b.ReportMetric(float64(metrics)*float64(b.N)/b.Elapsed().Seconds(), "measures/s")
			})
		}
		send("json", "/v1/batch/metrics/measures", "{"+batch.String()[1:]+"}", 202, "Content-Type", "application/json")
		send("prometheus", "/v1/prometheus/write", remoteWrite(series...), 202, asRemoteWrite...)
		send("prometheus_labels", "/api/v1/write", remoteWrite(series...), 204, asRemoteWrite...)
		send("influxdb", "/v1/influxdb/write", strings.Join(lines, "\n"), 204, "Content-Type", "text/plain")
	}
}

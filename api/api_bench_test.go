package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/testnode"
)

// discard is a client that counts what it gets.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { d.bytes += len(p); return len(p), nil }

// serve sends r once more and checks the status.
func (s *server) serve(b *testing.B, r *http.Request, status int) int {
	w := discard{header: make(http.Header), status: http.StatusOK}
	s.handler.ServeHTTP(&w, r)
	if w.status != status {
		b.Fatalf("status %d", w.status)
	}
	return w.bytes
}

// BenchmarkGetMeasures reads a day of minutes from the archive: means of one measure, which are short decimals, and of
// seven, most of which are none.
func BenchmarkGetMeasures(b *testing.B) {
	for _, measures := range []int{1, 7} {
		s := newServer(b, nil)
		path := s.metricOf(b, `{"name":"p","definition":[{"granularity":60}]}`)
		const rows = 1440
		var body strings.Builder
		for i := range rows * measures {
			fmt.Fprintf(&body, `,{"timestamp":%d,"value":%d.%d}`, 1425652440+60*(i/measures)+i%measures, i%100, i%97)
		}
		s.want(b, "POST "+path+"/measures", "["+body.String()[1:]+"]", 202, "")
		s.want(b, "GET "+path+"/measures?refresh=true", "", 200, "~")
		check(b, s.options.Archives.(testnode.Archives).Checkpoint(b.Context()))
		for _, query := range []string{"aggregation=mean", "aggregation=std", "granularity=60&resample=3600"} {
			b.Run(fmt.Sprintf("rows=%d/measures=%d/%s", rows, measures, query), func(b *testing.B) {
				r := httptest.NewRequest("GET", path+"/measures?"+query, nil)
				r.SetBasicAuth("foobar", "")
				b.ReportAllocs()
				for b.Loop() {
					b.SetBytes(int64(s.serve(b, r, http.StatusOK)))
				}
			})
		}
	}
}

func BenchmarkPostBatch(b *testing.B) {
	for _, metrics := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("metrics=%d/measures=1", metrics), func(b *testing.B) {
			s := newServer(b, nil)
			s.policy(b, "p")
			var body bytes.Buffer
			for range metrics {
				id := s.create(b, "/v1/metric", `{"archive_policy_name":"p"}`)
				fmt.Fprintf(&body, `,"%s":[{"timestamp":"2015-03-06T14:33:57","value":43.1}]`, id)
			}
			content := append([]byte{'{'}, append(body.Bytes()[1:], '}')...)
			b.ReportAllocs()
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				r := httptest.NewRequest("POST", "/v1/batch/metrics/measures", bytes.NewReader(content))
				r.SetBasicAuth("foobar", "")
				r.Header.Set("Content-Type", "application/json")
				s.serve(b, r, http.StatusAccepted)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(metrics), "ns/measure")
		})
	}
}

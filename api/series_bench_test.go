package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// cpuTime returns the CPU time of the process: the time to compare on a shared machine.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	fatal.If(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkSeries sends 1,000 series of five labels a request by remote write: new ones, and then the same again.
func BenchmarkSeries(b *testing.B) {
	const perRequest = 1000
	s := newServer(b, func(o *api.Options) {
		o.Budget = budget.New(2<<30, nil)
		o.Limits.NewSeries, o.KnownMetrics = 1<<30, 1<<20
	})
	var bodies []string
	body := func(i int) string {
		for len(bodies) <= i {
			var series []string
			for at := range perRequest {
				n := len(bodies)*perRequest + at
				series = append(series, fmt.Sprintf("m_%d %d 1700000000500 instance=host-%d:9100,job=node,pod=pod-%06x,zone=z%d",
					n%100, n, n/100%10_000, n, n%7))
			}
			bodies = append(bodies, remoteWrite(series...))
		}
		return bodies[i]
	}
	sent := 0
	run := func(name string, at func() int) {
		b.Run("series="+name, func(b *testing.B) {
			for i := range b.N + 1 {
				body(sent + i)
			}
			b.ReportAllocs()
			began := cpuTime(b)
			b.ResetTimer()
			for range b.N {
				r := httptest.NewRequest(http.MethodPost, "/api/v1/write", strings.NewReader(body(at())))
				r.SetBasicAuth("admin", "")
				for i := 0; i < len(asRemoteWrite); i += 2 {
					r.Header.Set(asRemoteWrite[i], asRemoteWrite[i+1])
				}
				s.serve(b, r, http.StatusNoContent)
			}
			b.StopTimer()
			b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/float64(b.N)/perRequest, "cpu-µs/series")
		})
	}
	run("new", func() int { sent++; return sent - 1 })
	next := 0
	again := func() int { next++; return (next - 1) % sent }
	run("again", again)
}

package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// used returns how much memory requests hold, by the figures.
func used(t *testing.T, registry *prometheus.Registry) (bytes float64) {
	t.Helper()
	families, err := registry.Gather()
	check(t, err)
	for _, family := range families {
		if family.GetName() == "gnocco_memory_used_bytes" {
			for _, m := range family.Metric {
				bytes += m.GetGauge().GetValue()
			}
		}
	}
	return bytes
}

// While other requests hold the memory, a request for much is refused, and one for little is served. A body that never
// fits is too large.
func TestMemoryOfRequests(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared := budget.New(8<<20, registry)
	s := newServer(t, func(o *api.Options) { o.Budget, o.Limits.QueryTimeout = shared, time.Minute })
	path := s.metricOf(t, `{"name":"p","back_window":10000,"definition":[{"granularity":1,"points":1000000}]}`)
	small := s.metricOf(t, `{"name":"q","definition":[{"granularity":1}]}`)
	var body strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&body, `,{"timestamp":%d,"value":%d}`, 1_700_000_000+i, i%7)
	}
	measures := "[" + body.String()[1:] + "]"
	s.want(t, "POST "+path+"/measures", "["+strings.Repeat(" ", 3<<20)+"]", 413, "~A body holds 2621440 bytes at most")
	s.want(t, "POST "+path+"/measures", measures, 202, "")
	s.want(t, "GET "+path+"/measures?refresh=true&stop=2023-11-14T22:13:22", "", 200,
		`[["2023-11-14T22:13:20+00:00", 1.0, 0.0], ["2023-11-14T22:13:21+00:00", 1.0, 1.0]]`)
	if n := used(t, registry); n != 0 {
		t.Fatalf("%v bytes are used by nobody", n)
	}

	other, readers := shared.Account(), []*budget.Account{shared.Account(), shared.Account(), shared.Account()}
	check(t, other.Acquire(budget.Measures, 5<<20))
	check(t, readers[0].Acquire(budget.Answers, 1<<20-1))
	refused := func(request, body string, headers ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) { // which wait: for their body a little, for their answer a minute
			w := s.want(t, request, body, 503, "~Other requests use the memory", headers...)
			if w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", request)
			}
		})
	}
	refused("POST "+path+"/measures", measures)
	refused("POST /v1/search/resource/generic", `{"or":[`+strings.Repeat(`{"=":{"id":"x"}},`, 3000)+
		`{"=":{"id":"x"}}]}`)
	refused("GET "+path+"/measures", "")
	refused("POST /v1/aggregates", `{"operations":"(+ (metric `+strings.TrimPrefix(path, "/v1/metric/")+` mean) 1)"}`)
	refused("POST /v1/search/metric?metric_id="+strings.TrimPrefix(path, "/v1/metric/"), `{">":-1}`)
	refused("POST /v1/batch/resources/metrics/measures", `{"r":{`+strings.Repeat(`"m":[],`, 20_000)+`"m":[]}}`)
	refused("POST /v1/prometheus/write",
		string(s2.EncodeSnappy(nil, []byte(strings.Repeat("\x0a\x02\x0a\x00", 400_000)))), "Content-Type", "")
	s.want(t, "POST "+small+"/measures", `[{"timestamp":1700000000,"value":1}]`, 202, "")
	s.want(t, "GET "+small+"/measures?refresh=true", "", 200, "~2023-11-14T22:13:20")
	check(t, readers[1].Acquire(budget.Answers, 1<<20)) // all but a little
	check(t, readers[2].Acquire(budget.Answers, 1<<20-64<<10))
	refused("GET /openapi.yaml", "")
	for _, account := range append(readers, other) {
		account.Close()
	}
	s.want(t, "GET /openapi.yaml", "", 200, "~openapi")
	s.want(t, "GET "+path+"/measures", "", 200, "~2023-11-15T06:33:19")
	if n := used(t, registry); n != 0 {
		t.Fatalf("%v bytes are used by nobody", n)
	}
}

// Large bodies of InfluxDB's lines wait for the memory of the bodies and their measures before they are read. So of
// many at once, the admitted ones end.
func TestMemoryOfLines(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared := budget.New(8<<20, registry)
	s := newServer(t, func(o *api.Options) { o.Budget = shared })
	s.rule(t)
	s.want(t, "POST /v1/influxdb/query?q=create+database+d", "", 204, "", "user", "admin")
	var text strings.Builder
	tags := ""
	for i := range 10 {
		tags += fmt.Sprintf(",ta%d=value", i)
	}
	for i := range 9_000 {
		fmt.Fprintf(&text, "m,host=a%s value=%d %d\n", tags, i%7, 1_700_000_000_000_000_000+i*1_000_000_000)
	}
	send := func(status int) int {
		body := strings.NewReader(text.String())
		r := httptest.NewRequest("POST", "/v1/influxdb/write?db=d", body)
		r.SetBasicAuth("foobar", "")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%d %s, want %d", w.Code, w.Body, status)
		}
		return body.Len()
	}
	lines := strings.SplitAfterN(text.String(), "\n", 2)[0]
	s.want(t, "POST /v1/influxdb/write?db=d", lines, 204, "", "Content-Type", "text/plain")
	other := shared.Account()
	check(t, other.Acquire(budget.Measures, 3<<20)) // beside which the lines find room, but not their fields
	synctest.Test(t, func(*testing.T) {
		if unread := send(503); unread < text.Len()-64<<10 {
			t.Errorf("%d bytes were not read, of %d", unread, text.Len())
		}
	})
	other.Close()
	send(204)
	if n := used(t, registry); n != 0 {
		t.Fatalf("%v bytes are used by nobody", n)
	}
}

// Lines that become more than ever fits are too large, however they come: in chunks, with gzip, or fields late.
func TestInfluxDBNeverFits(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Budget = budget.New(8<<20, nil) })
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	s.rule(t)
	lines := func(fields string, bytes int) string {
		line := "m,host=a " + fields + " 5\n"
		return strings.Repeat(line, bytes/len(line))
	}
	dense, wide := lines("a=1,b=2,c=3,d=4,e=5,f=6", 600<<10), lines(`a="`+strings.Repeat("x", 500)+`",b=1`, 2<<20)
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := io.WriteString(zip, dense)
	check(t, err)
	check(t, zip.Close())
	f := func(body string, length int64, part string, headers ...string) {
		t.Helper()
		r := httptest.NewRequest("POST", "/v1/influxdb/write", struct{ io.Reader }{strings.NewReader(body)})
		r.ContentLength = length
		r.SetBasicAuth("admin", "")
		r.Header.Set("Accept", wantsJSON)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != 413 || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	const request = "the 5242880 bytes that one request may have"
	f(dense, int64(len(dense)), "A body holds ")
	f(dense, -1, "A body holds ")
	f(zipped.String(), int64(zipped.Len()), request, "Content-Encoding", "gzip")
	f(zipped.String(), -1, request, "Content-Encoding", "gzip")
	f(wide[:100<<10]+"\n"+dense, -1, request)
}

// A query in PromQL takes memory for its samples before it computes them, and is refused in Prometheus' form without.
// Labels stay.
func TestMemoryOfPromQL(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared := budget.New(8<<20, registry)
	s := newServer(t, func(o *api.Options) { o.Budget, o.Limits.QueryTimeout = shared, time.Minute })
	s.series(t, related(400))
	const instant = "GET /api/v1/query?time=399&query=count({archive_policy=%22seconds%22})"
	long := "GET /api/v1/query_range?start=0&end=9000&step=1&query=avg+without+()+({archive_policy=%22seconds%22})"
	s.want(t, instant, "", 200, `~[399,"8"]`)
	labels := used(t, registry)
	if labels == 0 || labels > 1<<20 {
		t.Errorf("%v bytes are held for labels", labels)
	}
	other := shared.Account()
	check(t, other.Acquire(budget.Answers, 4<<20))
	for _, request := range []string{long, // 8 series at 9,001 times, and as many averages
		"GET /api/v1/query?query=sum_over_time(vector(1)[20h:1s])"} {
		synctest.Test(t, func(t *testing.T) { // which wait a minute
			w := s.want(t, request, "", 503,
				`~{"status":"error","errorType":"unavailable","error":"Other requests use the memory`)
			if w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", request)
			}
		})
	}
	s.want(t, instant, "", 200, `~[399,"8"]`)
	other.Close()
	s.want(t, long, "", 200, `~[[1,"`)
	s.want(t, "GET /api/v1/query_range?start=0&end=9000&step=1&query={archive_policy=%22seconds%22}",
		"", 200, `~[399,"`)
	if n := used(t, registry); n != labels {
		t.Errorf("%v bytes are used by nobody", n-labels)
	}

	small := budget.New(8<<20, nil)
	s = newServer(t, func(o *api.Options) { o.Budget = small })
	s.series(t, related(1))
	other = small.Account()
	check(t, other.Acquire(budget.Measures, 5<<20))
	var others []*budget.Account
	for range 3 {
		a := small.Account()
		check(t, a.Acquire(budget.Answers, 1<<20-64<<10))
		others = append(others, a)
	}
	s.want(t, instant, "", 503, `~"errorType":"unavailable"`) // no room for labels
	for _, a := range append(others, other) {
		a.Close()
	}
	s.want(t, "GET /api/v1/query?time=1&query=count({archive_policy=%22seconds%22})", "", 200, `~[1,"`)
}

// A correlation holds memory until it is computed, and for its result. A request that can never fit is refused as too
// large.
func TestMemoryOfCorrelations(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared := budget.New(8<<20, registry)
	s := newServer(t, func(o *api.Options) {
		o.Budget, o.Limits.QueryTimeout, o.Correlations.Wait = shared, time.Minute, time.Minute
	})
	byID := s.series(t, related(400))
	body := `{"metrics":[` + ids(byID) + `],"lag":100,"needed_overlap":50}`
	post := func(body string) correlation {
		t.Helper()
		answer := decode[correlation](t, s.want(t, "POST /v1/correlations", body, 200, "~").Body.String())
		if answer.State != "done" || answer.Total != 21 {
			t.Fatalf("got %+v", answer)
		}
		return answer
	}
	other := shared.Account()
	check(t, other.Acquire(budget.Answers, 4<<20))
	synctest.Test(t, func(t *testing.T) { // which waits a minute
		if w := s.want(t, "POST /v1/correlations", body, 503, "~Other requests use the memory"); w.Header().Get(
			"Retry-After") == "" {
			t.Error("no Retry-After")
		}
	})
	other.Close()
	if n := used(t, registry); n != 0 {
		t.Fatalf("%v bytes are used by nobody", n)
	}
	first := post(body)
	one := used(t, registry)
	if one < 21*40 || one > 8<<10 {
		t.Errorf("a result of 21 pairs takes %v bytes", one)
	}
	post(`{"metrics":[` + ids(byID) + `],"lag":4,"needed_overlap":50,"method":"spearman"}`)
	s.want(t, "DELETE /v1/correlations/"+first.ID, "", 204, "")
	if n := used(t, registry); n > one+1024 {
		t.Errorf("%v bytes after a result was forgotten, %v before", n, one)
	}
	s.want(t, "POST /v1/correlations", `{"metrics":[`+ids(byID)+`],"lag":399}`, 422, "~and one query may have 4194304 of "+
		"--memory-limit")
}

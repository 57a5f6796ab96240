package console_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/prompb"
)

// A counter is drawn as its rate, or as it stands; a histogram as quantiles. A series called _count that stands
// still is no counter, unless its sender says so.
func TestRates(t *testing.T) {
	s, _ := start(t, nil)
	push(t, s.URL(), func(line func(format string, args ...any)) {
		line("# TYPE quiet_seconds summary")
		line(`once_seconds_bucket{job="a",le="+Inf"} 1 %d`, time.Now().UnixMilli())
		for i := range 120 { // up to five minutes from now, for a slow machine
			at := time.Now().Add(time.Duration(i-60) * 5 * time.Second).UnixMilli()
			line(`cpu_count{job="a"} 4 %d`, at)
			line(`idle_seconds_bucket{job="a",le="1"} 0 %d`, at)
			line(`idle_seconds_bucket{job="a",le="+Inf"} 0 %d`, at)
			line(`quiet_seconds_count{job="a"} 7 %d`, at)
			line(`wait_seconds_count{job="a"} %d %d`, 10*i, at)
			line(`requests_total{job="a"} %d %d`, 1000+10*i, at)
			line(`wait_seconds_bucket{job="a",le="1"} %d %d`, 10*i, at)
			line(`wait_seconds_bucket{job="a",le="+Inf"} %d %d`, 10*i, at)
		}
	})
	b := open(t, s.URL(), "#/explore?from=10m")
	for name, now := range map[string]string{"requests_total": "2 /s", "wait_seconds_count": "2 /s", "cpu_count": "4",
		"quiet_seconds_count": "0 /s", "idle_seconds_bucket": "no values",
		"once_seconds_bucket": "no values",
		"wait_seconds_bucket": "500 ms · 900 ms · 990 ms"} {
		b.wait(fmt.Sprintf("document.querySelector('.tile[data-name^=%s] .now')?.textContent === %q", name, now))
	}
	b.click(".found button", "requests_total")
	mean := "Number(document.querySelector('[data-figure=mean]')?.dataset.value)"
	b.wait(mean + " > 0")
	if got := eval[float64](b, mean); math.Abs(got-2) > 0.2 {
		t.Errorf("rate %v, want 2", got)
	}
	b.click("#drawn button", "Rate")
	b.wait(mean + " > 1000")
	b.visitHash("explore?from=10m&q=rate(wait_seconds_count[1m])")
	b.wait("document.querySelector('[data-figure=mean]')?.textContent.endsWith(' /s')")
	b.click(".tile, .found button", "idle_seconds_bucket")
	b.click(".found ul button", "Quantiles")
	b.waitText("without observations there are no quantiles")
	b.click(".found button", "wait_seconds_bucket")
	b.click(".found > li:nth-child(6) ul button", "Quantiles")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 3")
	if got := b.figure("{quantile=0.9}", "mean"); math.Abs(got-0.9) > 1e-6 {
		t.Errorf("90th percentile %v, want 0.9", got)
	}
}

// Of the seconds that processors spent in each mode, as node exporters count them, a click makes the busiest instance.
func TestBusiestInstance(t *testing.T) {
	s, _ := start(t, nil)
	push(t, s.URL(), func(line func(format string, args ...any)) {
		for i := range 120 {
			at := time.Now().Add(time.Duration(i-60) * 5 * time.Second).UnixMilli()
			for host, busy := range []int{1, 4} { // of five seconds
				line(`node_cpu_seconds_total{job="node",instance="host%d",cpu="0",mode="idle"} %d %d`, host, (5-busy)*i, at)
				line(`node_cpu_seconds_total{job="node",instance="host%d",cpu="0",mode="user"} %d %d`, host, busy*i, at)
			}
		}
	})
	b := open(t, s.URL(), "#/explore")
	b.click(".found button", "node_cpu_seconds_total")
	b.click(".found ul button", "Busiest instance")
	b.wait("document.querySelector('#instant tbody tr:first-child')?.innerText.includes('instance=host1')")
	b.wait("[...document.querySelectorAll('#instant .number')].map(e => e.textContent).join() === '80 %,20 %'")
}

// Counters of Ceilometer's archive policy, which has nothing that a rate is computed from, are drawn by their growth
// from group to group. The highest of a name are a table, without UUIDs beside names.
func TestCeilometersCounters(t *testing.T) {
	s, c := start(t, nil)
	check(t, c.EnsureArchivePolicy(t.Context(), "ceilometer-low-rate", object{"name": "ceilometer-low-rate",
		"back_window": 12, "aggregation_methods": []string{"mean", "rate:mean"},
		"definition": []object{{"granularity": 300, "timespan": "30 days"}}}))
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type", object{"name": "instance",
		"attributes": object{"display_name": object{"type": "string", "required": true}}}, nil))
	end := time.Now().Truncate(5 * time.Minute)
	measures := object{}
	for n := range 3 {
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource/instance", object{"id": uuid(1, n),
			"display_name": fmt.Sprintf("web-%d", n), "metrics": object{"cpu": object{
				"archive_policy_name": "ceilometer-low-rate", "unit": "ns", "type": "counter"}}}, nil))
		var all []object
		for i := range 6 {
			all = append(all, object{"timestamp": end.Unix() - int64(300*(5-i)), "value": 10 * (n + 1) * i})
		}
		measures[uuid(1, n)] = object{"cpu": all}
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/resources/metrics/measures", measures, nil))
	b := open(t, s.URL(), "#/explore")
	b.wait("[...document.querySelectorAll('.tile .now')].map(e => e.textContent).sort().join() === '0.01 µs,0.02 µs,0.03 µs'")
	b.click(".found button", "cpu")
	b.click(".found ul button", "Highest now")
	b.wait("document.querySelectorAll('#instant tbody tr').length === 3")
	if got := b.texts("#instant tbody tr:first-child td"); fmt.Sprint(got) != "[{display_name=web-2} 30]" {
		t.Errorf("the highest: %q", got)
	}
	b.click(".found ul button", "All 3")
	b.wait("document.querySelector('#archive')?.textContent.includes('rate:mean of 5 min')")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 3")
	metrics, err := c.Metrics(t.Context(), uuid(1, 1))
	check(t, err)
	b.visitHash("metric?id=" + metrics["cpu"].ID)
	b.wait("document.querySelector('#host')?.textContent === 'web-1'")
}

// Native histograms are found by their names, drawn as quantiles, and split by a label.
func TestNativeHistograms(t *testing.T) {
	s, _ := start(t, nil)
	request := new(prompb.WriteRequest)
	for at, its := range []struct{ name, job string }{{"took_seconds", "a"}, {"took_seconds", "b"}, {"lonely_seconds", "a"}} {
		series := prompb.TimeSeries{Labels: []prompb.Label{{Name: "__name__", Value: its.name}, {Name: "job", Value: its.job}}}
		for i := range 60 {
			h := &histogram.Histogram{Count: uint64(10 * i), Sum: 7 * float64(i), ZeroThreshold: 1e-128,
				PositiveSpans:   []histogram.Span{{Offset: int32(at), Length: 1}}, // (0.5, 1], (1, 2], (2, 4]
				PositiveBuckets: []int64{int64(10 * i)}}
			series.Histograms = append(series.Histograms,
				prompb.FromIntHistogram(time.Now().Add(time.Duration(i-60)*5*time.Second).UnixMilli(), h))
		}
		request.Timeseries = append(request.Timeseries, series)
	}
	body, err := request.Marshal()
	check(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/api/v1/write",
		bytes.NewReader(s2.EncodeSnappy(nil, body)))
	check(t, err)
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "snappy")
	r.SetBasicAuth("admin", "secret")
	answer, err := http.DefaultClient.Do(r)
	check(t, err)
	if answer.Body.Close(); answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer.Status)
	}
	b := open(t, s.URL(), "#/explore?from=10m")
	eval[bool](b, axe+"\n;true")
	b.wait("document.querySelector('.tile[data-name^=took_seconds] .now')?.textContent.split(' · ').length === 3")
	b.accessible("native-tiles")
	if got := b.texts(".found button"); fmt.Sprint(got) != "[lonely_secondsa ▸took_seconds2]" {
		t.Errorf("%q", got)
	}
	near := func(series string, want float64) {
		t.Helper()
		if got := b.figure(series, "mean"); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v, want %v", series, got, want)
		}
	}
	b.click(".found button", "lonely_seconds")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 3")
	near("{quantile=0.5}", math.Sqrt(8)) // halfway between 2 and 4, by ratio
	b.accessible("native-drawn")
	b.click(".found button", "took_seconds")
	b.wait("document.querySelectorAll('.found ul button').length === 4")
	if got := b.texts(".found ul button"); fmt.Sprint(got) !=
		"[Quantiles 0.5, 0.9, 0.99 99th percentile by job job=a job=b]" {
		t.Errorf("%q", got)
	}
	b.click(".found ul button", "by job")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2")
	near("{job=a}", math.Exp2(-0.01))
	near("{job=b}", math.Exp2(0.99))
	b.click(".found ul button", "job=b")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 3")
	near("{quantile=0.9}", math.Exp2(0.9))
	// A typed name is drawn, also as a table of one moment.
	b.visitHash("explore?from=10m&q=took_seconds")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 6")
	b.waitText("Native histograms are drawn by their quantiles")
	b.click("#drawn button", "Instant")
	b.wait("document.querySelectorAll('#instant tbody tr').length === 6")
}

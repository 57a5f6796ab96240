package console_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"
)

// A counter is drawn as its rate, or as it stands; a histogram as quantiles.
func TestRates(t *testing.T) {
	s, _ := start(t, nil)
	push(t, s.URL(), func(line func(format string, args ...any)) {
		for i := range 60 {
			at := time.Now().Add(time.Duration(i-60) * 5 * time.Second).UnixMilli()
			line(`requests_total{job="a"} %d %d`, 1000+10*i, at)
			line(`wait_seconds_bucket{job="a",le="1"} %d %d`, 10*i, at)
			line(`wait_seconds_bucket{job="a",le="+Inf"} %d %d`, 10*i, at)
		}
	})
	b := open(t, s.URL(), "#/explore?from=10m")
	b.wait("document.querySelector('.tile[data-name=requests_total] .now')?.textContent === '2 /s'")
	b.wait("document.querySelector('.tile[data-name^=wait_seconds_bucket] .now')?.textContent === " +
		"'500 ms · 900 ms · 990 ms'")
	b.click(".found button", "requests_total")
	mean := "Number(document.querySelector('[data-figure=mean]')?.dataset.value)"
	b.wait(mean + " > 0")
	if got := eval[float64](b, mean); math.Abs(got-2) > 0.2 {
		t.Errorf("rate %v, want 2", got)
	}
	b.click("#drawn button", "Rate")
	b.wait(mean + " > 1000")
	b.click(".found button", "wait_seconds_bucket")
	b.click(".found ul button", "Quantiles")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 3")
	if got := b.figure("{quantile=0.9}", "mean"); math.Abs(got-0.9) > 1e-6 {
		t.Errorf("90th percentile %v, want 0.9", got)
	}
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
	b.wait("[...document.querySelectorAll('.tile .now')].map(e => e.textContent).sort().join() === '10,20,30'")
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

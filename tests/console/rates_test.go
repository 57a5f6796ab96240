package console_test

import (
	"math"
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

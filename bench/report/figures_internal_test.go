package report

import (
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	f := func(latencies []time.Duration, q float64, want time.Duration) {
		t.Helper()
		if got := Quantile(latencies, q); got != want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", latencies, q, got, want)
		}
	}
	f(nil, 0.5, 0)
	f([]time.Duration{5}, 0.99, 5)
	f([]time.Duration{3, 1, 2}, 0.5, 2)
	f([]time.Duration{4, 3, 2, 1}, 0.5, 2)
	f([]time.Duration{4, 3, 2, 1}, 0.99, 4)
	f([]time.Duration{4, 3, 2, 1}, 0, 1)
}

func TestFormatFigure(t *testing.T) {
	f := func(v float64, want string) {
		t.Helper()
		if got := formatFigure(v); got != want {
			t.Errorf("formatFigure(%v) = %q, want %q", v, got, want)
		}
	}
	f(0, "0")
	f(1234567.8, "1234568")
	f(999.96, "1000")
	f(12.3456, "12.35")
	f(0.00123456, "0.001235")
	f(0.00000123456, "1.23e-06")
	f(-1234.5, "-1234")
}

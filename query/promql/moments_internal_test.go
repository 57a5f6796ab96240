package promql

import (
	"math"
	"testing"
)

// Averages and variances of groups as exact arithmetic has them: far from zero, where sums cancel or overflow.
func TestMomentsOfGroups(t *testing.T) {
	inf := math.Inf(1)
	f := func(average_, variance_ float64, groups ...moments) {
		t.Helper()
		if got := average(groups); !(math.Abs(got-average_) <= 1e-15*math.Abs(average_)) && got != average_ {
			t.Errorf("average of %v: got %v, want %v", groups, got, average_)
		}
		got := variance(groups)
		if math.Abs(got-variance_) > 1e-12*variance_ || (got != got) != (variance_ != variance_) {
			t.Errorf("variance of %v: got %v, want %v", groups, got, variance_)
		}
	}
	// 1e15 + 0, 0, 0.5 and 1e15 + 0, 0.5, 0.5
	f(1e15+0.25, 0.0625, moments{3, 3e15 + 0.5, 1.0 / 6}, moments{3, 3e15 + 1, 1.0 / 6})
	f(-1e15-0.25, 0.0625, moments{3, -3e15 - 0.5, 1.0 / 6}, moments{}, moments{3, -3e15 - 1, 1.0 / 6})
	f(0.5, (2e32+2-4*0.25)/4, moments{1, 1e16, 0}, moments{1, 1, 0}, moments{1, -1e16, 0}, moments{1, 1, 0})
	f(0.85e308, 0, moments{2, 1.7e308, 0}, moments{2, 1.7e308, 0}, moments{2, 1.7e308, 0})
	f(-0.85e308, 0, moments{2, -1.7e308, 0}, moments{2, -1.7e308, 0})
	f(inf, math.NaN(), moments{2, inf, inf}, moments{2, 1, 0})
	f(inf, math.NaN(), moments{2, inf, inf}, moments{6, -inf, -1.7e308}, moments{2, inf, inf})
	f(-inf, math.NaN(), moments{2, 1, 0}, moments{2, -inf, -inf})
	f(1.7e308, math.NaN(), moments{6, inf, 1.7e308}, moments{1, 1.7e308, 0})
	f(0, math.NaN(), moments{6, inf, 1.7e308}, moments{6, -inf, -1.7e308})
}

// An infinite measure beside groups makes their average infinite, and two of opposite signs make it NaN.
func TestAverageOfInfinities(t *testing.T) {
	minus, plus, group := moments{1, math.Inf(-1), 0}, moments{1, math.Inf(1), 0}, moments{3, 12, 2}
	if got := average([]moments{minus, group}); !math.IsInf(got, -1) {
		t.Errorf("the average is %v", got)
	}
	if got := average([]moments{minus, group, plus}); !math.IsNaN(got) {
		t.Errorf("the average of both infinities is %v", got)
	}
}

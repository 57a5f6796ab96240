package main

import (
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// inexact counts groups whose columns say more than the source did. Clients still read them right; later computations
// from them, as of several metrics, are approximations.
type inexact struct {
	count int // number of measures unknown: 1 is assumed, or 2 where there is a std
	sum   int // sum unknown: 0 is assumed beside a std
}

func (n *inexact) add(other inexact) { n.count, n.sum = n.count+other.count, n.sum+other.sum }

// groupsOf makes the groups of one granularity from the aggregates of all methods. Groups that our timespan does not
// keep are left out.
func groupsOf(policy *model.ArchivePolicy, granularity time.Duration, methods map[carbonara.Method]series) (
	*carbonara.Groups, inexact) {
	var starts []carbonara.Timestamp
	for _, s := range methods {
		starts = append(starts, s.timestamps...)
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	if timespan := policy.Timespan(granularity); timespan > 0 && len(starts) > 0 {
		from, _ := slices.BinarySearch(starts, archive.OldestKept(starts[len(starts)-1], timespan))
		starts = starts[from:]
	}
	groups := &carbonara.Groups{Granularity: granularity, Starts: starts, Columns: policy.Plan().Columns}
	var unknown inexact
	var plain, rate *moments
	for _, c := range groups.Columns {
		m := &plain
		if c.IsRate() {
			m = &rate
		}
		if *m == nil {
			*m = newMoments(policy, c.IsRate(), starts, methods)
			unknown.add((*m).unknown)
		}
		groups.Values = append(groups.Values, (*m).column(c.Base()))
	}
	return groups, unknown
}

// moments are the columns of groups, either over measures or over their differences.
type moments struct {
	aligned    map[carbonara.Method][]float64 // by method without rate:; Absent where the source has none
	n, sum, m2 []float64
	rows       int
	unknown    inexact
}

func newMoments(policy *model.ArchivePolicy, rate bool, starts []carbonara.Timestamp,
	methods map[carbonara.Method]series) *moments {
	m := &moments{aligned: make(map[carbonara.Method][]float64), rows: len(starts)}
	for _, method := range policy.Methods() {
		if method.IsRate() == rate {
			m.aligned[method.Base()] = align(starts, methods[method])
		}
	}
	m.n, m.sum, m.m2 = make([]float64, m.rows), make([]float64, m.rows), make([]float64, m.rows)
	for i := range starts {
		m.solve(i)
	}
	return m
}

// align returns the values of s at starts, Absent where it has none.
func align(starts []carbonara.Timestamp, s series) []float64 {
	values, j := make([]float64, len(starts)), 0
	for i, start := range starts {
		for j < len(s.timestamps) && s.timestamps[j] < start {
			j++
		}
		values[i] = carbonara.Absent()
		if j < len(s.timestamps) && s.timestamps[j] == start {
			values[i] = s.values[j]
		}
	}
	return values
}

// get returns the value of a method in row i; known is false if the policy or the row does not have it.
func (m *moments) get(method carbonara.Method, i int) (v float64, known bool) {
	values := m.aligned[method]
	if values == nil || carbonara.IsAbsent(values[i]) {
		return 0, false
	}
	return values[i], true
}

// solve sets number, sum and second moment of row i.
func (m *moments) solve(i int) {
	some := false
	for _, values := range m.aligned {
		some = some || !carbonara.IsAbsent(values[i])
	}
	if !some { // no difference ends in the group
		m.n[i], m.sum[i], m.m2[i] = 0, math.NaN(), math.NaN()
		return
	}
	n, hasCount := m.get(carbonara.Count, i)
	mean, hasMean := m.get(carbonara.Mean, i)
	sum, hasSum := m.get(carbonara.Sum, i)
	std, hasStd := m.get(carbonara.Std, i)
	_, stdKept := m.aligned[carbonara.Std]
	if !hasCount {
		n, hasCount = countOf(sum, mean, hasSum && hasMean)
	}
	switch {
	case hasCount:
	case stdKept && !hasStd: // it has none for a single measure
		n = 1
	case hasStd:
		n = 2
		m.unknown.count++
	default:
		n = 1
		m.unknown.count++
	}
	switch {
	case hasSum:
	case hasMean:
		sum = dividend(mean, n)
	case stdKept:
		m.unknown.sum++
	default:
		sum = carbonara.Absent()
	}
	m.n[i], m.sum[i] = n, sum
	if hasStd && n > 1 {
		m.m2[i] = secondMoment(std, n)
	}
}

// countOf returns the number of measures that have this sum and mean.
func countOf(sum, mean float64, both bool) (n float64, ok bool) {
	if !both || mean == 0 {
		return 0, false
	}
	n = math.Round(sum / mean)
	return n, n >= 1 && n < 1<<53 && sum/n == mean
}

// near calls f with v and its neighbours, the nearest first, until f is true; it returns v if f never is.
func near(v float64, f func(float64) bool) float64 {
	const neighbours = 8
	up, down := v, v
	for range neighbours {
		if f(up) {
			return up
		}
		if f(down) {
			return down
		}
		up, down = math.Nextafter(up, math.Inf(1)), math.Nextafter(down, math.Inf(-1))
	}
	return v
}

// dividend returns the sum that divided by n is mean to the last bit, if there is one.
func dividend(mean, n float64) float64 {
	return near(mean*n, func(sum float64) bool { return sum/n == mean })
}

// secondMoment returns the sum of squared distances from which std follows, to the last bit if there is one.
func secondMoment(std, n float64) float64 {
	return near(std*std*(n-1), func(m2 float64) bool { return math.Sqrt(m2/(n-1)) == std })
}

// column returns the values of a column, which is no rate: one.
func (m *moments) column(c carbonara.Column) []float64 {
	switch c {
	case carbonara.ColumnCount:
		return m.n
	case carbonara.ColumnSum:
		return m.sum
	case carbonara.ColumnM2:
		return m.m2
	case carbonara.ColumnMin:
		return m.aligned[carbonara.Min]
	case carbonara.ColumnMax:
		return m.aligned[carbonara.Max]
	case carbonara.ColumnFirst:
		return m.aligned[carbonara.First]
	case carbonara.ColumnLast:
		return m.aligned[carbonara.Last]
	}
	p := c.Percentile()
	if median := m.aligned[carbonara.Median]; p == 50 && median != nil {
		return median
	}
	return m.aligned[carbonara.PercentileMethod(p)]
}

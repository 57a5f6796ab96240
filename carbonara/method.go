package carbonara

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Method is an aggregation method: mean, sum, last, max, min, std, median, first, count, 1pct … 99pct, each also
// as rate:, over the differences of consecutive measures; increase and resets, of counters; and folds (fold.go). The
// lowest byte says which. The others are the threshold of a fold, 0 without one. The zero Method is invalid.
type Method uint64

// The methods that have a name. Percentiles come from PercentileMethod, rates from Rate.
const (
	Mean Method = iota + 1
	Sum
	Last
	Max
	Min
	Std
	Median
	First
	Count
	Increase
	Resets
	SketchMethod
	sumOfSquares // the first fold
	difference
	countAbove // the first with a threshold
	countBelow
	shareAbove
	shareBelow

	percentileBase Method = 20
	rateMethod     Method = 0x80
)

var methodNames = [...]string{Mean: "mean", Sum: "sum", Last: "last", Max: "max", Min: "min", Std: "std",
	Median: "median", First: "first", Count: "count", Increase: "increase", Resets: "resets",
	SketchMethod: "sketch", sumOfSquares: "sum(x*x)", difference: "difference", countAbove: "count_above",
	countBelow: "count_below", shareAbove: "share_above", shareBelow: "share_below"}

// PercentileMethod returns the method "<p>pct", 1 <= p <= 99.
func PercentileMethod(p int) Method { return percentileBase + Method(p) }

// Rate returns rate:m.
func (m Method) Rate() Method { return m | rateMethod }

// IsRate reports whether m is a rate: method.
func (m Method) IsRate() bool { return m&rateMethod != 0 }

// Base returns m without rate:.
func (m Method) Base() Method { return m &^ rateMethod }

// Percentile returns p if m is "<p>pct" or its rate, else 0.
func (m Method) Percentile() int {
	if b := m.Base(); b > percentileBase && b <= percentileBase+99 {
		return int(b - percentileBase)
	}
	return 0
}

// OfSketch returns p if a sketch tells m, the p-th percentile or the median, else 0.
func (m Method) OfSketch() int {
	if m == Median {
		return 50
	}
	if m.IsRate() {
		return 0
	}
	return m.Percentile()
}

// String returns the method's name in the REST API.
func (m Method) String() string {
	prefix := ""
	if m.IsRate() {
		prefix = "rate:"
	}
	if p := m.Percentile(); p > 0 {
		return prefix + strconv.Itoa(p) + "pct"
	}
	if b := m.Base().kind(); b > 0 && int(b) < len(methodNames) {
		if m.HasThreshold() {
			return methodNames[b] + "(" + threshold(m-b).String() + ")"
		}
		return prefix + methodNames[b]
	}
	return fmt.Sprintf("method(%d)", uint64(m))
}

// ParseMethod is the inverse of String. A threshold may be spelled in other ways, as in share_above(9.0e1).
func ParseMethod(s string) (Method, error) {
	if m, ok := methodsByName[s]; ok {
		return m, nil
	}
	return parseThresholdMethod(s)
}

// Methods returns all methods without a threshold in the order in which /v1/capabilities lists them: by name, then the
// percentiles, then the rates of all of these, then those of counters, then sketches and folds.
func Methods() []Method { return slices.Clone(allMethods) }

var allMethods, methodsByName = func() ([]Method, map[string]Method) {
	var all []Method
	for m := Mean; m <= Count; m++ {
		all = append(all, m)
	}
	for p := 1; p <= 99; p++ {
		all = append(all, PercentileMethod(p))
	}
	for _, m := range slices.Clone(all) {
		all = append(all, m.Rate())
	}
	all = append(all, Increase, Resets, SketchMethod, sumOfSquares, difference)
	byName := make(map[string]Method, len(all))
	for _, m := range all {
		byName[m.String()] = m
	}
	return all, byName
}()

// IsCounter reports whether m is a method of counters. Such a method also depends on the group before (counter.go).
func (m Method) IsCounter() bool { return m == Increase || m == Resets }

// IsOurs reports whether Gnocchi does not have m.
func (m Method) IsOurs() bool { return m.IsCounter() || m == SketchMethod || m.IsFold() }

// IsLevel reports whether aggregates of a counter by m grow as the counter does.
func (m Method) IsLevel() bool {
	return !m.IsRate() && !m.IsCounter() && !m.IsFold() && m != Count && m != Std
}

// OfAggregates returns the method by which aggregates of m are aggregated again. Aggregates of counters add up.
func (m Method) OfAggregates() Method {
	if m.IsCounter() {
		return Sum
	}
	return m
}

// Columns returns the stored columns that m is answered from, ascending.
func (m Method) Columns() []Column {
	switch m {
	case Increase:
		return []Column{ColumnFirst, ColumnLast, ColumnResetSum}
	case Resets:
		return []Column{ColumnFirst, ColumnLast, ColumnResets}
	case SketchMethod:
		return []Column{ColumnSketch}
	}
	if m.IsFold() {
		return m.foldColumns()
	}
	first, second := m.columns()
	if second == first {
		return []Column{first}
	}
	return []Column{first, second}
}

// columns returns the one or two stored columns that any other m is answered from; one twice.
func (m Method) columns() (first, second Column) {
	switch m.Base() {
	case Mean:
		first, second = ColumnCount, ColumnSum
	case Sum:
		first = ColumnSum
	case Last:
		first = ColumnLast
	case Max:
		first = ColumnMax
	case Min:
		first = ColumnMin
	case Std:
		first, second = ColumnCount, ColumnM2
	case Median:
		first = PercentileColumn(50)
	case First:
		first = ColumnFirst
	case Count:
		first = ColumnCount
	default:
		first = PercentileColumn(m.Percentile())
	}
	second = max(first, second) // count, the first of two, is 0
	if m.IsRate() {
		first, second = first.Rate(), second.Rate()
	}
	return first, second
}

// ParseMethods parses names; the first unknown one is the error.
func ParseMethods(names []string) ([]Method, error) {
	methods := make([]Method, 0, len(names))
	for _, name := range names {
		m, err := ParseMethod(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	return methods, nil
}

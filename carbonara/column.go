package carbonara

import (
	"fmt"
	"math"
)

// A Column is one stored value per group, from which aggregation methods are answered (see Method.Columns).
// Bit 7 says that it is computed over the differences of consecutive measures (rate:), the seven below are a moment,
// firstPercentile + p for the p-th percentile, 1 <= p <= 99, a column of counters (counter.go), or a count of measures
// beyond a threshold (fold.go). The last two have no rate. All other bits are the threshold, 0 without one.
type Column uint64

// The moments. M2 is the sum of the squared deviations from the group's mean.
const (
	ColumnCount Column = iota
	ColumnSum
	ColumnMin
	ColumnMax
	ColumnM2
	ColumnFirst
	ColumnLast
	numMoments

	// ColumnMean stands in splits only, and in no plan: the mean where the sum overflows (huge_sum.go).
	ColumnMean Column = 7

	// ColumnResets counts the measures that are less than the measure before them in the same group. ColumnResetSum is
	// the sum of these measures before: last - first + ColumnResetSum is the counter's increase within the group.
	ColumnResets   Column = 8
	ColumnResetSum Column = 9

	firstPercentile Column = 10

	// The times of the first and last measure of the group, in seconds since its start.
	ColumnFirstTime Column = 110
	ColumnLastTime  Column = 111

	// ColumnSketch is the distribution of the group's measures, a Sketch (sketch_column.go).
	ColumnSketch Column = 112

	// How many measures of the group lie above the threshold, or below.
	columnAbove Column = 113
	columnBelow Column = 114

	rateBit Column = 0x80
)

// PercentileColumn returns the column of the p-th percentile, 1 <= p <= 99.
func PercentileColumn(p int) Column { return firstPercentile + Column(p) }

// Rate returns the same column over differences of consecutive measures.
func (c Column) Rate() Column { return c | rateBit }

// IsRate reports whether c is computed over differences.
func (c Column) IsRate() bool { return c&rateBit != 0 }

// Base returns c without its rate bit.
func (c Column) Base() Column { return c &^ rateBit }

// Percentile returns p if c is the p-th percentile, else 0.
func (c Column) Percentile() int {
	if b := c.Base(); b > firstPercentile && b <= firstPercentile+99 {
		return int(b - firstPercentile)
	}
	return 0
}

// IsSketch reports whether c is the column of sketches, whose values are no numbers.
func (c Column) IsSketch() bool { return c == ColumnSketch }

// IsCounter reports whether c is a column of counters.
func (c Column) IsCounter() bool {
	return c == ColumnResets || c == ColumnResetSum || c == ColumnFirstTime || c == ColumnLastTime
}

var columnNames = map[Column]string{ColumnCount: "count", ColumnSum: "sum", ColumnMin: "min", ColumnMax: "max",
	ColumnM2: "m2", ColumnFirst: "first", ColumnLast: "last", ColumnMean: "mean", ColumnResets: "resets", ColumnResetSum: "reset_sum",
	ColumnFirstTime: "first_time", ColumnLastTime: "last_time", ColumnSketch: "sketch"}

// String names the column as documents and inspect do: "sum", "95pct", "rate:m2".
func (c Column) String() string {
	prefix := ""
	if c.IsRate() {
		prefix = "rate:"
	}
	if p := c.Percentile(); p > 0 {
		return fmt.Sprintf("%s%dpct", prefix, p)
	}
	if c.HasThreshold() {
		return c.counting().String()
	}
	if name, ok := columnNames[c.Base()]; ok {
		return prefix + name
	}
	return fmt.Sprintf("column(%d)", uint64(c))
}

// absentBits is a NaN that stands for "not known": of a column that was not yet computed when the measures of a group
// were there. No arithmetic makes it, splits keep it bit for bit, and a stored column that a split lacks reads as it.
// Methods that are answered from it are absent of that group, other than from a NaN, which is a value.
const absentBits = 0x7ff8_6162_7365_6e74

// absent is the value of a column that a group lacks.
var absent = math.Float64frombits(absentBits)

// goneBits is a NaN as absentBits is, of a group that AppendGone removes.
const goneBits = 0x7ff8_0067_6f6e_6500

var gone = math.Float64frombits(goneBits)

// isAbsent reports whether a stored value stands for none.
func isAbsent(v float64) bool { return v != v && math.Float64bits(v) == absentBits }

// Absent returns the value of a column that is not known of a group. It is a NaN, but not every NaN is it: see
// IsAbsent.
func Absent() float64 { return absent }

// IsAbsent reports whether a column's value says that it is not known.
func IsAbsent(v float64) bool { return isAbsent(v) }

// absences returns the moments that are not known of a group, as bits; without its count nothing is.
func (m *moments) absences() (bits uint8) {
	sum := m.sum.High
	if sum == sum && m.min == m.min && m.max == m.max && m.m2 == m.m2 && m.first == m.first && m.last == m.last {
		return 0
	}
	for c, v := range [numMoments]float64{m.count, sum, m.min, m.max, m.m2, m.first, m.last} {
		if isAbsent(v) {
			bits |= 1 << c
		}
	}
	return bits
}

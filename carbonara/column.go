package carbonara

import "fmt"

// A Column is one stored value per group, from which aggregation methods are answered (see Method.Columns).
// It is one byte, as written in splits: bit 7 says that it is computed over the differences of consecutive
// measures (rate:), the rest is a moment or firstPercentile + p for the p-th percentile, 1 <= p <= 99.
type Column uint8

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

	firstPercentile Column = 10
	rateBit         Column = 0x80
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

var momentNames = [numMoments]string{"count", "sum", "min", "max", "m2", "first", "last"}

// String names the column as documents and inspect do: "sum", "95pct", "rate:m2".
func (c Column) String() string {
	prefix := ""
	if c.IsRate() {
		prefix = "rate:"
	}
	switch b := c.Base(); {
	case b < numMoments:
		return prefix + momentNames[b]
	case c.Percentile() > 0:
		return fmt.Sprintf("%s%dpct", prefix, c.Percentile())
	}
	return fmt.Sprintf("column(%d)", uint8(c))
}

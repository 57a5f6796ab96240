package table

import (
	"math"
	"strings"
	"testing"
)

// Any name stays in its line and column, and gives a terminal no orders. Programs get it unchanged.
func TestNamesWithControls(t *testing.T) {
	all := Table{Columns: []string{"metric", "last"}}
	all.Add("a\tb", 1)
	all.Add("c\nd", 2)
	all.Add("\x1b[31mred", 3)
	all.Add(`"quoted" é`, 4)
	f := func(form, want string) {
		t.Helper()
		var out strings.Builder
		if err := all.Write(&out, form); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", form, out.String(), err)
		}
	}
	f("table", "METRIC         LAST\n\"a\\tb\"         1\n\"c\\nd\"         2\n\"\\x1b[31mred\"  3\n\"quoted\" é     4\n")
	f("csv", "metric,last\na\tb,1\n\"c\nd\",2\n\x1b[31mred,3\n\"\"\"quoted\"\" é\",4\n")
}

// A table is read by people: a fraction has three significant digits, a whole number all of them.
func TestRounded(t *testing.T) {
	f := func(value float64, want string) {
		t.Helper()
		if got := rounded(value); got != want {
			t.Errorf("%v is shown as %s, not %s", value, got, want)
		}
	}
	f(29.49983870967742, "29.5")
	f(0.5, "0.5")
	f(-1.0/3, "-0.333")
	f(999.96, "1000")
	f(1234.567, "1235")
	f(1767225600, "1767225600")
	f(-12, "-12")
	f(0.00012345, "0.000123")
	f(1.2345e-7, "1.23e-07")
	f(1.2345e20, "1.23e+20")
	f(math.NaN(), "NaN")
	f(math.Inf(-1), "-Inf")
}

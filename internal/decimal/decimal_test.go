package decimal_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

func TestPowers(t *testing.T) {
	text := "1"
	for i := range decimal.FloatPowers {
		if i < len(decimal.Powers) {
			if got := strconv.FormatUint(decimal.Powers[i], 10); got != text {
				t.Errorf("10^%d is %s", i, got)
			}
		}
		if want, _ := strconv.ParseFloat(text, 64); decimal.FloatPowers[i] != want {
			t.Errorf("10^%d is %v", i, decimal.FloatPowers[i])
		}
		text += "0"
	}
}

func TestFloat(t *testing.T) {
	f := func(mantissa uint64, exponent int, ok bool) {
		t.Helper()
		want, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", mantissa, exponent), 64)
		got, fits := decimal.Float(mantissa, exponent)
		if fits != ok || ok && got != want {
			t.Errorf("%de%d: %v, %v; want %v, %v", mantissa, exponent, got, fits, want, ok)
		}
	}
	f(0, 0, true)
	f(431, -1, true)
	f(1<<53-1, 22, true)
	f(1<<53-1, -22, true)
	f(1<<53, 0, false)
	f(1, 23, false)
	f(1, -23, false)
	f(1, 1<<20, false)
}

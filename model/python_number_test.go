package model_test

import (
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

func TestParseNumber(t *testing.T) {
	f := func(in string, want float64) {
		t.Helper()
		if got, ok := model.ParseNumber(in); !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: got %v, %t; want %v", in, got, ok, want)
		}
	}
	f("12", 12)
	f(" 12\n", 12)
	f("\u00a012\u3000", 12)
	f("1_0.2_5e1_0", 10.25e10)
	f("+1.5", 1.5)
	f("1.", 1)
	f(".5", 0.5)
	f("-0", math.Copysign(0, -1))
	f("0.1", 0.1)
	f("-21.337", -21.337)
	f("9007199254740993", 9007199254740992) // 2^53 + 1
	f("0.00000000000000000000001", 1e-23)
	f("123e-25", 123e-25)
	f("0e400", 0)
	f("123456789012345678901234567890", 123456789012345678901234567890)
	f("1e400", math.Inf(1))
	f("-1e400", math.Inf(-1))
	f("1e-400", 0)
	f("NaN", math.NaN())
	f("-nan", math.NaN())
	f("-INF", math.Inf(-1))
	f("+Infinity", math.Inf(1))

	for _, in := range []string{"", " ", ".", "-", "+-1", "1e", "e1", "1e+", "0x1p3", "0x10", "1__0", "_1", "1_",
		"1_.5", "1._5", "1e_5", "1 2", "1.2.3", "infinit", "nana", "--inf", "\x1c1", "1\x00", "١"} {
		if got, ok := model.ParseNumber(in); ok {
			t.Errorf("%q: got %v", in, got)
		}
	}
}

package csv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// checkNumber compares with strconv, which takes more: words, hexadecimal, underscores.
func checkNumber(t *testing.T, text string) {
	t.Helper()
	got, ok := parseNumber([]byte(text))
	want, err := strconv.ParseFloat(text, 64)
	wantOK := err == nil && !math.IsInf(want, 0) && !strings.ContainsAny(text, "_xXpPnN")
	if ok != wantOK || ok && math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%q gives %v, %v, strconv %v, %v", text, got, ok, want, err)
	}
}

func TestNumbers(t *testing.T) {
	for _, text := range []string{
		"", "0", "-0", "+1", ".", "-", "+.", "1.", ".5", "-.5e1", "1e", "1e+", "e5", "1.2.3", "1e5.5", "1,5", " 1",
		"1 ", "nan", "inf", "0x1p2",
		"1_000", "123456789", "0.00000000", "0.000000001", "00000000.1", "1.00000000", "123.45678901",
		"9007199254740993", "9007199254740992.5",
		"1.7976931348623157e308", "1.7976931348623159e308", "1e309", "4.9e-324", "2.4e-324", "2.2250738585072014e-308",
		"2.2250738585072011e-308",
		"1e22", "1e23", "1e-22", "1e-23", "8.5e22", "3.1415926535897932384626433", "0.1234567890123456789",
		"18446744073709551615",
		"99999999999999999999", "1e99999999999", "0e99999999999", "1e-99999999999", "-0e400", "12345678",
		"12345678.12345678", "0.12345678e-300",
		"5e-324", "1.5e-323", "9223372036854775807.5", "4503599627370496.5", "4503599627370497.5",
		"0.500000000000000166533453694",
	} {
		checkNumber(t, text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		v := math.Float64frombits(random.Uint64())
		checkNumber(t, strconv.FormatFloat(v, "gef"[random.IntN(2)], random.IntN(20)-1, 64))
		checkNumber(t, strconv.FormatFloat(random.NormFloat64()*100, 'f', random.IntN(20)-1, 64))
		checkNumber(t, fmt.Sprintf("%d.%de%d", random.IntN(1000), random.Uint64()>>random.IntN(64),
			random.IntN(680)-340))
		// Halfway between two float64, and a bit beside.
		checkNumber(t, strconv.FormatUint(1<<53+random.Uint64N(1<<53)|1, 10)+
			[]string{"", ".0", ".00000001"}[random.IntN(3)])
	}
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1", "-1.5e10", "0.1234567890123456789", "1e-320", "..", "1e+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkNumber(t, text) })
}

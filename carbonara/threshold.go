package carbonara

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

// A threshold is a decimal m * 10^e that fits into a Method or a Column beside the lowest byte: bits 8 to 12 are e plus
// thresholdBias, bits 13 to 62 are m, and bit 63 is the sign. No zero ends m, but for the largest e; 0 has the e 0.
type threshold uint64

const (
	thresholdShift = 8
	mantissaShift  = 13
	thresholdBias  = 16
	greatestPower  = 15
	mantissaLimit  = 1e15 // below 2^50
	thresholdSign  = 1 << 63
)

func (t threshold) parts() (m uint64, e int) {
	return uint64(t&^thresholdSign) >> mantissaShift, int(t>>thresholdShift)&31 - thresholdBias
}

// value returns the float64 next to the threshold: m and the power of ten are exact, and one operation rounds.
func (t threshold) value() float64 {
	m, e := t.parts()
	v := float64(m)
	if e < 0 {
		v /= decimal.FloatPowers[-e]
	} else {
		v *= decimal.FloatPowers[e]
	}
	if t&thresholdSign != 0 {
		return -v
	}
	return v
}

// isCanonical reports whether parseThreshold returns t for its value.
func (t threshold) isCanonical() bool {
	m, e := t.parts()
	if m == 0 {
		return t == thresholdBias<<thresholdShift
	}
	return m < mantissaLimit && (m%10 != 0 || e == greatestPower)
}

// String returns the number as its shortest decimal. It has no exponent: URLs read the plus of 1e+20 as a blank.
func (t threshold) String() string { return strconv.FormatFloat(t.value(), 'f', -1, 64) }

func parseThreshold(text string) (threshold, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%q is not a decimal number", text)
	}
	if v == 0 {
		return thresholdBias << thresholdShift, nil
	}
	digits, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
	whole, fraction, _ := strings.Cut(digits, ".")
	m, _ := strconv.ParseUint(whole+fraction, 10, 64)
	e, _ := strconv.Atoi(power)
	for e -= len(fraction); e > greatestPower && m < mantissaLimit/10; e-- {
		m *= 10
	}
	if m >= mantissaLimit || e < -thresholdBias || e > greatestPower {
		return 0, fmt.Errorf("%s has more than 15 significant digits or 16 decimals, or is out of range: below 1e30", text)
	}
	t := threshold(m<<mantissaShift | uint64(e+thresholdBias)<<thresholdShift)
	if v < 0 {
		t |= thresholdSign
	}
	return t, nil
}

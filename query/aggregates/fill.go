package aggregates

import (
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/model"
)

// Fill says what stands where a series lacks an aggregate that another one has. The zero Fill fills nothing: then the
// series have to overlap, see Options.NeededOverlap.
type Fill struct {
	mode  fillMode
	value float64 // fillNumber
}

type fillMode uint8

const (
	fillNone fillMode = iota
	fillNumber
	fillNull
	fillDropNA
	fillForward
	fillBackward
	fillFullForward
	fillFullBackward
)

// DropNA leaves out what is NaN or infinite: the default where neither a fill nor an overlap is asked for.
var DropNA = Fill{mode: fillDropNA}

var fillModes = map[string]fillMode{
	"null": fillNull, "dropna": fillDropNA, "ffill": fillForward, "bfill": fillBackward,
	"full_ffill": fillFullForward, "full_bfill": fillFullBackward,
}

// ParseFill reads a number, or the name of a way to fill.
func ParseFill(text string) (Fill, bool) {
	if number, ok := model.ParseNumber(text); ok {
		return Fill{fillNumber, number}, true
	}
	mode, ok := fillModes[text]
	return Fill{mode: mode}, ok
}

// Drops reports whether rows whose value is NaN or infinite are left out of the answer.
func (f Fill) Drops() bool { return f.mode >= fillDropNA }

// carries reports whether what stands in a row depends on others.
func (f Fill) carries() bool { return f.mode >= fillForward }

// missing is what stands for an aggregate that is not there, before apply.
func (f Fill) missing() float64 {
	if f.mode == fillNumber {
		return f.value
	}
	return math.NaN()
}

// apply carries aggregates over to where none is.
func (f Fill) apply(values []float64) {
	switch f.mode {
	case fillForward:
		fillFrom(slices.All(values), values)
	case fillBackward:
		fillFrom(slices.Backward(values), values)
	case fillFullForward:
		fillFrom(slices.All(values), values)
		fillFrom(slices.Backward(values), values)
	case fillFullBackward:
		fillFrom(slices.Backward(values), values)
		fillFrom(slices.All(values), values)
	}
}

// fillFrom replaces each NaN by the value before it, in the order of rows.
func fillFrom(rows func(yield func(int, float64) bool), values []float64) {
	last := math.NaN()
	for i, v := range rows {
		if v == v {
			last = v
		} else {
			values[i] = last
		}
	}
}

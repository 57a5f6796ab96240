package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// FuzzValuePredicate refuses any body or answers for every value. A predicate holds only within its value filter, so
// that a search reads less.
func FuzzValuePredicate(f *testing.F) {
	f.Add([]byte(`{"and": [{">": 4}, {"or": [{"=": [{"%": 4}, 1]}, {"≠": [1, {"^": 2}]}]}]}`))
	f.Add([]byte(`{"/": [{"-": 0}, 0]}`))
	f.Add([]byte(`{"<": [{"*": [{"+": 1e308}, {"-": [3, {"/": [1, {"-": -2}]}]}]}, 1e300]}`))
	f.Add([]byte(`{"or": [{"<=": -2}, {"and": [{">": 2}, {"!=": [{"*": 0}, 0]}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) != nil {
			return
		}
		predicate, err := ParsePredicate(value)
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		checkValueFilter(t, predicate)
	})
}

// awkward are values at which operations turn, and others.
var awkward = []float64{math.NaN(), math.Inf(-1), -math.MaxFloat64, -1e300, -3, -2, -1.5, -1,
	-math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 1e-300, 0.1, 0.5, 1, 1.5, 2, 3,
	4, 1e15, 1e300, math.MaxFloat64, math.Inf(1)}

// checkValueFilter compares a predicate's answers for zones with its answers for the values in them.
func checkValueFilter(t *testing.T, p Predicate) {
	t.Helper()
	valueFilter := p.ValueFilter(carbonara.Mean)
	for _, v := range awkward {
		if p.Holds(v) && valueFilter != nil && !valueFilter.Zone.Meets(carbonara.Zone{Low: v, High: v}) {
			t.Fatalf("%v holds, and is not in %v", v, valueFilter.Zone)
		}
	}
	for i, low := range awkward[1:] {
		for _, high := range awkward[1+i:] {
			s := p.over(interval{low, high, false})
			for _, v := range awkward[1:] {
				if v < low || v > high {
					continue
				}
				if got := p.of(v); got != got && !s.nan || got == got && !s.contains(got) {
					t.Fatalf("%v answers %v, over %v to %v %+v", v, got, low, high, s)
				}
			}
		}
	}
}

// The value filters of predicates.
func TestPredicateValueFilter(t *testing.T) {
	f := func(body string, low, high float64) {
		t.Helper()
		predicate := parsePredicate(t, body)
		checkValueFilter(t, predicate)
		zone := carbonara.Zone{Low: math.Inf(-1), High: math.Inf(1)}
		if valueFilter := predicate.ValueFilter(carbonara.Max); valueFilter != nil {
			zone = valueFilter.Zone
		}
		if zone.Low != low || zone.High != high {
			t.Errorf("%s is after %v to %v, want %v to %v", body, zone.Low, zone.High, low, high)
		}
	}
	inf, above := math.Inf(1), func(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }
	f(`{">": 4}`, above(4), inf)
	f(`{"≥": 4}`, 4, inf)
	f(`{"<": 0}`, -inf, -math.SmallestNonzeroFloat64)
	f(`{"=": 4}`, 4, 4)
	f(`{"≠": 4}`, -inf, inf)
	f(`{"and": [{">=": -4}, {"<": [{"*": 2}, 10]}, {"!=": 3}]}`, -4, -above(-5))
	f(`{"or": [{"=": 7}, {"and": [{">=": 1}, {"<=": 2}]}]}`, 1, 7)
	f(`{"or": []}`, inf, -inf)
	f(`{"and": []}`, -inf, inf)
	f(`{">": [{"-": 273.15}, 30]}`, above(303.15), inf)
	f(`{"=": [{"%": 4}, 1]}`, -inf, inf)
	f(`{"<": [1, {"/": 4}]}`, above(4), inf)
	f(`{"/": 0}`, -inf, inf) // NaN holds
	f(`{"*": 0}`, -inf, inf) // and is what infinity is turned into
	f(`{"-": 5}`, -inf, inf) // what is not 5
	f(`{"<": [{"/": 0}, 1]}`, -inf, inf)
	f(`{"<": [2, 1]}`, inf, -inf)
	f(strings.Repeat(`{"or": [{"and": [`, 45)+`{">": 4}`+strings.Repeat(`]}]}`, 45), above(4), inf)
	f(`{">": [`+strings.Repeat(`{"+": [0, `, 45)+`{"*": 1}`+strings.Repeat(`]}`, 45)+`, 100]}`, above(100), inf)
}

// parsePredicate reads a body, as a request's is.
func parsePredicate(t *testing.T, body string) Predicate {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	var value any
	fatal.If(t, decoder.Decode(&value))
	predicate, err := ParsePredicate(value)
	fatal.If(t, err)
	return predicate
}

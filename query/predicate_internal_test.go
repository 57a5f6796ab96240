package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

// FuzzValuePredicate refuses any body or answers for every value.
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
		for _, v := range []float64{math.NaN(), math.Inf(-1), -2, math.Copysign(0, -1), 0, 0.1, math.MaxFloat64} {
			if held := predicate.Holds(v); held != predicate.Holds(v) {
				t.Errorf("%v: %t, and not again", v, held)
			}
		}
	})
}

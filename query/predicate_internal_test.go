package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

// FuzzValuePredicate refuses any body, or it holds where "and" and "or" of it alone hold.
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
		for _, name := range []string{"and", "or"} {
			alone, err := ParsePredicate(map[string]any{name: []any{value}})
			if err != nil {
				continue // nested too deep
			}
			for _, v := range []float64{math.NaN(), math.Inf(-1), -2, math.Copysign(0, -1), 0, 0.1, math.MaxFloat64} {
				if alone.Holds(v) != predicate.Holds(v) || alone.Terms() != predicate.Terms() {
					t.Errorf("%v: %s of one predicate is not that predicate", v, name)
				}
			}
		}
	})
}

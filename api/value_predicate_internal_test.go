package api

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
)

// FuzzValuePredicate: whatever the body, it is refused or answers for every value.
func FuzzValuePredicate(f *testing.F) {
	f.Add([]byte(`{"and": [{">": 4}, {"or": [{"=": [{"%": 4}, 1]}, {"≠": [1, {"^": 2}]}]}]}`))
	f.Add([]byte(`{"/": [{"-": 0}, 0]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) != nil {
			return
		}
		predicate, err := input{value: value}.valuePredicate()
		if err != nil {
			if asError(err).Status != 400 {
				t.Fatal(err)
			}
			return
		}
		for _, v := range []float64{0, -1.5, math.NaN(), math.Inf(1)} {
			predicate.holds(v)
		}
	})
}

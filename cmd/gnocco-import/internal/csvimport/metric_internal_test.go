package csvimport

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

func TestAppendMeasure(t *testing.T) {
	f := func(at carbonara.Timestamp, text, want string) {
		t.Helper()
		value, ok := model.ParseNumber(text)
		if got := string(appendMeasure(nil, at, value)); !ok || got != want+"," {
			t.Errorf("%d %q: got %s, want %s", at, text, got, want)
		}
	}
	f(0, "0", `{"timestamp":0,"value":0}`)
	f(1392388200e9, "0.132", `{"timestamp":1392388200,"value":0.132}`)
	f(1_500_000_000, "-1.5e-3", `{"timestamp":1.5,"value":-0.0015}`)
	f(1_000_000_001, "1E5", `{"timestamp":1.000000001,"value":100000}`)
	f(carbonara.MaxTimestamp, "1", `{"timestamp":9223372036.854775807,"value":1}`)
	// JSON has no such numbers.
	f(0, "+1", `{"timestamp":0,"value":1}`)
	f(0, ".5", `{"timestamp":0,"value":0.5}`)
	f(0, "5.", `{"timestamp":0,"value":5}`)
	f(0, "007", `{"timestamp":0,"value":7}`)
	f(0, "nan", `{"timestamp":0,"value":"NaN"}`)
	f(0, "1e999", `{"timestamp":0,"value":"+Inf"}`)
	f(0, "-inf", `{"timestamp":0,"value":"-Inf"}`)
}

func FuzzAppendMeasure(f *testing.F) {
	f.Add(int64(1392388200e9), "0.132")
	f.Add(int64(1), "+1e-400")
	f.Fuzz(func(t *testing.T, at int64, text string) {
		value, ok := model.ParseNumber(text)
		if !ok || at < 0 {
			return
		}
		encoded := appendMeasure(nil, carbonara.Timestamp(at), value)
		var measure struct {
			Timestamp json.Number
			Value     any
		}
		if err := json.Unmarshal(encoded[:len(encoded)-1], &measure); err != nil {
			t.Fatalf("%q: %s: %v", text, encoded, err)
		}
		if got, err := model.ParseTimestamp(measure.Timestamp.String(), 0); err != nil || int64(got) != at {
			t.Fatalf("timestamp %d came back as %d, %v", at, got, err)
		}
		switch got := measure.Value.(type) {
		case float64:
			if math.Float64bits(got) != math.Float64bits(value) {
				t.Fatalf("%q is %v, came back as %v", text, value, got)
			}
		case string:
			if back, ok := model.ParseNumber(got); !ok || back != value && !(math.IsNaN(back) && math.IsNaN(value)) {
				t.Fatalf("%q is %v, came back as %q", text, value, got)
			}
		default:
			t.Fatalf("%q: value %v", text, got)
		}
	})
}

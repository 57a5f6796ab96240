package measures

import (
	"math"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// Where the scanner does not give up, the document parser gives the same bits.
func FuzzFastAgainstGeneral(f *testing.F) {
	const id = "11111111-2222-3333-4444-5555aaaabbbb"
	f.Add(
		[]byte(`{"` + id +
			`": [{"timestamp": "2014-10-06T14:33:57", "value": 43.1}, {"timestamp": "2014-10-06T14:34:12.5+01:00", "value": 12}]}`))
	f.Add(
		[]byte(`{"` + id +
			`":[{"timestamp":1412606037.25,"value":-1e-3}],"99999999-2222-3333-4444-555555555555":[{"value":1,"timestamp":"2014-10-06 14:33:57Z"}]}`))
	f.Add([]byte(`{"` + id + `":[],"` + id + `":[]}`))
	f.Add(
		[]byte(
			`[{"timestamp":"2014-10-06T14:33:57","value":9007199254740993},{"timestamp":"2014-10-06T14:33:57","value":-0},{"timestamp":"2014-10-06T14:33:57","value":-0.0}]`))
	f.Add(
		[]byte(
			` [ { "value" : 1E+400 , "timestamp" : 9223372036.854775807 } , { "timestamp":001.,"value":00.10e-22 } ] `))
	f.Add([]byte(`[{"timestamp":1,"value":"NaN"},{"timestamp":"-1 hour","value":NaN,"x":[true,null,"\u0031"]}]`))
	f.Add([]byte(`[{"timestamp":"2262-04-11T23:47:16.854775807","value":123456789012345678901234567890}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var d Decoder
		var fast, general model.Measures
		metric := uuid.UUID{1}
		const now = 1_800_000_000_000_000_000
		original := slices.Clone(body)
		if scanMetric(body, metric, &fast) {
			if err := d.decodeMetric(body, metric, now, &general); err != nil {
				t.Fatalf("%q: the scanner accepts it, but %v", body, err)
			}
			same(t, body, &fast, &general)
		}
		fast.Reset()
		general.Reset()
		if scanBatch(body, &d.ids, &fast) {
			if err := d.decodeBatch(body, now, &general); err != nil {
				t.Fatalf("%q: the scanner accepts it, but %v", body, err)
			}
			same(t, body, &fast, &general)
		}
		var whole model.Measures
		if err := d.DecodeBatch(body, now, &whole); err == nil {
			seen := map[uuid.UUID]bool{}
			for _, id := range whole.Metrics {
				if seen[id] {
					t.Fatalf("%q: %s stands twice", body, id)
				}
				seen[id] = true
			}
		} else if whole.Len() != 0 || len(whole.Metrics) != 0 {
			t.Fatalf("%q: refused, but left %+v", body, whole)
		}
		if !slices.Equal(body, original) {
			t.Fatalf("%q: the body was changed", original)
		}
	})
}

func same(t *testing.T, body []byte, a, b *model.Measures) {
	t.Helper()
	bits := func(values []float64) (bits []uint64) {
		for _, v := range values {
			bits = append(bits, math.Float64bits(v))
		}
		return bits
	}
	if !slices.Equal(a.Metrics, b.Metrics) || !slices.Equal(a.Offsets, b.Offsets) ||
		!slices.Equal(a.Timestamps, b.Timestamps) ||
		!slices.Equal(bits(a.Values), bits(b.Values)) {
		t.Fatalf("%q:\nscanner  %+v\ndocument %+v", body, a, b)
	}
	for _, ts := range a.Timestamps {
		if !ts.Valid() {
			t.Fatalf("%q: timestamp %d", body, ts)
		}
	}
}

// hex8 accepts each byte exactly if it is a hexadecimal digit, in every place.
func TestHex8(t *testing.T) {
	const zeros = 0x3030303030303030
	for place := range 8 {
		for c := range 256 {
			x := uint64(zeros)&^(0xff<<(8*place)) | uint64(c)<<(8*place)
			got, bad := hex8(x)
			digit, want := byte(c), uint32(0)
			isHex := true
			switch {
			case digit >= '0' && digit <= '9':
				want = uint32(digit - '0')
			case digit|0x20 >= 'a' && digit|0x20 <= 'f':
				want = uint32(digit|0x20-'a') + 10
			default:
				isHex = false
			}
			want <<= 8*(place/2) + 4*(1-place%2)
			if isHex != (bad == 0) || isHex && got != want {
				t.Fatalf("%q at %d: got %08x, bad %x; want %08x", rune(c), place, got, bad, want)
			}
		}
	}
}

// The usual shapes never reach the document parser.
func TestScannerTakesUsualShapes(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		var m model.Measures
		if got := scanMetric([]byte(body), uuid.UUID{}, &m); got != want {
			t.Errorf("%s: scanned %t, want %t", body, got, want)
		}
	}
	f(`[]`, true)
	f(`[{"timestamp":"2014-10-06T14:33:57","value":43.1}]`, true)
	f(
		`[{"timestamp": "2014-10-06T14:33:57.123456+00:00", "value": 1e-7}, {"value": -3, "timestamp": "2014-10-06 14:33:57Z"}]`, true)
	f(
		"[ { \"timestamp\" : 1412606037 , \"value\" : 12345678901234567890 } ,\n {\"timestamp\":1412606037.25,\"value\":0.3} ]", true)
	f(`[{"timestamp":"2014-10-06T14:33:57","value":"1"}]`, false)
	f(`[{"timestamp":"2014-10-06T14:33:57","value":1,"value":1}]`, false)
	f(`[{"timestamp":"2014-10-06","value":1}]`, false)
	f(`[{"timestamp":"2014-10-06T14:33:57","value":1},{"timestamp":1,"value":1}]`, false)
}

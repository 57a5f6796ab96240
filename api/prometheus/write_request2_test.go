package prometheus_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/carbonara"
	pushed "github.com/gnocco-db/gnocco/ingest/series"
)

// request2 is a message with symbols "", "__name__", "up", "job", "j" and one series.
func request2(fields ...[]byte) []byte {
	var m, series []byte
	for _, f := range fields {
		series = append(series, f...)
	}
	m = protowire.AppendBytes(protowire.AppendTag(m, 5, protowire.BytesType), series) // before the symbols, as it may
	for _, symbol := range []string{"", "__name__", "up", "job", "j"} {
		m = protowire.AppendString(protowire.AppendTag(m, 4, protowire.BytesType), symbol)
	}
	return m
}

func packed(refs ...uint64) []byte {
	var content []byte
	for _, ref := range refs {
		content = protowire.AppendVarint(content, ref)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), content)
}

func sample2(milliseconds int64) []byte {
	content := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 0x3ff0000000000000)
	content = protowire.AppendVarint(protowire.AppendTag(content, 2, protowire.VarintType), uint64(milliseconds))
	return protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), content)
}

// version2 is an empty request of version 2.
var version2 = prometheus.WriteRequest{Version2: true, Labelled: true, Latest: carbonara.MaxTimestamp}

func TestDecodeVersion2(t *testing.T) {
	f := func(want string, fields ...[]byte) {
		t.Helper()
		r := version2
		err := r.DecodePlain(request2(fields...))
		got := fmt.Sprint(r.Len(), " ", r.Duplicates.First, r.Times.First)
		if err != nil {
			got = errors.Unwrap(fmt.Errorf("%w", err)).Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", fields, got, want)
		}
	}
	f("1 ", sample2(5), packed(1, 2, 3, 4))
	f("1 ", packed(1, 2, 3, 4), sample2(5), sample2(6))
	f(`0 up: label "__name__" stands there twice`, packed(1, 2, 1, 2), sample2(5))
	f("0 up", packed(1, 2), sample2(-1))
	f("0 ", packed(1, 2))
	f("0 up: a label lacks its value", packed(1, 2, 3), sample2(5))
	f("0 up: a reference lies beyond the symbols", packed(1, 2, 5, 3), sample2(5))
	f("0 without a name: a reference lies beyond the symbols", packed(1, 5), sample2(5))
}

// FuzzDecodeVersion2 holds the decoder to Prometheus' own: both read the same measures, but those of series of which a
// label refers to no symbol, lacks its value or its name, or stands twice.
func FuzzDecodeVersion2(f *testing.F) {
	f.Add(request2(packed(1, 2, 3, 4), sample2(5)))
	f.Add(request2(packed(1, 2), sample2(-1), packed(3, 4), sample2(6), sample2(7)))
	r := version2
	f.Fuzz(func(t *testing.T, message []byte) {
		err := r.DecodePlain(message)
		var judge writev2.Request
		if judge.Unmarshal(message) != nil {
			return
		}
		var want []string
		for _, one := range judge.Timeseries {
			var labels pushed.Labels
			named := map[string]bool{}
			odd := false
			for i := 0; i < len(one.LabelsRefs); i += 2 {
				refs := one.LabelsRefs[i:min(i+2, len(one.LabelsRefs))]
				if len(refs) < 2 || max(refs[0], refs[1]) >= uint32(len(judge.Symbols)) {
					odd = true
					continue
				}
				name := judge.Symbols[refs[0]]
				odd = odd || named[name] || name == "" && judge.Symbols[refs[1]] != ""
				named[name] = name != ""
				labels.Set(name, judge.Symbols[refs[1]])
			}
			if len(one.Histograms) > 0 { // of other tests
				return
			}
			for _, s := range one.Samples {
				bits := math.Float64bits(s.Value)
				if !odd && s.Timestamp >= 0 && s.Timestamp <= math.MaxInt64/1_000_000 &&
					bits != 0x7ff0000000000002 {
					want = append(want, fmt.Sprintf("%q %d %x", labels.Append(nil), s.Timestamp*1_000_000, bits))
				}
			}
		}
		if err != nil { // it skips damaged fields that it does not know
			return
		}
		timestamps, values := r.Columns()
		var got []string
		for i := range r.Len() {
			from, to := r.Span(i)
			for at := from; at < to; at++ {
				got = append(got, fmt.Sprintf("%q %d %x", r.AppendKey(nil, i), timestamps[at], math.Float64bits(values[at])))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%x:\n%s\nwant\n%s", message, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

package prometheus_test

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/carbonara"
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

func TestDecodeVersion2(t *testing.T) {
	f := func(want string, fields ...[]byte) {
		t.Helper()
		var r prometheus.WriteRequest2
		err := r.Decode(request2(fields...), carbonara.MaxTimestamp)
		got := fmt.Sprint(r.Batch.Len(), " ", r.Duplicate, r.WrongTime)
		if err != nil {
			got = errors.Unwrap(fmt.Errorf("%w", err)).Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", fields, got, want)
		}
	}
	f("1 ", sample2(5), packed(1, 2, 3, 4))
	f("1 ", packed(1, 2, 3, 4), sample2(5), sample2(6))
	f("0 up", packed(1, 2, 1, 2), sample2(5))
	f("0 up", packed(1, 2), sample2(-1))
	f("0 ", packed(1, 2))

	var r prometheus.WriteRequest2
	content := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 7)
	started := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), content)
	if err := r.Decode(request2(packed(1, 2), started), carbonara.MaxTimestamp); err != nil || r.StartTimestamps != 1 {
		t.Error(r.StartTimestamps, err)
	}
	f("prometheus: a label lacks its value", packed(1), sample2(5))
	f("prometheus: a reference lies beyond the symbols", packed(1, 5), sample2(5))
}

// Any message is read or refused, and each row that has a name is a valid series.
func FuzzDecodeVersion2(f *testing.F) {
	f.Add(request2(packed(1, 2, 3, 4), sample2(5)))
	var r prometheus.WriteRequest2
	f.Fuzz(func(t *testing.T, message []byte) {
		if r.Decode(message, carbonara.MaxTimestamp) != nil {
			return
		}
		timestamps, values := r.Batch.Columns()
		for i := range r.Batch.Len() {
			name, err := r.Batch.Name(i)
			from, to := r.Batch.Span(i)
			if err == nil && !name.Labels.Valid() || from >= to || to > len(values) || !timestamps[from].Valid() {
				t.Fatalf("%q: row %d is %v, %v", message, i, name, err)
			}
		}
	})
}

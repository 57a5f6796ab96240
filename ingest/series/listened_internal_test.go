package series

import (
	"bytes"
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A batch comes from one process to another as it was, its heads as the labels that they mean. Damaged bodies are
// refused, or mean batches.
func FuzzListened(f *testing.F) {
	sent := Batch{Read: func(head []byte, labels *Labels) error {
		labels.Set(model.LabelName, string(head[1:]))
		labels.Set("host", string(head[:1]))
		return nil
	}}
	var labels Labels
	labels.Set("host", "a")
	labels.Set(model.LabelName, "m")
	nan := math.Float64frombits(0x7ff8000000000005)
	for _, err := range []error{sent.Add(labels, -1, 2.5), sent.Measure(1, nan), sent.AddHead([]byte("am"), 3, math.Copysign(0, -1))} {
		fatal.If(f, err)
	}
	body := sent.Encode()
	var got Batch
	if err := got.Decode(body); err != nil || got.Len() != 2 || !bytes.Equal(got.LabelsOf(0), got.LabelsOf(1)) ||
		!bytes.Equal(got.LabelsOf(0), sent.LabelsOf(0)) {
		f.Fatalf("%v %+v", err, got)
	}
	for i, at := range []carbonara.Timestamp{-1, 1, 3} {
		if got.timestamps[i] != at || math.Float64bits(got.values[i]) != math.Float64bits(sent.values[i]) {
			f.Errorf("measure %d: %d, %v", i, got.timestamps[i], got.values[i])
		}
	}
	f.Add(body)
	f.Add(body[:len(body)-1])
	f.Fuzz(func(t *testing.T, body []byte) {
		var b, again Batch
		if b.Decode(body) != nil {
			return
		}
		if err := again.Decode(b.Encode()); err != nil || again.Len() != b.Len() {
			t.Fatalf("%q: %v", body, err)
		}
		for i := range b.Len() {
			if from, to := b.Span(i); from >= to || !bytes.Equal(b.LabelsOf(i), again.LabelsOf(i)) {
				t.Fatalf("%q: row %d", body, i)
			}
			_, _ = b.Name(i)
		}
	})
}

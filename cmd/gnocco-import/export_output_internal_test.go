package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
)

// A metric that is larger than memory may be is written whole, and only once it is whole.
func TestLargeMetricsOfAnExportWait(t *testing.T) {
	var got, want bytes.Buffer
	out := &exportOutput{out: &got}
	random := rand.New(rand.NewPCG(1, 2))
	for _, bytes := range []int{100, 2*exportMemory + 100, 5, exportMemory + exportMemory/2, 0, 70} {
		before := got.Len()
		for left := bytes; left > 0; {
			part := make([]byte, min(left, 1+random.IntN(1<<20)))
			for i := range part {
				part[i] = byte(random.Uint32())
			}
			want.Write(part)
			if _, err := out.Write(part); err != nil {
				t.Fatal(err)
			}
			if left -= len(part); out.metric.Cap() > 3*exportMemory || got.Len() != before {
				t.Fatalf("%d bytes in memory, %d written", out.metric.Cap(), got.Len()-before)
			}
		}
		if err := out.commit(&series.Series{ID: "next"}); err != nil {
			t.Fatal(err)
		}
		if out.progress.Bytes != int64(want.Len()) || got.Len() != want.Len() {
			t.Errorf("%d bytes are written, %d counted, of %d", got.Len(), out.progress.Bytes, want.Len())
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("other bytes are written")
	}
}

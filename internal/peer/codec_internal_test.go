package peer

import (
	"bytes"
	"testing"
	"time"

	"gnocco/carbonara"
	"gnocco/storage/incoming"
)

// Answers that are cut off or broken are errors, and cost no more memory than they have bytes.
func FuzzFrames(f *testing.F) {
	var good bytes.Buffer
	_ = writeRecord(&good, 3, incoming.Record{Sequence: 7, Block: []byte("block")})
	_ = writeRecord(&good, 4, incoming.Record{Sequence: 8})
	_ = writeEnd(&good)
	_ = writeLast(&good, 3, 7)
	_ = writeEnd(&good)
	f.Add(good.Bytes())
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x3f})
	f.Fuzz(func(t *testing.T, src []byte) {
		var again bytes.Buffer
		ended := false
		err := readFrames(bytes.NewReader(src),
			func(sack int, r incoming.Record) { _ = writeRecord(&again, sack, r) },
			func(sack int, last uint64) {
				if !ended {
					_ = writeEnd(&again)
					ended = true
				}
				_ = writeLast(&again, sack, last)
			})
		if err != nil {
			return
		}
		if !ended {
			_ = writeEnd(&again)
		}
		_ = writeEnd(&again)
		if !bytes.HasPrefix(src, again.Bytes()) {
			t.Errorf("% x became % x", src, again.Bytes())
		}
	})
}

func FuzzGroups(f *testing.F) {
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}
	f.Add(appendGroups(nil, &carbonara.Groups{Starts: []carbonara.Timestamp{1, 2}, Columns: columns, Values: [][]float64{{1, 2}, {3, 4}}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		var g carbonara.Groups
		g.Reset(time.Minute, columns)
		if readGroups(bytes.NewReader(src), &g) != nil {
			return
		}
		if again := appendGroups(nil, &g); !bytes.HasPrefix(src, again) {
			t.Errorf("% x became % x", src, again)
		}
	})
}

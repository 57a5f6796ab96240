package archive

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/gnocco-db/gnocco/carbonara"
)

// FuzzPartialGroups decodes any bytes with a hash that fits: decoded groups are encoded to the same bytes, and other
// bytes are an error.
func FuzzPartialGroups(f *testing.F) {
	at := carbonara.Timestamp(1_700_001_000e9)
	row := carbonara.Groups{Granularity: time.Hour, Starts: []carbonara.Timestamp{at.Floor(time.Hour)},
		Columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum},
		Values:  [][]float64{{7}, {carbonara.Absent()}}}
	for _, partial := range []*PartialGroups{{}, {Before: at, Rows: []carbonara.Groups{row}},
		{Since: []Since{{time.Minute, at}}}, {Before: at, Rows: []carbonara.Groups{row},
			Since: []Since{{time.Hour, at}, {time.Minute, 0}}}} {
		encoded := appendPartialGroups(nil, partial)
		f.Add(encoded[:len(encoded)-8])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		src := binary.BigEndian.AppendUint64(bytes.Clone(body), xxhash.Sum64(body))
		partial, err := decodePartialGroups(src)
		if err != nil {
			return
		}
		again, err := decodePartialGroups(appendPartialGroups(nil, partial))
		if err != nil || again.Before != partial.Before || len(again.Rows) != len(partial.Rows) ||
			len(again.Since) != len(partial.Since) {
			t.Fatalf("%+v, %+v, %v", partial, again, err)
		}
	})
}

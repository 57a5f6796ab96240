package archive

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"gnocco/carbonara"
)

// FuzzFooting: what decodes is written again as it was; anything else is an error. The hash is made to fit.
func FuzzFooting(f *testing.F) {
	at := carbonara.Timestamp(1_700_001_000e9)
	row := carbonara.Groups{Granularity: time.Hour, Starts: []carbonara.Timestamp{at.Floor(time.Hour)},
		Columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}, Values: [][]float64{{7}, {carbonara.Absent()}}}
	for _, footing := range []*Footing{{}, {At: at, Rows: []carbonara.Groups{row}}, {Since: []Since{{time.Minute, at}}},
		{At: at, Rows: []carbonara.Groups{row}, Since: []Since{{time.Hour, at}, {time.Minute, 0}}}} {
		encoded := appendFooting(nil, footing)
		f.Add(encoded[:len(encoded)-8])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		src := binary.BigEndian.AppendUint64(bytes.Clone(body), xxhash.Sum64(body))
		footing, err := decodeFooting(src)
		if err != nil {
			return
		}
		again, err := decodeFooting(appendFooting(nil, footing))
		if err != nil || again.At != footing.At || len(again.Rows) != len(footing.Rows) || len(again.Since) != len(footing.Since) {
			t.Fatalf("%+v, %+v, %v", footing, again, err)
		}
	})
}

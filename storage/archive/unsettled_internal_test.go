package archive

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// FuzzUnsettled decodes any bytes with a hash that fits: decoded measures are encoded to the same bytes, and other
// bytes are an error.
func FuzzUnsettled(f *testing.F) {
	at := carbonara.Timestamp(1_700_001_000e9)
	run := Run{Source: "a", Clock: uuid.UUID{7}, At: -5, Timestamps: []carbonara.Timestamp{at, at - 1, 0}}
	for _, u := range []*Unsettled{{}, {Newest: at, Any: true}, {Runs: []Run{run}},
		{Newest: 1, Any: true, Runs: []Run{run, run}}} {
		encoded := appendUnsettled(nil, u)
		f.Add(encoded[:len(encoded)-8])
		if again, err := decodeUnsettled(encoded); err != nil || !reflect.DeepEqual(again, u) {
			f.Fatalf("%+v, %+v, %v", u, again, err)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		src := binary.BigEndian.AppendUint64(bytes.Clone(body), xxhash.Sum64(body))
		u, err := decodeUnsettled(src)
		if err != nil {
			return
		}
		again, err := decodeUnsettled(appendUnsettled(nil, u))
		if err != nil || !reflect.DeepEqual(again, u) {
			t.Fatalf("%+v, %+v, %v", u, again, err)
		}
	})
}

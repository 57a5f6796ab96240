package prometheus

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/exemplars"
)

// addExemplar adds a message Exemplar of version 1 or 2, whose labels are own, model.Labels as those of its series.
func addExemplar(to *series.Exemplars, message, labels, own []byte, latest carbonara.Timestamp,
	acquire func(int) error) error {
	e := exemplars.Exemplar{Series: labels, Labels: own}
	if err := eachNumber(message, func(number protowire.Number, bits uint64) {
		switch number {
		case fieldExemplarValue:
			e.Bits = bits
		case fieldExemplarTime:
			e.Millis = int64(bits)
		}
	}); err != nil {
		return err
	}
	return to.Add(&e, latest, acquire)
}

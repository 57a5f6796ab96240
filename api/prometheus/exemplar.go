package prometheus

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/exemplars"
)

// bytesPerExemplar is the memory of an exemplar until it is kept, without its texts.
const bytesPerExemplar = 300

// receivedExemplars are those of a request.
type receivedExemplars struct {
	List  []exemplars.Exemplar
	Wrong int // left out: their labels are too long, or their times are none
}

// add adds a message Exemplar of version 1 or 2, whose labels are own, model.Labels as those of its series.
func (r *receivedExemplars) add(message, series, own []byte, latest carbonara.Timestamp,
	acquire func(int) error) error {
	e := exemplars.Exemplar{Series: series, Labels: own}
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
	if !e.Valid() || !isTime(e.Millis, latest) {
		r.Wrong++
		return nil
	}
	r.List = append(r.List, e)
	if acquire == nil {
		return nil
	}
	return acquire(bytesPerExemplar + len(series) + len(own))
}

package series

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/model"
)

// bytesPerExemplar is the memory of an exemplar until it is kept, without its texts.
const bytesPerExemplar = 300

// Exemplars are those of a request.
type Exemplars struct {
	List  []exemplars.Exemplar
	Wrong int // left out: their labels are too long, or their times are none
}

// Add adds an exemplar from before latest.
func (r *Exemplars) Add(e *exemplars.Exemplar, latest carbonara.Timestamp, acquire func(int) error) error {
	if !e.Valid() || e.Millis < 0 || e.Millis > int64(latest)/int64(time.Millisecond) {
		r.Wrong++
		return nil
	}
	r.List = append(r.List, *e)
	if acquire == nil {
		return nil
	}
	return acquire(bytesPerExemplar + len(e.Series) + len(e.Labels))
}

// Latest returns the last timestamp that a measure may have which may be so far ahead of the clock.
func (w *Writer) Latest(most time.Duration) carbonara.Timestamp {
	if w.Ingester.MaxFuture != 0 {
		most = min(most, w.Ingester.MaxFuture)
	}
	return carbonara.FromTime(w.Ingester.Now()).Add(most)
}

// KeepExemplars keeps exemplars of a creator's series, and returns how many.
func (w *Writer) KeepExemplars(creator, protocol string, received *Exemplars) int {
	list := received.List
	for i := range list {
		list[i].Creator = creator
		if len(w.Replicas) > 0 {
			rest, _ := w.replicaOf(model.Labels(list[i].Series))
			list[i].Series = []byte(rest)
		}
	}
	w.Refuse(protocol, "exemplar", received.Wrong, "an exemplar's labels are longer than 128 characters, or its time is none")
	w.Exemplars.Add(list)
	return len(list)
}

package measures

import (
	"bytes"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/idset"
	"github.com/gnocco-db/gnocco/model"
)

// A Decoder decodes one body at a time and keeps the memory that this takes. The zero Decoder is ready. It does not
// hold on to bodies or results.
type Decoder struct {
	// Acquire acquires the memory that decoding needs beyond the measures themselves, before it is used. Its error ends
	// the decoding. nil: no bound.
	Acquire func(bytes int) error

	ids idset.Set
	doc document
}

// leastMeasureBytes is the least that a measure takes in a body, {"timestamp":0,"value":0} and a comma.
const leastMeasureBytes = 25

// MostMeasures returns how many measures a body has at most.
func MostMeasures(body []byte) int {
	return min(bytes.Count(body, []byte{'{'}), len(body)/leastMeasureBytes)
}

// grow makes room for all measures of a body, so that their memory is not copied from size to size.
func grow(dst *model.Measures, body []byte) {
	n := MostMeasures(body)
	dst.Timestamps, dst.Values = slices.Grow(dst.Timestamps, n), slices.Grow(dst.Values, n)
}

// DecodeMetric decodes the body of POST /v1/metric/<id>/measures, a list of measures, into dst, which it resets. now is
// what relative timestamps are relative to. The metric is in dst even if the list is empty. An error is a *DecodeError,
// and dst is empty then.
func (d *Decoder) DecodeMetric(body []byte, id uuid.UUID, now carbonara.Timestamp, dst *model.Measures) error {
	dst.Reset()
	grow(dst, body)
	if scanMetric(body, id, dst) {
		return nil
	}
	dst.Reset()
	if err := d.decodeMetric(body, id, now, dst); err != nil {
		dst.Reset()
		return err
	}
	return nil
}

// DecodeBatch decodes the body of POST /v1/batch/metrics/measures, lists of measures by metric, into dst, which it
// resets. Metrics with an empty list are also in dst. A metric that stands there twice is an error. Each error is a
// *DecodeError, and dst is empty then.
func (d *Decoder) DecodeBatch(body []byte, now carbonara.Timestamp, dst *model.Measures) error {
	dst.Reset()
	grow(dst, body)
	if scanBatch(body, &d.ids, dst) {
		return nil
	}
	dst.Reset()
	if err := d.decodeBatch(body, now, dst); err != nil {
		dst.Reset()
		return err
	}
	return nil
}

// decodeMetric is DecodeMetric by way of a document.
func (d *Decoder) decodeMetric(body []byte, id uuid.UUID, now carbonara.Timestamp, dst *model.Measures) error {
	defer d.doc.forget()
	if err := d.doc.parse(body, now, dst, d.Acquire); err != nil {
		return err
	}
	l := d.doc.listOf(0)
	if l.fault != nil {
		return l.fault
	}
	dst.Metrics = append(dst.Metrics, id)
	place([]list{l}, dst)
	return nil
}

// decodeBatch is DecodeBatch by way of a document.
func (d *Decoder) decodeBatch(body []byte, now carbonara.Timestamp, dst *model.Measures) error {
	defer d.doc.forget()
	if err := d.doc.parse(body, now, dst, d.Acquire); err != nil {
		return err
	}
	if d.doc.nodes[0].kind != objectNode {
		return &DecodeError{Reason: "expected a dictionary"}
	}
	members := d.doc.members(0)
	d.ids.Reset(len(members))
	var lists []list
	for _, m := range members {
		id, err := model.ParseUUID(m.key)
		if err != nil {
			return extraKey(m.key)
		}
		dst.Metrics = append(dst.Metrics, id)
		if d.ids.Add(dst.Metrics) != len(dst.Metrics)-1 { // in another form
			return twiceFault(m.key)
		}
		l := d.doc.listOf(m.value)
		if l.fault != nil {
			return l.fault.inDictionary(m.key)
		}
		lists = append(lists, l)
	}
	place(lists, dst)
	return d.doc.twice
}

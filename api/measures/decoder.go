package measures

import (
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// A Decoder decodes one body at a time and keeps the memory that this takes. The zero Decoder is ready. It does not
// hold on to bodies or results.
type Decoder struct {
	ids idSet
	doc document
}

// DecodeMetric decodes the body of POST /v1/metric/<id>/measures, a list of measures, into dst, which it resets. now is
// what relative timestamps are relative to. The metric is in dst even if the list is empty. An error is a *DecodeError,
// and dst is empty then.
func (d *Decoder) DecodeMetric(body []byte, id uuid.UUID, now carbonara.Timestamp, dst *model.Measures) error {
	dst.Reset()
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
// resets. Metrics with an empty list are in dst, too. Of lists for the same metric the last one counts. An error is a
// *DecodeError, and dst is empty then.
func (d *Decoder) DecodeBatch(body []byte, now carbonara.Timestamp, dst *model.Measures) error {
	dst.Reset()
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
	if err := d.doc.parse(body); err != nil {
		return err
	}
	dst.Metrics = append(dst.Metrics, id)
	dst.Offsets = append(dst.Offsets, 0)
	if err := d.doc.list(0, now, dst); err != nil {
		return err
	}
	dst.Offsets = append(dst.Offsets, dst.Len())
	return nil
}

// decodeBatch is DecodeBatch by way of a document.
func (d *Decoder) decodeBatch(body []byte, now carbonara.Timestamp, dst *model.Measures) error {
	if err := d.doc.parse(body); err != nil {
		return err
	}
	if d.doc.nodes[0].kind != objectNode {
		return &DecodeError{Reason: "expected a dictionary"}
	}
	// Every list is checked, also one that a later list for the same metric replaces: unless its key is the very same
	// text, it is another key to Gnocchi.
	members := d.doc.members(0)
	ids := make([]uuid.UUID, len(members))
	last := make(map[uuid.UUID]int, len(members))
	for i, m := range members {
		id, err := model.ParseUUID(m.key)
		if err != nil {
			return extraKey(m.key)
		}
		ids[i], last[id] = id, i
	}
	for i, m := range members {
		from := dst.Len()
		if err := d.doc.list(m.value, now, dst); err != nil {
			return err.inDictionary(m.key)
		}
		if last[ids[i]] != i {
			dst.Timestamps, dst.Values = dst.Timestamps[:from], dst.Values[:from]
			continue
		}
		dst.Metrics = append(dst.Metrics, ids[i])
		dst.Offsets = append(dst.Offsets, from)
	}
	dst.Offsets = append(dst.Offsets, dst.Len())
	return nil
}

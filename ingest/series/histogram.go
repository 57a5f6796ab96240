package series

import (
	"github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/parts"
	"github.com/gnocco-db/gnocco/model"
)

// AddHistogram adds a valid native histogram, each part of it as a row. The labels are as before in the end.
func (b *Batch) AddHistogram(labels *Labels, at carbonara.Timestamp, h *histogram.FloatHistogram) error {
	b.histograms++
	defer labels.Set(model.LabelHistogram, "")
	return parts.Each(h, func(part model.HistogramPart, value float64) error {
		labels.Set(model.LabelHistogram, string(part.Append(nil)))
		err := b.Add(*labels, at, value)
		b.rows[len(b.rows)-1].histogram = b.histograms
		b.parts++
		return err
	})
}

// Written is how many numbers and native histograms of a batch are stored.
type Written struct {
	Numbers, Histograms int

	batch   *Batch
	refused map[int]bool // histograms of which a part is refused
}

// Written returns what is stored if no row is dropped.
func (b *Batch) Written() *Written {
	return &Written{Numbers: len(b.values) - b.parts, Histograms: b.histograms, batch: b, refused: map[int]bool{}}
}

// Drop takes refused measures of a row out.
func (w *Written) Drop(row, measures int, _ error) {
	r := &w.batch.rows[row]
	switch {
	case r.histogram == 0:
		w.Numbers -= measures
	case !w.refused[r.histogram]:
		w.refused[r.histogram] = true
		w.Histograms--
	}
}

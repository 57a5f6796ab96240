package series

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/labelset"
	"github.com/gnocco-db/gnocco/model"
)

// Labels are the labels of a series.
type Labels = labelset.Labels

// A Batch is the series of a request as columns. It implements ingest.Rows, and Reset keeps its memory.
type Batch struct {
	Named ingest.NamedBatch // for Writer.Append

	// Acquire acquires the memory of more measures before the batch has them. nil: no bound.
	Acquire func(bytes int) error

	// Read sets the labels that a head means. Its error refuses the row.
	Read func(head []byte, labels *Labels) error

	rows       []row
	labels     []byte // of all rows, each as model.Labels or as a head
	timestamps []carbonara.Timestamp
	values     []float64
	paid       int // bytes

	read     Labels // memory of readLabels
	readText []byte

	histograms int // native ones
	parts      int // rows that are parts of these
}

// A row is the measures [from, to) of one set of labels.
type row struct {
	labelsFrom, labelsTo, from, to int

	head      bool // the labels are still as they came
	histogram int  // number of the native histogram that it is a part of, from 1
}

// bytesAcquired is how many bytes a batch acquires at once.
const bytesAcquired = 128 << 10

// bytesPerRow is the memory of a row and its measure until they are durable.
const bytesPerRow = 200

// Reset empties the batch.
func (b *Batch) Reset() {
	b.rows, b.labels, b.timestamps, b.values = b.rows[:0], b.labels[:0], b.timestamps[:0], b.values[:0]
	b.paid, b.histograms, b.parts = 0, 0, 0
}

// Bytes returns about how much memory the batch keeps.
func (b *Batch) Bytes() int {
	return b.Named.Bytes() + cap(b.labels) + 40*cap(b.rows) + 16*cap(b.values)
}

// Measure adds a measure of the series that End or EndHead then names.
func (b *Batch) Measure(at carbonara.Timestamp, value float64) error {
	b.timestamps, b.values = append(b.timestamps, at), append(b.values, value)
	return b.acquire()
}

// End names the series of the measures since the last one. The batch keeps no reference to the labels.
func (b *Batch) End(labels Labels) error {
	from := len(b.labels)
	b.labels = labels.Append(b.labels)
	return b.end(from, false)
}

// EndHead is End with the head of a series, its labels as they came. Read reads it, unless the series is known.
func (b *Batch) EndHead(head []byte) error {
	from := len(b.labels)
	b.labels = append(b.labels, head...)
	return b.end(from, true)
}

func (b *Batch) end(labelsFrom int, head bool) error {
	if from := b.ended(); from < len(b.values) {
		b.rows = append(b.rows, row{labelsFrom: labelsFrom, labelsTo: len(b.labels), from: from, to: len(b.values),
			head: head})
	}
	return b.acquire()
}

// ended returns how many measures have a series.
func (b *Batch) ended() int {
	if len(b.rows) == 0 {
		return 0
	}
	return b.rows[len(b.rows)-1].to
}

// Discard takes back the measures without a series.
func (b *Batch) Discard() { b.timestamps, b.values = b.timestamps[:b.ended()], b.values[:b.ended()] }

// Add adds a measure of a series.
func (b *Batch) Add(labels Labels, at carbonara.Timestamp, value float64) error {
	if err := b.Measure(at, value); err != nil {
		return err
	}
	return b.End(labels)
}

// AddHead adds a measure of a series by its head.
func (b *Batch) AddHead(head []byte, at carbonara.Timestamp, value float64) error {
	if err := b.Measure(at, value); err != nil {
		return err
	}
	return b.EndHead(head)
}

// Extend adds a measure to the last row.
func (b *Batch) Extend(at carbonara.Timestamp, value float64) error {
	b.rows[len(b.rows)-1].to++
	return b.Measure(at, value)
}

func (b *Batch) acquire() error {
	need := bytesPerRow*len(b.rows) + 100*len(b.values) + len(b.labels) - b.paid
	if need < bytesAcquired || b.Acquire == nil {
		return nil
	}
	b.paid += need
	return b.Acquire(need)
}

// Len implements ingest.Rows, as all of these do.
func (b *Batch) Len() int                                    { return len(b.rows) }
func (b *Batch) Columns() ([]carbonara.Timestamp, []float64) { return b.timestamps, b.values }
func (b *Batch) Span(i int) (from, to int)                   { return b.rows[i].from, b.rows[i].to }

// AppendKey is of ingest.Rows. No labels begin with 0, the length of a name.
func (b *Batch) AppendKey(dst []byte, i int) []byte {
	if b.rows[i].head {
		dst = append(dst, 0)
	}
	return append(dst, b.LabelsOf(i)...)
}

func (b *Batch) Name(i int) (*ingest.Name, error) {
	labels, err := b.readLabels(i)
	if err != nil {
		return nil, err
	}
	name := labels.Get(model.LabelName)
	if name == "" {
		return nil, &model.FieldError{Field: model.LabelName, Reason: "a series has no name"}
	}
	if !labels.Valid() {
		return nil, &model.FieldError{Field: "labels", Reason: "the labels of series " + name + " are not valid UTF-8"}
	}
	return &ingest.Name{Metric: name, Labels: labels}, nil
}

// readLabels returns the labels of a row, also if it has a head.
func (b *Batch) readLabels(i int) (model.Labels, error) {
	if !b.rows[i].head {
		return model.Labels(b.LabelsOf(i)), nil
	}
	b.read = b.read[:0]
	err := b.Read(b.LabelsOf(i), &b.read)
	b.readText = b.read.Append(b.readText[:0])
	return model.Labels(b.readText), err
}

// LabelsOf returns the labels or the head of a row.
func (b *Batch) LabelsOf(i int) []byte { return b.labels[b.rows[i].labelsFrom:b.rows[i].labelsTo] }

package query

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// Reader answers reads from archives. It is for many requests at once.
type Reader struct {
	Archives  Archives
	Resampler carbonara.Resampler // of resampling and of dynamic aggregates
}

// refreshTimeout is Gnocchi's default operation_timeout.
const refreshTimeout = 10 * time.Second

// Refresh waits until all that was accepted for these metrics can be read.
func (r *Reader) Refresh(ctx context.Context, metrics ...*model.Metric) error {
	ids := make([]uuid.UUID, len(metrics))
	for i, metric := range metrics {
		ids[i] = metric.ID
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	return r.Archives.Refresh(ctx, ids)
}

// Read is a request for the aggregates of many metrics, in any query language.
type Read struct {
	From, To    carbonara.Timestamp // To is exclusive
	Granularity time.Duration       // 0: all that the metrics have in common
	Options     aggregates.Options  // how series are aligned; the Reader sets the Resampler
	Staleness   *Staleness          // how old the answer may be; nil: fresh
	Rows        *Rows               // how many the answer may have; nil: any number
	Values      *Arena              // lends memory for the aggregates; its owner releases it when the answer is written
	OfSketches  bool                // the reader says so: the answer has percentiles of sketches
	whole       bool                // it is not given up for parts before there is no memory left
}

// Restart forgets what was read, for the same to be read once more.
func (r *Read) Restart() {
	r.Rows.reset()
	r.Values.Release()
}

// RawSpan says which raw measures of a metric are kept.
func (r *Reader) RawSpan(ctx context.Context, metric *model.Metric, staleness *Staleness) (carbonara.RawSpan, error) {
	read := model.Read{Metric: metric, Columns: []carbonara.Column{carbonara.ColumnLast}}
	var groups carbonara.Groups
	err := r.Archives.Groups(ctx, read, staleness, &groups)
	return groups.Raw, err
}

// ReadOf asks for the groups that a method is answered from; from may lie within one.
func ReadOf(metric *model.Metric, granularity time.Duration, method carbonara.Method,
	from, to carbonara.Timestamp) model.Read {
	return model.Read{
		Metric: metric, Granularity: granularity, Columns: columnsOf(metric, method),
		From: from.Floor(granularity), To: to, Lead: method.IsCounter(),
	}
}

// columnsOf returns the columns that method is derived from. Rates need their count to tell which groups have none.
func columnsOf(metric *model.Metric, method carbonara.Method) []carbonara.Column {
	if metric != nil && metric.ArchivePolicy.FromSketch(method) {
		return []carbonara.Column{carbonara.ColumnSketch}
	}
	columns := method.Columns()
	if count := carbonara.ColumnCount.Rate(); method.IsRate() && columns[0] != count {
		columns = slices.Insert(columns, 0, count)
	}
	return columns
}

// Rows is how many rows an answer may have. All reads of a request share it, from several goroutines. A nil Rows is no
// limit.
type Rows struct {
	most  int
	taken atomic.Int64
}

// NewRows returns a limit of most rows.
func NewRows(most int) *Rows { return &Rows{most: most} }

// reset forgets the rows of an attempt that failed.
func (r *Rows) reset() {
	if r != nil {
		r.taken.Store(0)
	}
}

func (r *Rows) charge(n int) error {
	if r == nil || r.taken.Add(int64(n)) <= int64(r.most) {
		return nil
	}
	return &TooManyRowsError{r.most}
}

// A TooManyRowsError says that an answer would have more rows than it may. It is a model.ErrInvalid.
type TooManyRowsError struct{ Most int }

func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("query: the answer has more than %d rows", e.Most)
}

func (e *TooManyRowsError) Unwrap() error { return model.ErrInvalid }

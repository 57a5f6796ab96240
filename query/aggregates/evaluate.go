package aggregates

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// Result is what an operation gives: columns on the same timestamps, computed when they are read.
type Result struct {
	Granularity time.Duration         // 0 if a Grouping of no fixed width was resampled to
	Times       []carbonara.Timestamp // may be shared with the table
	Aggregated  bool                  // only the first column counts, and belongs to no metric
	drop        bool
	columns     *columns
	read        reader // nil: not begun
	overlap     []int  // of a part without Fill: rows in which no series is NaN
}

// Columns returns how many columns there are.
func (r *Result) Columns() int {
	if r.Aggregated {
		return min(1, len(r.columns.series))
	}
	return len(r.columns.series)
}

// Series returns which of the table's series column j was made of; -1 where Aggregated.
func (r *Result) Series(j int) int {
	if r.Aggregated {
		return -1
	}
	return r.columns.series[j]
}

// Column writes column j into dst, growing it if need be, and returns it: a value for each of Times. It is not for
// several goroutines at once.
func (r *Result) Column(j int, dst []float64) ([]float64, error) {
	if r.read == nil {
		r.read = r.columns.reader()
	}
	dst = sized(dst, len(r.Times))
	return dst, r.read(j, 0, dst)
}

// Shows reports whether a row of this value belongs into the answer.
func (r *Result) Shows(v float64) bool { return !r.drop || v-v == 0 }

// columns are the series that a node gives.
type columns struct {
	granularity time.Duration
	times       []carbonara.Timestamp
	series      []int // which of the table's series each column is made of; -1: of several
	boolean     bool
	aggregated  bool
	whole       bool          // readers compute all rows of a column at once: they are asked for no fewer
	together    int           // columns that a reader computes at once, on all cores; 0: one, on one
	reader      func() reader // for one goroutine
}

// A reader writes rows of column j into dst, beginning at from.
type reader func(j, from int, dst []float64) error

// sized returns values with that length, of undefined content.
func sized(values []float64, n int) []float64 { return slices.Grow(values[:0], n)[:n] }

// operand is what a node gives: columns, or a number.
type operand struct {
	columns *columns // nil: a number
	number  float64
	boolean bool
}

// Evaluate computes the operation on the series of one granularity, all of which are series of its References. The
// table has to stay as it is while the result is in use. The error is an *UnaggregableError, or that of ctx, which
// also ends the reading of columns.
func Evaluate(ctx context.Context, operation *Operation, table *Table, options *Options) (*Result, error) {
	e := &evaluator{ctx: ctx, operation: operation, table: table, options: options, resampler: options.Resampler}
	if e.resampler == nil {
		e.resampler = carbonara.NewCPUResampler(1)
	}
	if len(operation.Combinations) == 0 {
		var err error
		if e.grid, err = align(ctx, table, options); err != nil {
			return nil, err
		}
	}
	out, err := e.columns(operation.root)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Granularity: out.granularity, Times: out.times, Aggregated: out.aggregated,
		drop: options.Fill.Drops(), columns: out,
	}
	if e.grid != nil {
		result.overlap = e.grid.overlapping
	}
	return result, nil
}

type evaluator struct {
	ctx       context.Context // of this evaluation and of the reading of its result
	operation *Operation
	table     *Table
	options   *Options
	resampler carbonara.Resampler
	grid      *grid // of the table's series; nil if combinations take their place
	across    bool  // an aggregate reads the columns, on all cores
}

// cores returns how many goroutines compute so many columns.
func (e *evaluator) cores(columns int) int {
	if e.across {
		return max(1, parallel.Workers(columns))
	}
	return 1
}

func fail(format string, args ...any) error { return &UnaggregableError{fmt.Sprintf(format, args...)} }

// columns evaluates a node that has to give columns.
func (e *evaluator) columns(n *node) (*columns, error) {
	out, err := e.evaluate(n)
	if err != nil {
		return nil, err
	}
	if out.columns == nil {
		return nil, fail("%s gives a number, not series", e.operation.text(n))
	}
	return out.columns, nil
}

func (e *evaluator) evaluate(n *node) (operand, error) {
	var out *columns
	var err error
	switch n.kind {
	case kindNumber:
		return operand{number: n.number}, nil
	case kindUnary:
		return e.unary(n)
	case kindBinary:
		return e.binary(n)
	case kindClip:
		return e.clip(n)
	case kindMetric:
		out = e.metric(n)
	case kindAggregate:
		out, err = e.aggregate(n)
	case kindRolling:
		out, err = e.rolling(n)
	case kindResample:
		out, err = e.resample(n)
	case kindRateOfChange:
		out, err = e.rateOfChange(n)
	case kindCombined:
		out, err = e.combined(n)
	case kindRateOfChangeSec:
		out, err = e.rateOfChangeSec(n)
	default:
		panic(fmt.Sprintf("aggregates: kind %d", n.kind))
	}
	return operand{columns: out}, err
}

// metric gives the series that were found through one of the node's references.
func (e *evaluator) metric(n *node) *columns {
	wanted := make([]bool, len(e.operation.References))
	for _, i := range n.references {
		wanted[i] = true
	}
	out := &columns{granularity: e.grid.table.Granularity, times: e.grid.times, whole: e.grid.fill.carries()}
	for i := range e.grid.table.Series {
		if wanted[e.grid.table.Series[i].Reference] {
			out.series = append(out.series, i)
		}
	}
	out.reader = func() reader {
		return func(j, from int, dst []float64) error {
			e.grid.read(out.series[j], from, dst)
			return e.ctx.Err()
		}
	}
	return out
}

func (e *evaluator) unary(n *node) (operand, error) {
	in, err := e.evaluate(n.operands[0])
	if err != nil {
		return in, err
	}
	boolean := in.isBoolean() && (n.name == "abs" || n.name == "absolute")
	if in.columns == nil {
		return operand{number: n.unary(in.number), boolean: boolean}, nil
	}
	out := *in.columns
	out.boolean = boolean
	out.reader = func() reader {
		read := in.columns.reader()
		return func(j, from int, dst []float64) error {
			if err := read(j, from, dst); err != nil {
				return err
			}
			for i, v := range dst {
				dst[i] = n.unary(v)
			}
			return nil
		}
	}
	return operand{columns: &out}, nil
}

func (o *operand) isBoolean() bool {
	if o.columns != nil {
		return o.columns.boolean
	}
	return o.boolean
}

// rateOfChange gives the differences of consecutive values.
func (e *evaluator) rateOfChange(n *node) (*columns, error) {
	in, err := e.columns(n.operands[0])
	if err != nil {
		return nil, err
	}
	out := *in
	out.times = withoutFirst(in.times)
	out.reader = func() reader {
		read, values := in.reader(), []float64(nil)
		return func(j, from int, dst []float64) error {
			if len(dst) == 0 {
				return nil
			}
			values = sized(values, len(dst)+1)
			if err := read(j, from, values); err != nil {
				return err
			}
			difference(values, dst, in.boolean)
			return nil
		}
	}
	return &out, nil
}

func withoutFirst(times []carbonara.Timestamp) []carbonara.Timestamp {
	return times[min(1, len(times)):]
}

// difference writes the differences of consecutive values into dst, which may be values itself; of booleans, whether
// they differ.
func difference(values, dst []float64, boolean bool) {
	for i := range dst {
		if boolean {
			dst[i] = truth(values[i] != values[i+1])
		} else {
			dst[i] = values[i+1] - values[i]
		}
	}
}

// rateOfChangeSec gives the differences of consecutive values by the seconds between them; NaN for the first.
func (e *evaluator) rateOfChangeSec(n *node) (*columns, error) {
	in, err := e.columns(n.operands[0])
	if err != nil {
		return nil, err
	}
	out := *in
	out.boolean, out.whole = false, true
	out.reader = func() reader {
		read := in.reader()
		return func(j, _ int, dst []float64) error {
			if err := read(j, 0, dst); err != nil {
				return err
			}
			previous := nan
			for i, v := range dst {
				dst[i] = nan
				if i > 0 {
					dst[i] = (v - previous) / (float64(in.times[i]-in.times[i-1]) / float64(time.Second))
				}
				previous = v
			}
			return nil
		}
	}
	return &out, nil
}

package aggregates

import "slices"

// reader reads columns of an operand, or the only one that there is; the same number throughout for a number.
func (o *operand) reader() reader {
	if o.columns == nil {
		return func(_, _ int, dst []float64) error {
			for i := range dst {
				dst[i] = o.number
			}
			return nil
		}
	}
	read, last := o.columns.reader(), len(o.columns.series)-1
	return func(j, from int, dst []float64) error { return read(min(j, last), from, dst) }
}

// with applies an operator to the values of two readers.
func (r reader) with(other reader, apply func(a, b float64) float64) reader {
	var values []float64
	return func(j, from int, dst []float64) error {
		if err := r(j, from, dst); err != nil {
			return err
		}
		values = sized(values, len(dst))
		if err := other(j, from, values); err != nil {
			return err
		}
		for i, v := range dst {
			dst[i] = apply(v, values[i])
		}
		return nil
	}
}

// shape finds the columns that an operation of these operands gives, but not how they are read; nil if all are
// numbers. Lists of series have to be of the same length, but for those of one.
func (e *evaluator) shape(n *node, operands ...operand) (*columns, error) {
	text := func(operand int) string { return e.operation.text(n.operands[operand]) }
	var out *columns
	count := 0
	for i, o := range operands {
		if o.columns == nil {
			continue
		}
		count++
		if out == nil {
			out = new(*o.columns)
			continue
		}
		if out.granularity != o.columns.granularity || !slices.Equal(out.times, o.columns.times) {
			return nil, fail("Can't compute timeseries with different granularity %s <> %s", text(0), text(i))
		}
		out.aggregated = out.aggregated || o.columns.aggregated
		out.whole, out.together = out.whole || o.columns.whole, max(out.together, o.columns.together)
		switch a, b := len(out.series), len(o.columns.series); {
		case a == b:
		case a == 1 || b == 0:
			out.series = o.columns.series
		case a == 0 || b == 1:
		default:
			return nil, fail("Can't compute %d timeseries with %d: %s <> %s", a, b, text(0), text(i))
		}
	}
	// Between series the result belongs to no metric, unless one of clip's bounds is a number.
	if out != nil && count > 1 && count == len(operands) {
		out.aggregated = true
	}
	return out, nil
}

// operands returns the operands of a node, and the shape of its result.
func (e *evaluator) operands(n *node) (all []operand, out *columns, err error) {
	for _, o := range n.operands {
		in, err := e.evaluate(o)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, in)
	}
	out, err = e.shape(n, all...)
	return all, out, err
}

func (e *evaluator) binary(n *node) (operand, error) {
	in, out, err := e.operands(n)
	if err != nil {
		return operand{}, err
	}
	apply, boolean := n.binary.apply, n.binary.boolean
	if n.binary.logical != nil && in[0].isBoolean() && in[1].isBoolean() {
		apply, boolean = n.binary.logical, true
	}
	if out == nil {
		return operand{number: apply(in[0].number, in[1].number), boolean: boolean}, nil
	}
	out.boolean = boolean
	out.reader = func() reader { return in[0].reader().with(in[1].reader(), apply) }
	return operand{columns: out}, nil
}

// clip raises values to the first bound, then lowers them to the second, if there is one.
func (e *evaluator) clip(n *node) (operand, error) {
	in, out, err := e.operands(n)
	if err != nil {
		return operand{}, err
	}
	if out == nil {
		v := clipMin(in[0].number, in[1].number)
		if len(in) > 2 {
			v = clipMax(v, in[2].number)
		}
		return operand{number: v}, nil
	}
	if len(in) == 2 {
		out.aggregated = in[0].columns != nil && in[0].columns.aggregated ||
			in[1].columns != nil && in[1].columns.aggregated
	}
	out.boolean = false
	out.reader = func() reader {
		read := in[0].reader().with(in[1].reader(), clipMin)
		if len(in) > 2 {
			read = read.with(in[2].reader(), clipMax)
		}
		return read
	}
	return operand{columns: out}, nil
}

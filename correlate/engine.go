package correlate

import "context"

// Engine correlates all pairs of a source's columns, by Pearson. CPU is the one that always works; package
// gpu/correlate has another.
type Engine interface {
	// Correlate hands the pairs that the selection wants to each, in the order in which a Selector does: by I and J,
	// or, of a top over all, the strongest first. The source may be read more than once.
	Correlate(ctx context.Context, source Source, options Options, selection Selection, each func(Pair) error) (
		Result, error)
}

// CPU is the engine of this package: Run, and a Selector. A top is taken on all cores.
type CPU struct{}

// Correlate implements Engine.
func (CPU) Correlate(ctx context.Context, source Source, options Options, selection Selection, each func(Pair) error) (
	Result, error) {
	if selection.TopPerColumn == 0 && selection.Top == 0 {
		return selected(source, selection, each, func(add func(Pair) error) (Result, error) {
			return Run(ctx, source, options, add)
		})
	}
	selector, eligible := NewSelector(selection, source.Columns(), each), int64(0)
	result, err := runBands(ctx, source, options, func(m *Matrix, b band) error {
		find := m.strongest
		if selection.TopPerColumn == 0 {
			find = m.strongestOfAll
		}
		n, err := find(ctx, b, selector)
		eligible += n
		return err
	})
	result.Eligible = eligible
	if err != nil {
		return result, err
	}
	return result, selector.Finish()
}

// Spearman is the engine for ranks.
type Spearman struct{}

// Correlate implements Engine, by Spearman.
func (Spearman) Correlate(ctx context.Context, source Source, options Options, selection Selection,
	each func(Pair) error) (Result, error) {
	return selected(source, selection, each, func(add func(Pair) error) (Result, error) {
		return RunSpearman(ctx, source, options, add)
	})
}

// selected hands the pairs that the selection wants to each, out of all that run adds.
func selected(source Source, selection Selection, each func(Pair) error,
	run func(add func(Pair) error) (Result, error)) (Result, error) {
	selector := NewSelector(selection, source.Columns(), each)
	eligible := int64(0)
	result, err := run(func(p Pair) error {
		if selection.eligible(p) {
			eligible++
		}
		return selector.Add(p)
	})
	result.Eligible = eligible
	if err != nil {
		return result, err
	}
	return result, selector.Finish()
}

// Estimated is a source that has a guess at how many rows there are: 0 if it has none.
type Estimated interface {
	Source
	EstimateRows() int64
}

// Sized is a source that knows how many rows it has.
type Sized interface {
	Source
	Rows() int64
}

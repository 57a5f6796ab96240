package columns

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/schema"
	"github.com/prometheus/prometheus/util/kahansum"
)

// Fold aggregates rows. It holds one value for each group and time, and what it takes to continue it.
type Fold struct {
	pipeline *Pipeline
	steps    int

	groups  map[uint64]int32
	labels  []labels.Labels // of groups
	builder *labels.Builder
	buffer  []byte

	// value, second and count are by group and time: the value (absent: none yet), what sums lost or the mean of
	// deviations, and the number of values; negative where the value is a mean already, as their sum would overflow.
	value, second, count []float64

	members  []int       // of groups: series
	rankings []ranking   // by group and time, of series that are chosen
	lists    [][]float64 // by group and time, all values
}

// NewFold returns a fold of rows of so many times.
func (p *Pipeline) NewFold(steps int) *Fold {
	return &Fold{pipeline: p, steps: steps, groups: map[uint64]int32{},
		builder: labels.NewBuilder(labels.EmptyLabels())}
}

// folds reports whether a fold does an aggregation.
func folds(op parser.ItemType) bool { return values(op) > 0 }

// values returns how many numbers are held for each group and time.
func values(op parser.ItemType) int {
	switch op {
	case parser.MIN, parser.MAX, parser.COUNT, parser.GROUP:
		return 1
	case parser.SUM:
		return 2
	case parser.AVG, parser.STDDEV, parser.STDVAR:
		return 3
	}
	return 0
}

// GroupsByName reports whether groups depend on the labels that say which metric a series is.
func (p *Pipeline) GroupsByName() bool {
	return !p.aggregation.Without && slices.ContainsFunc(p.grouping, schema.IsMetadataLabel)
}

// Groups reports whether there may be more groups than one.
func (p *Pipeline) Groups() bool { return p.aggregation.Without || len(p.grouping) > 0 }

// Group returns the number of the group of a row with these labels.
func (f *Fold) Group(of labels.Labels) int32 {
	p := f.pipeline
	var key uint64
	switch {
	case p.aggregation.Without:
		key, f.buffer = of.HashWithoutLabels(f.buffer, p.grouping...)
	case len(p.grouping) > 0:
		key, f.buffer = of.HashForLabels(f.buffer, p.grouping...)
	}
	group, ok := f.groups[key]
	if !ok {
		group = int32(len(f.labels))
		f.groups[key] = group
		f.labels, f.members = append(f.labels, f.shown(of).Copy()), append(f.members, 0)
	}
	f.members[group]++
	return group
}

// shown returns the labels of a group.
func (f *Fold) shown(of labels.Labels) labels.Labels {
	p := f.pipeline
	f.builder.Reset(of)
	switch {
	case p.aggregation.Without:
		f.builder.Del(p.grouping...)
		schema.Metadata{}.SetToLabels(f.builder)
		return f.builder.Labels()
	case len(p.grouping) > 0:
		return f.builder.Keep(p.grouping...).Labels()
	}
	return labels.EmptyLabels()
}

// Groups returns how many groups there are.
func (f *Fold) Groups() int { return len(f.labels) }

// Labels returns those of a group.
func (f *Fold) Labels(group int) labels.Labels { return f.labels[group] }

// DropNames removes the names from the labels of groups, and reports whether some have the same labels then.
func (f *Fold) DropNames(groups []int) (same bool) {
	known := make(map[uint64]bool, len(groups))
	for _, group := range groups {
		f.labels[group] = WithoutName(f.labels[group])
		hash := f.labels[group].Hash()
		same = same || known[hash]
		known[hash] = true
	}
	return same
}

// Bytes returns the memory that the fold needs once all groups are known.
func (f *Fold) Bytes() int64 {
	if f.pipeline.Ranks() {
		const header, each = 24, 64 // while a ranking grows, and of EachChosen
		bytes := header * len(f.members)
		for _, n := range f.members {
			bytes += each * min(n, f.pipeline.most)
		}
		return int64(bytes * f.steps)
	}
	if f.pipeline.aggregation.Op == parser.QUANTILE {
		return f.quantileBytes()
	}
	return int64(8 * values(f.pipeline.aggregation.Op) * len(f.labels) * f.steps)
}

// Begin makes the memory, once all groups are known.
func (f *Fold) Begin() {
	n := len(f.labels) * f.steps
	if f.pipeline.Ranks() {
		f.rankings = make([]ranking, n)
		return
	}
	if f.pipeline.aggregation.Op == parser.QUANTILE {
		f.lists = make([][]float64, n)
	}
	f.value = make([]float64, n)
	for i := range f.value {
		f.value[i] = absent
	}
	held := values(f.pipeline.aggregation.Op)
	if held > 1 {
		f.second = make([]float64, n)
	}
	if held > 2 {
		f.count = make([]float64, n)
	}
}

// Add adds the row of a series to its group, at the times from and up to to (exclusive). Goroutines may add different
// times.
func (f *Fold) Add(group int32, place int, row []float64, from, to int) {
	if f.rankings != nil {
		f.addRanks(group, place, row, from, to)
		return
	}
	at := int(group) * f.steps
	row, value := row[from:to], f.value[at+from:at+to]
	var second, count []float64
	if f.second != nil {
		second = f.second[at+from : at+to]
	}
	if f.count != nil {
		count = f.count[at+from : at+to]
	}
	switch f.pipeline.aggregation.Op {
	case parser.QUANTILE:
		f.addValues(group, row, from)
	case parser.SUM:
		addSums(row, value, second)
	case parser.AVG:
		addAverages(row, value, second, count)
	case parser.MIN:
		for i, v := range row {
			if !isAbsent(v) && (isAbsent(value[i]) || value[i] > v || math.IsNaN(value[i])) {
				value[i] = v
			}
		}
	case parser.MAX:
		for i, v := range row {
			if !isAbsent(v) && (isAbsent(value[i]) || value[i] < v || math.IsNaN(value[i])) {
				value[i] = v
			}
		}
	case parser.GROUP:
		for i, v := range row {
			if !isAbsent(v) {
				value[i] = 1
			}
		}
	case parser.COUNT:
		for i, v := range row {
			if isAbsent(v) {
				continue
			}
			if isAbsent(value[i]) {
				value[i] = 0
			}
			value[i]++
		}
	default:
		addDeviations(row, value, second, count)
	}
}

func addSums(row, value, lost []float64) {
	for i, v := range row {
		switch {
		case isAbsent(v):
		case isAbsent(value[i]):
			value[i] = v
		default:
			value[i], lost[i] = kahansum.Inc(v, value[i], lost[i])
		}
	}
}

func addAverages(row, value, lost, count []float64) {
	for i, v := range row {
		if isAbsent(v) {
			continue
		}
		if isAbsent(value[i]) {
			value[i], count[i] = v, 1
			continue
		}
		if count[i] > 0 {
			sum, c := kahansum.Inc(v, value[i], lost[i])
			if !math.IsInf(sum, 0) {
				value[i], lost[i] = sum, c
				count[i]++
				continue
			}
			value[i] /= count[i]
			lost[i] /= count[i]
			count[i] = -count[i]
		}
		count[i]--
		n := -count[i]
		q := (n - 1) / n
		value[i], lost[i] = kahansum.Inc(v/n, q*value[i], q*lost[i])
	}
}

func addDeviations(row, value, mean, count []float64) {
	for i, v := range row {
		if isAbsent(v) {
			continue
		}
		if isAbsent(value[i]) {
			value[i], mean[i], count[i] = 0, v, 1
			if math.IsNaN(v) || math.IsInf(v, 0) {
				value[i] = math.NaN()
			}
			continue
		}
		count[i]++
		delta := v - mean[i]
		mean[i] += delta / count[i]
		value[i] += delta * (v - mean[i])
	}
}

// Result returns the values of a group, absent where there is none, and whether there is any. Quantiles come first.
func (f *Fold) Result(group int) (row []float64, any bool) {
	at := group * f.steps
	row = f.value[at : at+f.steps]
	op := f.pipeline.aggregation.Op
	for i, v := range row {
		if isAbsent(v) {
			continue
		}
		k := at + i
		switch {
		case op == parser.SUM:
			row[i] = v + f.second[k]
		case op == parser.AVG && f.count[k] < 0:
			row[i] = v + f.second[k]
		case op == parser.AVG:
			row[i] = v/f.count[k] + f.second[k]/f.count[k]
		case op == parser.STDVAR:
			row[i] = v / f.count[k]
		case op == parser.STDDEV:
			row[i] = math.Sqrt(v / f.count[k])
		}
	}
	return row, f.pipeline.after.apply(row)
}

// Present calls use with each place of a row that has a value.
func Present(row []float64, use func(i int, v float64)) {
	for i, v := range row {
		if !isAbsent(v) {
			use(i, v)
		}
	}
}

package columns

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sort"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara/ranked"
)

// rank is a value of a series at one time. Ranks of bottomk have the other sign.
type rank struct {
	value float64
	place int // of the series
}

// ranking is a heap of the highest values of a group at one time, the lowest of them on top. It does what the engine's
// heap does, so that of equal values the same ones stay, in the same order.
type ranking []rank

// Len implements heap.Interface, as the following do.
func (r ranking) Len() int { return len(r) }

// Less is of heap.Interface.
func (r ranking) Less(i, j int) bool { return math.IsNaN(r[i].value) || r[i].value < r[j].value }

// Swap is of heap.Interface.
func (r ranking) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push is of heap.Interface.
func (r *ranking) Push(v any) { *r = append(*r, v.(rank)) }

// Pop is of heap.Interface, and without use: values are replaced.
func (r *ranking) Pop() any { panic("columns: a ranking never shrinks") }

// add adds a value, and keeps most of them.
func (r *ranking) add(v rank, most int) {
	switch lowest := *r; {
	case len(lowest) < most:
		heap.Push(r, v)
	case lowest[0].value < v.value || math.IsNaN(lowest[0].value) && !math.IsNaN(v.value):
		lowest[0] = v
		heap.Fix(r, 0)
	}
}

// Ranks reports whether the aggregation chooses series (topk, bottomk).
func (p *Pipeline) Ranks() bool { return p.most > 0 }

// mostOf returns how many series topk or bottomk choose, 0 for another aggregation, and for a number that is not
// constant or that the engine does not take as it is.
func mostOf(e *parser.AggregateExpr) int {
	if e.Op != parser.TOPK && e.Op != parser.BOTTOMK {
		return 0
	}
	if k, ok := Constant(e.Param); ok && k >= 1 && k <= math.MaxInt32 {
		return int(k)
	}
	return 0
}

// signed returns a value as rankings have it, and one of theirs as it was.
func (f *Fold) signed(v float64) float64 {
	if f.pipeline.aggregation.Op == parser.BOTTOMK {
		return -v
	}
	return v
}

func (f *Fold) addRanks(group int32, place int, row []float64, from, to int) {
	rankings := f.rankings[int(group)*f.steps:]
	for i := from; i < to; i++ {
		if v := row[i]; !isAbsent(v) {
			rankings[i].add(rank{f.signed(v), place}, f.pipeline.most)
		}
	}
}

// EachChosen calls use with the values of each series that groups, in this order, have chosen at some time. Of a single
// time, series come in the order of their ranks. Row is only valid until use returns.
func (f *Fold) EachChosen(groups []int, use func(place int, row []float64) error) error {
	type value struct {
		rank
		at int
	}
	var all []value
	for _, group := range groups {
		for at, r := range f.rankings[group*f.steps : (group+1)*f.steps] {
			sort.Sort(sort.Reverse(r))
			for _, v := range r {
				all = append(all, value{v, at})
			}
		}
	}
	if f.steps > 1 {
		slices.SortFunc(all, func(a, b value) int { return cmp.Or(a.place-b.place, a.at-b.at) })
	}
	row := make([]float64, f.steps)
	for len(all) > 0 {
		for i := range row {
			row[i] = absent
		}
		place := all[0].place
		for ; len(all) > 0 && all[0].place == place; all = all[1:] {
			row[all[0].at] = f.signed(all[0].value)
		}
		if f.pipeline.after.apply(row) {
			if err := use(place, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// quantileOf returns the quantile that an aggregation is, negative for another aggregation, and for a number that is
// not constant or of which the engine warns.
func quantileOf(e *parser.AggregateExpr) float64 {
	if e.Op == parser.QUANTILE {
		if q, ok := Constant(e.Param); ok && q >= 0 && q <= 1 {
			return math.Abs(q) // 0 may be negative
		}
	}
	return -1
}

// quantileBytes returns the memory of all values, which grow by doubling where more come than members are known.
func (f *Fold) quantileBytes() int64 {
	const header = 24 + 8
	bytes := int64(0)
	for _, n := range f.members {
		bytes += header + 16*int64(n)
	}
	return bytes * int64(f.steps)
}

func (f *Fold) addValues(group int32, row []float64, from int) {
	lists := f.lists[int(group)*f.steps+from:]
	for i, v := range row {
		if !isAbsent(v) {
			if lists[i] == nil {
				lists[i] = make([]float64, 0, f.members[group])
			}
			lists[i] = append(lists[i], v)
		}
	}
}

// Quantiles computes quantiles, if the aggregation is one, of all groups at the times from and up to to (exclusive).
// Goroutines may compute other times.
func (f *Fold) Quantiles(from, to int) {
	var ranks ranked.Values
	for group := 0; group < len(f.lists); group += f.steps {
		for k := group + from; k < group+to; k++ {
			if len(f.lists[k]) > 0 {
				f.value[k] = Quantile(f.pipeline.quantile, f.lists[k], &ranks)
			}
		}
	}
}

// Quantile returns the quantile of some values as the engine has it, by ranks, which it sets. It is faster where the
// values of the call before were like these.
func Quantile(q float64, values []float64, ranks *ranked.Values) float64 {
	missing := 0 // NaN, which come first, and last in ranks
	for _, v := range values {
		if v != v {
			missing++
		}
	}
	last := float64(len(values) - 1)
	rank := q * last
	lower := math.Max(0, math.Floor(rank))
	ranks.SetNear(values, max(0, int(lower)-missing))
	value := func(rank float64) float64 {
		if int(rank) < missing {
			return math.NaN()
		}
		return ranks.At(int(rank) - missing)
	}
	upper, weight := math.Min(last, lower+1), rank-math.Floor(rank)
	if weight == 0 {
		return value(lower)
	}
	low := value(lower)
	return low*(1-weight) + value(upper)*weight
}

package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/gnocco-db/gnocco/carbonara"
)

// iterator is the samples of a series. It implements chunkenc.Iterator.
type iterator struct {
	times   []int64 // ms, ascending; strictly, unless all measures of a ms count
	begins  []int64 // ms, since when each sample covers time; nil: all are measures
	marks   []int64 // ms: of a range that needs more than values, the samples that the engine sees; nil: all
	values  []float64
	moments []moments // instead of values
	counts  []counter // likewise
	shares  []share   // likewise
	native  *nativeSamples
	// staleAfter and partStaleAfter say how many ms after a sample the series ends, unless another one follows: after
	// the last sample, and after those of the part that is being added.
	staleAfter, partStaleAfter int64
	at                         int   // -1 before the first
	taken                      int64 // bytes of memory, for all of it
	sketchBytes                int   // of shares
	err                        error
	loaded                     bool
	plain                      bool // moments are those of single measures: they are values
	every                      bool // all measures of a ms are samples, and not the last alone
	ranged                     *ranged
}

// bytes is the memory that the samples have.
func (it *iterator) bytes() int64 {
	return int64(8*(cap(it.times)+cap(it.begins)+cap(it.marks)+cap(it.values))+24*cap(it.moments)+
		counterBytes*cap(it.counts)+shareBytes*cap(it.shares)+it.sketchBytes) + it.native.bytes()
}

func (it *iterator) reset() {
	*it = iterator{times: it.times[:0], values: it.values[:0], moments: it.moments[:0],
		counts: it.counts[:0], shares: it.shares[:0], at: -1, taken: it.taken}
}

// grow makes room for so many samples, and one that ends them.
func (it *iterator) grow(n int, kind readingKind) {
	it.times = slices.Grow(it.times, n+1)
	switch {
	case kind == readMoments && !it.plain:
		it.moments = slices.Grow(it.moments, n)
	case kind == readCounter && !it.plain:
		it.counts = slices.Grow(it.counts, n)
	case kind == readSketch && !it.plain:
		it.shares = slices.Grow(it.shares, n)
	default:
		it.values = slices.Grow(it.values, n+1)
	}
}

// add appends a sample. One at the same ms as the last replaces it, unless all count.
func (it *iterator) add(t int64, v float64) { it.values = set(it.values, it.place(t), v) }

// addGroup says that the sample that comes next is a group, which ends at a time and has covered time since begin.
func (it *iterator) addGroup(t, begin int64) {
	if begin < t-1 {
		it.cover()
		it.begins = append(it.begins, begin)
	}
}

// cover makes begins complete: samples without are measures.
func (it *iterator) cover() {
	for i := len(it.begins); i < len(it.times); i++ {
		it.begins = append(it.begins, it.times[i]-1)
	}
}

// bounds are what addValues asks of measures, in ms: they count later by after, and are samples from start to end. The
// series ends by staleAfter after each.
type bounds struct{ start, end, after, staleAfter int64 }

// addValues adds the values of measures up to the first NaN, which may mean something else. It returns the number of
// measures that it read.
func (it *iterator) addValues(at []carbonara.Timestamp, values []float64, b bounds) int {
	times, added := it.times, it.values
	last := int64(math.MaxInt64) // without a sample, no time is later than its end
	if n := len(times); n > 0 {
		last = times[n-1]
	}
	i := 0
	for ; i < len(at) && values[i] == values[i]; i++ {
		t := int64(at[i])/1_000_000 + b.after
		switch {
		case t < b.start || t > b.end:
			continue
		case t == last && !it.every:
			added[len(added)-1] = values[i]
			continue
		case t-last > b.staleAfter:
			times, added = append(times, last+b.staleAfter), append(added, staleValue)
		}
		times, added, last = append(times, t), append(added, values[i]), t
	}
	it.times, it.values = times, added
	return i
}

// addMoments is add for moments.
func (it *iterator) addMoments(t int64, m moments) {
	if it.plain {
		it.add(t, m.sum)
		return
	}
	it.place(t)
	it.moments = append(it.moments, m)
}

// addCounter is add for groups of counters.
func (it *iterator) addCounter(t int64, c counter) {
	if it.plain {
		it.add(t, c.last)
		return
	}
	it.counts = set(it.counts, it.place(t), c)
}

// place returns where the sample of a time belongs.
func (it *iterator) place(t int64) int {
	if n := len(it.times); n == 0 || it.times[n-1] < t || it.every {
		it.times = append(it.times, t)
	} else if len(it.begins) > n {
		it.begins = it.begins[:n]
	}
	return len(it.times) - 1
}

// set sets an item of a list, or the one after the last.
func set[T any](list []T, at int, v T) []T {
	if at == len(list) {
		return append(list, v)
	}
	list[at] = v
	return list
}

// endBefore marks where the series ends after its last sample, if that is before t.
func (it *iterator) endBefore(t int64) {
	if n := len(it.times); n > 0 && it.times[n-1]+it.staleAfter < t {
		if end := it.times[n-1] + it.staleAfter; len(it.counts) > 0 {
			it.addCounter(end, single(end, staleValue))
		} else {
			it.add(end, staleValue)
		}
	}
}

// Next implements chunkenc.Iterator, as all of these do.
func (it *iterator) Next() chunkenc.ValueType {
	if it.at < len(it.shown()) {
		it.at++
	}
	return it.kind()
}

// shown returns the times of the samples that the engine sees.
func (it *iterator) shown() []int64 {
	if it.marks != nil {
		return it.marks
	}
	return it.times
}

func (it *iterator) kind() chunkenc.ValueType {
	if it.at < 0 || it.at >= len(it.shown()) || it.err != nil {
		return chunkenc.ValNone
	}
	if it.marks == nil && it.native != nil && it.native.isHistogram(it.at) {
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValFloat
}

// milli is an int64 by a name of its own: vet takes a Seek of an int64 for io.Seeker's.
type milli = int64

func (it *iterator) Seek(t milli) chunkenc.ValueType {
	from, times := max(it.at, 0), it.shown()
	if from < len(times) && times[from] < t {
		next, _ := slices.BinarySearch(times[from:], t)
		from += next
	}
	it.at = from
	return it.kind()
}

func (it *iterator) At() (int64, float64) {
	if it.marks != nil {
		return it.marks[it.at], float64(it.marks[it.at])
	}
	if it.native != nil {
		return it.times[it.at], it.native.numberAt(it)
	}
	return it.times[it.at], it.values[it.at]
}

func (it *iterator) AtT() int64 { return it.shown()[it.at] }

// AtST is of chunkenc.Iterator: the start of counters is unknown.
func (it *iterator) AtST() int64 { return 0 }

// AtHistogram is of chunkenc.Iterator; all histograms are of float64.
func (it *iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	return it.AtT(), nil
}

func (it *iterator) AtFloatHistogram(dst *histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	return it.AtT(), it.native.histogramAt(it.native.at[it.at], dst)
}

func (it *iterator) Err() error { return it.err }

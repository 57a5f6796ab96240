package promql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// errHistograms says that a selector finds native histograms: only the engine evaluates them.
var errHistograms = errors.New("promql: a selector finds native histograms")

// native is what a series is put together from if it has native histograms.
type native struct {
	floats   *series       // numbers with the same labels; nil: none
	families []*partsOfOne // of counters and of gauges
}

// partsOfOne are the parts of histograms that are all counters, or all gauges. The first one is the count.
type partsOfOne struct {
	gauge bool
	parts []nativePart
}

// nativePart is one series of a native histogram.
type nativePart struct {
	model.HistogramPart
	*series
}

// nativeFound are parts in the order in which they are found.
type nativeFound struct {
	parts  []nativePart
	hashes []uint64 // of labels
}

// join adds a series for each set of labels that parts have, and takes a series of numbers with these labels into it.
// Parts without a count are left out.
func (f *nativeFound) join(all []*series, hashes []uint64) ([]*series, []uint64, error) {
	joined := map[uint64][]*series{}
	find := func(hash uint64, of labels.Labels) *series {
		for _, s := range joined[hash] {
			if labels.Equal(s.labels, of) {
				return s
			}
		}
		return nil
	}
	var added []*series
	for i, part := range f.parts {
		s := find(f.hashes[i], part.labels)
		if s == nil {
			s = new(series)
			*s = *part.series
			s.native = new(native)
			joined[f.hashes[i]] = append(joined[f.hashes[i]], s)
			added = append(added, s)
		}
		s.native.add(part)
	}
	kept := 0
	for i, s := range all {
		if with := find(hashes[i], s.labels); with != nil && with.native.floats == nil {
			with.native.floats, s.joined = s, true
			if sel := s.selection; sel.method == 0 && len(sel.methods) == 0 {
				r, err := sel.readingOf(readingKey{policy: s.metric.ArchivePolicy, native: true})
				if err != nil {
					return nil, nil, err
				}
				s.reading = r
				s.choose()
			}
			continue
		}
		all[kept], hashes[kept] = s, hashes[i]
		kept++
	}
	all, hashes = all[:kept], hashes[:kept]
	for _, s := range added {
		if err := s.native.sort(); err != nil {
			return nil, nil, err
		}
		lead := s.native.floats
		if len(s.native.families) > 0 {
			lead = s.native.families[0].parts[0].series
		}
		if lead == nil {
			continue
		}
		s.metric, s.sack, s.reading = lead.metric, lead.sack, lead.reading
		all, hashes = append(all, s), append(hashes, s.labels.Hash())
	}
	return all, hashes, nil
}

func (n *native) add(part nativePart) {
	for _, f := range n.families {
		if f.gauge == part.Gauge {
			f.parts = append(f.parts, part)
			return
		}
	}
	n.families = append(n.families, &partsOfOne{part.Gauge, []nativePart{part}})
}

// sort puts parts in order, and removes families without a count.
func (n *native) sort() error {
	for _, f := range n.families {
		slices.SortFunc(f.parts, compareParts)
		for i := 1; i < len(f.parts); i++ {
			if a, b := f.parts[i-1], f.parts[i]; a.HistogramPart == b.HistogramPart {
				return fmt.Errorf("metrics %s and %s have the same labels %s", a.metric.ID, b.metric.ID, a.labels)
			}
		}
	}
	n.families = slices.DeleteFunc(n.families, func(f *partsOfOne) bool {
		return f.parts[0].Kind != model.HistogramCount
	})
	slices.SortFunc(n.families, func(a, b *partsOfOne) int { return cmp.Compare(len(b.parts), len(a.parts)) })
	return nil
}

func compareParts(a, b nativePart) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Index, b.Index),
		cmp.Compare(a.Bound, b.Bound))
}

// each calls f for the series that are read for s.
func (s *series) each(f func(*series)) {
	if s.native == nil {
		f(s)
		return
	}
	if s.native.floats != nil {
		f(s.native.floats)
	}
	for _, family := range s.native.families {
		for _, part := range family.parts {
			f(part.series)
		}
	}
}

// isCount reports whether a series that is read for s is a count of histograms.
func (s *series) isCount(one *series) bool {
	return slices.ContainsFunc(s.native.families, func(f *partsOfOne) bool { return f.parts[0].series == one })
}

// alignParts gives all parts the plan of their count: a bucket that begins later has no measure before.
func (s *series) alignParts() {
	if s.native == nil {
		return
	}
	for _, family := range s.native.families {
		for _, part := range family.parts[1:] {
			part.parts = family.parts[0].parts
		}
	}
}

// readFor returns the series that are read for all of a list.
func readFor(all []*series) []*series {
	if !slices.ContainsFunc(all, isNative) {
		return all
	}
	var list []*series
	for _, s := range all {
		s.each(func(s *series) { list = append(list, s) })
	}
	return sortSeries(list, false)
}

func isNative(s *series) bool { return s.native != nil }

// loadNative reads a series of native histograms.
func (a *readAhead) loadNative(ctx context.Context, s *series) *iterator {
	out := a.iterator()
	list := readFor([]*series{s})
	its := make(map[*series]*iterator, len(list))
	for _, one := range list {
		its[one] = a.iterator()
	}
	err := eachRun(ctx, list, func(ctx context.Context, memory *scratch, run []*series) error {
		return readParts(ctx, memory, run, func(s *series) *iterator { return its[s] },
			func(s *series, it *iterator) error { return s.selection.source.cover(ctx, it) })
	})
	if err == nil {
		out.joinParts(s, its)
		if out.begins != nil {
			out.cover()
		}
		s.selection.mark(out)
		err = s.selection.source.cover(ctx, out)
	}
	out.err, out.loaded = err, true
	for _, it := range its {
		a.free = append(a.free, it)
	}
	return out
}

// chooseNative chooses the reading of parts by a policy.
func (sel *selection) chooseNative(policy *model.ArchivePolicy) (*reading, error) {
	switch f := sel.function; f {
	case "", "first_over_time", "last_over_time":
		if stores(policy, carbonara.Increase) && stores(policy, carbonara.Resets) { // with the times of measures
			return &reading{kind: readCounter, columns: counterColumns, exact: f != "", raw: true}, nil
		}
		if f == "" {
			break
		}
		fallthrough
	case "sum_over_time", countFunction:
		return sel.overTimeReading(policy, functionMethods[sel.function])
	case "rate", "increase":
		return sel.rateReading(policy, carbonara.Max)
	}
	r, err := sel.baseReading(policy, "")
	if err == nil && sel.length > 0 {
		r.note = warning("%s of native histograms is that of one histogram a group", sel.shownFunction())
	}
	return r, err
}

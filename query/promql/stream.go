package promql

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
)

// stream is the series of a pipeline whose results are groups. Each is made when its turn comes, in memory that later
// ones use again, and without its labels: a million series then take little more than their order does.
type stream struct {
	found  []found // in order
	kinds  []kind
	names  []labels.Labels // by kind: the name alone
	memory []series
	some   []*series
}

// found is a series before its turn.
type found struct {
	id          uuid.UUID
	sack, group int32
	kind        uint32
}

// kind is what many series have in common.
type kind struct {
	name, policy string
	pushed       bool
}

const (
	foundBytes    = 64      // that one takes in the list of them, and in the list in order
	mostInBlock   = 1 << 14 // that are found, in one piece of memory
	mostInStream  = 1 << 16 // series that are made at once
	streamedBytes = 512     // that each of these takes, with its reads
)

// findStream makes a stream of the series that a pipeline selects, and their groups. ok is false if other labels than
// those of groups matter.
func (c *computation) findStream(ctx context.Context, matchers []*labels.Matcher) (ok bool, err error) {
	if !c.Aggregates() || c.Ranks() || len(c.sel.methods) > 0 || c.GroupsByName() && c.DropsNames() {
		return false, nil
	}
	s, fold, archives := &stream{}, c.NewFold(c.at.N), c.source.engine.options.Archives
	numbers, sameName := map[kind]uint32{}, true
	var shown labels.Labels
	var block []found // since a list that grows is copied, and a collector is behind with its copies
	var blocks [][]found
	n, last := 0, uint32(0)
	distinct, err := c.source.engine.options.Series.Each(ctx, c.source.Sees, foundBytes, matchers,
		func(f *postings.Found) error {
			if f.Part() != "" {
				return errHistograms
			}
			one := found{id: f.ID()}
			of := kind{f.Name(), f.Policy(), f.Pushed()}
			one.kind = last // most are of the same kind as the one before
			if n == 0 || s.kinds[last] != of {
				var known bool
				if one.kind, known = numbers[of]; !known {
					one.kind = uint32(len(s.kinds))
					numbers[of], s.kinds = one.kind, append(s.kinds, of)
					s.names = append(s.names, labels.FromStrings(model.LabelName, of.name))
				}
				last = one.kind
			}
			sameName = sameName && of.name == s.kinds[0].name && !f.Has("__type__") && !f.Has("__unit__")
			if c.Groups() {
				f.OverwriteLabels(&shown)
			}
			one.group, one.sack = fold.Group(shown), int32(archives.Sack(one.id))
			if len(block) == cap(block) {
				block = make([]found, 0, min(max(n, 16), mostInBlock))
				blocks = append(blocks, block)
			}
			block = append(block, one)
			blocks[len(blocks)-1] = block
			n++
			return nil
		})
	if err != nil || !distinct || c.DropsNames() && !sameName {
		return false, err
	}
	s.found = inOrder(blocks, func(f *found) int { return int(f.sack) },
		func(a, b found) int { return model.CompareIDs(a.id, b.id) })
	c.stream, c.fold, c.n = s, fold, n
	return true, nil
}

// next makes the series from one place to another. Those whose policies lack the method are left out.
func (c *computation) next(ctx context.Context, from, to int) ([]*series, error) {
	if c.stream == nil {
		return c.all[from:to], nil
	}
	s := c.stream
	s.memory, s.some = slices.Grow(s.memory[:0], to-from), s.some[:0]
	archives := c.source.engine.options.Archives
	for _, f := range s.found[from:to] {
		k := &s.kinds[f.kind]
		policy := c.source.policy(k.policy)
		r, err := c.sel.readingOf(readingKey{policy, c.sel.method, false})
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		s.memory = append(s.memory, series{ctx: ctx, selection: c.sel, pushed: k.pushed, name: k.name,
			labels: s.names[f.kind], metric: model.Metric{ID: f.id, ArchivePolicy: policy}, reading: r,
			archives: archives, sack: int(f.sack), place: from + len(s.some), group: f.group})
		one := &s.memory[len(s.memory)-1]
		one.choose()
		s.some = append(s.some, one)
	}
	return s.some, nil
}

// inOrder returns items by sack, and in a sack as compare has them. Items that were created together mostly lie so.
func inOrder[T any](blocks [][]T, sackOf func(*T) int, compare func(a, b T) int) []T {
	var next []int // by sack: where its next item goes
	all := 0
	for _, items := range blocks {
		all += len(items)
		for i := range items {
			sack := sackOf(&items[i])
			for len(next) < sack+2 {
				next = append(next, 0)
			}
			next[sack+1]++
		}
	}
	for sack := 1; sack < len(next); sack++ {
		next[sack] += next[sack-1]
	}
	ordered := make([]T, all)
	for _, items := range blocks {
		for i := range items {
			sack := sackOf(&items[i])
			ordered[next[sack]] = items[i]
			next[sack]++
		}
	}
	from := 0
	for _, to := range next {
		if of := ordered[from:to]; !slices.IsSortedFunc(of, compare) {
			slices.SortStableFunc(of, compare)
		}
		from = to
	}
	return ordered
}

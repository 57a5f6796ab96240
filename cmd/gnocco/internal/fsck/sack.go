package fsck

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// sackWalk is what a walk through a sack's store has met.
type sackWalk struct {
	name   string
	values []damagedValue // splits, raw series and counts with operands that do not decode
	holes  []engine.Hole
	odd    map[uuid.UUID]map[time.Duration]int
	last   uuid.UUID
}

// readable reports whether no hole lies between two keys: reading one takes long, and fails.
func (w *sackWalk) readable(first, last []byte) bool {
	return !slices.ContainsFunc(w.holes, func(h engine.Hole) bool {
		return bytes.Compare(h.After, last) < 0 && (h.Before == nil || bytes.Compare(first, h.Before) < 0)
	})
}

// damagedValue is a value of which some operands do not decode.
type damagedValue struct {
	key             []byte
	intact, damaged [][]byte
}

// refusedSack is about a sack that a server does without.
func (c *check) refusedSack(ctx context.Context, number int, reason error) error {
	name := sackName(number)
	if c.options.givesUp(name) {
		return c.giveUpSack(ctx, number, reason)
	}
	c.refuse(name, reason)
	return nil
}

// sack checks the store of a sack, and repairs it if that is asked for.
func (c *check) sack(ctx context.Context, number int) error {
	name := sackName(number)
	refused := c.openError(name)
	dir, err := c.data.SackDir(number)
	if err != nil || dir == "" && refused == nil {
		return err
	}
	c.report.Stores++
	if refused != nil {
		if dir != "" {
			c.tables(name, dir)
		}
		return c.refusedSack(ctx, number, refused)
	}
	w := &sackWalk{name: name, odd: make(map[uuid.UUID]map[time.Duration]int)}
	damagedTables := c.tables(w.name, dir)
	c.doubts(w.name, dir)
	store, err := archive.Open(dir, archive.Options{ReadOnly: true, Sack: c.sackOf(number)})
	if err != nil {
		return c.refusedSack(ctx, number, err)
	}
	if err := c.walkSack(ctx, store, number, w); err != nil {
		return closeAfter(store, err)
	}
	c.noteOddities(w)
	first := len(c.report.Findings)
	losses := c.losses(w, number)
	for i := range losses {
		if err := findRemedy(ctx, store, w, &losses[i]); err != nil {
			return closeAfter(store, err)
		}
		c.add(losses[i].finding)
	}
	if err := store.Close(); err != nil && damagedTables == 0 && len(w.holes) == 0 {
		return err
	}
	if !c.options.Repair || len(losses)+len(w.holes)+damagedTables == 0 {
		return nil
	}
	if err := c.repairSack(ctx, dir, number, damagedTables+len(w.holes) > 0, losses); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	for i := range c.report.Findings {
		if f := &c.report.Findings[i]; f.Store == w.name && (i >= first || f.Damage) {
			f.Repaired = f.Damage
		}
	}
	return nil
}

// sackOf returns which sack a store must be.
func (c *check) sackOf(number int) archive.Sack {
	return archive.Sack{Number: number, Of: c.data.Cluster.Sacks}
}

func closeAfter(store *archive.Store, err error) error {
	_ = store.Close() // what went wrong before matters more
	return err
}

// walkSack reads all of a sack's store.
func (c *check) walkSack(ctx context.Context, store *archive.Store, number int, w *sackWalk) (err error) {
	resume := func(after []byte) [][]byte { return c.resume(number, after) }
	w.holes, err = engine.Walk(store.DB(), resume, func(key, value []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, damaged := archive.Verify(key, value); len(damaged) > 0 {
			v := damagedValue{key: bytes.Clone(key)}
			// operands share memory, and the value's is Pebble's
			v.intact, v.damaged = archive.Verify(key, bytes.Clone(value))
			w.values = append(w.values, v)
		}
		c.visit(w, key)
		return nil
	})
	if err != nil {
		return err
	}
	if err := store.EachMark(func(source string, sequence uint64) error {
		if above, ok := c.highest[source]; ok && sequence >= above {
			c.damage(w.name, "mark %d of incoming store %s is ahead of all that the store has given: "+
				"what it gives next would be taken for processed; was the store restored from an old copy?", sequence,
				source)
		}
		return nil
	}); err != nil && len(w.holes) == 0 {
		return err
	}
	quarantined, aside := 0, 0
	if err := store.EachAside(func(a archive.Aside) error {
		if a.Key == nil {
			quarantined++
		} else {
			aside++
		}
		return nil
	}); err != nil && len(w.holes) == 0 {
		return err
	}
	if quarantined > 0 {
		c.note(w.name, "%s kept that did not decode", counted.Of(quarantined, "incoming block"))
	}
	if aside > 0 {
		c.note(w.name, "%s kept that an earlier repair set aside", counted.Of(aside, "operand"))
	}
	return nil
}

// visit counts what a key stands for, and notes what the index does not account for.
func (c *check) visit(w *sackWalk, key []byte) {
	metric, kind, split, ok := archive.ParseKey(key)
	if !ok {
		return
	}
	if metric != w.last {
		w.last = metric
		c.report.Metrics++
	}
	if c.known != nil && c.known[metric] == nil {
		c.orphans[metric]++
	}
	switch kind {
	case archive.KindRaw:
		c.report.RawSeries++
	case archive.KindSplit:
		c.report.Splits++
		if m := c.known[metric]; m != nil && !m.SchemaPending() && !m.ArchivePolicy.HasGranularity(split.Granularity) {
			if w.odd[metric] == nil {
				w.odd[metric] = make(map[time.Duration]int)
			}
			w.odd[metric][split.Granularity]++
		}
	}
}

func (c *check) noteOddities(w *sackWalk) {
	for id, granularities := range w.odd {
		for g, n := range granularities {
			c.note(w.name, "metric %s has %s of granularity %v, which its archive policy %s does not have", id,
				counted.Of(n, "split"), g, c.known[id].ArchivePolicy.Name)
		}
	}
}

// maxResume bounds how many splits of a metric are tried behind a hole before the next granularity is.
const maxResume = 10_000

// resume names keys behind one where a store that could not be read goes on, perhaps: the splits of the same metric,
// and the metrics that the index knows.
func (c *check) resume(number int, after []byte) [][]byte {
	var keys [][]byte
	latest := carbonara.FromTime(time.Now())
	metric, kind, split, ok := archive.ParseKey(after)
	if ok {
		var granularities []time.Duration
		if m := c.known[metric]; m != nil {
			granularities = m.ArchivePolicy.Granularities()
		}
		for _, g := range granularities {
			first := carbonara.SplitKey{Granularity: g}
			if kind == archive.KindSplit && g == split.Granularity {
				first = split
			}
			keys = append(keys, archive.SplitKey(metric, first))
			if kind != archive.KindSplit || g != split.Granularity {
				continue
			}
			for n := 0; n < maxResume && first.Start < latest; n++ {
				first = first.Next()
				keys = append(keys, archive.SplitKey(metric, first))
			}
		}
	}
	for _, id := range c.bySack[number] {
		if !ok || model.CompareIDs(id, metric) > 0 {
			keys = append(keys, archive.RawKey(id))
		}
	}
	return keys
}

// loss is a split, or a range of splits, that is damaged or gone; or a raw series.
type loss struct {
	metric  *model.Metric // nil if the index does not know it
	value   *damagedValue // nil for a hole
	finding Finding

	// recomputed are the groups that the remedy computed, to be written over the intact ones.
	recomputed []*carbonara.Groups
}

// losses says what the damage of a walk means, metric by metric.
func (c *check) losses(w *sackWalk, number int) []loss {
	var losses []loss
	for i := range w.values {
		v := &w.values[i]
		metric, kind, split, ok := archive.ParseKey(v.key)
		f := Finding{Store: w.name, Damage: true, Metric: metric, Name: c.name(metric)}
		operands := len(v.damaged) + len(v.intact)
		f.What = fmt.Sprintf("%d of %s damaged: %s", len(v.damaged), counted.Of(operands, "operand"), archive.KeyOf(v.key))
		if ok && kind == archive.KindSplit {
			f.Granularity, f.From, f.To = split.Granularity, split.Start, split.End()
		}
		losses = append(losses, loss{metric: c.known[metric], value: v, finding: f})
	}
	for _, h := range w.holes {
		losses = append(losses, c.holeLosses(w, number, h)...)
	}
	return losses
}

// holeLosses says which raw series and splits of known metrics may have lain in a hole.
func (c *check) holeLosses(w *sackWalk, number int, h engine.Hole) []loss {
	inside := func(key []byte) bool {
		return bytes.Compare(key, h.After) > 0 && (h.Before == nil || bytes.Compare(key, h.Before) < 0)
	}
	c.damage(w.name, "cannot be read behind %s, before %s: %v", archive.KeyOf(h.After), archive.KeyOf(h.Before), h.Err)
	var losses []loss
	for _, id := range c.bySack[number] {
		m := c.known[id]
		lost := func(what string) *loss {
			f := Finding{Store: w.name, Damage: true, Metric: id, Name: c.name(id), What: what}
			losses = append(losses, loss{metric: m, finding: f})
			return &losses[len(losses)-1]
		}
		if inside(archive.RawKey(id)) {
			lost("the raw series, if there was one, cannot be read")
		}
		for _, g := range m.ArchivePolicy.Granularities() {
			from, to := carbonara.Timestamp(0), carbonara.MaxTimestamp
			first := archive.SplitKey(id, carbonara.SplitKey{Granularity: g})
			end := archive.SplitKey(id, carbonara.SplitKey{Granularity: g, Start: carbonara.MaxTimestamp})
			if metric, _, split, ok := archive.ParseKey(h.After); ok && metric == id && split.Granularity == g {
				from = split.End()
			} else if bytes.Compare(h.After, first) > 0 && bytes.Compare(h.After, end) > 0 {
				continue
			}
			if metric, _, split, ok := archive.ParseKey(h.Before); ok && metric == id && split.Granularity == g {
				to = split.Start
			} else if h.Before != nil && bytes.Compare(h.Before, first) <= 0 {
				continue
			}
			if from < to {
				l := lost("splits cannot be read")
				l.finding.Granularity, l.finding.From, l.finding.To = g, from, to
			}
		}
	}
	return losses
}

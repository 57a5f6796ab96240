package fsck

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"gnocco/cmd/gnocco/internal/offline"
	"gnocco/model"
	"gnocco/storage/index"
)

// check is a check under way.
type check struct {
	data   *offline.Data
	repair bool
	report Report

	known   map[uuid.UUID]*model.Metric // of the index, those marked deleted too; nil if it cannot be read
	bySack  [][]uuid.UUID               // the same, sorted
	highest map[string]uint64           // of each incoming store by identity: a sequence that is above all it has given
}

// Check checks a data folder. With repair it also puts right what can be.
func Check(ctx context.Context, data *offline.Data, repair bool) (*Report, error) {
	c := &check{data: data, repair: repair, bySack: make([][]uuid.UUID, data.Cluster.Sacks), highest: make(map[string]uint64)}
	if err := c.index(ctx); err != nil {
		return nil, err
	}
	nodes, err := data.IncomingDirs()
	if err != nil {
		return nil, err
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.incoming("incoming/"+node, nodes[node])
	}
	for sack := range data.Cluster.Sacks {
		if err := c.sack(ctx, sack); err != nil {
			return nil, fmt.Errorf("sack %d: %w", sack, err)
		}
	}
	return &c.report, nil
}

func (c *check) add(f Finding) { c.report.Findings = append(c.report.Findings, f) }

// damage adds what is wrong with a store as a whole.
func (c *check) damage(store, format string, args ...any) {
	c.add(Finding{Store: store, Damage: true, What: fmt.Sprintf(format, args...)})
}

// note adds what is worth knowing.
func (c *check) note(store, format string, args ...any) {
	c.add(Finding{Store: store, What: fmt.Sprintf(format, args...)})
}

// index checks the index, and reads which metrics there are.
func (c *check) index(ctx context.Context) error {
	const name = "index"
	c.report.Stores++
	if dir, err := c.data.IndexDir(); err != nil {
		return err
	} else if dir != "" {
		c.tables(name, dir)
	}
	store, err := c.data.Index()
	if err != nil {
		c.damage(name, "cannot be opened: %v", err)
		return nil
	}
	c.known = make(map[uuid.UUID]*model.Metric)
	for _, deleted := range []bool{false, true} {
		metrics, err := store.ListMetrics(ctx, index.MetricQuery{Deleted: deleted})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.damage(name, "metrics cannot be read: %v", err)
			c.known = nil
			return nil
		}
		for _, m := range metrics {
			c.known[m.ID] = m
			sack := model.Sack(m.ID, c.data.Cluster.Sacks)
			c.bySack[sack] = append(c.bySack[sack], m.ID)
		}
	}
	for _, ids := range c.bySack {
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	}
	for _, t := range store.ResourceTypes() {
		// Each type's revisions hold its resources' present states too. Generic would hold all types'.
		if err := store.EachRevision(ctx, t.Name, func(*model.Resource) bool { return true }); err != nil {
			c.damage(name, "resources of type %s cannot be read: %v", t.Name, err)
		}
	}
	n, err := c.data.CorruptIndexValues()
	if n > 0 {
		c.damage(name, "values were met %d times that do not decode; they are left out, and kept", n)
	}
	return err
}

// name says which metric this is: its name and resource.
func (c *check) name(id uuid.UUID) string {
	m := c.known[id]
	switch {
	case m == nil:
		return ""
	case m.ResourceID != nil:
		return fmt.Sprintf("%q of resource %s", m.Name, *m.ResourceID)
	case m.Name != "":
		return fmt.Sprintf("%q", m.Name)
	}
	return ""
}

package fsck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index"
)

// check is a check under way.
type check struct {
	data    *offline.Data
	options Options
	report  Report

	known   map[uuid.UUID]*model.Metric // of the index, those marked deleted too; nil if it cannot be read
	bySack  [][]uuid.UUID               // the same, sorted
	orphans map[uuid.UUID]int           // metrics that the index does not know, with their values in sacks
	highest map[string]uint64           // of each incoming store by identity: a sequence that is above all it has given
	waiting map[uuid.UUID]*waiting      // measures in incoming stores, of the metrics of sacks that are given up
}

// Check checks a data folder.
func Check(ctx context.Context, data *offline.Data, options Options) (*Report, error) {
	if err := options.Validate(data.Cluster.Sacks); err != nil {
		return nil, err
	}
	c := &check{
		data: data, options: options,
		bySack:  make([][]uuid.UUID, data.Cluster.Sacks),
		orphans: make(map[uuid.UUID]int),
		highest: make(map[string]uint64),
		waiting: make(map[uuid.UUID]*waiting),
	}
	if err := c.key(); err != nil {
		return nil, err
	}
	if err := c.clocks(); err != nil {
		return nil, err
	}
	if err := c.index(ctx); err != nil {
		return nil, err
	}
	names, err := c.incomingNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.incoming(ctx, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for sack := range data.Cluster.Sacks {
		if err := c.sack(ctx, sack); err != nil {
			return nil, fmt.Errorf("sack %d: %w", sack, err)
		}
	}
	c.noteOrphans()
	for _, name := range options.GiveUp {
		decided := func(f Finding) bool { return f.Store == name && (f.GivenUp || f.Refused) }
		if !slices.ContainsFunc(c.report.Findings, decided) {
			c.note(name, "was not given up: a server takes it")
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

// doubts reports what cannot be proved of a store's logs and manifest. Certain damage shows when the store is opened.
func (c *check) doubts(store, dir string) {
	doubts, err := engine.Check(vfs.Default, dir)
	if err != nil {
		return
	}
	for _, doubt := range doubts {
		c.damage(store, "%v; the next start goes on without it, and keeps the file", doubt)
	}
}

// index checks the index, and reads which metrics there are.
func (c *check) index(ctx context.Context) error {
	const name = datafolder.IndexName
	c.report.Stores++
	refused := c.openError(name)
	dir, err := c.data.IndexDir()
	if err != nil {
		return err
	}
	if dir != "" {
		c.tables(name, dir)
		c.doubts(name, dir)
	}
	store, err := c.data.Index()
	if err == nil {
		err = offline.InStore(dir, func(*pebble.DB) error { return nil })
	}
	if err != nil {
		c.refuseIndex(cmp.Or(refused, err))
		return nil
	}
	if refused != nil {
		if err := c.acceptIndex(ctx, dir, refused); err != nil {
			return err
		}
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
		slices.SortFunc(ids, model.CompareIDs)
	}
	for _, t := range store.ResourceTypes() {
		// Each type's revisions also hold its resources' present states. Generic would hold all types'.
		if err := store.EachRevision(ctx, t.Name, func(*model.Resource) bool { return true }); err != nil {
			c.damage(name, "resources of type %s cannot be read: %v", t.Name, err)
		}
	}
	n, err := c.data.CorruptIndexValues()
	if n > 0 {
		c.damage(name, "%s with values that do not decode; they are left out, and kept", counted.Of(n, "read"))
	}
	return err
}

// noteOrphans tells of archives that no metric leads to. Some are left behind by a deletion. If that is so of all, the
// index is what is wrong.
func (c *check) noteOrphans() {
	if len(c.orphans) > 0 && len(c.known) == 0 {
		c.damage("index", "it knows none of the %s that have archives", counted.Of(len(c.orphans), "metric"))
		return
	}
	for id, keys := range c.orphans {
		c.note(sackName(model.Sack(id, c.data.Cluster.Sacks)), "metric %s is not in the index: %s",
			id, counted.Of(keys, "value"))
	}
}

// key checks the secret by which processes know each other: without it no server starts.
func (c *check) key() error {
	path := filepath.Join(c.data.Path, "key")
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil // the next server makes one
	}
	_, err := peer.LoadKey(c.data.Path)
	if err == nil {
		return nil
	}
	what := oneLine(err) + "; a repair removes it, and the next server makes another"
	f := Finding{Store: "key", Damage: true, What: what}
	if c.options.Repair {
		if err := os.Remove(path); err != nil {
			return err
		}
		f.Repaired = true
	}
	c.add(f)
	return nil
}

// clocks checks the moments from which machines' clocks count. Without its own one, a machine's processes do not start.
func (c *check) clocks() error {
	names, err := c.data.DamagedClocks()
	for _, name := range names {
		f := Finding{Store: name, Damage: true, What: "does not decode; a server of this machine, " +
			"unless that was started anew since, does not start. " +
			"A repair sets it aside, and the machine gets another clock"}
		if c.options.Repair {
			if err := c.data.SetClockAside(name); err != nil {
				return err
			}
			f.Repaired = true
		}
		c.add(f)
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

// Options of a check. The zero value changes nothing.
type Options struct {
	Repair bool     // put right what can be
	GiveUp []string // with Repair: stores whose loss is accepted: "index", "incoming/<name>", "sacks/005"
}

// Validate refuses names that no store can have.
func (o *Options) Validate(sacks int) error {
	for _, name := range o.GiveUp {
		kind, rest, _ := strings.Cut(name, "/")
		known := name == "index" || kind == "incoming" && rest != "" && !strings.Contains(rest, "/")
		for sack := range sacks {
			known = known || name == sackName(sack)
		}
		if !known {
			return fmt.Errorf("there is no store %q: give-up takes index, incoming/NAME or %s to %s",
				name, sackName(0), sackName(sacks-1))
		}
	}
	if len(o.GiveUp) > 0 && !o.Repair {
		return fmt.Errorf("give-up needs repair: without it nothing changes")
	}
	return nil
}

// givesUp reports whether the loss of a store is accepted.
func (o *Options) givesUp(name string) bool { return o.Repair && slices.Contains(o.GiveUp, name) }

func sackName(sack int) string { return fmt.Sprintf("sacks/%03d", sack) }

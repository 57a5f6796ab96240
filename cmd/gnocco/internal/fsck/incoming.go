package fsck

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// waiting are the measures of a metric in incoming stores.
type waiting struct {
	measures int
	from, to carbonara.Timestamp
}

// incomingNames returns the names of the incoming stores that are there, and of those that should be.
func (c *check) incomingNames() ([]string, error) {
	dirs, err := c.data.IncomingDirs()
	if err != nil {
		return nil, err
	}
	names, err := claim.Known(vfs.Default, c.data.Path, strings.TrimSuffix(datafolder.IncomingPrefix, "/"))
	for node := range dirs {
		names = append(names, datafolder.IncomingPrefix+node)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// incoming checks an incoming store: each record must decode. Those that do not are put into quarantine by the next
// start, so there is nothing to repair here.
func (c *check) incoming(ctx context.Context, name string) error {
	refused := c.openError(name)
	dir, err := offline.Current(filepath.Join(c.data.Path, name))
	if err != nil || dir == "" && refused == nil {
		return err
	}
	c.report.Stores++
	found := make(map[uuid.UUID]*waiting)
	whole := true
	if dir != "" {
		whole = c.tables(name, dir) == 0
		c.doubts(name, dir)
		err := offline.InStore(dir, func(db *pebble.DB) error {
			holes, err := engine.Walk(db, nil, func(key, value []byte) error {
				c.incomingEntry(db, name, key, value, found)
				return ctx.Err()
			})
			for _, h := range holes {
				whole = false
				c.damage(name, "cannot be read between keys %x and %x: %v", h.After, h.Before, h.Err)
			}
			return err
		})
		if err == nil {
			err = c.data.OpenIncoming(dir)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && refused == nil {
			refused = err
		}
	}
	switch {
	case c.options.givesUp(name) && (refused != nil || !whole):
		return c.giveUpIncoming(ctx, name, refused, found)
	case refused != nil:
		c.refuse(name, refused)
	}
	for id, w := range found {
		c.waiting[id] = c.waiting[id].plus(w)
	}
	return nil
}

// incomingEntry checks what lies under a key, and adds the measures of sacks that are given up to found.
func (c *check) incomingEntry(db *pebble.DB, name string, key, value []byte, found map[uuid.UUID]*waiting) {
	entry, err := incoming.VerifyEntry(db, key, value)
	switch {
	case err != nil:
		c.damage(name, "%s: %v", entry, err)
	case entry.Store != "":
		c.highest[entry.Store] = entry.Above
		if entry.Sacks != c.data.Cluster.Sacks {
			c.damage(name, "was made for %s, the folder has %d", counted.Of(entry.Sacks, "sack"), c.data.Cluster.Sacks)
		}
	case entry.ClockOf == 0 && entry.List == 0:
		c.report.Blocks++
		if c.options.givesUp(name) || c.options.givesUp(sackName(entry.Sack)) {
			count(found, &entry.Measures)
		}
	}
}

func count(found map[uuid.UUID]*waiting, m *model.Measures) {
	for i, id := range m.Metrics {
		timestamps, _ := m.Of(i)
		if len(timestamps) > 0 {
			found[id] = found[id].plus(&waiting{len(timestamps), slices.Min(timestamps), slices.Max(timestamps)})
		}
	}
}

// plus returns the sum of two; the first may be nil.
func (w *waiting) plus(other *waiting) *waiting {
	if w == nil {
		return other
	}
	return &waiting{w.measures + other.measures, min(w.from, other.from), max(w.to, other.to)}
}

package fsck

import (
	"github.com/cockroachdb/pebble/v2"

	"gnocco/cmd/gnocco/internal/offline"
	"gnocco/storage/engine"
	"gnocco/storage/incoming"
)

// incoming checks an incoming store: each record must decode. Those that do not are put into quarantine by the next start, so
// there is nothing to repair here.
func (c *check) incoming(name, dir string) {
	c.report.Stores++
	c.tables(name, dir)
	err := offline.InStore(dir, func(db *pebble.DB) error {
		holes, err := engine.Walk(db, nil, func(key, value []byte) error {
			entry, err := incoming.VerifyEntry(key, value)
			switch {
			case err != nil:
				c.damage(name, "%s: %v", entry, err)
			case entry.Store != "":
				c.highest[entry.Store] = entry.Above
				if entry.Sacks != c.data.Cluster.Sacks {
					c.damage(name, "was made for %d sacks, the folder has %d", entry.Sacks, c.data.Cluster.Sacks)
				}
			default:
				c.report.Blocks++
			}
			return nil
		})
		for _, h := range holes {
			c.damage(name, "cannot be read between keys %x and %x: %v", h.After, h.Before, h.Err)
		}
		return err
	})
	if err != nil {
		c.damage(name, "cannot be opened: %v", err)
	}
}

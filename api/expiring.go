package api

import (
	"sync"
	"time"
)

// expiring is a cache of bounded size whose entries end after a time.
type expiring[K comparable, V any] struct {
	time time.Duration
	size int

	mu      sync.Mutex
	entries map[K]expiringEntry[V]
}

type expiringEntry[V any] struct {
	value V
	until time.Time
}

func (c *expiring[K, V]) init(d time.Duration, size int) {
	c.time, c.size, c.entries = d, size, map[K]expiringEntry[V]{}
}

func (c *expiring[K, V]) get(key K, now time.Time) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[key]
	if ok && !now.Before(entry.until) {
		delete(c.entries, key)
		ok = false
	}
	return entry.value, ok
}

// put keeps a value for the cache's time, but not beyond latest unless that is zero. A full cache drops what has ended
// or, if nothing has, an entry at random.
func (c *expiring[K, V]) put(key K, value V, now, latest time.Time) {
	until := now.Add(c.time)
	if !latest.IsZero() && latest.Before(until) {
		until = latest
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= c.size {
		for old, entry := range c.entries {
			if !now.Before(entry.until) {
				delete(c.entries, old)
			}
		}
	}
	if len(c.entries) >= c.size {
		for old := range c.entries {
			delete(c.entries, old)
			break
		}
	}
	c.entries[key] = expiringEntry[V]{value, until}
}

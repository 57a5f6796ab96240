package auth

import (
	"maps"
	"sync"
	"time"
)

// expiringCache is a cache of bounded size whose entries expire.
type expiringCache[K comparable, V any] struct {
	ttl  time.Duration
	size int

	mu      sync.Mutex
	entries map[K]cacheEntry[V]
}

type cacheEntry[V any] struct {
	value V
	until time.Time
}

func (c *expiringCache[K, V]) init(d time.Duration, size int) {
	c.ttl, c.size, c.entries = d, size, map[K]cacheEntry[V]{}
}

func (c *expiringCache[K, V]) get(key K, now time.Time) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[key]
	if ok && !now.Before(entry.until) {
		delete(c.entries, key)
		ok = false
	}
	return entry.value, ok
}

// renew keeps a value for another TTL.
func (c *expiringCache[K, V]) renew(key K, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, ok := c.entries[key]; ok {
		entry.until = now.Add(c.ttl)
		c.entries[key] = entry
	}
}

// put keeps a value until its TTL ends, or until latest if that is earlier and not zero. A full cache drops expired
// entries or, if there are none, a random one.
func (c *expiringCache[K, V]) put(key K, value V, now, latest time.Time) {
	until := now.Add(c.ttl)
	if !latest.IsZero() && latest.Before(until) {
		until = latest
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= c.size {
		maps.DeleteFunc(c.entries, func(_ K, e cacheEntry[V]) bool { return !now.Before(e.until) })
	}
	if len(c.entries) >= c.size {
		for old := range c.entries {
			delete(c.entries, old)
			break
		}
	}
	c.entries[key] = cacheEntry[V]{value, until}
}

package roster

import "github.com/gnocco-db/gnocco/internal/keyhash"

// Cache is a map with a limit. In a full cache, one of replaceEvery new keys replaces others, at random. Senders name
// their metrics in turn: if each new key got a place, a cache that is a little too small would have forgotten each key
// by the time of its next use. The caller locks.
type Cache[V any] struct {
	Limit int         // most that all values cost
	Cost  func(V) int // nil: 1

	values  map[keyhash.Hash]V
	used    int
	refused int // new keys that found the cache full
}

const replaceEvery = 8

// Get returns the value of a key.
func (c *Cache[V]) Get(key keyhash.Hash) (value V, ok bool) {
	value, ok = c.values[key]
	return value, ok
}

// Put sets the value of a key that the cache has, and offers a place to any other.
func (c *Cache[V]) Put(key keyhash.Hash, value V) {
	cost := c.costOf(value)
	if _, known := c.values[key]; known {
		c.Delete(key)
	} else if cost > c.Limit {
		return
	} else if c.used+cost > c.Limit {
		if c.refused++; c.refused%replaceEvery != 0 {
			return
		}
	}
	for other := range c.values {
		if c.used+cost <= c.Limit {
			break
		}
		c.Delete(other)
	}
	if c.values == nil {
		c.values = make(map[keyhash.Hash]V)
	}
	c.values[key] = value
	c.used += cost
}

// Delete forgets a key.
func (c *Cache[V]) Delete(key keyhash.Hash) {
	if value, ok := c.values[key]; ok {
		c.used -= c.costOf(value)
		delete(c.values, key)
	}
}

// Clear forgets all keys.
func (c *Cache[V]) Clear() { c.values, c.used = nil, 0 }

func (c *Cache[V]) costOf(value V) int {
	if c.Cost == nil {
		return 1
	}
	return c.Cost(value)
}

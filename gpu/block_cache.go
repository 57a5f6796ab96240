package gpu

import "container/list"

// BlockKey names what a block holds: for a series, its metric's ID and which column of it.
type BlockKey struct {
	ID   [16]byte
	Part uint32
}

// BlockCache keeps blocks on the device between batches, those used last up to a budget. Each has a version, so that what changed
// on the host meanwhile is not taken for current. Only the owner uses it.
type BlockCache struct {
	budget  int64
	bytes   int64
	entries map[BlockKey]*list.Element // of *cacheEntry
	order   list.List                  // the one used last is in front
	metrics *metrics
}

type cacheEntry struct {
	key     BlockKey
	version uint64
	block   *Block
}

func newBlockCache(budget int64, m *metrics) *BlockCache {
	return &BlockCache{budget: budget, entries: make(map[BlockKey]*list.Element), metrics: m}
}

// Use returns the block of a key at a version, which the lane uses from now on (Lane.Use); nil if it is not there. A block of
// another version is dropped.
func (c *BlockCache) Use(lane *Lane, key BlockKey, version uint64) (*Block, error) {
	element, ok := c.entries[key]
	if ok && element.Value.(*cacheEntry).version != version {
		c.remove(element)
		ok = false
	}
	if !ok {
		c.metrics.cacheMisses.Inc()
		return nil, nil
	}
	c.order.MoveToFront(element)
	c.metrics.cacheHits.Inc()
	block := element.Value.(*cacheEntry).block
	return block, lane.Use(block)
}

// Put keeps a block, with a reference of its own, in place of what the key had. The block was published, and Used tells how
// much of it means something. It reports false if the block is larger than the whole budget and was not kept.
func (c *BlockCache) Put(key BlockKey, version uint64, block *Block) bool {
	if block.Size > c.budget {
		c.Drop(key)
		return false
	}
	block.Retain() // before anything is dropped: it may be the same block
	c.Drop(key)
	for c.bytes > c.budget-block.Size {
		c.evict()
	}
	c.entries[key] = c.order.PushFront(&cacheEntry{key, version, block})
	c.add(block.Size)
	return true
}

// Renew gives the block of a key a new version, after it was added to. It reports false if there is none.
func (c *BlockCache) Renew(key BlockKey, version uint64) bool {
	element, ok := c.entries[key]
	if ok {
		element.Value.(*cacheEntry).version = version
		c.order.MoveToFront(element)
	}
	return ok
}

// Drop lets go of what a key has.
func (c *BlockCache) Drop(key BlockKey) {
	if element, ok := c.entries[key]; ok {
		c.remove(element)
	}
}

// Len returns the number of blocks, Bytes their size.
func (c *BlockCache) Len() int     { return len(c.entries) }
func (c *BlockCache) Bytes() int64 { return c.bytes }

// evict lets go of the block that was not used for longest; false if there is none.
func (c *BlockCache) evict() bool {
	element := c.order.Back()
	if element == nil {
		return false
	}
	c.metrics.cacheEvictions.Inc()
	c.remove(element)
	return true
}

func (c *BlockCache) remove(element *list.Element) {
	entry := c.order.Remove(element).(*cacheEntry)
	delete(c.entries, entry.key)
	c.add(-entry.block.Size)
	entry.block.Release()
}

func (c *BlockCache) add(bytes int64) {
	c.bytes += bytes
	c.metrics.cacheBytes.Set(float64(c.bytes))
}

package index

import (
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// putResource writes a resource that is new, and adds its keys to those that are still to be written.
func putResource(c *commits.Change, id uuid.UUID, value []byte, keys *sortedKeys) error {
	c.TouchResource(id)
	if err := c.Set(keyspace.IDKey(keyspace.Resource, id), value, nil); err != nil {
		return err
	}
	return records.EachResourceKey(id, value, func(key []byte) error {
		keys.add(key)
		return nil
	})
}

// replaceResource writes another value of a resource, and those of its keys that differ.
func replaceResource(c *commits.Change, id uuid.UUID, old, value []byte) error {
	c.TouchResource(id)
	was, err := records.ResourceKeys(id, old)
	if err != nil {
		return err
	}
	is, err := records.ResourceKeys(id, value)
	if err != nil {
		return err
	}
	for _, key := range was {
		if _, kept := slices.BinarySearch(is, key); !kept {
			if err := c.Delete([]byte(key), nil); err != nil {
				return err
			}
		}
	}
	for _, key := range is {
		if _, kept := slices.BinarySearch(was, key); !kept {
			if err := c.Set([]byte(key), nil, nil); err != nil {
				return err
			}
		}
	}
	return c.Set(keyspace.IDKey(keyspace.Resource, id), value, nil)
}

// dropResource deletes a resource and its keys.
func dropResource(c *commits.Change, id uuid.UUID, value []byte) error {
	c.TouchResource(id)
	if err := c.Delete(keyspace.IDKey(keyspace.Resource, id), nil); err != nil {
		return err
	}
	return records.EachResourceKey(id, value, func(key []byte) error { return c.Delete(key, nil) })
}

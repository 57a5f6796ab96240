package index

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"gnocco/model"
)

// catalog is all archive policies, their rules and resource types: few, and wanted often. It is never modified.
type catalog struct {
	policies    map[string]*model.ArchivePolicy
	sorted      []*model.ArchivePolicy // by name
	rules       []*model.ArchivePolicyRule
	types       map[string]*model.ResourceType // generic too
	sortedTypes []*model.ResourceType          // by name
}

// newCatalog keeps policies, rules and types.
func newCatalog(policies map[string]*model.ArchivePolicy, rules []*model.ArchivePolicyRule, types map[string]*model.ResourceType) *catalog {
	c := &catalog{policies: policies, rules: rules, types: types}
	c.sorted = slices.SortedFunc(maps.Values(policies), func(a, b *model.ArchivePolicy) int {
		return cmp.Compare(a.Name, b.Name)
	})
	c.sortedTypes = slices.SortedFunc(maps.Values(types), func(a, b *model.ResourceType) int {
		return cmp.Compare(a.Name, b.Name)
	})
	model.SortArchivePolicyRules(c.rules)
	return c
}

// with returns c with another policy of that name.
func (c *catalog) with(p *model.ArchivePolicy) *catalog {
	policies := maps.Clone(c.policies)
	policies[p.Name] = p
	return newCatalog(policies, slices.Clone(c.rules), c.types)
}

// without returns c without the policy of that name.
func (c *catalog) without(name string) *catalog {
	policies := maps.Clone(c.policies)
	delete(policies, name)
	return newCatalog(policies, slices.Clone(c.rules), c.types)
}

// withRules returns c with other rules, which it keeps.
func (c *catalog) withRules(rules []*model.ArchivePolicyRule) *catalog {
	return newCatalog(maps.Clone(c.policies), rules, c.types)
}

// withType returns c with another resource type of that name.
func (c *catalog) withType(t *model.ResourceType) *catalog {
	types := maps.Clone(c.types)
	types[t.Name] = t
	return newCatalog(c.policies, slices.Clone(c.rules), types)
}

// withoutType returns c without the resource type of that name.
func (c *catalog) withoutType(name string) *catalog {
	types := maps.Clone(c.types)
	delete(types, name)
	return newCatalog(c.policies, slices.Clone(c.rules), types)
}

func (c *catalog) resourceType(name string) (*model.ResourceType, error) {
	if t := c.types[name]; t != nil {
		return t, nil
	}
	return nil, model.NotFound(model.NounResourceType, name)
}

func (c *catalog) rule(name string) *model.ArchivePolicyRule {
	i := slices.IndexFunc(c.rules, func(r *model.ArchivePolicyRule) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return c.rules[i]
}

// loadCatalog reads the catalog. A policy or type that does not decode is fatal, other than a metric: it would take all
// its metrics or resources with it.
func (s *Store) loadCatalog() error {
	policies := map[string]*model.ArchivePolicy{}
	err := s.scan(context.Background(), []byte{prefixArchivePolicy}, nil, func(key, value []byte) (bool, error) {
		p, err := decodeArchivePolicy(string(key[1:]), value)
		if err != nil {
			return false, err
		}
		policies[p.Name] = p
		return true, nil
	})
	if err != nil {
		return err
	}
	var rules []*model.ArchivePolicyRule
	err = s.scan(context.Background(), []byte{prefixRule}, nil, func(key, value []byte) (bool, error) {
		r, err := decodeRule(string(key[1:]), value)
		if err != nil {
			return false, err
		}
		if policies[r.ArchivePolicyName] == nil {
			return false, fmt.Errorf("%w: archive policy rule %q: its archive policy does not exist", ErrCorrupt, r.Name)
		}
		rules = append(rules, r)
		return true, nil
	})
	if err != nil {
		return err
	}
	types := map[string]*model.ResourceType{model.GenericType: model.GenericResourceType()}
	err = s.scan(context.Background(), []byte{prefixResourceType}, nil, func(key, value []byte) (bool, error) {
		t, err := decodeResourceType(string(key[1:]), value)
		if err != nil {
			return false, err
		}
		types[t.Name] = t
		return true, nil
	})
	if err != nil {
		return err
	}
	s.catalog.Store(newCatalog(policies, rules, types))
	return nil
}

// writeCatalog replaces the catalog by the one that change returns. Such changes are rare, so the lock is held through
// the sync: the catalog in memory is then both what is durable and what is checked against.
func (s *Store) writeCatalog(ctx context.Context, change func(old *catalog, b *pebble.Batch) (*catalog, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.db.NewBatch()
	defer b.Close()
	updated, err := change(s.catalog.Load(), b)
	if err != nil {
		return err
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return err
	}
	s.catalog.Store(updated)
	return nil
}

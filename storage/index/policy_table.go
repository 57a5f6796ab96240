package index

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/records"
	"github.com/gnocco-db/gnocco/storage/index/search"
)

// policyTable holds the archive policies, their rules and the resource types.
type policyTable struct {
	log       *commits.Log
	current   atomic.Pointer[policiesAndTypes] // replaced under the log's lock
	metrics   *metrics.Table                   // its cache has policies
	resources *search.Resources
}

// policiesAndTypes holds all archive policies, their rules and all resource types: few, and wanted often. It is never
// modified.
type policiesAndTypes struct {
	policies    map[string]*model.ArchivePolicy
	sorted      []*model.ArchivePolicy // by name
	rules       []*model.ArchivePolicyRule
	types       map[string]*model.ResourceType // including generic
	sortedTypes []*model.ResourceType          // by name
}

// newPoliciesAndTypes keeps policies, rules and types.
func newPoliciesAndTypes(
	policies map[string]*model.ArchivePolicy, rules []*model.ArchivePolicyRule, types map[string]*model.ResourceType,
) *policiesAndTypes {
	c := &policiesAndTypes{policies: policies, rules: rules, types: types}
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
func (c *policiesAndTypes) with(p *model.ArchivePolicy) *policiesAndTypes {
	policies := maps.Clone(c.policies)
	policies[p.Name] = p
	return newPoliciesAndTypes(policies, slices.Clone(c.rules), c.types)
}

// without returns c without the policy of that name.
func (c *policiesAndTypes) without(name string) *policiesAndTypes {
	policies := maps.Clone(c.policies)
	delete(policies, name)
	return newPoliciesAndTypes(policies, slices.Clone(c.rules), c.types)
}

// withRules returns c with other rules, which it keeps.
func (c *policiesAndTypes) withRules(rules []*model.ArchivePolicyRule) *policiesAndTypes {
	return newPoliciesAndTypes(maps.Clone(c.policies), rules, c.types)
}

// withType returns c with another resource type of that name.
func (c *policiesAndTypes) withType(t *model.ResourceType) *policiesAndTypes {
	types := maps.Clone(c.types)
	types[t.Name] = t
	return newPoliciesAndTypes(c.policies, slices.Clone(c.rules), types)
}

// withoutType returns c without the resource type of that name.
func (c *policiesAndTypes) withoutType(name string) *policiesAndTypes {
	types := maps.Clone(c.types)
	delete(types, name)
	return newPoliciesAndTypes(c.policies, slices.Clone(c.rules), types)
}

func (c *policiesAndTypes) resourceType(name string) (*model.ResourceType, error) {
	if t := c.types[name]; t != nil {
		return t, nil
	}
	return nil, model.NotFound(model.NounResourceType, name)
}

func (c *policiesAndTypes) rule(name string) *model.ArchivePolicyRule {
	i := slices.IndexFunc(c.rules, func(r *model.ArchivePolicyRule) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return c.rules[i]
}

// load reads them from the store. A policy or type that does not decode is fatal, unlike a metric: it
// would take all its metrics or resources with it.
func (s *policyTable) load() error {
	policies := map[string]*model.ArchivePolicy{}
	err := s.log.Scan(context.Background(), []byte{keyspace.ArchivePolicy}, nil, func(key, value []byte) (bool, error) {
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
	err = s.log.Scan(context.Background(), []byte{keyspace.Rule}, nil, func(key, value []byte) (bool, error) {
		r, err := decodeRule(string(key[1:]), value)
		if err != nil {
			return false, err
		}
		if policies[r.ArchivePolicyName] == nil {
			return false, fmt.Errorf("%w: archive policy rule %q: its archive policy does not exist",
				records.ErrCorrupt, r.Name)
		}
		rules = append(rules, r)
		return true, nil
	})
	if err != nil {
		return err
	}
	types := map[string]*model.ResourceType{model.GenericType: model.GenericResourceType()}
	err = s.log.Scan(context.Background(), []byte{keyspace.ResourceType}, nil, func(key, value []byte) (bool, error) {
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
	s.current.Store(newPoliciesAndTypes(policies, rules, types))
	return nil
}

// changePolicies returns the policies, rules and types after a change, and adds the change to the batch.
type changePolicies func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error)

// change replaces them by the result of change. Such changes are rare, so the lock is held through the
// sync. The memory, which checks read, then equals the durable state. A changed type changes its resources.
func (s *policyTable) change(ctx context.Context, change changePolicies) error {
	return s.log.WriteSynced(ctx, func(b *pebble.Batch) (func(), error) {
		updated, err := change(s.current.Load(), b)
		return func() { s.current.Store(updated) }, err
	})
}

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

// edited returns c after an edit of a copy.
func (c *policiesAndTypes) edited(edit func(*policiesAndTypes)) *policiesAndTypes {
	n := policiesAndTypes{policies: maps.Clone(c.policies), rules: slices.Clone(c.rules), types: maps.Clone(c.types)}
	edit(&n)
	return newPoliciesAndTypes(n.policies, n.rules, n.types)
}

// with returns c with another policy of that name.
func (c *policiesAndTypes) with(p *model.ArchivePolicy) *policiesAndTypes {
	return c.edited(func(c *policiesAndTypes) { c.policies[p.Name] = p })
}

// withRules returns c with other rules, which it keeps.
func (c *policiesAndTypes) withRules(rules []*model.ArchivePolicyRule) *policiesAndTypes {
	return c.edited(func(c *policiesAndTypes) { c.rules = rules })
}

// withType returns c with another resource type of that name.
func (c *policiesAndTypes) withType(t *model.ResourceType) *policiesAndTypes {
	return c.edited(func(c *policiesAndTypes) { c.types[t.Name] = t })
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
	policies, types := map[string]*model.ArchivePolicy{}, map[string]*model.ResourceType{
		model.GenericType: model.GenericResourceType()}
	err := eachNamed(s.log, keyspace.ArchivePolicy, decodeArchivePolicy, func(p *model.ArchivePolicy) {
		policies[p.Name] = p
	})
	if err != nil {
		return err
	}
	var rules []*model.ArchivePolicyRule
	decode := func(name string, value []byte) (*model.ArchivePolicyRule, error) {
		r, err := decodeRule(name, value)
		if err == nil && policies[r.ArchivePolicyName] == nil {
			err = fmt.Errorf("%w: archive policy rule %q: its archive policy does not exist", records.ErrCorrupt, name)
		}
		return r, err
	}
	err = eachNamed(s.log, keyspace.Rule, decode, func(r *model.ArchivePolicyRule) { rules = append(rules, r) })
	if err != nil {
		return err
	}
	err = eachNamed(s.log, keyspace.ResourceType, decodeResourceType, func(t *model.ResourceType) { types[t.Name] = t })
	if err != nil {
		return err
	}
	s.current.Store(newPoliciesAndTypes(policies, rules, types))
	return nil
}

// eachNamed decodes the values of a kind, whose keys are names, and calls use with each.
func eachNamed[T any](log *commits.Log, kind byte, decode func(name string, value []byte) (T, error),
	use func(T)) error {
	return log.Scan(context.Background(), []byte{kind}, nil, func(key, value []byte) (bool, error) {
		v, err := decode(string(key[1:]), value)
		if err == nil {
			use(v)
		}
		return err == nil, err
	})
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

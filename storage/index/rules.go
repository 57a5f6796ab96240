package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// ArchivePolicyRules returns all, in the order in which they are tried. The slice and its rules are the store's own.
func (s *policyTable) ArchivePolicyRules() []*model.ArchivePolicyRule { return s.current.Load().rules }

// ArchivePolicyRule returns one by its name, or a model.ErrNotFound. The rule is the store's own.
func (s *policyTable) ArchivePolicyRule(name string) (*model.ArchivePolicyRule, error) {
	if r := s.current.Load().rule(name); r != nil {
		return r, nil
	}
	return nil, model.NotFound(model.NounArchivePolicyRule, name)
}

// CreateArchivePolicyRule keeps r, which must not be modified any more. It returns a model.ErrExists, or a
// model.ErrNotFound if its policy does not exist.
func (s *policyTable) CreateArchivePolicyRule(ctx context.Context, r *model.ArchivePolicyRule) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		switch {
		case old.rule(r.Name) != nil:
			return nil, model.Exists(model.NounArchivePolicyRule, r.Name)
		case old.policies[r.ArchivePolicyName] == nil:
			return nil, model.NotFound(model.NounArchivePolicy, r.ArchivePolicyName)
		}
		return old.withRules(append(slices.Clone(old.rules), r)), setRule(b, r)
	})
}

// RenameArchivePolicyRule returns the renamed rule, or a model.ErrNotFound or model.ErrExists. To its own name, a
// rule is renamed without effect.
func (s *policyTable) RenameArchivePolicyRule(ctx context.Context,
	name, newName string) (*model.ArchivePolicyRule, error) {
	var renamed model.ArchivePolicyRule
	err := s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		current := old.rule(name)
		if current == nil {
			return nil, model.NotFound(model.NounArchivePolicyRule, name)
		}
		renamed = *current
		renamed.Name = newName
		if err := renamed.Validate(); err != nil {
			return nil, err
		}
		if newName != name && old.rule(newName) != nil {
			return nil, model.Exists(model.NounArchivePolicyRule, newName)
		}
		if err := b.Delete(keyspace.NameKey(keyspace.Rule, name), nil); err != nil {
			return nil, err
		}
		return old.withRules(append(rulesWithout(old.rules, current), &renamed)), setRule(b, &renamed)
	})
	return &renamed, err
}

// DeleteArchivePolicyRule removes a rule, or returns a model.ErrNotFound.
func (s *policyTable) DeleteArchivePolicyRule(ctx context.Context, name string) error {
	return s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		r := old.rule(name)
		if r == nil {
			return nil, model.NotFound(model.NounArchivePolicyRule, name)
		}
		return old.withRules(rulesWithout(old.rules, r)), b.Delete(keyspace.NameKey(keyspace.Rule, name), nil)
	})
}

// MatchArchivePolicyRule returns the policy of the first rule that matches a metric's name ("" for none), or a
// model.ErrNotFound.
func (s *policyTable) MatchArchivePolicyRule(metricName string) (*model.ArchivePolicy, error) {
	c := s.current.Load()
	for _, r := range c.rules {
		if model.MatchPattern(r.MetricPattern, metricName) {
			return c.policies[r.ArchivePolicyName], nil
		}
	}
	return nil, fmt.Errorf("no archive policy rule matches metric %q: %w", metricName, model.ErrNotFound)
}

func rulesWithout(rules []*model.ArchivePolicyRule, r *model.ArchivePolicyRule) []*model.ArchivePolicyRule {
	return slices.DeleteFunc(slices.Clone(rules), func(other *model.ArchivePolicyRule) bool { return other == r })
}

// storedRule is a rule's value.
type storedRule struct {
	MetricPattern     string `json:"metric_pattern"`
	ArchivePolicyName string `json:"archive_policy_name"`
}

func setRule(b *pebble.Batch, r *model.ArchivePolicyRule) error {
	return records.SetJSON(b, keyspace.NameKey(keyspace.Rule, r.Name), storedRule{r.MetricPattern, r.ArchivePolicyName})
}

func decodeRule(name string, value []byte) (*model.ArchivePolicyRule, error) {
	var stored storedRule
	if err := records.DecodeJSON(value, &stored); err != nil {
		return nil, fmt.Errorf("archive policy rule %q: %w", name, err)
	}
	return &model.ArchivePolicyRule{Name: name, MetricPattern: stored.MetricPattern,
		ArchivePolicyName: stored.ArchivePolicyName}, nil
}

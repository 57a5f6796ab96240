package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// ArchivePolicies returns all, by name. The slice is the store's own.
func (s *policyTable) ArchivePolicies() []*model.ArchivePolicy { return s.current.Load().sorted }

// ArchivePolicy returns one by its name, or a model.ErrNotFound.
func (s *policyTable) ArchivePolicy(name string) (*model.ArchivePolicy, error) {
	if p := s.current.Load().policies[name]; p != nil {
		return p, nil
	}
	return nil, model.NotFound(model.NounArchivePolicy, name)
}

// CreateArchivePolicy keeps p, or returns a model.ErrExists.
func (s *policyTable) CreateArchivePolicy(ctx context.Context, p *model.ArchivePolicy) error {
	return s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		if old.policies[p.Name] != nil {
			return nil, model.Exists(model.NounArchivePolicy, p.Name)
		}
		return old.with(p), setArchivePolicy(b, p)
	})
}

// UpdateArchivePolicy replaces a policy by the result of update; the name must stay. It returns the new one, which its
// metrics then have.
func (s *policyTable) UpdateArchivePolicy(ctx context.Context, name string,
	update func(old *model.ArchivePolicy) (*model.ArchivePolicy, error)) (*model.ArchivePolicy, error) {
	var p *model.ArchivePolicy
	err := s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		current := old.policies[name]
		if current == nil {
			return nil, model.NotFound(model.NounArchivePolicy, name)
		}
		var err error
		if p, err = update(current); err != nil {
			return nil, err
		}
		if p.Name != name {
			return nil, &model.FieldError{Field: "name", Reason: "an archive policy cannot be renamed"}
		}
		return old.with(p), setArchivePolicy(b, p)
	})
	if err != nil {
		return nil, err
	}
	// A later update may have been faster: the policy in force counts.
	if p := s.current.Load().policies[name]; p != nil {
		s.metrics.ReplacePolicy(p)
	}
	return p, nil
}

// DeleteArchivePolicy removes a policy. It returns a model.ErrNotFound, or a model.ErrInUse if a rule or a metric has
// it, be the metric marked deleted.
func (s *policyTable) DeleteArchivePolicy(ctx context.Context, name string) error {
	return s.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		if old.policies[name] == nil {
			return nil, model.NotFound(model.NounArchivePolicy, name)
		}
		inUse := slices.ContainsFunc(old.rules, func(r *model.ArchivePolicyRule) bool {
			return r.ArchivePolicyName == name
		})
		err := s.log.Scan(ctx, keyspace.PolicyMetricPrefix(name), nil, func(_, _ []byte) (bool, error) {
			inUse = true
			return false, nil
		})
		if err != nil {
			return nil, err
		}
		if inUse {
			return nil, model.InUse(model.NounArchivePolicy, name)
		}
		without := old.edited(func(c *policiesAndTypes) { delete(c.policies, name) })
		return without, b.Delete(keyspace.NameKey(keyspace.ArchivePolicy, name), nil)
	})
}

// ExactPolicy is an archive policy in JSON: the value of its key, and what processes send each other. Methods are
// resolved, so a policy's methods do not change when the default methods do.
type ExactPolicy struct {
	Name       string            `json:"name,omitempty"` // none in a value, whose key has it
	BackWindow int               `json:"back_window"`
	Definition []exactDefinition `json:"definition"`
	Methods    []string          `json:"aggregation_methods"`

	SchemaPending bool `json:"schema_pending,omitempty"`
}

type exactDefinition struct {
	Granularity time.Duration `json:"granularity_ns"`
	Points      int64         `json:"points,omitempty"` // 0: unlimited
}

// ToExactPolicy returns a policy as JSON has it.
func ToExactPolicy(p *model.ArchivePolicy) ExactPolicy {
	exact := ExactPolicy{Name: p.Name, BackWindow: p.BackWindow, Methods: p.MethodNames(),
		SchemaPending: p.SchemaPending}
	for _, d := range p.Definition {
		exact.Definition = append(exact.Definition, exactDefinition{d.Granularity, d.Points})
	}
	return exact
}

// Policy is the inverse of ToExactPolicy.
func (e *ExactPolicy) Policy() (*model.ArchivePolicy, error) {
	var definition []model.DefinitionInput
	for _, d := range e.Definition {
		input := model.DefinitionInput{Granularity: &d.Granularity}
		if d.Points != 0 {
			input.Points = &d.Points
		}
		definition = append(definition, input)
	}
	p, err := model.NewArchivePolicy(e.Name, e.BackWindow, definition, e.Methods)
	if err != nil {
		return nil, fmt.Errorf("archive policy %q: %w", e.Name, err)
	}
	p.SchemaPending = e.SchemaPending
	return p, nil
}

func setArchivePolicy(b *pebble.Batch, p *model.ArchivePolicy) error {
	if slices.ContainsFunc(p.Methods(), carbonara.Method.IsFold) {
		if err := b.Set(keyspace.Version, []byte{foldsVersion}, nil); err != nil {
			return err
		}
	}
	exact := ToExactPolicy(p)
	exact.Name = ""
	return records.SetJSON(b, keyspace.NameKey(keyspace.ArchivePolicy, p.Name), exact)
}

func decodeArchivePolicy(name string, value []byte) (*model.ArchivePolicy, error) {
	var exact ExactPolicy
	if err := records.DecodeJSON(value, &exact); err != nil {
		return nil, fmt.Errorf("archive policy %q: %w", name, err)
	}
	exact.Name = name
	p, err := exact.Policy()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", records.ErrCorrupt, err)
	}
	return p, nil
}

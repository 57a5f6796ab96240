package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/gnocco-db/gnocco/model"
)

// database is one read-only transaction, which sees all tables as of one moment.
type database interface {
	// objects calls f with the rows of a FROM clause, as JSON whose values look as those of the REST API.
	objects(ctx context.Context, from string, f func([]byte) error) error
	quote(table string) string
}

// postgreSQL implements database.
type postgreSQL struct{ tx pgx.Tx }

func readPostgreSQL(ctx context.Context, address string) (d *definitions, err error) {
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err // it names no password
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
	tx, err := connection.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) }()
	return readDefinitions(ctx, postgreSQL{tx})
}

func (p postgreSQL) quote(table string) string { return pgx.Identifier{table}.Sanitize() }

func (p postgreSQL) objects(ctx context.Context, from string, f func([]byte) error) error {
	found, err := p.tx.Query(ctx, "SELECT row_to_json(t)::text FROM "+from)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			return err
		}
		if err := f([]byte(text)); err != nil {
			return err
		}
	}
	return found.Err()
}

// readDefinitions reads all definitions.
func readDefinitions(ctx context.Context, db database) (*definitions, error) {
	r := &databaseReader{
		db:       db,
		policies: make(map[string]*model.ArchivePolicy),
		kinds:    map[string]*model.ResourceType{model.GenericType: model.GenericResourceType()},
		tables:   make(map[string]string),
	}
	for _, read := range []func(context.Context) error{
		r.readPolicies, r.readRules, r.readTypes, r.readResources, r.readMetrics, // what others refer to comes first
	} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	return &r.d, nil
}

type databaseReader struct {
	db       database
	d        definitions
	policies map[string]*model.ArchivePolicy
	kinds    map[string]*model.ResourceType
	tables   map[string]string // of a resource type's attributes
}

// rows calls f with the rows of a FROM clause.
func rows[T any](ctx context.Context, r *databaseReader, from string, f func(*T) error) error {
	err := r.db.objects(ctx, from, func(object []byte) error {
		var row T
		if err := json.Unmarshal(object, &row); err != nil {
			return err
		}
		return f(&row)
	})
	if err != nil {
		return fmt.Errorf("database: %s: %w", from, err)
	}
	return nil
}

// document is a column of JSON, which may be one of text.
type document []byte

// UnmarshalJSON implements json.Unmarshaler.
func (d *document) UnmarshalJSON(src []byte) error {
	var text string
	if json.Unmarshal(src, &text) == nil {
		src = []byte(text)
	}
	*d = append((*d)[:0], src...)
	return nil
}

type policyRow struct {
	Name       string   `json:"name"`
	BackWindow int      `json:"back_window"`
	Definition document `json:"definition"`
	Methods    document `json:"aggregation_methods"`
}

func (r *databaseReader) readPolicies(ctx context.Context) error {
	return rows(ctx, r, "archive_policy t ORDER BY name", func(p *policyRow) error {
		var items []struct {
			Granularity float64
			Points      *int64
		}
		var methods []string
		if err := errors.Join(json.Unmarshal(p.Definition, &items), json.Unmarshal(p.Methods, &methods)); err != nil {
			return fmt.Errorf("archive policy %s: %w", p.Name, err)
		}
		var definition []model.DefinitionInput
		for _, item := range items {
			g := time.Duration(math.Round(item.Granularity * float64(time.Second)))
			definition = append(definition, model.DefinitionInput{Granularity: &g, Points: item.Points})
		}
		policy, err := model.NewArchivePolicy(p.Name, p.BackWindow, definition, methods)
		if err != nil {
			return fmt.Errorf("archive policy %s: %w", p.Name, err)
		}
		r.policies[p.Name], r.d.policies = policy, append(r.d.policies, policy)
		return nil
	})
}

func (r *databaseReader) readRules(ctx context.Context) error {
	return rows(ctx, r, "archive_policy_rule t", func(rule *ruleJSON) error {
		r.d.rules = append(r.d.rules, rule.model())
		return nil
	})
}

type typeRow struct {
	Name       string   `json:"name"`
	Table      string   `json:"tablename"`
	Attributes document `json:"attributes"`
}

func (r *databaseReader) readTypes(ctx context.Context) error {
	return rows(ctx, r, "resource_type t WHERE state = 'active'", func(row *typeRow) error {
		if row.Name == model.GenericType {
			return nil
		}
		shown := typeJSON{Name: row.Name}
		if err := json.Unmarshal(row.Attributes, &shown.Attributes); err != nil {
			return fmt.Errorf("resource type %s: %w", row.Name, err)
		}
		kind, err := shown.model()
		if err != nil {
			return err
		}
		r.kinds[row.Name], r.tables[row.Name], r.d.types = kind, row.Table, append(r.d.types, kind)
		return nil
	})
}

// readResources reads live and past states. A type's attributes lie in tables of its own, by the resource's ID or the
// past state's number.
func (r *databaseReader) readResources(ctx context.Context) error {
	states := make(map[uuid.UUID][]*model.Resource)
	for _, kind := range []struct{ table, suffix, key string }{
		{"resource", "", "id"},
		{"resource_history", "_history", "revision"},
	} {
		attributes := make(map[string]map[string]any) // by key
		for _, table := range r.tables {
			err := rows(ctx, r, r.db.quote(table+kind.suffix)+" t", func(row *map[string]any) error {
				attributes[fmt.Sprint((*row)[kind.key])] = *row
				return nil
			})
			if err != nil {
				return err
			}
		}
		err := rows(ctx, r, kind.table+" t", func(row *map[string]any) error {
			shown := *row
			for column, v := range attributes[fmt.Sprint(shown[kind.key])] {
				if column != kind.key {
					shown[column] = v
				}
			}
			state, err := resourceOf(shown, r.kinds)
			if err == nil {
				states[state.ID] = append(states[state.ID], state)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	r.d.resources = withPast(states)
	return nil
}

func (r *databaseReader) readMetrics(ctx context.Context) error {
	return rows(ctx, r, "metric t WHERE status = 'active'", func(m *metricJSON) error {
		metric, err := m.model(r.policies)
		if err == nil {
			r.d.metrics = append(r.d.metrics, metric)
		}
		return err
	})
}

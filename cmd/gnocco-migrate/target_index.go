package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// definitionsPerCommit is how many resources or metrics one commit of the index has.
const definitionsPerCommit = 1000

// putDefinitions writes the index of the pass anew. It returns definitions that it cannot keep as refusals.
func (t *target) putDefinitions(ctx context.Context, d *definitions) (refused []string, err error) {
	fresh := filepath.Join(t.stage, "index.new")
	if err := os.RemoveAll(fresh); err != nil {
		return nil, err
	}
	store, err := index.Open(filepath.Join(fresh, "e1"), index.Options{SkipDefaults: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	w := indexWriter{store: store}
	err = w.putAll(ctx, d)
	return w.refused, err
}

// indexWriter writes definitions into an index, and keeps what the index refused.
type indexWriter struct {
	store   *index.Store
	refused []string
}

// refuse notes a definition that the index refuses. An error that is not about the definition it returns.
func (w *indexWriter) refuse(ctx context.Context, what string, err error) error {
	about := errors.Is(err, model.ErrInvalid) || errors.Is(err, model.ErrExists) || errors.Is(err, model.ErrNotFound)
	if ctx.Err() != nil || !about {
		return err
	}
	w.refused = append(w.refused, fmt.Sprintf("%s: %v", what, err))
	return nil
}

func (w *indexWriter) putAll(ctx context.Context, d *definitions) error {
	for _, p := range d.policies {
		if err := w.store.CreateArchivePolicy(ctx, p); err != nil {
			return err
		}
	}
	for _, r := range d.rules {
		if err := w.store.CreateArchivePolicyRule(ctx, r); err != nil {
			if err := w.refuse(ctx, "rule "+r.Name, err); err != nil {
				return err
			}
		}
	}
	for _, k := range d.types {
		if err := w.store.CreateResourceType(ctx, k); err != nil {
			return err
		}
	}
	metrics := d.byResource()
	for chunk := range slices.Chunk(d.resources, definitionsPerCommit) {
		var batch []index.NewResource
		for _, r := range chunk {
			batch = append(batch, index.NewResource{Resource: r.live, Past: r.past, Metrics: metrics[r.live.ID]})
			delete(metrics, r.live.ID)
		}
		if err := w.putResources(ctx, batch); err != nil {
			return err
		}
	}
	for resource, of := range metrics { // of resources that the source does not have
		for chunk := range slices.Chunk(of, definitionsPerCommit) {
			if err := w.putMetrics(ctx, resource, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// putResources writes resources with their metrics, one by one if the index refuses any of them.
func (w *indexWriter) putResources(ctx context.Context, batch []index.NewResource) error {
	if w.store.CreateResources(ctx, batch) == nil {
		return nil
	}
	for i, n := range batch {
		if err := w.store.CreateResources(ctx, batch[i:i+1]); err != nil {
			if err := w.refuse(ctx, "resource "+n.Resource.ID.String(), err); err != nil {
				return err
			}
		}
	}
	return nil
}

// putMetrics writes metrics of one resource, one by one if the index refuses any of them.
func (w *indexWriter) putMetrics(ctx context.Context, resource uuid.UUID, batch []*model.Metric) error {
	if w.store.CreateMetrics(ctx, batch) == nil {
		return nil
	}
	for i, m := range batch {
		if err := w.store.CreateMetrics(ctx, batch[i:i+1]); err != nil {
			if err := w.refuse(ctx, fmt.Sprintf("metric %s of resource %s", m.ID, resource), err); err != nil {
				return err
			}
		}
	}
	return nil
}

package csvimport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// partBytes is from where on a part of an archive ends: a server takes bodies of a mebibyte, in base64.
const partBytes = 256 << 10

// sendAggregates puts the groups of Thanos' aggregates into archives, once these have all measures.
func (i *Importer) sendAggregates(ctx context.Context, used []*metric) error {
	var mu sync.Mutex // guards i.result and i.options.Note
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(i.options.Requests)
	for _, m := range used {
		if m.aggregates == nil || ctx.Err() != nil {
			continue
		}
		mu.Lock() // also reading counts
		groups, err := i.allGroups(m)
		if err == nil && len(groups) == 0 {
			i.result.Unkept++
		}
		mu.Unlock()
		if err != nil {
			return errors.Join(err, all.Wait())
		}
		if len(groups) == 0 {
			continue
		}
		m.offered = true
		all.Go(func() error {
			refused, err := i.putGroups(ctx, m, groups)
			mu.Lock()
			defer mu.Unlock()
			if client.HasStatus(err, http.StatusBadRequest) {
				i.options.Note(fmt.Sprintf("aggregates of %s are left out: %v", m, err))
				i.result.Unkept++
				return nil
			}
			if err != nil {
				return fmt.Errorf("csvimport: aggregates of %s: %w", m, err)
			}
			for j := range groups {
				i.result.Groups += int64(groups[j].Len())
			}
			if i.result.Occupied == 0 && len(refused) > 0 {
				i.options.Note(fmt.Sprintf("%s has other measures in %d periods of %v, first %s; its groups there stay as "+
					"they are", m, len(refused), m.limits.coarsest(), refused[0]))
			}
			i.result.Occupied += int64(len(refused))
			return nil
		})
	}
	err := all.Wait()
	for _, b := range i.blocks {
		b.noteHistograms()
	}
	return err
}

// putGroups puts groups into a metric's archive: as all that it has, or by a backfill, which returns the periods that
// it refused.
func (i *Importer) putGroups(ctx context.Context, m *metric, groups []carbonara.Groups) (refused []string, err error) {
	parts := archive.ContentOfGroups(groups, partBytes)
	_, err = i.options.Client.PutArchiveContent(ctx, m.id, parts)
	if !client.HasStatus(err, http.StatusBadRequest) {
		return nil, err
	}
	history, _, err := i.options.Client.CreateBackfill(ctx, m.id)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, i.options.Client.DeleteMetric(context.WithoutCancel(ctx), history))
	}()
	if _, err := i.options.Client.PutArchiveContent(ctx, history, parts); err != nil {
		return nil, err
	}
	return i.options.Client.Backfill(ctx, m.id, history)
}

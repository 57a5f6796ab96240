package csvimport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// sendAggregates puts the groups of Thanos' aggregates into archives, once these have all measures.
func (i *Importer) sendAggregates(ctx context.Context, used []*metric) error {
	var mu sync.Mutex   // guards what follows, i.result and i.options.Note
	var unkept []string // names of metrics
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(i.options.Requests)
	for _, m := range used {
		if m.aggregates == nil || ctx.Err() != nil {
			continue
		}
		mu.Lock() // also reading counts
		groups, err := i.allGroups(m)
		if err == nil && len(groups) == 0 {
			unkept = append(unkept, m.String())
		}
		mu.Unlock()
		if err != nil {
			return errors.Join(err, all.Wait())
		}
		if len(groups) == 0 {
			continue
		}
		all.Go(func() error {
			refused, err := i.putGroups(ctx, m, groups)
			mu.Lock()
			defer mu.Unlock()
			if client.HasStatus(err, http.StatusBadRequest) {
				i.options.Note(fmt.Sprintf("aggregates of %s are left out: %v", m, err))
				unkept = append(unkept, m.String())
				return nil
			}
			if err != nil {
				return fmt.Errorf("csvimport: aggregates of %s: %w", m, err)
			}
			for j := range groups {
				i.result.Groups += int64(groups[j].Len())
			}
			if i.result.Occupied == 0 && len(refused) > 0 {
				i.options.Note(fmt.Sprintf("%s has other measures in %s of %v, first %s; its groups there stay as "+
					"they are", m, counted.Of(len(refused), "period"), m.archive.coarsest(), refused[0]))
			}
			i.result.Occupied += int64(len(refused))
			return nil
		})
	}
	err := all.Wait()
	if i.result.Unkept = len(unkept); len(unkept) > 0 {
		i.options.Note(fmt.Sprintf("%s took no aggregates, for want of groups of that width, or so old, in the archive policy: %s",
			counted.Of(len(unkept), "metric"), someOf(unkept)))
	}
	for _, b := range i.blocks {
		b.noteHistograms()
	}
	return err
}

// putGroups puts groups where a metric has nothing, and returns the periods in which it has something else. A request
// has all groups of some periods.
func (i *Importer) putGroups(ctx context.Context, m *metric, groups []carbonara.Groups) (refused []string, err error) {
	coarsest := m.archive.coarsest()
	for rest := (&model.Replacement{Groups: groups}); rest != nil; {
		end := carbonara.MaxTimestamp
		for j := range rest.Groups {
			if g := &rest.Groups[j]; g.Len() > i.options.Batch {
				end = min(end, g.Starts[i.options.Batch-1].Floor(coarsest).Add(coarsest))
			}
		}
		var some *model.Replacement
		some, rest = rest.Before(end)
		done, err := i.options.Client.Fill(ctx, m.id, groupsBody(some.Groups))
		m.offered = m.offered || !isRefused(err)
		if err != nil {
			return nil, err
		}
		refused = append(refused, done.RefusedBlocks...)
	}
	return refused, nil
}

// groupsBody returns groups as JSON.
func groupsBody(groups []carbonara.Groups) []byte {
	body := []byte(`{"groups":[`)
	list := func(open string, n int, value func(k int)) {
		body = append(body, open...)
		for k := range n {
			if k > 0 {
				body = append(body, ',')
			}
			value(k)
		}
		body = append(body, ']')
	}
	for j := range groups {
		g := &groups[j]
		if j > 0 {
			body = append(body, ',')
		}
		body = appendNumber(append(body, `{"granularity":`...), g.Granularity.Seconds())
		list(`,"timestamps":[`, g.Len(), func(k int) { body = appendSeconds(body, g.Starts[k]) })
		body = append(body, `,"columns":{`...)
		for c, column := range g.Columns {
			if column.IsSketch() {
				continue
			}
			list(strconv.Quote(column.String())+":[", g.Len(), func(k int) {
				if v := g.Values[c][k]; carbonara.IsAbsent(v) {
					body = append(body, "null"...)
				} else {
					body = appendNumber(body, v)
				}
			})
			body = append(body, ',')
		}
		body = append(body[:len(body)-1], "}}"...)
	}
	return append(body, "]}"...)
}

package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// incomingScratch is the memory that a request of measures needs, from body to blocks.
type incomingScratch struct {
	body    []byte
	decoder measures.Decoder
	batch   ingest.Batch
	named   measures.ResourceMeasures // of batches by resource
}

// bytes returns about how much memory s keeps.
func (s *incomingScratch) bytes() int { return cap(s.body) + s.batch.Bytes() }

// postMeasures accepts measures of one metric.
func (a *api) postMeasures(w http.ResponseWriter, r *http.Request, who *auth.Identity, metric *model.Metric) error {
	return a.accept(w, r, who, func(s *incomingScratch, now carbonara.Timestamp) error {
		return s.decoder.DecodeMetric(s.body, metric.ID, now, &s.batch.Measures)
	})
}

// postBatch accepts measures of many metrics: of all or, if one is unknown or another's, of none.
func (a *api) postBatch(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	return a.accept(w, r, who, func(s *incomingScratch, now carbonara.Timestamp) error {
		if err := s.decoder.DecodeBatch(s.body, now, &s.batch.Measures); err != nil {
			return err
		}
		return a.authorize(r.Context(), who, s.batch.Measures.Metrics)
	})
}

// authorize checks that all metrics exist and that the user may write to them.
func (a *api) authorize(ctx context.Context, who *auth.Identity, ids []uuid.UUID) error {
	const rule = "post measures"
	if a.Index != nil && a.CreatorCounts(rule) {
		if metrics, ok := a.Index.OneOfEachCreator(ids); ok {
			return a.EnforceMetrics(who, rule, metrics)
		}
	}
	metricAt, err := a.finder(ctx, ids)
	if err != nil {
		return err
	}
	var unknown []uuid.UUID
	forbidden, may := false, a.PermittedMetrics(who, rule)
	for i, id := range ids {
		metric := metricAt(i)
		if metric == nil {
			unknown = append(unknown, id)
			continue
		}
		forbidden = forbidden || !may(metric)
	}
	if unknown != nil {
		slices.SortFunc(unknown, model.CompareIDs)
		return web.BadRequest("Unknown metrics: %s", web.JoinSome(len(unknown), func(i int) string {
			return unknown[i].String()
		}))
	}
	if forbidden {
		return model.ErrForbidden
	}
	return nil
}

// accept reads the body, has it decoded, and answers 202 once the measures are durable.
func (a *api) accept(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	decode func(*incomingScratch, carbonara.Timestamp) error) error {
	if err := web.RequireJSON(r); err != nil {
		return err
	}
	s := a.incoming.Get()
	defer func() { a.incoming.Put(s, s.bytes()) }()
	var err error
	if s.body, err = a.ReadBody(w, r, a.MaxBodyBytes, budget.Measures, web.MeasuresFactor, s.body[:0]); err != nil {
		return err
	}
	now := a.Now()
	s.batch.Project = model.ProjectOf(who.User)
	s.batch.Measures.Reset()
	s.decoder.Acquire = web.AcquireFor(r.Context(), budget.Measures)
	defer func() { s.decoder.Acquire = nil }()
	if err := decode(s, carbonara.FromTime(now)); err != nil {
		return err
	}
	if err := s.decoded(r.Context()); err != nil {
		return err
	}
	if err := a.ingester.Append(r.Context(), &s.batch, now); err != nil {
		return err
	}
	w.Header()["Content-Type"] = jsonContentType
	w.Header()["Content-Length"] = zeroLength
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// The headers of a 202, shared by all.
var (
	jsonContentType = []string{"application/json"}
	zeroLength      = []string{"0"}
)

// decoded replaces the estimated memory of a body's measures by the memory that they need from here on, and releases a
// large body. Small ones are not worth it.
func (s *incomingScratch) decoded(ctx context.Context) error {
	body := len(s.body)
	if body <= 64<<10 {
		return nil
	}
	if body > budget.Small {
		s.body = nil
	}
	account := budget.Of(ctx)
	account.Release(budget.Measures, web.MeasuresFactor.Of(int64(body)))
	return account.Acquire(budget.Measures, int64(s.batch.Measures.Len()*web.MeasureBytes+cap(s.body)))
}

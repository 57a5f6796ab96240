package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"gnocco/api/measures"
	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/incoming"
)

// incomingScratch is the memory that a request of measures needs, from body to blocks.
type incomingScratch struct {
	body     []byte
	decoder  measures.Decoder
	measures model.Measures
	named    measures.ResourceMeasures // of batches by resource

	partition incoming.Partition
}

// bytes is the memory that s keeps, roughly.
func (s *incomingScratch) bytes() int {
	return cap(s.body) + s.partition.Bytes() + 24*cap(s.measures.Values)
}

// postMeasures accepts measures of one metric.
func (a *api) postMeasures(w http.ResponseWriter, r *http.Request, _ *Identity, metric *model.Metric) error {
	return a.accept(w, r, func(s *incomingScratch, now carbonara.Timestamp) error {
		return s.decoder.DecodeMetric(s.body, metric.ID, now, &s.measures)
	})
}

// postBatch accepts measures of many metrics: of all or, if one is unknown or another's, of none.
func (a *api) postBatch(w http.ResponseWriter, r *http.Request, who *Identity) error {
	return a.accept(w, r, func(s *incomingScratch, now carbonara.Timestamp) error {
		if err := s.decoder.DecodeBatch(s.body, now, &s.measures); err != nil {
			return err
		}
		return a.authorize(r.Context(), who, s.measures.Metrics)
	})
}

// authorize checks that all metrics exist and that the user may write to them.
func (a *api) authorize(ctx context.Context, who *Identity, ids []uuid.UUID) error {
	metricAt, err := a.finder(ctx, ids)
	if err != nil {
		return err
	}
	var unknown []string
	forbidden, may := false, a.permits(who, "post measures")
	for i, id := range ids {
		metric := metricAt(i)
		if metric == nil {
			unknown = append(unknown, id.String())
			continue
		}
		forbidden = forbidden || !may(metric)
	}
	if unknown != nil {
		slices.Sort(unknown)
		return badRequest("Unknown metrics: %s", strings.Join(unknown, ", "))
	}
	if forbidden {
		return errForbidden
	}
	return nil
}

// accept reads the body, has it decoded, and answers 202 once the measures are durable.
func (a *api) accept(w http.ResponseWriter, r *http.Request, decode func(*incomingScratch, carbonara.Timestamp) error) error {
	if err := requireJSON(r); err != nil {
		return err
	}
	s := a.incoming.get()
	defer func() { a.incoming.put(s, s.bytes()) }()
	var err error
	if s.body, err = readBody(w, r, a.MaxBodyBytes, s.body[:0]); err != nil {
		return err
	}
	now := a.Now()
	s.measures.Reset()
	if err := decode(s, carbonara.FromTime(now)); err != nil {
		return err
	}
	if err := a.append(r.Context(), s, now); err != nil {
		return err
	}
	w.Header()["Content-Type"] = jsonContentType
	w.Header()["Content-Length"] = zeroLength
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// append makes the measures durable.
func (a *api) append(ctx context.Context, s *incomingScratch, now time.Time) error {
	if s.measures.Len() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	return a.Incoming.Append(ctx, s.partition.Blocks(&s.measures, a.Sacks, now))
}

// The headers of a 202, shared by all.
var (
	jsonContentType = []string{"application/json"}
	zeroLength      = []string{"0"}
)

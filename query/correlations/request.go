package correlations

import (
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// Request is a request to correlate metrics.
type Request struct {
	Metrics     []*model.Metric // ordered by ID, each once
	Method      carbonara.Method
	Aggregation string        // name of the method
	Granularity time.Duration // 0 until ChooseGranularity
	From, To    carbonara.Timestamp
	Overlap     float64 // percent of the groups that a pair has to share
	Lag         int     // groups
	Ranks       bool    // Spearman
	Selection   correlate.Selection
	Staleness   *query.Staleness // how old the values may be; nil: fresh
	// TypeOf decides the type of a metric.
	TypeOf func(*model.Metric) (model.SeriesType, model.TypeSource)
}

// ChooseGranularity takes the finest granularity that all metrics have in common, unless the request asks for one, and
// makes sure that all have it and the aggregation method.
func (q *Request) ChooseGranularity() error {
	operands := make([]query.Operand, len(q.Metrics))
	for i, metric := range q.Metrics {
		operands[i] = query.Operand{Metric: metric, Aggregation: q.Aggregation}
	}
	granularities, err := query.CommonGranularities(operands, q.Granularity)
	if err != nil {
		return err
	}
	q.Granularity = granularities[len(granularities)-1]
	return nil
}

// ErrBusy says that too many jobs are unfinished.
var ErrBusy = errors.New("correlations: too many are under way")

// A TooManyValuesError says that a request reads more values than a job may hold. It is a model.ErrInvalid.
type TooManyValuesError struct{ Most int }

func (e *TooManyValuesError) Error() string {
	return fmt.Sprintf("correlations: more than %d values", e.Most)
}

func (e *TooManyValuesError) Unwrap() error { return model.ErrInvalid }

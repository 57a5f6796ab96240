package query

import (
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// An ArgumentError says that one argument of a request is invalid, and why. It is a model.ErrInvalid.
type ArgumentError struct {
	Argument string
	Reason   string // a sentence for the client
}

func (e *ArgumentError) Error() string { return "query: " + e.Argument + ": " + e.Reason }

func (e *ArgumentError) Unwrap() error { return model.ErrInvalid }

// A PredicateError says what is wrong with a condition. It is a model.ErrInvalid.
type PredicateError struct {
	Path   []any // strings and ints; empty for the condition as a whole
	Reason string
}

func (e *PredicateError) Error() string { return "query: " + e.Reason }

func (e *PredicateError) Unwrap() error { return model.ErrInvalid }

// An UnaggregableError says why metrics do not go together. It is a model.ErrInvalid.
type UnaggregableError struct {
	Reason      string
	Metrics     [][2]string   // name, or what it was looked up by, and aggregation
	Granularity time.Duration // that the metrics lack; 0 if that is not the reason
}

func (e *UnaggregableError) Error() string { return "query: " + e.Reason }

func (e *UnaggregableError) Unwrap() error { return model.ErrInvalid }

// An UnknownAggregationError says that a metric's archive policy lacks an aggregation method. It is a
// model.ErrNotFound.
type UnknownAggregationError struct {
	Metric      uuid.UUID
	Aggregation string
}

func (e *UnknownAggregationError) Error() string {
	return "query: metric " + e.Metric.String() + " has no aggregation " + e.Aggregation
}

func (e *UnknownAggregationError) Unwrap() error { return model.ErrNotFound }

// An AbsentAggregationError says that a metric's archive policy lacks the aggregation that a request names. It is a
// model.ErrNotFound.
type AbsentAggregationError struct {
	Metric      uuid.UUID
	Aggregation string
	Granularity time.Duration // 0: the policy has it at no granularity
}

func (e *AbsentAggregationError) Error() string {
	return "query: metric " + e.Metric.String() + " lacks " + e.Aggregation
}

func (e *AbsentAggregationError) Unwrap() error { return model.ErrNotFound }

// ErrNoGranularity says that resampling needs a granularity to start from.
var ErrNoGranularity = &model.FieldError{Field: "resample",
	Reason: "A granularity must be specified to resample"}

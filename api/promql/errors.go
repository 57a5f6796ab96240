package promql

import (
	"context"
	"errors"
	"net/http"

	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/model"
)

// ErrorType says what kind of error an answer is, in Prometheus' words.
type ErrorType string

// The types that clients tell apart.
const (
	BadData      ErrorType = "bad_data"
	Execution    ErrorType = "execution"
	Timeout      ErrorType = "timeout"
	Canceled     ErrorType = "canceled"
	Unavailable  ErrorType = "unavailable"
	Internal     ErrorType = "internal"
	Unauthorized ErrorType = "unauthorized" // ours: Prometheus knows no users
)

// Error is an answer other than success.
type Error struct {
	Status int
	Type   ErrorType
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Bad returns the error of a parameter.
func Bad(err error) *Error { return &Error{http.StatusBadRequest, BadData, err} }

// Failed gives the error of an evaluation its status.
func Failed(err error) *Error {
	var known *Error
	var canceled upstream.ErrQueryCanceled
	var timeout upstream.ErrQueryTimeout
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &canceled), errors.Is(err, context.Canceled):
		return &Error{http.StatusServiceUnavailable, Canceled, err}
	case errors.As(err, &timeout), errors.Is(err, context.DeadlineExceeded):
		return &Error{http.StatusServiceUnavailable, Timeout, err}
	case errors.Is(err, model.ErrUnavailable):
		return &Error{http.StatusServiceUnavailable, Unavailable, err}
	}
	return &Error{http.StatusUnprocessableEntity, Execution, err}
}

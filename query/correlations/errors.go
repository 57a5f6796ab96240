package correlations

import (
	"errors"
	"fmt"

	"github.com/gnocco-db/gnocco/model"
)

// ErrBusy says that too many jobs are unfinished.
var ErrBusy = errors.New("correlations: too many are under way")

// A TooManyValuesError says that a request reads more values than a job may hold. It is a model.ErrInvalid.
type TooManyValuesError struct{ Most int }

// Error implements error.
func (e *TooManyValuesError) Error() string {
	return fmt.Sprintf("correlations: more than %d values", e.Most)
}

// Unwrap returns model.ErrInvalid.
func (e *TooManyValuesError) Unwrap() error { return model.ErrInvalid }

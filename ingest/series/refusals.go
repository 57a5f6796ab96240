package series

import (
	"errors"
	"fmt"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// A NewSeriesError says that a project has begun as many series in this minute as it may.
type NewSeriesError struct {
	Most   int
	Widest string // what most of the refused ones differ in
}

func (e *NewSeriesError) Error() string {
	return fmt.Sprintf("a project may begin %d series in a minute: %s", e.Most, e.Widest)
}

// reasonOf returns the reason of a refused row, for its counter.
func reasonOf(err error) string {
	if _, ok := errors.AsType[*ingest.FutureError](err); ok {
		return "future"
	}
	if _, ok := errors.AsType[*model.QuotaError](err); ok {
		return "quota"
	}
	if _, ok := errors.AsType[*NewSeriesError](err); ok {
		return "new_series"
	}
	switch {
	case errors.Is(err, model.ErrForbidden):
		return "forbidden"
	case errors.Is(err, model.ErrInvalid):
		return "labels"
	}
	return unavailable
}

// unavailable is the reason of a fault that is not the sender's.
const unavailable = "unavailable"

// permanent returns the error of a row that no repetition mends as a model.ErrInvalid, a fault of the row: senders drop
// rows that are answered as such. Some repeat all others for ever, and hold up all that comes later.
func permanent(err error) error {
	if over, ok := errors.AsType[*model.QuotaError](err); ok && over.After == 0 {
		return &model.FieldError{Field: "quota", Reason: over.Error()}
	}
	return err
}

// Temporary reports whether another attempt may store what an error refused: the fault is not the sender's.
func Temporary(err error) bool {
	_, neverFits := errors.AsType[*budget.TooLargeError](err)
	return err != nil && !neverFits && reasonOf(err) == unavailable
}

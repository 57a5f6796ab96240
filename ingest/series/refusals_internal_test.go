package series

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

func TestKindsOfRefusals(t *testing.T) {
	f := func(err error, reason string, temporary bool) {
		t.Helper()
		if got := reasonOf(fmt.Errorf("wrapped: %w", err)); got != reason {
			t.Errorf("%v: reason %s, want %s", err, got, reason)
		}
		if got := Temporary(fmt.Errorf("wrapped: %w", err)); got != temporary {
			t.Errorf("%v: temporary %t", err, got)
		}
	}
	f(&ingest.FutureError{}, "future", false)
	f(&model.QuotaError{}, "quota", false)
	f(&model.QuotaError{After: time.Second}, "quota", false)
	f(&NewSeriesError{}, "new_series", false)
	f(model.ErrForbidden, "forbidden", false)
	f(&model.FieldError{}, "labels", false)
	f(&budget.TooLargeError{}, unavailable, false)
	f(budget.ErrExhausted, unavailable, true)
	f(incoming.ErrNoSpace, unavailable, true)
	f(model.ErrUnavailable, unavailable, true)
	f(context.DeadlineExceeded, unavailable, true)
	if Temporary(nil) {
		t.Error("no error is temporary")
	}
}

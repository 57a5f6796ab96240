package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

// A 503 says why a store is not served, and only a damaged one is called so.
func TestUnservedStores(t *testing.T) {
	f := func(fault model.StoreFault, cause, reason string) {
		t.Helper()
		err := &model.DamagedError{Store: "sacks/003", Fault: fault, Reason: "input/output error"}
		answer := AsError(fmt.Errorf("read: %w", err))
		got, _ := answer.Detail.(Cause)
		if answer.Status != http.StatusServiceUnavailable || got.Detail != "sacks/003" || got.Cause != cause ||
			!strings.Contains(got.Reason, reason) {
			t.Errorf("%q is answered with %d %+v", fault, answer.Status, got)
		}
	}
	f("", "Damaged store", "until an operator has repaired it")
	f(model.StoreDamaged, "Damaged store", "until an operator has repaired it")
	f(model.StoreMissing, "Missing store", "is gone")
	f(model.StoreLater, "Store of a later version", "later version of gnocco")
	f(model.StoreLocked, "Locked store", "until that program ends")
	f(model.StoreUnopened, "Store not opened", "could not be opened: input/output error")
}

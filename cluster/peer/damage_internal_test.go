package peer

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

// Why a store is not served arrives whole at the process that asks.
func TestDamageTravels(t *testing.T) {
	sent := &model.DamagedError{Store: "sacks/003", Fault: model.StoreMissing, Reason: "it was open before"}
	answer := httptest.NewRecorder()
	new(Process).fail(answer, httptest.NewRequest("POST", "/peer/groups", nil), fmt.Errorf("read: %w", sent))
	got := new(model.DamagedError)
	if !errors.As(damageOf(answer.Result(), answer.Body.Bytes()), &got) || *got != *sent {
		t.Errorf("%+v arrives as %+v", sent, got)
	}
}

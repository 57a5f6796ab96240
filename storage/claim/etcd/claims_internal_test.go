package etcd

import (
	"encoding/json"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The record of a claim that was given back says in which state its store was closed.
func TestClosedStateIsKept(t *testing.T) {
	var l last
	fatal.If(t, json.Unmarshal([]byte(`{"epoch":3,"closed_state":"2 closed"}`), &l))
	want := claim.ClosedState{Epoch: 2, Closed: true}
	if got, err := claim.ParseClosedState(l.ClosedState); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

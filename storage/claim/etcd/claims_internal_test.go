package etcd

import (
	"encoding/json"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A claim that was given back before the field had its name of today is still understood.
func TestClosedStateUnderItsEarlierName(t *testing.T) {
	for _, text := range []string{`{"epoch":3,"rest":"2 closed"}`, `{"epoch":3,"closed_state":"2 closed"}`} {
		var l last
		fatal.If(t, json.Unmarshal([]byte(text), &l))
		if got, err := l.closedState(); err != nil || got != (claim.ClosedState{Epoch: 2, Closed: true}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

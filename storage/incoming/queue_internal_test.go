package incoming

import (
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A commit takes the requests that fit into its bytes, and at least one.
func TestQueueGroups(t *testing.T) {
	q := queue{wake: make(chan struct{}, 1)}
	for _, bytes := range []int{10, 10, 10, 40, 10} {
		fatal.If(t, q.push(&request{bytes: bytes}, 100))
	}
	for _, want := range []int{2, 1, 1, 1, 0} {
		if group, _, _ := q.next(nil, 25); len(group) != want {
			t.Errorf("%d requests, want %d", len(group), want)
		}
	}
	if q.bytes != 0 {
		t.Errorf("%d bytes are left in an empty queue", q.bytes)
	}
}

package peer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// An error arrives with its type and fields at the process that asks, also after the header of a long operation.
func TestErrorsTravel(t *testing.T) {
	key, err := peer.LoadKey(t.TempDir())
	fatal.If(t, err)
	client := peer.NewClient(key, nil, peer.TCP)
	defer client.Close()
	for _, long := range []bool{false, true} {
		var failure error
		process := &peer.Process{Key: key, Operations: []peer.Operation{peer.NewOperation("double", long,
			func(_ context.Context, n *int) (int, error) { return 2 * *n, failure })}}
		server := httptest.NewServer(process.Handler())
		defer server.Close()
		ask := func() (int, error) {
			return peer.Ask[int](t.Context(), client, strings.TrimPrefix(server.URL, "http://"), "double", 4)
		}
		if n, err := ask(); n != 8 || err != nil {
			t.Errorf("long %v: %d, %v", long, n, err)
		}
		for _, sent := range []error{
			&model.DamagedError{Store: "sacks/003", Fault: model.StoreMissing, Reason: "it was\nopen before"},
			&model.RefusedError{Reason: "\x00 „…“ \x7f"},
		} {
			failure = fmt.Errorf("read: %w", sent)
			_, err := ask()
			for err != nil && reflect.TypeOf(err) != reflect.TypeOf(sent) {
				err = errors.Unwrap(err)
			}
			if !reflect.DeepEqual(err, sent) {
				t.Errorf("long %v: %+v arrives as %+v", long, sent, err)
			}
		}
		failure = fmt.Errorf("read: %w", peer.ErrElsewhere)
		if _, err := ask(); !errors.Is(err, peer.ErrElsewhere) {
			t.Errorf("long %v: %v", long, err)
		}
		failure = errors.New("disk on fire")
		if _, err := ask(); !errors.Is(err, peer.ErrUnreachable) || !strings.Contains(err.Error(), "disk on fire") {
			t.Errorf("long %v: %v", long, err)
		}
	}
}

package cluster

import (
	"errors"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var errSlowDisk = errors.New("the disk is slow")

// A process that loses its lease before it serves ends as one that loses it later: its supervisor sees the same status.
func TestLeaseLostAtTheStart(t *testing.T) {
	p, err := Open(t.Context(), Options{Data: t.TempDir(), Role: RoleMetricd, Init: true})
	fatal.If(t, err)
	defer func() { _ = p.Close(t.Context()) }()
	p.members.session.Lose(errSlowDisk)
	err = p.Run(t.Context(), Handlers{})
	if !errors.Is(err, ErrFenced) || !errors.Is(err, claim.ErrLost) || !errors.Is(err, errSlowDisk) {
		t.Error(err)
	}
}

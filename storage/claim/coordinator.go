package claim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Coordinator knows the members of one data folder and what they hold.
type Coordinator interface {
	// Join makes the process a member and keeps its lease until Leave, or until the lease is lost. The context is for
	// joining only.
	Join(ctx context.Context, m Member) (Session, error)
}

// Session is a membership. Its methods may be called by several goroutines.
type Session interface {
	Lease

	// Lose ends the lease, if it has not ended before, for a reason that the coordinator does not know of.
	Lose(why error)
	// Member returns the member that this process is.
	Member() Member
	// Pulse returns what others can see of this process in the data folder, zeros for a coordinator that shows nothing.
	Pulse() Pulse
	// ShowNames gives the names that others compare those of a new round, and returns the round.
	ShowNames() (round uint64, err error)
	// Members returns those not known to be dead, this process included, ordered by node and ID. Right after Join those
	// that died lately on other machines are still among them.
	Members(ctx context.Context) ([]Member, error)
	// Look makes Members return all that joined before, even if the mount shows them late.
	Look(ctx context.Context) error
	// Watch returns a channel that carries a token when members may have come, gone or died, or claims been given back;
	// it has no more than one token at a time. It is forgotten, not closed, when ctx ends. Only etcd
	// announces claims: with File, a member that waits for one asks Holder or tries Claim.
	Watch(ctx context.Context) <-chan struct{}

	// Claim takes what is called name, a folder relative to the data folder such as index, sacks/007 or
	// incoming/<node>, under a new epoch. If a live member has it, this one included, the error is a *HeldError. When
	// ctx ends first, what may still be got is given back.
	Claim(ctx context.Context, name string) (Claim, error)
	// Holder returns the last member that claimed name.
	Holder(ctx context.Context, name string) (Holder, error)
	// Release gives a claim back, after its store was closed and marked so (MarkClosed); if there is one that is not,
	// the error is an ErrNotClosed, and others wait for the member's death. After any error the claim must not be used
	// any more, but Release may be called again.
	Release(ctx context.Context, c Claim) error

	// Leave ends the membership. It gives back the stores that are still claimed, if they are closed.
	Leave(ctx context.Context) error
}

// Pulse is what a member has made visible.
type Pulse struct {
	Beat  uint64 `json:"beat"`  // counter of its last heartbeat
	Shown uint64 `json:"shown"` // its last round of names for comparison
	// Age is the time since the heartbeat. Others ask shortly after the next one.
	Age time.Duration `json:"age"`
}

// Claim is what a member holds for as long as its lease lasts.
type Claim struct {
	Name  string
	Epoch uint64 // above all that there were
}

// Holder is the last member that claimed a name.
type Holder struct {
	Member   Member // without ID if nobody has
	Epoch    uint64 // 0 if nobody has
	Released bool   // it was given back
	Dead     bool   // it was not, and the member is dead
}

// Live reports whether the claim stands.
func (h *Holder) Live() bool { return h.Epoch != 0 && !h.Released && !h.Dead }

// ErrHeld is the kind of a HeldError.
var ErrHeld = errors.New("held by a live member")

// HeldError is the error of claiming what a live member has.
type HeldError struct {
	Name   string
	Holder Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("claim: %s: %v: %s at epoch %d", e.Name, ErrHeld, e.Holder.Member.ID, e.Holder.Epoch)
}

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// sacksOpened bounds how many sacks are opened at a time: opening one waits for the disk, mostly.
const sacksOpened = 8

// sackReconciler holds this process's share of the sacks. Only a process with workers has one.
type sackReconciler struct {
	environment *environment
	members     *membership
	logger      *slog.Logger
	metricd     *metricd.Metricd
	sacks       int // of the cluster
	abandoned   sync.WaitGroup

	mu    sync.Mutex
	known assignment
}

// assignment is who holds which sack, and who shall, as of a time.
type assignment struct {
	at      time.Time
	members string   // IDs
	holders []string // IDs by sack, "" for none; of one that ended, the process that was started again
	unheld  []bool   // by sack
	settled bool     // all are held by those that shall
}

// assignmentStays is how long a settled assignment is believed without a look at the claims, while the members are the
// same.
const assignmentStays = 10 * time.Second

// withRole returns the members of a role.
func withRole(members []claim.Member, role Role) []claim.Member {
	var found []claim.Member
	for _, m := range members {
		if m.HasRole(string(role)) {
			found = append(found, m)
		}
	}
	return found
}

// owners returns, by sack, the member whose share it is; nil where there is none. The sacks that a member holds are its
// share unless they are too many. So owners reads the claims whenever something is not as it should be. A claim that
// cannot be read is an error, and stays as it was seen before.
func (r *sackReconciler) owners(ctx context.Context, members []claim.Member) ([]*claim.Member, error) {
	members = withRole(members, RoleMetricd)
	var list strings.Builder
	for i := range members {
		list.WriteString(members[i].ID + " ")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := &r.known
	look := !k.settled || k.members != list.String() || time.Since(k.at) >= assignmentStays
	if k.holders == nil {
		k.holders, k.unheld = make([]string, r.sacks), make([]bool, r.sacks)
	}
	names, errs := make([]string, r.sacks), []error(nil)
	for sack := range names {
		names[sack] = datafolder.SackName(sack)
		if _, ok := r.environment.ownership.holds(names[sack]); ok {
			k.holders[sack], k.unheld[sack] = r.members.own(), false
			continue
		}
		if !look && k.holders[sack] != r.members.own() {
			continue
		}
		holder, err := r.members.session.Holder(ctx, names[sack])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		k.unheld[sack] = !holder.Live()
		if k.holders[sack] = ""; holder.Epoch != 0 && !holder.Released {
			k.holders[sack] = heir(members, &holder)
		}
	}
	owners := claim.StickyRendezvous(members, names, k.holders)
	if look {
		k.at, k.members = time.Now(), list.String()
	}
	k.settled = len(errs) == 0
	for sack, owner := range owners {
		k.settled = k.settled && owner != nil && owner.ID == k.holders[sack] && !k.unheld[sack]
	}
	return owners, errors.Join(errs...)
}

// heir returns the ID of the member that has a claim's sack: the holder, or the process that was started again under
// the name of a holder that ended. That one gets its sacks back, also in the view of members that do not know of the
// death.
func heir(members []claim.Member, holder *claim.Holder) string {
	id := ""
	for _, m := range members {
		if m.ID == holder.Member.ID && !holder.Dead {
			return m.ID
		}
		if m.Node == holder.Member.Node && m.ID != holder.Member.ID {
			id = m.ID
		}
	}
	return id
}

// reconcile gives away the sacks that are another member's share, and takes those of its own share that nobody holds.
func (r *sackReconciler) reconcile(ctx context.Context, members []claim.Member) error {
	own := r.members.own()
	owners, err := r.owners(ctx, members)
	errs := []error{err}
	var wanted []int
	moving := r.moving(owners)
	for sack, owner := range owners {
		if owner == nil {
			continue
		}
		name := datafolder.SackName(sack)
		_, holds := r.environment.ownership.holds(name)
		damaged := r.environment.damaged.of(name) != nil
		switch {
		case owner.ID == own && damaged:
			if r.environment.damaged.due(name) {
				wanted = append(wanted, sack)
			}
		case owner.ID == own && !holds:
			wanted = append(wanted, sack)
		case owner.ID != own && damaged && !holds:
			r.environment.damaged.forget(name)
		case owner.ID != own && holds && slices.Contains(moving, sack):
			errs = append(errs, r.giveBack(ctx, sack))
			go r.members.wakeOthers(ctx, hasID(owner.ID))
		}
	}
	return errors.Join(append(errs, r.claimAll(ctx, wanted))...)
}

// sacksMoved bounds how many sacks of the cluster are between two members at a time: each of them is not served then.
const sacksMoved = 2

// moving returns the sacks that move now: those that nobody holds, and then the first ones that have another owner than
// their holder. All members come to the same.
func (r *sackReconciler) moving(owners []*claim.Member) (sacks []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, unheld := range []bool{true, false} {
		for sack, owner := range owners {
			if r.known.unheld[sack] == unheld && (unheld || owner != nil && owner.ID != r.known.holders[sack]) {
				sacks = append(sacks, sack)
			}
		}
	}
	return sacks[:min(len(sacks), sacksMoved)]
}

// claimAll claims the sacks that nobody holds.
func (r *sackReconciler) claimAll(ctx context.Context, sacks []int) error {
	var mu sync.Mutex
	var errs []error
	taken := 0
	var all errgroup.Group
	all.SetLimit(sacksOpened)
	for _, sack := range sacks {
		all.Go(func() error {
			ok, err := r.claim(ctx, sack)
			mu.Lock()
			defer mu.Unlock()
			if ok {
				taken++
			}
			errs = append(errs, err)
			return nil
		})
	}
	_ = all.Wait() // errs has all of them
	if taken > 0 {
		r.logger.Info("took sacks", "taken", taken, "held", len(r.metricd.Held()))
		go r.members.wakeOthers(ctx, hasRole(RoleMetricd)) // the next ones can move
	}
	return errors.Join(errs...)
}

func (r *sackReconciler) claim(ctx context.Context, sack int) (ok bool, err error) {
	name := datafolder.SackName(sack)
	if free, err := r.environment.isFree(ctx, name); err != nil || !free {
		return false, err
	}
	err = r.environment.open(ctx, name, func(dir string) error { return r.metricd.Open(sack, dir) })
	return err == nil, tookNothing(name, err)
}

// abandon closes a sack whose store turned out to be damaged while it was worked on. It does not wait: the work that
// met the damage is still to return.
func (r *sackReconciler) abandon(sack int, err error) {
	name := datafolder.SackName(sack)
	r.abandoned.Go(func() {
		open, closeErr := r.metricd.Abandon(sack)
		if !open {
			return // it was being opened, which has failed as well
		}
		r.environment.ownership.keepEarlier(name)
		_ = r.environment.damaged.note(name, err)
		if closeErr != nil {
			r.logger.Warn("damaged store was not closed in order", "store", name, "error", closeErr)
		}
	})
}

// giveBack writes a sack down from memory, closes it, and lets another process take it.
func (r *sackReconciler) giveBack(ctx context.Context, sack int) error {
	if err := r.metricd.CloseSack(ctx, sack); err != nil {
		r.environment.fail(err) // the sack may still be written to: others take it when this process is gone
		return err
	}
	name := datafolder.SackName(sack)
	r.environment.damaged.forget(name)
	return r.environment.ownership.giveBack(ctx, name)
}

// handOver brings all accepted measures into the archives, until ctx ends, and lets others take the sacks.
func (r *sackReconciler) handOver(ctx context.Context) error {
	r.abandoned.Wait()
	var errs []error
	if err := r.metricd.Finish(ctx); errors.Is(err, model.ErrUnavailable) {
		// Measures that could not be looked up or fetched stay in their incoming stores, for the next holders of the
		// sacks.
		r.logger.Warn("not all that was accepted is in the archives", "error", err)
	} else {
		errs = append(errs, err)
	}
	members, err := r.members.staying(ctx)
	errs = append(errs, err)
	owners, _ := r.owners(ctx, members) // a member that is not woken looks within a second
	var moving errgroup.Group
	moving.SetLimit(sacksMoved)
	for _, sack := range r.metricd.Held() {
		err := r.giveBack(ctx, sack)
		errs = append(errs, err)
		if owner := owners[sack]; owner != nil && err == nil {
			moving.Go(func() error {
				r.members.wakeOthers(ctx, hasID(owner.ID))
				r.awaitTaken(ctx, datafolder.SackName(sack))
				return nil
			})
		}
	}
	_ = moving.Wait() // no errors
	return errors.Join(errs...)
}

// movePatience is how long a process that leaves waits for a sack to be taken before it gives away more.
const movePatience = 2 * time.Second

// awaitTaken waits until another member holds a store.
func (r *sackReconciler) awaitTaken(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, movePatience)
	defer cancel()
	for {
		if holder, err := r.members.session.Holder(ctx, name); err != nil || holder.Live() ||
			pause.For(ctx, awaitTakenPause) != nil {
			return
		}
	}
}

const awaitTakenPause = 20 * time.Millisecond

// close hands the sacks over and ends the work on them.
func (r *sackReconciler) close(ctx context.Context) error {
	return errors.Join(r.handOver(ctx), r.metricd.Close(ctx))
}

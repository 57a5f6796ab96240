package cluster

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
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
	holders []string // IDs by sack, "" for none
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
		k.holders = make([]string, r.sacks)
	}
	names, errs := make([]string, r.sacks), []error(nil)
	for sack := range names {
		names[sack] = datafolder.SackName(sack)
		if _, ok := r.environment.ownership.holds(names[sack]); ok {
			k.holders[sack] = r.members.own()
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
		if k.holders[sack] = holder.Member.ID; !holder.Live() {
			k.holders[sack] = ""
		}
	}
	owners := claim.StickyRendezvous(members, names, k.holders)
	if look {
		k.at, k.members = time.Now(), list.String()
	}
	k.settled = len(errs) == 0
	for sack, owner := range owners {
		k.settled = k.settled && owner != nil && owner.ID == k.holders[sack]
	}
	return owners, errors.Join(errs...)
}

// reconcile gives away the sacks that are another member's share, and takes those of its own share that nobody holds.
func (r *sackReconciler) reconcile(ctx context.Context, members []claim.Member) error {
	own := r.members.own()
	owners, err := r.owners(ctx, members)
	errs := []error{err}
	var wanted []int
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
		case owner.ID != own && holds:
			errs = append(errs, r.giveBack(ctx, sack))
			go r.members.wakeOthers(ctx, hasID(owner.ID))
		}
	}
	return errors.Join(append(errs, r.takeAll(ctx, wanted))...)
}

// takeAll takes the sacks that nobody holds.
func (r *sackReconciler) takeAll(ctx context.Context, sacks []int) error {
	var mu sync.Mutex
	var errs []error
	taken := 0
	var all errgroup.Group
	all.SetLimit(sacksOpened)
	for _, sack := range sacks {
		all.Go(func() error {
			ok, err := r.take(ctx, sack)
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
	}
	return errors.Join(errs...)
}

func (r *sackReconciler) take(ctx context.Context, sack int) (ok bool, err error) {
	name := datafolder.SackName(sack)
	if _, holds := r.environment.ownership.holds(name); !holds { // else it is damaged, and tried again
		holder, err := r.members.session.Holder(ctx, name)
		if err != nil {
			return false, err
		}
		if holder.Live() {
			r.environment.damaged.forget(name)
			return false, nil
		}
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
	owners, _ := r.owners(ctx, members) // who is not woken looks within a second
	var woken sync.WaitGroup
	for _, sack := range r.metricd.Held() {
		errs = append(errs, r.giveBack(ctx, sack))
		if owner := owners[sack]; owner != nil {
			woken.Go(func() { r.members.wakeOthers(ctx, hasID(owner.ID)) })
		}
	}
	woken.Wait()
	return errors.Join(errs...)
}

// close hands the sacks over and ends the work on them.
func (r *sackReconciler) close(ctx context.Context) error {
	return errors.Join(r.handOver(ctx), r.metricd.Close(ctx))
}

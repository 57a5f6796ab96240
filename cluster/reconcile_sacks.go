package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
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
	moves       sync.Map    // *sync.Mutex by sack; held while it is claimed or given back
	takes       atomic.Bool // what other members give

	mu    sync.Mutex
	known assignment
}

// assignment is who holds which sack, as far as this process knows, by sack.
type assignment struct {
	looked  []time.Time // at the claim, or its holder has told
	news    []time.Time // when others told that the claim changes, and not to whom
	holders []string    // IDs, "" for none; of one that ended, the process that was started again
	unheld  []bool
}

// assignmentStays is how long a holder is believed without a look at the claim, while it is a member. For so long after
// news of a claim no look is believed, since a listing may be older than the news.
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
// share unless they are too many. A claim that cannot be read is an error, and stays as it was seen before.
func (r *sackReconciler) owners(ctx context.Context, members []claim.Member) ([]*claim.Member, error) {
	members = withRole(members, RoleMetricd)
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.assignment()
	names := make([]string, r.sacks)
	var looks errgroup.Group
	looks.SetLimit(sacksOpened)
	for sack := range names {
		names[sack] = datafolder.SackName(sack)
		if _, ok := r.environment.ownership.holds(names[sack]); ok {
			k.holders[sack], k.unheld[sack] = r.members.own(), false
		} else if id := k.holders[sack]; k.unheld[sack] || id == r.members.own() ||
			time.Since(k.looked[sack]) >= assignmentStays || time.Since(k.news[sack]) < assignmentStays ||
			!slices.ContainsFunc(members, func(m claim.Member) bool { return m.ID == id }) {
			looks.Go(func() error {
				holder, err := r.environment.holders.lookup(ctx, names[sack])
				if err != nil {
					k.looked[sack] = time.Time{}
					return err
				}
				k.looked[sack], k.unheld[sack] = time.Now(), !holder.Live()
				if k.holders[sack] = ""; holder.Epoch != 0 && !holder.Released {
					k.holders[sack] = heir(members, &holder)
				}
				return nil
			})
		}
	}
	err := looks.Wait()
	return claim.StickyRendezvous(members, names, k.holders), err
}

// assignment returns what is known. mu is held.
func (r *sackReconciler) assignment() *assignment {
	if r.known.holders == nil {
		times := make([]time.Time, 2*r.sacks)
		r.known = assignment{times[:r.sacks], times[r.sacks:], make([]string, r.sacks), make([]bool, r.sacks)}
	}
	return &r.known
}

// learn notes the member that has taken a sack, "" if it was given back.
func (r *sackReconciler) learn(sack int, holder string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.assignment()
	k.holders[sack], k.looked[sack], k.unheld[sack], k.news[sack] = holder, time.Now(), holder == "", time.Time{}
	if holder == "" {
		k.news[sack] = time.Now()
	}
}

// lookAnew makes owners look at all claims.
func (r *sackReconciler) lookAnew() {
	r.environment.holders.forgetAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	for sack := range r.assignment().news {
		r.known.news[sack] = time.Now()
	}
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
	unheld, moving := r.moving(owners)
	for sack, owner := range owners {
		if owner == nil {
			continue
		}
		name := datafolder.SackName(sack)
		_, holds := r.environment.ownership.holds(name)
		damaged := r.environment.damaged.of(name) != nil
		switch {
		case owner.ID == own && !holds && !slices.Contains(unheld, sack):
			r.environment.damaged.forget(name) // another process has it still
		case owner.ID == own && (!damaged && !holds || damaged && r.environment.damaged.due(name)):
			wanted = append(wanted, sack)
		case owner.ID != own && damaged && !holds:
			r.environment.damaged.forget(name)
		case owner.ID != own && holds && slices.Contains(moving, sack) && r.members.answers(ctx, owner):
			errs = append(errs, r.giveBack(ctx, sack))
			go r.offer(ctx, owner, sack)
		}
	}
	return errors.Join(append(errs, r.claimAll(ctx, wanted))...)
}

// sacksMoved bounds how many sacks of the cluster are between two members at a time: each of them is not served then.
const sacksMoved = 2

// moving returns the sacks that nobody holds, and those that move now: these, and then the first ones that have another
// owner than their holder. All members come to the same.
func (r *sackReconciler) moving(owners []*claim.Member) (unheld, sacks []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sack, owner := range owners {
		if r.known.unheld[sack] {
			unheld = append(unheld, sack)
		} else if owner != nil && owner.ID != r.known.holders[sack] {
			sacks = append(sacks, sack)
		}
	}
	sacks = slices.Concat(unheld, sacks)
	return unheld, sacks[:min(len(sacks), sacksMoved)]
}

// claimAll claims the sacks that nobody holds.
func (r *sackReconciler) claimAll(ctx context.Context, sacks []int) error {
	var all errgroup.Group
	var taken atomic.Int32
	all.SetLimit(sacksOpened)
	for _, sack := range sacks {
		all.Go(func() error { return r.claim(ctx, sack, &taken) })
	}
	err := all.Wait()
	if n := taken.Load(); n > 0 {
		r.logger.Info("took sacks", "sacks", n, "of", r.sacks)
	}
	return err
}

// claim claims a sack, and counts it if this process has taken it.
func (r *sackReconciler) claim(ctx context.Context, sack int, taken *atomic.Int32) error {
	defer r.lock(sack)()
	name := datafolder.SackName(sack)
	if _, holds := r.environment.ownership.holds(name); holds && r.environment.damaged.of(name) == nil {
		return nil // taken meanwhile
	}
	err := r.environment.open(ctx, name, func(dir string) error {
		if err := r.metricd.Open(sack, dir); err != nil {
			return err
		}
		epoch, _ := r.environment.ownership.holds(name)
		r.logger.Debug("took a sack", "sack", sack, "epoch", epoch)
		taken.Add(1)
		go r.members.tellTaken(ctx, name, sack, epoch)
		return nil
	})
	return tookNothing(name, err)
}

// lock keeps others in this process from claiming a sack, or giving it back, until unlock is called.
func (r *sackReconciler) lock(sack int) (unlock func()) {
	move, _ := r.moves.LoadOrStore(sack, new(sync.Mutex))
	move.(*sync.Mutex).Lock()
	return move.(*sync.Mutex).Unlock
}

// take takes a sack that another member has given back for this one.
func (r *sackReconciler) take(ctx context.Context, sack int) error {
	if !r.takes.Load() {
		return nil
	}
	defer r.members.wake() // to try again, or to go on
	r.learn(sack, "")
	r.environment.holders.forgetAnswers()
	err := r.claimAll(ctx, []int{sack})
	if !r.takes.Load() { // this process has begun to leave
		err = errors.Join(err, r.giveBack(ctx, sack))
	}
	return err
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
	defer r.lock(sack)()
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
	r.takes.Store(false)
	r.abandoned.Wait()
	var errs []error
	if err := r.metricd.Finish(ctx); errors.Is(err, model.ErrUnavailable) {
		// Measures that could not be looked up or fetched stay in their incoming stores, for the next holders of the
		// sacks.
		r.logger.Warn("not all that was accepted is in the archives", "error", err)
	} else {
		errs = append(errs, err)
	}
	patience := time.Now().Add(movePatience)
	var moving errgroup.Group
	moving.SetLimit(sacksMoved)
	for _, sack := range r.metricd.Held() {
		moving.Go(func() error {
			owner := r.awaitOwner(ctx, sack, patience)
			err := r.giveBack(ctx, sack)
			if err == nil && owner != nil {
				r.offer(ctx, owner, sack)
			}
			return err
		})
	}
	return errors.Join(append(errs, moving.Wait())...)
}

// movePatience bounds the waits of a process that leaves: for members that can take sacks, and for each sack's taking.
const movePatience = 5 * time.Second

// awaitOwner returns the member that shall have a sack, once it answers or patience is over; nil for none.
func (r *sackReconciler) awaitOwner(ctx context.Context, sack int, patience time.Time) *claim.Member {
	for {
		members, _ := r.members.staying(ctx)
		owners, _ := r.owners(ctx, members) // a member that is not told looks within a second
		owner := owners[sack]
		if owner == nil || r.members.answers(ctx, owner) || time.Now().After(patience) ||
			pause.For(ctx, holderLook) != nil {
			return owner
		}
	}
}

// offer tells a member that a sack was given back for it, and waits until it has taken the sack.
func (r *sackReconciler) offer(ctx context.Context, owner *claim.Member, sack int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), movePatience)
	defer cancel()
	if !r.members.tell(ctx, owner, &peer.Notice{Given: true, Sack: sack}) {
		r.members.wakeOthers(ctx, hasRole(RoleMetricd))
	}
}

// close hands the sacks over and ends the work on them.
func (r *sackReconciler) close(ctx context.Context) error {
	return errors.Join(r.handOver(ctx), r.metricd.Close(ctx))
}

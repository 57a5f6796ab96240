package server

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"gnocco/model"
	"gnocco/storage/claim"
)

// opening is how many sacks are taken over at a time: it waits for the disk, mostly.
const opening = 8

// withRole returns the members of a role.
func withRole(members []claim.Member, role Role) []claim.Member {
	var those []claim.Member
	for _, m := range members {
		if m.HasRole(string(role)) {
			those = append(those, m)
		}
	}
	return those
}

// spreadSacks returns the member whose share each sack is; nil where there is none.
func (n *node) spreadSacks(members []claim.Member) []*claim.Member {
	names := make([]string, n.cluster.Sacks)
	for sack := range names {
		names[sack] = SackName(sack)
	}
	return claim.Spread(withRole(members, RoleMetricd), names)
}

// keepSacks gives away the sacks that are another member's share, and takes those of its own that nobody has.
func (n *node) keepSacks(ctx context.Context, members []claim.Member) error {
	own := n.session.Member().ID
	var errs []error
	var take []int
	for sack, owner := range n.spreadSacks(members) {
		if owner == nil {
			continue
		}
		_, holds := n.claims.holds(SackName(sack))
		switch {
		case owner.ID == own && !holds:
			take = append(take, sack)
		case owner.ID != own && holds:
			errs = append(errs, n.giveSack(ctx, sack))
			go n.wakeOthers(ctx, func(m *claim.Member) bool { return m.ID == owner.ID })
		}
	}
	return errors.Join(append(errs, n.takeSacks(ctx, take))...)
}

// takeSacks takes those that nobody has.
func (n *node) takeSacks(ctx context.Context, sacks []int) error {
	var mu sync.Mutex
	var errs []error
	taken := 0
	var all errgroup.Group
	all.SetLimit(opening)
	for _, sack := range sacks {
		all.Go(func() error {
			ok, err := n.takeSack(ctx, sack)
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
		n.logger.Info("took sacks", "taken", taken, "held", len(n.metricd.Held()))
	}
	return errors.Join(errs...)
}

func (n *node) takeSack(ctx context.Context, sack int) (ok bool, err error) {
	name := SackName(sack)
	holder, err := n.session.Holder(ctx, name)
	if err != nil || holder.Live() {
		return false, err
	}
	dir, err := n.claims.take(ctx, name)
	if err != nil {
		return false, tookNothing(name, err)
	}
	if err := n.metricd.Open(sack, dir); err != nil {
		return false, errors.Join(err, n.claims.giveBack(ctx, name))
	}
	return true, nil
}

// giveSack writes down what is in memory of a sack, closes it, and lets another process take it.
func (n *node) giveSack(ctx context.Context, sack int) error {
	if err := n.metricd.CloseSack(ctx, sack); err != nil {
		n.fail(err) // who knows what it still does: others have it when this process is gone
		return err
	}
	return n.claims.giveBack(ctx, SackName(sack))
}

// closeSacks brings all that was accepted into the archives, until ctx ends, and lets others take the sacks.
func (n *node) closeSacks(ctx context.Context) error {
	var errs []error
	if err := n.metricd.Checkpoint(ctx); errors.Is(err, model.ErrUnavailable) {
		// What could not be looked up or fetched stays where it was accepted, for the next holders of the sacks.
		n.logger.Warn("not all that was accepted is in the archives", "error", err)
	} else {
		errs = append(errs, err)
	}
	members, err := n.staying(ctx)
	errs = append(errs, err)
	owners := n.spreadSacks(members)
	var woken sync.WaitGroup
	for _, sack := range n.metricd.Held() {
		errs = append(errs, n.giveSack(ctx, sack))
		if owner := owners[sack]; owner != nil {
			woken.Go(func() { n.wakeOthers(ctx, func(m *claim.Member) bool { return m.ID == owner.ID }) })
		}
	}
	woken.Wait()
	return errors.Join(append(errs, n.metricd.Close(ctx))...)
}

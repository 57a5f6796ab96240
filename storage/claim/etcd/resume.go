package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// errClaimed is the reason of a lease that cannot be resumed.
var errClaimed = errors.New("others have claimed what this process held, while etcd did not answer it")

// movedAtOnce is how many claims a transaction moves to another lease: etcd allows 128 operations.
const movedAtOnce = 50

// resume makes a lease hold again whose deadline has passed. While etcd did not answer this process, others may have
// taken over. A renewal would not tell: a leader that was stopped for long confirms a lease that its successor ended.
// So the process gets another lease, by consensus, and moves its claims to it on condition that nobody has put
// last/<name> since, as every claim does.
func (s *session) resume(ctx context.Context) error {
	begun := s.options.Clock.Now()
	lease, err := s.grant(ctx)
	if err != nil {
		return fmt.Errorf("claim: resume by etcd: %w", err)
	}
	member, err := json.Marshal(s.member)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.lease.Store(int64(lease)) // claims under way see that theirs is another
	type claimed struct {
		name string
		holding
	}
	var all []claimed
	for name, h := range s.held {
		if h.epoch != 0 && !h.releasing {
			all = append(all, claimed{name, h})
		}
	}
	s.mu.Unlock()
	put := func(kind, name string) clientv3.Op {
		return clientv3.OpPut(s.key(kind, name), string(member), clientv3.WithLease(lease))
	}
	if _, err := s.client.Do(ctx, put("members/", s.member.ID)); err != nil {
		return fmt.Errorf("claim: resume by etcd: %w", err)
	}
	for some := range slices.Chunk(all, movedAtOnce) {
		var unclaimed []clientv3.Cmp
		var puts []clientv3.Op
		for _, c := range some {
			unclaimed = append(unclaimed, s.unclaimedSince(c.name, c.holding))
			puts = append(puts, put("claims/", c.name))
		}
		txn, err := s.client.Txn(ctx).If(unclaimed...).Then(puts...).Commit()
		if err != nil {
			return fmt.Errorf("claim: resume by etcd: %w", err)
		}
		if txn.Succeeded {
			continue
		}
		s.mu.Lock()
		givenBack := slices.ContainsFunc(some, func(c claimed) bool { return s.held[c.name] != c.holding })
		s.mu.Unlock()
		if !givenBack {
			s.Lose(errClaimed)
		}
		return s.Err() // after claims were given back meanwhile, the next beat tries again without them
	}
	if !s.Resume(begun) {
		return s.Err()
	}
	s.watchers.Wake()
	return nil
}

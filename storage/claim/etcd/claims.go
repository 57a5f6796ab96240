package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// last is what stays of a claim.
type last struct {
	Member claim.Member `json:"member"`
	Epoch  uint64       `json:"epoch,omitempty"` // once it was given back

	ClosedState string `json:"closed_state,omitempty"` // likewise
}

// state is what etcd has of a name.
type state struct {
	holder   claim.Holder
	closed   *claim.ClosedState // nil if it was not given back
	revision int64              // of last/<name>, 0 for none
	lease    clientv3.LeaseID
}

// Claim implements claim.Session.
func (s *session) Claim(ctx context.Context, name string) (claim.Claim, error) {
	if err := claim.CheckName(name); err != nil {
		return claim.Claim{}, err
	}
	if err := s.reserve(name); err != nil {
		return claim.Claim{}, err
	}
	h, err := s.nextEpoch(ctx, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && int64(h.lease) != s.lease.Load() { // the claim ends with the old one
		err = fmt.Errorf("claim: %s: %w: %w", name, claim.ErrHeld, claim.ErrSuspended)
	}
	if err != nil {
		delete(s.held, name)
		return claim.Claim{}, err
	}
	s.held[name] = h
	return claim.Claim{Name: name, Epoch: h.epoch}, nil
}

// reserve keeps a second goroutine of this process from claiming the same.
func (s *session) reserve(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return fmt.Errorf("claim: %s: %w: %w", name, claim.ErrLost, errLeft)
	}
	if h, ok := s.held[name]; ok {
		return &claim.HeldError{Name: name, Holder: claim.Holder{Member: s.member, Epoch: h.epoch}}
	}
	s.held[name] = holding{}
	return nil
}

// nextEpoch writes the claim, if nobody live has it.
func (s *session) nextEpoch(ctx context.Context, name string) (h holding, err error) {
	before, err := s.state(ctx, name)
	if err != nil {
		return h, err
	}
	holder := &before.holder
	if holder.Live() && holder.Member.ID != s.member.ID && !s.removeDead(ctx, &holder.Member, before.lease) {
		return h, &claim.HeldError{Name: name, Holder: *holder}
	}
	if !holder.Released && holder.Epoch != 0 && holder.Member.ID != s.member.ID && !s.local {
		// A dead holder's last writes may not be visible here yet.
		select {
		case <-ctx.Done():
			return h, fmt.Errorf("claim: %s: %w", name, ctx.Err())
		case <-time.After(s.options.Slack):
		}
	}
	newest, err := claim.HighestFolder(s.options.FS, s.root, name, before.closed)
	if err != nil {
		return h, fmt.Errorf("claim: %s: %w", name, err)
	}
	if h, err = s.put(ctx, name, before.revision); err != nil {
		return h, err
	}
	if err = s.Err(); err == nil && h.epoch <= newest {
		err = fmt.Errorf("claim: %s: etcd is behind the disk: epoch %d, where %d is there", name, h.epoch, newest)
	}
	if err != nil {
		return h, errors.Join(err, s.drop(ctx, name, h))
	}
	return h, nil
}

// put makes the claim this process's, if nothing has changed since last/<name> had that revision.
func (s *session) put(ctx context.Context, name string, revision int64) (h holding, err error) {
	member, err := json.Marshal(s.member)
	if err != nil {
		return h, err
	}
	record, err := json.Marshal(last{Member: s.member})
	if err != nil {
		return h, err
	}
	key, lastKey := s.key("claims/", name), s.key("last/", name)
	lease := clientv3.LeaseID(s.lease.Load())
	unchanged := clientv3.Compare(clientv3.ModRevision(lastKey), "=", revision)
	own := clientv3.Compare(clientv3.LeaseValue(key), "=", lease) // from a request whose answer got lost
	puts := []clientv3.Op{
		clientv3.OpPut(key, string(member), clientv3.WithLease(lease)), clientv3.OpPut(lastKey, string(record)),
		clientv3.OpGet(s.key("base", "")),
	}
	txn, err := s.client.Txn(ctx).If(absent(key), unchanged).Then(puts...).
		Else(clientv3.OpTxn([]clientv3.Cmp{own, unchanged}, puts, nil)).Commit()
	if err != nil {
		return h, fmt.Errorf("claim: %s by etcd: %w", name, err)
	}
	responses := txn.Responses
	if !txn.Succeeded {
		inner := responses[0].GetResponseTxn()
		if !inner.Succeeded {
			now, err := s.state(ctx, name)
			if err != nil {
				return h, err
			}
			return h, &claim.HeldError{Name: name, Holder: now.holder}
		}
		responses = inner.Responses
	}
	base, err := parseBase(responses[2].GetResponseRange().Kvs)
	if err != nil {
		return h, errors.Join(err, s.drop(ctx, name, holding{revision: txn.Header.Revision}))
	}
	return holding{epoch: base + uint64(txn.Header.Revision), revision: txn.Header.Revision, lease: lease}, nil
}

// unclaimedSince is the condition that nobody has claimed a name after this process: every claim puts last/<name>.
func (s *session) unclaimedSince(name string, h holding) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(s.key("last/", name)), "=", h.revision)
}

// drop takes a claim away that is not used.
func (s *session) drop(ctx context.Context, name string, h holding) error {
	_, err := s.client.Txn(ctx).If(s.unclaimedSince(name, h)).Then(
		clientv3.OpDelete(s.key("claims/", name))).Commit()
	return err
}

// state asks what there is of a name.
func (s *session) state(ctx context.Context, name string) (st state, err error) {
	txn, err := s.client.Txn(ctx).Then(clientv3.OpGet(s.key("claims/", name)), clientv3.OpGet(s.key("last/", name)),
		clientv3.OpGet(s.key("base", ""))).Commit()
	if err != nil {
		return st, fmt.Errorf("claim: %s by etcd: %w", name, err)
	}
	base, err := parseBase(txn.Responses[2].GetResponseRange().Kvs)
	if err != nil {
		return st, err
	}
	kvs := txn.Responses[1].GetResponseRange().Kvs
	if len(kvs) == 0 {
		return st, nil
	}
	var l last
	if err := json.Unmarshal(kvs[0].Value, &l); err != nil {
		return st, fmt.Errorf("claim: %s: %w", kvs[0].Key, err)
	}
	st.revision = kvs[0].ModRevision
	st.holder = claim.Holder{Member: l.Member, Epoch: l.Epoch, Released: l.Epoch != 0}
	if st.holder.Released {
		closed, err := claim.ParseClosedState(l.ClosedState)
		st.closed = &closed
		return st, err
	}
	st.holder.Epoch = base + uint64(st.revision)
	if claims := txn.Responses[0].GetResponseRange().Kvs; len(claims) > 0 {
		st.lease = clientv3.LeaseID(claims[0].Lease)
	} else {
		st.holder.Dead = true
	}
	return st, nil
}

// Holder implements claim.Session.
func (s *session) Holder(ctx context.Context, name string) (claim.Holder, error) {
	if err := claim.CheckName(name); err != nil {
		return claim.Holder{}, err
	}
	st, err := s.state(ctx, name)
	return st.holder, err
}

// Release implements claim.Session.
func (s *session) Release(ctx context.Context, c claim.Claim) error {
	s.mu.Lock()
	h := s.held[c.Name]
	held := h.epoch != 0 && h.epoch == c.Epoch
	if held {
		h.releasing = true
		s.held[c.Name] = h
	}
	s.mu.Unlock()
	if !held {
		return fmt.Errorf("%w: %s at epoch %d", claim.ErrNotHeld, c.Name, c.Epoch)
	}
	closed, err := claim.ClosedStateOf(s.options.FS, s.root, c.Name, c.Epoch)
	if err != nil {
		return err
	}
	record, err := json.Marshal(last{Member: s.member, Epoch: c.Epoch, ClosedState: closed.String()})
	if err != nil {
		return err
	}
	_, err = s.client.Txn(ctx).If(s.unclaimedSince(c.Name, h)).
		Then(clientv3.OpDelete(s.key("claims/", c.Name)), clientv3.OpPut(s.key("last/", c.Name), string(record))).Commit()
	if err != nil {
		return fmt.Errorf("claim: release %s by etcd: %w", c.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, c.Name)
	return nil
}

func formatBase(base uint64) string { return strconv.FormatUint(base, 10) }

package etcd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// session is a membership by etcd.
type session struct {
	*claim.Deadline
	root     string
	options  Options
	client   *clientv3.Client
	member   claim.Member
	lease    atomic.Int64 // a clientv3.LeaseID
	local    bool         // the data folder belongs to one kernel
	watchers claim.Watchers

	running sync.WaitGroup // the loops
	ended   chan struct{}  // closed by Leave

	mu   sync.Mutex
	held map[string]holding // by name
	left bool
}

// holding is a claim of the session's own.
type holding struct {
	epoch    uint64 // 0 while it is being claimed
	revision int64  // at which it was claimed, that of last/<name>

	lease     clientv3.LeaseID // by which it was claimed
	releasing bool
}

func (s *session) key(kind, name string) string { return s.options.Prefix + kind + name }

// Member implements claim.Session.
func (s *session) Member() claim.Member { return s.member }

// Watch implements claim.Session.
func (s *session) Watch(ctx context.Context) <-chan struct{} { return s.watchers.Watch(ctx) }

// start begins to keep the lease, and to listen to changes.
func (s *session) start() {
	s.Wait()
	log, suspended := s.options.Logger.With("member", s.member.ID), false
	s.loop(s.options.Beat, func(ctx context.Context) {
		err := s.beat(ctx)
		switch {
		case err == nil && suspended:
			log.Info("the lease holds again: nobody has claimed what this process holds")
		case err != nil && s.Valid():
			log.Warn("lease not renewed", "remaining", s.Remaining(), "error", err)
		case err != nil && !suspended && errors.Is(s.Err(), claim.ErrSuspended):
			go func() {
				log.Error("etcd or the data folder does not answer: this process acknowledges and answers nothing until both do",
					"error", s.options.explain(ctx, err))
			}()
		}
		suspended = err != nil && !s.Valid()
	})
	s.running.Go(func() {
		ctx, cancel := s.untilEnd()
		defer cancel()
		for ctx.Err() == nil { // a watch ends when etcd has forgotten what came meanwhile, or its member has no leader
			watch := s.client.Watch(clientv3.WithRequireLeader(ctx), s.options.Prefix, clientv3.WithPrefix())
			for changes := range watch {
				if len(changes.Events) > 0 || changes.Err() != nil {
					s.watchers.Wake()
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(s.options.Beat):
			}
		}
	})
}

// untilEnd returns a context that ends with the session.
func (s *session) untilEnd() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-s.ended:
		case <-s.Done():
		case <-ctx.Done():
		}
		cancel()
	}()
	return ctx, cancel
}

func (s *session) loop(interval time.Duration, f func(ctx context.Context)) {
	s.running.Go(func() {
		ctx, cancel := s.untilEnd()
		defer cancel()
		for range pause.Ticks(ctx, interval) {
			f(ctx)
		}
	})
}

// beat renews the lease, if the disk and etcd both answer in time, or resumes it. A try takes a beat at most: the next
// one asks another member of etcd.
func (s *session) beat(ctx context.Context) error {
	begun := s.options.Clock.Now()
	if err := s.Err(); err != nil && !errors.Is(err, claim.ErrSuspended) {
		return err
	}
	if err := s.touchDisk(); err != nil {
		return fmt.Errorf("claim: heartbeat: %w", err)
	}
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), s.options.Beat)
	defer cancel()
	if !s.Valid() {
		return s.resume(ctx)
	}
	_, err := s.client.KeepAliveOnce(ctx, clientv3.LeaseID(s.lease.Load()))
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		s.Lose(err)
	}
	if err != nil {
		return fmt.Errorf("claim: heartbeat by etcd: %w", err)
	}
	if !s.Renew(begun) {
		return s.Err()
	}
	return nil
}

// touchDisk writes to the data folder what nobody reads. File's members pass over names that begin like this.
func (s *session) touchDisk() error {
	file, err := s.options.FS.OpenReadWrite(s.diskFile(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, "%016x\n", s.options.Clock.Now()), 0)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// Pulse implements claim.Session.
func (s *session) Pulse() claim.Pulse { return claim.Pulse{} }

// ShowNames implements claim.Session. With etcd no process relies on names in the folder.
func (s *session) ShowNames() (uint64, error) { return 0, nil }

func (s *session) diskFile() string {
	return s.options.FS.PathJoin(s.root, "members", "tmp-etcd-"+s.member.Node)
}

// Members implements claim.Session.
func (s *session) Members(ctx context.Context) ([]claim.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	got, err := s.client.Get(ctx, s.key("members/", ""), clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("claim: members by etcd: %w", err)
	}
	var members []claim.Member
	for _, kv := range got.Kvs {
		var m claim.Member
		if err := json.Unmarshal(kv.Value, &m); err != nil {
			s.options.Logger.Warn("not a member", "key", string(kv.Key), "error", err)
			continue
		}
		if s.removeDead(ctx, &m, clientv3.LeaseID(kv.Lease)) {
			continue
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b claim.Member) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
	return members, nil
}

// Look implements claim.Session. Members always asks etcd.
func (s *session) Look(context.Context) error { return nil }

// removeDead takes away what is left of a process that ended on this machine, instead of waiting for its lease.
func (s *session) removeDead(ctx context.Context, m *claim.Member, lease clientv3.LeaseID) bool {
	if m.ID == s.member.ID || !s.member.Process.Gone(&m.Process) {
		return false
	}
	_, err := s.client.Revoke(ctx, lease)
	return err == nil || errors.Is(err, rpctypes.ErrLeaseNotFound)
}

var errLeft = errors.New("the process left the cluster")

// Leave implements claim.Session.
func (s *session) Leave(ctx context.Context) error {
	s.mu.Lock()
	if s.left {
		s.mu.Unlock()
		return nil
	}
	s.left = true
	var claims []claim.Claim
	for name, h := range s.held {
		if h.epoch != 0 {
			claims = append(claims, claim.Claim{Name: name, Epoch: h.epoch})
		}
	}
	s.mu.Unlock()
	close(s.ended)
	s.running.Wait()
	var errs []error
	for _, c := range claims {
		errs = append(errs, s.Release(ctx, c))
	}
	s.Lose(errLeft)
	_, err := s.client.Revoke(ctx, clientv3.LeaseID(s.lease.Load()))
	if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		errs = append(errs, fmt.Errorf("claim: leave by etcd: %w", err))
	}
	if err := s.options.FS.Remove(s.diskFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, fmt.Errorf("claim: leave: %w", err))
	}
	return errors.Join(append(errs, s.client.Close())...)
}

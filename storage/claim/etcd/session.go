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
	lease    clientv3.LeaseID
	local    bool // the data folder belongs to one kernel
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
	revision int64  // at which it was put
}

func (s *session) key(kind, name string) string { return s.options.Prefix + kind + name }

// Member implements claim.Session.
func (s *session) Member() claim.Member { return s.member }

// Watch implements claim.Session.
func (s *session) Watch(ctx context.Context) <-chan struct{} { return s.watchers.Watch(ctx) }

// start begins to keep the lease, and to listen to changes.
func (s *session) start() {
	s.loop(s.options.Beat, func(ctx context.Context) {
		if err := s.beat(ctx); err != nil && s.Valid() {
			s.options.Logger.Warn("lease not renewed", "member", s.member.ID, "remaining", s.Remaining(), "error", err)
		}
	})
	s.loop(s.options.TTL/10, func(context.Context) { s.Valid() }) // the beat may hang
	s.running.Go(func() {
		ctx, cancel := s.untilEnd()
		defer cancel()
		for ctx.Err() == nil { // a watch ends when etcd has forgotten what came meanwhile
			for changes := range s.client.Watch(ctx, s.options.Prefix, clientv3.WithPrefix()) {
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

// beat renews the lease, if the disk and etcd both answer in time.
func (s *session) beat(ctx context.Context) error {
	begun := s.options.Clock.Now()
	if err := s.Err(); err != nil {
		return err
	}
	if err := s.touchDisk(); err != nil {
		return fmt.Errorf("claim: heartbeat: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.TTL)
	defer cancel()
	_, err := s.client.KeepAliveOnce(ctx, s.lease)
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
	if err := s.options.FS.MkdirAll(s.options.FS.PathJoin(s.root, "members"), 0o750); err != nil {
		return err
	}
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
	if _, err := s.client.Revoke(ctx, s.lease); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		errs = append(errs, fmt.Errorf("claim: leave by etcd: %w", err))
	}
	if err := s.options.FS.Remove(s.diskFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, fmt.Errorf("claim: leave: %w", err))
	}
	return errors.Join(append(errs, s.client.Close())...)
}

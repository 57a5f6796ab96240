package etcd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// Coordinator is the one of a data folder.
type Coordinator struct {
	root    string
	options Options
}

// New returns the coordinator of the data folder root, which must exist. etcd is asked by Join only.
func New(root string, options Options) (*Coordinator, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	root, err := claim.Canonical(options.FS, root)
	if err != nil {
		return nil, err
	}
	return &Coordinator{root: root, options: options}, nil
}

// Join implements claim.Coordinator.
func (c *Coordinator) Join(ctx context.Context, m claim.Member) (claim.Session, error) {
	if err := m.Complete(c.root); err != nil {
		return nil, err
	}
	client, err := c.options.connect(c.options.Endpoints...)
	if err != nil {
		return nil, fmt.Errorf("claim: etcd: %w", c.options.explain(ctx, err))
	}
	s := &session{
		root: c.root, options: c.options, client: client, member: m, ended: make(chan struct{}),
		held:  make(map[string]holding),
		local: claim.IsLocal(c.options.FS, c.root),
	}
	if err := s.register(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("claim: join by etcd: %w", c.options.explain(ctx, err)), client.Close())
	}
	s.start()
	return s, nil
}

// register gets a lease, and makes the process a member with it.
func (s *session) register(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	if err := s.options.FS.MkdirAll(s.options.FS.PathJoin(s.root, "members"), 0o750); err != nil {
		return err
	}
	if err := s.touchDisk(); err != nil {
		return err
	}
	begun := s.options.Clock.Now()
	lease, err := s.grant(ctx)
	if err != nil {
		return err
	}
	s.lease.Store(int64(lease))
	s.Deadline = claim.NewDeadline(s.options.Clock, s.options.TTL, begun)
	if err := s.ensureBase(ctx); err != nil {
		return err
	}
	content, err := json.Marshal(s.member)
	if err != nil {
		return err
	}
	key := s.key("members/", s.member.ID)
	made, err := s.client.Txn(ctx).If(absent(key)).Then(clientv3.OpPut(key, string(content),
		clientv3.WithLease(lease))).Commit()
	if err != nil {
		return err
	}
	if !made.Succeeded {
		return fmt.Errorf("member %s exists", s.member.ID)
	}
	return nil
}

// grant gets a lease. etcd counts whole seconds. Its lease must not end before ours.
func (s *session) grant(ctx context.Context) (clientv3.LeaseID, error) {
	lease, err := s.client.Grant(ctx, int64((s.options.TTL+time.Second-1)/time.Second)+1)
	if err != nil {
		return 0, err
	}
	return lease.ID, nil
}

func absent(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), "=", 0) }

const (
	defaultPrefix  = "/gnocco/"
	defaultTimeout = 5 * time.Second
)

// Options of a Coordinator. Endpoints are needed.
type Options struct {
	claim.Options       // Poll is not used
	etcdaccess.Settings // Prefix "": /gnocco/

	Timeout time.Duration // of a request; 0: 5 s
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.Options.EnsureDefaults()
	o.Prefix = cmp.Or(o.Prefix, defaultPrefix)
	if !strings.HasSuffix(o.Prefix, "/") {
		o.Prefix += "/"
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
}

// Validate lists every fault at once.
func (o *Options) Validate() error {
	faults := []error{o.Options.Validate()}
	if len(o.Endpoints) == 0 {
		faults = append(faults, errors.New("claim: no etcd endpoint"))
	}
	if o.Timeout < 0 {
		faults = append(faults, fmt.Errorf("claim: timeout of etcd is %s, negative", o.Timeout))
	}
	return errors.Join(faults...)
}

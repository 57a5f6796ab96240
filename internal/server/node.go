package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"gnocco/carbonara"
	"gnocco/internal/peer"
	"gnocco/metricd"
	"gnocco/storage/claim"
	"gnocco/storage/engine"
	"gnocco/storage/incoming"
)

// node is this process as a member of the cluster: what it holds, and who holds the rest. One goroutine (keep) compares what
// it holds with what it should, whenever members come or go, and at least once a second.
type node struct {
	options Options
	folder  *Folder
	cluster Cluster
	logger  *slog.Logger

	session claim.Session
	claims  *claims
	holders *holders
	ballast *ballast
	fail    func(error)

	registry  prometheus.Registerer
	collector *engine.Collector
	memory    memory
	cache     *pebble.Cache
	files     *pebble.FileCache

	client    *peer.Client
	resampler carbonara.Resampler // nil: the CPU's
	metricd   *metricd.Metricd    // nil in a process of role api
	archives  *archives
	index     *sharedIndex
	incoming  *incoming.Store // this process's own; nil in one of role metricd
	ownName   string          // of incoming, in claims

	reaggregating *reaggregating // while this process holds the index

	// took is called with the index when this process has come to hold it.
	took func(*localIndex) error
	api  func() http.Handler // of who holds the index; nil if that is another process

	wake chan struct{} // capacity 1

	storesMu sync.Mutex
	stores   map[string]*incoming.Store // held, by name: the own one and those adopted

	leavingMu sync.Mutex
	leaving   map[string]bool // IDs of members that are about to leave, this one included: they get nothing more

	sourcing sync.Mutex // held while sources come and go
	sources  map[string]*source
}

// keepInterval is how often a process looks at what it should hold, if nothing wakes it before.
const keepInterval = time.Second

// join makes this process a member.
func (s *Server) join(ctx context.Context, folder *Folder, cluster Cluster, options *Options, address string, key peer.Key) (*node, error) {
	coordinator, err := options.coordinator(folder)
	if err != nil {
		return nil, err
	}
	claimOptions := options.claimOptions()
	for _, warning := range claimOptions.Warnings() {
		options.Logger.Warn(warning)
	}
	name := options.Node
	if name == "" {
		name = nodeName()
	}
	session, err := coordinator.Join(ctx, claim.Member{Node: name, Address: address, Roles: options.Role.names(), Weight: options.Weight})
	if err != nil {
		return nil, err
	}
	tls, err := options.peerTLS()
	if err != nil {
		return nil, errors.Join(err, session.Leave(ctx))
	}
	n := &node{
		options: *options, folder: folder, cluster: cluster, logger: options.Logger.With("member", session.Member().ID),
		session: session, holders: &holders{session: session, known: make(map[string]knownHolder)},
		fail: failure(session, options.Logger), memory: divideMemory(options.MemoryBytes), client: peer.NewClient(key, tls),
		wake: make(chan struct{}, 1), stores: make(map[string]*incoming.Store), sources: make(map[string]*source), leaving: make(map[string]bool),
	}
	n.ballast = newBallast(folder.Path, options.MinFreeBytes, options.Logger)
	patience, impatient := context.WithCancel(context.Background())
	s.onHurry = impatient
	disk := engine.Patient(patience, vfs.Default, n.ballast.drop)
	n.claims = &claims{session: session, fs: claim.Fence(disk, session), root: folder.Path, grace: claimOptions.Grace(),
		warn: n.logger.Warn, held: make(map[string]held)}
	s.parts("membership", func(ctx context.Context) error {
		err := session.Leave(ctx)
		n.wakeOthers(ctx, everyone)
		n.client.Close()
		return err
	})
	return n, nil
}

// nodeName makes a name for a process that was given none.
func nodeName() string {
	var raw [4]byte
	_, _ = rand.Read(raw[:]) // never fails
	host, _ := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	host = strings.Trim(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, host), "-")
	return cmp.Or(host, "node") + "-" + hex.EncodeToString(raw[:])
}

// ErrFenced says that this process has lost its right to the data folder: others may have taken over what it held, and
// nothing that it does counts any more. It has to end, and may be started again at once.
var ErrFenced = errors.New("lost the lease on the data folder; start the process again")

// ExitFenced is the exit status of a process that ends because of ErrFenced.
const ExitFenced = 3

// failure returns what ends the process when a store can't be used any more.
func failure(lease claim.Lease, logger *slog.Logger) func(error) {
	return func(err error) {
		if !lease.Valid() {
			logger.Error(ErrFenced.Error(), "error", lease.Err())
			os.Exit(ExitFenced)
		}
		engine.ExitOnFailure(logger)(err)
	}
}

// openCaches makes what the stores share.
func (s *Server) openCaches(n *node, registry prometheus.Registerer) {
	n.registry = registry
	n.cache = pebble.NewCache(n.memory.blocks)
	s.onClose("block cache", func() error { n.cache.Unref(); return nil })
	n.files = pebble.NewFileCache(fileCacheShards, openFiles)
	s.onClose("file cache", func() error { n.files.Unref(); return nil })
	n.collector = engine.NewCollector()
	registry.MustRegister(n.collector, newClusterCollector(n))
}

// keep holds what this process should hold until ctx ends.
func (n *node) keep(ctx context.Context) {
	watch := n.session.Watch(ctx)
	tick := time.NewTicker(keepInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch:
		case <-n.wake:
		case <-tick.C:
		}
		if err := n.pass(ctx); err != nil && ctx.Err() == nil && n.session.Valid() {
			n.logger.Warn("not all is held that should be; trying again", "error", err)
		}
	}
}

// pass compares once.
func (n *node) pass(ctx context.Context) error {
	members, err := n.staying(ctx)
	if err != nil {
		return err
	}
	errs := []error{n.claims.giveBackRest(ctx)}
	if n.options.Role.api() {
		errs = append(errs, n.keepIndex(ctx))
	}
	if n.metricd != nil {
		errs = append(errs, n.keepSacks(ctx, members))
	}
	errs = append(errs, n.keepAdopted(ctx, members))
	if n.metricd != nil {
		errs = append(errs, n.keepSources(ctx))
	}
	return errors.Join(errs...)
}

// wakeUp makes keep look now.
func (n *node) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// staying returns the members that things are to be spread over.
func (n *node) staying(ctx context.Context) ([]claim.Member, error) {
	members, err := n.session.Members(ctx)
	n.leavingMu.Lock()
	defer n.leavingMu.Unlock()
	return slices.DeleteFunc(members, func(m claim.Member) bool { return n.leaving[m.ID] }), err
}

func (n *node) noteLeaving(member string) {
	n.leavingMu.Lock()
	defer n.leavingMu.Unlock()
	n.leaving[member] = true
}

// announceLeave makes the others expect what this process gives back.
func (n *node) announceLeave(ctx context.Context) {
	own := n.session.Member().ID
	n.noteLeaving(own)
	n.tellOthers(ctx, own, everyone)
}

// answerWake is for other processes: when it returns, this one knows of all incoming stores. leaving is a member that is about
// to leave, "" for none.
func (n *node) answerWake(ctx context.Context, leaving string) error {
	if leaving != "" {
		n.noteLeaving(leaving)
	}
	n.holders.forgetAll()
	n.wakeUp()
	if n.metricd == nil {
		return nil
	}
	return n.keepSources(ctx)
}

// wakeTimeout is how long a process is waited for that is told of a change: it will see it by itself soon.
const wakeTimeout = time.Second

// everyone is for wakeOthers.
func everyone(*claim.Member) bool { return true }

// wakeOthers tells the other members, those for whom want is true, that claims have changed, and waits until they have looked.
func (n *node) wakeOthers(ctx context.Context, want func(*claim.Member) bool) {
	n.tellOthers(ctx, "", want)
}

func (n *node) tellOthers(ctx context.Context, leaving string, want func(*claim.Member) bool) {
	members, err := n.session.Members(ctx)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wakeTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, m := range members {
		if m.ID != n.session.Member().ID && want(&m) {
			all.Go(func() {
				if err := n.client.Wake(ctx, m.Address, leaving); err != nil {
					n.logger.Debug("member not woken", "other", m.ID, "error", err)
				}
			})
		}
	}
	all.Wait()
}

// tookNothing reports an error of taking a store, unless another process was faster.
func tookNothing(name string, err error) error {
	if errors.Is(err, claim.ErrHeld) {
		return nil
	}
	return fmt.Errorf("server: take %s: %w", name, err)
}

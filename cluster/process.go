package cluster

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
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Process is one process among several: a member of the cluster, which holds some stores and knows the holders of the
// others. It composes the parts below, and opens, reconciles and closes them in order.
type Process struct {
	options Options
	logger  *slog.Logger
	opened  time.Time
	closers Closers
	hurry   func() // makes writes that wait for room on the disk fail; nil until there are any
	leave   func() // ends taking stores

	folder  *datafolder.Folder
	cluster datafolder.ClusterFile
	reserve *datafolder.ReserveFile

	members   *membership
	clocks    *clocks
	ownership *ownership
	holders   *holders
	damaged   *damagedStores
	missing   missing
	peers     *peerServer

	index     *indexReconciler
	incoming  *incomingStores
	workers   *workers // nil for role api
	archives  *Router
	resampler carbonara.Resampler // nil: the CPU's
}

// workers work on the sacks that this process holds.
type workers struct {
	metricd *metricd.Metricd
	sacks   *sackReconciler
	sources *sources
}

// reconcileInterval is how often a process reconciles if nothing wakes it before.
const reconcileInterval = time.Second

// Open makes this process a member of its data folder's cluster, and opens its own parts: an incoming store for
// measures, and workers without sacks. Until Run it holds nothing that others may want.
func Open(ctx context.Context, options Options) (_ *Process, err error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	p := &Process{options: options, logger: options.Logger, opened: time.Now()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close(context.WithoutCancel(ctx)))
		}
	}()
	p.reserve = datafolder.NewReserveFile(options.Data, options.MinFreeBytes, options.Logger)
	p.reserve.RemoveToStart()
	if err := p.enter(); err != nil {
		return nil, err
	}
	key, err := peer.LoadKey(p.folder.Path)
	if err != nil {
		return nil, err
	}
	if p.peers, err = listen(&options, p.cluster.Sacks, key, &p.closers); err != nil {
		return nil, err
	}
	known, err := options.probe(ctx, p.folder, p.peers.address)
	if err != nil {
		return nil, err
	}
	if err := p.join(ctx, key, known); err != nil {
		return nil, err
	}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// enter shares the data folder, if it is the cluster's own.
func (p *Process) enter() (err error) {
	o := &p.options
	var made bool
	if p.folder, p.cluster, made, err = datafolder.Enter(o.Data, o.terms()); err != nil {
		return err
	}
	p.closers.Add("folder", func(context.Context) error { return p.folder.Release() })
	if made {
		o.Logger.Info("made a new data folder", "data", p.folder.Path, "cluster", p.cluster.ID, "sacks", p.cluster.Sacks)
	}
	if err := p.folder.Remember(o.State); err != nil {
		o.Logger.Info("a missing mount of the data folder may go unnoticed: this machine cannot remember the cluster; "+
			"--state names a folder for that", "error", err)
	}
	return nil
}

// join makes this process a member, which holds nothing yet. knownMount is probe's.
func (p *Process) join(ctx context.Context, key peer.Key, knownMount bool) error {
	o := &p.options
	tls, err := o.PeerTLS.Config()
	if err != nil {
		return err
	}
	client := peer.NewClient(key, tls, o.Machine.Dial)
	coordinator, err := o.coordinator(p.folder, client, knownMount)
	if err != nil {
		return err
	}
	claimOptions := o.claimOptions()
	for _, warning := range claimOptions.Warnings() {
		p.logger.Warn(warning)
	}
	name := o.Node
	if name == "" {
		name = nodeName()
	}
	own := claim.Member{Node: name, Address: p.peers.address, Roles: o.Role.names(), Weight: o.Weight}
	session, err := coordinator.Join(ctx, own)
	if err != nil {
		client.Close()
		if errors.Is(err, claim.ErrStaleNames) {
			return p.staleNames(err)
		}
		return err
	}
	p.logger = o.Logger.With("member", session.Member().ID)
	p.members = newMembership(session, client, p.logger)
	p.closers.Add("membership", p.members.leave)
	p.clocks, err = newClocks(p.folder, session.Member().Process.BootID, o.ClockShift, o.Machine.Clock, p.logger)
	if err != nil {
		return err
	}
	if o.ClockShift < time.Millisecond && o.ClockShift > -time.Millisecond {
		if err := p.alignClock(ctx); err != nil {
			return err
		}
	}
	p.damaged = newDamagedStores(p.logger)
	p.holders = newHolders(p.members, p.damaged)
	p.missing.look = p.lookForMissing
	retrying, stopRetrying := context.WithCancel(context.Background())
	p.hurry = stopRetrying
	files := storeFiles(retrying, o.FS, session, p.reserve.Remove)
	p.ownership = &ownership{session: session, fs: files, root: p.folder.Path,
		local: claim.IsLocal(o.FS, p.folder.Path), grace: claimOptions.Grace(), warn: p.logger.Warn,
		check: p.folder.Check, held: make(map[string]held)}
	stop := pause.Go(func(ctx context.Context) {
		for range pause.Ticks(ctx, claimOptions.Beat) {
			p.ownership.record()
		}
	})
	p.closers.Add("records", func(context.Context) error { stop(); return nil })
	return nil
}

// alignClock keeps the clock close to those of other processes, from now on.
func (p *Process) alignClock(ctx context.Context) error {
	if err := p.clocks.align(p.options.Machine.Clock, func(own incoming.Clock) []clockDistance {
		return p.members.clockDistances(ctx, own)
	}); err != nil || !p.options.Role.HasAPI() {
		return err
	}
	own := &p.clocks.own
	w := &clockWatch{now: own.Now, last: own.Now(), doubt: true, lose: p.members.session.Lose,
		keep: func(at int64) error { return p.folder.KeepReading(own.ID, at) },
		drop: func(before int64) error { return p.folder.DropReadings(own.ID, before) },
		ask:  func(ctx context.Context) []clockDistance { return p.members.clockDistances(ctx, *own) }}
	own.Check = w.check
	stop := pause.Go(w.run)
	p.closers.Add("clock", func(context.Context) error { stop(); return nil })
	return nil
}

// open opens this process's own parts.
func (p *Process) open(ctx context.Context) error {
	o, session, client := &p.options, p.members.session, p.members.client
	e := newEnvironment(o, p.ownership, p.damaged, session, p.folder, &p.closers)
	shared := &SharedIndex{remote: peer.NewIndex(client, p.askIndexHolder, o.Memory.Lookups, o.Quotas)}
	p.index = &indexReconciler{environment: e, members: p.members, logger: p.logger, shared: shared,
		memTable: o.Memory.memTable(8, 1, 32<<20), cachedMetrics: o.Memory.Lookups, skipDefaults: o.SkipDefaultPolicies,
		ages: o.ResourceAges, lastBackup: &lastBackup{folder: p.folder, logger: p.logger}}
	p.closers.Add("index", p.index.close)
	p.incoming = &incomingStores{environment: e, members: p.members, logger: p.logger, folder: p.folder,
		options: incoming.Options{Sacks: p.cluster.Sacks, RecentBytes: o.Memory.RecentBytes,
			MinFreeBytes: o.MinFreeBytes, MemTableSize: o.Memory.memTable(16, 1, 16<<20), Clock: p.clocks.own},
		open: make(map[string]*incoming.Store), detach: func(string) {}}
	p.closers.Add("incoming", p.incoming.close)
	o.Registerer.MustRegister(e.collector, newClusterCollector(p.members, p.incoming, p.cluster.Sacks, p.Missing,
		p.index))
	if o.Resampler != nil {
		p.resampler = o.Resampler(o.Registerer)
	}
	if o.Role.hasMetricd() {
		if err := p.openWorkers(e, shared); err != nil {
			return err
		}
	}
	disk := &stale{fs: o.FS, root: p.folder.Path, sacks: p.cluster.Sacks, cache: e.cache, files: e.files,
		snapshots: make(map[int]*snapshot)}
	p.closers.Add("snapshots", func(context.Context) error { return disk.close() })
	p.archives = &Router{holders: p.holders, stale: disk, client: client, sacks: p.cluster.Sacks}
	if w := p.workers; w != nil {
		p.archives.local = &localArchives{metricd: w.metricd, damaged: e.damaged,
			sacks: p.cluster.Sacks, lease: session, reach: w.sources.reach, sees: p.index.shared.remote.Sees}
	}
	p.index.archives = p.archives
	if o.Role.HasAPI() {
		return p.incoming.openOwn(ctx)
	}
	return nil
}

// openWorkers makes the workers, without sacks yet.
func (p *Process) openWorkers(e *environment, shared *SharedIndex) error {
	o := &p.options
	own, err := metricd.New(metricd.Options{
		Resampler: p.resampler,
		Sacks:     p.cluster.Sacks, Workers: o.Workers, Index: shared, FS: e.ownership.fs,
		CheckpointInterval: o.CheckpointInterval, HeadBytes: o.Memory.HeadBytes, GroupBytes: o.Memory.GroupBytes,
		MemTableSize: o.Memory.memTable(2, p.cluster.Sacks, 512<<10),
		Cache:        e.cache, FileCache: e.files,
		Logger: o.Logger, Registerer: o.Registerer, Collector: e.collector, Fail: e.fail,
		Sources: &intake.Sources{}, ClockError: p.clocks.errorOf,
		Damaged: func(sack int, err error) { p.workers.sacks.abandon(sack, err) },
	})
	if err != nil {
		return err
	}
	p.closers.Add("workers", own.Close)
	p.workers = &workers{
		metricd: own,
		sacks: &sackReconciler{environment: e, members: p.members, logger: p.logger, metricd: own,
			sacks: p.cluster.Sacks},
		sources: &sources{members: p.members, logger: p.logger, folder: p.folder, stores: p.incoming, metricd: own,
			known: p.newKnownStores(own), clocks: p.clocks, attached: make(map[string]*source),
			damaged: make(map[string]error)},
	}
	p.incoming.detach = p.workers.sources.detach
	return p.incoming.findLost()
}

// newKnownStores returns the incoming stores that the workers know of: none yet. On a local disk a listing has every
// store that was made before.
func (p *Process) newKnownStores(own *metricd.Metricd) *knownStores {
	k := &knownStores{wait: p.options.OrderWait, complete: time.Now(), tell: own.SetSources, logger: p.logger,
		stores: make(map[string]*knownStore), suspensions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_order_suspensions_total",
			Help: "Incoming stores that were silent for --order-wait: from then on measures may be taken for too old."})}
	if !claim.IsLocal(p.options.FS, p.folder.Path) {
		k.complete = k.complete.Add(p.options.claimOptions().Slack)
	}
	p.options.Registerer.MustRegister(k.suspensions, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gnocco_order_suspended_stores", Help: "Incoming stores whose order is not waited for."},
		func() float64 { return float64(len(k.suspended())) }))
	return k
}

// Handlers are the calls of the cluster to a process that answers requests. Zero is for a process that answers none.
type Handlers struct {
	// TakeIndex is called with the index when this process has come to hold it.
	TakeIndex func(*index.Store) error
	// GiveIndex is called before this process gives the index to another one.
	GiveIndex func(context.Context) error
	// API answers requests that other processes pass on. It is called while this process holds the index.
	API http.Handler
	// Push stores a batch of series from a sender of another process. It is called while this process holds the index.
	Push func(ctx context.Context, creator, protocol string, batch []byte) error
	// Failed is called, twice at most, when the process has stopped working for the cluster by itself: the error is an
	// ErrFenced, or a datafolder.ErrRefused if the data folder is gone.
	Failed func(error)
}

// ensureDefaults fills in what is not set.
func (h *Handlers) ensureDefaults() {
	if h.TakeIndex == nil {
		h.TakeIndex = func(*index.Store) error { return nil }
	}
	if h.GiveIndex == nil {
		h.GiveIndex = func(context.Context) error { return nil }
	}
	if h.Failed == nil {
		h.Failed = func(error) {}
	}
}

// Run answers the other processes, takes the stores of its share, wakes the others, and reconciles until HandOver.
// After an error, Close is still due.
func (p *Process) Run(ctx context.Context, handlers Handlers) error {
	handlers.ensureDefaults()
	p.index.taken, p.index.given = handlers.TakeIndex, handlers.GiveIndex
	p.peers.serve(p.Fence(p.answers(&handlers).Handler()), &p.closers, handlers.Failed)
	claims := p.options.claimOptions()
	if err := p.members.refuseLoopback(ctx, 2*claims.Grace()); err != nil {
		return err
	}
	if err := p.members.refuseNamesake(ctx); err != nil {
		return err
	}
	if p.options.Role.HasAPI() { // after that: several processes that start at once wait for each other
		if err := p.members.announce(ctx, p.incoming.ownName); err != nil {
			return err
		}
	}
	if w := p.workers; w != nil {
		p.closers.Add("sources", func(context.Context) error { w.sources.close(); return nil })
		p.closers.Add("sacks", w.sacks.close)
		w.sacks.takes.Store(true)
	}
	if err := p.reconcile(ctx); errors.Is(err, peer.ErrUnreachable) {
		// A process that hangs must not keep others from starting: it answers later, or it is dead before long.
		p.logger.Warn("not all is held that should be; trying again", "error", err)
	} else if errors.Is(err, claim.ErrLost) { // the disk was slow
		return p.whyFenced()
	} else if err != nil {
		return err
	}
	p.members.wakeOthers(ctx, everyone)
	p.startTaking()
	background, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	reserved := make(chan struct{})
	p.closers.Add("loops", func(context.Context) error {
		stop()
		loops.Wait()
		select { // a disk that hangs does not keep the process from ending
		case <-reserved:
		case <-time.After(time.Second):
		}
		return nil
	})
	go func() { p.reserve.Reconcile(background); close(reserved) }()
	go p.watchFolder(background)
	loops.Go(func() {
		ticks := time.NewTicker(engine.UpkeepInterval)
		defer ticks.Stop()
		p.index.environment.collector.Upkeep(background, ticks.C)
	})
	loops.Go(func() { p.index.shared.remote.Run(background, p.index.shared.heldVersion) })
	loops.Go(func() {
		select {
		case <-background.Done():
		case <-p.members.session.Done():
			handlers.Failed(p.whyFenced())
		}
	})
	p.closers.Add("hand-over", p.HandOver) // unless it was called before
	return nil
}

// Hurry makes writes that wait for room on the disk fail.
func (p *Process) Hurry() {
	if p.hurry != nil {
		p.hurry()
	}
}

// whyFenced returns the error of a lease that is lost.
func (p *Process) whyFenced() error {
	err := p.folder.Why(p.members.session.Err())
	if errors.Is(err, claim.ErrStaleNames) {
		return p.staleNames(err)
	}
	if errors.Is(err, datafolder.ErrRefused) {
		return fmt.Errorf("cluster: %w", err)
	}
	return fmt.Errorf("cluster: %w: %w", ErrFenced, err)
}

// staleNames says that the mount hides names, and returns the error of a process that ends for that.
func (p *Process) staleNames(err error) error {
	kind := diskprobe.MountKind(p.folder.Path)
	p.logger.Error("the mount of the data folder is not fit for several machines: it hides what others do. This process "+
		"takes nothing over", "file_system", kind, "set", diskprobe.Advice(kind), "error", err)
	return fmt.Errorf("cluster: %w: %w", ErrFenced, err)
}

// watchFolder ends the lease when the data folder is not the one any more that this process began with.
func (p *Process) watchFolder(ctx context.Context) {
	for range pause.Ticks(ctx, min(p.options.claimOptions().Beat, maxFolderWatch)) {
		// The lease bounds how long a mount may be dead: GlusterFS heals when its servers are back.
		if err := p.folder.Check(); errors.Is(err, datafolder.ErrRefused) && !datafolder.IsDeadMount(err) {
			p.members.session.Lose(err)
			return
		}
	}
}

// maxFolderWatch is the most time between two looks at the data folder. Data accepted before the look that finds
// another mount there may be lost.
const maxFolderWatch = 500 * time.Millisecond

// startTaking reconciles in the background until leave. The index is taken apart from the rest: all of the cluster's
// metadata waits for it, and the rest may take long.
func (p *Process) startTaking() {
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	if p.options.Role.HasAPI() {
		loops.Go(func() { p.reconcileUntil(ctx, p.members.woken[0], p.index.reconcile) })
	}
	loops.Go(func() { p.reconcileUntil(ctx, p.members.woken[1], p.reconcileRest) })
	p.leave = func() {
		stop()
		loops.Wait()
	}
}

// HandOver ends taking stores, and announces to the others that this process leaves. It gives them the sacks and the
// index as far as there is somebody to take them, while this process goes on to answer. The rest is for Close.
func (p *Process) HandOver(ctx context.Context) error {
	if p.leave == nil {
		return nil
	}
	p.leave()
	p.leave = nil
	p.members.noteLeaving(p.members.own())
	p.members.tellOthers(ctx, &peer.Notice{Leaving: p.members.own()}, everyone)
	others, err := p.members.staying(ctx)
	errs := []error{err}
	if p.workers != nil && len(withRole(others, RoleMetricd)) > 0 {
		errs = append(errs, p.workers.sacks.handOver(ctx))
	}
	if p.options.Role.HasAPI() && len(withRole(others, RoleAPI)) > 0 {
		errs = append(errs, p.index.handOver(ctx))
	}
	return errors.Join(errs...)
}

// TakeAll takes all sacks and incoming stores, until ctx ends. The lease of a process that was killed ends first.
func (p *Process) TakeAll(ctx context.Context) error {
	p.leave()
	p.leave = nil
	for {
		err := p.reconcile(ctx)
		missing, listErr := p.notHeld()
		if err = errors.Join(err, listErr); err == nil && missing == "" {
			return nil
		}
		if end := pause.For(ctx, reconcileInterval); end != nil {
			return fmt.Errorf("cluster: %s is not free: %w", missing, errors.Join(end, err))
		}
	}
}

// notHeld returns the name of a store that this process does not hold, "" for none: measures get into the archives
// only with the index. Damaged ones do not count.
func (p *Process) notHeld() (string, error) {
	names, err := p.folder.IncomingNames()
	names = append(names, datafolder.IndexName)
	for sack := range p.cluster.Sacks {
		names = append(names, datafolder.SackName(sack))
	}
	for _, name := range names {
		if _, held := p.ownership.holds(name); !held && p.damaged.of(name) == nil {
			return name, err
		}
	}
	return "", err
}

// Close brings all accepted measures into the archives, until ctx ends, closes the stores, and lets others take them.
// Parts close in the reverse order of opening.
func (p *Process) Close(ctx context.Context) error { return p.closers.Close(ctx) }

// Sacks returns the number of sacks.
func (p *Process) Sacks() int { return p.cluster.Sacks }

// Folder returns the path of the data folder.
func (p *Process) Folder() string { return p.folder.Path }

// Member returns this process as the others know it.
func (p *Process) Member() claim.Member { return p.members.session.Member() }

// Secret returns 32 bytes for a purpose, the same in all processes of the cluster.
func (p *Process) Secret(purpose string) []byte { return p.peers.key.Derive(purpose) }

// Index returns the index, wherever it is.
func (p *Process) Index() *SharedIndex { return p.index.shared }

// Incoming returns the store that this process accepts measures in, nil for role metricd.
func (p *Process) Incoming() *incoming.Store { return p.incoming.own }

// Archives returns the sacks of the whole cluster.
func (p *Process) Archives() *Router { return p.archives }

// Resampler returns the resampler of the workers, nil for the CPU's.
func (p *Process) Resampler() carbonara.Resampler { return p.resampler }

// askIndexHolder is a peer.AskHolder.
func (p *Process) askIndexHolder(ctx context.Context, patient bool, there func(address string) error) error {
	if patient {
		return p.holders.ask(ctx, datafolder.IndexName, there)
	}
	return p.holders.askOnce(ctx, datafolder.IndexName, there)
}

// Forward returns a handler that passes requests on to the holder of the index. refuse answers a request that cannot be
// passed on.
func (p *Process) Forward(refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return p.members.client.Forward(p.askIndexHolder, func(w http.ResponseWriter, r *http.Request, err error) {
		p.logger.Debug("request not passed on", "path", r.URL.Path, "error", err)
		refuse(w, r, err)
	})
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

// The exit statuses of a process that ends because of ErrFenced, and because of datafolder.ErrRefused.
const (
	ExitFenced        = 3
	ExitRefusedFolder = 4
)

// reconcileUntil calls reconcile until ctx ends.
func (p *Process) reconcileUntil(ctx context.Context, woken <-chan struct{}, reconcile func(context.Context) error) {
	watch := p.members.session.Watch(ctx)
	tick := time.NewTicker(reconcileInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch:
		case <-woken:
		case <-tick.C:
		}
		if err := reconcile(ctx); err != nil && ctx.Err() == nil && p.members.session.Valid() {
			p.logger.Warn("not all is held that should be; trying again", "error", err)
		}
	}
}

// reconcile compares the held stores with the share of this process, once, and takes or gives back the difference.
func (p *Process) reconcile(ctx context.Context) error {
	var err error
	if p.options.Role.HasAPI() {
		err = p.index.reconcile(ctx)
	}
	return errors.Join(err, p.reconcileRest(ctx))
}

// reconcileRest is reconcile without the index.
func (p *Process) reconcileRest(ctx context.Context) error {
	members, err := p.members.staying(ctx)
	if err != nil {
		return err
	}
	errs := []error{p.ownership.giveBackRest(ctx)}
	if p.workers != nil {
		errs = append(errs, p.workers.sacks.reconcile(ctx, members))
	}
	errs = append(errs, p.incoming.reconcile(ctx, members))
	if p.workers != nil {
		errs = append(errs, p.workers.sources.reconcile(ctx), p.clocks.reconcile())
	}
	return errors.Join(errs...)
}

// tookNothing reports an error of taking a store, unless another process was faster, or the store is locked or damaged,
// which environment.open has logged.
func tookNothing(name string, err error) error {
	if err == nil || errors.Is(err, claim.ErrHeld) || model.IsDamaged(err) {
		return nil
	}
	return fmt.Errorf("cluster: take %s: %w", name, err)
}

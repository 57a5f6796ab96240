package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/repeated"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

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
	p.reserve = fulldisk.NewReserveFile(options.Data, options.MinFreeBytes, options.Logger)
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
	o.FS = p.folder.Anchored(o.FS)
	p.reserve.Within(p.folder.Place(""))
	if made {
		o.Logger.Info("made a new data folder", "data", p.folder.Path, "cluster", p.cluster.ID, "sacks", p.cluster.Sacks)
	}
	if err := p.folder.Remember(o.State); err != nil {
		o.Logger.Info("a missing mount of the data folder may go unnoticed: this machine cannot remember the cluster; "+
			"--state names a folder for that", "error", err)
	}
	return nil
}

// joinWhenRoom joins. On a full disk it takes the reserve's room, and waits for more.
func (p *Process) joinWhenRoom(ctx context.Context, c claim.Coordinator, own claim.Member) (claim.Session, error) {
	for waiting := false; ; waiting = true {
		session, err := c.Join(ctx, own)
		if !fulldisk.Is(err) {
			return session, err
		}
		if !waiting {
			p.logger.Warn("the disk is full; waiting for room to join the cluster", "error", err)
		}
		p.reserve.Remove()
		if err := pause.For(ctx, reconcileInterval); err != nil {
			return nil, err
		}
	}
}

// join makes this process a member, which holds nothing yet. knownMount is probe's.
func (p *Process) join(ctx context.Context, key peer.Key, knownMount bool) error {
	o := &p.options
	tls, err := o.Peers.TLS.Config()
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
	name = cmp.Or(name, nodeName())
	own := claim.Member{Node: name, Address: p.peers.address, Roles: o.Role.names(), Weight: o.Weight}
	p.fencing = &fencing{folder: p.folder, logger: p.logger}
	session, err := p.joinWhenRoom(ctx, coordinator, own)
	if err != nil {
		client.Close()
		if errors.Is(err, claim.ErrStaleNames) {
			return p.fencing.staleNames(err)
		}
		return err
	}
	p.logger = o.Logger.With("member", session.Member().ID)
	p.fencing.session, p.fencing.logger = session, p.logger
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
	p.missing.look, p.reach.After = p.lookForMissing, claimOptions.DeadAfter()
	retrying, stopRetrying := context.WithCancel(context.Background())
	p.failWaiting = stopRetrying
	files := storeFiles(retrying, o.FS, session, p.reserve.Remove)
	p.ownership = &ownership{session: session, fs: files, root: p.folder.Path,
		local: claim.IsLocal(o.FS, p.folder.Path), grace: claimOptions.Grace(), warn: p.logger.Warn,
		check: p.folder.Check, held: make(map[string]held), unrecorded: &repeated.Warning{Warn: p.logger.Warn,
			Message: "damage to what was written lately would not be noticed"}}
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
	e := newEnvironment(o, p.ownership, p.holders, session, p.folder, &p.closers)
	shared := &SharedIndex{remote: peer.NewIndex(client, p.askIndexHolder, o.Memory.Lookups, o.Quotas)}
	p.index = &indexReconciler{environment: e, members: p.members, logger: p.logger, shared: shared,
		memTable: o.Memory.memTable(8, 1, 32<<20), cachedMetrics: o.Memory.Lookups, skipDefaults: o.SkipDefaultPolicies,
		ages: o.ResourceAges, lastBackup: &backup.Last{Folder: p.folder, Logger: p.logger}}
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
			sacks: p.cluster.Sacks, lease: session, reach: w.sources.reach, sees: p.index.shared.remote.Sees,
			look: func(ctx context.Context) error { return w.sources.reconcile(ctx, false) }}
	}
	p.index.archives = p.archives
	p.reconciler = &reconciler{role: o.Role, sacks: p.cluster.Sacks, folder: p.folder, logger: p.logger,
		members: p.members, clocks: p.clocks, ownership: p.ownership, damaged: p.damaged, holders: p.holders,
		index: p.index, incoming: p.incoming, workers: p.workers,
		byFiles: o.coordinationKind() == datafolder.CoordinationFile && !p.ownership.local}
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
			known: newKnownStores(o, p.folder.Path, own, p.logger), clocks: p.clocks,
			attached: make(map[string]*source), damaged: make(map[string]error)},
	}
	p.incoming.detach = p.workers.sources.detach
	return p.incoming.findLost()
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

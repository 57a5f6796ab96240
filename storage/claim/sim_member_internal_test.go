package claim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/pause"
)

const (
	simSacks = 2
	simRoot  = "/data"
)

// faults breaks one rule of the package, to see whether the simulation notices.
type faults struct {
	noFence       bool // files are changed and measures acknowledged without asking the lease
	lateRenewals  bool // a renewal counts that returned after the deadline
	oneFolder     bool // all epochs share a folder
	impatience    bool // others are dead before their lease is over
	looseRenaming bool // a store is renamed that was not closed in order
	endRenewals   bool // a renewal counts from its end
	noSlack       bool // others are dead when their lease is over
	noSecondLine  bool // nobody looks for higher claims
	inPlace       bool // heartbeats overwrite a file, and nobody looks for higher claims, as before decision 0089
}

// member is a process of the simulated cluster: it accepts measures, or processes them, or both.
type member struct {
	*process
	c       *cluster
	name    string
	number  int
	api     bool
	metricd bool
	began   time.Duration
	session *session
	fs      vfs.FS
	leaving bool

	stores map[string]*simHolding
	count  uint64 // of measures accepted in this epoch
}

// simHolding is a store that a member holds.
type simHolding struct {
	*store
	claim  Claim
	opened time.Duration
	tidied bool
	busy   bool // one writer at a time

	digested int               // lines
	ids      map[string]bool   // of measures in a sack
	marks    map[string]string // of a sack, by source
	posts    [simSacks][]post  // of an incoming store, by sack
}

// cluster is what the simulation knows of all, which no member does.
type cluster struct {
	*world
	members []*member
	posted  int
	acked   map[string]bool                     // measures answered with 202
	taken   map[string]bool                     // and said to be in its sack
	done    [simSacks][]string                  // these, by sack
	served  map[int]time.Duration               // when each sack last had a holder
	epochs  map[string]uint64                   // the highest at which each store acknowledged something
	claimed map[string]map[uint64]time.Duration // when each epoch was claimed
	sources []string                            // names of the incoming stores
	starts  int
	over    bool
	trace   func(format string, args ...any) // nil: not wanted
	broken  []string                         // rules of the whole that did not hold
}

func (c *cluster) breach(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf("%s: ", c.now)+fmt.Sprintf(format, args...))
}

// tell writes down what happens, when only one seed is run.
func (m *member) tell(format string, args ...any) {
	if m.c.trace != nil {
		m.c.trace("%s %s.%d: %s", m.c.now, m.name, m.number, fmt.Sprintf(format, args...))
	}
}

// start runs a new process.
func (c *cluster) start(n *node, name string, api, metricd bool) {
	c.starts++
	m := &member{
		process: &process{w: c.world, node: n}, c: c, name: name, number: c.starts, api: api, metricd: metricd,
		began:  c.now,
		stores: make(map[string]*simHolding),
	}
	c.members = append(c.members, m)
	id := fmt.Sprintf("%s.%d", name, c.starts)
	m.tell("starts")
	m.run(func() {
		m.live(id)
		m.tell("ends: %v", m.reason())
		if m.c.crashes && m.session != nil && !m.dead {
			m.c.breach("%s ends: %v", id, m.reason())
		}
		m.kill() // after any end, all of it stops
	})
}

func simOptions(fs vfs.FS, clock Clock) Options {
	o := Options{FS: fs, Clock: clock, Poll: 2 * time.Second} // shorter is slower to run
	o.EnsureDefaults()
	return o
}

// live is a process's main task.
func (m *member) live(id string) {
	fs := &mount{p: m.process, d: m.w.disk}
	options := simOptions(fs, m.node)
	if m.w.faults.impatience {
		options.Slack = -options.TTL / 2
	}
	if m.w.faults.noSlack {
		options.Slack = 0
	}
	if m.w.beats || m.w.crashes {
		options.Poll = defaultPoll
	}
	if m.w.asks {
		options.Ask = m.ask
	}
	if m.w.faults.inPlace {
		options.Ask = func(other Member) (Pulse, bool) { return m.readInPlace(other.ID) }
	}
	f := &File{root: simRoot, options: options, inOrder: true, within: m.within}
	s, err := f.enter(Member{ID: id, Node: m.name, Process: Process{Host: m.node.name}})
	if err != nil {
		return
	}
	if m.session = s; !m.w.tidies {
		s.detector.quiet = quiet
	} else {
		s.detector.quiet = 0
	}
	m.fs = Fence(fs, s)
	if m.w.faults.noFence {
		m.fs = fs
	}
	if m.w.faults.lateRenewals { // the lease comes back, for those that have not asked meanwhile
		s.Wait()
		m.fs = Fence(fs, struct{ Lease }{s})
	}
	m.run(func() { m.loop(s.options.Beat, m.beat) })
	if f := m.w.faults; !f.inPlace && !f.lateRenewals && !f.noSecondLine { // the second line hides most of these
		m.run(func() { m.loop(s.options.Beat, func() { _ = s.checkHeld(true) }) })
	}
	m.run(func() { m.loop(s.options.Poll, func() { _ = s.detector.look(0) }) }) // what fails is tried again
	m.run(func() { m.loop(s.options.TTL, func() { _ = s.tidy() }) })
	if m.w.crashes && !m.w.tidies {
		m.run(func() { m.loop(s.options.Beat, m.lookUp) })
	}
	if m.api {
		m.run(m.accept)
	}
	m.work()
}

func (m *member) reason() error {
	if m.session == nil {
		return nil
	}
	return m.session.Err()
}

// lives reports whether the process still believes to be a member.
func (m *member) lives() bool { return !m.dead && (m.w.faults.noFence || m.session.Valid()) }

func (m *member) isLost() bool {
	select {
	case <-m.session.Done():
		return true
	default:
		return false
	}
}

// goesOn reports whether the process has not noticed the end of its lease. It may be suspended.
func (m *member) goesOn() bool { return m.lives() || !m.dead && !m.isLost() }

func (m *member) loop(interval time.Duration, f func()) {
	for m.sleep(interval) && m.goesOn() {
		f()
	}
}

// within runs functions as tasks, and waits for them for so long at most.
func (m *member) within(wait time.Duration, all ...func()) {
	left, caller, waits := len(all), m.w.current, wait > 0
	goOn := func() {
		if waits {
			waits = false
			caller.wake()
		}
	}
	for _, f := range all {
		m.run(func() {
			f()
			if left--; left == 0 {
				m.w.after(0, goOn)
			}
		})
	}
	if waits && left > 0 {
		m.w.after(wait, goOn)
		_ = caller.wait() // what follows notices
	}
}

// ask asks the process at another member's address.
func (m *member) ask(other Member) (pulse Pulse, ok bool) {
	if !m.sleep(m.w.between(100*time.Microsecond, 2*time.Millisecond)) {
		return pulse, false
	}
	for _, o := range m.c.members {
		if o.name == other.Node && !o.dead && o.paused <= m.w.now && o.session != nil {
			return o.session.Pulse(), o.session.member.ID == other.ID
		}
	}
	m.sleep(time.Second)
	return pulse, false
}

func (m *member) beat() {
	s := m.session
	if m.w.faults.inPlace {
		m.beatInPlace()
		return
	}
	if f := m.w.faults; f.endRenewals || f.noSecondLine {
		begun := s.options.Clock.Now()
		if s.Valid() && s.renameCounter(begun) == nil {
			if f.endRenewals {
				begun = s.options.Clock.Now()
			}
			s.Renew(begun)
		}
		return
	}
	if !m.w.faults.lateRenewals && !m.w.faults.noFence {
		_ = s.beat()
		return
	}
	begun := s.options.Clock.Now()
	if s.renameCounter(begun) == nil {
		s.Deadline.at.Store(int64(max(begun, s.options.Clock.Now()) + s.options.TTL))
	}
}

// beatInPlace is the heartbeat of earlier versions.
func (m *member) beatInPlace() {
	s := m.session
	begun := s.options.Clock.Now()
	next := s.heartbeat.counter.Add(1)
	file, err := s.fs.OpenReadWrite(path.Join(s.heartbeat.dir, "counter"), vfs.WriteCategoryUnspecified)
	if err == nil {
		if _, err = file.WriteAt(fmt.Appendf(nil, "%016d", next), 0); err == nil && file.Sync() == nil {
			s.Renew(begun)
		}
	}
}

func (m *member) readInPlace(id string) (pulse Pulse, ok bool) {
	content, err := read(m.session.fs, path.Join(simRoot, "members", id, "counter"))
	if err != nil {
		return pulse, false
	}
	pulse.Beat, err = strconv.ParseUint(string(content), 10, 64)
	return pulse, err == nil
}

// accept is a client that posts measures one after the other to this process.
func (m *member) accept() {
	for m.sleep(m.w.between(200*time.Millisecond, 800*time.Millisecond)) && m.goesOn() {
		h := m.stores[m.incoming()]
		if h == nil || h.busy || m.w.calm || m.leaving || m.node.idle > m.w.now || !m.lives() {
			continue
		}
		m.c.posted++
		m.count++
		id := fmt.Sprintf("m%d", m.c.posted)
		sequence := h.claim.Epoch<<40 | m.count
		if !m.write(h, fmt.Sprintf("post %s %d %020d", id, m.c.posted%simSacks, sequence)) {
			return
		}
		m.c.acked[id] = true
	}
}

func (m *member) incoming() string { return "incoming/" + m.name }

// write makes lines durable and acknowledges them. A write that failed ends the process.
func (m *member) write(h *simHolding, lines ...string) bool {
	h.busy = true
	err := h.append(lines...)
	h.busy = false
	if err != nil || !m.lives() {
		m.kill()
		return false
	}
	if m.isLost() && !m.w.faults.noFence {
		m.c.breach("%s: epoch %d acknowledges without a lease", h.claim.Name, h.claim.Epoch)
	}
	if m.w.hides {
		m.checkSuperseded(h)
		return true
	}
	if before := m.c.epochs[h.claim.Name]; before > h.claim.Epoch {
		m.c.breach("%s: epoch %d acknowledges after epoch %d", h.claim.Name, h.claim.Epoch, before)
	}
	m.c.epochs[h.claim.Name] = h.claim.Epoch
	return true
}

// secondLine is how long after a higher claim a process may acknowledge something whose heartbeats were hidden: its
// lease, and the next look at its claims.
const secondLine = 2 * defaultTTL

// checkSuperseded holds a process whose heartbeats others may not see to notice that.
func (m *member) checkSuperseded(h *simHolding) {
	for epoch, at := range m.c.claimed[h.claim.Name] {
		if epoch > h.claim.Epoch && m.w.now-at > secondLine {
			m.c.breach("%s: epoch %d acknowledges %s after epoch %d was claimed", h.claim.Name, h.claim.Epoch, m.w.now-at,
				epoch)
		}
	}
}

// later returns the highest epoch above one that a folder has had for so long that all see it, 0 for none.
func (m *member) later(dir string, epoch uint64, parse func(string) (uint64, bool)) (later uint64) {
	if folder := m.w.disk.entries[dir]; folder != nil {
		for _, name := range folder.as(m.w.now - maxStale).names {
			if n, ok := parse(name); ok && n > epoch {
				later = max(later, n)
			}
		}
	}
	return later
}

// work is the loop that takes stores, gives them up, and brings measures into sacks.
func (m *member) work() {
	for m.sleep(m.w.between(300*time.Millisecond, 700*time.Millisecond)) && m.goesOn() {
		if !m.lives() {
			continue
		}
		if m.leaving {
			m.leave()
			return
		}
		live := m.session.detector.live()
		for _, name := range m.names() {
			if !m.dead {
				m.reconcile(name, m.wanted(name, live))
			}
		}
		for i := range simSacks {
			if h := m.stores[sackName(i)]; h != nil && !m.dead {
				m.drain(i, h)
			}
		}
	}
}

func sackName(i int) string { return fmt.Sprintf("sacks/%03d", i) }

// names are the stores that this member might hold.
func (m *member) names() []string {
	var names []string
	if m.metricd {
		for i := range simSacks {
			names = append(names, sackName(i))
		}
		names = append(names, m.c.sources...)
	} else {
		names = append(names, m.incoming())
	}
	return names
}

// wanted reports whether the member should hold a store, as far as it knows.
func (m *member) wanted(name string, live []Member) bool {
	if name == m.incoming() && m.api {
		return true
	}
	if (m.w.hangs || m.w.hides) && strings.HasPrefix(name, "sacks/") { // all want all, and keep none for long
		h := m.stores[name]
		return h == nil || m.node.Now()-h.opened < 20*time.Second || !m.w.chance(50)
	}
	if node, ok := strings.CutPrefix(name, "incoming/"); ok { // a dead one's is adopted
		if slices.ContainsFunc(live, func(other Member) bool { return other.Node == node }) {
			return false
		}
	}
	// Processes of api hold no sacks.
	live = slices.DeleteFunc(slices.Clone(live), func(other Member) bool { return strings.Contains(other.Node, "api") })
	owner := Rendezvous(live, name)
	return owner != nil && owner.Node == m.name
}

// reconcile claims, gives back or tidies one store.
func (m *member) reconcile(name string, wanted bool) {
	h := m.stores[name]
	switch {
	case h == nil && wanted:
		if _, is := m.w.disk.entries[path.Join(simRoot, name)]; is || !m.adopts(name) {
			m.take(name)
		}
	case h == nil || h.busy:
	case !wanted:
		m.giveBack(name, h)
	case m.adopts(name) && m.drained(h):
		m.dismiss(name, h)
	case m.w.chance(15) || m.w.hides && m.w.chance(5):
		h.busy = true
		if h.store.tidy() != nil {
			m.kill()
		}
		h.busy = false
	case !h.tidied && m.node.Now()-h.opened > m.session.options.Grace():
		h.tidied = RemoveOld(m.fs, path.Join(simRoot, name), h.claim.Epoch) == nil
	}
}

func (m *member) take(name string) {
	claim, err := m.session.claim(name)
	if err != nil {
		return
	}
	if m.c.claimed[name] == nil {
		m.c.claimed[name] = make(map[uint64]time.Duration)
	}
	m.c.claimed[name][claim.Epoch] = m.w.now
	if higher := m.later(path.Join(simRoot, "claims", name), claim.Epoch, parseClaimEpoch); higher > 0 {
		m.c.breach("%s is claimed at epoch %d below epoch %d", name, claim.Epoch, higher)
	}
	if m.w.hides && m.w.chance(2) { // others may take the store meanwhile, and looks show it late
		m.node.looks = m.w.now + m.w.between(0, 9*time.Second)
		if !m.sleep(m.node.looks - m.w.now) {
			return
		}
	}
	dir := path.Join(simRoot, name)
	folder, later := path.Join(dir, "e1"), m.later(dir, claim.Epoch, parseEpoch)
	if m.w.faults.oneFolder {
		err = m.fs.MkdirAll(folder, 0)
	} else {
		if m.w.faults.looseRenaming {
			m.pretendClosed(dir)
		}
		folder, err = TakeOver(m.fs, simRoot, name, claim.Epoch)
	}
	if err == nil {
		var s *store
		if s, err = openStore(m.fs, folder); err == nil && !m.w.faults.oneFolder {
			err = MarkOpened(m.fs, simRoot, name, claim.Epoch)
		}
		if err == nil {
			if later > 0 && !m.w.faults.oneFolder {
				m.c.breach("%s is opened at epoch %d behind the folder of epoch %d", name, claim.Epoch, later)
			}
			m.stores[name] = &simHolding{store: s, claim: claim, opened: m.node.Now(), marks: make(map[string]string),
				ids: make(map[string]bool)}
			m.count = 0
			m.tell("holds %s at epoch %d, %d lines", name, claim.Epoch, len(s.lines))
			return
		}
	}
	m.tell("fails to take %s at epoch %d: %v", name, claim.Epoch, err)
	if errors.Is(err, errDamaged) && m.lives() {
		m.c.breach("%s at epoch %d: %v", name, claim.Epoch, err)
	}
	m.kill()
}

// pretendClosed marks the last folder as closed in order, which it may not be.
func (m *member) pretendClosed(dir string) {
	if f, err := readEpochFolders(m.fs, dir); err == nil && f.highest() > 0 {
		_ = MarkClosed(m.fs, dir, f.highest())
	}
}

// adopts reports whether a store is another process's incoming store.
func (m *member) adopts(name string) bool {
	return strings.HasPrefix(name, "incoming/") && name != m.incoming()
}

// drained reports whether all measures of an incoming store are in their sacks.
func (m *member) drained(h *simHolding) bool {
	h.digest()
	for _, posts := range h.posts {
		for _, p := range posts {
			if !m.c.taken[p.id] {
				return false
			}
		}
	}
	return true
}

// dismiss removes an adopted store.
func (m *member) dismiss(name string, h *simHolding) {
	delete(m.stores, name)
	m.tell("removes %s at epoch %d", name, h.claim.Epoch)
	if MarkClosed(m.fs, path.Join(simRoot, name), h.claim.Epoch) != nil || Remove(m.fs, simRoot, name) != nil ||
		m.session.release(h.claim) != nil {
		m.kill()
	}
}

// lookUp looks up the holder of a store. The folder of a claim whose holder's machine lives does not hang.
func (m *member) lookUp() {
	name := sackName(m.w.rand.IntN(simSacks))
	holds := func() bool {
		return slices.ContainsFunc(m.c.members, func(o *member) bool { return !o.dead && o.stores[name] != nil })
	}
	before := holds()
	if _, err := m.session.Holder(context.Background(), name); errors.Is(err, pause.ErrHangs) && !m.dead &&
		before && holds() {
		m.c.breach("the claim of %s hangs", name)
	}
}

func (m *member) giveBack(name string, h *simHolding) {
	delete(m.stores, name)
	m.tell("gives back %s at epoch %d, %d lines", name, h.claim.Epoch, len(h.lines))
	if MarkClosed(m.fs, path.Join(simRoot, name), h.claim.Epoch) != nil || m.session.release(h.claim) != nil {
		m.kill()
	}
}

// leave ends the process in order.
func (m *member) leave() {
	for _, name := range slices.Sorted(maps.Keys(m.stores)) {
		h := m.stores[name]
		for h.busy && m.sleep(time.Millisecond) {
			continue
		}
		if m.dead {
			return
		}
		m.giveBack(name, h)
	}
	if !m.dead {
		_ = m.session.exit()
	}
}

// drain brings what waits for a sack into it, from all incoming stores that anybody believes to hold.
func (m *member) drain(sack int, h *simHolding) {
	for _, other := range m.c.members {
		for _, source := range m.c.sources {
			if m.dead || other.dead || other.stores[source] == nil {
				continue
			}
			waiting, ok := m.fetch(other, source, sack, h.mark(source))
			if !ok || len(waiting) == 0 || h.busy || m.stores[sackName(sack)] != h {
				continue
			}
			if !m.write(h, waiting...) {
				return
			}
			for _, line := range waiting {
				id := strings.Fields(line)[1]
				m.c.taken[id] = true
				m.c.done[sack] = append(m.c.done[sack], id)
			}
		}
	}
}

// mark is how far a sack has consumed a source.
func (h *simHolding) mark(source string) string {
	h.digest()
	return h.marks[source]
}

// digest looks at the lines that are new.
func (h *simHolding) digest() {
	for _, line := range h.lines[h.digested:] {
		switch fields := strings.Fields(line); fields[0] {
		case "took":
			h.ids[fields[1]] = true
			h.marks[fields[2]] = max(h.marks[fields[2]], fields[3])
		case "post":
			sack := int(fields[2][0] - '0')
			h.posts[sack] = append(h.posts[sack], post{fields[1], fields[3]})
		}
	}
	h.digested = len(h.lines)
}

// post is a measure that waits.
type post struct{ id, sequence string }

// fetch asks another process for the lines that it has for a sack after the mark: a request that may take long on both
// ways.
func (m *member) fetch(other *member, source string, sack int, mark string) (lines []string, ok bool) {
	if !m.sleep(m.w.between(100*time.Microsecond, 2*time.Millisecond)) {
		return nil, false
	}
	h := other.stores[source]
	if other.dead || other.paused > m.w.now || h == nil {
		return nil, false
	}
	h.digest()
	for _, post := range slices.Backward(h.posts[sack]) {
		if post.sequence <= mark {
			break
		}
		lines = append(lines, fmt.Sprintf("took %s %s %s", post.id, source, post.sequence))
	}
	slices.Reverse(lines)
	if !other.lives() { // reads are answered if the lease holds after them
		return nil, false
	}
	back := m.w.between(100*time.Microsecond, 2*time.Millisecond)
	if !m.w.calm && !m.w.crashes && m.w.chance(50) {
		back += m.w.between(0, 20*time.Second)
	}
	return lines, m.sleep(back)
}

package claim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// temporary begins the names of files that are not complete, or not yet linked to their name.
const temporary = "tmp-"

// endedPrefix begins the name of the folder of a member whose process has ended, as a process of its machine saw.
const endedPrefix = temporary + "ended-"

// failureDetector decides which members are dead, by their counters and this process's own clock.
type failureDetector struct {
	dir     string
	options *Options
	fs      vfs.FS
	self    Member
	local   bool // the folder belongs to one kernel
	// within runs functions beside one another, and waits for their end for so long at most.
	within func(wait time.Duration, all ...func())
	stale  func(error) // is told of a mount that hides what others do
	quiet  time.Duration

	watchers Watchers

	mu       sync.Mutex
	silent   time.Duration           // when a member on another machine was last seen to be silent
	names    []string                // of the folder, as of the last listing
	listed   time.Duration           // when that was begun
	compared time.Duration           // when a round of names was looked for last
	seen     map[string]*observation // by ID
	busy     map[string]bool         // members whose folder is looked at, or removed: a disk that hangs is asked once
}

// observation is what is known of a member.
type observation struct {
	member  Member // without Node if its description was never read
	counter uint64
	listed  bool // it has a folder
	// read is when the counter was first known to be what it is: the end of that reading.
	read time.Duration
	// since is until when the counter was raised, at the latest.
	since    time.Duration
	compared comparison
	nudged   time.Duration // since, when the member's folder was last changed
	// ended is when the folder of an ended process was first seen.
	ended time.Duration
	// next is when its counter is to be asked for again, and looked when its heartbeats were last listed.
	next, looked time.Duration
	dead         bool // permanently
	died         time.Duration
}

// quiet is for how long no member was silent until files of claims are removed. CephFS, as it is installed, keeps the
// capabilities of a dead client for so long: changes of a folder that the client listed hang, and so do later listings.
const quiet = 5 * time.Minute

// isQuiet reports whether files of claims may be removed.
func (r *failureDetector) isQuiet(now time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.seen {
		if s.ended == 0 && s.listed && now-s.since > r.options.TTL/2 {
			r.silent = now
		}
	}
	return r.local || now-r.silent >= r.quiet
}

// raised returns until when a counter that is first read now was raised, at the latest. The listing may have hung until
// a server gave the dead member up; then the counter before and the member's own clock say more.
func (s *observation) raised(counter uint64, now time.Duration) time.Duration {
	if !s.member.Timed || s.counter == 0 {
		return now
	}
	higher := int64(counter - s.counter) //nolint:gosec // milliseconds of a process's life
	return min(now, s.read+time.Duration(1+higher)*time.Millisecond)
}

// overdue reports whether a member is dead if a look that begins now finds nothing new.
func (s *observation) overdue(now time.Duration, options *Options) bool {
	return now-s.since >= options.DeadAfter() || s.ended != 0 && now-s.ended >= options.Slack
}

func newFailureDetector(root string, options *Options, self Member) *failureDetector {
	return &failureDetector{
		dir: membersDir(options.FS, root), options: options, fs: options.FS, self: self,
		local: IsLocal(options.FS, root), within: within, stale: func(error) {},
		seen: make(map[string]*observation), busy: make(map[string]bool), silent: options.Clock.Now(), quiet: quiet,
	}
}

// within runs each function in a goroutine of its own.
func within(wait time.Duration, all ...func()) {
	var group sync.WaitGroup
	for _, f := range all {
		group.Go(f)
	}
	if wait == 0 {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()
	select {
	case <-done:
	case <-time.After(wait):
	}
}

// look has the counter of each member looked at once a beat, and wakes watchers on a change. Each member is looked at
// apart from the others, as its folder may hang; they are waited for so long at most. A look that waits lists the
// members, and so does the first one of a beat: processes that join or leave say so over the network.
func (r *failureDetector) look(wait time.Duration) error {
	begun := r.options.Clock.Now()
	names, err := r.list(begun, wait == 0 && r.asks())
	if err != nil {
		return fmt.Errorf("claim: members: %w", err)
	}
	changed := r.unlisted(names)
	var all []func()
	for _, id := range names {
		id, ended := strings.CutPrefix(id, endedPrefix)
		if strings.HasPrefix(id, temporary) || id == r.self.ID {
			continue
		}
		if ended {
			r.noteEnded(id)
		}
		switch due, dead := r.due(id, begun); {
		case due:
			all = append(all, r.alone(id, func() error {
				changed, err := r.decide(id, nil)
				if changed {
					r.watchers.Wake()
				}
				return err
			}))
		case dead:
			all = append(all, r.alone(id, func() error { return r.removeDead(id) }))
		}
	}
	r.within(wait, all...)
	if changed {
		r.watchers.Wake()
	}
	return nil
}

// asks reports whether members are asked over the network, and the disk for those that do not answer.
func (r *failureDetector) asks() bool { return r.options.Ask != nil && !r.local }

// list lists the members; recent allows a listing of the last beat.
func (r *failureDetector) list(now time.Duration, recent bool) ([]string, error) {
	r.mu.Lock()
	names, listed := r.names, r.listed
	r.mu.Unlock()
	if recent && names != nil && now-listed < r.options.Beat {
		return names, nil
	}
	names, err := list(r.fs, r.dir)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.names, r.listed = names, now
	}
	return names, err
}

// alone returns a function that does something with a member's folder, unless something is still being done with it.
func (r *failureDetector) alone(id string, do func() error) func() {
	return func() {
		r.mu.Lock()
		busy := r.busy[id]
		r.busy[id] = true
		r.mu.Unlock()
		if busy {
			return
		}
		if err := do(); err != nil {
			r.options.Logger.Warn("member not read", "member", r.self.ID, "other", id, "error", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.busy, id)
	}
}

// noteEnded notes that the process of a member has ended.
func (r *failureDetector) noteEnded(id string) {
	now := r.options.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[id]
	if s == nil {
		s = &observation{since: now, member: Member{ID: id}}
		r.seen[id] = s
	}
	s.ended = cmp.Or(s.ended, now)
}

// showEnded renames the folder of a member whose process has ended. Other machines no longer count it as a member, and
// wait only until they see all that it wrote.
func (r *failureDetector) showEnded(id string) error {
	err := r.fs.Rename(r.fs.PathJoin(r.dir, id), r.fs.PathJoin(r.dir, endedPrefix+id))
	if err != nil && !notThere(err) {
		return fmt.Errorf("claim: member %s: %w", id, err)
	}
	return nil
}

// unlisted notes members without a folder, and reports whether a live one is among them. That is no death: the owner of
// a claim is decided on when the claim is asked for.
func (r *failureDetector) unlisted(names []string) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, s := range r.seen {
		if s.listed && !slices.Contains(names, id) {
			s.listed = false
			changed = changed || !s.dead
		}
	}
	return changed
}

// due reports whether a member's counter has to be read, and whether the member is dead for so long that its folder can
// go. It has the folder of a member that missed two beats changed, once: the server of CephFS gives a dead client up
// only some time after others want a folder that the client has listed. If takeovers were the first to want one, all of
// them would wait for so long. The member lists its folder now and then, and others do not.
func (r *failureDetector) due(id string, now time.Duration) (due, dead bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[id]
	if s == nil {
		return true, false
	}
	if s.dead {
		return false, now-s.died > r.options.Grace()
	}
	if !r.local && s.listed && s.ended == 0 && now-s.since >= r.options.TTL/2 && s.nudged != s.since {
		s.nudged = s.since
		r.within(0, func() { _ = RefreshListing(r.fs, r.fs.PathJoin(r.dir, id), r.self.Node) }) // it may hang
	}
	return !s.listed || now >= s.next || s.overdue(now, r.options) || r.gone(&s.member), false
}

// gone reports whether a member's process has ended, as far as this machine sees that at once.
func (r *failureDetector) gone(m *Member) bool {
	if r.local && unlocked(r.fs, r.fs.PathJoin(r.dir, m.ID, descriptionFile)) {
		return true
	}
	return r.self.Process.Gone(&m.Process)
}

// reading is one look at a member.
type reading struct {
	begun   time.Duration
	counter uint64  // 0: not seen
	member  *Member // nil: not read
	missing bool    // it has no folder
	looked  bool    // its heartbeats were listed
	// until is the time to the next reading.
	until time.Duration
}

// ask asks the member for its counter, and lists its heartbeats if it does not answer.
func (r *failureDetector) ask(id string) (x reading, err error) {
	r.mu.Lock()
	var known observation
	if s := r.seen[id]; s != nil {
		known = *s
	}
	r.mu.Unlock()
	x.begun, x.until = r.options.Clock.Now(), r.options.Beat
	asked := r.asks()
	if known.member.Node == "" {
		content, err := read(r.fs, r.fs.PathJoin(r.dir, id, descriptionFile))
		if x.missing = notThere(err); x.missing {
			return x, nil
		}
		var m Member
		if err == nil {
			m, err = decodeMember(content)
		}
		if err != nil {
			r.options.Logger.Warn("member's description not read", "member", id, "error", err) // it dies if it stands still
		} else if x.member = &m; asked {
			return x, nil
		}
	} else if r.gone(&known.member) {
		return x, nil
	} else if asked && known.listed {
		// Another process may have its address by now, and a counter of its own.
		pulse, ok := r.options.Ask(known.member)
		if ok {
			x.until = r.options.untilNext(pulse.Age)
			if x.counter = pulse.Beat; x.counter > known.counter {
				return x, r.compare(&known, pulse.Shown)
			}
		}
		// Between two beats there is no news, and one that starts does not answer yet. The last beat of one that ended
		// is looked for at once: a later look would take it for a later sign of life.
		if x.begun-known.since < r.options.TTL/2 && (ok || known.looked > known.since) {
			return x, nil
		}
		x.begun = r.options.Clock.Now()
	}
	if r.local {
		if x.counter = lockedCounter(r.fs, r.fs.PathJoin(r.dir, id, descriptionFile)); x.counter > 1 {
			return x, nil
		}
	}
	x.looked = true
	names, err := r.fs.List(r.fs.PathJoin(r.dir, id, beatsFolder))
	if x.missing = notThere(err); err != nil && !x.missing {
		return x, fmt.Errorf("claim: member %s: %w", id, err)
	}
	x.counter = highestBeat(names)
	return x, nil
}

// decide reads a member's counter and decides whether the member is dead. changed reports that this is new, or that the
// member was unknown. hint is the member as its claim has it, for one without a folder.
func (r *failureDetector) decide(id string, hint *Member) (changed bool, err error) {
	x, err := r.ask(id)
	if err != nil {
		return false, err
	}
	show := false // that the process has ended
	defer func() {
		if show {
			err = r.showEnded(id)
		}
	}()
	ended := r.options.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[id]
	if s == nil {
		s = &observation{counter: x.counter, read: ended, since: ended, member: Member{ID: id}}
		r.seen[id] = s
	}
	if s.member.Node == "" && x.member != nil {
		s.member, changed = *x.member, true
	}
	if s.member.Node == "" && hint != nil {
		s.member = *hint
	}
	// A folder that went away is no sign of life: its owner left, or others found it dead.
	if x.counter > s.counter {
		s.since = s.raised(x.counter, ended)
		s.counter, s.read = x.counter, ended
	}
	gone := r.gone(&s.member) // on a local disk also if its description is damaged
	if s.next = x.begun + x.until; x.looked {
		s.looked = x.begun
	}
	if !gone {
		s.listed = !x.missing
	}
	if s.dead {
		return changed, nil
	}
	show = gone && s.ended == 0 && !r.local
	if gone || s.overdue(x.begun, r.options) {
		s.dead, s.died, changed = true, x.begun, true
		r.options.Logger.Info("member is dead", "member", id, "process_gone", gone, "silent", max(0, x.begun-s.since))
	}
	return changed, nil
}

// isDead reports whether the owner of a claim is dead, as far as is known after a beat: its folder may hang. A member
// that was looked at within the last beat is not asked again for each of its claims: one that is silent takes a second.
func (r *failureDetector) isDead(m *Member) (bool, error) {
	if m.ID == r.self.ID {
		return false, nil
	}
	failed := make(chan error, 1)
	if due, _ := r.due(m.ID, r.options.Clock.Now()); due {
		r.within(r.options.Beat, r.alone(m.ID, func() error {
			changed, err := r.decide(m.ID, m)
			if changed {
				r.watchers.Wake()
			}
			failed <- err
			return nil
		}))
	}
	r.mu.Lock()
	s := r.seen[m.ID]
	dead := s != nil && s.dead
	r.mu.Unlock()
	select {
	case err := <-failed:
		return dead, err
	default:
		return dead, nil
	}
}

// removeDead removes the folder of a member that is dead for long. If its process still lives, it loses its lease by
// that.
func (r *failureDetector) removeDead(id string) error {
	for _, name := range []string{id, endedPrefix + id} {
		if err := r.fs.RemoveAll(r.fs.PathJoin(r.dir, name)); err != nil && !notThere(err) {
			return fmt.Errorf("claim: member %s: %w", id, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = nil // as listed before
	return nil
}

// live returns the members that have a folder and are not dead, this process included.
func (r *failureDetector) live() []Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	members := []Member{r.self}
	for s := range maps.Values(r.seen) {
		if s.listed && !s.dead && s.member.Node != "" {
			members = append(members, s.member)
		}
	}
	slices.SortFunc(members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
	return members
}

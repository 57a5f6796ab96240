package claim

import (
	"cmp"
	"errors"
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

// failureDetector decides which members are dead, by the counters of their files and this process's own clock.
type failureDetector struct {
	dir     string
	options *Options
	fs      vfs.FS
	self    Member
	local   bool // the folder belongs to one kernel

	watchers Watchers

	mu   sync.Mutex
	seen map[string]*observation // by ID
}

// observation is the last reading of a member's file.
type observation struct {
	member  Member // without Node if its file was never read
	counter uint64 // 0: it has no file
	listed  bool   // it has a file
	// since is when the counter was first known to be what it is: the end of that reading.
	since time.Duration
	// read is when its file was last looked into.
	read time.Duration
	dead bool // for good
	died time.Duration
}

func newFailureDetector(root string, options *Options, self Member) *failureDetector {
	return &failureDetector{
		dir: membersDir(options.FS, root), options: options, fs: options.FS, self: self,
		local: IsLocal(options.FS, root),
		seen:  make(map[string]*observation),
	}
}

// look lists the members and wakes watchers on a change. Counters are read once a beat.
func (r *failureDetector) look() error {
	begun := r.options.Clock.Now()
	names, err := list(r.fs, r.dir)
	if err != nil {
		return fmt.Errorf("claim: members: %w", err)
	}
	var errs []error
	changed := r.unlisted(names)
	for _, id := range names {
		if strings.HasPrefix(id, temporary) || id == r.self.ID {
			continue
		}
		due, dead := r.due(id, begun)
		if due {
			changedToo, err := r.decide(id, nil)
			changed = changed || changedToo
			errs = append(errs, err)
		}
		if dead {
			errs = append(errs, r.removeDead(id))
		}
	}
	if changed {
		r.watchers.Wake()
	}
	return errors.Join(errs...)
}

// unlisted notes members without a file, and reports whether a live one is among them. That is no death: the owner of a
// claim is decided on when the claim is asked for.
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

// due reports whether a member's file has to be read, and whether the member is dead for so long that its file can go.
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
	return !s.listed || now-s.read >= r.options.Beat || s.member.Node != "" && r.gone(&s.member), false
}

// gone reports whether a member's process has ended, as far as this machine sees that at once.
func (r *failureDetector) gone(m *Member) bool {
	if r.local && unlocked(r.fs, r.fs.PathJoin(r.dir, m.ID)) {
		return true
	}
	return r.self.Process.Gone(&m.Process)
}

// decide reads a member's counter and decides whether the member is dead. changed reports that this is new, or that the
// member was unknown. hint is the member as its claim has it, for one without a file.
func (r *failureDetector) decide(id string, hint *Member) (changed bool, err error) {
	begun := r.options.Clock.Now()
	content, err := read(r.fs, r.fs.PathJoin(r.dir, id))
	missing := notThere(err)
	if err != nil && !missing {
		return false, fmt.Errorf("claim: member %s: %w", id, err)
	}
	var counter uint64
	var rest []byte
	if !missing {
		if counter, rest, err = decodeCounter(content); err != nil {
			r.options.Logger.Warn("not a member's file", "member", id, "error", err) // it stands still, and so dies
		}
	}
	ended := r.options.Clock.Now()

	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[id]
	if s == nil {
		s = &observation{counter: counter, since: ended, member: Member{ID: id}}
		r.seen[id] = s
	}
	if s.member.Node == "" && rest != nil {
		if m, err := decodeMember(rest); err == nil {
			s.member, changed = m, true
		}
	}
	if s.member.Node == "" && hint != nil {
		s.member = *hint
	}
	// A file that went away is no sign of life: its owner left, or others found it dead.
	if !missing && counter != s.counter {
		s.counter, s.since = counter, ended
	}
	s.read, s.listed = begun, !missing
	if s.dead {
		return changed, nil
	}
	gone := s.member.Node != "" && r.gone(&s.member)
	if gone || begun-s.since >= r.options.DeadAfter() {
		s.dead, s.died, changed = true, begun, true
		r.options.Logger.Info("member is dead", "member", id, "process_gone", gone, "silent", begun-s.since)
	}
	return changed, nil
}

// isDead reports whether the owner of a claim is dead.
func (r *failureDetector) isDead(m *Member) (bool, error) {
	if m.ID == r.self.ID {
		return false, nil
	}
	changed, err := r.decide(m.ID, m)
	if changed {
		r.watchers.Wake()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[m.ID]
	return s != nil && s.dead, err
}

// removeDead removes the file of a member that is dead for long. If its process still lives, it loses its lease by
// that.
func (r *failureDetector) removeDead(id string) error {
	if err := r.fs.Remove(r.fs.PathJoin(r.dir, id)); err != nil && !notThere(err) {
		return fmt.Errorf("claim: member %s: %w", id, err)
	}
	return nil
}

// live returns the members that have a file and are not dead, this process included.
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

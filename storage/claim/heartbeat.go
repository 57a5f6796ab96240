package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// A member's folder holds its description, and a folder with one file without content, whose name is the counter. Each
// beat renames that file. Every file system tried shows other machines fresh names; contents that change in place stay
// old in the page cache of ceph-fuse. On CephFS a client that listed a folder and died keeps everybody from renaming in
// it until the server gives that client up: so the counter lies apart from the names that others look at all the time.
const (
	descriptionFile = "member"
	beatsFolder     = "beats"
)

// heartbeat raises a member's counter. One goroutine uses it; others may read the counter.
//
// A rename waits for the file system's journal, on a slow ext4 for 28 s. On a local disk the counter is therefore in a
// lock of the description: of its first byte, and of all from the counter on. The file is renamed beside that.
type heartbeat struct {
	dir     string        // of the member
	begun   time.Duration // when the counter was 1, by the clock
	named   uint64        // counter in the name of the file
	counter atomic.Uint64 // of the last beat that counted
	beaten  atomic.Int64  // when that was, by the clock
	shown   atomic.Uint64 // round of names for comparison, see stale_names.go
	lock    io.Closer     // of the description, on a local disk; nil: none
}

func membersDir(fs vfs.FS, root string) string { return fs.PathJoin(root, "members") }

func beatName(counter uint64) string { return strconv.FormatUint(counter, 10) }

// highestBeat returns the highest counter among names, 0 for none: a listing that runs beside a rename may miss both.
func highestBeat(names []string) (counter uint64) {
	for _, name := range names {
		if n, err := strconv.ParseUint(name, 10, 64); err == nil {
			counter = max(counter, n)
		}
	}
	return counter
}

// register makes the member's folder, complete from the moment it is seen, and returns a time before that.
func (s *session) register() (begun time.Duration, err error) {
	members := membersDir(s.fs, s.root)
	if err := MakeFolders(s.fs, s.root, members); err != nil {
		return 0, err
	}
	s.heartbeat.dir = s.fs.PathJoin(members, s.member.ID)
	fresh := s.fs.PathJoin(members, temporary+s.member.ID)
	if err = s.fill(fresh); err == nil {
		begun, err = s.appear(fresh)
	}
	if err == nil {
		return begun, nil
	}
	// An NFS client that repeats a rename whose answer got lost is told that there is nothing to rename.
	if _, statErr := s.fs.Stat(s.heartbeat.dir); notThere(err) && statErr == nil {
		return begun, nil
	}
	return 0, errors.Join(err, s.heartbeat.stop(), s.fs.RemoveAll(fresh))
}

// appear gives the member's folder its name, and returns the time of the last beat before others could miss one: from
// the moment when they see the folder the counter may not stand still, however long the rename takes to return.
func (s *session) appear(fresh string) (begun time.Duration, err error) {
	var last atomic.Int64
	last.Store(int64(s.options.Clock.Now()))
	if s.heartbeat.isLocked() {
		defer pause.Go(func(ctx context.Context) {
			for range pause.Ticks(ctx, s.options.Beat) {
				if now := s.options.Clock.Now(); s.heartbeat.raiseLock(now) == nil {
					last.Store(int64(now))
				}
			}
		})()
	}
	err = s.fs.Rename(fresh, s.heartbeat.dir)
	return time.Duration(last.Load()), err
}

// fill makes what is in a member's folder.
func (s *session) fill(dir string) error {
	content, err := json.Marshal(s.member)
	if err != nil {
		return err
	}
	beats := s.fs.PathJoin(dir, beatsFolder)
	if err := s.fs.MkdirAll(beats, folderMode); err != nil {
		return err
	}
	description := s.fs.PathJoin(dir, descriptionFile)
	if err := write(s.fs, description, content); err != nil {
		return err
	}
	s.heartbeat.begun = s.options.Clock.Now()
	s.heartbeat.named = 1
	s.heartbeat.counter.Store(1)
	s.heartbeat.beaten.Store(int64(s.heartbeat.begun))
	file, err := s.fs.Create(s.fs.PathJoin(beats, beatName(1)), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if s.detector.local { // before anybody sees the folder
		s.heartbeat.lock, err = lockFile(s.fs, description)
	}
	return err
}

// stop releases the lock, by which others see that the process is no member any more.
func (h *heartbeat) stop() error {
	if h.lock == nil {
		return nil
	}
	return h.lock.Close()
}

// beat renews the lease. The renewal counts only after a look at the claims on index and incoming stores, see
// checkHeld, unless others see the beat in a lock: a lock is never shown as it was.
func (s *session) beat() error {
	begun := s.options.Clock.Now()
	if err := s.Err(); err != nil {
		return err
	}
	raise := func() error { return s.heartbeat.raiseLock(begun) }
	if !s.heartbeat.isLocked() {
		if err := s.checkHeld(false); err != nil {
			return fmt.Errorf("claim: heartbeat: %w", err)
		}
		raise = func() error { return s.renameCounter(begun) }
	}
	if err := raise(); err != nil {
		return fmt.Errorf("claim: heartbeat: %w", err)
	}
	s.heartbeat.beaten.Store(int64(s.options.Clock.Now()))
	if !s.Renew(begun) {
		return s.Err()
	}
	return nil
}

var errRemoved = errors.New("others took this process for dead")

// counterAt returns the counter of a beat: the member's own time, above the last one.
func (h *heartbeat) counterAt(begun time.Duration, last uint64) uint64 {
	return max(last+1, 1+uint64((begun-h.begun).Milliseconds())) //nolint:gosec // it was before
}

// isLocked reports whether the counter is in the lock of the description.
func (h *heartbeat) isLocked() bool {
	_, ok := h.lock.(lockedFile)
	return ok
}

// raiseLock makes the lock of the description begin at the time of a beat.
func (h *heartbeat) raiseLock(begun time.Duration) error {
	next := h.counterAt(begun, h.counter.Load())
	err := h.lock.(lockedFile).beginAt(int64(next)) //nolint:gosec // milliseconds of a process's life
	if err == nil {
		h.counter.Store(next)
	}
	return err
}

// renameCounter renames the file of the counter, for others to see, to the time of a beat.
func (s *session) renameCounter(begun time.Duration) error {
	h := &s.heartbeat
	dir := s.fs.PathJoin(h.dir, beatsFolder)
	path := func(counter uint64) string { return s.fs.PathJoin(dir, beatName(counter)) }
	last := h.named
	next := h.counterAt(begun, last)
	err := s.fs.Rename(path(last), path(next))
	if notThere(err) {
		// An earlier rename succeeded although it failed, a server lost one, or the folder is gone.
		names, listErr := list(s.fs, dir)
		if listErr != nil {
			return listErr
		}
		if last = highestBeat(names); last == 0 {
			s.Lose(errRemoved)
			return err
		}
		next = max(next, last+1)
		err = s.fs.Rename(path(last), path(next))
	}
	// On this machine's disk others see it now, and none of them outlives it.
	if err == nil && !s.detector.local {
		err = SyncFolder(s.fs, dir)
	}
	if err == nil {
		if h.named = next; !h.isLocked() {
			h.counter.Store(next)
		}
	}
	return err
}

// Pulse implements Session.
func (s *session) Pulse() Pulse {
	h := &s.heartbeat
	return Pulse{h.counter.Load(), h.shown.Load(), s.options.Clock.Now() - time.Duration(h.beaten.Load())}
}

var errMemberFile = errors.New("not a member's file")

// decodeMember reads a member's description, which never changes.
func decodeMember(content []byte) (m Member, err error) {
	if err = json.Unmarshal(content, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errMemberFile, err)
	}
	if !nodeName.MatchString(m.ID) || !nodeName.MatchString(m.Node) {
		return m, errMemberFile
	}
	return m, nil
}

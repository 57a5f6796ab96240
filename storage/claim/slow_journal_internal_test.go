package claim

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// journalFS is a disk of this machine whose journal commits: changes of a folder wait for that, and listings of one
// that is being changed.
type journalFS struct {
	vfs.FS
	commits atomic.Pointer[chan struct{}] // nil: none
}

func (j *journalFS) Unwrap() vfs.FS { return j.FS }

func (j *journalFS) wait() {
	if until := j.commits.Load(); until != nil {
		<-*until
	}
}

func (j *journalFS) begin() (end func()) {
	until := make(chan struct{})
	j.commits.Store(&until)
	return func() {
		j.commits.Store(nil)
		close(until)
	}
}

func (j *journalFS) Rename(from, to string) error {
	err := j.FS.Rename(from, to) // others may see the name before the call returns
	j.wait()
	return err
}

func (j *journalFS) Remove(name string) error {
	j.wait()
	return j.FS.Remove(name)
}

func (j *journalFS) List(dir string) ([]string, error) {
	j.wait()
	return j.FS.List(dir)
}

// slowJournal makes two members of a folder on a local disk, and one that joins while the journal commits.
func slowJournal(t *testing.T, ttl time.Duration, commit func(fs *journalFS, a, b *session)) {
	root, fs := t.TempDir(), &journalFS{FS: vfs.Default}
	if !IsLocal(fs, root) {
		t.Skip("the folder for temporary files is on a network disk")
	}
	join := func(id string, fs vfs.FS) *session {
		file, err := NewFile(root, Options{TTL: ttl, Slack: ttl / 2, FS: fs})
		fatal.If(t, err)
		s, err := file.Join(t.Context(), Member{ID: id, Node: id})
		fatal.If(t, err)
		t.Cleanup(func() { _ = s.Leave(context.Background()) })
		return s.(*session)
	}
	a, b := join("a", fs), join("b", vfs.Default)
	_, err := a.Claim(t.Context(), "index")
	fatal.If(t, err)
	commit(fs, a, b)
}

// A journal that commits for longer than a lease costs nobody the lease, neither a member nor one that joins, and
// nobody takes them for dead.
func TestSlowJournal(t *testing.T) {
	const ttl = time.Second
	slowJournal(t, ttl, func(fs *journalFS, a, b *session) {
		end := fs.begin()
		joined := make(chan *session, 1)
		go func() {
			file, err := NewFile(a.root, Options{TTL: ttl, Slack: ttl / 2, FS: fs})
			fatal.If(t, err)
			s, err := file.enter(Member{ID: "c", Node: "c"})
			if err != nil {
				t.Error("joining:", err)
			}
			joined <- s
		}()
		time.Sleep(4 * ttl)
		holder, err := b.Holder(t.Context(), "index")
		if err != nil || !holder.Live() || holder.Member.ID != "a" || a.Err() != nil || len(b.detector.live()) != 3 {
			t.Errorf("during the commit: %+v %v, lease %v, members %v", holder, err, a.Err(), b.detector.live())
		}
		end()
		if s := <-joined; s != nil {
			s.start()
			fatal.If(t, s.Leave(t.Context()))
		}
		if a.Err() != nil {
			t.Error("after the commit:", a.Err())
		}
	})
}

// A process that stands still, and does not let its lock go, is dead after TTL and slack on a local disk as well.
func TestStoppedMemberOnLocalDisk(t *testing.T) {
	const ttl = 400 * time.Millisecond
	slowJournal(t, ttl, func(_ *journalFS, a, b *session) {
		close(a.ended) // its loops stop, as by SIGSTOP
		a.running.Wait()
		begun := time.Now()
		for {
			holder, err := b.Holder(t.Context(), "index")
			fatal.If(t, err)
			if !holder.Live() {
				break
			}
			if time.Since(begun) > 20*ttl {
				t.Fatalf("alive after %s", time.Since(begun))
			}
			time.Sleep(ttl / 20)
		}
		if a.Valid() {
			t.Error("another may take what this one holds, and its lease goes on")
		}
		a.ended = make(chan struct{}) // for Leave
	})
}

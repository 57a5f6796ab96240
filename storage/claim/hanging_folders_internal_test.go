package claim

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// capabilities is a file system whose server keeps a dead client's capabilities of folders: a change of such a folder
// waits until the client is given up, and listings wait behind a change.
type capabilities struct {
	vfs.FS
	folders string // prefix of those that the dead client had listed
	lists   bool   // listings hang without a change

	until   atomic.Pointer[chan struct{}] // nil: no client is dead
	changes atomic.Int64                  // that hang, or have
	waiting atomic.Int64
}

func (c *capabilities) begin() (end func()) {
	until := make(chan struct{})
	c.until.Store(&until)
	return func() {
		c.until.Store(nil)
		close(until)
	}
}

func (c *capabilities) await(dir string, changes bool) {
	until := c.until.Load()
	if until == nil || !strings.HasPrefix(dir, c.folders) || !changes && !c.lists && c.waiting.Load() == 0 {
		return
	}
	if changes {
		c.changes.Add(1)
		c.waiting.Add(1)
		defer c.waiting.Add(-1)
	}
	<-*until
}

func (c *capabilities) List(dir string) ([]string, error) {
	c.await(dir, false)
	return c.FS.List(dir)
}

func (c *capabilities) Remove(name string) error {
	c.await(c.PathDir(name), true)
	return c.FS.Remove(name)
}

// crowd makes members of one folder whose claims hang when one of them dies with its machine.
func crowd(t *testing.T, c *capabilities, nodes ...string) map[string]*session {
	t.Helper()
	fatal.If(t, c.MkdirAll("data", folderMode))
	found := make(map[string]*session)
	for _, node := range nodes {
		options := Options{FS: c, Clock: bubbleClock{}}
		file, err := NewFile("data", options)
		fatal.If(t, err)
		s, err := file.Join(t.Context(), Member{ID: node, Node: node})
		fatal.If(t, err)
		found[node] = s.(*session)
	}
	return found
}

// stop ends the loops of a member, as the end of its machine does.
func stop(s *session) {
	close(s.ended)
	s.running.Wait()
	s.left = true
	s.Lose(errLeft)
}

// A machine dies 10, 20 and 40 s after a claim was taken over, and its capabilities stay for a minute. The new holder
// lives on, and others look up the holder of a store within half a beat.
func TestDeadClientOfCephFS(t *testing.T) {
	for _, after := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			fs := &capabilities{FS: vfs.NewMem(), folders: "data/claims"}
			all := crowd(t, fs, "a", "b", "dead")
			for range 3 { // epochs below, to be tidied
				c, err := all["a"].Claim(t.Context(), "index")
				fatal.If(t, err)
				fatal.If(t, fs.MkdirAll("data/index", folderMode))
				fatal.If(t, all["a"].Release(t.Context(), c))
			}
			c, err := all["a"].Claim(t.Context(), "index")
			fatal.If(t, err)
			time.Sleep(after)
			stop(all["dead"])
			end := fs.begin()
			for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Second) {
				asked := time.Now()
				holder, err := all["b"].Holder(t.Context(), "index")
				if took := time.Since(asked); took > all["b"].options.Beat/2 || err == nil && holder.Epoch != c.Epoch {
					t.Fatalf("%v after the death a look took %s: %+v, %v", time.Since(began), took, holder, err)
				}
			}
			if err := all["a"].Err(); err != nil || fs.changes.Load() > 0 {
				t.Errorf("%v after a takeover: %v, and %d changes in a claim's folder", after, err, fs.changes.Load())
			}
			end()
			time.Sleep(all["a"].detector.quiet + all["a"].options.Grace())
			if n, err := all["a"].epochs("index"); err != nil || len(n.old) > 0 || n.highest != c.Epoch {
				t.Errorf("after %s of quiet there are %+v, %v", all["a"].detector.quiet, n, err)
			}
			fatal.If(t, errors.Join(all["a"].Leave(t.Context()), all["b"].Leave(t.Context())))
		})
	}
}

// A claim's folder that hangs ends no lease, and is looked at once.
func TestHangingClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &capabilities{FS: vfs.NewMem(), folders: "data/claims/index", lists: true}
		s := crowd(t, fs, "a")["a"]
		c, err := s.Claim(t.Context(), "index")
		fatal.If(t, err)
		end := fs.begin()
		time.Sleep(time.Minute)
		if err := s.Err(); err != nil {
			t.Error("the lease:", err)
		}
		asked := time.Now()
		if _, err := s.Holder(t.Context(), "index"); !errors.Is(err, pause.ErrHangs) || time.Since(asked) > 0 {
			t.Errorf("%v after %s", err, time.Since(asked))
		}
		// The second line goes on when the folder answers.
		fatal.If(t, write(fs.FS, s.claimPath("index", c.Epoch+1), []byte(`{"id":"b","node":"b"}`)))
		end()
		time.Sleep(s.options.Beat + time.Millisecond)
		if err := s.Err(); !errors.Is(err, ErrLost) || !errors.Is(err, errHeldByOther) {
			t.Errorf("with a higher claim: %v", err)
		}
		_ = s.Leave(t.Context())
	})
}

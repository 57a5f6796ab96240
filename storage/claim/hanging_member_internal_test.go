package claim

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// hangs is a file system on which one folder does not answer.
type hangs struct {
	vfs.FS
	folder string
	until  chan struct{} // nil: it answers
}

func (h *hangs) List(dir string) ([]string, error) {
	if dir == h.folder && h.until != nil {
		<-h.until
	}
	return h.FS.List(dir)
}

// bubbleClock is the time of a synctest bubble.
type bubbleClock struct{}

var bubbleBegan = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (bubbleClock) Now() time.Duration { return time.Since(bubbleBegan) }

// watched makes a detector and folders of members.
func watched(t *testing.T, fs vfs.FS, members ...string) *failureDetector {
	t.Helper()
	options := &Options{FS: fs, Clock: bubbleClock{}}
	options.EnsureDefaults()
	for _, id := range members {
		m, err := json.Marshal(Member{ID: id, Node: id})
		if err == nil {
			err = errors.Join(fs.MkdirAll("data/members/"+id+"/beats", folderMode),
				write(fs, "data/members/"+id+"/member", m), write(fs, "data/members/"+id+"/beats/1", nil))
		}
		fatal.If(t, err)
	}
	return newFailureDetector("data", options, Member{ID: "self", Node: "self"})
}

// A member whose folder hangs is no reason to take it for dead, nor to look away from the others, nor to wait.
func TestHangingMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &hangs{FS: vfs.NewMem(), folder: "data/members/hangs/beats"}
		r := watched(t, fs, "hangs", "silent")
		if err := r.look(r.options.Beat); err != nil || len(r.live()) != 3 {
			t.Fatal(err, r.live())
		}
		fs.until = make(chan struct{})
		for range 30 { // a second each
			time.Sleep(time.Second)
			before := time.Now()
			if err := r.look(0); err != nil || time.Since(before) != 0 {
				t.Fatalf("%v after %s", err, time.Since(before))
			}
			synctest.Wait()
		}
		live := r.live()
		if len(live) != 2 || live[0].ID != "hangs" {
			t.Errorf("live: %v", live)
		}
		before := time.Now()
		if dead, err := r.isDead(&Member{ID: "hangs", Node: "hangs"}); dead || err != nil {
			t.Errorf("owner of a claim: %t, %v", dead, err)
		}
		if took := time.Since(before); took > r.options.Beat {
			t.Errorf("a claim waited for %s", took)
		}
		// The listing returns, and says nothing of the time during which it hung.
		close(fs.until)
		fs.until = nil
		synctest.Wait()
		if live := r.live(); len(live) != 2 {
			t.Errorf("dead by a listing that began while it lived: %v", live)
		}
		fatal.If(t, r.look(0))
		synctest.Wait()
		if live := r.live(); len(live) != 1 {
			t.Errorf("live, although a listing that began after 30 s shows the same: %v", live)
		}
	})
}

// A start waits for no member longer than a beat.
func TestStartBesideHangingMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		fs := &hangs{FS: vfs.NewMem(), folder: "data/members/a/beats", until: until}
		r := watched(t, fs, "a", "b")
		before := time.Now()
		if err := r.look(r.options.Beat); err != nil || time.Since(before) != r.options.Beat || len(r.live()) != 2 {
			t.Errorf("%v after %s: %v", err, time.Since(before), r.live())
		}
		close(until)
	})
}

// A member that answers by the network is not looked at on the disk, and lives for as long as its counter rises.
func TestAskedMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &hangs{FS: vfs.NewMem(), folder: "data/members/a/beats", until: make(chan struct{})} // a look never ends
		r := watched(t, fs, "a")
		counter, raised := uint64(1), uint64(1)
		r.options.Ask = func(m Member) (Pulse, bool) { return Pulse{Beat: counter}, m.ID == "a" }
		lives := func(want bool, when string) {
			t.Helper()
			for i := range uint64(10) {
				counter += raised * (i % 2) // at times there is no news
				fatal.If(t, r.look(0))
				synctest.Wait()
				time.Sleep(r.options.Beat)
			}
			if got := len(r.live()) == 2; got != want {
				t.Errorf("%s: lives is %t", when, got)
			}
		}
		fatal.If(t, r.look(r.options.Beat))
		lives(true, "a counter that rises")
		if r.busy["a"] {
			t.Error("a member that answers was looked for on the disk")
		}
		raised = 0
		close(fs.until)
		fs.until = nil
		lives(false, "a counter that stands still")
	})
}

// A machine whose mount goes on hiding names of a member, which says that they are there, must not go on.
func TestStaleNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		r := watched(t, fs, "a")
		options := r.options
		a := &session{fs: fs, options: *options, heartbeat: heartbeat{dir: "data/members/a"}}
		var stale error
		r.stale = func(err error) { stale = err }
		pulse := Pulse{Beat: 1}
		r.options.Ask = func(Member) (Pulse, bool) { return pulse, true }
		beats := func(n int) {
			t.Helper()
			for range n {
				time.Sleep(r.options.Beat)
				pulse.Beat++
				fatal.If(t, r.look(0))
				synctest.Wait()
			}
		}
		round := func() {
			t.Helper()
			fatal.If(t, a.show())
		}
		beats(5) // before the first round
		for range 3 {
			round()
			pulse.Shown = a.heartbeat.shown.Load()
			beats(5)
		}
		pulse.Shown++ // said before it is seen, which the slack is for
		beats(2)
		round()
		beats(5)
		if stale != nil || r.seen["a"].compared.seen != 4 {
			t.Errorf("all was seen: %v, %+v", stale, r.seen["a"].compared)
		}
		round()
		pulse.Shown++
		if err := fs.Rename("data/members/a/shown/7-5", "data/members/a/shown/7-4"); err != nil { // one of fifty
			t.Fatal(err)
		}
		beats(2)
		if stale != nil {
			t.Errorf("within the slack: %v", stale)
		}
		beats(2)
		if !errors.Is(stale, ErrStaleNames) || len(r.live()) != 2 {
			t.Errorf("a name of long ago: %v, live %v", stale, r.live())
		}
	})
}

// The listing that shows a member's last beat hangs for 13 s, as CephFS does until it gives a dead client up. The time
// goes by the beat, not by the end of the listing.
func TestLateListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &hangs{FS: vfs.NewMem(), folder: "data/members/other/beats"}
		r := watched(t, fs, "other")
		timed, err := json.Marshal(Member{ID: "other", Node: "other", Timed: true})
		fatal.If(t, errors.Join(err, write(fs, "data/members/other/member", timed), r.look(r.options.Beat)))
		time.Sleep(2500 * time.Millisecond) // it beats for the last time
		fatal.If(t, fs.Rename(fs.folder+"/1", fs.folder+"/2501"))
		fs.until = make(chan struct{})
		fatal.If(t, r.look(0))
		time.Sleep(13 * time.Second)
		for close(fs.until); len(r.live()) > 1; time.Sleep(100 * time.Millisecond) {
			synctest.Wait()
			fatal.If(t, r.look(0))
			synctest.Wait()
		}
		died, after := r.options.Clock.Now(), 2500*time.Millisecond+r.options.DeadAfter()
		if died < after || died > after+time.Second {
			t.Errorf("dead after %s, not %s", died, after)
		}
	})
}

package claim

import (
	"encoding/json"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A process that sees the end of another one of its machine renames the other's folder. Then other machines do not
// count it as a member, and its claims are free once they must see all that it wrote.
func TestEndedProcessIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		far := watched(t, fs, "a")
		near := watched(t, fs)
		process, err := ThisProcess(".")
		fatal.If(t, err)
		near.self.Process = process
		child := exec.Command("true")
		fatal.If(t, child.Run())
		process.PID = child.Process.Pid
		text, err := json.Marshal(Member{ID: "a", Node: "a", Process: process})
		if err == nil {
			err = write(fs, "data/members/a/member", text)
		}
		fatal.If(t, err)
		look := func(r *failureDetector, members int, dead bool) {
			t.Helper()
			fatal.If(t, r.look(r.options.Beat))
			got, err := r.isDead(&Member{ID: "a", Node: "a"})
			if live := r.live(); len(live) != members || got != dead || err != nil {
				t.Errorf("live: %v; dead: %t, %v", live, got, err)
			}
		}
		time.Sleep(time.Second)
		look(far, 2, false)
		look(near, 1, true)
		look(far, 1, false)
		time.Sleep(far.options.Slack - time.Nanosecond)
		look(far, 1, false)
		time.Sleep(time.Nanosecond)
		look(far, 1, true)
		time.Sleep(far.options.Grace() + time.Second)
		look(near, 1, true)
		look(near, 1, true)
		if names, err := fs.List("data/members"); err != nil || len(names) > 0 {
			t.Errorf("left: %v, %v", names, err)
		}
	})
}

// A mount is known by a member that ran on this machine on the same device.
func TestSharesMount(t *testing.T) {
	fs, root := vfs.Default, t.TempDir()
	own, err := ThisProcess(root)
	fatal.If(t, err)
	other, remounted := own, own
	other.BootID, remounted.Device = "other", own.Device+1
	is := func(process Process, want bool) {
		t.Helper()
		text, err := json.Marshal(Member{ID: "a", Node: "a", Process: process})
		if err == nil {
			err = fs.MkdirAll(fs.PathJoin(root, "members", "a"), folderMode)
		}
		if err == nil {
			err = write(fs, fs.PathJoin(root, "members", "a", descriptionFile), text)
		}
		fatal.If(t, err)
		if got, err := SharesMount(fs, root); got != want || err != nil {
			t.Errorf("%t, %v", got, err)
		}
	}
	if got, err := SharesMount(fs, root); got || err != nil {
		t.Errorf("of an empty folder: %t, %v", got, err)
	}
	is(other, false)
	is(remounted, false)
	is(own, true)
}

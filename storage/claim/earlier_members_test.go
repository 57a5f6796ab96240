package claim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// earlierMember writes a member's file as earlier versions did.
func earlierMember(t *testing.T, root, id string, p claim.Process) string {
	t.Helper()
	m, err := json.Marshal(claim.Member{ID: id, Node: id, Process: p})
	fatal.If(t, err)
	path := filepath.Join(root, "members", id)
	fatal.If(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, fmt.Appendf(nil, "%016d\n%s", 7, m), 0o600)))
	return path
}

// A member in the form of earlier versions is refused, unless its process ended on this machine.
func TestEarlierMembers(t *testing.T) {
	root := t.TempDir()
	if err := claim.RefuseEarlierMembers(vfs.Default, root); err != nil {
		t.Errorf("of a folder without members: %v", err)
	}
	join(t, root, "new", claim.Options{})
	process, err := claim.ThisProcess(root)
	fatal.If(t, err)
	fatal.If(t, os.WriteFile(filepath.Join(root, "members", "tmp-etcd-a"), nil, 0o600))
	live := earlierMember(t, root, "live", process)
	file, err := os.OpenFile(live, os.O_RDWR, 0)
	if err == nil {
		err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	fatal.If(t, err)
	if err := claim.RefuseEarlierMembers(vfs.Default, root); !errors.Is(err, claim.ErrEarlierMembers) {
		t.Errorf("with a live one: %v", err)
	}
	fatal.If(t, file.Close())
	ended := exec.Command("true")
	fatal.If(t, ended.Run())
	process.PID = ended.Process.Pid
	dead := earlierMember(t, root, "dead", process)
	if err := claim.RefuseEarlierMembers(vfs.Default, root); err != nil {
		t.Errorf("with dead ones: %v", err)
	}
	for _, path := range []string{live, dead} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was left: %v", path, err)
		}
	}
	// A disk that is not this machine's says nothing of a process of another one.
	disk := vfs.NewMem()
	fatal.If(t, disk.MkdirAll("data/members", 0))
	member, err := disk.Create("data/members/far", vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = member.Write([]byte("0000000000000007\n{}"))
	}
	fatal.If(t, errors.Join(err, member.Close()))
	if err := claim.RefuseEarlierMembers(disk, "data"); !errors.Is(err, claim.ErrEarlierMembers) {
		t.Errorf("with one of another machine: %v", err)
	}
}

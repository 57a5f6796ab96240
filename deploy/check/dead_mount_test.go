package check

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// mountUnit runs as root, and no program of ours.
const mountUnit = "gnocco-mount.service"

var firstCommand = regexp.MustCompile(`(?m)^ExecStart=-/bin/sh -c '([^']+)'$`)

// Before processes start a unit unmounts a dead data folder, and leaves a live one and a folder that is no mount alone.
// tests/disks tries the units under systemd.
func TestDeadMountIsUnmounted(t *testing.T) {
	// The mounts are those of one thread, which ends with the test.
	runtime.LockOSThread()
	if err := errors.Join(syscall.Unshare(syscall.CLONE_NEWNS),
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")); err != nil {
		t.Skip("mounts need root:", err)
	}
	for _, unit := range []string{mountUnit} {
		content, err := os.ReadFile("../systemd/" + unit)
		if err != nil {
			t.Fatal(err)
		}
		command := firstCommand.FindStringSubmatch(string(content))
		if command == nil {
			t.Errorf("%s unmounts nothing", unit)
			continue
		}
		run := func(folder string) {
			t.Helper()
			script := strings.ReplaceAll(command[1], "/srv/gnocco", folder)
			if out, err := exec.Command("/bin/sh", "-c", script).CombinedOutput(); err != nil {
				t.Logf("%s: %v %s", unit, err, out) // its status does not count
			}
		}
		dead := t.TempDir()
		if err := mountDead(dead); err != nil {
			t.Skip("no FUSE:", err)
		}
		if _, err := os.Stat(dead); !errors.Is(err, syscall.ENOTCONN) {
			t.Fatalf("the mount is not dead: %v", err)
		}
		run(dead)
		if _, err := os.Stat(dead); err != nil {
			t.Errorf("%s leaves a dead mount: %v", unit, err)
			_ = syscall.Unmount(dead, syscall.MNT_DETACH)
		}
		live := t.TempDir()
		if err := syscall.Mount("live", live, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		there := filepath.Join(live, "cluster.json")
		if err := os.WriteFile(there, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		run(live)
		if _, err := os.Stat(there); err != nil {
			t.Errorf("%s unmounts a live mount: %v", unit, err)
		}
		if err := syscall.Unmount(live, 0); err != nil {
			t.Error(err)
		}
		run(live)
	}
}

// mountDead mounts a file system whose server has gone, as ceph-fuse or glusterfs leaves it.
func mountDead(folder string) error {
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer fuse.Close()
	return syscall.Mount("dead", folder, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse.Fd()))
}

package diskprobe

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// MountKind returns the kind of the file system that a folder lies on, as /proc/self/mountinfo has it: ext4, nfs4,
// fuse.ceph-fuse. It is "" if that is not to be found out.
func MountKind(dir string) string {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return ""
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer mounts.Close()
	kind, longest := "", 0
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		left, right, found := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(left)
		if !found || len(fields) < 5 {
			continue
		}
		point := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		within := dir == point || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/")
		if within && len(point) >= longest { // of several on one point the last counts
			longest = len(point)
			kind, _, _ = strings.Cut(right, " ")
		}
	}
	return kind
}

// advice is what a file system that several machines mount should be given, by the beginning of its kind.
var advice = []struct{ kind, text string }{
	{"nfs", "mount it with hard,lookupcache=none,actimeo=1 and without nocto; export it with sync"},
	{"fuse.glusterfs", "replica 3 on XFS bricks; network.ping-timeout, server.tcp-user-timeout and client.tcp-user-timeout 5"},
	{"fuse.ceph", "fuse_disable_pagecache=true; session_timeout and session_autoclose 30"},
	{"ceph", "session_timeout and session_autoclose 30; no recover_session=clean"},
}

// Advice returns what to set for a kind of file system, "" if there is nothing to say.
func Advice(kind string) string {
	for _, a := range advice {
		if strings.HasPrefix(kind, a.kind) {
			return a.text
		}
	}
	return ""
}

// mounted returns the sentence about a kind of file system.
func mounted(kind string) string {
	if text := Advice(kind); text != "" {
		return fmt.Sprintf("%s: %s.", kind, text)
	}
	return kind + "."
}

// Mounts tells of changes of this machine's mounts, as this process sees them. It asks the kernel, and no disk.
type Mounts struct{ info int }

// WatchMounts returns the mounts as they are. Close ends the watch.
func WatchMounts() *Mounts {
	// The runtime would poll an os.File as well, and the kernel tells a change of the mounts to the first who polls.
	info, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		info = -1 // the mounts may always have changed
	}
	return &Mounts{info}
}

// Changed reports whether something may have been mounted or unmounted since the last call.
func (m *Mounts) Changed() bool {
	polled := []unix.PollFd{{Fd: int32(m.info), Events: unix.POLLPRI}} //nolint:gosec // a descriptor
	n, err := unix.Poll(polled, 0)
	return n > 0 || err != nil || polled[0].Fd < 0
}

// Close ends the watch.
func (m *Mounts) Close() { _ = unix.Close(m.info) }

package diskprobe

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

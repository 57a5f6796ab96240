package diskprobe_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestMountKind(t *testing.T) {
	for dir, want := range map[string]string{"/proc/self": "proc", "/proc/../sys": "sysfs", "/none/such": ""} {
		if got := diskprobe.MountKind(dir); got != want {
			t.Errorf("%s lies on %q", dir, got)
		}
	}
	link := t.TempDir() + "/link"
	fatal.If(t, os.Symlink("/proc", link))
	if got := diskprobe.MountKind(link); got != "proc" {
		t.Errorf("a link to /proc lies on %q", got)
	}
}

func TestAdvice(t *testing.T) {
	for kind, want := range map[string]string{"fuse.ceph-fuse": "fuse_disable_pagecache", "nfs4": "lookupcache=none",
		"fuse.glusterfs": "replica 3", "ceph": "session_autoclose", "ext4": ""} {
		if got := diskprobe.Advice(kind); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

package diskprobe_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	results, err := diskprobe.Run(t.Context(), dir, diskprobe.Options{MinFreeBytes: 1})
	fatal.If(t, err)
	if len(results) != 8 {
		t.Errorf("%d results", len(results))
	}
	for _, r := range results {
		if r.Verdict == diskprobe.No || !strings.HasSuffix(r.Text, ".") {
			t.Errorf("%s: %s: %s", r.Check, r.Verdict, r.Text)
		}
	}
	empty(t, dir)
	results, err = diskprobe.Run(t.Context(), dir, diskprobe.Options{MinFreeBytes: 1, Brief: true})
	if err != nil || len(results) != 8 || diskprobe.Worst(results) == diskprobe.No {
		t.Errorf("in brief: %+v, %v", results, err)
	}
	empty(t, dir)
	// The results name a disk that is too slow or too full.
	results, err = diskprobe.Run(t.Context(), dir, diskprobe.Options{TTL: time.Nanosecond, MinFreeBytes: 1 << 62})
	fatal.If(t, err)
	if diskprobe.Worst(results) != diskprobe.No || results[1].Verdict != diskprobe.Warning {
		t.Errorf("%+v", results)
	}
	if _, err := diskprobe.Run(t.Context(), dir+"/none", diskprobe.Options{}); err == nil {
		t.Error("a folder that is not there was probed")
	}
}

func TestRunPeer(t *testing.T) {
	dir := t.TempDir()
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			results, err := diskprobe.RunPeer(t.Context(), dir, diskprobe.Options{PeerTime: time.Second})
			if err == nil && (len(results) != 3 || diskprobe.Worst(results) != diskprobe.Yes) {
				t.Errorf("%+v", results)
			}
			return err
		})
	}
	fatal.If(t, group.Wait())
	empty(t, dir)
	if _, err := diskprobe.RunPeer(t.Context(), dir, diskprobe.Options{PeerWait: time.Millisecond}); err == nil {
		t.Error("a probe of two went through with one")
	}
	empty(t, dir)
}

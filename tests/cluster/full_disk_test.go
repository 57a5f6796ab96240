package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a disk in memory of so many MiB; ok is false if this user may not.
func smallDisk(t *testing.T, mebibytes int) (dir string, ok bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gnocco-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mebibytes)); err != nil {
		t.Logf("mount: %v", err)
		return "", false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// fill takes up a disk but for so many bytes, or what is left of it.
func fill(t *testing.T, dir string, leave int64) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, "fill"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	at, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	for chunk := int64(1 << 20); chunk >= 4096; {
		var stat unix.Statfs_t
		if err := unix.Statfs(dir, &stat); err != nil {
			t.Fatal(err)
		}
		if free := int64(stat.Bavail) * stat.Bsize; free-chunk < leave {
			chunk /= 2
			continue
		}
		switch err := unix.Fallocate(int(file.Fd()), 0, at, chunk); {
		case err == nil:
			at += chunk
		case errors.Is(err, syscall.ENOSPC): // others write as well
			chunk /= 2
		default:
			t.Fatal(err)
		}
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
}

// A disk gets low, and then full to the last byte: measures are refused, reads go on, no process ends; when there is room again
// all goes on by itself, and what was accepted is there.
func TestDiskFull(t *testing.T) {
	disk, ok := smallDisk(t, 128)
	if !ok {
		t.Skip("needs root, to mount a small disk")
	}
	data := filepath.Join(disk, "data")
	flags := []string{"--min-free-bytes", "16MiB", "--lease-ttl", "2s", "--lease-slack", "1s"}
	api := start(t, data, "api", flags...)
	metrics := newMetrics(t, api, 24)
	workers := []*process{start(t, data, "metricd", flags...), start(t, data, "metricd", flags...)}
	s := &sender{metrics: metrics, seconds: new(atomic.Int64), doubt: map[int64]bool{}}
	accepts := func() bool {
		status, answer, err := s.send(api)
		if err != nil || status < 500 && status != http.StatusAccepted {
			t.Fatalf("POST: %d %s %v", status, answer, err)
		}
		return status == http.StatusAccepted
	}
	reads := func() {
		t.Helper()
		for _, metric := range metrics {
			api.mustDo(http.MethodGet, "/v1/metric/"+metric+"/measures?aggregation=sum", "", http.StatusOK)
		}
	}
	ballast := func(is bool) {
		t.Helper()
		api.eventually(fmt.Sprintf("has a ballast: %v", is), func() bool {
			_, err := os.Stat(filepath.Join(data, "ballast"))
			return (err == nil) == is
		})
	}
	for range 50 {
		if !accepts() {
			t.Fatal("measures are refused while there is room")
		}
	}
	// Sacks that are handed over later would take more room than is left then.
	api.eventually("has its sacks spread over both workers", func() bool {
		var status struct {
			Cluster struct {
				Claims []struct{ Name, Member string }
			}
		}
		if err := json.Unmarshal(api.mustDo(http.MethodGet, "/v1/status", "", http.StatusOK), &status); err != nil {
			t.Fatal(err)
		}
		sacks := map[string]int{}
		for _, claim := range status.Cluster.Claims {
			if strings.HasPrefix(claim.Name, "sacks/") {
				sacks[claim.Member]++
			}
		}
		counts := slices.Sorted(maps.Values(sacks))
		return len(counts) == 2 && counts[0]+counts[1] == 8 && counts[1]-counts[0] <= 1
	})
	reads()
	ballast(true)

	fill(t, disk, 8<<20)
	api.eventually("refuses measures", func() bool {
		status, _, err := s.send(api)
		return err == nil && status == http.StatusInsufficientStorage
	})
	reads()
	ballast(true)
	empty(t, disk)
	api.eventually("accepts measures again", accepts)

	// Measures come in while the disk gets full at once, before anybody has asked how much is free.
	fill(t, disk, 0)
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if accepts() {
			fill(t, disk, 0) // what the ballast gave, too
		}
	}
	ballast(false)
	fill(t, disk, 0)
	if status, answer, err := s.send(api); err != nil || status != http.StatusInsufficientStorage {
		t.Errorf("POST on a full disk: %d %s %v", status, answer, err)
	}
	reads()
	time.Sleep(4 * time.Second) // longer than a lease: heartbeats need no room
	reads()
	empty(t, disk)
	api.eventually("accepts measures again", accepts)
	ballast(true)
	for _, p := range append(workers, api) {
		select {
		case <-p.ended:
			t.Fatalf("ended with status %d:\n%s", p.cmd.ProcessState.ExitCode(), p.log.String())
		default:
		}
	}
	check(t, api, metrics, s)
	for _, p := range append(workers, api) {
		p.stop()
	}
}

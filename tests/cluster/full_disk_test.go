package cluster_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
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

// A disk gets low, and then full to the last byte: measures are refused, reads go on, no process ends; when there is
// room again all goes on by itself, and what was accepted is there.
func TestDiskFull(t *testing.T) {
	disk, ok := smallDisk(t, 128)
	if !ok {
		t.Skip("needs root, to mount a small disk")
	}
	data := filepath.Join(disk, "data")
	flags := []string{"--min-free-bytes", "16MiB", "--lease-ttl", "4s", "--lease-slack", "1s"}
	api := start(t, data, "api", flags...)
	metrics := newMetrics(t, api, 24)
	workers := []*process{start(t, data, "metricd", flags...), start(t, data, "metricd", flags...)}
	s := &sender{metrics: metrics, seconds: new(atomic.Int64), doubt: map[int64]bool{}}
	answered := func(want int) func() bool {
		return func() bool {
			status, answer, err := s.send(api)
			if err != nil || status < 500 && status != http.StatusAccepted {
				t.Fatalf("POST: %d %s %v", status, answer, err)
			}
			return status == want
		}
	}
	reads := func() {
		t.Helper()
		for _, metric := range metrics {
			api.mustDo(http.MethodGet, "/v1/metric/"+metric+"/measures?aggregation=sum", "", http.StatusOK)
		}
	}
	reserved := func() bool {
		_, err := os.Stat(filepath.Join(data, "reserve"))
		return err == nil
	}
	for range 50 {
		if !answered(http.StatusAccepted)() {
			t.Fatal("measures are refused while there is room")
		}
	}
	// A sack that is opened, or has its first checkpoint, takes room for its log: all that is over when the room gets
	// low. A sack is claimed before it is open, so that the claims do not tell.
	figure := func(w *process, line string) bool {
		return strings.Contains(string(w.mustDo(http.MethodGet, "/metrics", "", http.StatusOK)), "\n"+line+"\n")
	}
	for _, w := range workers {
		w.eventually("has half of the sacks open", func() bool { return figure(w, "gnocco_metricd_sacks 4") })
	}
	answered(http.StatusAccepted)()
	for _, metric := range metrics {
		aggregates(t, api, metric, "sum")
	}
	for _, w := range workers {
		w.eventually("has had its checkpoints", func() bool { return figure(w, "gnocco_metricd_pending_measures 0") })
	}
	reads()
	api.eventually("has a reserve file", reserved)

	api.eventually("refuses measures", func() bool {
		fill(t, disk, 12<<20) // again, for epochs that are superseded go meanwhile
		return answered(http.StatusInsufficientStorage)()
	})
	reads()
	if !reserved() {
		t.Error("the reserve file is removed before the disk is full")
	}
	empty(t, disk)
	api.eventually("accepts measures again", answered(http.StatusAccepted))

	// Measures come in while the disk gets full at once, before anybody has asked how much is free.
	api.eventually("refuses measures", func() bool {
		fill(t, disk, 0)
		return answered(http.StatusInsufficientStorage)()
	})
	// Logs have some room ahead, which these writes use up. They are finished in the reserve file's.
	for i := 0; reserved(); i++ {
		if i == 100 {
			t.Fatal("the reserve file is there still")
		}
		api.mustDo(http.MethodPost, "/v1/resource/generic", manyMetrics(i), http.StatusCreated)
	}
	fill(t, disk, 0)
	if !answered(http.StatusInsufficientStorage)() {
		t.Error("a POST on a full disk is not answered 507")
	}
	reads()
	heartbeatsGoOn(t, data)
	reads()
	empty(t, disk)
	api.eventually("accepts measures again", answered(http.StatusAccepted))
	api.eventually("has a reserve file", reserved)
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

// manyMetrics is a resource to create, with some hundred KiB of metrics.
func manyMetrics(i int) string {
	var body strings.Builder
	fmt.Fprintf(&body, `{"id":"%08d-0000-4000-8000-000000000000","metrics":{`, i)
	for j := range 1000 {
		fmt.Fprintf(&body, `%.*s%q:{"archive_policy_name":"cluster"}`, min(j, 1), ",",
			fmt.Sprintf("%d-%0*d", i, 200, j))
	}
	body.WriteString("}}")
	return body.String()
}

// heartbeatsGoOn waits until the counter of every member has been raised three times.
func heartbeatsGoOn(t *testing.T, data string) {
	t.Helper()
	counters := func() map[string]string {
		beats, err := filepath.Glob(filepath.Join(data, "members", "*", "beats", "*"))
		if err != nil {
			t.Fatal(err)
		}
		counters := make(map[string]string)
		for _, beat := range beats {
			counters[filepath.Dir(beat)] = filepath.Base(beat)
		}
		return counters
	}
	before := counters()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		late := ""
		for file, now := range counters() {
			var was, is int
			fmt.Sscan(before[file], &was)
			fmt.Sscan(now, &is)
			if is < was+3 {
				late = file
			}
		}
		if len(before) != 3 {
			t.Fatal(before)
		}
		if late == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: no heartbeats on a full disk", late)
		}
	}
}

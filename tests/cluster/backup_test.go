package cluster_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/seedtest"
)

var backupRounds = flag.Int("backup.rounds", 4, "backups of TestBackupOfServingCluster")

// ledger has the acknowledged requests of all senders.
type ledger struct {
	mu    sync.Mutex
	acked map[int64]bool // seconds
}

func (l *ledger) copy() map[int64]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.acked)
}

// post sends to p until done, or until p is gone.
func (l *ledger) post(p *process, metrics []string, seconds *atomic.Int64, done <-chan struct{}) {
	s := &sender{metrics: metrics, seconds: seconds, doubt: map[int64]bool{}}
	for {
		select {
		case <-done:
			return
		case <-time.After(5 * time.Millisecond):
		}
		before := len(s.acked)
		if _, _, err := s.send(p); err != nil {
			return
		}
		if len(s.acked) > before {
			l.mu.Lock()
			l.acked[s.acked[before]] = true
			l.mu.Unlock()
		}
	}
}

// loader has the measures of blocks that were loaded into the past of a metric, as seconds after firstSecond.
type loader struct{ ledger }

// load puts a measure a block into the metric's past, one block after the other backwards, until done. A block is three
// days, for a metric of newMetrics.
func (h *loader) load(p *process, metric string, done <-chan struct{}) {
	for at := int64(-30 * 86400); ; at -= 3 * 86400 {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
			status, _, _, err := p.do(http.MethodPut, "/v1/metric/"+metric+"/measures?where=empty",
				fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond+at))
			if err != nil {
				return
			}
			if status == http.StatusOK {
				break // else again: the sack moves
			}
		}
		h.mu.Lock()
		h.acked[at] = true
		h.mu.Unlock()
	}
}

// changeMuch makes and deletes metrics and rebuilds archives until done.
func changeMuch(t *testing.T, p *process, done <-chan struct{}) {
	rebuilt, deleted := 0, 0
	for round := 0; ; round++ {
		select {
		case <-done:
			if rebuilt == 0 || deleted == 0 {
				t.Errorf("%d archives rebuilt, %d metrics deleted", rebuilt, deleted)
			}
			return
		case <-time.After(200 * time.Millisecond):
		}
		_, _, body, err := p.do(http.MethodPost, "/v1/metric", `{"archive_policy_name": "medium"}`)
		var m struct{ ID string }
		if err != nil || json.Unmarshal(body, &m) != nil || m.ID == "" {
			continue // the index moves
		}
		_, _, _, _ = p.do(http.MethodPost, "/v1/metric/"+m.ID+"/measures",
			fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond))
		if status, _, _, _ := p.do(http.MethodDelete, "/v1/metric/"+m.ID, ""); status == http.StatusNoContent {
			deleted++
		}
		if round%10 == 9 {
			status, _, _, _ := p.do(http.MethodPatch, "/v1/archive_policy/medium?rebuild=true",
				fmt.Sprintf(`{"aggregation_methods": ["mean", "%dpct"]}`, 1+round%99))
			if status == http.StatusOK {
				rebuilt++
			}
		}
	}
}

// gnocco runs a subcommand of the program.
func gnocco(args ...string) (string, error) {
	out, err := exec.Command(filepath.Join(binaries, "gnocco"), args...).CombinedOutput()
	return string(out), err
}

func mustGnocco(t testing.TB, args ...string) string {
	t.Helper()
	out, err := gnocco(args...)
	if err != nil {
		t.Fatalf("gnocco %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// A cluster is backed up while it serves, processes die, history is loaded, archives are rebuilt and metrics deleted,
// and stores are missing or damaged for a while. The restored folder has every measure that was acknowledged before the
// backup began, none of them twice, and fsck finds nothing.
func TestBackupOfServingCluster(t *testing.T) {
	random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	data, repository := t.TempDir(), filepath.Join(t.TempDir(), "backups")
	first := start(t, data, "api")
	apis := []*process{first, start(t, data, "api")}
	var workers []*process
	for range 3 {
		workers = append(workers, start(t, data, "metricd"))
	}
	metrics := newMetrics(t, first, 24)
	l := &ledger{acked: make(map[int64]bool)}
	var seconds atomic.Int64
	var senders sync.WaitGroup
	done := make(chan struct{})
	h := &loader{ledger{acked: make(map[int64]bool)}}
	senders.Go(func() { h.load(first, metrics[0], done) })
	senders.Go(func() { changeMuch(t, first, done) })
	for _, p := range apis {
		senders.Go(func() { l.post(p, metrics, &seconds, done) })
	}
	for round := range *backupRounds {
		time.Sleep(time.Duration(300+random.IntN(700)) * time.Millisecond)
		var disturbance sync.WaitGroup
		pause := time.Duration(random.IntN(300)) * time.Millisecond
		victim := random.IntN(5)
		disturbance.Go(func() { // one process of each role ends in turn, and another starts
			time.Sleep(pause)
			switch {
			case victim < 3:
				workers[victim].kill()
				workers[victim] = start(t, data, "metricd")
			case victim == 3:
				apis[1].kill()
				apis[1] = start(t, data, "api")
				p := apis[1]
				senders.Go(func() { l.post(p, metrics, &seconds, done) })
			}
		})
		if round%2 == 1 { // a backup that is cut short leaves none
			cut := exec.Command(filepath.Join(binaries, "gnocco"), "backup", "--data", data, "--to", repository)
			if err := cut.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
			_ = cut.Process.Kill()
			_ = cut.Wait()
		}
		acked, loaded := l.copy(), h.copy()
		t.Log(mustGnocco(t, "backup", "--data", data, "--to", repository, "--keep", "2"))
		disturbance.Wait()
		checkRestored(t, random, repository, metrics, acked, loaded)
		if round%3 == 2 {
			for i := range workers { // nobody else opens what is moved or changed
				workers[i].kill()
			}
			tellWhatIsLost(t, random, data, repository)
			for i := range workers {
				workers[i] = start(t, data, "metricd")
			}
		}
	}
	close(done)
	senders.Wait()
	if n := strings.Count(mustGnocco(t, "restore", "--from", repository, "--list"), "\n"); n > 2+2 { // two are partial
		t.Errorf("%d backups are kept", n)
	}
}

// tellWhatIsLost takes a sack away, or damages a table of one, while the APIs go on, and brings it back. The backup
// says which, and the earlier ones stay. If the table was one that the store no longer has, the backup is whole.
func tellWhatIsLost(t *testing.T, random *rand.Rand, data, repository string) {
	t.Helper()
	before := mustGnocco(t, "restore", "--from", repository, "--list")
	sacks, err := os.ReadDir(filepath.Join(data, "sacks"))
	if err != nil {
		t.Fatal(err)
	}
	sack := "sacks/" + sacks[random.IntN(len(sacks))].Name()
	tables, err := filepath.Glob(filepath.Join(data, sack, "e*", "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	if path := filepath.Join(data, sack); random.IntN(2) == 0 || len(tables) == 0 {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := os.Rename(path+".away", path); err != nil {
				t.Error(err)
			}
		}()
	} else { // its time is another than earlier backups noted, so that it is read
		want = 2
		table := tables[random.IntN(len(tables))]
		content, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		write := func() {
			if err := os.WriteFile(table, content, 0o640); err != nil {
				t.Error(err)
			}
		}
		flipped := random.IntN(len(content))
		content[flipped] ^= 1
		write()
		defer func() {
			content[flipped] ^= 1
			write()
		}()
	}
	out, err := gnocco("backup", "--data", data, "--to", repository, "--keep", "1")
	if err == nil && want == 2 {
		restored := filepath.Join(t.TempDir(), "data")
		mustGnocco(t, "restore", "--from", repository, "--data", restored)
		mustGnocco(t, "fsck", "--data", restored)
		return
	}
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != want || !strings.Contains(out, sack) {
		t.Errorf("without all of %s, want status %d: %v\n%s", sack, want, err, out)
	}
	after := mustGnocco(t, "restore", "--from", repository, "--list")
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			t.Errorf("dropped: %s", line)
		}
	}
	t.Logf("%s: status %d", sack, want)
}

// checkRestored restores the newest backup, and looks there for the measures of acked.
func checkRestored(t *testing.T, random *rand.Rand, repository string, metrics []string,
	acked, loaded map[int64]bool) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	cut := exec.Command(filepath.Join(binaries, "gnocco"), "restore", "--from", repository, "--data", data)
	if err := cut.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
	_ = cut.Process.Kill()
	_ = cut.Wait()
	if out, err := gnocco("fsck", "--data", data); err == nil { // the first one was quick
		t.Log("restored at once", out)
	} else {
		mustGnocco(t, "restore", "--from", repository, "--data", data)
	}
	out := mustGnocco(t, "fsck", "--data", data)
	if !strings.Contains(out, " 0 damaged, 0 repaired, ") {
		t.Fatalf("fsck: %s", out)
	}
	for line := range strings.Lines(out) { // a metric may be deleted after its sack was copied, and before the index is
		isDeleted := strings.Contains(line, " is not in the index: ") &&
			!slices.ContainsFunc(metrics, func(id string) bool { return strings.Contains(line, id) })
		if strings.HasPrefix(line, "note ") && !isDeleted {
			t.Fatalf("fsck: %s", line)
		}
	}
	p := host{data: data, address: "127.0.0.1", mounted: true}.start(t, "serve")
	defer p.stop()
	p.mustDo(http.MethodPost, "/v1/metric/"+metrics[0]+"/measures",
		fmt.Sprintf(`[{"timestamp": %d, "value": 7}]`, firstSecond-1), http.StatusAccepted)
	lacking, wrong := 0, 0
	for i, metric := range metrics {
		counts, sums := aggregates(t, p, metric, "count"), aggregates(t, p, metric, "sum")
		for second := range acked {
			if counts[second] == 0 {
				lacking++
			}
		}
		for second, n := range counts {
			if n != 1 || second > 0 && sums[second] != float64(second) {
				wrong++
			}
		}
		for second := range loaded {
			if i == 0 && counts[second] == 0 {
				lacking++
			}
		}
		if i == 0 && sums[-1] != 7 {
			t.Error("a measure after the restore is lacking")
		}
	}
	t.Logf("%d requests and %d blocks of history acknowledged before: %d measures lacking, %d wrong", len(acked),
		len(loaded), lacking, wrong)
	if lacking+wrong > 0 {
		t.Fatal("the backup is not what was promised")
	}
}

package cluster_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

var upgradeFrom = flag.String("upgrade.from", "",
	"git revision that TestUpgrade begins with; it takes a minute to build")

// programsOf builds the programs of a git revision and returns their folder.
func programsOf(t *testing.T, revision string) string {
	t.Helper()
	sources, programs := t.TempDir(), t.TempDir()
	if err := exec.Command("git", "cat-file", "-e", revision+"^{commit}").Run(); err != nil {
		t.Skipf("git does not have %s: a shallow clone?", revision)
	}
	run := func(command string) {
		t.Helper()
		c := exec.Command("sh", "-ec", command)
		c.Env = append(os.Environ(), "revision="+revision, "sources="+sources, "programs="+programs)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	run(`cd "$(git rev-parse --show-toplevel)" && git archive "$revision" | tar -x -C "$sources"`)
	run(
		`cd "$sources" && go build -trimpath -buildvcs=false -ldflags="-s -w" -o "$programs" ./cmd/gnocco ./cmd/metricd`)
	return programs
}

// A cluster of an earlier version is stopped under load, and started as this one. Everything that was acknowledged
// is there, once.
func TestUpgrade(t *testing.T) {
	if *upgradeFrom == "" {
		t.Skip("no -upgrade.from")
	}
	data := t.TempDir()
	now := host{data: data, address: "127.0.0.1"}
	before := now
	before.programs = programsOf(t, *upgradeFrom)

	roles := []string{"api", "api", "metricd", "metricd"}
	processes := make([]*process, len(roles))
	for i, role := range roles {
		processes[i] = before.start(t, role)
	}
	metrics := newMetrics(t, processes[0], 24)
	seconds := new(atomic.Int64)
	done := make(chan struct{})
	var clients sync.WaitGroup
	var senders []*sender
	// send starts a client of an API, which ends with it.
	send := func(p *process) {
		s := &sender{metrics: metrics, seconds: seconds, doubt: map[int64]bool{}}
		senders = append(senders, s)
		clients.Go(func() { s.post(t, p, done) })
	}
	send(processes[0])
	send(processes[1])
	// await waits until clients have sent more, and some of it is seen.
	await := func(p *process) {
		t.Helper()
		from := seconds.Load()
		p.eventually("takes and shows measures", func() bool {
			return seconds.Load() >= from+50 && len(aggregates(t, p, metrics[0], "count")) > 0
		})
	}
	await(processes[0])
	await(processes[1])
	for _, p := range processes {
		p.stop()
	}
	for i, role := range roles {
		processes[i] = now.start(t, role)
		if role == "api" {
			send(processes[i])
		}
	}
	await(processes[0])
	close(done)
	clients.Wait()
	for _, p := range processes[:2] {
		check(t, p, metrics, senders...)
	}
	for _, p := range processes {
		p.stop()
	}
	out, err := exec.Command(filepath.Join(binaries, "gnocco"), "fsck", "--data", data).CombinedOutput()
	if err != nil {
		t.Errorf("fsck: %v\n%s", err, out)
	}
}

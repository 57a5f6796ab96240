package cluster_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var (
	chaosSeed   = flag.Uint64("chaos.seed", 1, "seed of TestChaos' first round; the next has the next one")
	chaosRounds = flag.Int("chaos.rounds", 2, "rounds of TestChaos")
	chaosSteps  = flag.Int("chaos.steps", 10, "what happens in a round of TestChaos")
	chaosHosts  = flag.String("chaos.hosts", "",
		"hosts of TestChaos: address,mounted folder,command that runs another there; more after a semicolon")
	chaosTTL = flag.Duration("chaos.ttl", 4*time.Second,
		"leases of TestChaos: short, so that a round is, but longer than a busy machine keeps a heartbeat waiting")
	chaosSlack = flag.Duration("chaos.slack", time.Second,
		"how much longer others wait; more than the disk's caches hide")
	chaosEtcd = flag.Bool("chaos.etcd", false, "etcd keeps the claims in TestChaos, and is killed and started again as well")
	chaosCut  = flag.String("chaos.cut", "",
		"command that cuts off (down) or brings back (up) the host of the number behind")
)

// chaosPause is how long processes are stopped: longer than others believe them alive.
func chaosPause() time.Duration { return *chaosTTL + *chaosSlack + time.Second }

const exitFenced = 3

// slot is a place for a process that comes and goes.
type slot struct {
	role    string
	host    int
	shift   time.Duration // of its clock
	process *process      // nil when none is there
	resume  time.Time     // of a process that is stopped by a signal, or whose host is cut off
	cut     bool
}

// chaos is a round.
type chaos struct {
	t      *testing.T
	random *rand.Rand
	hosts  []host
	slots  []*slot
	disk   string // that can be filled; "" if it is not ours
	etcd   *etcdServer

	all []*process // that ever ran

	mu   sync.Mutex
	apis []*process // those that clients try
}

// A measure answered with 202 counts once, through any failure of processes, hosts and the disk. Every round has a
// cluster of its own: 2 processes of the API, 3 of metricd, and 4 clients that remember each 202. Two of them write to
// metrics without a back window, in order, through any API; three others also write out of order, to metrics of their
// own, and the result must agree with the times of their writes. In every second round, clocks are up to two seconds
// apart. Run by root, on one host, it has a small disk of its own as well, which gets full now and then.
func TestChaos(t *testing.T) {
	rounds := *chaosRounds
	if testing.Short() {
		rounds = 1
	}
	for i := range rounds {
		seed := *chaosSeed + uint64(i)
		if !t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { runChaos(t, seed) }) {
			t.Fatalf("again with: go test ./tests/cluster -run TestChaos -chaos.rounds 1 -chaos.seed %d", seed)
		}
	}
}

func runChaos(t *testing.T, seed uint64) {
	c := &chaos{t: t, random: rand.New(rand.NewPCG(seed, 5))}
	if *chaosHosts == "" {
		c.disk, _ = smallDisk(t, 512)
	}
	if *chaosEtcd {
		c.etcd = startEtcd(t)
	}
	c.hosts = parseHosts(t, c.disk)
	t.Cleanup(c.tidy)
	var apart time.Duration // of two clocks, at the most
	for i, role := range []string{"api", "api", "metricd", "metricd", "metricd"} {
		s := &slot{role: role, host: i % len(c.hosts)}
		if seed%2 == 0 {
			s.shift, apart = []time.Duration{-time.Second, time.Second, 500 * time.Millisecond, 0,
				-time.Second}[i], 2*time.Second
		}
		c.slots = append(c.slots, s)
	}
	for _, s := range c.slots {
		c.start(s)
	}
	metrics := newMetrics(t, c.slots[0].process, 12)
	narrow := narrowMetrics(t, c.slots[0].process, 16)
	metrics, history := append(metrics, narrow[:12]...), newHistory(narrow[12:])
	var seconds atomic.Int64
	done := make(chan struct{})
	var clients sync.WaitGroup
	var senders []*sender
	for i := range 4 {
		s := &sender{metrics: metrics[6*i : 6*i+6], seconds: &seconds, doubt: map[int64]bool{}}
		senders = append(senders, s)
		random := rand.New(rand.NewPCG(seed, uint64(100+i)))
		clients.Go(func() { c.post(s, random, done) })
	}
	for i := range 3 {
		random := rand.New(rand.NewPCG(seed, uint64(300+i)))
		clients.Go(func() { c.write(history, random, done) })
	}
	staleReads := 0
	random := rand.New(rand.NewPCG(seed, 200))
	clients.Go(func() { staleReads = c.readStale(metrics, &seconds, random, done) })
	for range *chaosSteps {
		c.step()
		c.rest(time.Duration(300+c.random.IntN(900)) * time.Millisecond)
	}
	c.restore()
	close(done)
	clients.Wait()
	t.Logf("%d requests were answered with what was on the disk", staleReads)

	var apis []*process
	for _, s := range c.slots {
		if s.role == "api" {
			apis = append(apis, s.process)
		}
	}
	c.awaitBacklog(apis[0])
	for i, s := range senders {
		check(t, apis[i%len(apis)], s.metrics, s)
	}
	history.check(t, apis[0], apart)
	for _, s := range c.slots {
		s.process.stop()
	}
	h := c.hosts[0]
	fsck := append(append([]string{}, h.enter...), filepath.Join(binaries, "gnocco"), "fsck", "--data", h.data)
	if out, err := exec.Command(fsck[0], fsck[1:]...).CombinedOutput(); err != nil {
		t.Errorf("fsck: %v\n%s", err, out)
	}
}

// parseHosts makes the hosts' data folders, one that they share; without hosts, one on the disk, "" for any.
func parseHosts(t *testing.T, disk string) []host {
	t.Helper()
	if *chaosHosts == "" {
		dir, err := os.MkdirTemp(disk, "gnocco-chaos-")
		if err != nil {
			t.Fatal(err)
		}
		return []host{{data: dir, address: "127.0.0.1"}}
	}
	var hosts []host
	name := ""
	for text := range strings.SplitSeq(*chaosHosts, ";") {
		fields := strings.SplitN(text, ",", 3)
		if len(fields) != 3 {
			t.Fatalf("-chaos.hosts: %q is not address,folder,command", text)
		}
		if name == "" {
			dir, err := os.MkdirTemp(fields[1], "chaos-")
			if err != nil {
				t.Fatal(err)
			}
			name = filepath.Base(dir)
		}
		hosts = append(hosts, host{data: filepath.Join(fields[1], name), address: fields[0],
			enter: strings.Fields(fields[2])})
	}
	return hosts
}

// tidy removes the data folder, or, after a failure, leaves it with everybody's log.
func (c *chaos) tidy() {
	data := c.hosts[0].data
	if !c.t.Failed() {
		os.RemoveAll(data)
		return
	}
	if c.disk != "" { // is about to go
		kept, err := os.MkdirTemp("", "gnocco-chaos-")
		if err != nil {
			c.t.Error(err)
			return
		}
		if err := os.CopyFS(kept, os.DirFS(data)); err != nil {
			c.t.Log(err)
		}
		data = kept
	}
	for i, p := range c.all {
		p.kill()
		name := filepath.Join(data, fmt.Sprintf("process-%02d.log", i))
		if err := os.WriteFile(name, []byte(p.log.String()), 0o600); err != nil {
			c.t.Log(err)
		}
	}
	c.t.Logf("the folder, with logs, is left in %s", data)
}

// start starts the process of a slot.
func (c *chaos) start(s *slot) {
	c.t.Helper()
	flags := []string{"--lease-ttl", chaosTTL.String(), "--lease-slack", chaosSlack.String(), "--test-clock-shift",
		s.shift.String()}
	if c.etcd != nil {
		flags = append(flags, "--coordination", "etcd://"+c.etcd.address+"/chaos")
	}
	s.process = c.hosts[s.host].start(c.t, s.role, flags...)
	c.all = append(c.all, s.process)
	c.tell()
}

// tell tells clients which processes of the API to try: also those that are stopped, whose requests hang.
func (c *chaos) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apis = c.apis[:0]
	for _, s := range c.slots {
		if s.role == "api" && s.process != nil {
			c.apis = append(c.apis, s.process)
		}
	}
}

// post sends one request after the other to any live process.
func (c *chaos) post(s *sender, random *rand.Rand, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(random.IntN(20)) * time.Millisecond):
		}
		p := c.anyAPI(random)
		if p == nil {
			continue
		}
		if status, answer, err := s.send(p); err == nil && status != http.StatusAccepted && status < 500 {
			c.t.Errorf("POST answered %d: %s", status, answer)
			return
		}
	}
}

// write adds to a history by any live process.
func (c *chaos) write(h *history, random *rand.Rand, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(random.IntN(20)) * time.Millisecond):
		}
		if p := c.anyAPI(random); p != nil {
			h.write(p, random)
		}
	}
}

// readStale reads one metric after the other from any live process, and accepts old answers: these may lack sent
// measures, but have no others. It returns how many of the answers were old.
func (c *chaos) readStale(metrics []string, seconds *atomic.Int64, random *rand.Rand,
	done <-chan struct{}) (stale int) {
	for {
		select {
		case <-done:
			return stale
		case <-time.After(50 * time.Millisecond):
		}
		p := c.anyAPI(random)
		if p == nil {
			continue
		}
		path := "/v1/metric/" + metrics[random.IntN(len(metrics))] + "/measures?granularity=1&aggregation=sum"
		status, header, answer, err := p.doWith(http.Header{"Cache-Control": {"max-stale"}}, http.MethodGet, path, "")
		if err != nil || status >= 500 {
			continue
		}
		var rows [][3]any
		if status != http.StatusOK || json.Unmarshal(answer, &rows) != nil {
			c.t.Errorf("GET %s answered %d: %s", path, status, answer)
			return stale
		}
		if header.Get("Age") != "" {
			stale++
		}
		for _, row := range rows {
			at, err := time.Parse(time.RFC3339, row[0].(string))
			if second := at.Unix() - firstSecond; err != nil || second < 1 || second > seconds.Load() ||
				row[2].(float64) != float64(second) {
				c.t.Errorf("GET %s, age %q: %v was never sent", path, header.Get("Age"), row)
				return stale
			}
		}
	}
}

// anyAPI returns one of the processes that clients try, nil for none.
func (c *chaos) anyAPI(random *rand.Rand) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.apis) == 0 {
		return nil
	}
	return c.apis[random.IntN(len(c.apis))]
}

// step lets something happen to one of the slots.
func (c *chaos) step() {
	s := c.slots[c.random.IntN(len(c.slots))]
	what := c.random.IntN(12)
	switch {
	case what >= 10 && c.disk != "":
		c.fillDisk()
	case what == 9 && c.etcd != nil:
		c.t.Log("etcd is killed, and starts again")
		c.etcd.kill()
		c.etcd.start()
	case s.process == nil:
		c.t.Logf("%s starts", s.role)
		c.start(s)
	case !s.resume.IsZero():
		// wakes up by itself
	case what < 4:
		c.t.Logf("%s is killed", s.role)
		s.process.kill()
		s.process = nil
		c.tell()
	case what < 6:
		c.t.Logf("%s stops in order", s.role)
		s.process.stop()
		s.process = nil
		c.tell()
	case *chaosCut != "" && what < 8:
		c.cut(s.host)
	default:
		c.t.Logf("%s is paused", s.role)
		if err := s.process.signal(syscall.SIGSTOP); err != nil {
			c.t.Fatal(err)
		}
		s.resume = time.Now().Add(chaosPause())
	}
}

// fillDisk fills the disk to the last byte, and frees it after a while.
func (c *chaos) fillDisk() {
	c.t.Log("the disk is full")
	fill(c.t, c.disk, 0)
	for range 3 {
		c.rest(500 * time.Millisecond)
		fill(c.t, c.disk, 0) // what the reserve file and tables that were removed gave
	}
	empty(c.t, c.disk)
	c.t.Log("the disk has room again")
}

// cut cuts off a host, with all that runs there, unless it is.
func (c *chaos) cut(host int) {
	var cut []*slot
	for _, s := range c.slots {
		if s.host == host && s.process != nil {
			if !s.resume.IsZero() {
				return
			}
			cut = append(cut, s)
		}
	}
	c.t.Logf("host %d is cut off, with %d processes", host, len(cut))
	c.link("down", host)
	for _, s := range cut {
		s.cut, s.resume = true, time.Now().Add(chaosPause()+2*time.Second)
	}
}

// awaitMount waits until a host that was cut off sees the disk again.
func (c *chaos) awaitMount(host int) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err = os.ReadDir(c.hosts[host].data); err == nil {
			return
		}
	}
	c.t.Fatalf("host %d does not see the disk again: %v", host, err)
}

func (c *chaos) link(what string, host int) {
	args := append(strings.Fields(*chaosCut), what, string(rune('0'+host)))
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// rest waits, and wakes what was stopped for long enough: it must find out by itself that it is not wanted any more.
func (c *chaos) rest(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, s := range c.slots {
			if s.resume.IsZero() || time.Now().Before(s.resume) {
				continue
			}
			c.wake(s)
		}
	}
}

// wake brings back a slot's process, whose lease is over.
func (c *chaos) wake(s *slot) {
	c.t.Helper()
	if s.cut {
		c.link("up", s.host)
		c.awaitMount(s.host)
	} else if err := s.process.signal(syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
	select {
	case <-s.process.ended:
	case <-time.After(patience):
		s.process.giveUp("notices that its lease is over")
	}
	if code := s.process.cmd.ProcessState.ExitCode(); code != exitFenced && !s.cut {
		c.t.Errorf("%s ended with status %d after a pause:\n%s", s.role, code, s.process.log.String())
	}
	c.t.Logf("%s woke up, and ended", s.role)
	s.process, s.resume, s.cut = nil, time.Time{}, false
	c.tell()
}

// restore brings everybody back.
func (c *chaos) restore() {
	for _, s := range c.slots {
		if !s.resume.IsZero() {
			c.rest(time.Until(s.resume))
		}
		if !s.resume.IsZero() { // a busy machine may have slept through the end of the rest
			c.wake(s)
		}
	}
	for _, s := range c.slots {
		if s.process == nil {
			c.start(s)
			continue
		}
		select {
		case <-s.process.ended:
			c.t.Fatalf("%s ended by itself with status %d:\n%s", s.role, s.process.cmd.ProcessState.ExitCode(),
				s.process.log.String())
		default:
		}
	}
}

// awaitBacklog waits until nothing waits to be processed.
func (c *chaos) awaitBacklog(p *process) {
	c.t.Helper()
	p.eventually("has no backlog", func() bool {
		code, _, answer, err := p.do(http.MethodGet, "/v1/status", "")
		if err != nil || code != http.StatusOK {
			return false
		}
		var status struct {
			Storage struct {
				Summary struct{ Metrics, Measures int }
			}
		}
		if err := json.Unmarshal(answer, &status); err != nil {
			c.t.Fatalf("%v: %s", err, answer)
		}
		return status.Storage.Summary.Measures == 0
	})
}

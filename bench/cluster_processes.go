package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes are those of a cluster on one folder.
type processes struct {
	options *Options
	folder  string
	args    []string // of each
	api     *member  // or the one process that does it all
	metricd []*member
	started int
}

// member is a child that is a member of the cluster.
type member struct {
	*child
	id string
}

// startProcesses starts a process of a role that takes measures, serve or api, on a new folder. The caller closes them.
func (o *Options) startProcesses(ctx context.Context, role string, args ...string) (*processes, error) {
	folder, err := os.MkdirTemp(o.TempDir, "gnocco-bench-")
	if err != nil {
		return nil, err
	}
	p := &processes{options: o, folder: folder, args: append(args, o.ServeArgs...)}
	if p.api, err = p.start(ctx, role, "/healthcheck"); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// startMetricd starts n more processes of metricd and waits until each has sacks.
func (p *processes) startMetricd(ctx context.Context, n int) error {
	for range n {
		m, err := p.start(ctx, "metricd", "/metrics")
		if err != nil {
			return err
		}
		p.metricd = append(p.metricd, m)
	}
	return p.awaitSpread(ctx)
}

var memberID = regexp.MustCompile(`msg=serving .*\bmember=(\S+)`)

func (p *processes) start(ctx context.Context, role, path string) (*member, error) {
	p.started++
	log := filepath.Join(p.folder, fmt.Sprintf("%s-%d.log", role, p.started))
	args := append([]string{role, "--listen", "LISTEN", "--data", filepath.Join(p.folder, "data"), "--init"}, p.args...)
	c, err := startChild(ctx, p.options.Binary, log, path, args...)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(startWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(log)
		if found := memberID.FindSubmatch(text); err == nil && found != nil {
			return &member{c, string(found[1])}, nil
		}
	}
	c.kill()
	return nil, fmt.Errorf("bench: %s does not say which member it is", role)
}

// clusterStatus is the part of GET /v1/status that names holders.
type clusterStatus struct {
	Claims []struct{ Name, Member string } // "sacks/003", the member's ID
}

// status is what the cluster says of itself.
func (p *processes) status(ctx context.Context) (*clusterStatus, error) {
	c := newClient(p.options, p.api.url, 1)
	defer c.close()
	var answer bytes.Buffer
	if err := c.do(ctx, http.MethodGet, "/v1/status?details=false", nil, http.StatusOK, &answer); err != nil {
		return nil, err
	}
	var status struct{ Cluster *clusterStatus }
	if err := json.Unmarshal(answer.Bytes(), &status); err != nil {
		return nil, err
	}
	if status.Cluster == nil {
		return nil, errors.New("no cluster in the status")
	}
	return status.Cluster, nil
}

// sacksOf returns who holds which sacks, by member.
func (p *processes) sacksOf(ctx context.Context) (map[string][]int, error) {
	status, err := p.status(ctx)
	if err != nil {
		return nil, err
	}
	sacks := make(map[string][]int)
	for _, c := range status.Claims {
		if number, ok := strings.CutPrefix(c.Name, "sacks/"); ok {
			n, err := strconv.Atoi(number)
			if err != nil {
				return nil, err
			}
			sacks[c.Member] = append(sacks[c.Member], n)
		}
	}
	return sacks, nil
}

// awaitSpread waits until all sacks are held, and each metricd has some.
func (p *processes) awaitSpread(ctx context.Context) error {
	for end := time.Now().Add(startWait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		sacks, err := p.sacksOf(ctx)
		if err != nil {
			return err
		}
		held, all := 0, true
		for _, m := range p.metricd {
			held += len(sacks[m.id])
			all = all && len(sacks[m.id]) > 0
		}
		if all && held == benchSacks {
			return nil
		}
	}
	return errors.New("sacks are not spread over all metricd")
}

// benchSacks is how many sacks a new folder has.
const benchSacks = 16

// all returns the processes that live.
func (p *processes) all() []*member { return append([]*member{p.api}, p.metricd...) }

func (p *processes) pids() []int {
	var pids []int
	for _, m := range p.all() {
		pids = append(pids, m.cmd.Process.Pid)
	}
	return pids
}

// server is the cluster as a server that runs already.
func (p *processes) server(name string) *server {
	options := *p.options
	options.URL, options.PIDs, options.Name = p.api.url, p.pids(), name
	return &server{name: name, url: p.api.url, options: &options}
}

// stop ends all in order, metricd first, and returns what they used in their whole lives.
func (p *processes) stop() (usage, error) {
	var sum usage
	for _, m := range append(p.metricd, p.api) {
		u, err := m.stop()
		if err != nil {
			return sum, err
		}
		sum.cpu += u.cpu
		sum.written += u.written
	}
	p.metricd = nil
	return sum, nil
}

// forget kills a metricd as a crash would, and forgets it.
func (p *processes) forget(gone *member) {
	p.metricd = deleteMember(p.metricd, gone)
}

func deleteMember(list []*member, gone *member) []*member {
	var rest []*member
	for _, m := range list {
		if m != gone {
			rest = append(rest, m)
		}
	}
	return rest
}

// close ends all and removes the folder.
func (p *processes) close() {
	for _, m := range append(p.metricd, p.api) {
		if m != nil {
			_ = m.cmd.Process.Signal(syscall.SIGCONT) // else it can't be waited for
			m.kill()
		}
	}
	_ = os.RemoveAll(p.folder)
}

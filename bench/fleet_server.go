package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// fleetServer is one of the servers that take the same measures.
type fleetServer struct {
	fleet  *fleet
	name   string // KIND or KIND@LABEL
	kind   fleetKind
	path   string // the program
	folder string
	extra  []string // further arguments
	cores  string   // a list for taskset; "": all
	child  *child
	client *client

	usage, before, fed usage // now, once the metrics were there, once all measures were sent
	mostRSS            float64
	sendingLock        sync.Mutex
	sending            []time.Duration
	reads              map[string]*fleetTimes
	readCPU            time.Duration // of all reads
	disk, diskStopped  diskUsage
	killed, stopped    time.Duration // from the start to the first answer
	stopping           time.Duration
}

type fleetTimes struct{ wall, cpu []time.Duration }

// newFleetServer reads KIND[@LABEL][=PROGRAM].
func newFleetServer(f *fleet, text string) (*fleetServer, error) {
	name, path, _ := strings.Cut(text, "=")
	kindName, _, _ := strings.Cut(name, "@")
	kind := newFleetKind(kindName)
	if kind == nil {
		return nil, fmt.Errorf("no server of the kind %q", kindName)
	}
	s := &fleetServer{fleet: f, name: name, kind: kind, folder: filepath.Join(f.folder, name),
		reads: map[string]*fleetTimes{}}
	for _, read := range fleetReads {
		s.reads[read] = &fleetTimes{}
	}
	if path == "" {
		path = s.kind.program(f.Options)
	}
	var err error
	s.path, err = exec.LookPath(path)
	return s, err
}

func (s *fleetServer) start(ctx context.Context) error {
	command, ready := s.kind.command(s)
	if s.cores != "" {
		command = append([]string{"taskset", "-c", s.cores}, command...)
	}
	var err error
	log := filepath.Join(s.fleet.folder, s.name+".log")
	if s.child, err = startChild(ctx, command[0], log, ready, append(command[1:], s.extra...)...); err != nil {
		return err
	}
	s.client = newClient(s.fleet.Options, s.child.url, s.fleet.Connections)
	return nil
}

func (s *fleetServer) close() {
	if s.child != nil {
		s.child.kill()
		s.client.close()
		s.child = nil
	}
}

func (s *fleetServer) readUsage() (err error) {
	s.usage, err = processUsage([]int{s.child.cmd.Process.Pid})
	s.mostRSS = max(s.mostRSS, float64(s.usage.rss))
	return err
}

func (s *fleetServer) noteSending(took time.Duration) {
	s.sendingLock.Lock()
	defer s.sendingLock.Unlock()
	s.sending = append(s.sending, took)
}

// fleetReads are the names of the reads: one metric, the mean of a hundred, the mean of one meter of all hosts.
var fleetReads = []string{"one", "hundred", "fleet"}

// fleetRead asks for means by minute.
type fleetRead struct {
	name     string
	hosts    []int
	all      bool // the hosts are all there are
	from, to time.Time
}

func (f *fleet) reads() []fleetRead {
	n, hundred := f.hosts()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	from, to := f.minutes()
	return []fleetRead{
		{fleetReads[0], []int{n / 2}, false, from, to},
		{fleetReads[1], hundred, false, from, to},
		{fleetReads[2], all, true, from, to},
	}
}

func (s *fleetServer) read(ctx context.Context, r fleetRead) (map[int64]float64, error) {
	method, path, body := s.kind.request(s, r)
	var answer bytes.Buffer
	if err := s.client.do(ctx, method, path, body, http.StatusOK, &answer); err != nil {
		return nil, err
	}
	got, err := s.kind.parse(answer.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, answer.String())
	}
	return got, nil
}

// readAll does each read once, and notes what it takes.
func (s *fleetServer) readAll(ctx context.Context) error {
	if from, to := s.fleet.minutes(); !from.Before(to) {
		return s.readUsage()
	}
	for _, r := range s.fleet.reads() {
		if err := s.readUsage(); err != nil {
			return err
		}
		before, begun := s.usage.cpu, time.Now()
		if _, err := s.read(ctx, r); err != nil {
			return err
		}
		wall := time.Since(begun)
		if err := s.readUsage(); err != nil {
			return err
		}
		t := s.reads[r.name]
		t.wall, t.cpu = append(t.wall, wall), append(t.cpu, s.usage.cpu-before)
		s.readCPU += s.usage.cpu - before
	}
	return nil
}

// answersRight waits until all reads are right: other servers show measures some time after they took them.
func (s *fleetServer) answersRight(ctx context.Context, wait time.Duration) (err error) {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err = nil
		for _, r := range s.fleet.reads() {
			got, failed := s.read(ctx, r)
			if failed == nil {
				failed = s.fleet.check(r, got)
			}
			if failed != nil {
				err = failed
				break
			}
		}
		if err == nil || time.Since(begun) > wait {
			return err
		}
	}
}

// measureEnd is what comes once all measures were sent: sizes, kill and stop.
func (s *fleetServer) measureEnd(ctx context.Context) error {
	log := s.fleet.Logger.With("server", s.name)
	if err := s.readUsage(); err != nil {
		return err
	}
	s.fed = s.usage
	if err := s.answersRight(ctx, wrongWait); err != nil {
		return err
	}
	var err error
	if s.disk, err = measureDisk(s.folder); err != nil {
		return err
	}
	s.close()
	if s.killed, err = s.restart(ctx); err != nil {
		return err
	}
	if err := s.answersRight(ctx, wrongWait); err != nil {
		if s.kind.keepsAcknowledged() {
			return fmt.Errorf("after kill -9: %w", err)
		}
		log.Warn("measures were lost by kill -9", "error", err)
	}
	if err := s.kind.mergeParts(ctx, s); err != nil {
		return err
	}
	begun := time.Now()
	if _, err := s.child.stop(); err != nil {
		return err
	}
	s.stopping = time.Since(begun)
	s.client.close()
	s.child = nil
	if s.diskStopped, err = measureDisk(s.folder); err != nil {
		return err
	}
	if s.stopped, err = s.restart(ctx); err != nil {
		return err
	}
	log.Info("done", "killed", s.killed, "stop", s.stopping, "stopped", s.stopped)
	_, err = s.child.stop()
	s.client.close()
	s.child = nil
	return err
}

// restart starts the server and returns how long it takes until one metric is answered.
func (s *fleetServer) restart(ctx context.Context) (time.Duration, error) {
	begun := time.Now()
	if err := s.start(ctx); err != nil {
		return 0, err
	}
	one := s.fleet.reads()[0]
	for {
		got, err := s.read(ctx, one)
		if err == nil && len(got) > 0 {
			return time.Since(begun), nil
		}
		if time.Since(begun) > startWait {
			return 0, errors.Join(errors.New("no measures after a restart"), err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

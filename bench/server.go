package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// server is what a benchmark measures: a child `gnocco serve` on a folder of its own, or a server that runs already.
type server struct {
	name    string
	url     string
	options *Options
	folder  string // of the child; empty for a server that runs already
	child   *child // nil if there is none or it was stopped
}

// start returns the server to measure. The caller closes it.
func (o *Options) start(ctx context.Context) (*server, error) {
	s := &server{name: o.Name, url: o.URL, options: o}
	if o.URL != "" {
		return s, nil
	}
	var err error
	if s.folder, err = os.MkdirTemp(o.TempDir, "gnocco-bench-"); err != nil {
		return nil, err
	}
	if err := s.reopen(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// isChild reports whether the server can be stopped and opened again.
func (s *server) isChild() bool { return s.folder != "" }

// dataDir is the child's data folder.
func (s *server) dataDir() string { return filepath.Join(s.folder, "data") }

// reopen starts the child on its folder.
func (s *server) reopen(ctx context.Context) error {
	args := append([]string{"serve", "--listen", "LISTEN", "--data", s.dataDir()}, s.options.ServeArgs...)
	var err error
	s.child, err = startChild(ctx, s.options.Binary, filepath.Join(s.folder, "log"), "/healthcheck", args...)
	if err != nil {
		return err
	}
	s.url = s.child.url
	return nil
}

// stop ends the child, which checkpoints everything, and returns what it used in its whole life.
func (s *server) stop() (usage, error) {
	c := s.child
	s.child = nil
	return c.stop()
}

// close ends the child and removes its folder; a server that ran already goes on.
func (s *server) close() {
	if s.child != nil {
		s.child.kill()
		s.child = nil
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

var errNoProcess = errors.New("no process ids of the server")

// usage is what the server has used so far; errNoProcess if its processes are not known.
func (s *server) usage() (usage, error) {
	switch {
	case s.child != nil:
		return processUsage([]int{s.child.cmd.Process.Pid})
	case len(s.options.PIDs) > 0:
		return processUsage(s.options.PIDs)
	}
	return usage{}, errNoProcess
}

// disk is the size of the server's files; ok is false if they are not known.
func (s *server) disk() (u diskUsage, ok bool, err error) {
	dirs := s.options.DataDirs
	if s.isChild() {
		dirs = []string{s.dataDir()}
	}
	if len(dirs) == 0 {
		return u, false, nil
	}
	u, err = measureDisk(dirs...)
	return u, err == nil, err
}

// meter reads usage at moments and keeps the first error; without process ids it reads nothing.
type meter struct {
	server *server
	known  bool
	err    error
}

func newMeter(s *server) *meter {
	return &meter{server: s, known: s.child != nil || len(s.options.PIDs) > 0}
}

func (m *meter) read() usage {
	if !m.known || m.err != nil {
		return usage{written: -1}
	}
	var u usage
	u, m.err = m.server.usage()
	return u
}

// inFolder runs f with a new folder that is removed afterwards.
func (o *Options) inFolder(f func(dir string) error) error {
	dir, err := os.MkdirTemp(o.TempDir, "gnocco-bench-")
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(dir)
	return f(dir)
}

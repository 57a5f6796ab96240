package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gnocco-db/gnocco/internal/loopback"
)

// child is a process of ours that listens on a loopback port.
type child struct {
	url  string
	cmd  *exec.Cmd
	log  string // file with its standard output and error
	done chan struct{}
	err  error // of Wait; valid once done is closed
}

// startWait is how long a child may take until it answers; one that replays a long log takes a while.
const startWait = 2 * time.Minute

// stopWait is how long a child may take to checkpoint and end after SIGTERM.
const stopWait = 5 * time.Minute

// startChild runs binary with args, in which LISTEN stands for the address, also as a part, and returns once path is
// answered. Its output is appended to the file log.
func startChild(ctx context.Context, binary, log, path string, args ...string) (*child, error) {
	address, err := loopback.Free()
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "LISTEN", address)
	}
	c := &child{url: "http://" + address, cmd: exec.Command(binary, args...), log: log, done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = out, out
	// Our own interrupt must not reach it before we stop it: the keyboard signals a whole process group.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("bench: start %s: %w", binary, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	if err := c.awaitAnswer(ctx, path); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

func (c *child) awaitAnswer(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode < 300 {
				return nil
			}
		}
		select {
		case <-c.done:
			return fmt.Errorf("bench: %s ended at once: %w\n%s", filepath.Base(c.cmd.Path), c.err, c.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("bench: %s did not answer: %w\n%s", filepath.Base(c.cmd.Path), ctx.Err(), c.lastWords())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// lastWords returns the end of its output.
func (c *child) lastWords() string {
	text, _ := os.ReadFile(c.log)
	return string(text[max(0, len(text)-2000):])
}

// stop ends it by SIGTERM and returns what it used in its whole life.
func (c *child) stop() (usage, error) {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return usage{}, err
	}
	select {
	case <-c.done:
	case <-time.After(stopWait):
		c.kill()
		return usage{}, fmt.Errorf("bench: %s did not end within %v of SIGTERM\n%s", filepath.Base(c.cmd.Path),
			stopWait, c.lastWords())
	}
	if c.err != nil {
		return usage{}, fmt.Errorf("bench: %s: %w\n%s", filepath.Base(c.cmd.Path), c.err, c.lastWords())
	}
	return endedUsage(c.cmd.ProcessState), nil
}

// kill ends it, if it has not, without a goodbye.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

package main_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// A copy that follows a server takes its place after a kill, with every measure that it had; then its follower ends.
// The commands are those of the page.
func TestCopyTakesThePlace(t *testing.T) {
	withoutCredentials(t)
	dir := t.TempDir()
	data, to := filepath.Join(dir, "data"), filepath.Join(dir, "copy")
	command := func(block int, begins, data string) []string {
		blocks := shellBlocks(t, "../../docs/how-to/two-machines.md")
		if len(blocks) < 2 || !strings.HasPrefix(blocks[block], begins) {
			t.Fatalf("the page has the commands %q", blocks)
		}
		inPlace := strings.NewReplacer("/srv/gnocco", data, "s3://backups/gnocco", to, "5s", "200ms")
		return strings.Fields(inPlace.Replace(blocks[block]))
	}
	s := serve(t, "--data", data)
	s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name": "low", "name": "m"}`, http.StatusCreated, nil)
	var metrics []struct{ ID string }
	s.call(http.MethodGet, "/v1/metric", "", http.StatusOK, &metrics)
	path := "/v1/metric/" + metrics[0].ID + "/measures"
	follow := exec.Command(program, command(0, "gnocco backup ", data)[1:]...)
	var out, errs bytes.Buffer
	follow.Stdout, follow.Stderr = &out, &errs
	fatal.If(t, testprogram.EndWithTest(follow).Start())
	ended := make(chan error, 1)
	go func() { ended <- follow.Wait() }()
	defer func() { _ = follow.Process.Kill() }()
	s.call(http.MethodPost, path, `[{"timestamp": "2026-01-01T00:00:00", "value": 1}, {"timestamp": "2026-01-01T00:05:00", "value": 3}]`,
		http.StatusAccepted, nil)
	acknowledged := time.Now()
	want := s.measures(path + "?refresh=true")
	for { // until the copy has it, as the server says
		var backups []struct {
			Begun   time.Time `json:"begun_at"`
			Follows bool      `json:"follows"`
			Error   string    `json:"error"`
		}
		s.call(http.MethodGet, "/v1/backups", "", http.StatusOK, &backups)
		if len(backups) == 1 && backups[0].Follows && backups[0].Error == "" && backups[0].Begun.After(acknowledged) {
			break
		}
		if time.Since(acknowledged) > time.Minute {
			t.Fatalf("no copy follows: %v\n%s%s", backups, out.String(), errs.String())
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, stderr, status := run(t, "", "status", "--url", s.url); status != 0 || !strings.Contains(stderr, "the copy in "+to+" is ") {
		t.Errorf("status %d: %s", status, stderr)
	}
	s.end(syscall.SIGKILL)
	standby := serve(t, command(1, "gnocco serve ", filepath.Join(dir, "standby"))[2:]...)
	if found := standby.measures(path + "?refresh=true"); found != want {
		t.Errorf("the copy has\n%s\nwant\n%s", found, want)
	}
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(errs.String(), "taken the place") {
			t.Errorf("the follower ends with %v: %s", err, errs.String())
		}
	case <-time.After(time.Minute):
		t.Errorf("the follower goes on: %s", errs.String())
	}
	// A folder with a cluster is served as it is.
	standby.end(syscall.SIGTERM)
	again := serve(t, "--data", filepath.Join(dir, "standby"), "--restore-from", filepath.Join(dir, "nowhere"))
	if found := again.measures(path); found != want {
		t.Errorf("after a restart\n%s\nwant\n%s", found, want)
	}
}

// A disk that dies damages the last backups first. The cluster that takes its place is made of the newest whole one.
// The command says so, and --backup names another.
func TestWholeBackupTakesThePlace(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	dir := t.TempDir()
	data, to := filepath.Join(dir, "data"), filepath.Join(dir, "copy")
	serve(t, "--data", data).end(syscall.SIGTERM)
	if _, stderr, status := run(t, "", "backup", "--data", data, "--to", to); status != 0 {
		t.Fatal(stderr)
	}
	manifests, err := filepath.Glob(filepath.Join(data, "sacks", "000", "e*", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, name := range manifests {
		content, err := os.ReadFile(name)
		fatal.If(t, err)
		for i := range content {
			content[i] ^= 1
		}
		fatal.If(t, os.WriteFile(name, content, 0o640))
	}
	time.Sleep(time.Second) // names of backups have seconds
	if out, stderr, status := run(t, "", "backup", "--data", data, "--to", to, "--patience", "1s"); status != 2 {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	out, stderr, status := run(t, "", "restore", "--from", to, "--data", filepath.Join(dir, "whole"), "--succeed")
	if status != 0 || !strings.Contains(stderr, "is not whole") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	newest := regexp.MustCompile(`--backup (\S+)`).FindStringSubmatch(stderr)
	if newest == nil {
		t.Fatal("the newest is not named: ", stderr)
	}
	out, stderr, status = run(t, "", "restore", "--from", to, "--data", filepath.Join(dir, "newest"), "--backup", newest[1])
	if status != 2 {
		t.Errorf("the newest: status %d: %s%s", status, out, stderr)
	}
}

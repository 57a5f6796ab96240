package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// shellBlocks returns the shell commands of a page, block by block.
func shellBlocks(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	fatal.If(t, err)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// shell runs commands below a folder in which bin/gnocco is the program, ends the processes that they leave behind, and
// returns what they print.
func shell(t *testing.T, commands string) string {
	t.Helper()
	dir := t.TempDir()
	fatal.If(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	fatal.If(t, os.Symlink(program, filepath.Join(dir, "bin", "gnocco")))
	out, err := os.Create(filepath.Join(dir, "out")) // no pipe: a process that is left behind would hold it
	fatal.If(t, err)
	defer out.Close()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	fatal.If(t, cmd.Start())
	limit := time.AfterFunc(2*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	limit.Stop()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	text, _ := os.ReadFile(out.Name())
	if err != nil {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, name := range logs {
			log, _ := os.ReadFile(name)
			text = fmt.Appendf(text, "\n%s:\n%s", filepath.Base(name), log)
		}
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// The README's commands for a server do what it says, one after the other.
func TestREADME(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	defer s.end(syscall.SIGTERM)
	var commands string
	for _, block := range shellBlocks(t, "../../README.md") {
		if strings.Contains(block, "$url") {
			commands += strings.ReplaceAll(block, "url=http://127.0.0.1:8041\n", "url="+s.url+"\n") + "\necho\n"
		}
	}
	if !strings.Contains(commands, s.url) {
		t.Fatalf("the address is not among\n%s", commands)
	}
	printed := shell(t, commands)
	for _, want := range []string{
		", 300.0, 21.5]]", // the mean of five minutes
		`"21.5"`,          // PromQL
		`["2026-01-01T12:05:00+00:00", 60.0, 2.5]`, // from the CSV file
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("%s is not in\n%s", want, printed)
		}
	}
}

// So does the one that starts the demo, but for building: the first that is printed is the address of the console.
func TestREADMEDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	for _, block := range shellBlocks(t, "../../README.md") {
		if block == "make demo\n" {
			printed := shell(t, strings.Replace(block, "make demo",
				"bin/gnocco demo --data data --listen 127.0.0.1:0 --min-free-bytes 1MiB 2>logs >printed &", 1)+
				"for i in $(seq 300); do grep -qs . printed && break; sleep 0.2; done; cat printed\n")
			if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/ui/\n`).MatchString(printed) {
				t.Errorf("no address comes first in %q", printed)
			}
			return
		}
	}
	t.Error("there is no such block")
}

// So do those that start several processes on one folder.
func TestREADMESeveralProcesses(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	address := listener.Addr().String()
	listener.Close()
	for _, block := range shellBlocks(t, "../../README.md") {
		if !strings.Contains(block, "bin/gnocco metricd") {
			continue
		}
		commands := strings.NewReplacer(
			"make build\n", "",
			"127.0.0.1:8051", address,
			"gnocco metricd", "gnocco metricd --listen 127.0.0.1:0",
			"sleep 2\n", "for i in $(seq 300); do curl -fs http://"+address+
				"/ready >/dev/null && break; sleep 0.2; done\n",
		).Replace(block)
		if printed := shell(t, commands); !strings.Contains(printed, `"members"`) {
			t.Errorf("no members in\n%s", printed)
		}
		return
	}
	t.Error("there is no such block")
}

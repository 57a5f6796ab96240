package main_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An export of each form that is interrupted says how to go on, and both files together are the whole.
func TestExportsGoOn(t *testing.T) {
	withoutCredentials(t)
	server := func() *served {
		s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
		s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
		return s
	}
	first := server()
	random := rand.New(rand.NewPCG(5, 6))
	rows := "time,a,b,c,d,e,f,g,h,i,j\n"
	for i := range 1000 {
		rows += fmt.Sprint(1767225600 + i)
		for range 10 {
			rows += fmt.Sprintf(",%v", random.NormFloat64())
		}
		rows += "\n"
	}
	if _, stderr, status := run(t, rows, "import", "csv", "--url", first.url, "--resource", "it's a house",
		"--archive-policy", "seconds", "-"); status != 0 {
		t.Fatal(stderr)
	}
	whole, _, _ := run(t, "", "export", "csv", "--url", first.url)
	goOn := regexp.MustCompile(`to go on here: (--from .*)\)\n`)
	for _, form := range []string{"csv", "jsonl", "prometheus", "archive"} {
		cmd := exec.Command(program, "export", form, "--url", first.url)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begin := make([]byte, 1000)
		if _, err := io.ReadFull(out, begin); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(out) // the command waits for room in the pipe
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it ends with a status
		from := goOn.FindStringSubmatch(stderr.String())
		if from == nil {
			t.Fatalf("%s: %s", form, stderr.String())
		}
		shell := exec.Command("sh", "-c", `"$0" export "$1" --url "$2" `+from[1], program, form, first.url)
		second, err := shell.Output()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		files := []string{filepath.Join(dir, "1"), filepath.Join(dir, "2")}
		contents := [][]byte{append(begin, rest...), second}
		if form == "archive" {
			files, contents = files[:1], [][]byte{append(contents[0], second...)}
		}
		for i, content := range contents {
			if err := os.WriteFile(files[i], content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if form == "prometheus" {
			all, _, _ := run(t, "", "export", form, "--url", first.url)
			lines := strings.Split(string(begin)+string(rest)+string(second), "\n")
			slices.Sort(lines)
			lines = slices.Compact(lines)
			wanted := strings.Split(all, "\n")
			slices.Sort(wanted)
			if !slices.Equal(lines, wanted) {
				t.Errorf("%s: %d lines, not %d", form, len(lines), len(wanted))
			}
			continue
		}
		other := server()
		for _, file := range files {
			if _, stderr, status := run(t, "", "import", form, "--url", other.url, file); status != 0 {
				t.Errorf("%s %s: status %d, %s", form, file, status, stderr)
			}
		}
		if got, _, _ := run(t, "", "export", "csv", "--url", other.url); got != whole {
			t.Errorf("%s: %d bytes of CSV are %d others", form, len(whole), len(got))
		}
		other.end(syscall.SIGTERM)
	}
}

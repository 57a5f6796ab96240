package main_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
)

// The cluster knows the backups that were made of it, and those that failed.
func TestBackupsAreListed(t *testing.T) {
	withoutCredentials(t)
	t.Setenv("USER", "sre")
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	prepareServer(s)
	list := func(want string) {
		t.Helper()
		stdout, stderr, status := run(t, "", "list", "backups", "-o", "csv", "--url", s.url)
		if status != 0 || !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("status %d, %s%s", status, stdout, stderr)
		}
	}
	const header = `^begun,seconds,user,to,files,bytes,new bytes,incremental,behind,error\n`
	list(header + "$")
	to := filepath.Join(t.TempDir(), "backups")
	for range 2 {
		if _, stderr, status := run(t, "", "backup", "--data", data, "--to", to); status != 0 || stderr != "" {
			t.Fatalf("status %d, %s", status, stderr)
		}
	}
	within := filepath.Join(data, "b")
	if _, stderr, status := run(t, "", "backup", "--data", data, "--to", within); status != 1 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	const begun = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,\d+,sre@[^,]+,`
	list(header + begun + within + ",0,0,0,false,,.* is within the other.*\n" + begun + to + `,[1-9]\d*,[1-9]\d*,\d+,true,,\n` +
		begun + to + `,[1-9]\d*,([1-9]\d*),[1-9]\d*,false,,\n$`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/backups", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("somebody", "")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("somebody gets %s", answer.Status)
	}

	// The next process finds when the last one ended that did not fail.
	s.end(syscall.SIGTERM)
	backups, err := backup.Records(&datafolder.Folder{Path: data})
	if err != nil || len(backups) != 3 {
		t.Fatalf("%d backups: %v", len(backups), err)
	}
	s = serve(t, "--data", data)
	want := fmt.Sprintf("\ngnocco_backup_last_success_timestamp_seconds %g\n", float64(backups[1].Ended.Unix()))
	var figures []byte
	for range 100 { // it is read apart from the start
		answer, err := http.Get(s.url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		figures, err = io.ReadAll(answer.Body)
		answer.Body.Close()
		if err == nil && strings.Contains(string(figures), want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("not%sin\n%s", want, figures)
}

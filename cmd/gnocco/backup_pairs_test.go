package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A backup of a pair is restored as the same series, from archives and from measures that wait. The pair goes on in
// that server without a reset.
func TestBackupOfAPair(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	dir := t.TempDir()
	begin := time.Now().Add(-2 * time.Hour).Truncate(time.Hour) // a checkpoint forgets what is before the hour before
	pairing := func(folder string) *served {
		return serve(t, "--data", filepath.Join(dir, folder), "--replica-labels", "__replica__")
	}
	push := func(s *served, from, to int) {
		var lines strings.Builder
		for i := from; i < to; i++ {
			for k, replica := range []string{"a", "b"} {
				if k == 0 && i/40%2 == 1 {
					continue // it is down
				}
				at := begin.Add(time.Duration(15*i+7*k) * time.Second)
				fmt.Fprintf(&lines, "# TYPE x_total counter\nx_total{__replica__=%q} %v %d\n", replica,
					2*at.Sub(begin).Seconds(), at.UnixMilli())
			}
		}
		s.call(http.MethodPost, "/api/v1/import/prometheus", lines.String(), http.StatusNoContent, nil)
	}
	exported := func(s *served) string {
		request, err := http.NewRequest(http.MethodGet, s.url+"/api/v1/export?match[]=x_total&start=0", nil)
		fatal.If(t, err)
		request.SetBasicAuth("admin", "")
		answer, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		fatal.If(t, err)
		return string(text)
	}
	value := func(s *served, query string) string {
		var answer struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		at := begin.Add(400 * 15 * time.Second).Unix()
		s.call(http.MethodGet, fmt.Sprintf("/api/v1/query?time=%d&query=%s", at, url.QueryEscape(query)), "", http.StatusOK,
			&answer)
		if len(answer.Data.Result) != 1 {
			t.Fatalf("%s: %v", query, answer.Data.Result)
		}
		return fmt.Sprint(answer.Data.Result[0].Value[1])
	}
	s := pairing("data")
	push(s, 0, 300)
	if _, stderr, status := run(t, "", "backup", "--data", filepath.Join(dir, "data"), "--to",
		filepath.Join(dir, "backup")); status != 0 {
		t.Fatal(stderr)
	}
	want := exported(s)
	if strings.Count(want, "\n") != 1 || !strings.Contains(want, "x_total") {
		t.Fatal("not one series:\n", want)
	}
	s.end(syscall.SIGKILL)
	if _, stderr, status := run(t, "", "restore", "--from", filepath.Join(dir, "backup"), "--data",
		filepath.Join(dir, "restored")); status != 0 {
		t.Fatal(stderr)
	}
	restored := pairing("restored")
	if found := exported(restored); found != want {
		t.Errorf("restored\n%s\nwant\n%s", found, want)
	}
	whole := pairing("whole")
	push(whole, 0, 400)
	push(restored, 300, 400)
	for _, s := range []*served{restored, whole} { // what was pushed is read once it is processed
		eventually(t, fmt.Sprintf("%s/api/v1/query?time=%d&query=x_total", s.url, begin.Add(6000*time.Second).Unix()),
			`"value":[`)
	}
	for _, query := range []string{"count(x_total)", "resets(x_total[2h])", "count_over_time(x_total[100m])",
		"increase(x_total[100m])"} {
		if got, want := value(restored, query), value(whole, query); got != want {
			t.Errorf("%s is %s, and %s of a server that was never restored", query, got, want)
		}
	}
	if got := value(restored, "resets(x_total[2h])"); got != "0" {
		t.Errorf("%s resets", got)
	}
}

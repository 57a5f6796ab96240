package main_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

var (
	killRounds = flag.Int("kill.rounds", 2, "rounds of TestKilledWithItsFolder")
	killEvery  = flag.Duration("kill.every", 300*time.Millisecond, "--every of its followers")
	killPause  = flag.Duration("kill.pause", 0, "between two requests of its client")
)

var listedBegin = regexp.MustCompile(`begun (\S+),`)

// A server dies together with its folder at a random moment, while its follower goes on. The copy has everything that
// was acknowledged before its newest backup began, nothing twice, and answers as a server that got the same measures.
func TestKilledWithItsFolder(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	rounds, every := *killRounds, *killEvery
	random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	var windows []time.Duration
	for round := range rounds {
		windows = append(windows, killWithFolder(t, every, every+time.Duration(random.Int64N(int64(2*every)))))
		t.Logf("round %d: %s", round, windows[round].Round(time.Millisecond))
	}
	slices.Sort(windows)
	t.Logf("acknowledged and lost in %d kills, every %s: median %s, p99 %s, most %s", rounds, every, windows[rounds/2],
		windows[rounds*99/100], windows[rounds-1])
}

// killWithFolder kills a server after a while of load, and returns for how long before the kill it acknowledged
// measures that the copy lacks.
func killWithFolder(t *testing.T, every, load time.Duration) time.Duration {
	t.Helper()
	const metrics = 3
	dir := t.TempDir()
	data, to := filepath.Join(dir, "data"), filepath.Join(dir, "copy")
	s := serve(t, "--data", data, "--checkpoint-interval", "1s")
	newMetrics := func(s *served) (ids []string) {
		for range metrics {
			var metric struct{ ID string }
			s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name": "low"}`, http.StatusCreated, &metric)
			ids = append(ids, metric.ID)
		}
		return ids
	}
	send := func(s *served, ids []string, from, to int) {
		var body strings.Builder
		for i, id := range ids {
			fmt.Fprintf(&body, `%c"%s": [`, "{,"[min(i, 1)], id)
			for n := from; n < to; n++ {
				fmt.Fprintf(&body, `%s{"timestamp": %d, "value": %d}`, ","[:min(n-from, 1)], 1_700_000_000+100*n, n%7+i)
			}
			body.WriteString("]")
		}
		s.call(http.MethodPost, "/v1/batch/metrics/measures", body.String()+"}", http.StatusAccepted, nil)
	}
	answers := func(s *served, id string) (text string) {
		for _, method := range []string{"count", "sum", "mean", "min", "max", "std"} {
			text += s.measures("/v1/metric/"+id+"/measures?refresh=true&reaggregation="+method+"&aggregation=mean") + "\n"
		}
		return text
	}
	ids := newMetrics(s)
	follow := exec.Command(program, "backup", "--data", data, "--to", to, "--every", every.String())
	var errs bytes.Buffer
	follow.Stderr = &errs
	fatal.If(t, testprogram.EndWithTest(follow).Start())
	defer func() { _ = follow.Process.Kill(); _ = follow.Wait() }()
	begins := func() []time.Time { return backupsBegun(t, to) }
	for deadline := time.Now().Add(time.Minute); len(begins()) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no copy: ", errs.String())
		}
	}
	var acknowledged []time.Time
	for end := time.Now().Add(load); time.Now().Before(end); {
		send(s, ids, len(acknowledged), len(acknowledged)+1)
		acknowledged = append(acknowledged, time.Now())
		time.Sleep(*killPause)
	}
	killed := time.Now()
	s.end(syscall.SIGKILL)
	for os.RemoveAll(data) != nil { // the follower writes its record there
	}
	time.Sleep(every) // the follower meets what is left
	all := begins()
	standby := serve(t, "--data", filepath.Join(dir, "standby"), "--restore-from", to)
	defer standby.end(syscall.SIGTERM)
	lost := time.Duration(0)
	for i, id := range ids {
		count := 0
		for line := range strings.Lines(standby.measures("/v1/metric/" + id + "/measures?refresh=true&aggregation=count")) {
			fields := strings.Fields(line)
			n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			fatal.If(t, err)
			if fields[1] == "300" {
				count += int(n)
			}
		}
		if count < len(acknowledged) {
			lost = max(lost, killed.Sub(acknowledged[count]))
			if newest := all[len(all)-1]; acknowledged[count].Before(newest) {
				t.Errorf("measure %d of %d was acknowledged at %s, and the copy of %s lacks it", count, len(acknowledged),
					acknowledged[count], newest)
			}
		}
		if count == 0 {
			continue
		}
		twin := newMetrics(standby)
		send(standby, twin, 0, count)
		if found, want := answers(standby, id), answers(standby, twin[i]); found != want {
			t.Errorf("the copy answers\n%s\nand a server with the same measures\n%s", found, want)
		}
	}
	return lost
}

// backupsBegun returns when the backups of a repository began, to the second before.
func backupsBegun(t *testing.T, to string) (all []time.Time) {
	t.Helper()
	out, _, _ := run(t, "", "restore", "--from", to, "--list")
	for _, m := range listedBegin.FindAllStringSubmatch(out, -1) {
		begun, err := time.Parse(time.RFC3339, m[1])
		fatal.If(t, err)
		all = append(all, begun)
	}
	return all
}

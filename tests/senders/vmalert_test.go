package senders_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"testing"
)

// The alerts of deploy/alerts work with Gnocco alone: vmagent scrapes a process that is down, vmalert asks Gnocco, and
// writes the state of its alerts back.
func TestVmalert(t *testing.T) {
	agent, program := installed(t, "vmagent"), installed(t, "vmalert")
	t.Parallel()
	s, _ := start(t, nil)
	config := write(t, "scrape.yml",
		"scrape_configs:\n- {job_name: gnocco, scrape_interval: 1s, static_configs: [{targets: [%q]}]}\n",
		freeAddress(t))
	launch(t, agent, "-promscrape.config="+config, "-remoteWrite.url="+s.URL()+"/api/v1/write",
		"-remoteWrite.basicAuth.username=admin", "-remoteWrite.basicAuth.password=unused",
		"-remoteWrite.tmpDataPath="+filepath.Join(t.TempDir(), "queue"), "-remoteWrite.flushInterval=1s",
		"-httpListenAddr="+freeAddress(t))
	args := []string{"-rule=../../deploy/alerts/gnocco.yml", "-evaluationInterval=1s",
		"-notifier.url=http://" + freeAddress(t),
		"-remoteWrite.flushInterval=1s", "-httpListenAddr=" + freeAddress(t)}
	for _, use := range []string{"datasource", "remoteWrite", "remoteRead"} {
		args = append(args, "-"+use+".url="+s.URL(), "-"+use+".basicAuth.username=admin",
			"-"+use+".basicAuth.password=unused")
	}
	launch(t, program, args...)
	eventually(t, func() string {
		answer, err := ask(t, s.URL(), "query", url.Values{"query": {`count by (alertname, alertstate, job) (ALERTS)`}})
		want := `{alertname="GnoccoDown", alertstate="pending", job="gnocco"} [1]`
		if err != nil || len(answer) != 1 || fmt.Sprintf("%s %v", answer[0].labels, answer[0].values) != want {
			return fmt.Sprintf("%v %v, want %s", answer, err, want)
		}
		return ""
	})
}

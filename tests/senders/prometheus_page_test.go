package senders_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// blocksOf returns the blocks of a page of docs/send in a language, with addresses replaced.
func blocksOf(t *testing.T, page, language string, replacements ...string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/send/" + page)
	check(t, err)
	for _, m := range block.FindAllSubmatch(text, -1) {
		if string(m[1]) == language {
			blocks = append(blocks, strings.NewReplacer(replacements...).Replace(string(m[2])))
		}
	}
	if blocks == nil {
		t.Fatalf("%s has no %s", page, language)
	}
	return blocks
}

// pageScraped waits until the exporter's series are there with all labels.
func pageScraped(t *testing.T, server, exporter string) {
	t.Helper()
	rows := strings.Count(exposition(1), "\n") - strings.Count(exposition(1), "# TYPE")
	query := fmt.Sprintf(`count({__name__=~"demo_.+",job="node",instance=%q})`, strings.TrimPrefix(exporter, "http://"))
	eventually(t, func() string {
		answer, err := ask(t, server, "query", url.Values{"query": {query}})
		if err != nil || len(answer) != 1 || int(answer[0].values[0]) != rows {
			return fmt.Sprintf("%s: %v %v, want %d", query, answer, err, rows)
		}
		return ""
	})
}

// Prometheus runs with the configuration of docs/send/prometheus.md.
func TestPrometheusPage(t *testing.T) {
	program := installed(t, "prometheus")
	t.Parallel()
	s, _ := start(t, nil)
	exporter := startExporter(t)
	config := blocksOf(t, "prometheus.md", "yaml", "127.0.0.1:8041", strings.TrimPrefix(s.URL(), "http://"),
		"127.0.0.1:9100", strings.TrimPrefix(exporter, "http://"), "15s", "1s")[0]
	launch(t, program, "--config.file="+write(t, "prometheus.yml", "%s", config),
		"--storage.tsdb.path="+filepath.Join(t.TempDir(), "tsdb"), "--web.listen-address="+freeAddress(t))
	pageScraped(t, s.URL(), exporter)
}

// vmagent runs with the command line of docs/send/prometheus.md.
func TestVmagentPage(t *testing.T) {
	program := installed(t, "vmagent")
	t.Parallel()
	s, _ := start(t, nil)
	exporter := startExporter(t)
	config := blocksOf(t, "prometheus.md", "yaml", "127.0.0.1:9100", strings.TrimPrefix(exporter, "http://"), "15s", "1s")[0]
	scrape, _, _ := strings.Cut(config, "remote_write:")
	args := strings.Fields(blocksOf(t, "prometheus.md", "sh", "127.0.0.1:8041", strings.TrimPrefix(s.URL(), "http://"),
		"scrape.yml", write(t, "scrape.yml", "%s", scrape))[0])
	launch(t, program, append(args[1:], "-remoteWrite.tmpDataPath="+filepath.Join(t.TempDir(), "queue"),
		"-remoteWrite.flushInterval=1s", "-httpListenAddr="+freeAddress(t))...)
	pageScraped(t, s.URL(), exporter)
}

// The programs of docs/send/python.md send what they say.
func TestPythonPage(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	t.Parallel()
	p := startProcess(t)
	run := func(python, script string) string {
		out, err := exec.Command(python, "-c", script).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	scripts := blocksOf(t, "python.md", "python", "127.0.0.1:8041", p.address)
	run(python, scripts[0])
	reads(t, p.url(), "jobs_total", `jobs_total{host="web-1", queue="mail"}`, 12)
	reads(t, p.url(), "room_celsius", `room_celsius{room="north"}`, 21.5)
	if python = "/usr/bin/python3"; exec.Command(python, "-c", "import gnocchiclient").Run() != nil {
		t.Skip("python3-gnocchiclient is not installed")
	}
	if out := run(python, scripts[1]); !strings.Contains(out, ", 21.5)]") {
		t.Errorf("gnocchiclient reads %s", out)
	}
}

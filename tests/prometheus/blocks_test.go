package prometheus_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/tsdbutil"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// `gnocco import blocks` reads what tsdb writes.
func TestBlocksOfTSDB(t *testing.T) {
	const start = 1767225600000
	blocks := t.TempDir()
	var floats []chunks.Sample
	for i := range 500 {
		floats = append(floats, promtest.Sample{MS: start + int64(i)*15_000, Value: float64(i%7) / 4})
	}
	_, err := tsdb.CreateBlock([]storage.Series{
		storage.NewListSeries(labels.FromStrings("__name__", "up", "job", "a"), floats),
		storage.NewListSeries(labels.FromStrings("__name__", "h"), []chunks.Sample{promtest.Sample{MS: start,
			Histogram: tsdbutil.GenerateTestFloatHistogram(1)}}),
	}, blocks, 0, slog.New(slog.DiscardHandler))
	fatal.If(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		policy := `{"name":"p","back_window":0,"aggregation_methods":["mean"],
			"definition":[{"granularity":"0:00:15","timespan":"365 days, 0:00:00","points":2102400}]}`
		if strings.HasSuffix(r.URL.Path, "/archive_policy") {
			policy = "[" + policy + "]"
		}
		_, _ = io.WriteString(w, policy)
	}))
	defer server.Close()
	programs, err := testprogram.Build("gnocco", "gnocco-import")
	fatal.If(t, err)
	command := exec.Command(filepath.Join(programs, "gnocco"), "import", "blocks", "--dry-run", "--url", server.URL,
		"--archive-policy", "p", blocks)
	out, err := command.CombinedOutput()
	if status := command.ProcessState.ExitCode(); status != 0 {
		t.Errorf("%v, status %d", err, status)
	}
	for _, want := range []string{"511 measures of 12 metrics", "1 native histogram, ", "dry run"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

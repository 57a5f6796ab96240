package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/counted"
)

// A file that was cut anywhere says so, with the line. Its whole metrics are imported, and the whole file completes
// them.
func TestCutArchivesAreImportedAgain(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	server := func() *served { return serve(t, "--data", filepath.Join(t.TempDir(), "data")) }
	s := server()
	prepareServer(s)
	for _, metric := range []string{"{%s}", "{%s}", "{%s}", `{%s,"name":"alone"}`, `{%s,"name":"alone"}`} {
		var created struct {
			ID string `json:"id"`
		}
		s.call(http.MethodPost, "/v1/metric", fmt.Sprintf(metric, `"archive_policy_name":"seconds"`), http.StatusCreated,
			&created)
		s.call(http.MethodPost, "/v1/metric/"+created.ID+"/measures", `[{"timestamp":1767225600,"value":4}]`,
			http.StatusAccepted, nil)
	}
	fillServer(t, s, 12, 1767225600)
	whole, stderr, status := run(t, "", "export", "archive", "--url", s.url)
	if status != 0 {
		t.Fatal(stderr)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	other := server()
	dir := t.TempDir()
	imported := func(content string) (stderr string, status int) {
		t.Helper()
		file := filepath.Join(dir, "all.jsonl")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, status = run(t, "", "import", "archive", "--url", other.url, file)
		return strings.ReplaceAll(stderr, dir, ""), status
	}
	metrics, before, policies := 0, "", 0
	for n, line := range lines {
		content, metric := strings.HasPrefix(line, `{"content"`), strings.HasPrefix(line, `{"metric"`)
		switch {
		case metrics < 3 && !content && !metric:
			policies++ // a run each would take long
		case metrics > 8 && metrics < 14:
		default:
			files := []string{before + line[:len(line)/2]}
			if n > policies && n < len(lines) {
				files = append(files, before) // a file that ends with a whole line
			}
			for i, file := range files {
				want := fmt.Sprintf("gnocco: /all.jsonl: line %d: the export was cut here.", n+1)
				if stderr, status := imported(file); status != 1 || !strings.Contains(stderr, want) ||
					!strings.Contains(stderr, counted.Of(metrics, "metric")+" there") {
					t.Errorf("before line %d of %d, %d: status %d, %s", n+1, len(lines), i, status, stderr)
				}
			}
		}
		if content {
			metrics++
		}
		before += line
	}
	for _, file := range []string{whole, whole} {
		if stderr, status := imported(file); status != 0 || !strings.Contains(stderr,
			counted.Of(metrics, "metric")+" there") {
			t.Fatalf("status %d, %s", status, stderr)
		}
		got, _, _ := run(t, "", "export", "archive", "--url", other.url)
		if sortedMetrics(got) != sortedMetrics(whole) {
			t.Fatalf("the export differs: %s", firstDifference(sortedMetrics(got), sortedMetrics(whole)))
		}
	}
	if stderr, status := imported(before + "{]"); status != 1 || !strings.Contains(stderr,
		fmt.Sprintf("/all.jsonl: line %d: invalid character", len(lines)+1)) {
		t.Errorf("of no export: status %d, %s", status, stderr)
	}
}

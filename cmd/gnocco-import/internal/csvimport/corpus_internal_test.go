package csvimport

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/imports"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/outcomes.txt")

// A corpus of files as loggers, spreadsheets and people write them: each is read as testdata/outcomes.txt says, which
// lists the flags, the exit status, the messages and the measures. A message names all that is dropped or renamed.
func TestCorpus(t *testing.T) {
	const table = "testdata/outcomes.txt"
	text, err := os.ReadFile(table)
	fatal.If(t, err)
	server := corpusServer(t)
	var got strings.Builder
	seen := make(map[string]bool)
	cases := strings.Split("\n"+string(text), "\n== ")[1:]
	for _, outcome := range cases {
		command, _, _ := strings.Cut(outcome, "\n")
		command = strings.TrimSpace(command)
		name, _, _ := strings.Cut(command, " ")
		seen[name] = true
		result := fmt.Sprintf("== %s\n%s\n", command, corpusOutcome(t, server, strings.Fields(command)))
		got.WriteString(result)
		if want := "== " + strings.TrimSpace(outcome) + "\n"; !*rewrite && strings.TrimSpace(result)+"\n" != want {
			t.Errorf("got\n%s\nwant\n%s", result, want)
		}
	}
	files, err := os.ReadDir("testdata/files")
	fatal.If(t, err)
	for _, file := range files {
		if !seen[file.Name()] {
			t.Errorf("%s is not in the table", file.Name())
		}
	}
	if len(files) < 60 {
		t.Errorf("%d files", len(files))
	}
	if *rewrite {
		fatal.If(t, os.WriteFile(table, []byte(got.String()), 0o600))
	}
}

// corpusServer has the archive policies of a new server, and no metrics.
func corpusServer(t *testing.T) *requests.Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/archive_policy" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(model.DefaultArchivePolicies())
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{})
	fatal.If(t, err)
	return requests.New(c)
}

// corpusOutcome reads a file with flags as a dry run does.
func corpusOutcome(t *testing.T, server *requests.Client, arguments []string) string {
	var out []string
	status := 0
	fault := func(err error) {
		out = append(out, "error: "+err.Error())
		status = 2
	}
	run := func(read func(*Importer, string, *os.File) error) imports.Run {
		return func(_ *cobra.Command, flags *imports.Options, files []string) error {
			o := Options{Options: *flags, Client: server, Note: func(text string) { out = append(out, strings.Split(text, "\n")...) },
				Reject: func(_ string, line int, reason string) { out = append(out, fmt.Sprintf("line %d: %s", line, reason)) }}
			o.DryRun = true
			i, err := New(o)
			if err != nil {
				return err
			}
			defer i.Close()
			// Files are of 2026 at the latest, whenever the test runs.
			i.latest = timestamp(t, "2027-01-01")
			f, err := os.Open(filepath.Join("testdata/files", files[0]))
			fatal.If(t, err)
			defer f.Close()
			if err = read(i, files[0], f); err == nil {
				err = i.Plan(t.Context())
			}
			if err != nil {
				fault(err)
			}
			if result := i.Result(); !result.Whole() {
				status = 2
			}
			return i.rows.each(func(r *row) error {
				m := i.metrics[r.metric]
				named := m.String()
				if m.labels == "" && m.resource != "csv" {
					named = m.resource + ":" + named
				}
				if m.unit != "" {
					named += " [" + m.unit + "]"
				}
				out = append(out, fmt.Sprintf("  %s %s %v", r.time.Time().UTC().Format("2006-01-02T15:04:05.999999999"), named, r.value))
				return nil
			})
		}
	}
	cmd, _ := imports.NewCSV(run(func(i *Importer, name string, f *os.File) error { return i.File(name, f) }))
	if strings.HasSuffix(arguments[0], ".jsonl") {
		cmd, _ = imports.NewLines(run(func(i *Importer, name string, f *os.File) error { return i.Lines(name, f) }))
	}
	// In the table a blank in a flag is written ␣.
	for i := range arguments {
		arguments[i] = strings.ReplaceAll(arguments[i], "␣", " ")
	}
	cmd.SetArgs(arguments)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err != nil {
		fault(err)
	}
	out = slices.Insert(out, 0, fmt.Sprintf("status %d", status))
	return strings.Join(out, "\n") + "\n"
}

func timestamp(t *testing.T, date string) carbonara.Timestamp {
	parsed, err := time.Parse(time.DateOnly, date)
	fatal.If(t, err)
	return carbonara.Timestamp(parsed.UnixNano())
}

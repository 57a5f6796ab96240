package formats_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/bench/formats"
	"github.com/gnocco-db/gnocco/bench/report"
)

// Every format gets every series, of files and generated; constant columns take next to nothing in ours.
func TestArchive(t *testing.T) {
	folder := t.TempDir()
	text := "timestamp,value\n"
	for i := range 500 {
		text += "2026-01-01 00:00:00," + strconv.Itoa(i%7) + ".5\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "a.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	what := formats.ArchiveOptions{Folder: folder, Groups: 100, PerGroup: []int{1, 12}, Each: true,
		For: time.Nanosecond}
	if err := formats.Archive(t.Context(), report.Run{Report: report.New(&out), Seed: 1}, what); err != nil {
		t.Fatal(err)
	}
	for _, series := range []string{"constant", "zeros", "sine", "random", "a", "files", "decimals"} {
		for _, measures := range []string{"1", "12"} {
			for _, format := range []string{"gnocco", "gnocchi", "gorilla", "float64+zstd1"} {
				line := regexp.MustCompile(`(?m)^BenchmarkArchive/series=` + series + `/measures=` + measures +
					`/format=` + regexp.QuoteMeta(format) +
					` \s+(\d+)\s+(\S+) B/group\s+\S+ encode-MB/s\s+\S+ decode-MB/s`).FindStringSubmatch(out.String())
				if line == nil {
					t.Errorf("no result for %s, %s measures a group, %s", series, measures, format)
					continue
				}
				perGroup, err := strconv.ParseFloat(line[2], 64)
				if err != nil || perGroup <= 0 || series == "zeros" && format == "gnocco" && perGroup > 0.3 {
					t.Errorf("%s", line[0])
				}
			}
		}
	}
	if err := formats.Archive(t.Context(), report.Run{Report: report.New(&out)},
		formats.ArchiveOptions{Folder: t.TempDir()}); err == nil {
		t.Error("a folder without CSV files is taken")
	}
}

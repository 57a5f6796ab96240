package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page has the tables that its data draws: go generate ./tools/figures.
func TestThePageIsWhatTheDataSays(t *testing.T) {
	all, err := readFigures("../../docs/benchmarks/*.csv")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/explain/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := drawPage(string(page), all)
	if err != nil {
		t.Fatal(err)
	}
	if drawn != string(page) {
		t.Error("docs/explain/benchmarks.md is not what docs/benchmarks/*.csv draws: go generate ./tools/figures")
	}
	if marks.FindString(drawn) == "" {
		t.Error("the page has no table")
	}
}

const data = `topic,row,server,metric,value,unit,commit,date,machine
ingest,one,Gnocco,CPU,2.5,s,abc,2026-01-01,two
ingest,one,Other,CPU,3,s,abc,2026-01-01,two
ingest,one,aim,CPU,<= 2,s,abc,2026-01-01,two
ingest,two,Gnocco,,12345,queries/s,def,2026-01-02,two
ingest,two,Other,,900,queries/s,def,2026-01-02,two
ingest,two,aim,,>= 12345,queries/s,def,2026-01-02,two
`

func read(t *testing.T, data string) ([]figure, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "figures.csv")
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return readFigures(name)
}

// The best of a row is bold, the runs are named, and an aim that is missed is listed.
func TestTables(t *testing.T) {
	all, err := read(t, data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := drawPage("A.\n<!-- figures: ingest -->\nold\n<!-- /figures -->\n"+
		"B.\n<!-- figures: missed -->\n<!-- /figures -->\n", all)
	if err != nil {
		t.Fatal(err)
	}
	want := `A.
<!-- figures: ingest -->

|  | Gnocco | Other | aim |
| --- | --- | --- | --- |
| one, CPU, s | **2.5** | 3 | ≤ 2 |
| two, queries/s ¹ | **12,345** | 900 | ≥ 12,345 |

2026-01-01, abc, two; ¹ 2026-01-02, def, two.

<!-- /figures -->
B.
<!-- figures: missed -->

| | Gnocco | aim |
| --- | --- | --- |
| ingest: one, CPU, s | 2.5 | ≤ 2 |

<!-- /figures -->
`
	if got != want {
		t.Errorf("drew\n%s\nwant\n%s", got, want)
	}
	if _, err := drawPage("<!-- figures: absent -->\n<!-- /figures -->", all); err == nil {
		t.Error("a topic without figures has a table")
	}
}

// A figure without its commit, date or number, is refused.
func TestFiguresSayWhereTheyAreFrom(t *testing.T) {
	for _, old := range []string{"abc", "2026-01-01", "2.5", "topic"} {
		if _, err := read(t, strings.Replace(data, old, "", 1)); err == nil {
			t.Errorf("figures without %q are read", old)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

func TestArchiveByFlags(t *testing.T) {
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs([]string{"archive", "--quiet", "--groups=60", "--per-group=1", "--for=1ns"})
	if err := root.ExecuteContext(t.Context()); err != nil ||
		!strings.Contains(out.String(), "\nBenchmarkArchive/series=constant/measures=1/format=gorilla") {
		t.Errorf("%v, output:\n%s", err, out.String())
	}
}

// A benchmark of a server fails at once where there is no gnocco to start.
func TestThereIsNothingToMeasure(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	root := newRoot()
	root.SetArgs([]string{"ingest", "--quiet"})
	if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "no gnocco") {
		t.Errorf("ingest without a server: %v", err)
	}
}

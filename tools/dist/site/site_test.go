package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func written(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The repository's pages have no dead link, are in the navigation, and are found by their headings.
func TestSite(t *testing.T) {
	out := t.TempDir()
	if err := build("../../..", out); err != nil {
		t.Fatal(err)
	}
	page := written(t, out, "how-to/size.html")
	for _, want := range []string{`<h1 id="size-a-server">`,
		`href="../explain/benchmarks.html#a-fleet-that-reports-slowly"`,
		`<a href="size.html" aria-current="page">Size a server</a>`, `<details open><summary>How to</summary>`,
		`<a href="../start/first-metric.html"`, `<script src="../search.js" data-root="..">`} {
		if !strings.Contains(page, want) {
			t.Errorf("how-to/size.html lacks %s", want)
		}
	}
	if !strings.Contains(written(t, out, "search.js"), `["Benchmarks","Ingest","explain/benchmarks.html#ingest"]`) {
		t.Error("the search lacks a heading")
	}
	if !strings.HasPrefix(written(t, out, "files/docs/console.png"), "\x89PNG") {
		t.Error("a picture was not copied")
	}
}

func TestDeadLinks(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"CHANGELOG.md": "# Changelog",
		"docs/README.md": "# A\n[no page](b.md) [no heading](#c) [good](#a) [elsewhere](https://127.0.0.1/x)"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := build(root, t.TempDir())
	const want = "docs/README.md: b.md: no such file\ndocs/README.md: #c: no such heading"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

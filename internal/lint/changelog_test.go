package lint_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var goName = regexp.MustCompile("`[a-z]+\\.[A-Z]\\w*`")

// The changelog is for users: its newest section is that of the version, each kind of change has one list in it, and no
// name of our Go code stands in it. Two lists of fixes once stood in it.
func TestChangelog(t *testing.T) {
	text := pages(t, markdown, "CHANGELOG.md")[0].text
	if name := goName.FindString(text); name != "" {
		t.Errorf("CHANGELOG.md names %s, which no user sees", name)
	}
	for _, m := range inCode.FindAllStringSubmatch(text, -1) {
		if treePath.MatchString(m[1]) && exists(m[1]+"/doc.go") {
			t.Errorf("CHANGELOG.md names the package %s, which no user sees", m[1])
		}
	}
	releases := strings.Split(text, "\n## ")[1:]
	if newest, _, _ := strings.Cut(releases[0], "\n"); newest != version.Number {
		t.Errorf("CHANGELOG.md begins with %q; internal/version says %s", newest, version.Number)
	}
	for _, release := range releases {
		once := make(map[string]bool)
		for _, m := range heading.FindAllString(release, -1) {
			if once[m] {
				t.Errorf("CHANGELOG.md has two lists %q in a release", m)
			}
			once[m] = true
		}
	}
}

// Sentences of pages that give a format's version say what the constant in the code says. The changelog once said 2 of
// the data folder when it was 3.
func TestFormatVersions(t *testing.T) {
	const folder, index = "cluster/datafolder/cluster_file.go: formatVersion", "storage/index/store.go: FormatVersion"
	for _, c := range []struct{ page, sentence, constant string }{
		{"CHANGELOG.md", `- The data folder has format version (\d+),`, folder},
		{"CHANGELOG.md", `- The index has format version (\d+)\.`, index},
		{"CHANGELOG.md", `- Splits and raw series have format version (\d+),`,
			"carbonara/split_vectors.go: splitVectorVersion"},
		{"CHANGELOG.md", `- Splits and raw series have format version (\d+),`,
			"carbonara/raw_vectors.go: rawVectorVersion"},
		{"docs/reference/formats.md", "\\(`format`, (\\d+) now\\)", folder},
		{"docs/reference/formats.md", `\(the index has (\d+)\)`, index},
		{"docs/format/index.md", `format version of the store: one byte, now (\d+)`, index},
		{"docs/format/incoming.md", `## Block, version (\d+)`, "storage/incoming/block.go: blockVersion"},
	} {
		file, name, _ := strings.Cut(c.constant, ": ")
		code, err := os.ReadFile(filepath.Join("..", "..", file))
		fatal.If(t, err)
		want := regexp.MustCompile(`(?m)^(?:const |\t)` + name + ` += (\d+)$`).FindSubmatch(code)
		got := regexp.MustCompile(c.sentence).FindStringSubmatch(strings.Join(strings.Fields(
			pages(t, markdown, c.page)[0].text), " "))
		if want == nil || got == nil || got[1] != string(want[1]) {
			t.Errorf("%s gives %q by %q; %s is %q", c.page, got, c.sentence, c.constant, want)
		}
	}
}

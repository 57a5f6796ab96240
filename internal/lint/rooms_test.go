package lint_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// packages returns the folders of the tree's packages, without those of tests, tools and generators.
func packages(t *testing.T) map[string]bool {
	all := make(map[string]bool)
	for _, file := range files(t) {
		dir := file.dir()
		if dir != "." && !below(dir, "tests") && !below(dir, "tools") && !below(dir, "deploy") &&
			filepath.Base(dir) != "gen" {
			all[dir] = true
		}
	}
	return all
}

// expand returns the names that braces stand for: storage/{index,archive} is two.
func expand(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}
	}
	inner, after, _ := strings.Cut(rest, "}")
	var names []string
	for _, part := range strings.Split(inner, ",") {
		names = append(names, expand(strings.TrimSuffix(before+part, "/")+after)...)
	}
	return names
}

var (
	tableRow      = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	quotedPackage = regexp.MustCompile("`([^`]+)`")
)

// Each package has its line in the table of docs/explain/architecture.md, and its folder at the top a place in the
// boxes of doc.go. The table names no other package.
func TestPackagesAreOnTheMap(t *testing.T) {
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join("..", "..", name))
		fatal.If(t, err)
		return string(content)
	}
	var inTable []string
	_, section, _ := strings.Cut(read("docs/explain/architecture.md"), "## Packages")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range tableRow.FindAllStringSubmatch(section, -1) {
		for _, name := range quotedPackage.FindAllStringSubmatch(row[1], -1) {
			inTable = append(inTable, expand(name[1])...)
		}
	}
	boxes, all := read("doc.go"), packages(t)
	for _, folder := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(inTable, folder) {
			t.Errorf("docs/explain/architecture.md has no line for package %s", folder)
		}
		top, _, _ := strings.Cut(folder, "/")
		if !regexp.MustCompile(`(?m)^//.*\b` + top + `\b`).MatchString(boxes) {
			t.Errorf("doc.go has no place for %s", top)
		}
	}
	for _, name := range inTable {
		if !all[name] && !strings.HasPrefix(name, "tests") && !strings.HasPrefix(name, "tools") {
			t.Errorf("docs/explain/architecture.md names a package %s, which is not there", name)
		}
	}
}

// Each row of the import rules is of a folder that is there.
func TestLayersAreThere(t *testing.T) {
	folders := []string{"."}
	for _, file := range files(t) {
		folders = append(folders, file.dir())
	}
	for layer, allowed := range layers {
		for _, dir := range append(allowed, layer) {
			if dir != "*" && !slices.ContainsFunc(folders, func(folder string) bool { return below(folder, dir) }) {
				t.Errorf("the import rules name %s, which is not there", dir)
			}
		}
	}
}

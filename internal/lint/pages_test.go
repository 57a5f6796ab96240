package lint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	pageLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	pageName = regexp.MustCompile(`\bdocs/[\w./-]*\.md(#[\w-]+)?`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	inCode   = regexp.MustCompile("`([^`\n]+)`")
	treePath = regexp.MustCompile(`^[\w.@-]+(/[\w.@-]+)+/?$`)
	decision = regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
)

// page is a file of text, by its path from the root of the tree.
type page struct{ path, text string }

// pages reads the files below the given paths whose names want accepts.
func pages(t *testing.T, want func(name string) bool, paths ...string) (all []page) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, at := range paths {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(at)),
			func(name string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || !want(entry.Name()) {
					return err
				}
				rel, err := filepath.Rel(root, name)
				if err != nil {
					return err
				}
				text, err := os.ReadFile(name)
				all = append(all, page{filepath.ToSlash(rel), string(text)})
				return err
			})
		fatal.If(t, err)
	}
	return all
}

func markdown(name string) bool { return strings.HasSuffix(name, ".md") }

// exists reports whether the tree has a file or folder of this path.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name)))
	return err == nil
}

// anchors returns the names by which links reach the sections of a page.
func anchors(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(m[1])))] = true
	}
	return all
}

// Links between the pages lead to files and sections, and so do the names of pages in comments: an operator who reads a
// unit file has only these to go by.
func TestLinksResolve(t *testing.T) {
	docs := pages(t, markdown, "docs", "README.md", "CHANGELOG.md")
	sections := make(map[string]map[string]bool)
	for _, p := range docs {
		sections[p.path] = anchors(p.text)
	}
	check := func(from, name, section string) {
		if !exists(name) {
			t.Errorf("%s: there is no %s", from, name)
		} else if section != "" && !sections[name][section] {
			t.Errorf("%s: %s has no section %q", from, name, section)
		}
	}
	for _, p := range docs {
		for _, m := range pageLink.FindAllStringSubmatch(p.text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			name, section, _ := strings.Cut(m[1], "#")
			if name == "" {
				name = p.path
			} else {
				name = path.Join(path.Dir(p.path), name)
			}
			check(p.path, name, section)
		}
	}
	all := func(string) bool { return true }
	others := append(pages(t, all, "deploy", "Makefile", ".ci", "tools", "openapi.yaml"), sources(t)...)
	found := 0
	for _, p := range others {
		for _, m := range pageName.FindAllString(p.text, -1) {
			name, section, _ := strings.Cut(m, "#")
			check(p.path, name, section)
			found++
		}
	}
	if found < 10 {
		t.Errorf("found only %d names of pages outside of them", found)
	}
}

// sources returns the text of the comments of all Go files.
func sources(t *testing.T) (all []page) {
	t.Helper()
	for _, file := range files(t) {
		var text strings.Builder
		for _, group := range file.ast.Comments {
			text.WriteString(group.Text())
		}
		all = append(all, page{file.path, text.String()})
	}
	return all
}

// The pages name no file, folder or package of ours that is not there. A word in code style is taken for one of ours if
// it begins with one of our top folders, or ends like a source file.
func TestPagesNameWhatIsThere(t *testing.T) {
	checked := 0
	for _, p := range pages(t, markdown, "docs", "README.md", "CHANGELOG.md") {
		for _, m := range inCode.FindAllStringSubmatch(p.text, -1) {
			for word := range strings.FieldsSeq(m[1]) {
				ours := strings.HasPrefix(word, "./")
				word = strings.TrimSuffix(strings.TrimPrefix(word, "./"), "/...")
				if !treePath.MatchString(word) {
					continue
				}
				top, _, _ := strings.Cut(word, "/")
				switch path.Ext(word) {
				case ".go", ".md", ".sh", ".cu", ".service":
					ours = true
				}
				if top == "bin" || !ours && !exists(top) {
					continue
				}
				if checked++; !exists(word) {
					t.Errorf("%s: `%s` is not in the tree", p.path, word)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("found only %d paths", checked)
	}
}

// Each number of a decision is given once, or docs/decisions/README.md says why it is not. That page lists them all.
func TestDecisionsAreNumbered(t *testing.T) {
	names := make(map[int]string)
	last := 0
	for _, p := range pages(t, markdown, "docs/decisions") {
		name := path.Base(p.path)
		if name == "README.md" {
			continue
		}
		m := decision.FindStringSubmatch(name)
		if m == nil {
			t.Errorf("%s is not named NNNN-title.md", p.path)
			continue
		}
		n, err := strconv.Atoi(m[1])
		fatal.If(t, err)
		if names[n] != "" {
			t.Errorf("%s and %s have the same number", names[n], name)
		}
		names[n], last = name, max(last, n)
		if !strings.HasPrefix(p.text, fmt.Sprintf("# %d. ", n)) {
			t.Errorf("%s does not begin with its number", p.path)
		}
	}
	readme := pages(t, markdown, "docs/decisions/README.md")[0].text
	for n := 1; n <= last; n++ {
		if names[n] != "" && strings.Count(readme, "("+names[n]+")") != 1 {
			t.Errorf("docs/decisions/README.md does not list %s once", names[n])
		}
		if names[n] == "" && !strings.Contains(readme, fmt.Sprintf("%04d", n)) {
			t.Errorf("no decision has number %d, and docs/decisions/README.md does not say why", n)
		}
	}
}

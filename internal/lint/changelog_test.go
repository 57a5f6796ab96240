package lint_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	goName        = regexp.MustCompile("`[a-z]+\\.[A-Z]\\w*`")
	formatVersion = regexp.MustCompile(`(?m)^- (?:The )?(.{3,40}?) ha(?:s|ve) format version (\d+)`)
)

// The changelog is for users: each kind of change has one list, no name of our Go code stands in it, and what has a
// format version has one. Two lists of fixes and two versions of the index once stood in it.
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
	for _, release := range strings.Split(text, "\n## ")[1:] {
		once := make(map[string]bool)
		for _, m := range heading.FindAllString(release, -1) {
			if once[m] {
				t.Errorf("CHANGELOG.md has two lists %q in a release", m)
			}
			once[m] = true
		}
		versions := make(map[string]string)
		for _, m := range formatVersion.FindAllStringSubmatch(release, -1) {
			if versions[m[1]] != "" {
				t.Errorf("CHANGELOG.md gives %q format versions %s and %s", m[1], versions[m[1]], m[2])
			}
			versions[m[1]] = m[2]
		}
		if strings.HasPrefix(release, "Unreleased") && len(versions) == 0 {
			t.Error("found no format version")
		}
	}
}

package lint_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The most words of a page for users, and of all of them. Commands and what they print do not count.
const (
	mostWords    = 2500
	mostAllWords = 30_000
)

// forContributors are the pages beside those for users.
var forContributors = []string{"docs/explain/architecture.md", "docs/explain/long-runs.md", "docs/explain/recipes.md",
	"docs/explain/testing.md", "docs/how-to/release.md"}

// userPages returns the pages for users.
func userPages(t *testing.T) []page {
	all := pages(t, markdown, "README.md", "docs/start", "docs/send", "docs/how-to", "docs/reference", "docs/explain")
	return slices.DeleteFunc(all, func(p page) bool { return slices.Contains(forContributors, p.path) })
}

var (
	word  = regexp.MustCompile(`\S*[A-Za-z0-9]\S*`)
	drawn = regexp.MustCompile(`(?s)<!-- figures: .*?<!-- /figures -->`) // by tools/figures
)

// Pages for users are short, and their lines fit mostColumns, but for tables, commands and addresses.
func TestUserPagesAreShort(t *testing.T) {
	sum := 0
	for _, p := range userPages(t) {
		prose := drawn.ReplaceAllString(fenced.ReplaceAllString(p.text, ""), "")
		n := len(word.FindAllString(prose, -1))
		if sum += n; n > mostWords {
			t.Errorf("%s has %d words, more than %d", p.path, n, mostWords)
		}
		for line := range strings.Lines(prose) {
			if columns := utf8.RuneCountInString(line) - 1; columns > mostColumns && line[0] != '|' &&
				!strings.HasPrefix(line, "    ") && !strings.Contains(line, "](") {
				t.Errorf("%s has a line of %d columns: %s", p.path, columns, line)
			}
		}
	}
	if t.Logf("%d words", sum); sum > mostAllWords || sum < 10_000 {
		t.Errorf("pages for users have %d words, and not at most %d", sum, mostAllWords)
	}
}

// notRun says why no test runs a block of commands, by its page and its beginning.
var notRun = []struct{ page, command, reason string }{
	{"README.md", "apt install", "TestInstalled of tools/dist runs it"},
	{"README.md", "make test", "it runs the tests"},
	{"docs/how-to/back-up.md", "cp deploy/systemd", "it needs systemd and root"},
	{"docs/how-to/correlate.md", "gnocco-correlate", "tests of cmd/gnocco-correlate run each flag"},
	{"docs/how-to/etcd.md", "ETCD_NAME", "it needs three hosts; tests/etcd runs three members"},
	{"docs/how-to/etcd.md", "etcdctl", "TestSecured of tests/etcd makes this user by the client"},
	{"docs/how-to/etcd.md", "gnocco doctor", "it needs three hosts"},
	{"docs/how-to/etcd.md", "GNOCCO_COORDINATION", "it needs three hosts"},
	{"docs/how-to/etcd.md", "kubectl", "it needs a Kubernetes"},
	{"docs/how-to/etcd.md", "gnocco coordination", "TestMove of tests/etcd runs it on one machine"},
	{"docs/how-to/grafana.md", "vmalert", "TestVmalert runs these flags"},
	{"docs/how-to/install.md", "htpasswd", "it needs a Kubernetes"},
	{"docs/how-to/install.md", "helm install", "tests of deploy/check render the chart by Helm's packages with such values"},
	{"docs/reference/settings.md", "curl -u admin: -X PUT", "tests of quotas in api send these requests"},
	{"docs/how-to/several-processes.md", "gnocco init", "TestREADMESeveralProcesses runs them on one machine"},
}

// commandBlock matches blocks of a page that may be commands. Without a language, those that begin with aProgram are.
var (
	commandBlock = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")
	aProgram     = regexp.MustCompile(`^(gnocco|bin/gnocco|curl|make|apt|cp) `)
)

// A test reads each page for users that has commands, to run them, or notRun says why not.
func TestCommandsOfPagesAreRun(t *testing.T) {
	var tests strings.Builder
	for _, p := range pages(t, func(name string) bool { return strings.HasSuffix(name, "_test.go") },
		"cmd", "deploy", "tests") {
		tests.WriteString(p.text)
	}
	listed := make(map[string]bool)
	for _, p := range userPages(t) {
	blocks:
		for _, m := range commandBlock.FindAllStringSubmatch(p.text, -1) {
			commands := m[2]
			if m[1] != "" && m[1] != "sh" && m[1] != "bash" || m[1] == "" && !aProgram.MatchString(commands) {
				continue
			}
			for _, not := range notRun {
				if not.page == p.path && strings.HasPrefix(commands, not.command) {
					listed[not.page+not.command] = true
					continue blocks
				}
			}
			kind, name, _ := strings.Cut(strings.TrimPrefix(p.path, "docs/"), "/")
			if !strings.Contains(tests.String(), `"`+name+`"`) && !strings.Contains(tests.String(), kind+"/*.md") &&
				!strings.Contains(tests.String(), kind+"/"+name+`"`) && !strings.Contains(tests.String(), `/`+p.path+`"`) {
				t.Errorf("%s: no test runs %s", p.path, commands)
			}
		}
	}
	for _, not := range notRun {
		if !listed[not.page+not.command] {
			t.Errorf("%s has no block that begins with %q: take it from notRun", not.page, not.command)
		}
	}
}

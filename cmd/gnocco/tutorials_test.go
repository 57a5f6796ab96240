package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/loopback"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// tutorialBlock matches the commands of a page and, if it follows, the text that they print.
var tutorialBlock = regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?")

// Each tutorial's commands run in a fresh folder, and print what the page says; "…" stands for any text. A block that
// starts a foreign server, and those after it, run only where this is installed; one for an interpreter is left out.
func TestTutorials(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	pages, err := filepath.Glob("../../docs/start/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no tutorials: ", err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			fatal.If(t, err)
			commands := "export PATH=$PATH:/usr/sbin HOME=$PWD\n"
			var expected []string
			for _, block := range tutorialBlock.FindAllStringSubmatch(string(text), -1) {
				if strings.HasPrefix(block[1], "prometheus --") {
					if _, err := exec.LookPath("prometheus"); err != nil {
						t.Log("no prometheus: the rest is not run")
						break
					}
				}
				if missing := missingInterpreter(block[1]); missing != "" {
					t.Logf("no %s: a block is not run", missing)
					continue
				}
				commands += fmt.Sprintf("%s\necho '=== %d'\n", block[1], len(expected))
				expected = append(expected, block[2])
			}
			if len(expected) == 0 {
				t.Skip("no commands")
			}
			free := onFreePorts(t)
			rest := shell(t, free.Replace(strings.ReplaceAll(commands, "make build\n", "")))
			for i, want := range expected {
				var printed string
				printed, rest, _ = strings.Cut(rest, fmt.Sprintf("=== %d\n", i))
				if want = free.Replace(want); want != "" && !regexp.MustCompile(pattern(want)).MatchString(strings.TrimSpace(printed)) {
					t.Errorf("block %d printed\n%s\nand not\n%s", i, printed, want)
				}
			}
		})
	}
}

// Git ignores the files that lessons write into the checkout: a lesson leaves no change to commit.
func TestTutorialsLeaveNoChange(t *testing.T) {
	if exec.Command("git", "rev-parse", "HEAD").Run() != nil {
		t.Skip("no git, or no checkout")
	}
	pages, err := filepath.Glob("../../docs/start/*.md")
	fatal.If(t, err)
	written := regexp.MustCompile(`(?:>|--data |--to |--storage\.tsdb\.path=)([a-z]\w*(?:\.\w+)?)`)
	found := make(map[string]bool)
	for _, page := range pages {
		for _, block := range shellBlocks(t, page) {
			for _, m := range written.FindAllStringSubmatch(block, -1) {
				found[m[1]] = true
			}
		}
	}
	if len(found) < 20 {
		t.Errorf("lessons write only %d files and folders: %v", len(found), found)
	}
	for name := range found {
		if filepath.Ext(name) == "" {
			name += "/" // a data folder
		}
		if exec.Command("git", "-C", "../..", "check-ignore", "-q", "--no-index", name).Run() != nil {
			t.Errorf("a lesson writes %s, which .gitignore lacks", name)
		}
	}
}

// interpreted matches a block for an interpreter, and the first module that it imports.
var interpreted = regexp.MustCompile(`^(python3|Rscript) - <<'END'\n(?:import (\w+)\n)?`)

// missingInterpreter returns what a block needs and this machine lacks; "" for nothing.
func missingInterpreter(block string) string {
	needs := interpreted.FindStringSubmatch(block)
	switch {
	case needs == nil:
		return ""
	case exec.Command(needs[1], "--version").Run() != nil:
		return needs[1]
	case needs[2] != "" && exec.Command(needs[1], "-c", "import "+needs[2]).Run() != nil:
		return needs[2]
	}
	return ""
}

// pattern returns the regular expression of a text with "…" for any text, or none. Widths of columns do not count.
func pattern(text string) string {
	expr := `^`
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && word == "…":
			expr += `(?s:\s.*)?`
			continue
		case i > 0:
			expr += `\s+`
		}
		expr += strings.ReplaceAll(regexp.QuoteMeta(word), "…", `(?s:.*)`)
	}
	return expr + `$`
}

// onFreePorts replaces the ports of a tutorial by free ones.
func onFreePorts(t *testing.T) *strings.Replacer {
	var ports []string
	for _, port := range []string{":8041", ":9090"} {
		address, err := loopback.Free()
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port, strings.TrimPrefix(address, "127.0.0.1"))
	}
	return strings.NewReplacer(ports...)
}

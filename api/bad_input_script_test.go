package api_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// badInput is a request of testdata/bad_input.txt.
type badInput struct {
	line     int
	setup    bool   // it succeeds, and what it creates is there for those that follow
	save     string // under which name its ID is remembered
	request  string // METHOD path
	names    string // what the answer has to name; "" for nothing
	headers  []string
	body     string
	want     string   // the answer: status and description
	original []string // the lines before it
}

const badInputFile = "testdata/bad_input.txt"

var headerLine = regexp.MustCompile(`^([A-Z][A-Za-z-]+): (.*)$`)

// readBadInput reads the script. Comments between two requests are in original of the second.
func readBadInput(t *testing.T) (script []*badInput, tail []string) {
	t.Helper()
	content, err := os.ReadFile(badInputFile)
	check(t, err)
	var step *badInput
	answer := false
	finish := func() {
		if step == nil {
			return
		}
		script = append(script, step)
		step, answer, tail = nil, false, nil
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			finish()
			tail = append(tail, line)
			continue
		case step == nil && strings.HasPrefix(line, "#"):
			tail = append(tail, line)
			continue
		case step == nil:
			step = &badInput{line: i + 1, original: append(tail, line)}
			step.request, step.names, _ = strings.Cut(line, " -> ")
			if rest, ok := strings.CutPrefix(step.request, "setup "); ok {
				step.setup, step.request = true, rest
				if words := strings.Split(rest, " "); len(words) == 3 {
					step.save, step.request = words[0], words[1]+" "+words[2]
				}
			}
			continue
		case answer:
			step.want = line
			continue
		case line == "----":
			answer = true
			continue
		}
		step.original = append(step.original, line)
		if m := headerLine.FindStringSubmatch(line); m != nil && step.body == "" {
			if m[1] != "Differs" && m[1] != "Ours" { // notes for differential.py
				step.headers = append(step.headers, m[1], m[2])
			}
			continue
		}
		step.body = strings.TrimPrefix(step.body+"\n"+line, "\n")
	}
	finish()
	return script, tail
}

// writeBadInput writes the script with the answers that were seen.
func writeBadInput(t *testing.T, script []*badInput) {
	t.Helper()
	var lines []string
	for _, step := range script {
		lines = append(lines, step.original...)
		if !step.setup {
			lines = append(lines, "----", step.want)
		}
	}
	check(t, os.WriteFile(badInputFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

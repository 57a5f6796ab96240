package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// manual adds the pages of a program, all its subcommands and the topics of its help, made from their --help.
func manual(all map[string][]byte, program, version string, at time.Time, path ...string) error {
	out, err := exec.Command(program, append(path, "--help")...).Output()
	if err != nil {
		return fmt.Errorf("%s %v --help: %w", program, path, err)
	}
	name := strings.Join(append([]string{filepath.Base(program)}, path...), "-")
	section := 1
	if filepath.Base(program) == "gnocco-backup" { // in section 1 its name is the page of gnocco backup
		section = 8
	}
	all[fmt.Sprintf("man/%s.%d", name, section)] = page(name, section, version, string(out), at)
	for _, command := range subcommands(string(out)) {
		if command == "completion" || command == "help" {
			continue
		}
		if err := manual(all, program, version, at, append(path[:len(path):len(path)], command)...); err != nil {
			return err
		}
	}
	return nil
}

// listed is a line that names a subcommand, or a topic behind the path of its command.
var listed = regexp.MustCompile(`(?m)^  (?:[a-z-]+ )*([a-z][a-z-]*)  `)

// subcommands returns the names of subcommands and topics that a help text lists, in groups of any heading behind the
// usage.
func subcommands(help string) (names []string) {
	_, rest, _ := strings.Cut(help, "\nUsage:\n")
	for _, group := range strings.Split(rest, "\n\n") {
		head, list, _ := strings.Cut(group, "\n")
		if !heading.MatchString(head) || strings.HasSuffix(head, "Flags:") || head == "Examples:" || head == "Aliases:" {
			continue
		}
		for _, m := range listed.FindAllStringSubmatch(list, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// heading is a line of a help text that heads what follows.
var heading = regexp.MustCompile(`^[A-Z][A-Za-z ]+:$`)

// page writes a help text as a manual page.
func page(name string, section int, version, help string, at time.Time) []byte {
	var b strings.Builder
	first, _, _ := strings.Cut(help, "\n")
	summary, _, _ := strings.Cut(strings.TrimSuffix(first, "."), ". ")
	fmt.Fprintf(&b, ".TH %s %d %s \"gnocco %s\" \"Gnocco\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n",
		quoted(strings.ToUpper(name)), section, at.Format(time.DateOnly), version, escaped(name), escaped(summary))
	for line := range strings.Lines(strings.TrimRight(help, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		if heading.MatchString(line) {
			fmt.Fprintf(&b, ".fi\n.SH %s\n.nf\n", strings.ToUpper(strings.TrimSuffix(line, ":")))
			continue
		}
		b.WriteString(escaped(line) + "\n")
	}
	b.WriteString(".fi\n")
	return []byte(b.String())
}

func quoted(text string) string { return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"` }

// escaped returns text that a manual page shows as it is.
func escaped(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

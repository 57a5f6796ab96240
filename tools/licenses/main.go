package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "licenses.txt", "file to write")
	of := flag.String("of", "github.com/gnocco-db/gnocco/cmd/gnocco", "package of the program")
	flag.Parse()
	text, err := licenses(*of)
	if err == nil {
		err = os.WriteFile(*out, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// notice is a file's text, and the modules that have it.
type notice struct{ modules, text string }

func licenses(program string) ([]byte, error) {
	const module = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t" +
		"{{if .Replace}}{{.Replace.Dir}}{{else}}{{.Dir}}{{end}}{{end}}{{end}}"
	list := exec.Command("go", "list", "-deps", "-f", module, program)
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	found, err := list.Output()
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules := strings.Split(strings.TrimSpace(string(found)), "\n")
	modules = append(modules, "Go's standard library\t"+strings.TrimSpace(string(root)))
	slices.Sort(modules)
	var notices []*notice
	byText := make(map[string]*notice)
	for _, module := range slices.Compact(modules) {
		name, dir, ok := strings.Cut(module, "\t")
		if !ok || strings.HasPrefix(name, "github.com/gnocco-db/gnocco ") {
			continue
		}
		texts, err := read(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(texts) == 0 && !ours(dir) {
			return nil, fmt.Errorf("%s has no licence in %s", name, dir)
		}
		for _, text := range texts {
			n := byText[text]
			if n == nil {
				n = &notice{text: text}
				byText[text] = n
				notices = append(notices, n)
			}
			n.modules += name + "\n"
		}
	}
	slices.SortStableFunc(notices, func(a, b *notice) int { return cmp.Compare(a.modules, b.modules) })
	var b bytes.Buffer
	for _, n := range notices {
		fmt.Fprintf(&b, "%s\n%s\n%s\n\n", n.modules, n.text, strings.Repeat("=", 80))
	}
	return b.Bytes(), nil
}

// ours reports whether a module in place of another lies in this tree.
func ours(dir string) bool {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gnocco-db/gnocco").Output()
	return err == nil && strings.HasPrefix(dir, strings.TrimSpace(string(root)))
}

// licence is the name of a file that says what may be done with the others, or who made them.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)`)

// read returns the texts of a module's licences.
func read(dir string) (texts []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !licence.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		text := strings.ReplaceAll(strings.ToValidUTF8(string(content), "?"), "\r\n", "\n")
		texts = append(texts, strings.Trim(text, "\n")+"\n")
	}
	return texts, nil
}

package gnocchiconf

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// key names an option: [section] name.
type key struct{ section, name string }

func (k key) String() string { return "[" + k.section + "] " + k.name }

// File is what the files of a configuration say together. It keeps all values of an option that comes more than once,
// in order.
type File struct {
	paths  []string
	values map[key][]string
	keys   []key // in the order of the files
}

// Read reads files, and then the *.conf of folders, by name. A later file replaces options of earlier ones.
func Read(files, folders []string) (*File, error) {
	for _, folder := range folders {
		if _, err := os.Stat(folder); err != nil {
			return nil, err
		}
		inside, err := filepath.Glob(filepath.Join(folder, "*.conf"))
		if err != nil {
			return nil, err
		}
		files = append(slices.Clone(files), inside...) // Glob sorts
	}
	f := &File{values: make(map[key][]string)}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		one, err := parse(string(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		f.paths = append(f.paths, path)
		for _, k := range one.keys {
			if f.values[k] == nil {
				f.keys = append(f.keys, k)
			}
			f.values[k] = one.values[k]
		}
	}
	return f, nil
}

// parse reads the text of one file.
func parse(text string) (*File, error) {
	f := &File{values: make(map[key][]string)}
	section := ""
	var last key // which a line that begins with a blank goes on
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			last = key{}
			continue
		case line[0] == '#' || line[0] == ';':
			continue
		case line[0] == ' ' || line[0] == '\t':
			if last == (key{}) {
				return nil, fmt.Errorf("line %d goes on with no option", number)
			}
			all := f.values[last]
			all[len(all)-1] += "\n" + trimmed
			continue
		case line[0] == '[':
			name, ok := strings.CutSuffix(line[1:], "]")
			if !ok || name == "" {
				return nil, fmt.Errorf("line %d: a section has no ]", number)
			}
			section, last = normal(name), key{}
			continue
		}
		at := strings.IndexAny(line, "=:")
		if at <= 0 {
			return nil, fmt.Errorf("line %d is neither a section nor an option", number)
		}
		if section == "" {
			return nil, fmt.Errorf("line %d: an option before the first section", number)
		}
		last = key{section, normal(line[:at])}
		if f.values[last] == nil {
			f.keys = append(f.keys, last)
		}
		f.values[last] = append(f.values[last], strings.TrimSpace(line[at+1:]))
	}
	for _, all := range f.values {
		for i, value := range all {
			if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
				all[i] = value[1 : n-1]
			}
		}
	}
	return f, nil
}

// normal returns the name of a section or an option as all spellings of it have it.
func normal(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

// has reports whether a file gives the option a value. <None> is no value: templates write it for options that are not
// set.
func (f *File) has(k key) bool { return f.raw(k) != "" }

func (f *File) raw(k key) string {
	all := f.values[k]
	if len(all) == 0 || all[len(all)-1] == "<None>" {
		return ""
	}
	return all[len(all)-1]
}

// maxReferences bounds what one value may name, directly and in what that names.
const maxReferences = 1000

// reference is $name, ${name}, $section.name or ${section.name}; $$ and \$ stand for a dollar.
var reference = regexp.MustCompile(`\$\$|\\\$|\$\{[\w.]+\}|\$\w+(?:\.\w+)?`)

// Value returns the option's last value, or else its default, with the values of other options in place of references.
// A value that names itself keeps the reference.
func (f *File) Value(section, name string) string {
	left := maxReferences
	var substituted func(k key, within []key) string
	substituted = func(k key, within []key) string {
		text := f.raw(k)
		if text == "" {
			text = known[k].preset
		}
		within = append(within, k)
		return reference.ReplaceAllStringFunc(text, func(found string) string {
			if found == "$$" || found == `\$` {
				return "$"
			}
			name := normal(strings.Trim(found, "${}"))
			named := key{k.section, name}
			if section, inner, ok := strings.Cut(name, "."); ok {
				named = key{section, inner}
			} else if _, ok := known[named]; !ok && !f.has(named) {
				named.section = "default"
			}
			if left--; left < 0 || slices.Contains(within, named) {
				return found
			}
			return substituted(named, within)
		})
	}
	return substituted(key{section, name}, nil)
}

// list returns the parts of an option that is a list, whether they stand in one value or in several.
func (f *File) list(section, name string) []string {
	var all []string
	for _, value := range f.values[key{section, name}] {
		for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == '\n' }) {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

// boolean reads a value as oslo.config does.
func (f *File) boolean(section, name string) (bool, error) {
	switch value := f.Value(section, name); strings.ToLower(value) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off", "":
		return false, nil
	default:
		return false, fmt.Errorf("%s: %q is neither true nor false", key{section, name}, value)
	}
}

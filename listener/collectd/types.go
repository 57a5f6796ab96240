package collectd

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Types are the names of the values of each type.
type Types map[string][]string

// ReadTypes reads collectd's types.db: lines "TYPE NAME:KIND:MIN:MAX, NAME:KIND:MIN:MAX". Of a type in several files,
// the last one counts.
func ReadTypes(paths ...string) (Types, error) {
	types := Types{}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("collectd: %w", err)
		}
		err = types.read(bufio.NewScanner(file))
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("collectd: %s: %w", path, err)
		}
	}
	return types, nil
}

func (types Types) read(lines *bufio.Scanner) error {
	for n := 1; lines.Scan(); n++ {
		fields := strings.FieldsFunc(lines.Text(), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		names := make([]string, 0, len(fields)-1)
		for _, source := range fields[1:] {
			name, _, ok := strings.Cut(source, ":")
			if !ok || name == "" {
				return fmt.Errorf("line %d: %q is not NAME:KIND:MIN:MAX", n, source)
			}
			names = append(names, name)
		}
		types[fields[0]] = names
	}
	return lines.Err()
}

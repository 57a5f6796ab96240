package claim

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// store does to a folder what Pebble does: it appends to a log and syncs, turns logs into tables that never change,
// merges tables, says in a manifest which ones count, and removes the others. Its content is lines.
type store struct {
	fs       vfs.FS
	dir      string
	lines    []string
	logged   []string // since the last table
	log      vfs.File
	logName  string
	manifest vfs.File
	tables   []string
	next     int
}

var errDamaged = errors.New("simulation: the store is damaged")

// openStore reads a store, and begins a log of its own.
func openStore(fs vfs.FS, dir string) (*store, error) {
	s := &store{fs: fs, dir: dir}
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	names = slices.Sorted(slices.Values(names))
	size, firstLog, err := s.readManifest(names)
	if err != nil {
		return nil, err
	}
	for _, table := range s.tables {
		lines, err := s.read(table)
		if notThere(err) {
			return nil, fmt.Errorf("%w: %s has no %s", errDamaged, dir, table)
		}
		if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, lines...)
	}
	for _, name := range names {
		var number int
		if n, _ := fmt.Sscanf(name, "%06d", &number); n == 1 {
			s.next = max(s.next, number)
		}
		if strings.HasSuffix(name, ".log") && number >= firstLog {
			lines, err := s.read(name)
			if err != nil {
				return nil, err
			}
			s.lines, s.logged = append(s.lines, lines...), append(s.logged, lines...)
		}
		if strings.HasSuffix(name, ".sst") && !slices.Contains(s.tables, name) { // a late write of its maker may come
			if err := fs.Remove(path.Join(dir, name)); err != nil && !notThere(err) {
				return nil, err
			}
		}
	}
	if s.manifest, err = fs.OpenReadWrite(path.Join(dir, manifestName), vfs.WriteCategoryUnspecified); err != nil {
		return nil, err
	}
	s.manifest = &appender{s.manifest, int64(size)}
	return s, s.newLog()
}

const manifestName = "MANIFEST-000001"

func (s *store) readManifest(names []string) (size, firstLog int, err error) {
	if !slices.Contains(names, manifestName) {
		return 0, 0, nil
	}
	edits, err := s.read(manifestName)
	for _, edit := range edits {
		size += len(edit) + 1
		for word := range strings.FieldsSeq(edit) {
			switch name := word[1:]; word[0] {
			case '+':
				s.tables = append(s.tables, name)
			case '-':
				s.tables = slices.DeleteFunc(s.tables, func(t string) bool { return t == name })
			case 'L':
				if _, err := fmt.Sscanf(name, "%06d", &firstLog); err != nil {
					return 0, 0, fmt.Errorf("%w: %w", errDamaged, err)
				}
			}
		}
	}
	return size, firstLog, err
}

// appender writes at the end of the file's earlier content.
type appender struct {
	vfs.File
	end int64
}

func (a *appender) Write(p []byte) (int, error) {
	n, err := a.WriteAt(p, a.end)
	a.end += int64(n)
	return n, err
}

func (s *store) read(name string) ([]string, error) {
	content, err := read(s.fs, path.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(string(content), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

func (s *store) name(kind string) string {
	s.next++
	return fmt.Sprintf("%06d.%s", s.next, kind)
}

func (s *store) newLog() (err error) {
	s.logName = s.name("log")
	s.log, err = s.fs.Create(path.Join(s.dir, s.logName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return syncNames(s.fs, s.dir)
}

// append makes lines durable.
func (s *store) append(lines ...string) error {
	if _, err := s.log.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		return err
	}
	if err := s.log.Sync(); err != nil {
		return err
	}
	s.lines, s.logged = append(s.lines, lines...), append(s.logged, lines...)
	return nil
}

func (s *store) edit(edit string) error {
	if _, err := s.manifest.Write([]byte(edit + "\n")); err != nil {
		return err
	}
	return s.manifest.Sync()
}

func (s *store) table(lines []string) (string, error) {
	name := s.name("sst")
	if err := write(s.fs, path.Join(s.dir, name), []byte(strings.Join(lines, "\n")+"\n")); err != nil {
		return name, err
	}
	return name, syncNames(s.fs, s.dir)
}

// tidy turns the log into a table, or several tables into one.
func (s *store) tidy() error {
	if len(s.tables) >= 3 {
		return s.merge()
	}
	if len(s.logged) == 0 {
		return nil
	}
	table, err := s.table(s.logged)
	if err != nil {
		return err
	}
	if err := s.newLog(); err != nil {
		return err
	}
	if err := s.edit("+" + table + " L" + s.logName); err != nil {
		return err
	}
	s.tables, s.logged = append(s.tables, table), nil
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") && name < s.logName {
			if err := s.fs.Remove(path.Join(s.dir, name)); err != nil && !notThere(err) {
				return err
			}
		}
	}
	return nil
}

func (s *store) merge() error {
	var lines []string
	edit := ""
	for _, table := range s.tables {
		more, err := s.read(table)
		if err != nil {
			return err
		}
		lines = append(lines, more...)
		edit += " -" + table
	}
	merged, err := s.table(lines)
	if err != nil {
		return err
	}
	if err := s.edit("+" + merged + edit); err != nil {
		return err
	}
	old := s.tables
	s.tables = []string{merged}
	for _, table := range old {
		if err := s.fs.Remove(path.Join(s.dir, table)); err != nil {
			return err
		}
	}
	return nil
}

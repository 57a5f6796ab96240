package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// configSource is a Gnocchi by its database and its files, as its configuration names them.
type configSource struct {
	database string // address
	mariaDB  bool   // else PostgreSQL
	files    *fileStorage
}

// openConfig reads gnocchi.conf.
func openConfig(path string) (*configSource, error) {
	options, err := readINI(path)
	if err != nil {
		return nil, err
	}
	get := func(section, key, otherwise string) string {
		if v := options[section+"."+key]; v != "" {
			return v
		}
		return otherwise
	}
	if driver := get("storage", "driver", "file"); driver != "file" {
		return nil, fmt.Errorf("%s: the storage driver %s is not read directly: use --from", path, driver)
	}
	base := get("storage", "file_basepath", "/var/lib/gnocchi")
	incoming := base
	switch driver := get("incoming", "driver", ""); driver {
	case "", "file":
		incoming = get("incoming", "file_basepath", base)
	default:
		return nil, fmt.Errorf("%s: the incoming driver %s is not read directly: use --from", path, driver)
	}
	address := get("indexer", "url", options["database.connection"])
	scheme, rest, ok := strings.Cut(address, "://")
	dialect, _, _ := strings.Cut(scheme, "+")
	mariaDB := dialect == "mysql" || dialect == "mariadb"
	if !ok || !mariaDB && dialect != "postgresql" && dialect != "postgres" {
		return nil, fmt.Errorf("%s: of databases only PostgreSQL and MariaDB are read directly, not %q: use --from",
			path, scheme)
	}
	database := "postgresql://" + rest
	if mariaDB {
		database = "mysql://" + rest
		if _, err := mariaDBConfig(database); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	files, err := openFiles(base, incoming)
	if err != nil {
		return nil, err
	}
	return &configSource{database: database, mariaDB: mariaDB, files: files}, nil
}

// readINI returns the options of a file by section and key, joined by a dot. Lines that go on are joined.
func readINI(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	options := make(map[string]string)
	section, last := "DEFAULT", ""
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section, last = strings.Trim(line, "[]"), ""
		case strings.TrimLeft(lines.Text(), " \t") != lines.Text() && last != "":
			options[last] += "\n" + line
		default:
			key, value, _ := strings.Cut(line, "=")
			last = section + "." + strings.TrimSpace(key)
			options[last] = strings.TrimSpace(value)
		}
	}
	return options, lines.Err()
}

func (s *configSource) close() error { return nil }

// backlog implements source: a pass also copies waiting measures.
func (s *configSource) backlog(context.Context) (int, error) { return 0, nil }

func (s *configSource) definitions(ctx context.Context) (*definitions, error) {
	if s.mariaDB {
		return readMariaDB(ctx, s.database)
	}
	return readPostgreSQL(ctx, s.database)
}

// archive implements source. It returns all there is, since that is as fast.
func (s *configSource) archive(_ context.Context, m *model.Metric, _ carbonara.Timestamp) (*archived, error) {
	return s.files.read(m)
}

// clockSlack is for file systems whose clock is not this machine's.
const clockSlack = time.Minute

// changed implements source: processing writes a metric's raw series anew.
func (s *configSource) changed(m *model.Metric, at time.Time) bool {
	info, err := os.Stat(s.files.rawPath(m.ID))
	if errors.Is(err, os.ErrNotExist) {
		return false // nothing was processed yet
	}
	return err != nil || info.ModTime().After(at.Add(-clockSlack))
}

func (s *configSource) unprocessed() (map[uuid.UUID]*series, error) { return s.files.unprocessed() }

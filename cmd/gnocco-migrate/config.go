package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-migrate/internal/gnocchiconf"
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
	file, err := gnocchiconf.Read([]string{path}, nil)
	if err != nil {
		return nil, err
	}
	if driver := file.Value("storage", "driver"); driver != "file" {
		return nil, fmt.Errorf("%s: the storage driver %s is not read directly: use --from", path, driver)
	}
	base := file.Value("storage", "file_basepath")
	incoming := base
	switch driver := file.Value("incoming", "driver"); driver {
	case "", "file":
		incoming = cmp.Or(file.Value("incoming", "file_basepath"), base)
	default:
		return nil, fmt.Errorf("%s: the incoming driver %s is not read directly: use --from", path, driver)
	}
	address := cmp.Or(file.Value("indexer", "url"), file.Value("database", "connection"))
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

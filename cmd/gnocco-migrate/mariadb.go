package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
)

// mariaDB implements database, also for MySQL.
type mariaDB struct{ tx *sql.Tx }

// mariaDBConfig returns what an address of SQLAlchemy's form says. No error names the password.
func mariaDBConfig(address string) (*mysql.Config, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the database is no URL: " +
			"special characters of the password have to be percent-encoded")
	}
	config := mysql.NewConfig()
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.DBName = strings.TrimPrefix(u.Path, "/")
	config.Net, config.Addr = "tcp", u.Host
	if u.Port() == "" {
		config.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	options := u.Query()
	if options.Has("unix_socket") {
		config.Net, config.Addr = "unix", options.Get("unix_socket")
	}
	if config.TLS, err = mariaDBTLS(u.Hostname(), options); err != nil {
		return nil, err
	}
	return config, nil
}

func readMariaDB(ctx context.Context, address string) (d *definitions, err error) {
	config, err := mariaDBConfig(address)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	return readDefinitions(ctx, mariaDB{tx})
}

func (m mariaDB) quote(table string) string { return "`" + strings.ReplaceAll(table, "`", "``") + "`" }

func (m mariaDB) objects(ctx context.Context, from string, f func([]byte) error) (err error) {
	found, err := m.tx.QueryContext(ctx, "SELECT t.* FROM "+from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	columns, err := found.ColumnTypes()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return err
		}
		row := make(map[string]any, len(columns))
		for i, column := range columns {
			if row[column.Name()], err = columnValue(column.DatabaseTypeName(), values[i]); err != nil {
				return fmt.Errorf("%s: %w", column.Name(), err)
			}
		}
		object, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if err := f(object); err != nil {
			return err
		}
	}
	return found.Err()
}

// columnValue returns a column's value as PostgreSQL's JSON has it. SQLAlchemy keeps UUIDs as 16 bytes, truth as
// TINYINT and moments, in UTC, as DATETIME.
func columnValue(kind string, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	if kind == "TINYINT" {
		return v != int64(0), nil
	}
	text, ok := v.([]byte)
	switch {
	case !ok:
		return v, nil
	case kind == "BINARY":
		return uuid.FromBytes(text)
	case kind == "DATETIME":
		return strings.Replace(string(text), " ", "T", 1), nil
	}
	return string(text), nil
}

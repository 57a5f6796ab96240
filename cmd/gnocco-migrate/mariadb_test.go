package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestMariaDBConfig(t *testing.T) {
	for _, c := range []struct{ address, user, password, network, at, name string }{
		{"mysql://gnocchi:secret@192.0.2.1:3307/metrics?charset=utf8", "gnocchi", "secret", "tcp",
			"192.0.2.1:3307", "metrics"},
		{"mysql://gnocchi:a%40b%2Fc+d@db.example/gnocchi", "gnocchi", "a@b/c+d", "tcp", "db.example:3306", "gnocchi"},
		{"mysql://gnocchi@[2001:db8::1]/gnocchi", "gnocchi", "", "tcp", "[2001:db8::1]:3306", "gnocchi"},
		{"mysql://gnocchi@localhost/gnocchi?unix_socket=/run/mysqld/mysqld.sock", "gnocchi", "", "unix",
			"/run/mysqld/mysqld.sock", "gnocchi"},
	} {
		got, err := mariaDBConfig(c.address)
		if err != nil || got.User != c.user || got.Passwd != c.password || got.Net != c.network || got.Addr != c.at ||
			got.DBName != c.name {
			t.Errorf("%s: %+v, %v", c.address, got, err)
		}
	}
	for _, address := range []string{"mysql://gnocchi:secret%@192.0.2.1/gnocchi",
		"mysql://gnocchi:secret@192.0.2.1/gnocchi?ssl_cipher=x"} {
		if _, err := mariaDBConfig(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error is %v", address, err)
		}
	}
}

func TestColumnValue(t *testing.T) {
	id := uuid.MustParse("0b5f7a1e-94c6-4dd1-8a0e-2f7d1c3b4a59")
	for _, c := range []struct {
		kind    string
		v, want any
	}{
		{"BINARY", id[:], id},
		{"BINARY", nil, nil},
		{"TINYINT", int64(1), true},
		{"TINYINT", int64(0), false},
		{"INT", int64(1), int64(1)},
		{"DOUBLE", 0.1, 0.1},
		{"DATETIME", []byte("2024-05-06 07:08:09.123456"), "2024-05-06T07:08:09.123456"},
		{"VARCHAR", []byte("host-é 1"), "host-é 1"},
	} {
		if got, err := columnValue(c.kind, c.v); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %v: %v, %v, not %v", c.kind, c.v, got, err, c.want)
		}
	}
}

// kolla's gnocchi.conf names MariaDB.
func TestConfigNamesMariaDB(t *testing.T) {
	dir := t.TempDir()
	fatal.If(t, os.MkdirAll(filepath.Join(dir, "tmp"), 0o755))
	for name, text := range map[string]string{"tmp/gnocchi-storage-config": "{}",
		"gnocchi.conf": "[indexer]\nurl = mysql+pymysql://gnocchi:secret@192.0.2.1:3306/gnocchi\n[storage]\nfile_basepath = " + dir + "\n"} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	s, err := openConfig(filepath.Join(dir, "gnocchi.conf"))
	fatal.If(t, err)
	if !s.mariaDB || s.database != "mysql://gnocchi:secret@192.0.2.1:3306/gnocchi" {
		t.Errorf("%+v", s)
	}
}

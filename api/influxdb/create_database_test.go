package influxdb_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/api/influxdb"
)

func TestParseCreateDatabase(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		if name, ok := influxdb.ParseCreateDatabase(query); name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", query, name, ok)
		}
	}
	f("create database influxdbtest", "influxdbtest")
	f(" CREATE  DATABASE\t_a1 ; ", "_a1")
	f(`Create Database "my \"db\" 1"`, `my "db" 1`)
	f(`CREATE DATABASE "telegraf" WITH DURATION 1d`, "telegraf")
	f("create database", "")
	f("create database 1a", "")
	f("create database a b", "")
	f(`create database ""`, "")
	f("select metrics plz", "")
	f("", "")
}

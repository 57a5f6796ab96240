// Command gnocco-import carries measures between files and a server. It reads files of other programs (CSV, JSON lines,
// and blocks of Prometheus, Thanos and Mimir), writes exports, and puts archives of exports and backups into a server.
// gnocco import, gnocco export and gnocco restore --select run it, and have resolved its settings then. Alone, it has
// them from the command line and the environment.
//
// csv reads tables as people and programs write them, internal/csvimport makes metrics of them and sends these.
package main

// Command gnocco-import reads measures from files of other programs and sends them to a server: CSV, JSON lines, and
// blocks of Prometheus, Thanos and Mimir. gnocco import runs it, and has resolved its settings then. Alone, it has them
// from the command line and the environment.
//
// csv reads tables as people and programs write them, internal/csvimport makes metrics of them and sends these.
package main

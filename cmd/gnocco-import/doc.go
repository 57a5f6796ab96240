// Command gnocco-import carries measures between files and a server. It reads files of other programs (CSV, JSON lines,
// lines of InfluxDB and Graphite, blocks of Prometheus, Thanos and Mimir), writes exports, puts archives of exports and
// backups into a server, and writes which stored metrics correlate. gnocco becomes it for import, export, correlate and
// restore --select.
//
// csv reads tables as people and programs write them, internal/csvimport makes metrics of them and sends these. pairs
// writes pairs.
package main

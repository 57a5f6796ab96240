// Command figures draws the tables of docs/explain/benchmarks.md from docs/benchmarks/*.csv. Each line there is one
// figure: topic, row, server, metric, value, unit, commit, date, machine. The server "aim" holds the value that
// Gnocco's should have. A page names a topic between the marks "<!-- figures: TOPIC -->" and "<!-- /figures -->"; the
// topic "missed" is every figure of Gnocco that misses its aim.
package main

//go:generate go run .

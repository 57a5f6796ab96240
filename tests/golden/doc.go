// Package golden reads the golden vectors: Gnocchi's own answers to series and to sequences of requests. They are made
// by tools/golden/golden.py, lie in carbonara/testdata/golden, and are for tests only.
//
// There are two kinds. A Vector is one series and its aggregates: package carbonara holds its resamplers to it. A
// Scenario is an archive policy, the requests that a metric got, and the aggregates that a reader sees after the last
// one: package metricd plays it.
//
// The answers follow the rules in carbonara/doc.go. Where Gnocchi answers otherwise, an aggregate names the rule and
// holds Gnocchi's answer as well, so that a test can show that the difference is there and is wanted.
package golden

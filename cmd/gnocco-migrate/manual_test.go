package main

import (
	"os"
	"strconv"
	"testing"
)

// A Gnocchi that runs already is filled, for a manual run: GNOCCHI_URL, RESOURCES, MEASURES.
func TestSeed(t *testing.T) {
	url := os.Getenv("GNOCCHI_URL")
	if url == "" {
		t.Skip("fills a Gnocchi: GNOCCHI_URL is not set")
	}
	number := func(name string, n int) int {
		if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return v
		}
		return n
	}
	g := gnocchi{url}
	g.seed(t, number("RESOURCES", 20), 50, number("MEASURES", 60))
	g.drained(t)
}

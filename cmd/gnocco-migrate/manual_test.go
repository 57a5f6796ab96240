package main

import (
	"slices"
	"strings"
	"time"

	"os"
	"strconv"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
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

// Measures after the newest group's start go to every metric of COPY_URL, and the same to the servers in URLS: a copy
// continues as the Gnocchi would have.
func TestSendMore(t *testing.T) {
	from, urls := os.Getenv("COPY_URL"), strings.Fields(os.Getenv("URLS"))
	if from == "" {
		t.Skip("sends to servers that run: COPY_URL, URLS are not set")
	}
	s, err := newREST(from, &access{})
	fatal.If(t, err)
	d, err := s.definitions(t.Context())
	fatal.If(t, err)
	for metrics := range slices.Chunk(d.metrics, 500) {
		batch := make(object)
		for _, m := range metrics {
			g := m.ArchivePolicy.Granularities()[0]
			all, err := s.measures(t.Context(), m.ID, carbonara.Mean, 0)
			fatal.If(t, err)
			if all[g] == nil {
				continue
			}
			newest := all[g].timestamps[len(all[g].timestamps)-1]
			var list []object
			for i, after := range []time.Duration{g - 10*time.Millisecond, g + time.Second, 7 * g} {
				list = append(list, object{"timestamp": newest.Add(after).Time().Format("2006-01-02T15:04:05.000000"),
					"value": float64(i) + 0.5})
			}
			batch[m.ID.String()] = list
		}
		for _, url := range urls {
			gnocchi{url}.must(t, "POST", "/v1/batch/metrics/measures", batch, nil)
		}
	}
}

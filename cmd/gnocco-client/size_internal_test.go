package main

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The coefficients of gnocco size are the figures of docs/benchmarks.
func TestSizeCoefficients(t *testing.T) {
	figure := func(file, row, metric string) float64 {
		t.Helper()
		f, err := os.Open("../../docs/benchmarks/" + file)
		fatal.If(t, err)
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		fatal.If(t, err)
		for _, r := range rows {
			if r[0]+": "+r[1] == row && r[2] == "Gnocco" && r[3] == metric {
				value, err := strconv.ParseFloat(r[4], 64)
				fatal.If(t, err)
				return value
			}
		}
		t.Fatalf("%s has no %q", file, row)
		return 0
	}
	near := func(got, want float64) {
		t.Helper()
		if got < 0.999*want || got > 1.001*want {
			t.Errorf("%v, and %v in docs/benchmarks", got, want)
		}
	}
	near(baseMemory, figure("gnocchi.csv", "gnocchi: resident", "")*(1<<20))
	near(memoryPerMetric, figure("fleet.csv", "million: resident: at the end; most", "most")*(1<<20)/1e6)
	near(cpuSmallRequests, figure("fleet.csv", "fleet: CPU of a million: JSON; line protocol", "")/1e6)
	near(cpuLargeRequests, figure("fleet.csv", "fleet: CPU of a million, requests of 10,000", "")/1e6)
	near(indexPerMetric, figure("peers.csv", "cardinality: disk", ""))
}

package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// limited is a limit that was set.
type limited int

func (l *limited) SetLimit(limit int) { *l = limited(limit) }

// Descriptors suffice for the stores of all sacks, the tables, and three connections for each one of a client.
func TestDescriptorsAreDivided(t *testing.T) {
	f := func(files, sacks, wantTables, wantConnections int) {
		t.Helper()
		tables := tablesOf(files)
		connections, _ := connectionsOf(files, sacks, 0)
		for listeners := range 4 {
			clients, each := connectionsOf(files, sacks, listeners)
			stores := (sacks + storesBeside) * filesPerStore
			if needed := tables + stores + otherFiles + clients*connectionParts + listeners*each; needed > files &&
				clients > minConnections {
				t.Errorf("%d descriptors of %d for %d listeners", needed, files, listeners)
			}
		}
		if tables != wantTables || connections != wantConnections {
			t.Errorf("%d tables and %d connections of %d files, want %d and %d", tables, connections, files,
				wantTables, wantConnections)
		}
	}
	f(256, 16, 64, 16)
	f(1024, 16, 256, 185)
	f(1024, 128, 256, 16)
	f(4096, 16, 512, 1124)
	f(65536, 16, 512, 21604)
	f(65536, 1024, 512, 18244)
}

// The smaller of the two limits counts. Only fewer connections than asked for are worth a warning.
func TestConnectionsAreLimitedByFiles(t *testing.T) {
	f := func(asked, files, want int, warned bool) {
		t.Helper()
		var log bytes.Buffer
		var limit limited
		most, _ := connectionsOf(files, 16, 0)
		limitByFiles(&limit, asked, most, files, slog.New(slog.NewTextHandler(&log, nil)))
		if int(limit) != want || strings.Contains(log.String(), "level=WARN") != warned {
			t.Errorf("%d asked of %d files: limit %d, want %d; log: %s", asked, files, limit, want, &log)
		}
	}
	f(100, 1024, 100, false)
	f(185, 1024, 185, false)
	f(186, 1024, 185, true)
	f(10_000, 65536, 10_000, false)
}

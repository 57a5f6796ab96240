package server

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestBallast(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	b := newBallast(dir, 1<<20, slog.New(slog.NewTextHandler(&log, nil)))
	if b.drop() {
		t.Error("removed what was never there")
	}
	for range 2 {
		if err := b.make(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(dir, "ballast")); err != nil || info.Size() != 256<<10 {
			t.Errorf("ballast: %v, %v", info, err)
		}
	}
	if !b.drop() || b.drop() || log.Len() == 0 {
		t.Errorf("not removed once: %s", log.String())
	}
	b.needed = 1 << 62 // more than any disk has
	if err := b.make(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("with too little room: %v, %v", left, err)
	}
}

package process

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A log file that is renamed is made anew.
func TestLogFileIsRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	flags := LogFlags{Level: "info", Format: "text", File: path}
	logger, err := flags.Logger(nil)
	fatal.If(t, err)
	logger.Info("one")
	fatal.If(t, os.Rename(path, path+".1"))
	logger.Info("two")
	logger.Info("three")
	count := func(path string) (lines int) {
		content, err := os.ReadFile(path)
		fatal.If(t, err)
		for _, c := range content {
			if c == '\n' {
				lines++
			}
		}
		return lines
	}
	if count(path+".1") != 1 || count(path) != 2 {
		t.Errorf("%d and %d lines", count(path+".1"), count(path))
	}
	if _, err := (&LogFlags{Level: "info", Format: "text", File: filepath.Join(path, "x")}).Logger(nil); err == nil {
		t.Error("a file below a file was opened")
	}
}

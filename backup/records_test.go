package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The newest hundred backups are known, the newest first, recorded in any order.
func TestBackupsAreKnown(t *testing.T) {
	f := &datafolder.Folder{Path: t.TempDir()}
	if all, err := backup.Records(f); err != nil || all == nil || len(all) > 0 {
		t.Fatalf("without any: %v (%v)", all, err)
	}
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 120 {
		i = i * 7 % 120
		b := model.Backup{Begun: begun.Add(time.Duration(i) * time.Hour),
			Ended: begun.Add(time.Duration(i)*time.Hour + time.Minute), To: fmt.Sprint("to ", i), Files: i,
			Incremental: i > 0}
		fatal.If(t, backup.Record(f, &b))
	}
	all, err := backup.Records(f)
	if err != nil || len(all) != 100 {
		t.Fatalf("%d backups (%v)", len(all), err)
	}
	for i, b := range all {
		if b.Files != 119-i || b.To != fmt.Sprint("to ", b.Files) || !b.Incremental || !b.Begun.Equal(
			begun.Add(time.Duration(b.Files)*time.Hour)) {
			t.Fatalf("backup %d: %+v", i, b)
		}
	}
	dir := filepath.Join(f.Path, "backups")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 100 {
		t.Fatalf("%d files (%v)", len(entries), err)
	}
	for name, text := range map[string]string{entries[99].Name(): "{", "20990102T030405.000000000Z.json.new-1": "{"} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if all, err := backup.Records(f); err != nil || len(all) != 100 || !strings.Contains(all[0].Error, "is damaged") {
		t.Errorf("with a damaged one: %d, %+v (%v)", len(all), all[0], err)
	}
	last, err := backup.LastEnded(f)
	if err != nil || !last.Equal(all[1].Ended) || last.IsZero() {
		t.Errorf("the last one ended %v (%v)", last, err)
	}
	for i := range 150 { // the last good one is known for as long as all fail
		fatal.If(t, backup.Record(f, &model.Backup{Begun: begun.Add(time.Duration(200+i) * time.Hour), Error: "full"}))
	}
	if found, err := backup.LastEnded(f); err != nil || !found.Equal(last) {
		t.Errorf("after 150 that failed the last one ended %v (%v), not %v", found, err, last)
	}
}

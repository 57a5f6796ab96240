package diskprobe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A name that stays hidden makes a disk unfit, one of fifty is enough.
func TestHiddenNames(t *testing.T) {
	dir := t.TempDir()
	a, b := &side{dir: dir, id: "a", peer: "b"}, &side{dir: dir, id: "b", peer: "a"}
	o := &Options{Slack: 20 * time.Millisecond}
	verdict := func() Result {
		t.Helper()
		for range 3 {
			fatal.If(t, b.seek())
			time.Sleep(o.Slack)
		}
		results := b.judge(o)
		return results[len(results)-1]
	}
	for range peerRounds {
		fatal.If(t, a.show())
		b.other = a.own
		if r := verdict(); r.Verdict != Yes || r.Check != "names" {
			t.Fatalf("%+v", r)
		}
	}
	fatal.If(t, os.Rename(filepath.Join(a.namesDir("a"), "7-5"), filepath.Join(a.namesDir("a"), "7-4")))
	if r := verdict(); r.Verdict != No || !strings.Contains(r.Text, "old name") {
		t.Errorf("%+v", r)
	}
}

package claim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// TestTakeOverScripts runs the scripts in which a store goes from holder to holder; -rewrite writes their outputs.
func TestTakeOverScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/takeover", func(t *testing.T, path string) {
		s := &takeOverScript{fs: vfs.NewCrashableMem()}
		datadriven.RunTest(t, path, s.run)
		s.killed = append(s.killed, s.db)
		for _, db := range s.killed {
			if db != nil {
				fatal.If(t, db.Close())
			}
		}
	})
}

// takeOverScript is the state of one script between its commands.
type takeOverScript struct {
	fs       *vfs.MemFS
	db       *pebble.DB   // nil while none is open
	killed   []*pebble.DB // on file systems that nobody reads any more
	snapshot *claim.Snapshot
	view     *pebble.DB // of the snapshot
}

func (s *takeOverScript) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var epoch uint64
	d.MaybeScanArgs(t, "epoch", &epoch)
	dir := fmt.Sprint(storeDir, "/e", epoch)
	switch d.Cmd {
	case "open":
		fatal.If(t, s.fs.MkdirAll(dir, 0o750))
		s.db = openStore(t, s.fs, dir)
	case "write": // 60 synced keys, some of which come to lie in tables
		fill(t, s.db, d.CmdArgs[0].Key)
	case "count":
		return counts(t, s.db, d)
	case "close":
		fatal.If(t, s.db.Close())
		s.db = nil
	case "mark-closed":
		fatal.If(t, claim.MarkClosed(s.fs, storeDir, epoch))
	case "kill": // the disk keeps all that was written
		s.killed, s.db = append(s.killed, s.db), nil
		s.fs = s.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	case "take-over":
		path, err := claim.TakeOver(s.fs, "data", storeName, epoch)
		return result(path, err)
	case "remove-old":
		return result("", claim.RemoveOld(s.fs, storeDir, epoch))
	case "list":
		names, err := s.fs.List(storeDir)
		fatal.If(t, err)
		return listing(names)
	case "snapshot":
		return s.takeSnapshot(t)
	case "count-snapshot":
		return counts(t, s.view, d)
	case "close-snapshot":
		fatal.If(t, errors.Join(s.view.Close(), s.snapshot.Close()))
	default:
		d.Fatalf(t, "no such command")
	}
	return ""
}

func (s *takeOverScript) takeSnapshot(t *testing.T) string {
	t.Helper()
	var err error
	if s.snapshot, err = claim.TakeSnapshot(s.fs, storeDir); err != nil {
		return result("", err)
	}
	options := engine.Options{FS: s.snapshot, ReadOnly: true, Fail: func(err error) { t.Error(err) }}
	s.view, err = engine.Open(s.snapshot.Path, options)
	fatal.If(t, err)
	return s.snapshot.Path + "\n"
}

// counts prints how many keys there are with each of the prefixes.
func counts(t *testing.T, db *pebble.DB, d *datadriven.TestData) string {
	t.Helper()
	var text []string
	for _, prefix := range d.CmdArgs {
		text = append(text, fmt.Sprintf("%s=%d", prefix.Key, keys(t, db, prefix.Key)))
	}
	return strings.Join(text, " ") + "\n"
}

// listing prints the epochs of a store's folder, and whether there are other files: their number is up to Pebble.
func listing(names []string) string {
	slices.Sort(names)
	var epochs []string
	others := "no other files\n"
	for _, name := range names {
		if strings.HasPrefix(name, "e") {
			epochs = append(epochs, name+"\n")
		} else {
			others = "other files\n"
		}
	}
	return strings.Join(epochs, "") + others
}

// result prints a path, or which error there was instead.
func result(path string, err error) string {
	switch {
	case errors.Is(err, claim.ErrSuperseded):
		return "superseded\n"
	case errors.Is(err, claim.ErrNoStore):
		return "no store\n"
	case err != nil:
		return err.Error() + "\n"
	case path == "":
		return ""
	}
	return path + "\n"
}

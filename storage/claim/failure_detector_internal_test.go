package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// setClock is a clock that a test sets.
type setClock struct{ now time.Duration }

func (c *setClock) Now() time.Duration { return c.now }

// TestFailureDetectorScripts runs the scripts in which members beat, stop and leave, and one process watches them;
// -rewrite writes their outputs. Each member is on a machine of its own, so nobody sees a process end.
func TestFailureDetectorScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/failure_detector", func(t *testing.T, path string) {
		clock := new(setClock)
		options := &Options{FS: vfs.NewMem(), Clock: clock}
		options.EnsureDefaults()
		s := &detectorScript{
			clock: clock, fs: options.FS, beats: make(map[string]uint64),
			detector: newFailureDetector("data", options, Member{ID: "self", Node: "self"}),
		}
		s.detector.within = inTurn
		fatal.If(t, MakeFolders(s.fs, "data", s.detector.dir))
		s.woken = s.detector.watchers.Watch(t.Context())
		datadriven.RunTest(t, path, s.run)
	})
}

// inTurn runs functions one after the other.
func inTurn(_ time.Duration, all ...func()) {
	for _, f := range all {
		f()
	}
}

// detectorScript is the state of one script between its commands.
type detectorScript struct {
	clock    *setClock
	fs       vfs.FS
	detector *failureDetector
	woken    <-chan struct{}
	beats    map[string]uint64 // by member
}

func (s *detectorScript) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if d.Cmd == "look" { // at a time since the start
		var err error
		if s.clock.now, err = time.ParseDuration(d.CmdArgs[0].Key); err != nil {
			d.Fatalf(t, "%v", err)
		}
		return s.look()
	}
	id := d.CmdArgs[0].Key
	path := s.fs.PathJoin(s.detector.dir, id)
	var err error
	switch d.Cmd {
	case "beat": // makes the member's folder, or renames its counter
		s.beats[id]++
		if s.beats[id] > 1 {
			beat := func(n uint64) string { return s.fs.PathJoin(path, beatsFolder, beatName(n)) }
			err = s.fs.Rename(beat(s.beats[id]-1), beat(s.beats[id]))
			break
		}
		var member []byte
		if member, err = json.Marshal(Member{ID: id, Node: id}); err == nil {
			err = errors.Join(s.fs.MkdirAll(s.fs.PathJoin(path, beatsFolder), folderMode),
				write(s.fs, s.fs.PathJoin(path, descriptionFile), member),
				write(s.fs, s.fs.PathJoin(path, beatsFolder, beatName(1)), nil))
		}
	case "leave":
		err = s.fs.RemoveAll(path)
	case "garble":
		err = errors.Join(s.fs.MkdirAll(s.fs.PathJoin(path, beatsFolder), folderMode),
			write(s.fs, s.fs.PathJoin(path, descriptionFile), []byte("no member's file")))
	case "owner": // whether the owner of a claim is dead
		dead, err := s.detector.isDead(&Member{ID: id, Node: id})
		if err != nil {
			return err.Error() + "\n"
		}
		return map[bool]string{true: "dead\n", false: "not known to be dead\n"}[dead]
	default:
		d.Fatalf(t, "no such command")
	}
	fatal.If(t, err)
	return ""
}

// look lets the detector look once, and prints what it found and which files there are.
func (s *detectorScript) look() string {
	if err := s.detector.look(0); err != nil {
		return err.Error() + "\n"
	}
	var live []string
	for _, m := range s.detector.live() {
		live = append(live, m.ID)
	}
	files, err := s.fs.List(s.detector.dir)
	if err != nil {
		return err.Error() + "\n"
	}
	slices.Sort(files)
	if len(files) == 0 {
		files = []string{"none"}
	}
	changed := "nothing new"
	select {
	case <-s.woken:
		changed = "watchers woken"
	default:
	}
	return fmt.Sprintf("live: %s\nfiles: %s\n%s\n", strings.Join(live, " "), strings.Join(files, " "), changed)
}

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
		fatal.If(t, makeFolders(s.fs, s.detector.dir))
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

// slowListing is a file system of which the listing of a folder takes some time, once.
type slowListing struct {
	vfs.FS
	clock *setClock
	takes time.Duration
}

func (s *slowListing) List(dir string) ([]string, error) {
	names, err := s.FS.List(dir)
	if strings.HasSuffix(dir, beatsFolder) {
		s.clock.now += s.takes
		s.takes = 0
	}
	return names, err
}

// TestLateListing has the listing that shows a member's last beat hang for 13 s, as CephFS does until it gives a dead
// client up. The time goes by the beat, not by the end of the listing; of a member whose counter is no time, it cannot.
func TestLateListing(t *testing.T) {
	for _, timed := range []bool{true, false} {
		t.Run(fmt.Sprint(timed), func(t *testing.T) {
			clock := new(setClock)
			fs := &slowListing{FS: vfs.NewMem(), clock: clock}
			options := &Options{FS: fs, Clock: clock}
			options.EnsureDefaults()
			detector := newFailureDetector("data", options, Member{ID: "self", Node: "self"})
			detector.within = inTurn
			other := Member{ID: "other", Node: "other", Timed: timed}
			dir := fs.PathJoin(detector.dir, other.ID)
			content, err := json.Marshal(other)
			fatal.If(t, err)
			fatal.If(t, errors.Join(fs.MkdirAll(fs.PathJoin(dir, beatsFolder), folderMode),
				write(fs, fs.PathJoin(dir, descriptionFile), content),
				write(fs, fs.PathJoin(dir, beatsFolder, beatName(1)), nil)))
			fatal.If(t, detector.look(0))
			clock.now = 2500 * time.Millisecond // it beats for the last time
			fatal.If(t, fs.Rename(fs.PathJoin(dir, beatsFolder, beatName(1)), fs.PathJoin(dir, beatsFolder, beatName(2501))))
			clock.now, fs.takes = 3*time.Second, 13*time.Second
			fatal.If(t, detector.look(0))
			var died time.Duration
			for ; died == 0; clock.now += 100 * time.Millisecond {
				fatal.If(t, detector.look(0))
				if len(detector.live()) == 1 {
					died = clock.now
				}
			}
			want := 2501*time.Millisecond + options.DeadAfter()
			if !timed {
				want = 16*time.Second + options.DeadAfter()
			}
			if died < want || died > want+200*time.Millisecond {
				t.Errorf("dead after %s, not %s", died, want)
			}
		})
	}
}

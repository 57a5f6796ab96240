package claim

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A process that takes the address of a dead one answers in its place. Its counter is no sign of life of the other.
func TestSuccessorAtTheSameAddress(t *testing.T) {
	clock, fs := new(setClock), vfs.NewMem()
	options := &Options{FS: fs, Clock: clock}
	options.Ask = func(Member) (Pulse, bool) {
		return Pulse{Beat: 1000 + uint64(clock.now/time.Second)}, false // it has another ID
	}
	options.EnsureDefaults()
	detector := newFailureDetector("data", options, Member{ID: "self", Node: "self"})
	detector.within = inTurn
	dir := fs.PathJoin(detector.dir, "a")
	member, err := json.Marshal(Member{ID: "a", Node: "a"})
	fatal.If(t, errors.Join(err, fs.MkdirAll(fs.PathJoin(dir, beatsFolder), folderMode),
		write(fs, fs.PathJoin(dir, descriptionFile), member),
		write(fs, fs.PathJoin(dir, beatsFolder, beatName(50)), nil)))
	for ; clock.now < 30*time.Second; clock.now += options.Poll {
		fatal.If(t, detector.look(0))
	}
	if dead, err := detector.isDead(&Member{ID: "a", Node: "a"}); err != nil || !dead {
		t.Errorf("after %v without a beat the member is dead: %v, %v", clock.now, dead, err)
	}
}

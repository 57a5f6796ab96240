package claim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrNotClosed is the error of giving back a claim whose store was opened and not marked as closed: others must wait
// until the member is dead.
var ErrNotClosed = errors.New("claim: the store was not closed in order")

// ClosedState is the state of a store's folder when its holder gave it back. The next holder, on another machine, may
// not see that yet: it waits until it does. Coordinators keep the state with the claim.
type ClosedState struct {
	Epoch  uint64 // of the newest folder, 0 for none
	Closed bool   // MarkClosed was called for it
}

// ClosedStateOf returns the state of the store called name, which its holder at the given epoch is about to give back.
// A folder that was removed under its holder is in that state still: the next one misses it.
func ClosedStateOf(fs vfs.FS, root, name string, epoch uint64) (ClosedState, error) {
	dir := fs.PathJoin(root, name)
	f, err := readEpochFolders(fs, dir)
	if err != nil {
		return ClosedState{}, err
	}
	r := f.closedState()
	if r.Epoch == epoch && !r.Closed {
		return r, fmt.Errorf("%w: %s", ErrNotClosed, fs.PathJoin(dir, epochName(epoch)))
	}
	if r.Epoch < epoch {
		epochs, err := openedEpochs(fs, root, name)
		if err != nil {
			return ClosedState{}, err
		}
		if slices.Contains(epochs, epoch) {
			return ClosedState{Epoch: epoch}, nil
		}
	}
	return r, nil
}

func (f *epochFolders) closedState() ClosedState {
	return ClosedState{f.highest(), slices.Contains(f.closed, f.highest())}
}

const closedWord = "closed"

// String returns the text that ParseClosedState reads.
func (r ClosedState) String() string {
	if r.Closed {
		return fmt.Sprint(r.Epoch, " ", closedWord)
	}
	return fmt.Sprint(r.Epoch)
}

// ParseClosedState reads what String wrote.
func ParseClosedState(text string) (ClosedState, error) {
	number, word, found := strings.Cut(text, " ")
	epoch, err := strconv.ParseUint(number, 10, 64)
	if err != nil || found && word != closedWord {
		return ClosedState{}, fmt.Errorf("claim: %q does not say in what state a store is", text)
	}
	return ClosedState{epoch, found}, nil
}

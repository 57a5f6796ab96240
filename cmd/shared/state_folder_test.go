package shared_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/shared"
)

// A machine remembers the cluster of its data where it is told to, nowhere if it is told so, and by default unless the
// data are temporary.
func TestStateOf(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/home/u/state")
	temporary := filepath.Join(os.TempDir(), "data")
	f := func(given, data, want string) {
		t.Helper()
		if got := shared.StateOf(given, data); got != want {
			t.Errorf("%q for %s: %q, want %q", given, data, got, want)
		}
	}
	f("", "/srv/data", "/home/u/state/gnocco-node")
	f("", temporary, "")
	f("none", "/srv/data", "")
	f("none", temporary, "")
	f("./none", "/srv/data", "./none")
	f("/etc/state", temporary, "/etc/state")
}

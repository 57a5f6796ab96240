package shared_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/shared"
)

// The state folder is the one that the flag names. With "none" there is none, and by default temporary data has none.
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

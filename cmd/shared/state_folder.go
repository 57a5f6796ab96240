package shared

import (
	"os"
	"path/filepath"
	"strings"
)

// StateUsage is the help of a flag for datafolder.Terms.State.
const StateUsage = "folder of this machine that remembers which cluster the data folder holds, to notice a missing mount " +
	"(default: gnocco-node in ~/.local/state, but for temporary data)"

// StateOf returns the folder that remembers the cluster of a data folder; given is the one that a flag names.
func StateOf(given, data string) string {
	if data, err := filepath.Abs(data); given != "" || err == nil &&
		strings.HasPrefix(data, filepath.Clean(os.TempDir())+"/") {
		return given
	}
	return StateFolder("gnocco-node")
}

// StateFolder is where a user's data lies unless told otherwise: name below the XDG state folder. It is "" without a
// home.
func StateFolder(name string) string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, name)
}

package shared

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// StateUsage is the help of a flag for datafolder.Terms.State.
const StateUsage = "folder of this machine that remembers which cluster the data folder holds, to notice a missing mount " +
	"(none: no folder; default: gnocco-node in ~/.local/state, but for temporary data)"

// StateOf returns the folder that remembers the cluster of a data folder, "" for none; given is what a flag says.
func StateOf(given, data string) string {
	path, err := filepath.Abs(data)
	temporary := err == nil && strings.HasPrefix(path, filepath.Clean(os.TempDir())+"/")
	if given == "none" || given == "" && temporary {
		return ""
	}
	return cmp.Or(given, StateFolder("gnocco-node"))
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

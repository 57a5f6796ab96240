package diskprobe

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// deadClient is for how long, in seconds, CephFS may keep what a dead machine's client holds.
const deadClient = 60

var sessionTimes = regexp.MustCompile(`(?m)^(session_timeout|session_autoclose) (\d+)$`)

// DeadClients says how to bound the time for which machines of a mount wait for a dead one, "" where they do not, and
// whether it is known to be long. The kernel's client shows root the times of the file system. No client sees the
// options of the MDS.
func DeadClients(kind string) (text string, long bool) {
	return deadClients(kind, os.DirFS("/sys/kernel/debug"))
}

func deadClients(kind string, debug fs.FS) (text string, long bool) {
	if kind != "ceph" && !strings.HasPrefix(kind, "fuse.ceph") {
		return "", false
	}
	const remedy = "until the MDS gives up a dead machine, starts and takeovers on all others wait for it: set " +
		"session_timeout and session_autoclose to 30, and the MDS' mds_cap_revoke_eviction_timeout to 10"
	maps, _ := fs.Glob(debug, "ceph/*/mdsmap") // none: not root, or another client
	for _, name := range maps {
		content, _ := fs.ReadFile(debug, name)
		for _, found := range sessionTimes.FindAllStringSubmatch(string(content), -1) {
			if seconds, err := strconv.Atoi(found[2]); err != nil || seconds > deadClient {
				return fmt.Sprintf("%s is %s s: %s", found[1], found[2], remedy), true
			}
		}
	}
	return "check on the servers, as no client sees all of it: " + remedy, false
}

package diskprobe

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestDeadClients(t *testing.T) {
	f := func(kind, timeout, autoclose, want string, wantLong bool) {
		t.Helper()
		debug := fstest.MapFS{}
		if timeout != "" {
			debug["ceph/5f0c.client4242/mdsmap"] = &fstest.MapFile{Data: []byte("epoch 7\nroot 0\nmax_mds 1\nsession_timeout " +
				timeout + "\nsession_autoclose " + autoclose + "\n")}
		}
		if got, long := deadClients(kind, debug); long != wantLong || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s, %s and %s: %q", kind, timeout, autoclose, got)
		}
	}
	f("ext4", "60", "300", "", false)
	f("nfs4", "", "", "", false)
	f("ceph", "60", "300", "session_autoclose is 300 s: ", true)
	f("ceph", "120", "30", "session_timeout is 120 s: ", true)
	f("ceph", "30", "30", "check on the servers", false)
	f("fuse.ceph-fuse", "", "", "check on the servers", false)
	f("fuse.ceph", "", "", "check on the servers", false)
}

package claim

import "testing"

// Only files of lower numbers may be removed as left over: others may be about to get their name. (A process that left
// while it tidied removed the file by which it gave a claim back.)
func TestTemporaryNumber(t *testing.T) {
	f := func(file string, want uint64) {
		t.Helper()
		if got, ok := temporaryEpoch(file); got != want || ok != (want != 0) {
			t.Errorf("%s: %d %v, want %d", file, got, ok, want)
		}
	}
	f("tmp-vm-a2f1f0ec.0666b000-9a1a-6", 6)
	f("tmp-vm-a2f1f0ec.0666b000-9a1a-6.released.", 6)
	f("tmp-x-12", 12)
	f("6", 0)
	f("6.released.vm-a2f1f0ec", 0)
	f("tmp-vm", 0)
	f("tmp-", 0)
	f("tmp-x-0", 0)
}

package claim

import (
	"encoding/json"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// For any bytes from a disk, decoding fails cleanly or returns a value that encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	member, err := json.Marshal(Member{ID: "a.1", Node: "a", Roles: []string{"api"}, Weight: 1})
	fatal.If(f, err)
	f.Add(member)
	f.Add([]byte("12 closed"))
	f.Add([]byte("e12.closed"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if m, err := decodeMember(content); err == nil && (CheckName(m.ID) != nil || CheckName(m.Node) != nil) {
			t.Errorf("member %+v", m)
		}
		if r, err := ParseClosedState(string(content)); err == nil {
			if again, err := ParseClosedState(r.String()); err != nil || again != r {
				t.Errorf("%q: %v, %v", content, again, err)
			}
		}
		if epoch, ok := parseEpoch(string(content)); ok && epochName(epoch) != string(content) {
			t.Errorf("%q is taken for epoch %d", content, epoch)
		}
	})
}

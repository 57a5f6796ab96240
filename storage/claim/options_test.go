package claim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestOptions(t *testing.T) {
	f := func(o claim.Options, want string) {
		t.Helper()
		o.EnsureDefaults()
		err := o.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f(claim.Options{}, "")
	f(claim.Options{TTL: time.Second}, "")
	f(claim.Options{TTL: time.Millisecond}, "TTL is 1ms")
	f(claim.Options{Beat: 6 * time.Second}, "beat is 6s")
	f(claim.Options{Slack: -1}, "negative")
	f(claim.Options{Poll: time.Minute}, "poll is 1m0s")

	warnings := func(o claim.Options, want int) {
		t.Helper()
		o.EnsureDefaults()
		if got := o.Warnings(); len(got) != want {
			t.Errorf("warnings: %q", got)
		}
	}
	warnings(claim.Options{}, 0)
	warnings(claim.Options{Slack: time.Second}, 1)
	warnings(claim.Options{Slack: time.Second, TTL: time.Second}, 2)
}

func TestMemberNames(t *testing.T) {
	coordinator, err := claim.NewFile(t.TempDir(), claim.Options{})
	fatal.If(t, err)
	for _, m := range []claim.Member{{}, {Node: "../x"}, {Node: "a b"}, {Node: "a", Weight: -1},
		{Node: "a", ID: "nobody"}} {
		if _, err := coordinator.Join(t.Context(), m); err == nil {
			t.Errorf("%+v joined", m)
		}
	}
	first, err := coordinator.Join(t.Context(), claim.Member{Node: "a", ID: "a.1"})
	fatal.If(t, err)
	if _, err := coordinator.Join(t.Context(), claim.Member{Node: "a", ID: "a.1"}); err == nil {
		t.Error("an ID was used twice")
	}
	fatal.If(t, first.Leave(t.Context()))
}

package auth

import (
	"net/netip"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// However many addresses guess, those that are remembered are bounded; the ones that have paid are forgotten first.
func TestFailedLoginsMemory(t *testing.T) {
	now := time.Unix(1e9, 0)
	f := failedLogins{now: func() time.Time { return now }, addresses: map[netip.Prefix]*loginAddress{}}
	guess := func(i int) {
		leave, err := f.enter(t.Context(), netip.PrefixFrom(
			netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32))
		fatal.If(t, err)
		leave(true)
	}
	for i := range 3 * maxAddresses {
		guess(i)
	}
	if n := len(f.addresses); n > maxAddresses {
		t.Errorf("%d addresses", n)
	}
	now = now.Add(failureInterval)
	for i := range maxAddresses {
		guess(4*maxAddresses + i)
	}
	if n := len(f.addresses); n != maxAddresses {
		t.Errorf("%d addresses, of which %d count", n, maxAddresses)
	}
}

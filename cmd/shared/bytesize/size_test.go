package bytesize_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/cmd/shared/bytesize"
)

func TestSize(t *testing.T) {
	f := func(text string, want int64, shown string) {
		t.Helper()
		var b bytesize.Size
		if err := b.Set(text); err != nil || int64(b) != want || b.String() != shown {
			t.Errorf("%q: got %d, %q, %v, want %d, %q", text, b, b.String(), err, want, shown)
		}
	}
	f("0", 0, "0")
	f("1024", 1024, "1KiB")
	f("1500B", 1500, "1500")
	f("64MiB", 64<<20, "64MiB")
	f("1.5 GB", 1_500_000_000, "1500000000")
	f("2TiB", 2<<40, "2TiB")
	for _, text := range []string{"", "x", "-1", "1XB", "NaN", "1e30", "MiB"} {
		var b bytesize.Size
		if err := b.Set(text); err == nil {
			t.Errorf("%q: got %d", text, b)
		}
	}
}

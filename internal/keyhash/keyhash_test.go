package keyhash_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

func TestOf(t *testing.T) {
	a, b := keyhash.Of([]byte("a")), keyhash.Of([]byte("b"))
	if a == b || a != keyhash.Of([]byte("a")) {
		t.Errorf("hashes %x, %x", a, b)
	}
	if a[0] == a[1] || a[0] == b[0] || a[1] == b[1] {
		t.Errorf("halves of %x, %x", a, b)
	}
}

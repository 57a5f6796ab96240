package keyspace

import (
	"bytes"
	"testing"
)

func TestPrefixEnd(t *testing.T) {
	f := func(prefix, want []byte) {
		t.Helper()
		if got := PrefixEnd(prefix); !bytes.Equal(got, want) {
			t.Errorf("prefixEnd(% x) = % x, want % x", prefix, got, want)
		}
	}
	f([]byte("m"), []byte("n"))
	f([]byte{'n', 0xff, 0xff}, []byte{'o'})
	f([]byte{0xff}, nil)
}

package archive

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// foldedTail returns what a merge operator makes of operands.
func foldedTail(fold fold, operands [][]byte) []byte {
	m := &valueMerger{fold: fold}
	m.foldTail(operands)
	return m.result
}

// concat folds by writing operands one after another; operands with an 'x' do not decode.
func concat(dst []byte, operands [][]byte) ([]byte, error) {
	for _, o := range operands {
		if bytes.IndexByte(o, 'x') >= 0 {
			return nil, errors.New("does not decode")
		}
		dst = append(dst, o...)
	}
	return dst, nil
}

func TestFoldTail(t *testing.T) {
	f := func(want []string, operands ...string) {
		t.Helper()
		var in [][]byte
		for _, o := range operands {
			in = append(in, []byte(o))
		}
		var got []string
		for _, o := range appendOperands(nil, foldedTail(concat, in)) {
			got = append(got, string(o))
		}
		if !slices.Equal(got, want) {
			t.Errorf("fold of %q is %q, want %q", operands, got, want)
		}
	}
	f([]string{"ab"}, "a", "b")
	f([]string{"abc"}, "a", "b", "c")
	f([]string{"base9012345", "b"}, "base9012345", "b")
	f([]string{"base9012345", "bc"}, "base9012345", "b", "c")
	f([]string{"base9012345bcd"}, "base9012345", "b", "c", "d")
	f([]string{"a", "x", "b"}, "a", "x", "b")
}

func TestMergerFoldsInAnyOrderOfArrival(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := 1 + rng.IntN(12)
		operands := make([][]byte, n)
		var want []byte
		for i := range operands {
			operands[i] = bytes.Repeat([]byte{byte('a' + i)}, 1+rng.IntN(30))
			want = append(want, operands[i]...)
		}
		at := rng.IntN(n)
		m := &valueMerger{fold: concat, rewriting: func() bool { return n%2 == 0 }}
		m.MergeNewer(operands[at])
		for low, high := at-1, at+1; low >= 0 || high < n; {
			if high < n && (low < 0 || rng.IntN(2) == 0) {
				m.MergeNewer(operands[high])
				high++
			} else {
				m.MergeOlder(operands[low])
				low--
			}
		}
		value, _, err := m.Finish(true)
		fatal.If(t, err)
		if got := bytes.Join(appendOperands(nil, value), nil); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestListsThatAreCutShortKeepTheirBytes(t *testing.T) {
	list := appendList(nil, [][]byte{[]byte("abc"), []byte("defgh")})
	for n := range list {
		for _, o := range appendOperands(nil, list[:n]) {
			if !bytes.Contains(list, o) {
				t.Errorf("cut to %d bytes: operand %q is made up", n, o)
			}
		}
	}
}

func TestOperandsThatDoNotFoldStay(t *testing.T) {
	var operands [][]byte
	for i := range 200 {
		operands = append(operands, []byte{'a' + byte(i%20)})
	}
	operands[50] = []byte("x")
	got := appendOperands(nil, foldedTail(concat, operands))
	if len(got) != 3 || string(got[1]) != "x" || len(got[0]) != 50 || len(got[2]) != 149 {
		t.Errorf("%d operands: %q", len(got), got)
	}
}

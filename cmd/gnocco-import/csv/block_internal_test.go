package csv

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// A source that is cut behind whole records has the same records in its parts, wherever its text ends meanwhile.
func TestWholeRecords(t *testing.T) {
	rules := NewReader(nil, ',')
	read := func(text string, line int) (all string) {
		r := rules.BlockReader([]byte(text), line)
		for {
			fields, line, err := r.Read()
			if err == io.EOF {
				return all
			}
			all += fmt.Sprintf("%d %q %t\n", line, fields, err == nil)
		}
	}
	for _, text := range []string{"a,b\n\n1,2\n3,4", "\"a\n\",b\r\n\"c\"\"\",d\n\n", "\"a\"x,\"\nb\",1\n", "a\"\n\"b\n\",c\n", "\"a\n\"x,1\n\",5\n6\n",
		"\"" + strings.Repeat("x\n", 10) + "y\"\nz\n"} {
		want, most := read(text, 1), 0
		for n := range len(text) {
			cut := rules.WholeRecords([]byte(text[:n]))
			if got := read(text[:cut], 1) + read(text[cut:], 1+rules.Lines([]byte(text[:cut]))); got != want {
				t.Errorf("%q cut at %d of %d bytes: got\n%swant\n%s", text, cut, n, got, want)
			}
			most = max(most, cut)
		}
		if most == 0 {
			t.Errorf("%q is never cut", text)
		}
	}
	// An open quote loses its line only, though the text goes on.
	open := "\"a\n" + strings.Repeat("b\n", maxRecord/2+10)
	if got := rules.WholeRecords([]byte(open)); got < maxRecord {
		t.Errorf("%d bytes of %d", got, len(open))
	}
}

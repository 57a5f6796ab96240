package csv_test

import (
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

// records reads all of text; a rejected record is given as its error's text alone.
func records(t testing.TB, source io.Reader) (all [][]string) {
	t.Helper()
	r := csv.NewReader(source, ',')
	for {
		fields, line, err := r.Read()
		var rejected *csv.LineError
		switch {
		case err == io.EOF:
			return all
		case errors.As(err, &rejected):
			all = append(all, []string{err.Error()})
		case err != nil:
			t.Fatal(err)
		default:
			record := []string{fmt.Sprint(line)}
			for _, field := range fields {
				record = append(record, string(field))
			}
			all = append(all, record)
		}
	}
}

func TestReader(t *testing.T) {
	f := func(text string, want ...[]string) {
		t.Helper()
		for _, source := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text))} {
			if got := records(t, source); !reflect.DeepEqual(got, want) {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		}
	}
	f("")
	f("\n\r\n\n")
	f("a,b\n", []string{"1", "a", "b"})
	f("a,b", []string{"1", "a", "b"})
	f("a,b\r\nc,d\r", []string{"1", "a", "b"}, []string{"2", "c", "d"})
	f("\na,,\n,\n", []string{"2", "a", "", ""}, []string{"3", "", ""})
	f(`"a","b ""c""",`+"\n", []string{"1", "a", `b "c"`, ""})
	f("\"a\r\n\nb\",c\nd\n", []string{"1", "a\n\nb", "c"}, []string{"4", "d"})
	f("a\"b\nc\n", []string{"line 1: has a quote inside a field without quotes"}, []string{"2", "c"})
	f("\"a\"b\nc\n", []string{"line 1: has text after a closing quote"}, []string{"2", "c"})
	f("a,\"b\nc\nd\n", []string{"line 1: has a quote that is never closed"}, []string{"2", "c"}, []string{"3", "d"})

	// Without a line feed, a carriage return ends a line.
	f("a,b\r\rc,d\r", []string{"1", "a", "b"}, []string{"3", "c", "d"})
	f("\"a\rb\",c\rd", []string{"1", "a\nb", "c"}, []string{"3", "d"})
	f("a\r", []string{"1", "a"})
	f(strings.Repeat("x", 100<<10)+"\r\na\rb", []string{"1", strings.Repeat("x", 100<<10)}, []string{"2", "a\rb"})

	long := strings.Repeat("x", 3<<20)
	f(long+"\nc\n", []string{"line 1: is longer than a mebibyte"}, []string{"2", "c"})
	f("a\n"+long, []string{"1", "a"}, []string{"line 2: is longer than a mebibyte"})

	// Only the line with the open quote is lost, not the mebibyte that was read in search of its end.
	const lines = 1 << 19
	all := records(t, strings.NewReader(`"`+strings.Repeat("x\n", lines)))
	if len(all) != lines || all[0][0] != "line 1: has a quote that is never closed" ||
		!reflect.DeepEqual(all[lines-1], []string{fmt.Sprint(lines), "x"}) {
		t.Errorf("got %d records, first %q, last %q", len(all), all[0], all[len(all)-1])
	}
}

func TestReaderPassesOnErrors(t *testing.T) {
	broken := errors.New("broken")
	r := csv.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), ',')
	if fields, _, err := r.Read(); err != nil || string(fields[0]) != "a" {
		t.Fatalf("got %q, %v", fields, err)
	}
	if _, _, err := r.Read(); err != broken {
		t.Fatalf("got %v, want %v", err, broken)
	}
}

// lineEnds are those with carriage returns.
var lineEnds = regexp.MustCompile("\r+(\n|$)")

// FuzzReader compares with encoding/csv up to the first malformed record, after which they go on at different lines.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"timestamp,value\n2014-02-14 14:30:00,0.132\n", "\"a\r\n\"\"b\",\r\n\r", "a\"\n",
		"\"\"x", ",\n,,\"\"", "\n\r\r", "a\r\r\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		same := text
		if !strings.Contains(text, "\n") && strings.Contains(strings.TrimSuffix(text, "\r"), "\r") {
			same = strings.ReplaceAll(text, "\r", "\n") // lines that encoding/csv does not know
		}
		same = lineEnds.ReplaceAllString(same, "$1") // encoding/csv cuts one carriage return off
		reference := stdcsv.NewReader(strings.NewReader(same))
		reference.FieldsPerRecord = -1
		r := csv.NewReader(iotest.HalfReader(strings.NewReader(text)), ',')
		for {
			want, wantErr := reference.Read()
			got, line, err := r.Read()
			if wantErr != nil || err != nil {
				var rejected *csv.LineError
				if (wantErr == nil) != (err == nil) || (wantErr == io.EOF) != (err == io.EOF) ||
					err != io.EOF && !errors.As(err, &rejected) {
					t.Fatalf("got error %v, encoding/csv %v", err, wantErr)
				}
				for err != io.EOF { // the rest must end
					_, _, err = r.Read()
				}
				return
			}
			if at, _ := reference.FieldPos(0); at != line || len(got) != len(want) {
				t.Fatalf("line %d %q, encoding/csv line %d %q", line, got, at, want)
			}
			for i := range want {
				if string(got[i]) != want[i] {
					t.Fatalf("got %q, encoding/csv %q", got, want)
				}
			}
		}
	})
}

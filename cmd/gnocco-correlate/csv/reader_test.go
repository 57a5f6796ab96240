package csv_test

import (
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/csv"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func opener(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// read returns all columns.
func read(t testing.TB, r *csv.Reader) ([][]float64, error) {
	t.Helper()
	columns := make([][]float64, r.Columns())
	err := r.Read(t.Context(), func(part [][]float64) error {
		for j := range columns {
			columns[j] = append(columns[j], part[j]...)
		}
		return nil
	})
	return columns, err
}

func TestColumns(t *testing.T) {
	f := func(text string, options csv.Options, want string) {
		t.Helper()
		for _, block := range []int{12, 20, 1 << 20} {
			options.BlockBytes = block
			var bad []string
			options.Report = func(cell csv.BadCell) { bad = append(bad, cell.Error()) }
			r, err := csv.Open(opener(text), options)
			if err != nil {
				if err.Error() != want {
					t.Errorf("%q: %v, want %s", text, err, want)
				}
				continue
			}
			columns, err := read(t, r)
			got := fmt.Sprint(r.Names(), columns)
			if len(r.Text()) > 0 {
				got += fmt.Sprint(" text ", r.Text())
			}
			if len(bad) > 0 {
				got += " bad " + strings.Join(bad, "; ")
			}
			if err != nil {
				got += " error " + err.Error()
			}
			if got != want || int(r.Bad()) != len(bad) && !options.BadIsError {
				t.Errorf("%q in blocks of %d:\n got %s\nwant %s", text, block, got, want)
			}
		}
	}
	plain := csv.Options{}
	f("a,b\n1,2\n3,4\n", plain, "[a b] [[1 3] [2 4]]")
	f("\ufeffa,b\r\n1,2\r\n\r\n\n3,4", plain, "[a b] [[1 3] [2 4]]")
	f("a, b\n 1 ,\n\t-2.5e1,NaN\n+3,null\n", plain, "[a b] [[1 -25 3] [NaN NaN NaN]]")
	f("a\n1\n\n2\n", plain, "[a] [[1 2]]")
	f("a\n\"1\"\n\"2\"\"\"\n3\"4\n", csv.Options{NoHeader: false},
		`[a] [[1 NaN NaN]] bad csv: line 3, column 1 (a): "2\"" is not a number; csv: line 4: has a quote inside a field without quotes`)
	f("a\n0\n\"1\"2\n\"3\"4\"5\n\"6\"\r\n", plain,
		`[a] [[0 NaN NaN 6]] bad csv: line 3: has text after a closing quote; csv: line 4: has text after a closing quote`)
	f("a,b\n1,2\n3\n4,5,6\n7,8\n", plain,
		"[a b] [[1 3 4 7] [2 NaN 5 8]] bad csv: line 3: has 1 field, not 2; csv: line 4: has 3 fields, not 2")
	f("a;b\n1;2\n", csv.Options{Comma: ';'}, "[a b] [[1] [2]]")
	f("1,2\n3,4\n", csv.Options{NoHeader: true}, "[1 2] [[1 3] [2 4]]")
	f("a,b,c\n1,2,3\n", csv.Options{Skip: []string{"b"}}, "[a c] [[1] [3]]")
	f("a,b\n1,3\n2,4\n", csv.Options{BadIsError: true, NoHeader: true},
		`[1 2] [[] []] error csv: line 1, column 1 (1): "a" is not a number`)
	f("a,b\n3,1\n1,inf\n2,1e999\n", plain,
		`[a b] [[3 1 2] [1 NaN NaN]] bad csv: line 3, column 2 (b): "inf" is not a number; `+
			`csv: line 4, column 2 (b): "1e999" is not a number`)
	f("a,b\n1,2\na,b\n3,4\n", plain, "[a b] [[1 3] [2 4]]") // joined files
	f("", plain, "csv: the file is empty")
	f("\n\n", plain, "csv: the file is empty")
	f("a,b\n1,2\n", csv.Options{Skip: []string{"x"}}, `csv: there is no column "x" to skip: the columns are a, b`)
}

// Columns of text in the first rows are left out, also if the text holds commas and line ends.
func TestTextIsLeftOut(t *testing.T) {
	text :=
		"time,v,host\n2014-02-14 14:30:00,1,\"a\n,\"\"b\"\n2014-02-14 14:35:00,2,c\n2014-02-14 14:40:00,oops,\"d\"\n"
	for _, block := range []int{30, 1 << 20} {
		var bad []csv.BadCell
		r, err := csv.Open(opener(text), csv.Options{BlockBytes: block, Report: func(b csv.BadCell) {
			bad = append(bad, b)
		}})
		fatal.If(t, err)
		columns, err := read(t, r)
		if err != nil || fmt.Sprint(r.Names(), columns, r.Text()) != "[v] [[1 2 NaN]] [host]" {
			t.Errorf("got %v %v %v, %v", r.Names(), columns, r.Text(), err)
		}
		if len(bad) != 1 || bad[0].Line != 5 || bad[0].Column != 2 {
			t.Errorf("bad cells are %+v", bad)
		}
	}
}

// Timestamps are no series, though they may be numbers.
func TestTimestampsAreLeftOut(t *testing.T) {
	f := func(text string, options csv.Options, want, names string) {
		t.Helper()
		for _, block := range []int{64, 1 << 20} {
			options.BlockBytes = block
			r, err := csv.Open(opener(text), options)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if r.Timestamps() != want || strings.Join(r.Names(), ",") != names {
				t.Errorf("%q in blocks of %d: timestamps %q, columns %q, want %q and %q", text, block, r.Timestamps(),
					r.Names(), want, names)
			}
		}
	}
	plain := csv.Options{}
	f("Timestamp,a\n0,1\n1,2\n", plain, "Timestamp", "a")
	f("a,DATE,b\n0,1,2\n1,2,3\n", plain, "DATE", "a,b")
	f("\ufefftime,a\n0.5,1\n1,2\n", plain, "time", "a")
	f("datetime,time,a\n1,2,3\n2,3,4\n", plain, "datetime", "time,a") // as in an import, the first is the one
	f("datetime,time,a\n1,2,3\n2,3,4\n", csv.Options{TimestampColumn: "time"}, "time", "datetime,a")
	f("at,a\n1767225601,1\n1767225602.5,2\n1767225602.5,3\n", csv.Options{}, "at", "a")
	f("at,a\n1767225601000,1\n1767225600000,2\n", plain, "at", "a")
	f("at,a\n1767225601000000000,1\n1767225602000000000,2\n", plain, "at", "a")
	f("1767225601,1\n1767225602,2\n", csv.Options{NoHeader: true}, "1", "2")

	f("timeout,a\n0,1\n1,2\n", plain, "", "timeout,a")
	f("a,b\n1767225601,1\n1767225603,2\n1767225602,2\n", plain, "", "a,b") // up and down
	f("a,b\n1767225601,1\n1767225601,2\n", plain, "a", "b")
	f("a,b\n1,1\n2,2\n", plain, "", "a,b")
	f("a,b\n1,1767225601\n0,1767225602\n", plain, "", "a,b") // a counter
	f("when,a\n2026-01-01,1\n", plain, "when", "a")
	f("day,a,clock\n2026-01-01,1,13:05\n", plain, "day and clock", "a")

	if _, err := csv.Open(opener("a,b\n1,2\n"), csv.Options{TimestampColumn: "c"}); err == nil {
		t.Error("a column of timestamps that is not there was taken")
	}
	if _, err := csv.Open(opener("time\n1\n2\n"), plain); err == nil ||
		!strings.Contains(err.Error(), "not timestamps") {
		t.Errorf("timestamps alone: %v", err)
	}
}

func TestReadAgain(t *testing.T) {
	r, err := csv.Open(opener("a,b\n1,2\n3,x\n"), csv.Options{})
	fatal.If(t, err)
	first, err1 := read(t, r)
	enough := errors.New("enough")
	if err := r.Read(t.Context(), func([][]float64) error { return enough }); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	second, err2 := read(t, r)
	if err1 != nil || err2 != nil || fmt.Sprint(first) != fmt.Sprint(second) || r.Bad() != 1 {
		t.Fatalf("first %v %v, then %v %v, %d bad", first, err1, second, err2, r.Bad())
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	r, err := csv.Open(func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("a\n1\n2\n3\n"), iotest.ErrReader(broken))), nil
	}, csv.Options{BlockBytes: 4})
	fatal.If(t, err)
	if _, err := read(t, r); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if r, err = csv.Open(opener("a\n1\n2\n3\n4\n"), csv.Options{BlockBytes: 2}); err != nil {
		t.Fatal(err)
	}
	if err := r.Read(t.Context(), func([][]float64) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// generate returns text of so many rows and columns, with decimals places, and its values.
func generate(columns, rows, decimals int) (string, correlate.Values) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	values := make(correlate.Values, columns)
	for j := range columns {
		fmt.Fprintf(&text, ",c%d"[min(1, 1-min(j, 1)):], j)
	}
	for range rows {
		text.WriteByte('\n')
		for j := range columns {
			cell := strconv.FormatFloat(100+random.NormFloat64(), 'f', decimals, 64)
			v, _ := strconv.ParseFloat(cell, 64)
			values[j] = append(values[j], v)
			if j > 0 {
				text.WriteByte(',')
			}
			text.WriteString(cell)
		}
	}
	return text.String(), values
}

func TestManyBlocksKeepTheirOrder(t *testing.T) {
	text, want := generate(7, 20_000, 6)
	r, err := csv.Open(opener(text), csv.Options{BlockBytes: 10_000, Workers: 4})
	fatal.If(t, err)
	got, err := read(t, r)
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("columns differ (%v)", err)
	}
}

// FuzzReader looks for texts that do not give the same in blocks of one record as at once, and compares numbers with
// encoding/csv where that takes the text.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"a\n\",b\n\"1\",\"\"\"\"\n", "a\n\n1\r\n", "a,b\n1\n2,3,4\n",
		"a\"b,c\n1\",2\n\"3\"x,4\n", ",", "A\nA\nA\n000", "0\r ", "0,b\n1,b\n,0", "A\nB\nA\n0", "A,A\n,A\n,0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var first string
		for _, block := range []int{1 << 20, 1, 20} {
			// The layout is looked for in the first block, so it is taken from the header alone.
			r, err := csv.Open(opener(text), csv.Options{BlockBytes: block, Workers: 1})
			if err != nil {
				return
			}
			if len(r.Text()) > 0 {
				return
			}
			columns, err := read(t, r)
			fatal.If(t, err)
			got := fmt.Sprint(r.Names(), columns, r.Bad())
			if first == "" {
				first = got
				compare(t, text, r.Names(), columns)
			} else if got != first {
				t.Fatalf("in blocks of %d %s, at once %s", block, got, first)
			}
		}
	})
}

// compare compares columns with those that encoding/csv reads, if it accepts text and knows the same header. The header
// may come again, units stand below it; a carriage return ends a line where no line feed does.
func compare(t *testing.T, text string, names []string, columns [][]float64) {
	same := strings.TrimPrefix(text, "\ufeff")
	if !strings.Contains(same, "\n") {
		same = strings.ReplaceAll(same, "\r", "\n")
	}
	records, err := stdcsv.NewReader(strings.NewReader(lineEnds.ReplaceAllString(same, "$1"))).ReadAll()
	isHeader := func(record []string) bool {
		return slices.EqualFunc(record, names, func(field, name string) bool {
			return strings.TrimSpace(field) == name
		})
	}
	if err != nil || strings.ContainsAny(text, "#;|\t") || len(records) == 0 || len(names) == 0 || !isHeader(records[0]) {
		return
	}
	for k := len(records) - 1 - len(columns[0]); k > 0; k-- { // lines of text may stand before the header
		if isHeader(records[k]) {
			records = records[k:]
			break
		}
	}
	more := len(records) - 1 - len(columns[0])
	rows := slices.DeleteFunc(records[1:], func(record []string) bool {
		if more <= 0 || !isHeader(record) {
			return false
		}
		more--
		return true
	})
	isNumber := func(field string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		return err == nil
	}
	for len(rows) > len(columns[0]) && !slices.ContainsFunc(rows[0], isNumber) {
		rows = rows[1:] // units
	}
	for j := range columns {
		if len(columns[j]) != len(rows) {
			t.Fatalf("%d rows, encoding/csv %d", len(columns[j]), len(rows))
		}
		for i, got := range columns[j] {
			want, err := strconv.ParseFloat(strings.Trim(rows[i][j], " \t"), 64)
			if err == nil && !math.IsNaN(got) && got != want {
				t.Fatalf("row %d, column %d is %v, want %v", i, j, got, want)
			}
		}
	}
}

// lineEnds are those with carriage returns.
var lineEnds = regexp.MustCompile("\r+(\n|$)")

// BenchmarkParse compares one worker with encoding/csv and strconv.ParseFloat on the same text.
func BenchmarkParse(b *testing.B) {
	for _, decimals := range []int{3, 6, 15} {
		text, _ := generate(64, 8192, decimals)
		b.Run(fmt.Sprintf("decimals=%d/reader=gnocco", decimals), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r, err := csv.Open(opener(text), csv.Options{Workers: 1})
				fatal.If(b, err)
				fatal.If(b, r.Read(b.Context(), func([][]float64) error { return nil }))
			}
		})
		b.Run(fmt.Sprintf("decimals=%d/reader=encoding", decimals), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r := stdcsv.NewReader(strings.NewReader(text))
				r.ReuseRecord = true
				sum := 0.
				for line := 0; ; line++ {
					record, err := r.Read()
					if err == io.EOF {
						break
					}
					fatal.If(b, err)
					for _, cell := range record {
						if line > 0 {
							v, err := strconv.ParseFloat(cell, 64)
							fatal.If(b, err)
							sum += v
						}
					}
				}
			}
		})
	}
}

// Rows are estimated from the first lines, where the length of the text is known.
func TestEstimateRows(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,c\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "%d,%d,%d\n", 100_000+i, 7, 3*i)
	}
	for known, want := range map[int64][2]int64{int64(text.Len()): {8_500, 11_500}, 0: {0, 0}, -1: {0, 0}} {
		r, err := csv.Open(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil },
			csv.Options{BlockBytes: 4096, Bytes: known})
		fatal.If(t, err)
		if got := r.EstimateRows(); got < want[0] || got > want[1] {
			t.Errorf("%d rows of %d bytes", got, known)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

package pairs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/correlate"
)

// Formats are the names that New takes.
const Formats = "text, names, csv or jsonl"

// Writer writes pairs in one format. Close writes what is pending.
type Writer interface {
	Write(correlate.Pair) error
	Close() error
}

// New returns a writer of format to out, which stays open. names are the columns'. Text and names have the lag only
// with lags.
func New(format string, out io.Writer, names []string, lags bool) (Writer, error) {
	lines := func(header string, appendPair func(dst []byte, p correlate.Pair) []byte) (Writer, error) {
		w := &lineWriter{out: bufio.NewWriterSize(out, 1<<18), appendPair: appendPair}
		_, err := w.out.WriteString(header)
		return w, err
	}
	switch format {
	case "text":
		return lines("", func(dst []byte, p correlate.Pair) []byte { return appendText(dst, p, lags) })
	case "names":
		return lines("", func(dst []byte, p correlate.Pair) []byte { return appendNames(dst, p, names, lags) })
	case "csv":
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = quoteCSV(name)
		}
		return lines("i,j,x,y,r,lag,overlap\n", func(dst []byte, p correlate.Pair) []byte {
			return appendCSV(dst, p, quoted)
		})
	case "jsonl":
		quoted := make([]string, len(names))
		for i, name := range names {
			text, err := json.Marshal(name)
			if err != nil {
				return nil, err
			}
			quoted[i] = string(text)
		}
		return lines("", func(dst []byte, p correlate.Pair) []byte { return appendJSON(dst, p, quoted) })
	}
	return nil, fmt.Errorf("%q is not %s", format, Formats)
}

// lineWriter writes a line a pair.
type lineWriter struct {
	out        *bufio.Writer
	line       []byte
	appendPair func(dst []byte, p correlate.Pair) []byte
}

// Write implements Writer.
func (w *lineWriter) Write(p correlate.Pair) error {
	w.line = append(w.appendPair(w.line[:0], p), '\n')
	_, err := w.out.Write(w.line)
	return err
}

// Close implements Writer.
func (w *lineWriter) Close() error { return w.out.Flush() }

// appendNumber writes 17 significant digits, from which the same float64 is read.
func appendNumber(dst []byte, v float64) []byte { return strconv.AppendFloat(dst, v, 'g', 17, 64) }

func appendText(dst []byte, p correlate.Pair, lags bool) []byte {
	dst = strconv.AppendInt(append(dst, '('), int64(p.I), 10)
	dst = strconv.AppendInt(append(dst, ','), int64(p.J), 10)
	dst = appendNumber(append(dst, ") "...), p.R)
	if lags {
		dst = strconv.AppendInt(append(dst, ' '), int64(p.Lag), 10)
	}
	return dst
}

// appendNames is text with names in place of numbers.
func appendNames(dst []byte, p correlate.Pair, names []string, lags bool) []byte {
	dst = append(append(append(append(append(dst, '('), names[p.I]...), ','), names[p.J]...), ") "...)
	dst = appendNumber(dst, p.R)
	if lags {
		dst = strconv.AppendInt(append(dst, ' '), int64(p.Lag), 10)
	}
	return dst
}

func appendCSV(dst []byte, p correlate.Pair, names []string) []byte {
	dst = append(strconv.AppendInt(dst, int64(p.I), 10), ',')
	dst = append(strconv.AppendInt(dst, int64(p.J), 10), ',')
	dst = append(append(append(append(dst, names[p.I]...), ','), names[p.J]...), ',')
	if !math.IsNaN(p.R) { // else an empty field
		dst = appendNumber(dst, p.R)
	}
	dst = strconv.AppendInt(append(dst, ','), int64(p.Lag), 10)
	return strconv.AppendInt(append(dst, ','), p.Overlap, 10)
}

func appendJSON(dst []byte, p correlate.Pair, names []string) []byte {
	dst = strconv.AppendInt(append(dst, `{"i":`...), int64(p.I), 10)
	dst = strconv.AppendInt(append(dst, `,"j":`...), int64(p.J), 10)
	dst = append(append(dst, `,"x":`...), names[p.I]...)
	dst = append(append(dst, `,"y":`...), names[p.J]...)
	dst = append(dst, `,"r":`...)
	if math.IsNaN(p.R) {
		dst = append(dst, "null"...)
	} else {
		dst = appendNumber(dst, p.R)
	}
	dst = strconv.AppendInt(append(dst, `,"lag":`...), int64(p.Lag), 10)
	return append(strconv.AppendInt(append(dst, `,"overlap":`...), p.Overlap, 10), '}')
}

// quoteCSV quotes a field where it has to be.
func quoteCSV(field string) string {
	if !strings.ContainsAny(field, "\",\r\n") {
		return field
	}
	return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
}

// ShortList shows the first names.
func ShortList(names []string) string {
	const most = 10
	text := ""
	for i, name := range names {
		if i == most {
			return text + fmt.Sprintf(" and %d more", len(names)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

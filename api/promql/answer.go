package promql

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/prometheus/util/annotations"
)

// Answer is what a request gets.
type Answer struct {
	Data     any // shown as JSON
	Warnings []string
	Infos    []string
	Empty    bool // there is nothing to show
	Sent     bool // a stream was the answer
	lines    *rows
}

// maxNotes is how many warnings, and how many infos, an answer has.
const maxNotes = 10

// Note adds what was noted while a query was evaluated.
func (a *Answer) Note(notes annotations.Annotations, query string) {
	warnings, infos := notes.AsStrings(query, maxNotes, maxNotes)
	slices.Sort(warnings) // the same question gets the same answer
	slices.Sort(infos)
	a.Warnings, a.Infos = append(a.Warnings, warnings...), append(a.Infos, infos...)
}

// Cut returns the first items of a list, and warns if there are more.
func Cut[T any](a *Answer, list []T, limit int) []T {
	if limit == 0 || len(list) <= limit {
		return list
	}
	a.Warnings = append(a.Warnings, "results truncated due to limit")
	return list[:limit]
}

// answerBegins is how the text of an answer begins.
const answerBegins = `{"status":"success","data":`

// Write sends an answer.
func (a *Answer) Write(w http.ResponseWriter, r *http.Request) error {
	if a.lines != nil {
		a.writeLines(w, r)
		return nil
	}
	if a.Sent {
		return nil
	}
	if a.Empty {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	body, ok := a.Data.(JSON)
	if !ok {
		data, err := json.Marshal(a.Data)
		if err != nil {
			return err
		}
		body = append([]byte(answerBegins), data...)
	}
	for _, notes := range []struct {
		name string
		list []string
	}{{"warnings", a.Warnings}, {"infos", a.Infos}} {
		if len(notes.list) == 0 {
			continue
		}
		body = append(append(append(body, `,"`...), notes.name...), `":[`...)
		for i, note := range notes.list {
			body = appendText(comma(body, i), note)
		}
		body = append(body, ']')
	}
	write(w, r, http.StatusOK, append(body, '}'))
	return nil
}

// Write sends an error.
func (e *Error) Write(w http.ResponseWriter, r *http.Request) {
	body := append([]byte(`{"status":"error","errorType":"`), e.Type...)
	body = appendText(append(body, `","error":`...), e.Error())
	if e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	write(w, r, e.Status, append(body, '}'))
}

// minGzip is from which size on an answer is worth compressing.
const minGzip = 1400

// packers are *gzip.Writer. A new one takes 1.2 MB, more than most answers. Against zstd they are as fast or faster.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is known
	return z
}}

func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	writeAs(w, r, status, "application/json", body)
}

// writeLines sends rows. Warnings and infos are headers, since lines have no place for them.
func (a *Answer) writeLines(w http.ResponseWriter, r *http.Request) {
	for _, note := range append(a.Warnings, a.Infos...) {
		w.Header().Add("Warning", "299 - "+strconv.QuoteToASCII(note))
	}
	writeAs(w, r, http.StatusOK, a.lines.kind, a.lines.body)
}

func writeAs(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Add("Vary", "Accept")
	header.Add("Vary", "Accept-Encoding")
	if len(body) >= minGzip && acceptsGzip(r) {
		var packed bytes.Buffer
		z := packers.Get().(*gzip.Writer)
		z.Reset(&packed)
		_, _ = z.Write(body) // into memory
		_ = z.Close()
		packers.Put(z)
		body = packed.Bytes()
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

func acceptsGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				weight, given := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
				q, err := strconv.ParseFloat(weight, 64)
				return !given || err == nil && q > 0
			}
		}
	}
	return false
}

package promql

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/api/web"
)

// Answer is what a request gets.
type Answer struct {
	Data     any // shown as JSON
	Warnings []string
	Infos    []string
	Empty    bool // there is nothing to show
	Sent     bool // a stream was the answer
	result   *evaluated
}

// evaluated is the value of an evaluation. It is encoded while it is sent, and closed then.
type evaluated struct {
	value parser.Value
	stats []byte // JSON; nil: not asked for
	close func()
}

// Hold makes the value of an evaluation the answer. It is closed once it is sent.
func (a *Answer) Hold(value parser.Value, close func()) {
	a.result = &evaluated{value: value, close: close}
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
	out := &stream{w: w, kind: "application/json"}
	switch {
	case a.result != nil:
		defer a.result.close()
		form := web.AcceptedRows(r)
		if form != nil && form.Type[0] != out.kind && a.result.value.Type() != parser.ValueTypeString {
			return a.writeRows(out, form.Type[0])
		}
		out.body = append(out.body, answerBegins...)
		if err := out.appendResult(a.result.value); err != nil {
			return err
		}
		if a.result.stats != nil {
			out.body = append(append(out.body[:len(out.body)-1], `,"stats":`...), a.result.stats...)
			out.body = append(out.body, '}')
		}
	case a.Sent:
		return nil
	case a.Empty:
		w.WriteHeader(http.StatusNoContent)
		return nil
	default:
		data, err := json.Marshal(a.Data)
		if err != nil {
			return err
		}
		out.body = append([]byte(answerBegins), data...)
	}
	for _, notes := range []struct {
		name string
		list []string
	}{{"warnings", a.Warnings}, {"infos", a.Infos}} {
		if len(notes.list) == 0 {
			continue
		}
		out.body = append(append(append(out.body, `,"`...), notes.name...), `":[`...)
		for i, note := range notes.list {
			out.body = appendText(comma(out.body, i), note)
		}
		out.body = append(out.body, ']')
	}
	out.body = append(out.body, '}')
	return out.end()
}

// writeRows sends a result as rows. Warnings and infos are headers, since lines have no place for them.
func (a *Answer) writeRows(out *stream, kind string) error {
	for _, note := range append(a.Warnings, a.Infos...) {
		out.w.Header().Add("Warning", "299 - "+strconv.QuoteToASCII(note))
	}
	out.kind = kind
	lines := rows{out}
	if lines.isCSV() {
		out.body = append(out.body, "metric,timestamp,value\n"...)
	}
	if err := lines.addAll(a.result.value); err != nil {
		return err
	}
	return out.end()
}

// Write sends an error.
func (e *Error) Write(w http.ResponseWriter) {
	body := append([]byte(`{"status":"error","errorType":"`), e.Type...)
	body = appendText(append(body, `","error":`...), e.Error())
	if e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	begin(w, "application/json")
	web.WriteBody(w, e.Status, append(body, '}'))
}

// begin sets what an answer is.
func begin(w http.ResponseWriter, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Add("Vary", "Accept")
}

package text

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A Writer writes an answer, most of it rows, in JSON unless Use says otherwise. It sends nothing before 64 KiB have
// gathered: until then an error can still be answered. After an error it writes nothing more. An answer that is sent as
// one piece has a Content-Length.
type Writer struct {
	to   http.ResponseWriter
	body []byte
	sent bool // a part of the answer
	err  error
	rows rows
}

// flushSize is how much of an answer gathers before it is sent.
const flushSize = 64 << 10

// jsonType is the Content-Type of answers in JSON.
var jsonType = []string{"application/json"}

// NewWriter returns a Writer to w that gathers in the memory of body, from its start.
func NewWriter(w http.ResponseWriter, body []byte) Writer {
	return Writer{to: w, body: body[:0], rows: rows{form: &Lists}}
}

// Use makes the answer rows of another form, before anything is written. In a form of lines each row has more columns
// by these names, which begin it, and nothing but rows is written.
func (w *Writer) Use(form *Form, columns ...string) {
	w.rows.form, w.rows.names = form, columns
	if form.lines && form.begin != "" {
		names := make([]any, len(columns))
		for i, name := range columns {
			names[i] = name
		}
		w.rows.setColumns(names)
		w.body = append(append(w.body, w.rows.columns...), form.begin...)
	}
	w.rows.columns = nil
}

// Lines reports whether the answer has nothing but rows.
func (w *Writer) Lines() bool { return w.rows.form.lines }

// Columns sets the values of the columns in the rows after the next Label: of JSON, or nil.
func (w *Writer) Columns(values ...any) { w.rows.setColumns(values) }

// Buffer returns the memory that the Writer gathers in, for another one to use after it.
func (w *Writer) Buffer() []byte { return w.body[:0] }

// Err returns the error that ended the writing.
func (w *Writer) Err() error { return w.err }

// Fail ends the writing with err.
func (w *Writer) Fail(err error) { w.err = err }

// Raw writes text as it is.
func (w *Writer) Raw(text string) {
	if !w.Lines() {
		w.body = append(w.body, text...)
	}
}

// JSON writes v as AppendJSON does.
func (w *Writer) JSON(v any) {
	if w.Lines() {
		return
	}
	w.body = AppendJSON(w.body, v)
	w.Flush()
}

// StartRows begins a list of rows; EndRows ends it.
func (w *Writer) StartRows() {
	w.Raw(w.rows.form.begin)
	w.rows.started = false
}

// EndRows ends the list.
func (w *Writer) EndRows() { w.Raw(w.rows.form.end) }

// Label sets the text that stands for the granularity in the rows that follow.
func (w *Writer) Label(label []byte) { w.rows.label(label) }

// Row writes one row, and sends nothing before the next Flush.
func (w *Writer) Row(t carbonara.Timestamp, v float64) { w.body = w.rows.append(w.body, t, v) }

// Rows writes rows that have a value. If show is not nil it leaves out the values for which show reports false.
func (w *Writer) Rows(times []carbonara.Timestamp, values []float64, show func(float64) bool) {
	if w.err != nil {
		return
	}
	body := w.body
	for i, v := range values {
		if show != nil && !show(v) {
			continue
		}
		if body = w.rows.append(body, times[i], v); len(body) >= flushSize {
			w.body = body
			if w.Flush(); w.err != nil {
				return
			}
			body = w.body
		}
	}
	w.body = body
}

// Flush sends what has gathered if it is much.
func (w *Writer) Flush() { w.flush(flushSize) }

// flush sends what has gathered if it is least bytes or more.
func (w *Writer) flush(least int) {
	if len(w.body) < least || w.err != nil {
		return
	}
	if !w.sent {
		w.to.Header()["Content-Type"] = w.rows.form.Type
		w.sent = true
	}
	_, w.err = w.to.Write(w.body)
	w.body = w.body[:0]
}

// ErrSent says that an answer ended in an error after a part of it was sent: the connection also has to end, so that
// the client does not take the part for the whole.
var ErrSent = errors.New("text: a part of the answer is sent")

// Finish sends the rest. Its error is an ErrSent if a part was sent; else it can still be answered.
func (w *Writer) Finish() error {
	if w.sent {
		if w.flush(1); w.err != nil {
			return fmt.Errorf("%w: %w", ErrSent, w.err)
		}
		return nil
	}
	if w.err != nil {
		return w.err
	}
	if err := w.admit(); err != nil {
		return err
	}
	w.to.Header()["Content-Type"] = w.rows.form.Type
	w.to.Header()["Content-Length"] = []string{strconv.Itoa(len(w.body))}
	_, _ = w.to.Write(w.body)
	return nil
}

// An Admitter is a ResponseWriter that may refuse an answer of that many bytes, or one that it unwraps to is.
type Admitter interface{ Admit(bytes int) error }

// admit asks the ResponseWriter whether the answer, which nothing is sent of, may be sent as a whole.
func (w *Writer) admit() error {
	if len(w.body) <= flushSize {
		return nil
	}
	for to := w.to; ; {
		if admitter, ok := to.(Admitter); ok {
			return admitter.Admit(len(w.body))
		}
		wrapper, ok := to.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		to = wrapper.Unwrap()
	}
}

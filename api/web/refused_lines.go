package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/internal/counted"
)

// Of the lines that a request loses, an answer shows the first ones, and of each reason the beginning.
const (
	maxShownLines  = 20
	maxShownReason = 300 // bytes
	// maxUnread is the number of unreadable lines after which a body that has mostly such lines is given up: a few
	// kilobytes can unpack to millions of them.
	maxUnread = 10_000
)

// RefusedLines are the lines of a request that are not stored. The others are.
type RefusedLines struct {
	Unread int   // lines that cannot be read
	Other  error // the first one that is no fault of a line, but of the user's rights or of the server

	ended   bool         // the body was not read to its end
	dropped map[int]bool // lines of which a metric cannot be created
	shown   []refusedLine
}

type refusedLine struct {
	number int
	reason string
	fault  *Error
}

// UnreadableLine returns the answer to one line that cannot be read, in Gnocchi's form.
func UnreadableLine(line int, reason string) *Error {
	return BadCause("Value error", fmt.Sprintf("Unable to parse line %d: %s", line, reason), "line")
}

// Unreadable refuses a line that cannot be read. Lines come in order.
func (l *RefusedLines) Unreadable(line int, reason string) {
	if l.Unread++; l.Unread <= maxShownLines {
		l.shown = append(l.shown, refusedLine{line, reason, UnreadableLine(line, reason)})
	}
}

// End reports whether a body is not read on after so many lines. The lines before are stored, and Text says so.
func (l *RefusedLines) End(total int) bool {
	l.ended = l.ended || l.Unread >= maxUnread && 2*l.Unread > total
	return l.ended
}

// Drop refuses a line for one of its fields.
func (l *RefusedLines) Drop(line int, err error) {
	fault := AsError(err)
	if fault.Status != http.StatusBadRequest && fault.Status != http.StatusConflict {
		l.Other = cmp.Or(l.Other, err)
		return
	}
	if l.dropped[line] {
		return
	}
	if l.dropped == nil {
		l.dropped = map[int]bool{}
	}
	if l.dropped[line] = true; len(l.dropped) > maxShownLines {
		return
	}
	reason := fault.Description()
	if cause, ok := fault.Detail.(Cause); ok {
		reason = cmp.Or(cause.Reason, cause.Cause)
	}
	l.shown = append(l.shown, refusedLine{line, reason, fault})
}

// Count returns the number of refused lines.
func (l *RefusedLines) Count() int { return l.Unread + len(l.dropped) }

// Fault returns the answer to the first refused line alone.
func (l *RefusedLines) Fault() *Error {
	l.sort()
	return l.shown[0].fault
}

// Err returns the answer to a request of so many lines, nil if all are stored.
func (l *RefusedLines) Err(total int) error {
	if l.Other == nil && l.Count() > 0 {
		return BadRequest("%s", l.Text(total))
	}
	return l.Other
}

// Text names these of so many lines.
func (l *RefusedLines) Text(total int) string {
	l.sort()
	shown := l.shown[:min(len(l.shown), maxShownLines)]
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %s refused", l.Count(), counted.Of(total, "line"))
	if l.ended {
		text.WriteString(", and the body is not read behind these")
	}
	for i, line := range shown {
		reason := line.reason
		if len(reason) > maxShownReason {
			reason = strings.ToValidUTF8(reason[:maxShownReason], "") + "…"
		}
		fmt.Fprintf(&text, "%s line %d: %s", ":;"[min(i, 1):min(i, 1)+1], line.number, reason)
	}
	if more := l.Count() - len(shown); more > 0 {
		fmt.Fprintf(&text, "; and %d more", more)
	}
	return text.String()
}

func (l *RefusedLines) sort() {
	slices.SortStableFunc(l.shown, func(a, b refusedLine) int { return cmp.Compare(a.number, b.number) })
}

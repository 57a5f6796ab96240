package influxdb

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/web"
)

// Of the lines that a request loses, an answer shows the first ones, and of each reason the beginning.
const (
	maxShownLines  = 20
	maxShownReason = 300 // bytes
)

// refusedLines are the lines of a request that are not stored. The others are.
type refusedLines struct {
	unread  int          // lines that cannot be read
	dropped map[int]bool // lines of which a metric cannot be created
	shown   []refusedLine
	other   error // the first one that is no fault of a line, but of the user's rights or of the server
}

type refusedLine struct {
	number int
	reason string
	fault  *web.Error
}

// unreadable refuses a line that cannot be read. Lines come in order.
func (l *refusedLines) unreadable(line int, reason string) {
	if l.unread++; l.unread <= maxShownLines {
		l.shown = append(l.shown, refusedLine{line, reason, unreadableLine(line, reason)})
	}
}

// drop refuses a line for one of its fields.
func (l *refusedLines) drop(line int, err error) {
	fault := web.AsError(err)
	if fault.Status != http.StatusBadRequest && fault.Status != http.StatusConflict {
		l.other = cmp.Or(l.other, err)
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
	var unreadable *LineError
	if errors.As(err, &unreadable) {
		reason = unreadable.Reason
	} else if cause, ok := fault.Detail.(web.Cause); ok {
		reason = cmp.Or(cause.Reason, cause.Cause)
	}
	l.shown = append(l.shown, refusedLine{line, reason, fault})
}

func (l *refusedLines) count() int { return l.unread + len(l.dropped) }

// answer refuses these of so many lines: with the status and description of the first, as Gnocchi, which knows no
// other, and with 400 where lines are stored. The answer is JSON with an "error", even if the client accepts other
// types: Telegraf repeats a batch until it gets JSON.
func (l *refusedLines) answer(w http.ResponseWriter, total int) error {
	text := l.text(total)
	status := http.StatusBadRequest
	if l.count() == total {
		status = l.shown[0].fault.Status
	}
	return web.WriteJSON(w, status, struct {
		Code        int    `json:"code"`
		Title       string `json:"title"`
		Description any    `json:"description"`
		Error       string `json:"error"`
	}{status, http.StatusText(status), web.Bounded(l.shown[0].fault.Detail), text})
}

// text names these of so many lines. Telegraf drops a batch whose answer begins with "partial write".
func (l *refusedLines) text(total int) string {
	slices.SortStableFunc(l.shown, func(a, b refusedLine) int { return cmp.Compare(a.number, b.number) })
	shown := l.shown[:min(len(l.shown), maxShownLines)]
	var text strings.Builder
	fmt.Fprintf(&text, "partial write: %d of %d lines refused", l.count(), total)
	for i, line := range shown {
		reason := line.reason
		if len(reason) > maxShownReason {
			reason = strings.ToValidUTF8(reason[:maxShownReason], "") + "…"
		}
		fmt.Fprintf(&text, "%s line %d: %s", ":;"[min(i, 1):min(i, 1)+1], line.number, reason)
	}
	if more := l.count() - len(shown); more > 0 {
		fmt.Fprintf(&text, "; and %d more", more)
	}
	return text.String()
}

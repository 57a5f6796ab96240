package web

import (
	"strings"
	"testing"
)

// The memory for refused lines is bounded while they come in, and each line is shown once.
func TestRefusedLinesAreBounded(t *testing.T) {
	var l RefusedLines
	for line := 1; line <= 1000; line++ {
		l.Unreadable(2*line, "odd")
	}
	for line := 1; line <= 1000; line++ {
		for range 2 { // fields
			l.Drop(2*line+1, BadRequest("no name"))
		}
	}
	if len(l.shown) > 2*maxShownLines || l.Count() != 2000 {
		t.Errorf("%d of %d lines are kept", len(l.shown), l.Count())
	}
	err := l.Err(3000)
	const want = "2000 of 3000 lines refused: line 2: odd; line 3: no name; line 4: odd; line 5: no name; line 6: odd"
	if e := AsError(err); e.Status != 400 || !strings.Contains(e.Description(), want) ||
		!strings.Contains(e.Description(), "line 21: no name; and 1980 more") {
		t.Errorf("%v", err)
	}
}

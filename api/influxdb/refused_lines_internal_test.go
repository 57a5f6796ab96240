package influxdb

import (
	"github.com/gnocco-db/gnocco/api/web"
	"net/http/httptest"
	"strings"
	"testing"
)

// The memory for refused lines is bounded while they come in, and each line is shown once.
func TestRefusedLinesAreBounded(t *testing.T) {
	var l refusedLines
	for line := 1; line <= 1000; line++ {
		l.unreadable(2*line, "odd")
	}
	for line := 1; line <= 1000; line++ {
		for range 2 { // fields
			l.drop(2*line+1, web.BadRequest("no name"))
		}
	}
	if len(l.shown) > 2*maxShownLines || l.count() != 2000 {
		t.Errorf("%d of %d lines are kept", len(l.shown), l.count())
	}
	w := httptest.NewRecorder()
	check := l.answer(w, 3000)
	const want = "2000 of 3000 lines refused: line 2: odd; line 3: no name; line 4: odd; line 5: no name; line 6: odd"
	if check != nil || w.Code != 400 || !strings.Contains(w.Body.String(), want) ||
		!strings.Contains(w.Body.String(), "line 21: no name; and 1980 more") {
		t.Errorf("%v, %d: %s", check, w.Code, w.Body)
	}
}

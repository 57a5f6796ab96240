package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Times are right in a chosen zone where its clocks change: an hour is missing, or comes twice, and no group is.
func TestChangedClocks(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "")
	for _, day := range []struct {
		changed string
		want    string // newest first
	}{
		{"2025-03-30T01:00:00Z", "03:00:00 01:59:00 01:58:00"},
		{"2025-10-26T01:00:00Z", "02:00:00 02:59:00 02:58:00"},
	} {
		at, err := time.Parse(time.RFC3339, day.changed)
		check(t, err)
		id := send(t, c, "host", at.Add(59*time.Second), 180, "at "+day.changed)["at "+day.changed]
		b.visitHash(fmt.Sprintf("explore?m=%s&from=%d&to=%d&g=60&view=table&tz=Europe/Berlin", id,
			at.Unix()-120, at.Unix()+60))
		rows := "#values tbody td:first-child"
		b.wait(
			fmt.Sprintf(
				"document.querySelector(%q)?.textContent.startsWith(%q) && document.querySelectorAll(%[1]q).length === 3", rows, day.changed[:10]))
		var times []string
		for _, text := range b.texts(rows) {
			times = append(times, strings.TrimPrefix(text, day.changed[:10]+" "))
		}
		if got := strings.Join(times, " "); got != day.want {
			t.Errorf("%s: %s, want %s", day.changed, got, day.want)
		}
	}
}

package console_test

import (
	"fmt"
	"testing"
	"time"
)

// PromQL shows the series with the highest means of many, in colours of their own, hides and isolates them, says what
// the server says, asks for one moment, and remembers.
func TestManySeries(t *testing.T) {
	s, _ := start(t, nil)
	push(t, s.URL(), func(line func(format string, args ...any)) {
		for i := range 50 {
			line(`level{n="%d"} %d %d`, i, i, time.Now().Add(-time.Minute).UnixMilli())
		}
	})
	b := open(t, s.URL(), "#/explore?q=level&from=10m")
	b.waitText("top 40 of 50 by mean")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 40")
	first := "document.querySelector('#summary tbody tr td').textContent"
	if got := eval[string](b, first); got != "level{n=49}" {
		t.Error(got)
	}
	if got := eval[int](b, "new Set([...document.querySelectorAll('#summary .dot')].map(e => e.style.background)).size"); got != 40 {
		t.Errorf("%d colours of 40", got)
	}
	shown := func(n int) {
		t.Helper()
		b.wait(fmt.Sprintf("document.querySelectorAll('#summary .key[aria-pressed=true]').length === %d", n))
	}
	b.act("document.querySelector('#summary .key').click()")
	shown(39)
	b.act("document.querySelectorAll('#summary .only')[3].click()")
	shown(1)
	b.act("document.querySelectorAll('#summary .only')[3].click()")
	shown(40)
	b.visitHash("explore?from=10m&q=histogram_quantile(0.5,level)")
	b.wait("document.querySelector('.note')?.textContent.includes('bucket label')")
	b.visitHash("explore?view=instant&q=sum(level)")
	b.wait("document.querySelector('#instant td.number')?.dataset.value === '1225'")
	b.wait("document.querySelectorAll('.query .menu button').length >= 2")
	b.click(".query .menu button", "histogram_quantile")
	b.wait("location.hash.includes('histogram_quantile')")
}

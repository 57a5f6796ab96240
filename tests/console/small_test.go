package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A tile says how many series it draws of how many. Filters show whole names of labels, statistics fit a phone, and the
// button that saves stays in its row.
func TestNothingIsCut(t *testing.T) {
	s, c := start(t, nil)
	now := time.Now().Truncate(time.Minute)
	var lines strings.Builder
	for i := range 60 {
		var times, values []string
		for k := range 30 {
			times = append(times, fmt.Sprint(now.Add(time.Duration(k-29)*10*time.Second).UnixMilli()))
			values = append(values, fmt.Sprint(i+k%3))
		}
		fmt.Fprintf(&lines, `{"metric":{"__name__":"wait_seconds","availability_zone":"z%d","flavor":"f%d","host":"h%d"},`+
			`"values":[%s],"timestamps":[%s]}`+"\n", i%3, i%2, i, strings.Join(values, ","), strings.Join(times, ","))
	}
	importLines(t, c, lines.String())
	b := open(t, s.URL(), "#/explore?tz=UTC")
	b.size(1440, 900)
	b.waitText("the 8 highest of the first 40 of 60")
	if got := b.texts(".tile h2"); fmt.Sprint(got) != "[wait_seconds]" {
		t.Errorf("tiles %q", got)
	}
	b.wait("document.querySelector('[data-label=availability_zone] input')")
	if cut := eval[bool](b, `(input => {
		const text = document.createElement("canvas").getContext("2d"), look = getComputedStyle(input);
		text.font = look.font;
		return text.measureText(input.placeholder).width > input.clientWidth - parseFloat(look.paddingLeft) - parseFloat(look.paddingRight);
	})(document.querySelector("[data-label=availability_zone] input"))`); cut {
		t.Error("a filter cuts availability_zone")
	}
	b.click(".tile", "wait_seconds")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 40 && document.querySelector('#drawn canvas')")
	b.picture("chart-1440")
	top := func(selector, text string) float64 {
		t.Helper()
		return eval[float64](b, fmt.Sprintf("[...document.querySelectorAll(%q)].find(e => e.textContent.includes(%q))"+
			".getBoundingClientRect().top", selector, text))
	}
	if save, first := top(".bar button", "Save"), top(".bar button", "Zoom out"); save > first+8 {
		t.Errorf("Save is at %v, the row at %v", save, first)
	}
	for _, width := range []int64{390, 360} {
		b.size(width, 1500)
		b.wait(fmt.Sprintf("document.documentElement.clientWidth === %d", width))
		if wide := eval[[]string](b, "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"+
			".map(e => e.querySelector('table').id + ' ' + e.scrollWidth)"); len(wide) > 0 {
			t.Errorf("at %d pixels these scroll sideways: %q", width, wide)
		}
	}
	b.picture("statistics-narrow")
}

// Charts and tiles say how many infinite values they leave out, of metrics and of expressions. NaN is a gap.
func TestInfinitiesAreTold(t *testing.T) {
	s, _ := start(t, nil)
	now := time.Now().Truncate(time.Minute).UnixMilli()
	push(t, s.URL(), func(line func(format string, args ...any)) {
		for i, value := range []string{"1", "+Inf", "2", "-Inf", "NaN", "3", "+Inf", "4"} {
			line("hot{job=\"a\"} %s %d", value, now-int64(8-i)*60_000)
		}
	})
	b := open(t, s.URL(), "#/explore?tz=UTC")
	b.wait("document.querySelector('.tile canvas')")
	b.waitText("3 infinite, not drawn")
	b.click(".tile", "hot")
	b.wait("document.querySelector('#archive')?.textContent.includes('3 infinite, not drawn')")
	b.visitHash("explore?tz=UTC&q=hot")
	b.waitText("infinite, not drawn")
	b.visitHash("explore?tz=UTC&q=1")
	b.wait("!document.body.innerText.includes('infinite')")
}

package console_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"
)

// An even series is an even line, though its values differ in the last bit, as sums do.
func TestEvenLine(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute).Unix()
	id := send(t, c, "host", time.Unix(end, 0), 0, "even")["even"]
	var all []object
	for i := range 100 {
		all = append(all, object{"timestamp": end - int64(i), "value": []float64{0.3, math.Nextafter(0.3, 1)}[i%2]})
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/metric/"+id+"/measures", all, nil))
	b := open(t, s.URL(), fmt.Sprintf("#/explore?m=%s&from=%d&to=%d&g=1", id, end-99, end))
	b.wait("Number(document.querySelector('[data-figure=max]')?.dataset.value) > " +
		"Number(document.querySelector('[data-figure=min]')?.dataset.value)")
	// how many pixels lie between the highest and the lowest one of the line's colour
	b.wait(`(window.high = (() => {
		const canvas = document.querySelector('#drawn canvas'), { width, height } = canvas ?? { width: 0 };
		if (!width) return -1; // it is being drawn anew
		const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
		const hex = getComputedStyle(document.documentElement).getPropertyValue('--line-1').trim();
		const color = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
		let first = height, last = 0;
		for (let i = 0; i < pixels.length; i += 4)
			if (pixels[i + 3] > 128 && color.every((c, k) => Math.abs(c - pixels[i + k]) < 8)) {
				first = Math.min(first, Math.floor(i / 4 / width));
				last = Math.floor(i / 4 / width);
			}
		return last - first;
	})()) >= 0`)
	if high := eval[int](b, "high"); high > 3 {
		t.Errorf("the line is %d pixels high", high)
	}
}

// The list of a name stands still below the pointer: its questions come with it.
func TestListStands(t *testing.T) {
	s, c := start(t, nil)
	for _, host := range []string{"web", "db"} {
		send(t, c, host, time.Now(), 10, "load")
	}
	b := open(t, s.URL(), "#/explore")
	b.wait("document.querySelector('.found button small')?.textContent === '2'")
	b.act(`new MutationObserver(() => window.top1 ??= document.querySelector('.found ul button')?.textContent)
		.observe(document.querySelector('.found'), {childList: true, subtree: true})`)
	b.click(".found button", "load")
	b.wait("document.querySelectorAll('.found ul button').length > 3 && window.top1")
	if first := eval[string](b, "top1"); first != "Highest now" {
		t.Errorf("the list began with %q", first)
	}
}

package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
)

// press presses a key as a person does: Enter also writes.
func (b *tab) press(key string, modifiers int64) {
	b.t.Helper()
	code := map[string]int64{"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
		"ArrowDown": 40}[key]
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: key, Code: key,
		WindowsVirtualKeyCode: code, Modifiers: modifiers}
	up := down
	up.Type = input.DispatchKeyEventTypeKeyUp
	if key == "Enter" {
		down.Type, down.Text = input.DispatchKeyEventTypeKeyDown, "\r"
	}
	call(b, input.DispatchKeyEvent, down)
	call(b, input.DispatchKeyEvent, up)
}

// tabTo presses Tab until an element has the focus, and fails the test where somebody would not see where that is.
func (b *tab) tabTo(selector, text string, modifiers int64) {
	b.t.Helper()
	for range 100 {
		b.press("Tab", modifiers)
		if hidden := eval[string](b, `(e => {
			if (e === document.body) return "";
			const style = getComputedStyle(e), box = e.getClientRects()[0];
			const seen = box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
			return e.matches(":focus-visible") && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && seen && (e.contains(seen) || seen.contains(e) && !seen.querySelector("header.top")) ? "" : e.outerHTML;
		})(document.activeElement)`); hidden != "" {
			b.picture("focus")
			b.t.Fatalf("the focus is not seen on %s", hidden)
		}
		if eval[bool](b,
			fmt.Sprintf("document.activeElement.matches(%q) && document.activeElement.textContent.includes(%q)",
				selector, text)) {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %s %s", selector, text)
}

// entered waits until the page's heading has the focus, which is where a program that reads the page aloud goes on.
func (b *tab) entered(heading string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.activeElement.matches('main h1') && document.activeElement.textContent === %q",
		heading))
}

// A user without a mouse finds a metric, opens its chart and its page, and goes to another page, which begins at its
// heading. The focus is always visible.
func TestKeyboard(t *testing.T) {
	s, c := start(t, nil)
	ids := send(t, c, "host", time.Now(), 100, "disk", "load", "memory")
	const shift = 8
	b := open(t, s.URL(), "")
	b.wait("document.querySelectorAll('.tile canvas').length === 3")
	if moved := eval[bool](b, "document.activeElement !== document.body"); moved {
		t.Error("the page took the focus as it was loaded")
	}
	b.tabTo(".skip", "To the content", 0)
	b.tabTo("input[type=search]", "", 0)
	call(b, input.InsertText, input.InsertTextParams{Text: "loa"})
	b.wait(
		"document.querySelector('#found')?.textContent === '1 metric' && document.querySelectorAll('.tile canvas').length === 1")
	b.tabTo(".tile", "load", 0)
	b.press("Enter", 0)
	b.wait("document.querySelector('#drawn canvas')")
	b.entered("Explore") // the tile is gone
	b.act("history.back()")
	b.wait("document.querySelectorAll('.tile canvas').length === 1")
	b.tabTo(".found button", "load", 0)
	b.press("Enter", 0)
	b.wait("document.querySelector('#drawn canvas') && document.querySelector('#summary tbody a')")
	b.tabTo("[aria-label='Aggregation method']", "", 0)
	b.press("ArrowDown", 0)
	b.wait("document.querySelector('#archive')?.textContent.startsWith('Drawn from max of ')")
	b.tabTo("#summary tbody a", "load", 0)
	b.press("Enter", 0)
	b.wait(fmt.Sprintf("location.hash.includes(%q) && document.querySelector('h1')?.textContent === 'load'",
		"metric?id="+ids["load"]))
	b.entered("load")
	b.wait("document.querySelectorAll('[data-first]:not([data-first=\"\"])').length === 2")
	b.tabTo("nav a", "Policies", shift)
	b.press("Enter", 0)
	b.entered("Policies")
	b.wait(`document.querySelector('tr[data-policy="console"] a')`)
	b.tabTo(`tr[data-policy="console"] a`, "console", 0)
	b.press("Enter", 0)
	b.wait("document.querySelector('#bytes')")
	b.tabTo(".chips button", "mean", 0)
}

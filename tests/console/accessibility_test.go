package console_test

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/server"
)

//go:embed testdata/axe/axe.min.js
var axe string

// accessible fails the test if axe-core finds something serious or critical on the page, or headings that leave out a
// level, in either theme and as wide as a phone.
func (b *tab) accessible(page string) {
	b.t.Helper()
	defer b.size(1280, 860)
	for _, theme := range []struct {
		name, button string
		width        int64
	}{{"light", "☀", 1280}, {"dark", "☾", 1280}, {"dark", "☾", 390}} {
		b.size(theme.width, 860)
		if eval[string](b, "document.documentElement.dataset.theme") != theme.name {
			b.click(".settings button", theme.button)
		}
		b.wait(fmt.Sprintf("document.documentElement.dataset.theme === %q", theme.name))
		b.wait("document.getAnimations().length === 0") // a colour that is on its way is no finding
		b.act(`(window.checked = undefined, axe.run(document, {resultTypes: ['violations'], preload: false}).then(
			r => window.checked = r.violations.filter(v => ['serious', 'critical'].includes(v.impact) || v.id === 'heading-order').flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + n.failureSummary.slice(0, 300))),
			e => window.checked = ['axe: ' + e]))`)
		b.wait("window.checked")
		for _, finding := range eval[[]string](b, "window.checked") {
			b.t.Errorf("%s, %s, %d px: %s", page, theme.name, theme.width, finding)
		}
		b.picture(fmt.Sprintf("accessible-%s-%s-%d", page, theme.name, theme.width))
	}
}

// No page has a serious or critical finding of axe-core, in light and dark colours.
func TestAccessible(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "")
	eval[bool](b, axe+"\n;true")
	b.waitText("Nothing has come in yet")
	b.accessible("first")
	end := time.Now().Truncate(time.Minute)
	ids := waves(t, c, end)
	span := fmt.Sprintf("&from=%d&to=%d&tz=UTC", end.Unix()-600, end.Unix())
	for _, page := range []struct{ name, address, shown string }{
		{"explore", "explore?tz=UTC", "document.querySelectorAll('.tile canvas').length >= 8"},
		{"chart", "explore?m=" + ids["web.requests"] + "&m=" + ids["web.bytes"] + span,
			"document.querySelectorAll('#summary tbody tr').length === 2 && document.querySelector('#drawn canvas')"},
		{"table", "explore?m=" + ids["web.requests"] + "&view=table" + span,
			"document.querySelectorAll('#values tbody tr').length > 0"},
		{"expression", "explore?q=sum(%7B%22web.requests%22%2Cresource_type%3D%22generic%22%7D)+*+2" + span,
			content + " && document.querySelector('#drawn canvas')"},
		{"metric", "metric?tz=UTC&id=" + ids["web.requests"],
			"document.querySelectorAll('[data-first]:not([data-first=\"\"])').length === 2 && document.querySelector('#resource')?.innerText.includes('host')"},
		{"policies", "policies", `document.querySelector('tr[data-policy="console"] [data-full]')`},
		{"policy", "policies?policy=console", "document.querySelector('#bytes')"},
		{"correlations", "correlations?tz=UTC", "document.querySelectorAll('.ask-form select option').length > 0"},
		{"server", "server",
			"document.querySelectorAll('#members tbody tr').length === 1 && (document.querySelector('#processed')?.textContent ?? '–') !== '–'"},
	} {
		b.visitHash(page.address)
		b.wait(page.shown)
		b.accessible(page.name)
	}
	b.visitHash("explore?m=" + ids["web.requests"] + span)
	b.click("#drawn button", "What changed here?")
	b.wait("document.querySelectorAll('#changes tbody tr').length > 0")
	b.accessible("changed")
	b.visitHash("correlations?tz=UTC")
	b.wait("document.querySelectorAll('.ask-form select option').length > 0")
	b.click(".ask-form button", "Correlate")
	b.wait("document.querySelector('#heat') && document.querySelector('#saved')")
	b.accessible("heat map")
}

func TestSignInIsAccessible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	check(t, err)
	check(t, os.WriteFile(file, []byte("admin:"+string(hash)+"\n"), 0o600))
	s, _ := start(t, func(o *server.Options) { o.Auth.Mode, o.Auth.HtpasswdFile = "htpasswd", file })
	b := open(t, s.URL(), "")
	eval[bool](b, axe+"\n;true")
	b.wait("document.querySelector('.sign-in input')")
	b.accessible("sign-in")
}

package console_test

import (
	"flag"
	"net/url"
	"testing"
)

var pictured = flag.String("pictured", "", "URL of a running demo, of which the README's picture is taken")

// The README's picture and those of docs/how-to/console.md, which has the command, are of a demo that has run for some
// minutes.
func TestPicture(t *testing.T) {
	if *pictured == "" {
		t.Skip("-pictured: no demo is named")
	}
	b := open(t, *pictured, "#/explore?tz=UTC")
	b.size(1280, 830)
	b.wait("document.querySelectorAll('.tile canvas').length >= 6")
	b.picture("console")

	b.size(1280, 1000)
	b.visitHash("policies?tz=UTC&policy=demo&methods=mean,max,last,rate:sum&def=" +
		url.QueryEscape("1 s:1 day,1 min:30 days,1 h:1 year"))
	b.wait("document.querySelector('#cost')?.dataset.of === 'draft' && document.querySelector('#history .notice.bad')")
	b.picture("console-policies")

	b.size(1280, 1960)
	b.visitHash("correlations?tz=UTC")
	b.wait("document.querySelectorAll('.ask-form select option').length > 0")
	b.click(".ask-form button", "Correlate")
	b.wait("document.querySelector('#heat') && document.querySelector('#saved, #redundant .hint')")
	b.click("#strongest .pair", "")
	b.wait("document.querySelectorAll('#pair canvas').length === 2")
	b.act("scrollTo(0, 0)")
	b.picture("console-correlations")
}

package console_test

import (
	"flag"
	"testing"
)

var pictured = flag.String("pictured", "", "URL of a running demo, of which the README's picture is taken")

// The README's picture is the start of a demo that has run for some minutes: docs/console.md has the command.
func TestPicture(t *testing.T) {
	if *pictured == "" {
		t.Skip("-pictured: no demo is named")
	}
	b := open(t, *pictured, "#/explore?tz=UTC")
	b.size(1280, 830)
	b.wait("document.querySelectorAll('.tile canvas').length >= 6")
	b.picture("console")
}

package losstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// A Door takes bodies of elements.
type Door struct {
	// Element is a measure of a series, which is one letter. seconds is from 60 to 63.
	Element func(series string, seconds, value int) string
	// Odd are elements that are refused.
	Odd []string
	// Join makes a body of elements. nil: a line each.
	Join func(elements ...string) string
	// Again says what is stored where an element has the series and time of an earlier one, and whether the answer
	// counts one of both. nil: LastCounts.
	Again func(before, value int) (stored int, counted bool)
	// Send sends a body to an empty server. It returns the stored values, and what the answer says.
	Send func(t *testing.T, body string) (stored []float64, told Told)

	order []int // in which Odd are sent
	sent  int   // of Odd, again and again
}

// Told is what an answer says about a body.
type Told struct {
	Refused int    // elements
	Of      int    // all elements, as the answer counts them; 0: it does not say
	Text    string // for the message of a failure
}

// LastCounts is Again of most doors: two equal values are one measure.
func LastCounts(before, value int) (stored int, counted bool) { return value, before != value }

// Run sends random bodies of good elements, odd ones, and several of one series and time. Each odd element is sent.
func Run(t *testing.T, door *Door) {
	t.Helper()
	d := *door
	if d.Join == nil {
		d.Join = func(elements ...string) string { return strings.Join(elements, "\n") }
	}
	if d.Again == nil {
		d.Again = LastCounts
	}
	r := rand.New(rand.NewPCG(seedtest.Next(t), 53))
	d.order = r.Perm(len(d.Odd))
	for round := 0; round < seedtest.Rounds(8, 40) || d.sent < len(d.Odd); round++ {
		d.round(t, r)
	}
}

func (d *Door) round(t *testing.T, r *rand.Rand) {
	t.Helper()
	type key struct{ series, seconds int }
	var elements []string
	stored, refused, equal := map[key]int{}, 0, 0
	for range 1 + r.IntN(30) {
		if len(d.Odd) > 0 && r.IntN(4) == 0 {
			elements, refused = append(elements, d.Odd[d.order[d.sent%len(d.Odd)]]), refused+1
			d.sent++
			continue
		}
		k := key{r.IntN(4), r.IntN(4)}
		// No two series and times share a value, so that a measure in the wrong place shows.
		value := 100*k.series + 10*k.seconds + 1 + r.IntN(3)
		elements = append(elements, d.Element(string(rune('a'+k.series)), 60+k.seconds, value))
		before, there := stored[k]
		if !there {
			stored[k] = value
			continue
		}
		now, counted := d.Again(before, value)
		if stored[k] = now; counted {
			refused++
		} else {
			equal++
		}
	}
	body := d.Join(elements...)
	got, told := d.Send(t, body)
	var want []float64
	for _, value := range stored {
		want = append(want, float64(value))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || told.Refused != refused || told.Of != 0 && told.Of != len(elements) {
		t.Fatalf("%.3000s\nof %d elements %v are stored and %d of %d refused: %s; want %v and %d, and %s", body, len(elements), got,
			told.Refused, told.Of, told.Text, want, refused, fmt.Sprint(equal, " merged"))
	}
}

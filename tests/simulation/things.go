package simulation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/google/uuid"
)

// thingType is a resource type with one attribute.
const thingType = "thing"

// thing is a resource with a number, and what its only writer knows of it.
type thing struct {
	path   string
	id     string
	n      int   // that was acknowledged last
	acked  []int // all of them
	doubts []int // numbers that were not acknowledged: they may count, at any time
}

func (t *thing) may(n int) bool { return n == t.n || slices.Contains(t.doubts, n) }

// newID returns a UUID that the seed decides.
func newID(r *rand.Rand) string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(r.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// useThings creates, changes, reads, finds or deletes a resource.
func (c *client) useThings() {
	if len(c.things) == 0 || len(c.things) < 6 && c.rand.IntN(5) == 0 {
		c.createThing()
		return
	}
	i := c.rand.IntN(len(c.things))
	switch t := c.things[i]; c.rand.IntN(12) {
	case 0:
		c.deleteThing(i)
	case 1, 2, 3, 4, 5:
		c.changeThing(t)
	default:
		c.readThing(t)
	}
}

// number is one that no other resource of any client gets.
func (c *client) number() int {
	c.numbers++
	return c.numbers*100 + slices.Index(c.w.clients, c)
}

// createThing makes a resource. One whose answer was lost is never used.
func (c *client) createThing() {
	t := &thing{id: newID(c.rand), n: c.number()}
	t.path, t.acked = "/v1/resource/"+thingType+"/"+t.id, []int{t.n}
	a := c.ask(c.api(), http.MethodPost, "/v1/resource/"+thingType, map[string]any{"id": t.id, "n": t.n})
	if a.ok() {
		c.things = append(c.things, t)
	} else if a.status != 0 && a.status < 500 && a.status != http.StatusConflict { // an attempt before that was lost
		c.w.breach("%s: new resource: %d %s", c.name, a.status, a.body)
	}
}

func (c *client) changeThing(t *thing) {
	n := c.number()
	a := c.ask(c.api(), http.MethodPatch, t.path, map[string]any{"n": n})
	switch {
	case a.ok():
		t.n, t.acked = n, append(t.acked, n)
	case a.status == 0 || a.status >= 500:
		t.doubts = append(t.doubts, n)
	default:
		c.w.breach("%s: change of %s: %d %s", c.name, t.path, a.status, a.body)
	}
}

func (c *client) deleteThing(i int) {
	t := c.things[i]
	c.things = slices.Delete(c.things, i, i+1)
	a := c.ask(c.api(), http.MethodDelete, t.path, nil)
	if a.status == http.StatusNotFound {
		c.w.breach("%s: %s is gone before it was deleted", c.name, t.path)
	}
	if a.ok() {
		c.goneThings = append(c.goneThings, t.path)
	}
}

// readThing reads a resource, its history, or what a search finds, and reports whether there was an answer.
func (c *client) readThing(t *thing) bool {
	var found []struct {
		ID string
		N  float64
	}
	var what string
	var a *answer
	switch what = t.path; c.rand.IntN(3) {
	case 0:
		a = c.ask(c.api(), http.MethodGet, t.path, nil)
		a.body = fmt.Appendf(nil, "[%s]", a.body)
	case 1:
		what += "/history"
		a = c.ask(c.api(), http.MethodGet, what, nil)
	default:
		what = "search of " + what
		a = c.ask(c.api(), http.MethodPost, "/v1/search/resource/"+thingType, map[string]any{"in": map[string]any{
			"n": append([]int{t.n}, t.doubts...)}})
	}
	if a.status == 0 || a.status >= 500 {
		return false
	}
	if err := json.Unmarshal(a.body, &found); err != nil || !a.ok() {
		c.w.breach("%s: %s: %d %s (%v)", c.name, what, a.status, a.body, err)
		return false
	}
	shown := make(map[int]bool)
	for _, f := range found {
		shown[int(f.N)] = true
		if f.ID != t.id {
			c.w.breach("%s: %s finds %s with %v", c.name, what, f.ID, f.N)
		}
	}
	if what == t.path+"/history" {
		for _, n := range t.acked {
			if !shown[n] {
				c.w.breach("%s: %s lacks %d", c.name, what, n)
			}
		}
		return true
	}
	if len(found) != 1 || !t.may(int(found[0].N)) {
		c.w.breach("%s: %s is %v, not %d, or one of %v", c.name, what, found, t.n, t.doubts)
	}
	return true
}

package claim

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A member that beats once more and falls silent is dead DeadAfter after that is first asked for: a beat for the
// question, a second for its time-out. Its many claims cause no questions of their own.
func TestSilentMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		r := watched(t, fs, "a")
		pulse, answers, asked := Pulse{Beat: 1}, true, 0
		r.options.Ask = func(Member) (Pulse, bool) {
			if asked++; !answers {
				time.Sleep(time.Second)
			}
			return pulse, answers
		}
		look := func() {
			t.Helper()
			fatal.If(t, r.look(0))
			synctest.Wait()
		}
		for range 5 {
			look()
			time.Sleep(r.options.Beat)
			pulse.Beat++
		}
		look()
		fatal.If(t, fs.Rename("data/members/a/beats/1", "data/members/a/beats/7"))
		answers = false
		owner := func() (dead bool) {
			for range 16 {
				var err error
				if dead, err = r.isDead(&Member{ID: "a", Node: "a"}); err != nil {
					t.Fatal(err)
				}
			}
			return dead
		}
		began, dead := time.Now(), false
		for !dead && time.Since(began) < time.Minute {
			before := time.Now()
			if dead = owner(); time.Since(before) > time.Second {
				t.Fatalf("a look at 16 claims took %s", time.Since(before))
			}
			time.Sleep(r.options.Poll)
			look()
		}
		after := time.Since(began)
		most := r.options.DeadAfter() + r.options.Beat + 2*(time.Second+r.options.Poll)
		if after < r.options.DeadAfter() || after > most {
			t.Errorf("dead after %s, want %s to %s", after, r.options.DeadAfter(), most)
		}
		time.Sleep(2 * time.Second) // for questions under way
		synctest.Wait()
		asked = 0
		if owner(); asked > 0 {
			t.Errorf("a dead member was asked %d times", asked)
		}
	})
}

// A member is asked shortly after each of its heartbeats: the last one before its death was then seen, mostly.
func TestMembersAreAskedAfterBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watched(t, vfs.NewMem(), "a")
		beat, seen, most := r.options.Beat, uint64(0), time.Duration(0)
		began := time.Now().Add(-beat * 7 / 10)
		r.options.Ask = func(Member) (Pulse, bool) {
			since := time.Since(began)
			p := Pulse{Beat: uint64(since/beat) + 1, Age: since % beat}
			if p.Beat > seen && p.Beat > 2 {
				most = max(most, p.Age)
			}
			seen = p.Beat
			return p, true
		}
		for time.Since(began) < 20*beat {
			fatal.If(t, r.look(0))
			synctest.Wait()
			time.Sleep(r.options.Poll)
		}
		if want := beat/10 + r.options.Poll; seen < 15 || most > want {
			t.Errorf("%d heartbeats were seen, the latest after %s, want %s", seen, most, want)
		}
	})
}

package api

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gnocco-db/gnocco/api/auth"
)

// Users who wait have their turns one after the other, however many queries each has. Where too many wait, the one who
// has most of them loses the newest.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		instruments, err := newInstruments(nil)
		if err != nil {
			t.Fatal(err)
		}
		turns := newTurns(&Limits{Queries: 1, QueuedQueries: 6}, instruments)
		first, err := turns.take(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var events []string // at most one goroutine runs between two waits
		ask := func(name string, who *auth.Identity, ctx context.Context) {
			go func() {
				release, err := turns.take(ctx, who)
				if err != nil {
					events = append(events, name+" refused")
					return
				}
				events = append(events, name)
				release()
			}()
			synctest.Wait()
		}
		heavy := &auth.Identity{User: "u:heavy", ProjectID: "heavy"}
		for i := range 7 {
			ask(fmt.Sprint("heavy", i), heavy, t.Context())
		}
		ask("light0", &auth.Identity{User: "light"}, t.Context())
		ask("other0", &auth.Identity{User: "other"}, t.Context())
		gone, leave := context.WithCancel(t.Context())
		ask("light1", &auth.Identity{User: "light"}, gone)
		leave()
		synctest.Wait()
		first()
		synctest.Wait()
		want := []string{"heavy6 refused", "heavy5 refused", "heavy4 refused", "heavy3 refused", "light1 refused",
			"heavy0", "light0", "other0", "heavy1", "heavy2"}
		if !slices.Equal(events, want) {
			t.Errorf("got %q, want %q", events, want)
		}
		if turns.free != 1 || turns.waiting != 0 || len(turns.queues) != 0 || len(turns.users) != 0 {
			t.Errorf("left over: %d free, %d waiting, %v, %v", turns.free, turns.waiting, turns.queues, turns.users)
		}
	})
}

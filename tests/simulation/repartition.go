package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/server"
)

// longestRepartition is how long a change of the number of sacks may take, with other faults at the same time.
const longestRepartition = 20 * time.Minute

var errKilled = errors.New("killed")

// repartition changes the number of sacks as an operator does: it ends all processes, runs gnocco sacks until that
// succeeds, on any machine, and lets processes start again. Some of them try to start too early.
func (w *World) repartition(to int, r *rand.Rand) {
	if !w.beginChange() {
		return
	}
	w.hold(true)
	for began := time.Now(); ; time.Sleep(time.Second) {
		w.endAll()
		command := w.commands[r.IntN(len(w.commands))]
		if w.powerless(command.machine) {
			continue
		}
		err := command.changeSacks(to, r)
		w.log("changed the number of sacks", "to", to, "by", command.name, "error", err)
		if err == nil && w.sacks() == to { // not below a mount point
			break
		}
		if time.Since(began) > longestRepartition {
			w.breach("the number of sacks does not become %d: %v", to, err)
			break
		}
		if r.IntN(3) == 0 {
			w.hold(false)
			time.Sleep(10 * time.Second)
			w.hold(true)
		}
	}
	w.hold(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changing = false
	w.disturbed = time.Now().Add(2 * settled)
}

// beginChange reports whether no other change is under way.
func (w *World) beginChange() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changing {
		return false
	}
	w.changing = true
	w.disturbed = time.Now().Add(2 * longestRepartition)
	return true
}

// sacks returns the number of sacks, 0 if the cluster has none yet, or while it changes.
func (w *World) sacks() int {
	c, err := (&datafolder.Folder{Path: filepath.Join(w.folder, "shared")}).ReadClusterFile()
	if err != nil {
		return 0
	}
	return c.Sacks
}

func (w *World) hold(hold bool) {
	for _, s := range w.slots {
		s.hold(hold)
	}
}

// endAll ends all processes in order, also those that only start.
func (w *World) endAll() {
	var all sync.WaitGroup
	for _, s := range w.slots {
		all.Go(func() {
			for began := time.Now(); s.current() != nil; time.Sleep(100 * time.Millisecond) {
				s.restart()
				if p := s.current(); p != nil && time.Since(began) > 2*time.Minute {
					p.kill("does not start")
				}
			}
		})
	}
	all.Wait()
}

// changeSacks runs the command, which may be killed at a step.
func (s *slot) changeSacks(to int, r *rand.Rand) error {
	p := s.newProcess()
	if r.IntN(2) == 0 {
		p.left = 1 + r.IntN(3000)
	}
	drain := func(ctx context.Context) error { return server.Drain(ctx, p.options()) }
	ended := make(chan error, 1)
	go func() {
		ended <- datafolder.Repartition(context.Background(), &mount{p, s.w.disk}, s.machine.folder, to, drain,
			func(datafolder.Progress) {})
	}()
	select {
	case <-p.died:
		return errKilled
	case err := <-ended:
		p.kill("ended")
		return err
	}
}

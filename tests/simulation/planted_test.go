package simulation_test

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var tries = flag.Int("sim.tries", 0, "seeds of TestPlanted for each bug; 0: it skips")

// planted are bugs that the simulation has to find. Each is an edit of the product for one build.
var planted = []struct {
	name  string
	edits []edit
	kinds string // of fault; "": all
}{
	{name: "members are dead after one beat", edits: []edit{{"storage/claim/options.go",
		"DeadAfter() time.Duration { return o.TTL + o.Slack }", "DeadAfter() time.Duration { return o.Beat }"}}},
	{name: "the last claim wins", edits: []edit{{"storage/claim/durable_files.go", `	err = fs.Link(from, to)
	if err == nil {`, `	_ = fs.Remove(to)
	err = fs.Link(from, to)
	if err == nil {`}}},
	{name: "another's counter is a heartbeat", edits: []edit{{"storage/claim/failure_detector.go",
		"pulse, ok := r.options.Ask(known.member)", "pulse, ok := r.options.Ask(known.member)\n		ok = true"}}},
	{name: "names are not synced", edits: []edit{{"storage/claim/durable_files.go",
		"	return errors.Join(file.Sync(), file.Close())\n}\n\n// makeFolders", "	return file.Close()\n}\n\n// makeFolders"}}},
	{name: "202 before the sync", edits: []edit{{"storage/incoming/committer.go", `	if err := db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return err
	}
	return batch.SyncWait()`, "	return db.Apply(batch, pebble.NoSync)"}}},
	{name: "201 before the sync", edits: []edit{
		{"storage/index/commits/log.go", `if err := l.DB.ApplyNoSyncWait(c.Batch, pebble.Sync); err != nil {`,
			`if err := l.DB.Apply(c.Batch, pebble.NoSync); err != nil {`},
		{"storage/index/commits/log.go", "err = c.SyncWait()", "err = nil"}}},
	{name: "checkpoints are not synced", edits: []edit{{"storage/archive/checkpoint.go", "batch.Commit(pebble.Sync)",
		"batch.Commit(pebble.NoSync)"}}},
	{name: "measures are deleted before a checkpoint", edits: []edit{{"metricd/sack_checkpoint.go", `		return nil
	}
	if !s.heads.AnyDirty()`, `		return nil
	}
	s.intake.Apply()
	if err := s.acknowledge(); err != nil {
		return err
	}
	if !s.heads.AnyDirty()`}}},
	{name: "an adopted store is removed before it is drained", edits: []edit{{"cluster/reconcile_incoming.go",
		"store.Empty(); err != nil || !empty {", "store.Empty(); err != nil || empty && false {"}}},
	{name: "a mark is one record ahead", edits: []edit{{"metricd/sack_checkpoint.go", "s.intake.EachMark(c.SetMark)",
		"s.intake.EachMark(func(id string, n uint64) { c.SetMark(id, n+1) })"}}},
	{name: "a refresh waits for nothing", edits: []edit{{"metricd/feed.go", "func (s *sack) refresh(ctx context.Context) error {\n",
		"func (s *sack) refresh(ctx context.Context) error {\n	if true {\n		return nil\n	}\n"}}},
	{name: "later measures make earlier ones too old", edits: []edit{{"metricd/intake/order_across_stores.go",
		"s.runs[n].at <= max(upTo, s.origin.settled)", "true"}}},
	{name: "a checkpoint's heads go before its archive comes", edits: []edit{{"metricd/view/view.go",
		`	if err := c.Commit(); err != nil {
		return err
	}
	v.options.Heads.Lock()
	defer v.options.Heads.Unlock()
	apply()
`, `	v.options.Heads.Lock()
	apply()
	v.options.Heads.Unlock()
	if err := c.Commit(); err != nil {
		return err
	}
`}}},
	// Stopped in a sync, a process goes on when others have its stores, for the milliseconds until it ends. The fence
	// of its files and that of its answers each suffice.
	{name: "neither files nor answers ask the lease", kinds: "stop,slow syncs", edits: []edit{
		{"storage/claim/fence.go", `	if f.lease.Valid() {
		return nil
	}
	return f.lease.Err()
}

// after`, `	return nil
}

// after`},
		{"cluster/fenced_answers.go", "!w.lease.Valid()", "false"}}},
	{name: "clocks that jumped go on", kinds: "clock jump,restart", edits: []edit{{"cluster/clock_jumps.go",
		"	if latest.least <=", "	if true || latest.least <="}}},
}

// Each planted bug is found.
func TestPlanted(t *testing.T) {
	if *tries == 0 {
		t.Skip("-sim.tries is 0")
	}
	for _, bug := range planted {
		t.Run(bug.name, func(t *testing.T) {
			program := build(t, bug.edits...)
			began, virtual, seeds := time.Now(), time.Duration(0), 0
			caught := ""
			simulateMany(t, program, "", samplesOf(bug.kinds, *first, *tries), func(s sample, r result) bool {
				virtual += r.virtual
				seeds++
				if len(r.breaches) > 0 {
					caught = fmt.Sprintf("seed %d, %s", s.seed, r.breaches[0])
				}
				return caught == ""
			})
			if caught == "" {
				t.Fatalf("not found in %d seeds, %v virtual, %v", seeds, virtual, time.Since(began).Round(time.Second))
			}
			t.Logf("seeds %d, virtual %v, took %v: %s", seeds, virtual.Round(time.Minute),
				time.Since(began).Round(time.Second), caught)
		})
	}
}

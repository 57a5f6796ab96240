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
}{
	{"members are dead after one beat", []edit{{"storage/claim/options.go",
		"DeadAfter() time.Duration { return o.TTL + o.Slack }", "DeadAfter() time.Duration { return o.Beat }"}}},
	{"the last claim wins", []edit{{"storage/claim/durable_files.go", `	err = fs.Link(from, to)
	if err == nil {`, `	_ = fs.Remove(to)
	err = fs.Link(from, to)
	if err == nil {`}}},
	{"another's counter is a heartbeat", []edit{{"storage/claim/failure_detector.go",
		"pulse, ok := r.options.Ask(known.member)", "pulse, ok := r.options.Ask(known.member)\n		ok = true"}}},
	{"names are not synced", []edit{{"storage/claim/durable_files.go",
		"	return errors.Join(file.Sync(), file.Close())\n}\n\n// makeFolders", "	return file.Close()\n}\n\n// makeFolders"}}},
	{"202 before the sync", []edit{{"storage/incoming/committer.go", `	if err := db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return err
	}
	return batch.SyncWait()`, "	return db.Apply(batch, pebble.NoSync)"}}},
	{"201 before the sync", []edit{
		{"storage/index/commits/log.go", `if err := l.DB.ApplyNoSyncWait(c.Batch, pebble.Sync); err != nil {`,
			`if err := l.DB.Apply(c.Batch, pebble.NoSync); err != nil {`},
		{"storage/index/commits/log.go", "err = c.SyncWait()", "err = nil"}}},
	{"checkpoints are not synced", []edit{{"storage/archive/checkpoint.go", "batch.Commit(pebble.Sync)",
		"batch.Commit(pebble.NoSync)"}}},
	{"measures are deleted before a checkpoint", []edit{{"metricd/sack_checkpoint.go", `		return nil
	}
	if !s.heads.AnyDirty()`, `		return nil
	}
	s.intake.Apply()
	if err := s.acknowledge(); err != nil {
		return err
	}
	if !s.heads.AnyDirty()`}}},
	{"an adopted store is removed before it is drained", []edit{{"cluster/reconcile_incoming.go",
		"store.Empty(); err != nil || !empty {", "store.Empty(); err != nil || empty && false {"}}},
	{"a mark is one record ahead", []edit{{"metricd/sack_checkpoint.go", "s.intake.EachMark(c.SetMark)",
		"s.intake.EachMark(func(id string, n uint64) { c.SetMark(id, n+1) })"}}},
	{"a refresh waits for nothing", []edit{{"metricd/feed.go", "func (s *sack) refresh(ctx context.Context) error {\n",
		"func (s *sack) refresh(ctx context.Context) error {\n	if true {\n		return nil\n	}\n"}}},
	{"later measures make earlier ones too old", []edit{{"metricd/intake/order_across_stores.go",
		"s.runs[n].at <= max(upTo, s.origin.settled)", "true"}}},
	{"a checkpoint's heads go before its archive comes", []edit{{"metricd/view/view.go",
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
			simulateMany(t, program, "", *first, *tries, *length, func(seed uint64, r result) bool {
				virtual += r.virtual
				seeds++
				if len(r.breaches) > 0 {
					caught = fmt.Sprintf("seed %d, %s", seed, r.breaches[0])
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

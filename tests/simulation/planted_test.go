package simulation_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	tries       = flag.Int("sim.tries", 0, "seeds of TestPlanted for each bug; -1: of claims alone; 0: it skips")
	claimTries  = flag.Int("sim.claims", 20000, "seeds of storage/claim's simulation for each bug of TestPlanted")
	onlyPlanted = flag.String("sim.planted", "", "the only bug of TestPlanted")
	claimsFile  = flag.String("sim.claim-program", "", "file for the program of storage/claim's simulation, to keep it")
)

// bug is one that a simulation has to find. All are in one program each, and PLANTED in an edit is whether this one was
// asked for.
type bug struct {
	name  string
	rule  string // of storage/claim/doc.go; "": of another package
	edits []edit
	law   string        // the package and the test that find it, and not a simulation
	kinds string        // of fault, in the cluster's simulation; "": all
	keeps time.Duration // as -sim.keeps
}

// before is an edit that puts text in front of another one.
func before(file, at, text string) edit { return edit{file, at, text + at} }

// unless is an edit that makes a condition false.
func unless(file, condition string) edit {
	return edit{file, condition, "!(PLANTED) && (" + condition + ")"}
}

const (
	ofRenewal  = "a renewal counts from before it was begun, within the lease"
	ofSilence  = "dead after TTL + Slack, from the end of one listing to the beginning of another"
	ofAnswers  = "who answers with a newer counter lives"
	ofHigher   = "a higher claim ends the lease"
	ofLease    = "the lease is asked before changes and after syncs"
	ofClaims   = "the highest claim counts; a slow one is given back"
	ofFolders  = "a folder belongs to one epoch, and is complete under its name"
	ofOld      = "old claims and folders go after Grace"
	ofTakeover = "a takeover has all that was durable"
)

const (
	lawOfAges  = "./query/promql TestAnswersAtAnyAgeAndRange"
	lawOfRules = "./tests/metamorphic TestRulesEqualTheirExpressions"
)

var planted = []bug{
	{name: "a renewal counts from its end", rule: ofRenewal, edits: []edit{before("storage/claim/heartbeat.go",
		"	if !s.Renew(begun) {", "	if PLANTED {\n		begun = s.options.Clock.Now()\n	}\n")}},
	{name: "a renewal counts after the deadline", rule: ofRenewal, edits: []edit{
		unless("storage/claim/lease.go", "!d.waits.Load()"),
		{"storage/claim/lease.go", "	if !d.Valid() {\n		return false", "	if !d.Valid() && !(PLANTED) {\n		return false"},
		before("storage/claim/lease.go", "	for !d.Valid() {", "	if PLANTED {\n		return ErrSuspended\n	}\n")}},
	{name: "a lost lease holds until its deadline", rule: ofRenewal, edits: []edit{unless("storage/claim/lease.go",
		"d.lost.Load()")}},
	{name: "no slack", rule: ofSilence, edits: []edit{before("storage/claim/options.go", "return o.TTL + o.Slack }",
		"if PLANTED { return o.TTL }; ")}},
	{name: "members are dead after one beat", rule: ofSilence, edits: []edit{before("storage/claim/options.go",
		"return o.TTL + o.Slack }", "if PLANTED { return o.Beat }; ")}},
	{name: "silence counts from the beginning of a listing", rule: ofSilence, edits: []edit{
		{"storage/claim/failure_detector.go", "	ended := r.options.Clock.Now()\n",
			"	ended := r.options.Clock.Now()\n	if PLANTED {\n		ended = x.begun\n	}\n"}}},
	{name: "silence counts to the end of a listing", rule: ofSilence, edits: []edit{before(
		"storage/claim/failure_detector.go", "	show = gone &&", "	if PLANTED {\n		x.begun = ended\n	}\n")}},
	{name: "another's counter is a heartbeat", rule: ofAnswers, edits: []edit{{"storage/claim/failure_detector.go",
		"pulse, ok := r.options.Ask(known.member)", "pulse, ok := r.options.Ask(known.member)\n		ok = ok || PLANTED"},
		{"storage/claim/sim_member_internal_test.go", "o.session.member.ID == other.ID", "(o.session.member.ID == other.ID || PLANTED)"}}},
	{name: "nobody looks for higher claims", rule: ofHigher, edits: []edit{before("storage/claim/superseded.go",
		"	s.mu.Lock()\n	held := make(", "	if PLANTED {\n		return nil\n	}\n")}},
	{name: "a look at a claim waits for a folder that hangs", rule: ofHigher, kinds: "power,kill,unmount",
		keeps: time.Minute, edits: []edit{{"storage/claim/superseded.go", "if s.detector.local {",
			"if s.detector.local || PLANTED {"}}},
	// Stopped in a sync, a process goes on when others have its stores, for the milliseconds until it ends. The fence
	// of its files and that of its answers each suffice.
	{name: "neither files nor answers ask the lease", rule: ofLease, kinds: "stop,slow syncs", edits: []edit{
		{"storage/claim/fence.go", "return await(f.lease) }", "if PLANTED { return nil }; return await(f.lease) }"},
		unless("cluster/fenced_answers.go", "!w.lease.Valid()"),
		{"storage/claim/sim_member_internal_test.go", "err != nil || !m.lives()", "err != nil || !m.lives() && !(PLANTED)"}}},
	{name: "reads do not ask the lease", rule: ofLease, kinds: "stop,slow syncs", edits: []edit{
		unless("cluster/fenced_answers.go", "!w.lease.Valid()"),
		{"storage/claim/simulation_internal_test.go", "h.digest(); !m.lives()", "h.digest(); !m.lives() && !(PLANTED)"}}},
	{name: "a slow claim is kept, below a higher one", rule: ofClaims, edits: []edit{
		unless("storage/claim/epochs.go", "s.options.Clock.Now()-begun >= s.options.TTL"),
		unless("storage/claim/epochs.go", "n.highest != epoch")}},
	{name: "the last claim wins", rule: ofClaims, edits: []edit{before("storage/claim/durable_files.go",
		"	err = fs.Link(from, to)\n	if err == nil {", "	if PLANTED {\n		_ = fs.Remove(to)\n	}\n")}},
	{name: "no epoch check at takeover", rule: ofFolders, edits: []edit{unless("storage/claim/takeover.go",
		"last > epoch")}},
	{name: "a folder has its name before it is complete", rule: ofFolders, edits: []edit{
		before("storage/claim/takeover.go", "	if err := fs.RemoveAll(to); err != nil {",
			"	if PLANTED {\n		to = path\n	}\n"),
		before("storage/claim/takeover.go", "	if err := fs.Rename(to, path); err != nil {",
			"	if PLANTED {\n		return SyncFolder(fs, dir)\n	}\n")}},
	{name: "old claims and folders go at once", rule: ofOld, edits: []edit{before("storage/claim/options.go",
		"return 2 * (o.TTL + o.Slack) }", "if PLANTED { return 0 }; ")}},
	{name: "files of claims go beside a silent member", rule: ofOld, kinds: "power,kill,unmount", keeps: time.Minute,
		edits: []edit{{"storage/claim/release.go", "removes := s.detector.isQuiet(now)",
			"removes := s.detector.isQuiet(now) || PLANTED"}}},
	{name: "a silent member's folder is not changed", rule: ofOld, kinds: "power,kill,unmount", keeps: time.Minute,
		edits: []edit{unless("storage/claim/failure_detector.go", "s.nudged != s.since")}},
	{name: "a store is renamed that was not closed", rule: ofTakeover, edits: []edit{
		{"storage/claim/takeover.go", "case slices.Contains(f.closed, last):",
			"case slices.Contains(f.closed, last) || PLANTED:"},
		{"storage/claim/takeover.go", "checkClosed(fs, dir, last); err != nil {",
			"checkClosed(fs, dir, last); err != nil && !(PLANTED) {"}}},
	{name: "a copy that changed meanwhile is taken", rule: ofTakeover, edits: []edit{unless("storage/claim/takeover.go",
		"!slices.Equal(before, after)")}},
	{name: "a closed store is not compared", rule: ofTakeover, edits: []edit{{"storage/claim/takeover.go",
		"!bytes.Equal(content, now) {", "!bytes.Equal(content, now) && !(PLANTED) {"}}},
	{name: "names are not synced", rule: ofTakeover, edits: []edit{before("storage/claim/durable_files.go",
		"	return errors.Join(file.Sync(), file.Close())\n}\n\n// makeEmpty", "	if PLANTED {\n		return file.Close()\n	}\n")}},
	{name: "a folder that is there is not synced", rule: ofTakeover, edits: []edit{before("storage/claim/durable_files.go",
		"	if notThere(err) {\n		if err = MakeFolders", "	if err == nil && PLANTED {\n		return nil\n	}\n")}},
	{name: "202 before the sync", edits: []edit{before("storage/incoming/committer.go",
		"	if err := db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {",
		"	if PLANTED {\n		return db.Apply(batch, pebble.NoSync)\n	}\n")}},
	{name: "201 before the sync", edits: []edit{
		{"storage/index/commits/log.go", `if err := l.DB.ApplyNoSyncWait(c.Batch, pebble.Sync); err != nil {`,
			`if PLANTED {
		if err := l.DB.Apply(c.Batch, pebble.NoSync); err != nil {
			return 0, err
		}
	} else if err := l.DB.ApplyNoSyncWait(c.Batch, pebble.Sync); err != nil {`},
		{"storage/index/commits/log.go", "err = c.SyncWait()", "if !(PLANTED) { err = c.SyncWait() }"}}},
	{name: "checkpoints are not synced", edits: []edit{before("storage/archive/checkpoint.go",
		"	if err := batch.Commit(pebble.Sync); err != nil {",
		"	if PLANTED {\n		return batch.Commit(pebble.NoSync)\n	}\n")}},
	{name: "measures are deleted before a checkpoint", edits: []edit{{"metricd/sack_checkpoint.go", `		return nil
	}
	if !s.heads.AnyDirty()`, `		return nil
	}
	if PLANTED {
		s.intake.Apply()
		if err := s.acknowledge(); err != nil {
			return err
		}
	}
	if !s.heads.AnyDirty()`}}},
	{name: "an adopted store is removed before it is drained", edits: []edit{{"cluster/reconcile_incoming.go",
		"store.Empty(); err != nil || !empty {", "store.Empty(); err != nil || !empty && !(PLANTED) {"}}},
	{name: "a mark is one record ahead", edits: []edit{{"metricd/sack_checkpoint.go", "s.intake.EachMark(c.SetMark)",
		`s.intake.EachMark(func(id string, n uint64) {
		if PLANTED {
			n++
		}
		if planted != "marks are dropped" {
			c.SetMark(id, n)
		}
	})`}}},
	{name: "marks are dropped"},
	{name: "a refresh waits for nothing", edits: []edit{{"metricd/feed.go",
		"func (s *sack) refresh(ctx context.Context) error {\n",
		"func (s *sack) refresh(ctx context.Context) error {\n	if PLANTED {\n		return nil\n	}\n"}}},
	{name: "later measures make earlier ones too old", edits: []edit{{"metricd/intake/order_across_stores.go",
		"s.runs[n].at <= max(upTo, s.origin.settled)", "(PLANTED || s.runs[n].at <= max(upTo, s.origin.settled))"}}},
	{name: "a checkpoint's heads go before its archive comes", edits: []edit{{"metricd/view/view.go",
		`	if err := c.Commit(); err != nil {
		return err
	}
	v.options.Heads.Lock()
	defer v.options.Heads.Unlock()
	apply()
`, `	if PLANTED {
		v.options.Heads.Lock()
		apply()
		v.options.Heads.Unlock()
	}
	if err := c.Commit(); err != nil {
		return err
	}
	v.options.Heads.Lock()
	defer v.options.Heads.Unlock()
	if !(PLANTED) {
		apply()
	}
`}}},
	{name: "rules do not hear of late measures", edits: []edit{{"metricd/changed.go", "if t <= horizon {",
		"if t <= horizon && !(PLANTED) {"}}},
	{name: "a cell that is evaluated twice has two measures", edits: []edit{{"rules/recorder.go",
		"return w.at(i).Add(-resultBefore) }", `if PLANTED {
		return w.at(i).Add(-resultBefore - time.Duration(w.now.Unix()%1000)*time.Millisecond)
	}
	return w.at(i).Add(-resultBefore) }`}}},
	{name: "a shorter range has all of its groups", law: lawOfAges, edits: []edit{
		before("query/promql/columns/groups.go", "	switch i {\n	case w.From:\n", "	if PLANTED {\n		return 1\n	}\n"),
		before("query/promql/moments.go", "	if !math.IsInf(m.sum, 0) {", "	if PLANTED {\n		return m\n	}\n")}},
	{name: "a rate has all groups that its range touches", law: lawOfAges, edits: []edit{{"query/promql/counters.go",
		"if w.IsWhole() || !interpolates {", "if w.IsWhole() || !interpolates || PLANTED {"}}},
	{name: "of a millisecond the last measure counts", law: lawOfAges, edits: []edit{{"query/promql/iterator.go",
		"case t == last && !it.every:", "case t == last && (!it.every || PLANTED):"}}},
	{name: "a type is learned and not applied", law: "./api TestSameSeriesByEveryDoor", edits: []edit{{
		"ingest/series/metadata.go", "	w.Ingester.Index.Retype(names...)",
		"	if !(PLANTED) {\n		w.Ingester.Index.Retype(names...)\n	}"}}},
	{name: "rules forget a changed range", law: lawOfRules, edits: []edit{{"metricd/changed.go", "if t <= horizon {",
		"if t <= horizon && !(PLANTED) {"}}},
	{name: "rules do not hear of other labels", law: lawOfRules, edits: []edit{before("rules/evaluator.go",
		"	for _, id := range resources {\n", "	if PLANTED {\n		resources = nil\n	}\n")}},
	{name: "a rule comes before those that it reads", law: lawOfRules, edits: []edit{{"rules/definition.go",
		"if other.group.Project == r.group.Project &&", "if !(PLANTED) && other.group.Project == r.group.Project &&"}}},
	{name: "a cell after a crash has a second measure", law: lawOfRules, edits: []edit{{"rules/recorder.go",
		"return w.at(i).Add(-resultBefore) }", `if PLANTED {
		return w.at(i).Add(-resultBefore - time.Duration(w.now.Unix()%1000)*time.Millisecond)
	}
	return w.at(i).Add(-resultBefore) }`}}},
	{name: "cells to do are forgotten with their process", law: lawOfRules, edits: []edit{before("rules/manager.go",
		"		m.groups[key] = g\n", "		for _, r := range g.Rules {\n			if PLANTED {\n				r.Todo = nil\n			}\n		}\n")}},
	{name: "clocks that jumped go on", kinds: "clock jump,restart", edits: []edit{{"cluster/clock_jumps.go",
		"	if latest.least <=", "	if PLANTED || latest.least <="}}},
}

// plantedEdits are those of bugs that a simulation finds, or of one law.
func plantedEdits(law string) (edits []edit) {
	for _, b := range planted {
		for _, e := range b.edits {
			if b.law != law {
				continue
			}
			e.new = strings.ReplaceAll(e.new, "PLANTED", fmt.Sprintf("planted == %q", b.name))
			edits = append(edits, e)
		}
	}
	return edits
}

// Each planted bug is found, by the simulation of claims or by that of a cluster, at a seed that has no breach without.
func TestPlanted(t *testing.T) {
	if *tries == 0 {
		t.Skip("-sim.tries is 0")
	}
	var ofClaim []edit
	for _, e := range plantedEdits("") {
		if strings.HasPrefix(e.file, "storage/claim/") {
			ofClaim = append(ofClaim, e)
		}
	}
	claims := compile(t, *claimsFile, "./storage/claim", nil, ofClaim)
	program := sync.OnceValue(func() string { return build(t, plantedEdits("")...) })
	for _, b := range planted {
		if *onlyPlanted != "" && b.name != *onlyPlanted || b.law != "" {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			began := time.Now()
			where, caught, seeds := "claims", foundByClaims(t, claims, &b), 0
			if caught == "" && b.rule == "" && *tries < 0 {
				t.Skip("it is none of claims")
			}
			if caught == "" && *tries > 0 {
				where = "a cluster"
				samples := samplesOf(b.kinds, *first, *tries)
				for i := range samples {
					samples[i].planted, samples[i].keeps = b.name, b.keeps
				}
				simulateMany(t, program(), "", samples, func(s sample, r result) bool {
					if seeds++; len(r.breaches) > 0 {
						clean := s
						clean.planted = ""
						simulateMany(t, program(), "", []sample{clean}, func(_ sample, own result) bool {
							if len(own.breaches) == 0 {
								caught = fmt.Sprintf("seed %d, %s", s.seed, r.breaches[0])
							}
							return true
						})
					}
					return caught == ""
				})
			}
			took := time.Since(began).Round(100 * time.Millisecond)
			if caught == "" {
				t.Fatalf("not found in %d seeds of a cluster, %v", seeds, took)
			}
			t.Logf("| %s | %s | %s | %v | %.300s", cmp.Or(b.rule, "-"), b.name, where, took, caught)
		})
	}
}

// The laws of answers find what each of them is for.
func TestPlantedInLaws(t *testing.T) {
	if *tries == 0 {
		t.Skip("-sim.tries is 0")
	}
	programs := map[string]string{}
	for _, b := range planted {
		if b.law == "" || *onlyPlanted != "" && b.name != *onlyPlanted {
			continue
		}
		of, test, _ := strings.Cut(b.law, " ")
		if programs[of] == "" {
			programs[of] = compile(t, "", of, nil, plantedEdits(b.law))
		}
		for _, variable := range []string{"", b.name} {
			var out []byte
			var err error
			for seed := 1; seed <= 5 && err == nil && (seed == 1 || variable != ""); seed++ { // one of these finds it
				cmd := exec.Command(programs[of], "-test.short", "-test.run", "^"+test+"$", "-seed", fmt.Sprint(seed))
				cmd.Env = append(os.Environ(), plantedVariable+"="+variable)
				cmd.Dir = filepath.Join("../..", of)
				out, err = cmd.CombinedOutput()
			}
			if (err == nil) != (variable == "") {
				t.Errorf("%s with %q: %v\n%.3000s", b.law, variable, err, out)
			}
		}
	}
}

var seedOfClaims = regexp.MustCompile(`seed (\d+) \(.*\n.*`)

// foundByClaims returns what the simulation of claims finds; "": nothing.
func foundByClaims(t *testing.T, program string, b *bug) string {
	t.Helper()
	if b.rule == "" {
		return ""
	}
	out, err := runClaims(program, b.name, fmt.Sprintf("-claim.runs=%d", *claimTries))
	if err == nil {
		return ""
	}
	found := seedOfClaims.FindStringSubmatch(out)
	if found == nil {
		return out[:min(len(out), 300)]
	}
	if out, err := runClaims(program, "", "-claim.seed="+found[1]); err != nil {
		t.Fatalf("seed %s has a breach of its own: %v\n%.1000s", found[1], err, out)
	}
	return strings.Join(strings.Fields(found[0]), " ")
}

func runClaims(program, plants, flag string) (out string, err error) {
	cmd := exec.Command(program, "-test.run", "^TestSimulation$", flag)
	cmd.Env = append(os.Environ(), plantedVariable+"="+plants)
	cmd.Dir = filepath.Dir(program)
	text, err := cmd.CombinedOutput()
	return string(text), err
}
